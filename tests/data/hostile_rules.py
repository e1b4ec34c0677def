"""Rules that break one promise each. The first argument names it."""

import ctypes
import os
import random
import sys
import time

from arena_game import decision, over, serve

MODE = sys.argv[1] if len(sys.argv) > 1 else "none"
if MODE == "absent":
    try:
        # A sandbox may show files that it does not open.
        open(sys.argv[2], "rb").close()
    except OSError:
        sys.exit("the game's library is not installed")
if MODE == "late" and time.time() < float(sys.argv[2]):
    time.sleep(3600)
if MODE == "library":
    ctypes.CDLL(sys.argv[2])


class Hostile:
    name = "hostile"
    version = 1
    summary = "rules that break a promise"
    seats = (2, 2)
    events_max = 50
    state_bytes_max = 10000

    def __init__(self, options, seats):
        self.applied = 0

    def initial(self):
        self.path = []
        return {"moves": 0, "text": ""}

    def next(self, state):
        moves = state["moves"]
        if moves == 20 and MODE != "endless":
            return over([1, 3] if MODE == "ranks" else [1, 2])
        action = 40000 if MODE == "action" and moves == 10 else 2
        return decision(moves % 2, {1: "left", action: "right"})

    def apply(self, state, event):
        moves = state["moves"] = state["moves"] + 1
        if MODE == "lacks" and not os.path.exists(sys.argv[2]):
            sys.exit(3)
        if moves == 10:
            if MODE == "crash":
                print("the rules give up", file=sys.stderr)
                sys.exit(3)
            if MODE == "hang":
                time.sleep(3600)
            if MODE == "error":
                raise ValueError("a wrong turn")
        if MODE == "slow":
            time.sleep(0.1)
            state["text"] += str(event)
        if MODE == "ends":
            # Again and again, and a new process takes long to start.
            self.applied += 1
            state["text"] += str(event)
            if self.applied > 150:
                os._exit(3)
        if MODE == "changes":
            state["text"] = str(random.random())
        if MODE == "remembers":
            # The same in two processes that are asked the same.
            self.applied += 1
            state["text"] = str(self.applied)
        if MODE == "tires":
            # Only on machines with this variable, and the same in each process there.
            self.applied += 1
            if "TEST_RULES_TIRE" in os.environ and self.applied > 25:
                state["moves"] += 1
        if MODE == "place":
            # The moves so far, as the rules remember them.
            self.path = self.path[: moves - 1] + [event]
            state["text"] = str(self.path)
        if MODE == "state":
            state["text"] = "x" * (2000 * moves)
        return state

    def position(self, state):
        return "y" * (8 << 20 if MODE == "position" and state["moves"] == 10 else 10)


if __name__ == "__main__":
    if MODE == "ends":
        time.sleep(1)
    serve(Hostile)
