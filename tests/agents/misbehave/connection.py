"""Misbehaviour of connections: closed, too many, and slow as a drip."""

import os
import socket
import threading
import time

from common import FOR_EVER, At


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
