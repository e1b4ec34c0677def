"""How to reach a coordinator: its address, its token, TLS. The rules are those of the command."""

from __future__ import annotations

import ipaddress
import json
import os
import selectors
import signal
import socket
import stat
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional, Union

import grpc

from . import _command, errors

PathLike = Union[str, "os.PathLike[str]"]

_OPTIONS: list[tuple[str, Any]] = [
    # As much as the command accepts.
    ("grpc.max_receive_message_length", 64 << 20),
    # Milliseconds between attempts to connect, and until an attempt is given up. The defaults are as
    # long as a watch waits for a coordinator.
    ("grpc.initial_reconnect_backoff_ms", 250),
    ("grpc.max_reconnect_backoff_ms", 2000),
    ("grpc.min_reconnect_backoff_ms", 5000),
]
_START_SECONDS = 60.0
_STOP_SECONDS = 30.0
# With these exit codes, a shell reports that it cannot start a command.
_NOT_STARTED = (126, 127)
# Seconds between attempts of a watch to reconnect: they double from the first to the last.
_RECONNECT_SECONDS = (0.25, 2.0)
# A token that was read while the coordinator started may be that of its last run.
_REFUSALS_MAX = 3
# Ends the coordinator when this process closes the pipe, or ends in any way.
_GUARD = '"$@" & exec >&-; read -r _; kill $! 2>&-; wait $!'


@dataclass(frozen=True)
class Credentials:
    """What a client shows to a coordinator."""

    token: Optional[str] = None
    token_file: Optional[str] = None
    tls_ca: Optional[str] = None
    tls_cert: Optional[str] = None
    tls_key: Optional[str] = None


