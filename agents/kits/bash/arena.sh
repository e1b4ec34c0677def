# Arena's line protocol for agents, version 1, with Bash alone (4.4 or newer).
#
# Set `name` and the other fields below, declare options with `option`, define the function `choose`,
# and call `serve`. `choose` sets `move`. It has these variables:
#
#   ruleset rules_version seats bot nodes      of the game
#   seat number seed time_budget_us            of the decision
#   legal_moves notations                      arrays, in the same order
#
# and these functions, which set `REPLY`:
#
#   get KEY [DEFAULT]                 a field of the decision, such as position.to_move,
#                                     position.board.0 or clock.left_us; fails if there is none
#   get_option NAME                   an option of the ruleset
#   get_bot_option NAME               an option of the agent
#   below BOUND                       a random number from 0 to BOUND - 1, which follows from `seed`
#   word                              64 random bits, as a number with a sign
#   get_list KEY                      sets the array `LIST` to the elements of a list
#
# What `choose` prints goes to standard error. If it fails, the batch gets an error.

name= version= author= summary= deterministic=false uses_seed= rulesets='[]'
# Further fields of the message hello, such as ',"omit_move_details":true'. Bash reads slowly, so that
# batches are small.
hello_fields=',"batch_size":16'
arena_options=

# option NAME TYPE DEFAULT [SUMMARY [FIELDS]]: declares an option; FIELDS are further fields as JSON.
option() {
    arena_quote "$3"
    local value=$REPLY
    arena_quote "${4-}"
    arena_options+="${arena_options:+,}{\"name\":\"$1\",\"type\":\"$2\",\"default_value\":$value"
    arena_options+=",\"summary\":$REPLY${5:+,$5}}"
}

# The values of the last message and of the games, by paths such as decisions.0.position.to_move.
declare -A arena_message=() arena_games=()
arena_decision= arena_context= arena_state=0

get() {
    REPLY=${arena_message[$arena_decision.$1]-${2-}}
    [ -n "${arena_message[$arena_decision.$1]+x}" ]
}

get_option() { REPLY=${arena_games[$arena_context.options.$1]-}; }
get_bot_option() { REPLY=${arena_games[$arena_context.bot_options.$1]-}; }

get_list() {
    local at
    LIST=()
    for ((at = 0; ; at++)); do
        get "$1.$at" || break
        LIST+=("$REPLY")
    done
}

# SplitMix64, the same in every kit. Numbers have a sign here, so constants above 2^63 are negative.
word() {
    local z
    z=$((arena_state += -0x61c8864680b583eb))
    z=$(((z ^ (z >> 30 & 0x3ffffffff)) * -0x40a7b892e31b1a47))
    z=$(((z ^ (z >> 27 & 0x1fffffffff)) * -0x6b2fb644ecceee15))
    REPLY=$((z ^ (z >> 31 & 0x1ffffffff)))
}

below() {
    word
    REPLY=$((((REPLY >> 32 & 0xffffffff) * $1 + ((REPLY & 0xffffffff) * $1 >> 32)) >> 32))
}

