"""The command `arena`: where it is, and how it runs."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from pathlib import Path
from typing import Mapping, Optional, Sequence

from . import errors


def program() -> str:
    """The path of the command: `ARENA_BIN`, the one of this package, or the one in `PATH`."""
    named = os.environ.get("ARENA_BIN")
    if named:
        if shutil.which(named) is None:
            raise errors.MissingProgram(f"ARENA_BIN is {named!r}, which is not a program")
        return named
    schemes = [sysconfig.get_path("scripts")]
    if sys.version_info >= (3, 10):
        schemes.append(sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user")))
    for folder in schemes:
        path = Path(folder) / "arena"
        if path.is_file():
            return str(path)
    found = shutil.which("arena")
    if found is None:
        raise errors.MissingProgram(
            "the command arena is not installed: install the wheel of arena-tournaments, or set "
            "ARENA_BIN to its path"
        )
    return found


def environment(more: Optional[Mapping[str, str]] = None) -> dict[str, str]:
    """Variables of a command. Its output is plain text."""
    return {**os.environ, "NO_COLOR": "1", **(more or {})}


def check(
    code: int, stderr: bytes, allowed: Sequence[int] = (0,), flags: bool = False
) -> None:
    """Raises the error of a command with another exit code than the allowed ones."""
    if code not in allowed:
        raise errors.of_exit(code, stderr.decode(errors="replace"), flags)
