"""Serves agents, or rules, where Arena says, until it is asked to stop."""

import os
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, Optional

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from .agent import Agent
from .service import Service

#: A thread for each stream that is open; they are made when needed.
_THREADS = 128
#: Seconds for answers under way when the process is asked to stop.
_GRACE = 2.0
_POLL = 0.05
_MESSAGE_BYTES_MAX = 64 * 1024 * 1024
_CHANNEL = (
    # Two agents on one port would share its requests between them.
    ("grpc.so_reuseport", 0),
    ("grpc.max_receive_message_length", _MESSAGE_BYTES_MAX),
    ("grpc.max_send_message_length", _MESSAGE_BYTES_MAX),
    # A worker pings as often as it likes.
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_ping_strikes", 0),
    ("grpc.http2.min_ping_interval_without_data_ms", 1000),
)


class Running:
    """A service that is being served, with health and reflection."""

    def __init__(self, service: Any, listen: str) -> None:
        """Starts to serve. Raises `OSError` where it cannot listen."""
        self._service = service
        self._server = grpc.server(ThreadPoolExecutor(_THREADS, "arena"), options=_CHANNEL)
        self._server.add_generic_rpc_handlers((self._service.handler(),))
        self._health = health.HealthServicer()
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        names = (service.name, health.SERVICE_NAME, reflection.SERVICE_NAME)
        reflection.enable_server_reflection(names, self._server)
        self.listen = _bind(self._server, listen)
        self._server.start()
        for name in ("", service.name):
            self._health.set(name, health_pb2.HealthCheckResponse.SERVING)

    def stop(self, grace: float = _GRACE) -> bool:
        """Takes no more questions and gives answers under way `grace` seconds.
        False where an agent is thinking even then."""
        self._health.enter_graceful_shutdown()
        ended = self._server.stop(grace)
        deadline = time.monotonic() + grace
        while not ended.wait(_POLL) and time.monotonic() < deadline:
            if not self._service.thinking():
                # Only streams that wait for more questions are left.
                break
        self._server.stop(None)
        return not self._service.thinking()


class Server(Running):
    """Agents that are being served, with health and reflection."""

    def __init__(self, *agents: Agent, listen: str = "127.0.0.1:0") -> None:
        """Starts to serve. Raises `OSError` where it cannot listen, and
        `ValueError` for agents that cannot be served: none, without a name, two
        of one name."""
        super().__init__(Service(agents), listen)


def _bind(server: grpc.Server, listen: str) -> str:
    """Binds, and returns the address with the port that the system gave."""
    try:
        port = server.add_insecure_port(listen)
    except RuntimeError as error:
        port, cause = 0, str(error)
    else:
        cause = "the address is not free or not valid"
    if port == 0:
        raise OSError(f"cannot listen on {listen}: {cause}")
    if listen.startswith("unix"):
        return listen
    return f"{listen.rpartition(':')[0]}:{port}"


def serve(*agents: Agent, listen: Optional[str] = None) -> None:
    """Serves agents until SIGTERM or SIGINT.

    Listens on `listen`, else where the environment variable `ARENA_LISTEN` says
    (`unix:PATH` or `HOST:PORT`), else on a free port of this machine alone.
    Ends the process with code 1 where that cannot be done.
    """
    run(lambda: Service(agents), listen)


def run(make: Callable[[], Any], listen: Optional[str]) -> None:
    """Serves the service that `make` returns, as `serve` does."""
    try:
        service = make()
        server = Running(service, listen or os.environ.get("ARENA_LISTEN") or "127.0.0.1:0")
    except (OSError, ValueError) as error:
        print(f"arena_agent: {error}", file=sys.stderr)
        raise SystemExit(1) from None
    # The system may give a signal to a thread of gRPC. Python then runs no handler as long as this thread
    # waits, but writes the signal's number to the pipe. Handlers are needed so that it does.
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    ends = (signal.SIGTERM, signal.SIGINT)
    if threading.current_thread() is threading.main_thread():
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        for number in ends:
            signal.signal(number, lambda *_: None)
    print(f"arena_agent: {service.names} listening on {server.listen}", file=sys.stderr, flush=True)
    while os.read(reader, 1)[0] not in ends:
        pass
    if not server.stop():
        # The thread of an agent that thinks on would keep the process alive.
        print("arena_agent: still thinking after the grace time, ending", file=sys.stderr)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(1)