# Sets the state of the random numbers to a decimal number of 64 bits, which wraps.
arena_seed() {
    local padded=000000000000000000000000000$1
    padded=${padded: -27}
    arena_state=$((10#${padded:0:9} * 1000000000 + 10#${padded:9:9}))
    arena_state=$((arena_state * 1000000000 + 10#${padded:18:9}))
}

# Writes a text as JSON.
arena_quote() {
    local text=${1//\\/\\\\}
    text=${text//\"/\\\"}
    text=${text//$'\n'/\\n}
    text=${text//$'\t'/\\t}
    REPLY="\"$text\""
}

# Replaces the escapes of a string, except those of \ and ", which arena_parse has replaced.
arena_unescape() {
    local LC_ALL=C text=$1 out='' code low
    while [[ $text == *\\* ]]; do
        out+=${text%%\\*}
        text=${text#*\\}
        case $text in
        u*)
            code=$((16#${text:1:4}))
            text=${text:4}
            # Two units of UTF-16 are one character.
            if ((code >= 0xd800 && code < 0xdc00)) && [[ ${text:1:2} == '\u' ]]; then
                low=$((16#${text:3:4}))
                code=$((0x10000 + ((code - 0xd800) << 10) + (low & 0x3ff)))
                text=${text:6}
            fi
            arena_utf8 "$code"
            out+=$REPLY
            ;;
        b*) out+=$'\b' ;;
        f*) out+=$'\f' ;;
        n*) out+=$'\n' ;;
        r*) out+=$'\r' ;;
        t*) out+=$'\t' ;;
        *) out+=${text:0:1} ;;
        esac
        text=${text:1}
    done
    REPLY=$out$text
}

# The character of a code as UTF-8.
arena_utf8() {
    local more=0 bytes='' shift
    if (($1 >= 0x10000)); then more=3; elif (($1 >= 0x800)); then more=2; elif (($1 >= 0x80)); then more=1; fi
    if ((more == 0)); then
        printf -v bytes '\\x%02x' "$1"
    else
        printf -v bytes '\\x%02x' $(((0xff80 >> more & 0xff) | $1 >> 6 * more))
        for ((shift = more - 1; shift >= 0; shift--)); do
            printf -v bytes '%s\\x%02x' "$bytes" $((0x80 | ($1 >> 6 * shift & 0x3f)))
        done
    fi
    printf -v REPLY '%b' "$bytes"
}

# Reads JSON into arena_message: every value that is not a list or an object, by its path.
arena_parse() {
    local - LC_ALL=C line=$1 parts part token path='' is_key=false depth=0
    # For each list or object around the value: its kind, its path, and the place in it.
    local -a kind=('') base=('') place=('')
    set -f
    arena_message=()
    # Control characters do not occur in JSON. They stand for \\ and \" while quotes separate strings.
    if [[ $line == *\\* ]]; then
        line=${line//\\\\/$'\x02'}
        line=${line//\\\"/$'\x03'}
    fi
    local IFS='"'
    parts=($line)
    IFS=$' \t\r\n'
    local count=${#parts[@]} at
    for ((at = 0; at < count; at++)); do
        part=${parts[at]}
        # Every other part is a string.
        if ((at & 1)); then
            if [[ $part == *[\\$'\x02\x03']* ]]; then
                arena_unescape "$part"
                part=${REPLY//$'\x03'/\"}
                part=${part//$'\x02'/\\}
            fi
            if [ "$is_key" = true ]; then
                place[depth]=$part is_key=false
            else
                arena_message[${base[depth]}${place[depth]}]=$part
            fi
            continue
        fi
        part=${part//,/ , }
        part=${part//\[/ [ }
        part=${part//\]/ ] }
        part=${part//\{/ { }
        part=${part//\}/ \} }
        for token in ${part//:/ }; do
            case $token in
            ,) if [ "${kind[depth]}" = object ]; then is_key=true; else place[depth]=$((place[depth] + 1)); fi ;;
            \{)
                path=${base[depth]}${place[depth]}
                ((++depth))
                kind[depth]=object base[depth]=${path:+$path.} place[depth]='' is_key=true
                ;;
            \[)
                path=${base[depth]}${place[depth]}
                ((++depth))
                kind[depth]=list base[depth]=${path:+$path.} place[depth]=0 is_key=false
                ;;
            \} | \]) ((depth--)) || true; is_key=false ;;
            *) arena_message[${base[depth]}${place[depth]}]=$token ;;
            esac
        done
    done
    [ "$depth" -eq 0 ]
}

arena_hello() {
    local bot
    arena_quote "$summary"
    bot="\"name\":\"$name\",\"summary\":$REPLY,\"rulesets\":$rulesets"
    bot+=",\"deterministic\":$deterministic${uses_seed:+,\"uses_seed\":\"$uses_seed\"}"
    arena_quote "$author"
    printf '{"type":"hello","protocol":1,"name":"%s","version":"%s","author":%s%s,"bots":[{%s,"options":[%s]}]}\n' \
        "$name" "$version" "$REPLY" "$hello_fields" "$bot" "$arena_options"
}

arena_answer() {
    local batch=${arena_message[batch]} at problem='' moves=''
    local ruleset rules_version seats bot nodes seat number seed move
    local time_budget_us=${arena_message[time_budget_us]-0}
    local -a LIST legal_moves notations
    for ((at = 0; ; at++)); do
        arena_decision=decisions.$at
        get context || break
        arena_context=$REPLY
        if [ -z "${arena_games[$arena_context.ruleset]-}" ]; then
            problem="there is no game $arena_context"
            break
        fi
        ruleset=${arena_games[$arena_context.ruleset]}
        rules_version=${arena_games[$arena_context.rules_version]-}
        seats=${arena_games[$arena_context.seats]-}
        bot=${arena_games[$arena_context.bot]-}
        nodes=${arena_games[$arena_context.nodes]-}
        get seat && seat=$REPLY
        get number && number=$REPLY
        get seed && seed=$REPLY
        get_list legal_moves && legal_moves=("${LIST[@]}")
        get_list notations && notations=("${LIST[@]}")
        arena_seed "$seed"
        move=
        choose || { problem="choose failed with status $?"; break; }
        case $move in
        '' | *[!0-9]*) problem="choose set move to '$move', which is not the id of a move"; break ;;
        esac
        moves+=${moves:+,}$move
    done
    if [ -n "$problem" ]; then
        printf '%s\n' "$problem"
        arena_quote "$problem"
        printf '{"type":"error","batch":%s,"message":%s}\n' "$batch" "$REPLY" >&3
    else
        printf '{"type":"answer","batch":%s,"moves":[%s]}\n' "$batch" "$moves" >&3
    fi
}

# Answers decisions until the end of standard input.
serve() {
    local arena_line arena_key
    # Whatever prints to standard output, also a child process, must not disturb the protocol.
    exec 3>&1 1>&2 4<&0 </dev/null
    while IFS= read -r arena_line <&4; do
        arena_parse "$arena_line" || { echo "a line is not JSON"; exit 1; }
        case ${arena_message[type]-} in
        hello) arena_hello >&3 ;;
        ask) arena_answer ;;
        game)
            for arena_key in "${!arena_message[@]}"; do
                arena_games[${arena_message[context]}.$arena_key]=${arena_message[$arena_key]}
            done
            ;;
        esac
    done
    exit 0
}