class Access:
    """A coordinator, and what it is shown."""

    def __init__(self, url: Optional[str], data: Optional[PathLike], shown: Credentials) -> None:
        if url is not None and data is not None:
            raise errors.InvalidArgument("both a URL and a data folder are given: give one")
        if url is None and data is None:
            url = os.environ.get("ARENA_COORDINATOR") or None
        if url is None and data is None:
            data = os.environ.get("ARENA_DATA") or "arena-data"
        self._shown = shown
        self._closed = False
        self._process: Optional[subprocess.Popen[bytes]] = None
        self._private: Optional[tempfile.TemporaryDirectory[str]] = None
        self._data = None if data is None else Path(data).absolute()
        if self._data is not None:
            self.url = self._open(self._data)
        else:
            assert url is not None
            self.url = url if "://" in url or url.startswith("unix:") else f"http://{url}"
        plain = self.url.startswith("unix:")
        if not plain and "," in self.url:
            raise errors.InvalidArgument(
                f'"{self.url}" is more than one URL: give one of them, for example with url='
            )
        known = plain or self.url.startswith(("http://", "https://"))
        if not known or (not plain and " " in self.url):
            raise errors.InvalidArgument(
                f'"{self.url}" is not a URL of a coordinator, such as http://127.0.0.1:7600'
            )

    def _open(self, data: Path) -> str:
        """The coordinator that uses a data folder; without one, starts it."""
        if data.exists() and not data.is_dir():
            raise errors.InvalidArgument(f"{data} is not a folder: name another one with data=")
        if not data.is_dir():
            raise errors.NotFound(
                f"no data folder at {data}: make the folder for a new one, or run a tournament with "
                "arena.run"
            )
        known = _listening(data)
        if known is not None:
            return known
        here = ["--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0"]
        program = _command.program()
        with tempfile.TemporaryFile() as stderr:
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", _GUARD, "sh", program, "coordinator", *here]
                + ["--data", str(data)],
                env=_command.environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                # An interrupt of a terminal must not end it.
                start_new_session=True,
            )
            assert self._process.stdout is not None
            with selectors.DefaultSelector() as ready:
                ready.register(self._process.stdout, selectors.EVENT_READ)
                line = self._process.stdout.readline() if ready.select(_START_SECONDS) else b""
            if not line:
                code = self._stop()
                stderr.seek(0)
                text = stderr.read().decode(errors="replace")
                if code in _NOT_STARTED:
                    raise _command.not_started(program, text.strip())
                raise errors.of_exit(code, text)
        return f"http://{json.loads(line)['listen']}"

    def channel_credentials(self) -> Optional[grpc.ChannelCredentials]:
        """The settings of TLS; None for a plain connection."""
        if not self.url.startswith("https://"):
            return None
        if self._shown.tls_ca is None:
            raise errors.InvalidArgument(
                f"{self.url} needs the certificate of the authority that signed the "
                "coordinator's: tls_ca"
            )
        try:
            read = [
                None if path is None else Path(path).read_bytes()
                for path in (self._shown.tls_ca, self._shown.tls_key, self._shown.tls_cert)
            ]
        except OSError as error:
            raise errors.InvalidArgument(f"TLS file: {error}") from error
        return grpc.ssl_channel_credentials(*read)

    def channel(self, kind: Any) -> Any:
        """A channel of `grpc` or `grpc.aio`."""
        plain = self.url.startswith("unix:")
        target = self.url if plain else self.url.split("://", 1)[1].rstrip("/")
        secret = self.channel_credentials()
        if secret is not None:
            return kind.secure_channel(target, secret, options=_OPTIONS)
        # The server refuses the path of a socket as an authority.
        authority = [("grpc.default_authority", "localhost")] if plain else []
        return kind.insecure_channel(target, options=_OPTIONS + authority)

    def metadata(self) -> list[tuple[str, str]]:
        """The token of a call. Files are read again, because they may be replaced."""
        token = self._token()
        return [("authorization", f"Bearer {token}")] if token else []

    def _token(self) -> Optional[str]:
        if self._data is not None:
            try:
                return _read_token(self._data / "admin.token")
            except OSError:
                return local_token(self.url)
        if self._shown.token is not None:
            return self._shown.token
        if self._shown.token_file is not None:
            try:
                return _read_token(Path(self._shown.token_file))
            except OSError as error:
                raise errors.InvalidArgument(f"token file: {error}") from error
        return local_token(self.url)

    def command(self) -> tuple[list[str], dict[str, str]]:
        """Arguments and variables with which the command reaches the same coordinator."""
        if self._data is not None:
            return ["--data", str(self._data)], {}
        shown = self._shown
        token_file = shown.token_file
        if shown.token is not None:
            if self._private is None:
                self._private = tempfile.TemporaryDirectory(prefix="arena-")
            token_file = os.path.join(self._private.name, "token")
            descriptor = os.open(token_file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with open(descriptor, "w") as file:
                file.write(shown.token + "\n")
        variables = {
            "ARENA_TOKEN_FILE": token_file,
            "ARENA_TLS_CA": shown.tls_ca,
            "ARENA_TLS_CERT": shown.tls_cert,
            "ARENA_TLS_KEY": shown.tls_key,
        }
        given = {name: value for name, value in variables.items() if value is not None}
        return ["--coordinator", self.url], given

    def no_workers(self) -> str:
        """What to do if no worker is connected."""
        text = f"no worker is connected: start one with `arena worker --coordinator {self.url}`"
        if self._process is None:
            return text
        return text + ", or close this client and play the tournament with `arena.run`"

    def check_open(self) -> None:
        """Raises an error after `close`."""
        if self._closed:
            raise errors.FailedPrecondition(
                f"the client of {self.url} is closed: make a new client"
            )

    def mark_closed(self) -> None:
        """Later calls are errors."""
        self._closed = True

    def close(self) -> None:
        """Stops the coordinator if this object started it."""
        self._closed = True
        if self._private is not None:
            self._private.cleanup()
            self._private = None
        self._stop()

    def _stop(self) -> int:
        """Stops the coordinator that this object started, and returns its exit code."""
        process, self._process = self._process, None
        if process is None:
            return 0
        assert process.stdin is not None and process.stdout is not None
        process.stdin.close()
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        process.stdout.close()
        return process.returncode


def credentials(
    token: Optional[str],
    token_file: Optional[PathLike],
    tls_ca: Optional[PathLike],
    tls_cert: Optional[PathLike],
    tls_key: Optional[PathLike],
) -> Credentials:
    """Credentials as given; without them, as the variables of the command name them."""

    def named(value: Optional[PathLike], variable: str) -> Optional[str]:
        return os.fspath(value) if value is not None else os.environ.get(variable) or None

    return Credentials(
        token.strip() if token is not None else None,
        named(token_file, "ARENA_TOKEN_FILE"),
        named(tls_ca, "ARENA_TLS_CA"),
        named(tls_cert, "ARENA_TLS_CERT"),
        named(tls_key, "ARENA_TLS_KEY"),
    )


def _read_token(path: Path) -> str:
    with path.open() as file:
        return file.read(256).strip()


def _listening(data: Path) -> Optional[str]:
    """The URL of the coordinator that uses a data folder, if there is one."""
    try:
        url = str(json.loads((data / "coordinator.json").read_text())["url"])
    except (OSError, ValueError, KeyError):
        return None
    try:
        if url.startswith("unix:"):
            with socket.socket(socket.AF_UNIX) as probe:
                probe.settimeout(5)
                probe.connect(url.removeprefix("unix:"))
        else:
            host, port = url.split("://", 1)[1].rsplit(":", 1)
            socket.create_connection((host.strip("[]"), int(port)), timeout=5).close()
    except (OSError, ValueError):
        return None
    return url


def local_token(url: str) -> Optional[str]:
    """The token that a local coordinator keeps for its own user in the runtime folder.

    None unless the program that listens there runs as this user or the system's administrator:
    another user's must not get the token.
    """
    address = _loopback(url)
    if address is None:
        return None
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime and os.path.isdir(runtime):
        folder = Path(runtime) / "arena"
    else:
        folder = Path(f"/tmp/arena-{os.geteuid()}")
    try:
        about = folder.lstat()
        private = stat.S_ISDIR(about.st_mode) and not about.st_mode & 0o077
        if not private or about.st_uid != os.geteuid():
            return None
        token = _read_token(folder / f"{address[1]}.token")
    except OSError:
        return None
    return token if _is_own_listener(*address) else None


def _loopback(url: str) -> Optional[tuple[str, int]]:
    """The address of a URL that names the loopback interface."""
    if url.startswith("unix:"):
        return None
    authority = url.split("://", 1)[-1].split("/", 1)[0]
    host, _, port = authority.rpartition(":")
    host = "127.0.0.1" if host == "localhost" else host.strip("[]")
    try:
        return (host, int(port)) if ipaddress.ip_address(host).is_loopback else None
    except ValueError:
        return None


def _is_own_listener(host: str, port: int) -> bool:
    """True unless the system shows that no program of this user or the administrator listens."""
    known = False
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            lines = Path(table).read_text().splitlines()[1:]
        except OSError:
            continue
        known = True
        for line in lines:
            fields = line.split()
            local, state, uid = fields[1], fields[3], int(fields[7])
            ip, at = _proc_address(local)
            listens = state == "0A" and at == port
            fits = ip.is_unspecified or ip == ipaddress.ip_address(host)
            if listens and fits and uid in (os.geteuid(), 0):
                return True
    return not known


def _proc_address(
    text: str,
) -> tuple[Union[ipaddress.IPv4Address, ipaddress.IPv6Address], int]:
    """An address of `/proc/net/tcp`: words of four bytes in the machine's order."""
    ip, port = text.split(":")
    words = [bytes.fromhex(ip[at : at + 8])[::-1] for at in range(0, len(ip), 8)]
    return ipaddress.ip_address(b"".join(words)), int(port, 16)


def delay(wanted: Optional[float], waited: float) -> Optional[float]:
    """Seconds until the next attempt; None if there is none: clients wait at most 30 s in all."""
    return wanted if wanted is not None and waited + wanted <= 30 else None


class Outage:
    """The time since a watch lost its coordinator, as in `arena tournament watch`."""

    def __init__(self, url: str, limit: float) -> None:
        self._url = url
        self._limit = limit
        self.end()

    def end(self) -> None:
        """The coordinator answers."""
        self._since: Optional[float] = None
        self._delay = _RECONNECT_SECONDS[0]
        self._refusals = 0

    def delay(self, failure: Optional[grpc.RpcError]) -> float:
        """Seconds until the next attempt, after a watch that failed or ended early.

        Raises the error if there is no next attempt.
        """
        error = None if failure is None else errors.of_rpc(failure, self._url)
        is_lost = failure is None or errors.is_lost(failure)
        if error is not None and not is_lost and not self._may_repeat(error):
            raise error
        now = time.monotonic()
        if self._since is None:
            self._since = now
        left = self._since + self._limit - now
        if left <= 0:
            if error is not None and not is_lost:
                raise error
            raise errors.Unavailable(
                f"no answer from the coordinator at {self._url} for {self._limit:g} s; start it "
                "again with `arena coordinator`: the tournament continues, and can be watched again"
            ) from error
        wanted = self._delay if error is None else error.retry_after or self._delay
        self._delay = min(2 * self._delay, _RECONNECT_SECONDS[1])
        return min(wanted, left)

    def _may_repeat(self, error: errors.ArenaError) -> bool:
        """True if the coordinator refused the call, but may accept it later."""
        if isinstance(error, errors.Unauthenticated) and self._since is not None:
            self._refusals += 1
            return self._refusals <= _REFUSALS_MAX
        return error.retry_after is not None
