"""Writes the package of an environment of PettingZoo into the current folder:

    python -m arena_pettingzoo.package ruleset "mygame_v0(board_size=9)" FOLDER

`--pettingzoo` of the commands of Arena calls it. Files are named from FOLDER. The exit code is 2 if the name is
wrong.
"""

import json
import shutil
import signal
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

from . import call, machine, ruleset

#: Seconds for the import of an environment and its random games.
_SECONDS = 180
#: Versions that are the same on each machine, besides those of what the environment imports.
_PACKAGES = ("pettingzoo", "gymnasium", "numpy")
#: They install packages, and some of these import them.
_INSTALLERS = {"pip", "setuptools", "wheel"}
#: What a package contains of this one.
_MODULES = ("__init__.py", "call.py", "episode.py", "machine.py", "rules.py", "ruleset.py", "turns.py")


def _pinned(rules, before):
    """What has to be the same on each machine, where these modules were loaded before the environment."""
    loaded = {name: module for name, module in sys.modules.items() if name not in before}
    own = rules.call.module.partition(".")[0]
    of_package, packages, modules = packages_distributions(), set(_PACKAGES), []
    for name, module in sorted(sys.modules.items()):
        top = name.partition(".")[0]
        if getattr(module, "__file__", None) is None or top in (__package__, "arena_environment"):
            continue
        if name in loaded:
            packages.update(of_package.get(top, ()))
        is_loose = name in loaded and top not in of_package and top not in sys.stdlib_module_names
        if top == own or is_loose:
            modules.append(name)
    return {
        "python": "{}.{}".format(*sys.version_info),
        "packages": {name: machine.installed(name) for name in sorted(packages - _INSTALLERS)},
        "modules": modules,
        "sources_sha256": machine.sources(modules),
        "seed_bits": rules.seed_bits,
    }


def write(name, folder):
    """Raises `Refused` if there is no such environment, or Arena cannot play it."""
    before, named = set(sys.modules), call.Call(name)
    if named.is_file:
        file = Path(folder, Path(named.place).expanduser())
        if not file.is_file():
            raise call.Refused(f"{named.place}: there is no such file in {folder}")
        Path(call.FILES).mkdir(exist_ok=True)
        shutil.copyfile(file, Path(call.FILES, file.name))
    text = named.in_folder()
    rules = ruleset.Rules(text)
    Path(ruleset.PINNED).write_text(json.dumps(_pinned(rules, before), indent=2) + "\n", encoding="utf-8")
    module = Path(__file__).parent
    Path(module.name).mkdir()
    for file in _MODULES:
        shutil.copyfile(module / file, Path(module.name, file))
    command = ["python3", "-m", ruleset.__name__, text]
    Path("arena-agent.toml").write_text(f"command = {json.dumps(command)}\n", encoding="utf-8")


def main(arguments):
    if ruleset.missing is not None:
        sys.exit(str(ruleset.missing))

    def end(*_):
        raise call.Refused(
            f"{arguments[1]}: it did not end within {_SECONDS} s: its import or its games take too long; "
            "arena_moves_max=200 ends games after 200 moves"
        )

    signal.signal(signal.SIGALRM, end)
    signal.alarm(_SECONDS)
    try:
        write(*arguments[1:])
    except call.Refused as refused:
        print(refused, file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main(sys.argv[1:])
