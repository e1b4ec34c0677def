"""The command `arena`: where it is, and how it runs."""

from __future__ import annotations

import errno
import os
import shlex
import shutil
import sys
import sysconfig
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator, Mapping, Optional, Sequence

from . import errors
from ._display import Line, printable

# The file is missing or not a program of this machine, its interpreter is missing, or its folder
# allows no programs.
_NOT_A_PROGRAM = (errno.EACCES, errno.ENOENT, errno.ENOEXEC, errno.EPERM)


def program() -> str:
    """The path of the command: `ARENA_BIN`, the one of this package, or the one in `PATH`."""
    named = os.environ.get("ARENA_BIN")
    if named:
        if shutil.which(named) is None:
            if Path(named).is_file():
                raise errors.MissingProgram(f"ARENA_BIN: {_not_executable(named)}")
            raise errors.MissingProgram(
                f"ARENA_BIN is {named!r}, which is not a program: set it to the path of the "
                "command arena"
            )
        return named
    schemes = [sysconfig.get_path("scripts")]
    if sys.version_info >= (3, 10):
        schemes.append(sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user")))
    for folder in schemes:
        path = Path(folder) / "arena"
        if path.is_file():
            if not os.access(path, os.X_OK):
                raise errors.MissingProgram(_not_executable(str(path)))
            return str(path)
    found = shutil.which("arena")
    if found is None:
        raise errors.MissingProgram(
            "the command arena is not installed: install the wheel of arena-tournaments, or set "
            "ARENA_BIN to its path"
        )
    return found


def _not_executable(path: str) -> str:
    return f"{path} has no execute permission: run `chmod +x {shlex.quote(path)}`"


@contextmanager
def starting(path: str) -> Iterator[None]:
    """Raises an error of this package if the system cannot start the command."""
    try:
        yield
    except OSError as error:
        problem = str(error.strerror)
        if error.errno in _NOT_A_PROGRAM:
            raise not_started(path, problem) from None
        raise errors.ArenaError(f"cannot start {path}: {problem}") from error


def not_started(path: str, problem: str) -> errors.MissingProgram:
    """The error if the system cannot start the command."""
    return errors.MissingProgram(
        f"cannot start {path}: {problem}; install the wheel of arena-tournaments for this "
        "machine, or set ARENA_BIN to the path of the command"
    )


def words(arguments: Sequence[str], place: Sequence[str]) -> list[str]:
    """The arguments with those that name the coordinator. After `--` are arguments of an agent."""
    end = list(arguments).index("--") if "--" in arguments else len(arguments)
    return [*arguments[:end], *place, *arguments[end:]]


def environment(more: Optional[Mapping[str, str]] = None) -> dict[str, str]:
    """Variables of a command. Its output is plain text."""
    return {**os.environ, "NO_COLOR": "1", **(more or {})}


def check(
    code: int, stderr: bytes, allowed: Sequence[int] = (0,), flags: bool = False
) -> None:
    """Raises the error of a command with another exit code than the allowed ones."""
    if code not in allowed:
        raise errors.of_exit(code, stderr.decode(errors="replace"), flags)


def show_notes(stderr: bytes, show: Optional[bool]) -> None:
    """Shows what a command without an error printed for its user."""
    text = printable(stderr.decode(errors="replace")).strip()
    if text:
        Line(show).note(text)
