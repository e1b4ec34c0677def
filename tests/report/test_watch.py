"""`arena tournament watch` on a terminal."""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time

import pytest
from conftest import ARENA

pyte = pytest.importorskip("pyte", reason="pyte is not installed")
ROWS, COLUMNS = 30, 100
SPEC = """
name = "watched"
ruleset = "cowry"
seed = "0x5eed"
blocks = {blocks}
agents = ["random", "aggressive", "mixed"]
"""


class Terminal:
    """A program on a terminal, and the visible text."""

    def __init__(self, command, folder, **more):
        self.screen = pyte.Screen(COLUMNS, ROWS)
        self.stream = pyte.ByteStream(self.screen)
        self.bytes = b""
        ours, theirs = pty.openpty()
        self.fd = ours
        self.resize(COLUMNS, ROWS)
        environment = {
            key: value
            for key, value in os.environ.items()
            if key not in ("NO_COLOR", "CI") and not key.startswith("ARENA_")
        }
        environment |= {"TERM": "xterm-256color"} | more
        self.process = subprocess.Popen(
            command, cwd=folder, env=environment, stdin=theirs, stdout=theirs, stderr=theirs,
            start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(theirs)

    def resize(self, columns, rows):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.screen.resize(rows, columns)

    def read(self, seconds):
        """Reads output for this long, or until the end."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            if not select.select([self.fd], [], [], left)[0]:
                return
            try:
                data = os.read(self.fd, 65536)
            except OSError:
                return
            if not data:
                return
            self.bytes += data
            self.stream.feed(data)

    def wait_for(self, text, seconds=60):
        until = time.monotonic() + seconds
        while text not in self.text() and time.monotonic() < until:
            self.read(0.2)
        assert text in self.text(), self.text()

    def end(self):
        self.read(60)
        return self.process.wait(60)

    def text(self):
        return "\n".join(line.rstrip() for line in self.screen.display).rstrip()


@pytest.fixture
def coordinator(arena):
    """A coordinator without workers, and the id of its waiting tournament."""
    command = [ARENA, "coordinator", "--data", "watch", "--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0"]
    process = subprocess.Popen(command, cwd=arena.folder, stdout=subprocess.PIPE, text=True)
    import json

    url = "http://" + json.loads(process.stdout.readline())["listen"]
    spec = arena.folder / "watched.toml"
    spec.write_text(SPEC.format(blocks=200))
    start = arena.run("tournament", "start", spec, "--again", "--coordinator", url, "--output", "json")
    yield url, json.loads(start.stdout)["tournament_id"]
    process.send_signal(signal.SIGTERM)
    process.wait(30)


def watch(arena, coordinator, **more):
    url, identity = coordinator
    return Terminal(
        [ARENA, "tournament", "watch", identity, "--coordinator", url], arena.folder, **more
    )


def worker(arena, coordinator):
    command = [ARENA, "worker", "--coordinator", coordinator[0], "--metrics", "127.0.0.1:0"]
    return subprocess.Popen(command, cwd=arena.folder, stdout=subprocess.DEVNULL)


def test_watch_redraws_and_ends_with_standings(arena, coordinator):
    terminal = watch(arena, coordinator)
    terminal.wait_for("start `arena worker` to play")
    assert "random" in terminal.text()
    playing = worker(arena, coordinator)
    try:
        assert terminal.end() == 0, terminal.text()
    finally:
        playing.terminate()
        playing.wait(30)
    text = terminal.text()
    # Drawn repeatedly, but visible once.
    assert text.count("1,200 of 1,200 games, 100%") == 1, text
    assert text.count("start `arena worker` to play") == 0, text
    assert text.count("finished: 1,200/1,200 games") == 1, text
    assert "score [95%]" in text and "mixed" in text
    for change in [b"\x1b[?1049h", b"\x1b[?25l"]:
        assert change not in terminal.bytes


def test_ctrl_c_restores_the_terminal(arena, coordinator):
    terminal = watch(arena, coordinator)
    terminal.wait_for("0 of 1,200 games")
    os.write(terminal.fd, b"\x03")
    assert terminal.end() in (130, -signal.SIGINT)
    assert b"\x1b[?25l" not in terminal.bytes
    assert terminal.screen.cursor.x <= len("^C"), "not at the start of a line"


def test_narrowed_terminal_is_drawn_once(arena, coordinator):
    terminal = watch(arena, coordinator)
    terminal.wait_for("0 of 1,200 games")
    terminal.resize(50, 20)
    playing = worker(arena, coordinator)
    try:
        terminal.end()
    finally:
        playing.terminate()
        playing.wait(30)
    assert all(len(line.rstrip()) <= 50 for line in terminal.screen.display)
    assert terminal.text().count("1,200 of 1,200 games, 100%") <= 1


@pytest.mark.parametrize("plain", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_dumb_terminal_gets_plain_lines(arena, coordinator, plain):
    terminal = watch(arena, coordinator, **plain)
    terminal.wait_for("0/1,200 games")
    os.write(terminal.fd, b"\x03")
    terminal.end()
    assert b"\x1b" not in terminal.bytes
