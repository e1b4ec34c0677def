"""What a registration names: a module or file, a function, and parameters."""

import ast
import difflib
import importlib
import importlib.util
import pkgutil
import re
import sys
import traceback
from pathlib import Path

#: The folder for a file of the user, which no module of this name can hide.
FILES = "environment"

_TEXT_MAX = 300
_MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)
_CALL = re.compile(r"(?P<place>[^:()]+)(:(?P<function>[A-Za-z_]\w*))?(\((?P<arguments>.*)\))?", re.ASCII)
_FUNCTIONS = ("env", "parallel_env", "raw_env")
#: Parameters that are Arena's own, with their default values.
_SETTINGS = {"arena_information": "hidden", "arena_chance": None, "arena_returns": None, "arena_moves_max": None}


class Refused(ValueError):
    """Arena cannot play this environment. The text names it and the reason."""


def one_line(error):
    return " ".join(str(error).split()) or type(error).__name__


def name_of(error):
    """Its type and text, and where an environment raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    places = [it for it in frames if Path(it.filename).parent != Path(__file__).parent]
    place = f" ({Path(places[-1].filename).name}, line {places[-1].lineno}, in {places[-1].name})" if places else ""
    return f"{type(error).__name__}: {one_line(error)}{place}"


class Call:
    """What a registration names: `module`, `module:function` or `file.py:function`, with parameters in the
    syntax of Python. Raises `Refused`."""

    def __init__(self, text):
        self.text = text
        found = _CALL.fullmatch(text) if re.fullmatch(f"[ -~]{{1,{_TEXT_MAX}}}", text) else None
        if found is None:
            raise Refused(
                f"{text[:40]!r} is no environment: write module, module:function or ./file.py:function, with "
                f"parameters such as (board_size=9) if any, in up to {_TEXT_MAX} characters of ASCII"
            )
        self.place, self.function = found["place"], found["function"]
        self.is_file = self.place.endswith(".py")
        if not self.is_file and not _MODULE.fullmatch(self.place):
            raise Refused(f"{self.place!r} is no name of a module; a file ends in .py")
        self.parameters = self._parse(found["arguments"] or "")
        self.settings = {name: self.parameters.pop(name, value) for name, value in _SETTINGS.items()}
        for name in self.parameters:
            if name.startswith("arena_"):
                raise Refused(f"{text}: unknown parameter {name}; those of Arena are {', '.join(_SETTINGS)}")

    def _parse(self, arguments):
        try:
            call = ast.parse(f"_({arguments})", mode="eval").body
            if not isinstance(call, ast.Call) or call.args or any(it.arg is None for it in call.keywords):
                raise ValueError("each parameter is written name=value")
            return {it.arg: ast.literal_eval(it.value) for it in call.keywords}
        except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
            raise Refused(
                f"{self.text}: the parameters have to be literals of Python, such as (size=9, mode='fast'): "
                f"{one_line(error)}"
            ) from None

    def in_folder(self):
        """The text of the package, for which the file has been copied there."""
        return f"{FILES}/{Path(self.place).name}{self.text[len(self.place) :]}" if self.is_file else self.text

    @property
    def shown(self):
        return self.text.removeprefix(f"{FILES}/")

    @property
    def module(self):
        """The name of the loaded module."""
        return "arena_environment" if self.is_file else self.place

    def load(self):
        """The function that makes the environment."""
        try:
            module = self._import()
        except Exception as error:
            self._explain(error)
        names = [self.function] if self.function else _FUNCTIONS
        for name in names:
            if callable(getattr(module, name, None)):
                return getattr(module, name)
        raise Refused(
            f"{self.shown}: the module has no function {', '.join(names)}"
            + ("" if self.function else "; name one: module:function")
        )

    def _import(self):
        if not self.is_file:
            return importlib.import_module(self.place)
        spec = importlib.util.spec_from_file_location(self.module, self.place)
        module = importlib.util.module_from_spec(spec)
        sys.modules[self.module] = module
        spec.loader.exec_module(module)
        return module

    def _explain(self, error):
        name = getattr(error, "name", None)
        if not isinstance(error, ModuleNotFoundError) or name is None:
            raise Refused(f"{self.shown}: it cannot be imported: {name_of(error)}") from None
        if not self.is_file and f"{self.place}.".startswith(f"{name}."):
            raise Refused(
                f"{sys.executable} finds no module {name}{self._near(name)}; a file of your own is written "
                f"./{name.partition('.')[0]}.py"
            ) from None
        advice = "; of your own files, only this one is in the package" if self.is_file else ""
        raise Refused(
            f"{self.shown}: it needs the module {name}, which {sys.executable} does not have: install it here, "
            f"and on each worker{advice}"
        ) from None

    def _near(self, name):
        parent, _, last = name.rpartition(".")
        known = [it.name for it in pkgutil.iter_modules(getattr(sys.modules.get(parent), "__path__", []))]
        near = difflib.get_close_matches(last, known, 1) if parent else []
        return f", did you mean {parent}.{near[0]}" if near else ""
