"""Data frames. polars, pandas and pyarrow are optional."""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from typing import Any, Mapping, Optional, Sequence

from . import errors

#: The kinds of data frames, in the order of preference.
KINDS = ("polars", "pandas", "arrow")
_PACKAGE = {"polars": "polars", "pandas": "pandas", "arrow": "pyarrow"}


def choose(kind: Optional[str]) -> str:
    """The kind that is asked for; without one, the first whose package is installed."""
    if kind is not None and kind not in KINDS:
        raise errors.InvalidArgument(f'"{kind}" is no kind of data frame: use {", ".join(KINDS)}')
    for one in KINDS if kind is None else (kind,):
        if importlib.util.find_spec(_PACKAGE[one]) is not None:
            return one
    wanted = "polars or pandas" if kind is None else _PACKAGE[kind]
    packages = {"polars": "polars", "pandas": "pandas pyarrow", "arrow": "pyarrow"}
    commands = [
        f"`pip install {packages[one]}`" for one in (("polars", "pandas") if kind is None else (kind,))
    ]
    raise errors.MissingPackage(f"{wanted} is not installed: run {' or '.join(commands)}")


def read(path: Path, kind: str) -> Any:
    """A file of Parquet as a data frame."""
    if kind == "polars":
        return importlib.import_module("polars").read_parquet(path)
    if kind == "arrow":
        return importlib.import_module("pyarrow.parquet").read_table(path)
    # Columns stay in Arrow: text is not copied into Python objects.
    return importlib.import_module("pandas").read_parquet(path, dtype_backend="pyarrow")


def of_rows(rows: Sequence[Mapping[str, Any]], kind: str) -> Any:
    """Rows with the same keys as a data frame."""
    plain = [dict(row) for row in rows]
    if kind == "polars":
        return importlib.import_module("polars").DataFrame(plain, infer_schema_length=None)
    if kind == "arrow":
        return importlib.import_module("pyarrow").Table.from_pylist(plain)
    return importlib.import_module("pandas").DataFrame(plain)
