#!/usr/bin/env python3
"""Draws its moves. At its third decision, it exceeds the limit that its argument names, or with
`canaries` prints all that it finds in its environment and in the files that it can reach."""

import os
import signal
import subprocess
import sys
import time

from arena_agent import Agent, serve

# Seconds, more than the move timeout of the tests.
LONG = 120


def start(code, count):
    """Starts processes that run code and sleep. A fork without a new program could hang or fail:
    other threads of this process hold locks and count towards its limits."""
    code += f"\nimport time\ntime.sleep({LONG})"
    for _ in range(count):
        subprocess.Popen([sys.executable, "-S", "-c", code])


def memory():
    """Eight processes that together use 400 MiB."""
    start("block = bytearray(50 << 20)\nblock[::4096] = b'x' * len(block[::4096])", 8)


def processes():
    start("", 60)


def disk():
    for number in range(60):
        with open(f"{os.environ['TMPDIR']}/{number}", "wb") as file:
            file.write(b"x" * (1 << 20))


def file():
    """One file that is larger than the folder may be."""
    with open(f"{os.environ['TMPDIR']}/large", "wb") as large:
        large.write(b"x" * (60 << 20))


def cpu():
    while time.process_time() < LONG:
        pass


def canaries():
    print(dict(os.environ), flush=True)
    for folder in ["/proc/self", os.getcwd(), "..", "../..", "/tmp", os.path.expanduser("~")]:
        for name in ["environ", "secret", "cmdline"]:
            try:
                with open(f"{folder}/{name}", "rb") as file:
                    print(folder, name, file.read(), flush=True)
            except OSError:
                pass
    for pid in range(1, 1 << 16):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                print(pid, file.read(), flush=True)
        except OSError:
            pass


class Limits(Agent):
    name = "limits"
    version = "1.0.0"
    summary = "exceeds a limit at its third decision"
    uses_seed = True

    def choose(self, decision):
        if decision.number == 2:
            globals()[sys.argv[1]]()
            if sys.argv[1] != "canaries":
                time.sleep(LONG)
        return decision.rng.choice(decision.legal)


if __name__ == "__main__":
    # Python ignores it by itself.
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    serve(Limits())
