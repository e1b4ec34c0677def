"""A person plays on a terminal."""

import os
import pty
import re
import select
import subprocess
import time

from conftest import DEADLINE, ROOT

ARENA = os.environ.get("ARENA_BIN") or str(ROOT / "target/debug/arena")


class Terminal:
    """A command on a terminal of its own."""

    def __init__(self, folder, *arguments):
        ours, theirs = pty.openpty()
        environment = {**os.environ, "TERM": "xterm"}
        self.process = subprocess.Popen(
            [ARENA, *arguments], stdin=theirs, stdout=theirs, stderr=theirs, cwd=folder, env=environment
        )
        os.close(theirs)
        self.fd = ours

    def until(self, expected):
        """What it shows up to this text, after what was read before."""
        shown, end = "", time.monotonic() + DEADLINE
        while expected not in shown:
            assert select.select([self.fd], [], [], end - time.monotonic())[0], shown
            shown += os.read(self.fd, 1).decode(errors="replace")
        return shown

    def type(self, text):
        os.write(self.fd, text.encode())


def test_person_completes_a_move_gets_hints_and_sees_the_board(tmp_path):
    terminal = Terminal(tmp_path, "play", "--ruleset", "kalah", "--seats", "human,greedy")
    try:
        # Without --seed, one is drawn.
        before = terminal.until("move (? for hints, q to stop)> ")
        assert re.search(r"--seed 0x[0-9a-f]{16} plays this game again", before)
        assert "4   4   4   4   4   4" in before
        terminal.type("\t")
        terminal.until("q to stop)> 0")
        terminal.type("\t")
        terminal.until("q to stop)> 1")
        terminal.type("\x15?\r")
        hints = terminal.until("the number or the notation of a move")
        assert len(re.findall(r"\d\d\.\d %", hints)) == 6
        terminal.until("q to stop)> ")
        # From the third pit to the own store, so that the same seat moves again.
        terminal.type("2\r")
        assert "4   4   0   5   5   5" in terminal.until("q to stop)> ")
        terminal.type("\x04")
        terminal.until("stopped: the game is not finished")
        assert terminal.process.wait(DEADLINE) == 130
    finally:
        terminal.process.kill()
        terminal.process.wait()
        os.close(terminal.fd)
