#!/usr/bin/env python3
"""An agent that misbehaves on purpose: misbehave.py MODE [N] [single]

Without a fault to show it draws its moves from the decision's seed. N is the
number of the decision (of its seat, from 0) that sets the fault off, 5 unless
told, so that the same games are hit however they are spread over workers. With
`single` it knows no batches.
"""

import mmap
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import grpc
from arena_agent import Rng
from arena_agent.proto import agent_pb2 as pb
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

FOR_EVER = 3600
MEBIBYTE = 1 << 20
#: Linux; named in `mmap` from Python 3.13.
MAP_NORESERVE = 0x4000


class Good:
    """Plays on, without a fault."""

    deterministic = True
    serving = True
    methods = ("Describe", "ChooseMove", "ChooseMoves")

    def __init__(self, n):
        self.n = n

    def prepare(self):
        """Before it listens."""

    def listening(self, server):
        """Once it listens."""

    def choose(self, decision, in_batch):
        """A move id; None leaves the decision of a batch unanswered."""
        return Rng(decision.seed).choice(decision.legal_moves)

    def send(self, response):
        """The answer to one decision, as a message or as bytes."""
        return response

    def send_batch(self, response):
        """The answers to a batch, in any number of messages."""
        yield self.send(response)


class At(Good):
    """Does `fault` at decision N, alone and in a batch."""

    def choose(self, decision, in_batch):
        if decision.number == self.n and self.due(in_batch):
            answer = self.fault(decision)
            if answer is not None:
                return answer
        return super().choose(decision, in_batch)

    def due(self, in_batch):
        return True


class InBatch:
    """Does its fault only where the decision came in a batch."""

    def due(self, in_batch):
        return in_batch


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


class Disconnect(At):
    """Closes every connection at decision N and lives on."""

    def listening(self, server):
        self.server = server

    def fault(self, decision):
        self.server.stop(None)
        time.sleep(FOR_EVER)


class ClosesSocket(At):
    """Takes away the socket it listens on at decision N, and answers on."""

    def fault(self, decision):
        kind, _, path = os.environ["ARENA_LISTEN"].partition(":")
        if kind == "unix" and os.path.exists(path):
            os.unlink(path)


class Connections(At):
    """Connects to itself 300 times at decision N, and answers on."""

    def fault(self, decision):
        self.open = [connect(os.environ["ARENA_LISTEN"]) for _ in range(300)]


class Error(At):
    """Answers decision N with an error; in a batch, ends the stream with it."""

    def fault(self, decision):
        raise RuntimeError(f"no idea at decision {decision.number}")


class Hang(At):
    """Thinks for ever about decision N."""

    def fault(self, decision):
        time.sleep(FOR_EVER)


class HangInBatch(InBatch, Hang):
    """Thinks for ever about decision N in a batch; alone it answers."""


class Late(At):
    """Answers decision N after twenty seconds, when even a small batch is late."""

    def fault(self, decision):
        time.sleep(20)


class Illegal(At):
    """Answers decision N with a move that is not legal."""

    def fault(self, decision):
        return max(decision.legal_moves) + 1


class Garbled(At):
    """Answers decision N with bytes that are no message."""

    def __init__(self, n):
        super().__init__(n)
        self.garble = threading.local()

    def fault(self, decision):
        self.garble.due = True

    def send(self, response):
        if getattr(self.garble, "due", False):
            self.garble.due = False
            return b"\xff" * 32
        return response


