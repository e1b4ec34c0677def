"""Options: what a bot can be reported, and how their texts become values."""

import math
import re
from typing import Dict, Iterable, Optional, Sequence, Tuple, Union

from .proto import agent_pb2 as pb

Value = Union[bool, int, float, str, Tuple[float, ...]]

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_INTEGER = re.compile(r"-?(0|[1-9][0-9]*)")
_REAL = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")


class Option:
    """One option of a bot. Its type is the type of its default: `bool`, `int`,
    `float`, `str` or a tuple of as many floats as there are to be; with
    `choices`, one of these texts.

    Bounds are inclusive. Arena checks values against all of this before any
    game starts, so that `choose` never sees a wrong one.
    """

    __slots__ = ("name", "default", "summary", "low", "high", "choices")

    def __init__(
        self,
        name: str,
        default: Value,
        summary: str = "",
        *,
        low: Union[int, float, None] = None,
        high: Union[int, float, None] = None,
        choices: Sequence[str] = (),
    ) -> None:
        self.name = name
        if isinstance(default, (list, tuple)):
            default = tuple(float(number) for number in default)
        self.default = default
        self.summary = summary
        self.low = low
        self.high = high
        self.choices: Tuple[str, ...] = tuple(choices)
        self._check()

    def _check(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(
                f"option name {self.name!r}: use lower-case letters, digits and underscores"
            )
        if not isinstance(self.default, (bool, int, float, str, tuple)):
            raise TypeError(
                f"option {self.name}: the default is a {type(self.default).__name__}, "
                "give a bool, int, float, str or tuple of floats"
            )
        if self.choices and self.default not in self.choices:
            raise ValueError(
                f"option {self.name}: the default {self.default!r} is none of {self.choices}"
            )
        numbers = self.default if isinstance(self.default, tuple) else (self.default,)
        if any(isinstance(number, float) and not math.isfinite(number) for number in numbers):
            raise ValueError(f"option {self.name}: the default {self.default} is not finite")
        for bound, within in ((self.low, _at_least), (self.high, _at_most)):
            if bound is None:
                continue
            if self.kind() not in _BOUNDED:
                raise ValueError(f"option {self.name}: only numbers have bounds")
            if not all(within(number, bound) for number in numbers):
                raise ValueError(
                    f"option {self.name}: the default {self.default} is outside its bounds"
                )

    def kind(self) -> int:
        """The option's type, as the protocol numbers it."""
        if self.choices:
            return pb.OPTION_TYPE_CHOICE
        if isinstance(self.default, bool):
            return pb.OPTION_TYPE_BOOL
        if isinstance(self.default, int):
            return pb.OPTION_TYPE_INTEGER
        if isinstance(self.default, float):
            return pb.OPTION_TYPE_REAL
        if isinstance(self.default, tuple):
            return pb.OPTION_TYPE_NUMBERS
        return pb.OPTION_TYPE_TEXT

    def parse(self, text: str) -> Value:
        """The value that `text` writes."""
        kind = self.kind()
        if kind == pb.OPTION_TYPE_BOOL:
            return text == "true"
        if kind == pb.OPTION_TYPE_INTEGER:
            return int(text)
        if kind == pb.OPTION_TYPE_REAL:
            return float(text)
        if kind == pb.OPTION_TYPE_NUMBERS:
            return tuple(float(number) for number in text.strip("[]").split(","))
        return text

    def describe(self) -> pb.BotOption:
        """The option in the answer of `Describe`."""
        return pb.BotOption(
            name=self.name,
            summary=self.summary,
            type=self.kind(),
            default_value=write(self.default),
            min="" if self.low is None else write(self.low),
            max="" if self.high is None else write(self.high),
            choices=self.choices,
            length=len(self.default) if isinstance(self.default, tuple) else 0,
        )


_BOUNDED = (pb.OPTION_TYPE_INTEGER, pb.OPTION_TYPE_REAL, pb.OPTION_TYPE_NUMBERS)


def _at_least(value, bound) -> bool:
    return value >= bound


def _at_most(value, bound) -> bool:
    return value <= bound


def write(value: Value) -> str:
    """A value as the protocol writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return f"[{', '.join(str(number) for number in value)}]"
    return str(value)


def guess(text: str) -> Value:
    """The value of a ruleset's option, typed by the look of it: `true` and
    `false`, whole numbers and decimals become what they are."""
    if text in ("true", "false"):
        return text == "true"
    if _INTEGER.fullmatch(text):
        return int(text)
    if _REAL.fullmatch(text):
        return float(text)
    return text


def ruleset_options(given: Iterable[pb.OptionValue]) -> Dict[str, Value]:
    """A ruleset's options by name."""
    return {option.name: guess(option.value) for option in given}


def bot_options(declared: Sequence[Option], given: Iterable[pb.OptionValue]) -> Dict[str, Value]:
    """A bot's options by name: defaults, with what was given over them."""
    known = {option.name: option for option in declared}
    values = {option.name: option.default for option in declared}
    for option in given:
        spec: Optional[Option] = known.get(option.name)
        values[option.name] = guess(option.value) if spec is None else spec.parse(option.value)
    return values
