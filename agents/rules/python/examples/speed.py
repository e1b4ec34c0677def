"""Measures moves and playouts in a second of CPU time from Python:

    python speed.py
    python speed.py PROGRAM    compares with PROGRAM, the built core/examples/speed.rs, which is in Rust

The comparison fails if playouts have less than 60 % of the speed of Rust, or if fewer than 1,000,000 moves are
applied in a second. Where the rules alone, in Rust, apply few moves, 60 % of these suffice.
"""

import random
import subprocess
import sys
import time

from arena_rules import Game, rulesets

SECONDS = 1.0  # of CPU time of each measurement
GAMES = 100


def rate(call):
    """Calls of a function in a second of CPU time."""
    start, calls, passed = time.process_time(), 0, 0.0
    while passed < SECONDS:
        # Few looks at the clock.
        for _ in range(max(1, calls // 16)):
            call(calls)
            calls += 1
        passed = time.process_time() - start
    return calls / passed


def record(game):
    """The events of some random games; True for a chance outcome."""
    rng, games = random.Random(1), []
    for _ in range(GAMES):
        state, events = game.initial(), []
        while not state.is_over():
            if state.is_chance():
                event = (True, rng.choices(*zip(*state.chance()))[0])
                state.apply_outcome(event[1])
            else:
                event = (False, rng.choice(state.legal()))
                state.apply(event[1])
            events.append(event)
        games.append(events)
    return games


def replay(game, games):
    for events in games:
        state = game.initial()
        apply, apply_outcome = state.apply, state.apply_outcome
        for is_chance, event in events:
            if is_chance:
                apply_outcome(event)
            else:
                apply(event)


def measured_in_rust(program):
    """Playouts and events in a second for each ruleset."""
    lines = map(str.split, subprocess.check_output([program], text=True).splitlines())
    return {words[0]: (float(words[1]), float(words[3])) for words in lines}


def main():
    rust = measured_in_rust(sys.argv[1]) if len(sys.argv) > 1 else {}
    slow = []
    for ruleset in rulesets():
        game = Game(ruleset)
        playouts = rate(game.initial().playout)
        games = record(game)
        applied = sum(map(len, games)) * rate(lambda _: replay(game, games))
        line = f"{ruleset:16} {playouts:9.0f} playouts/s {applied:11.0f} events/s"
        if rust:
            of_rust = playouts / rust[ruleset][0], applied / rust[ruleset][1]
            line += f"   {of_rust[0]:.2f} and {of_rust[1]:.2f} of Rust"
            if of_rust[0] < 0.6 or (applied < 1e6 and of_rust[1] < 0.6):
                slow.append(ruleset)
        print(line)
    if slow:
        sys.exit(f"too slow: {', '.join(slow)}")


if __name__ == "__main__":
    main()
