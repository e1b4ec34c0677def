"""Plays random games with OpenSpiel for a while, on one core.

    spiel.py cpp|python GAME SECONDS

cpp: OpenSpiel's own loop with its own uniform bots; python: the loop of its
tutorials, over the bindings. Prints one JSON object.
"""

import json
import random
import sys
import time

import pyspiel


def in_cpp(game):
    bots = [pyspiel.make_uniform_random_bot(seat, 1 + seat) for seat in range(game.num_players())]

    def play():
        state = game.new_initial_state()
        pyspiel.evaluate_bots(state, bots, 0)
        return state

    return play


def in_python(game):
    def play():
        state = game.new_initial_state()
        while not state.is_terminal():
            state.apply_action(random.choice(state.legal_actions()))
        return state

    return play


def peak_mb():
    with open("/proc/self/status") as status:
        (line,) = (line for line in status if line.startswith("VmHWM:"))
    return int(line.split()[1]) / 1024


def main():
    loop, name, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
    play = {"cpp": in_cpp, "python": in_python}[loop](pyspiel.load_game(name))
    play()
    games = moves = 0
    cpu, start = time.process_time(), time.perf_counter()
    while (spent := time.perf_counter() - start) < seconds:
        games += 1
        moves += play().move_number()
    print(
        json.dumps(
            {
                "games": games,
                "moves": moves,
                "seconds": spent,
                "cpu_seconds": time.process_time() - cpu,
                "peak_mb": peak_mb(),
            }
        )
    )


main()
