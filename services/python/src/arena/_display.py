"""A line that is updated in place: in a notebook, or on a terminal."""

from __future__ import annotations

import sys
from typing import Any, Optional


def printable(text: str) -> str:
    """A text whose hidden characters are escapes, because agents wrote parts of it."""
    return "".join(
        one if one.isprintable() or one == "\n" else one.encode("unicode_escape").decode()
        for one in text
    )


class Line:
    """Shows one line. Without a notebook or a terminal, it shows only notes."""

    def __init__(self, show: Optional[bool]) -> None:
        self._notebook = _notebook() if show is not False else None
        self._terminal = show is not False and self._notebook is None and sys.stderr.isatty()
        self._silent = show is False
        self._handle: Any = None
        self._printed = show is True and self._notebook is None and not self._terminal

    def update(self, text: str) -> None:
        """Replaces the line."""
        if self._notebook is not None:
            content = {"text/plain": text}
            if self._handle is None:
                self._handle = self._notebook(content, raw=True, display_id=True)
            else:
                self._handle.update(content, raw=True)
        elif self._terminal:
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
        elif self._printed:
            print(text, file=sys.stderr, flush=True)

    def note(self, text: str) -> None:
        """Shows a text that stays. Also without a notebook or a terminal: on standard error."""
        if self._notebook is not None:
            self._notebook({"text/plain": text}, raw=True)
        elif self._terminal:
            print(f"\r\x1b[K{text}", file=sys.stderr, flush=True)
        elif not self._silent:
            print(text, file=sys.stderr, flush=True)

    def close(self) -> None:
        """Ends the line."""
        if self._terminal:
            print(file=sys.stderr)


def _notebook() -> Any:
    """The function of a notebook that shows something; None elsewhere."""
    if "IPython" not in sys.modules:
        return None
    from IPython import get_ipython
    from IPython.display import display

    shell = get_ipython()
    return display if shell is not None and hasattr(shell, "kernel") else None