class Huge(Garbled):
    """Answers decision N with a message of 16 MiB."""

    def send(self, response):
        if getattr(self.garble, "due", False):
            self.garble.due = False
            info = pb.SearchInfo(variation=["x" * MEBIBYTE] * 16)
            if isinstance(response, pb.ChooseMoveResponse):
                response.info.CopyFrom(info)
            else:
                response.choices[0].info.CopyFrom(info)
        return response


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
    and touches none of it, lest nobody stops it."""

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
    """Kills its worker, and with it itself, at the decision with the seed N."""

    def choose(self, decision, in_batch):
        if decision.seed == self.n:
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
    """Starts a child that is nobody's: forked twice, in a session of its own,
    with nothing open, and deaf to SIGTERM."""

    def prepare(self):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                os.closerange(0, 64)
                time.sleep(FOR_EVER)
            os._exit(0)


class Twice(Good):
    """Answers each decision of a batch twice, differently, in two messages."""

    def send_batch(self, response):
        yield response
        for choice in response.choices:
            choice.move_id += 1
        yield response


class WrongSlot(Good):
    """Answers also decisions of a batch that were never asked."""

    def send_batch(self, response):
        response.choices.add(slot=1_000_000, move_id=0)
        yield response


class WrongBatch(Good):
    """Answers a batch that was never sent."""

    def send_batch(self, response):
        response.batch += 1_000_000
        yield response


class Swapped(Good):
    """Answers each decision of a batch with the move of another."""

    def send_batch(self, response):
        moves = [choice.move_id for choice in response.choices]
        for choice, move in zip(response.choices, moves[1:] + moves[:1]):
            choice.move_id = move
        yield response


class Nan(Good):
    """Tells of its search what cannot be: no number, negative, too much."""

    def send(self, response):
        info = pb.SearchInfo(
            score=float("nan"),
            depth=2**32 - 1,
            nodes=2**64 - 1,
            thinking_us=2**64 - 1,
            variation=["\0\x1b[31m\n", "-1"],
        )
        if isinstance(response, pb.ChooseMoveResponse):
            response.info.CopyFrom(info)
        else:
            response.thinking_us = 2**64 - 1
            for choice in response.choices:
                choice.info.CopyFrom(info)
        return response


class Drip(At):
    """Sends everything a byte at a time."""

    pause = 0.0001

    def prepare(self):
        outer = listen(os.environ["ARENA_LISTEN"])
        inner = f"unix:{os.getcwd()}/{os.getpid()}"
        if os.environ["ARENA_LISTEN"].startswith("unix:"):
            inner = os.environ["ARENA_LISTEN"] + ".in"
        os.environ["ARENA_LISTEN"] = inner
        threading.Thread(target=self.accept, args=(outer, inner), daemon=True).start()

    def accept(self, outer, inner):
        while True:
            near, _ = outer.accept()
            try:
                far = connect(inner)
            except OSError:
                near.close()
                continue
            for pump, ends in ((self.pour, (near, far)), (self.drip, (far, near))):
                threading.Thread(target=pump, args=ends, daemon=True).start()

    def pour(self, source, sink):
        while data := source.recv(1 << 16):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)

    def drip(self, source, sink):
        while data := source.recv(1 << 16):
            for byte in data:
                sink.sendall(bytes([byte]))
                time.sleep(self.pause)
        sink.shutdown(socket.SHUT_WR)

    def fault(self, decision):
        pass


class DripForEver(Drip):
    """Sends two bytes a second from decision N on."""

    def fault(self, decision):
        self.pause = 0.5


class HalfBatch(Good):
    """Leaves every other decision of a batch unanswered."""

    def choose(self, decision, in_batch):
        if in_batch and decision.slot % 2 == 1:
            return None
        return super().choose(decision, in_batch)


class SplitBatch(Good):
    """Answers a batch backwards, in one message for each decision."""

    def send_batch(self, response):
        for choice in reversed(response.choices):
            yield pb.ChooseMovesResponse(batch=response.batch, choices=[choice])


class EndsStream(Good):
    """Ends the stream after each batch, with nothing answered."""

    def send_batch(self, response):
        return iter(())


class OnlyChooseMove(Good):
    """Has no method but ChooseMove."""

    methods = ("ChooseMove",)


class Moody(Good):
    """Claims to be deterministic and is not."""

    def choose(self, decision, in_batch):
        return Rng(int.from_bytes(os.urandom(8), "big")).choice(decision.legal_moves)


class OpenlyMoody(Moody):
    """Is not deterministic and says so."""

    deterministic = False


MODES = {
    "good": Good,
    "crash-at-start": CrashAtStart,
    "never-listens": NeverListens,
    "never-ready": NeverReady,
    "slow-start": SlowStart,
    "crash": Crash,
    "crash-in-batch": CrashInBatch,
    "crash-after": CrashAfter,
    "exit": Exit,
    "segfault": Segfault,
    "stop": Stop,
    "disconnect": Disconnect,
    "closes-socket": ClosesSocket,
    "connections": Connections,
    "error": Error,
    "hang": Hang,
    "hang-in-batch": HangInBatch,
    "late": Late,
    "illegal": Illegal,
    "garbled": Garbled,
    "huge": Huge,
    "flood": Flood,
    "flood-at-start": FloodAtStart,
    "binary": Binary,
    "memory": Memory,
    "memory-fill": MemoryFill,
    "bomb": Bomb,
    "poison": Poison,
    "ignores-sigterm": IgnoresSigterm,
    "children": Children,
    "escape": Escape,
    "daemon": Daemon,
    "twice": Twice,
    "wrong-slot": WrongSlot,
    "wrong-batch": WrongBatch,
    "swapped": Swapped,
    "nan": Nan,
    "drip": Drip,
    "drip-for-ever": DripForEver,
    "half-batch": HalfBatch,
    "split-batch": SplitBatch,
    "ends-stream": EndsStream,
    "only-choose-move": OnlyChooseMove,
    "moody": Moody,
    "openly-moody": OpenlyMoody,
}


class Service:
    """`arena.v1.AgentService` by hand: the SDK would not let any of this out."""

    def __init__(self, name, mode):
        self.name = name
        self.mode = mode

    def handler(self):
        kinds = {
            "Describe": (grpc.unary_unary_rpc_method_handler, self.describe, pb.DescribeRequest),
            "ChooseMove": (grpc.unary_unary_rpc_method_handler, self.choose, pb.ChooseMoveRequest),
            "ChooseMoves": (
                grpc.stream_stream_rpc_method_handler,
                self.choose_many,
                pb.ChooseMovesRequest,
            ),
        }
        handlers = {}
        for method in self.mode.methods:
            make, answer, request = kinds[method]
            handlers[method] = make(answer, request.FromString, encode)
        return grpc.method_handlers_generic_handler("arena.v1.AgentService", handlers)

    def describe(self, request, call):
        bot = pb.Bot(name=self.name, deterministic=self.mode.deterministic)
        return pb.DescribeResponse(name="misbehave", bots=[bot])

    def choose(self, request, call):
        move = self.mode.choose(request.decision, in_batch=False)
        return self.mode.send(pb.ChooseMoveResponse(move_id=move))

    def choose_many(self, requests, call):
        for request in requests:
            response = pb.ChooseMovesResponse(batch=request.batch)
            for decision in request.decisions:
                move = self.mode.choose(decision, in_batch=True)
                if move is not None:
                    response.choices.add(slot=decision.slot, move_id=move)
            yield from self.mode.send_batch(response)
            if isinstance(self.mode, EndsStream):
                return


def address(text):
    """What a socket takes, of `unix:PATH` or `HOST:PORT`."""
    if text.startswith("unix:"):
        return socket.AF_UNIX, text[len("unix:") :]
    host, _, port = text.rpartition(":")
    return socket.AF_INET, (host, int(port))


def connect(text):
    family, where = address(text)
    connection = socket.socket(family)
    connection.connect(where)
    return connection


def listen(text):
    family, where = address(text)
    listener = socket.socket(family)
    listener.bind(where)
    listener.listen()
    return listener


def encode(response):
    return response if isinstance(response, bytes) else response.SerializeToString()


def main(arguments):
    if not arguments or arguments[0] not in MODES:
        modes = ", ".join(MODES)
        sys.exit(f"usage: misbehave.py MODE [N] [single], with MODE one of {modes}")
    name = arguments[0]
    mode = MODES[name](int(arguments[1]) if len(arguments) > 1 else 5)
    if "single" in arguments[2:]:
        mode.methods = ("ChooseMove",)
    mode.prepare()
    server = grpc.server(ThreadPoolExecutor(32), options=[("grpc.so_reuseport", 0)])
    server.add_generic_rpc_handlers((Service(name, mode).handler(),))
    checks = health.HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(checks, server)
    if not mode.serving:
        checks.set("", health_pb2.HealthCheckResponse.NOT_SERVING)
    server.add_insecure_port(os.environ.get("ARENA_LISTEN", "127.0.0.1:0"))
    server.start()
    mode.listening(server)
    while True:
        server.wait_for_termination()
        time.sleep(1)


if __name__ == "__main__":
    main(sys.argv[1:])
