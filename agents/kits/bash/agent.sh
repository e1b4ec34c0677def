# my-agent: takes as much as it can, and chooses at random between equal moves.
. ./arena.sh

name=my-agent version=1.0.0 deterministic=true uses_seed=yes
option again integer 1 "what another turn is worth" '"min":"0","max":"9"'

# Sets `move` to the id of one of the legal moves.
choose() {
    local at key gain again best=-1 equal=()
    get_bot_option again && again=$REPLY
    for at in "${!legal_moves[@]}"; do
        get "position.moves.$at.moves_again" false
        if [ "$REPLY" = true ]; then gain=$again; else gain=0; fi
        # As the rulesets name what a move takes.
        for key in captured banked hits; do
            get "position.moves.$at.$key" 0
            gain=$((gain + REPLY))
        done
        if ((gain > best)); then best=$gain equal=(); fi
        if ((gain == best)); then equal+=("${legal_moves[at]}"); fi
    done
    below "${#equal[@]}" && move=${equal[REPLY]}
}

serve
