"""Rules that draw boards. The first argument names what is wrong with the boards."""

import sys
import time

from arena_game import decision, over, serve

MODE = sys.argv[1] if len(sys.argv) > 1 else "none"
OPEN = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 10">'


class Drawing:
    name = "drawing"
    version = 1
    summary = "six moves, with boards"
    seats = (2, 2)
    events_max = 6

    def __init__(self, options, seats):
        pass

    def initial(self):
        return ""

    def next(self, state):
        return over([1, 2]) if len(state) == 6 else decision(len(state) % 2, {1: "left", 2: "right"})

    def apply(self, state, event):
        return state + "lr"[event - 1]

    def position(self, state):
        return {"moves": state}

    def draw(self, state):
        if MODE == "escapes":
            return f"\x1b[2J\x1b]0;owned\x07moves so far: {len(state)}\u202e\r\n"
        if MODE == "large":
            return "x" * (1 << 20)
        if MODE == "error":
            raise ValueError("no paint is left")
        if MODE == "hang":
            time.sleep(3600)
        if MODE == "crash":
            print("the brush broke", file=sys.stderr)
            sys.exit(3)
        return f"moves so far: {len(state)}\n"

    def svg(self, state):
        if MODE == "script":
            return OPEN + '<script>alert(1)</script><image href="http://127.0.0.1/a.png"/></svg>'
        if MODE == "large":
            return OPEN + " " * (1 << 20) + "</svg>"
        return f'{OPEN}<rect class="moves-{len(state)}" width="{10 * len(state)}" height="10"/></svg>'


if MODE == "plain":
    del Drawing.draw, Drawing.svg

if __name__ == "__main__":
    serve(Drawing)
