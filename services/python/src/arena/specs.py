"""Specs of tournaments: a file, TOML, or a mapping."""

from __future__ import annotations

import copy
import json
import os
import sys
from pathlib import Path
from typing import Any, Mapping, Optional, Sequence, Union

from . import errors

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

#: The path of a spec, its TOML text (with a line break), or its keys.
Spec = Union[str, "os.PathLike[str]", Mapping[str, Any]]


def toml(spec: Spec, set: Optional[Mapping[str, Any]] = None) -> str:
    """A spec as TOML.

    `set` replaces keys; `{"play.opening_plies": 4}` is a key of the table `play`.
    """
    if isinstance(spec, Mapping):
        keys = copy.deepcopy(dict(spec))
    else:
        text = spec if isinstance(spec, str) and "\n" in spec else _read(spec)
        if not set:
            return text
        try:
            keys = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise errors.InvalidArgument(f"the spec is not TOML: {error}") from error
    for name, value in (set or {}).items():
        *tables, key = name.split(".")
        place = keys
        for table in tables:
            place = place.setdefault(table, {})
            if not isinstance(place, dict):
                raise errors.InvalidArgument(f'"{name}": {table} is not a table of the spec')
        place[key] = value
    lines = []
    for key, value in keys.items():
        try:
            lines.append(f"{_key(key)} = {_value(value)}\n")
        except errors.InvalidArgument as error:
            raise errors.InvalidArgument(f'"{key}": {error.message}') from error
    return "".join(lines)


def sentences(expect: Sequence[str]) -> Sequence[str]:
    """Expectations; not a text, whose letters would be sentences."""
    if isinstance(expect, str):
        raise errors.InvalidArgument(f"expect is a list of sentences, such as [{expect!r}]")
    return expect


def seed_of(seed: Optional[str]) -> Optional[str]:
    """A seed, which is a text."""
    if seed is not None and not isinstance(seed, str):
        raise errors.InvalidArgument(f'a seed is a text such as "0x5eed", not {seed!r}')
    return seed


def _read(path: Union[str, "os.PathLike[str]"]) -> str:
    if not isinstance(path, (str, os.PathLike)):
        raise errors.InvalidArgument(
            f"a spec is a path, a text of TOML or a mapping, not {path!r}"
        )
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise errors.NotFound(f"cannot read the spec: {error}") from error


def _key(key: str) -> str:
    return json.dumps(key, ensure_ascii=False)


def _value(value: Any) -> str:
    """A value of TOML in one line."""
    if isinstance(value, (bool, str)):
        # TOML writes both as JSON does, except for one character.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(str(k))} = {_value(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value(one) for one in value) + "]"
    if hasattr(value, "item"):
        # A number of numpy.
        return _value(value.item())
    raise errors.InvalidArgument(f"a spec cannot contain {value!r}")
