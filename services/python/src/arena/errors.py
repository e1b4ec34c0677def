"""Errors, with the reasons of the coordinator."""

from __future__ import annotations

import re
from typing import Any, Mapping, Optional

import grpc
from google.rpc import error_details_pb2, status_pb2


class ArenaError(Exception):
    """A call or a command failed. The text says what happened, to what, and what to do."""

    #: A stable name such as `UNKNOWN_TOURNAMENT`; empty if the coordinator gave none.
    reason: str
    #: The text without the reason.
    message: str
    #: Further facts by name, such as the limit that is reached.
    details: Mapping[str, str]
    #: Seconds after which the coordinator asks to try again, if it does.
    retry_after: Optional[float]

    def __init__(
        self,
        message: str,
        reason: str = "",
        details: Optional[Mapping[str, str]] = None,
        retry_after: Optional[float] = None,
    ) -> None:
        super().__init__(f"{message} [{reason}]" if reason else message)
        self.message = message
        self.reason = reason
        self.details = dict(details or {})
        self.retry_after = retry_after


class NotFound(ArenaError):
    """There is no such tournament, game, agent or data folder."""


class InvalidArgument(ArenaError):
    """The input is wrong: a spec, a name, an option."""


class FailedPrecondition(ArenaError):
    """The state of a tournament, an agent or the client does not allow the call."""


class Unauthenticated(ArenaError):
    """The call has no valid token."""


class PermissionDenied(ArenaError):
    """The token does not allow the call."""


class ResourceExhausted(ArenaError):
    """A limit is reached, or the coordinator is overloaded."""


class Unavailable(ArenaError):
    """The coordinator cannot be reached, or is stopping."""


class DeadlineExceeded(ArenaError):
    """The coordinator did not answer in time."""


class Internal(ArenaError):
    """A defect, or a failure of the coordinator's machine."""


class Interrupted(ArenaError):
    """The command was interrupted. Finished games are kept."""


class TournamentStopped(ArenaError):
    """A tournament that a program runs, watches or waits for paused itself, or was cancelled."""


class MissingProgram(ArenaError):
    """The command `arena` is not installed, or cannot be started."""


class MissingPackage(ArenaError):
    """No package for data frames is installed."""


_OF_CODE = {
    grpc.StatusCode.NOT_FOUND: NotFound,
    grpc.StatusCode.INVALID_ARGUMENT: InvalidArgument,
    grpc.StatusCode.OUT_OF_RANGE: InvalidArgument,
    grpc.StatusCode.ALREADY_EXISTS: FailedPrecondition,
    grpc.StatusCode.FAILED_PRECONDITION: FailedPrecondition,
    grpc.StatusCode.UNAUTHENTICATED: Unauthenticated,
    grpc.StatusCode.PERMISSION_DENIED: PermissionDenied,
    grpc.StatusCode.RESOURCE_EXHAUSTED: ResourceExhausted,
    grpc.StatusCode.UNAVAILABLE: Unavailable,
    grpc.StatusCode.DEADLINE_EXCEEDED: DeadlineExceeded,
    grpc.StatusCode.INTERNAL: Internal,
}

# The exit codes of the command; 3 means that a comparison failed, which is no error.
_OF_EXIT = {2: InvalidArgument, 4: Unavailable, 130: Interrupted}


def of_rpc(error: Any, url: str) -> ArenaError:
    """The error of a gRPC call to the coordinator at a URL."""
    kind = _OF_CODE.get(error.code(), ArenaError)
    info = error_details_pb2.ErrorInfo()
    retry = error_details_pb2.RetryInfo()
    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            for detail in status_pb2.Status.FromString(value).details:
                detail.Unpack(info)
                detail.Unpack(retry)
    message = in_python(in_client(error.details() or error.code().name))
    if kind is Unavailable and not info.reason:
        message = (
            f"no coordinator answers at {url}: {message}; start one with `arena coordinator`"
        )
    if kind is DeadlineExceeded:
        message = f"the coordinator at {url} did not answer in time; set a larger timeout"
    seconds = retry.retry_delay.seconds + retry.retry_delay.nanos / 1e9
    return kind(message, info.reason, info.metadata, seconds or None)


# Codes of a broken connection, as in the command; the library reports some as UNKNOWN.
_LOST = (
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.CANCELLED,
    grpc.StatusCode.ABORTED,
    grpc.StatusCode.UNKNOWN,
)


def is_lost(error: Any) -> bool:
    """True if a gRPC call failed because the connection broke."""
    return error.code() in _LOST


def of_exit(code: int, stderr: str, flags: bool = False) -> ArenaError:
    """The error of a command that ended with an exit code.

    Parameters of Python replace flags in the text, unless the caller gave `flags`.
    """
    lines = [line for line in stderr.splitlines() if line.strip()]
    first = next((at for at, line in enumerate(lines) if line.startswith("error: ")), None)
    shown = lines[-1:] if first is None else lines[first:]
    message = "\n".join(shown).removeprefix("error: ") or f"the command ended with {code}"
    return _OF_EXIT.get(code, ArenaError)(message if flags else in_python(message))


# Flags that are parameters of functions of this package.
_PARAMETERS = "again data expect seed set tls-ca tls-cert tls-key token-file workers".split()
_FLAG = re.compile(rf"`[^`]*`|--({'|'.join(_PARAMETERS)})\b( sealed:\w+)?")
_START_THERE = re.compile(r"`arena tournament start … --data ([^`]+)`")
_CALLS = {"tournament pause", "tournament resume", "tournament cancel"}
_COMMAND = re.compile(r"`arena ((?:agent|token|tournament) [a-z]+)(?: (\w[\w.-]*))?`")
_LIST_AGENTS = "`arena agent list` with the same --data or --coordinator shows all"


def in_client(text: str) -> str:
    """A text of the coordinator with calls of `Client` instead of commands."""

    def call(found: re.Match[str]) -> str:
        words, id = found.groups()
        if words == "tournament list":
            return "`client.tournaments()`"
        if words in _CALLS and id:
            return f'`client.{words.split()[1]}("{id}")`'
        arguments = [*words.split(), *([id] if id else [])]
        return "`client.command({})`".format(", ".join(f'"{one}"' for one in arguments))

    return _COMMAND.sub(call, text.replace(_LIST_AGENTS, "`arena agent list` shows all"))


def in_python(text: str) -> str:
    """A text of the command with parameters instead of flags. Whole commands stay as they are."""

    def parameter(found: re.Match[str]) -> str:
        flag, value = found.groups()
        if flag is None:
            return found.group()
        if value is not None:
            return f'{flag}="{value.strip()}"'
        return flag.replace("-", "_") + ("=True" if flag == "again" else "=")

    text = text.replace(_LIST_AGENTS, '`command("agent", "list")` of a client shows all')
    text = _START_THERE.sub(r'`arena.Client(data="\1").start(spec)`', text)
    return _FLAG.sub(parameter, text)
