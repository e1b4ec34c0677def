# shellcheck shell=bash disable=SC2154
# The processes of deploy/local/run: start them, wait for them, start them again, stop them.

# Seconds that a process has to become ready, and to end.
start_timeout=60
stop_timeout=15
# A process that ends this often, each time within so many seconds, is not started again.
attempts=5
short_life=10
# Seconds until a process is started again: of a coordinator, so many that the other one takes over.
pause=1
coordinator_pause=5
# Lines of a log that explain a failure.
log_lines=20

# Of each process by its name: its id, when it started, and how often it ended early.
declare -A pids=() started=() early=()
command_pid=

# launch NAME SIGNAL COMMAND…: starts a process with a log of its own. It has a session of its own, so
# that Ctrl-C reaches it only through this script, and gets the signal if this script is killed. Then a
# coordinator would wait for its database for a minute, so it is killed, too.
launch() {
    local name=$1 signal=$2
    shift 2
    printf -- '--- started at %(%F %T)T\n' -1 >>"$folder/log/$name.log"
    (cd "$folder" && exec setsid setpriv --pdeathsig "$signal" "$@") \
        </dev/null >>"$folder/log/$name.log" 2>&1 &
    pids[$name]=$!
    started[$name]=$SECONDS
    echo "$!" >"$folder/pid/$name"
}

start() {
    local name=$1
    case $name in
        postgres)
            # As a child of this script, not with pg_ctl, so that its end is noticed.
            launch postgres INT "${as_owner[@]}" -- "$postgres_bin/postgres" -D "$folder/postgres/data" \
                -c listen_addresses= -c port=5432 -c "unix_socket_directories=$folder/postgres/socket" \
                -c unix_socket_permissions=0700
            ;;
        coordinator-*)
            launch "$name" KILL -- "$arena" coordinator --data "$folder/$name" --store "$store" \
                --listen "$(address "$name")" --metrics "$(address "$name-metrics")" \
                --web "$(address "$name-web")"
            ;;
        worker-*)
            launch "$name" KILL -- "$arena" worker --name "$name" --coordinator "$coordinator_urls" \
                --metrics "$(address "$name-metrics")" --drain 5s
            ;;
        prometheus)
            launch prometheus KILL -- prometheus --config.file="$folder/prometheus.yml" \
                --storage.tsdb.path="$folder/prometheus" \
                --web.listen-address="$(address prometheus)"
            ;;
    esac
}

is_running() { kill -0 "$1" 2>/dev/null; }

show_log() {
    say "the last lines of $folder/log/$1.log:"
    # Since its last start.
    { tac "$folder/log/$1.log" | sed '/^--- started/Q' | head -n "$log_lines" | tac | sed 's/^/  /' >&2; } ||
        true
}

# The state of a coordinator or worker: 0 ready, 1 not ready (also: standing by), 4 no answer.
health() {
    local code=0
    "$arena" health "$(address "$1-metrics")" --timeout 1 >/dev/null 2>&1 || code=$?
    return "$code"
}

# True if a request to an address has the status 200.
answers() (
    exec 3<>"/dev/tcp/127.0.0.1/$((base_port + offsets[$1]))" || exit
    printf 'GET %s HTTP/1.0\r\n\r\n' "$2" >&3
    read -r -t 1 line <&3 && [[ $line == *" 200 "* ]]
) 2>/dev/null

is_ready() {
    local code=0
    case $1 in
        postgres) sql postgres 'SELECT 1' >/dev/null 2>&1 ;;
        # All but the owner of the database stand by.
        coordinator-*)
            health "$1" || code=$?
            [ "$code" -eq 0 ] || { [ "$code" -eq 1 ] && is_standby "$1"; }
            ;;
        worker-*) health "$1" ;;
        prometheus) answers prometheus /-/ready ;;
    esac
}

is_standby() {
    local other
    for other in "${coordinators[@]}"; do
        [ "$other" = "$1" ] || ! health "$other" || return 0
    done
    return 1
}

# Waits until processes are ready.
await() {
    local name end
    for name; do
        end=$((SECONDS + start_timeout))
        until is_ready "$name"; do
            if ! is_running "${pids[$name]}"; then
                say "run: $name ended at its start"
                show_log "$name"
                exit 1
            elif [ "$SECONDS" -ge "$end" ]; then
                say "run: $name is not ready after $start_timeout s"
                show_log "$name"
                exit 1
            fi
            sleep 0.05
        done
    done
}

# stop SIGNAL NAME…: ends processes, and waits for them.
stop() {
    local signal=$1 name end
    shift
    for name; do
        [ -z "${pids[$name]:-}" ] || kill -s "$signal" "${pids[$name]}" 2>/dev/null || true
    done
    end=$((SECONDS + stop_timeout))
    for name; do
        [ -n "${pids[$name]:-}" ] || continue
        while is_running "${pids[$name]}"; do
            if [ "$SECONDS" -ge "$end" ]; then
                say "run: $name does not end after $stop_timeout s: it is killed"
                kill -s KILL "${pids[$name]}" 2>/dev/null || true
                wait "${pids[$name]}" 2>/dev/null || true
                break
            fi
            sleep 0.05
        done
        rm -f "$folder/pid/$name"
        unset "pids[$name]"
    done
}

# Stops everything in order: what uses a process ends before it.
stop_all() {
    local code=$? name owner=
    # A second signal would leave processes.
    trap '' INT TERM HUP
    trap - EXIT
    set +e
    rm -f "$folder/environment"
    if [ -n "$command_pid" ]; then
        pids[command]=$command_pid
        stop TERM command
    fi
    [ "${#pids[@]}" -eq 0 ] || say "stopping"
    for name in "${!pids[@]}"; do [[ $name != pause-* ]] || stop TERM "$name"; done
    stop TERM prometheus "${workers[@]}"
    # The one that stands by first, so that it does not take over.
    for name in "${coordinators[@]}"; do
        if [ -n "${pids[$name]:-}" ] && health "$name"; then owner=$name; else stop TERM "$name"; fi
    done
    [ -z "$owner" ] || stop TERM "$owner"
    stop INT postgres
    exit "$code"
}

# Starts processes again when they end. Ends with the command of --once.
supervise() {
    local name code
    while true; do
        # Without bash's own reports of killed processes.
        wait -n "${pids[@]}" ${command_pid:+"$command_pid"} 2>/dev/null || true
        code=0
        if [ -n "$command_pid" ] && ! is_running "$command_pid"; then
            wait "$command_pid" 2>/dev/null || code=$?
            command_pid=
            exit "$code"
        fi
        for name in "${!pids[@]}"; do
            ! is_running "${pids[$name]}" || continue
            code=0
            wait "${pids[$name]}" 2>/dev/null || code=$?
            unset "pids[$name]"
            if [[ $name == pause-* ]]; then
                start "${name#pause-}"
                continue
            fi
            if [ $((SECONDS - started[$name])) -ge "$short_life" ]; then early[$name]=0; fi
            early[$name]=$((${early[$name]:-0} + 1))
            if [ "${early[$name]}" -ge "$attempts" ]; then
                say "run: $name ends again and again (exit code $code)"
                show_log "$name"
                exit 1
            fi
            say "$name ended (exit code $code): it is started again"
            if [[ $name == coordinator-* ]]; then
                sleep "$coordinator_pause" </dev/null 9>&- &
            else
                sleep "$pause" </dev/null 9>&- &
            fi
            pids[pause-$name]=$!
        done
    done
}
