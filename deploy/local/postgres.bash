# shellcheck shell=bash disable=SC2154
# The private PostgreSQL server of deploy/local/run. It has no port: all users of this machine could
# connect to one, but only this user to its socket.

# How to run a program of PostgreSQL, which refuses to run as root: options of setpriv.
as_owner=()
data=$folder/postgres/data
if $is_root; then
    if [ -e "$data" ]; then
        owner=$(stat -c %u "$data")
        group=$(stat -c %g "$data")
    else
        # The user of Debian's package, else the one without rights.
        owner=$(id -u postgres 2>/dev/null || echo 65534)
        group=$(id -g postgres 2>/dev/null || echo 65534)
    fi
    as_owner=(--reuid "$owner" --regid "$group" --clear-groups)
    mkdir -p "$folder/postgres"
    chown "$owner:$group" "$folder/postgres"
    user=$(id -un "$owner" 2>/dev/null || echo "$owner")
    setpriv "${as_owner[@]}" -- /bin/sh -c 'test -w "$0"' "$folder/postgres" ||
        wrong "PostgreSQL cannot run as root, and the user $user cannot reach $folder: name a folder" \
            "that all users can reach with --dir, such as /var/tmp/arena-local"
fi
if [ ${#folder} -gt 75 ]; then
    wrong "$folder is too long for a Unix socket: name another folder with --dir"
fi

# The folder with the programs of PostgreSQL, of this major version if there is one.
find_postgres() {
    local version=$1 candidate
    local candidates=()
    candidate=$(type -P initdb) && candidates+=("$(dirname "$(readlink -f "$candidate")")")
    while read -r candidate; do
        candidates+=("$candidate")
    done < <(printf '%s\n' /usr/lib/postgresql/*/bin | sort -rV)
    for candidate in "${candidates[@]}"; do
        if [ ! -x "$candidate/initdb" ] || [ ! -x "$candidate/postgres" ] || [ ! -x "$candidate/psql" ]
        then
            continue
        fi
        [ -z "$version" ] || [[ $("$candidate/postgres" --version) == *" $version"[.\ ]* ]] || continue
        postgres_bin=$candidate
        return
    done
    fail "PostgreSQL${version:+ $version} is missing: install it, for example the Debian package" \
        "postgresql${version:+-$version}"
}

sql() {
    LC_ALL=C "$postgres_bin/psql" -XAtq -v ON_ERROR_STOP=1 -h "$folder/postgres/socket" -U arena -d "$1" \
        -c "$2"
}

# Makes an empty folder for PostgreSQL.
make_private() {
    rm -rf "$1"
    mkdir -p "$1"
    ! $is_root || chown "$owner:$group" "$1"
}

start_postgres() {
    find_postgres "$(cat "$data/PG_VERSION" 2>/dev/null || true)"
    if [ ! -e "$data" ]; then
        # Under another name until it is complete. No power cut is expected in its first seconds.
        make_private "$data.new"
        make_private "$folder/postgres/socket"
        if ! (cd / && LC_ALL=C exec setpriv "${as_owner[@]}" -- "$postgres_bin/initdb" --auth=trust \
            --username=arena --encoding=UTF8 --locale=C --no-instructions --no-sync \
            --pgdata "$data.new") >>"$folder/log/initdb.log" 2>&1; then
            say "run: initdb failed"
            show_log initdb
            exit 1
        fi
        mv "$data.new" "$data"
    fi
    start postgres
    await postgres
    [ "$(sql postgres "SELECT count(*) FROM pg_database WHERE datname = 'arena'")" -eq 1 ] ||
        sql postgres 'CREATE DATABASE arena'
}
