"""Measures moves and playouts in a second of CPU time from Python: `python speed.py`.

`core/examples/speed.rs` measures the same in Rust.
"""

import random
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


def main():
    for ruleset in rulesets():
        game = Game(ruleset)
        playouts = rate(game.initial().playout)
        games = record(game)
        applied = sum(map(len, games)) * rate(lambda _: replay(game, games))
        print(f"{ruleset:16} {playouts:9.0f} playouts/s {applied:11.0f} events/s")


if __name__ == "__main__":
    main()
