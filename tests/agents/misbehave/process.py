"""Misbehaviour of the process: how it starts, lives and ends, what it takes
from the machine, and whom it leaves behind."""

import mmap
import os
import signal
import subprocess
import sys
import threading
import time

from common import FOR_EVER, MEBIBYTE, At, Good, InBatch

#: Linux; named in `mmap` from Python 3.13.
MAP_NORESERVE = 0x4000


class CrashAtStart(Good):
    """Ends before it listens."""

    def prepare(self):
        sys.exit("misbehave: no weights found, ending")


class NeverListens(Good):
    """Runs, and listens nowhere."""

    def prepare(self):
        time.sleep(FOR_EVER)


class NeverReady(Good):
    """Listens, and never says that it is ready."""

    serving = False


class SlowStart(Good):
    """Listens after N seconds."""

    def prepare(self):
        time.sleep(self.n)


class Crash(At):
    """Dies of decision N."""

    def fault(self, decision):
        print(f"misbehave: dying of decision {decision.number}", file=sys.stderr, flush=True)
        os._exit(70)


class CrashInBatch(InBatch, Crash):
    """Dies of decision N in a batch; alone it answers."""


class CrashAfter(At):
    """Dies a moment after it has answered decision N."""

    def fault(self, decision):
        threading.Timer(0.02, os._exit, [71]).start()


class Exit(At):
    """Ends at decision N as if all were well."""

    def fault(self, decision):
        os._exit(0)


class Segfault(At):
    """Is killed by the system at decision N."""

    def fault(self, decision):
        os.kill(os.getpid(), signal.SIGSEGV)
        time.sleep(FOR_EVER)


class Stop(At):
    """Stops itself, as a debugger would, at decision N."""

    def fault(self, decision):
        os.kill(os.getpid(), signal.SIGSTOP)
        # Another thread may have to be woken before this one stops.
        time.sleep(FOR_EVER)


def flood():
    """Writes 1 GiB to stdout and stderr."""
    line = b"misbehave: and another thing\n" * 2048
    for _ in range(1024 * MEBIBYTE // len(line) // 2):
        os.write(1, line)
        os.write(2, line)


class Flood(At):
    """Writes 1 GiB to stdout and stderr before it answers decision N."""

    def fault(self, decision):
        flood()


class FloodAtStart(Good):
    """Writes 1 GiB to stdout and stderr before it listens."""

    def prepare(self):
        flood()


class Binary(At):
    """Writes bytes that are no text at decision N, fewer than it may."""

    def fault(self, decision):
        os.write(2, bytes(range(256)) * 4096)


class Memory(At):
    """Asks for 64 GiB of memory at decision N, which is more than it may have,
    and touches none of it, or no process stops it."""

    def fault(self, decision):
        self.taken = mmap.mmap(-1, 64 << 30, flags=mmap.MAP_PRIVATE | MAP_NORESERVE)


class MemoryFill(At):
    """Fills all the memory it may have at decision N."""

    def fault(self, decision):
        taken = []
        try:
            while True:
                taken.append(b"x" * (16 * MEBIBYTE))
        except MemoryError:
            # The answer with the error takes some as well.
            taken.clear()
            raise


class Bomb(At):
    """Starts 64 children at decision N, and does not answer."""

    def fault(self, decision):
        for _ in range(64):
            subprocess.Popen(["sleep", str(FOR_EVER)], start_new_session=True)
        time.sleep(FOR_EVER)


class Poison(Good):
    """Kills its worker, and with it itself, at the decision with the seed that the
    worker's environment names: an argument would make it another agent."""

    def choose(self, decision, in_batch):
        if str(decision.seed) == os.environ.get("POISON_SEED"):
            with open(f"/proc/{os.getppid()}/stat") as guard:
                # The name in parentheses may hold anything; the parent is the
                # second word after it.
                worker = int(guard.read().rpartition(")")[2].split()[1])
            os.kill(worker, signal.SIGKILL)
            time.sleep(FOR_EVER)
        return super().choose(decision, in_batch)


class IgnoresSigterm(Good):
    """Plays on after SIGTERM and SIGINT."""

    def prepare(self):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)


class Children(Good):
    """Starts a child, in its own process group, that would outlive it."""

    new_session = False

    def prepare(self):
        code = f"import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep({FOR_EVER})"
        subprocess.Popen([sys.executable, "-c", code], start_new_session=self.new_session)


class Escape(Children):
    """Starts a child in a session of its own that would outlive it."""

    new_session = True


class Daemon(Good):
    """Starts a child without a parent: forked twice, in a session of its own,
    with nothing open, and deaf to SIGTERM."""

    def prepare(self):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                os.closerange(0, 64)
                time.sleep(FOR_EVER)
            os._exit(0)
