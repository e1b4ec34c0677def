"""Writes the package of a ruleset or an agent of OpenSpiel into the current folder:

    python -m arena_openspiel.package ruleset "go(board_size=9)"
    python -m arena_openspiel.package agent mcts

`--openspiel` of the commands of Arena calls it. The exit code is 2 if the name is wrong.
"""

import json
import sys
from pathlib import Path

from . import nodes, ruleset


def _write(command, files):
    for name, text in {**files, "arena-agent.toml": f"command = {json.dumps(command)}\n"}.items():
        Path(name).write_text(text, encoding="utf-8")


def write(kind, name):
    """Raises `Refused` if there is no such game or bot, or Arena cannot play it."""
    pinned = {ruleset.PINNED: json.dumps(ruleset.present(), indent=2) + "\n"}
    if kind == "ruleset":
        game = ruleset.Rules(name)
        game.probe()
        program, parts = Path(ruleset.__file__).name, str(game.find_parts())
        sources = [Path(module.__file__) for module in (ruleset, nodes)]
        files = {source.name: source.read_text(encoding="utf-8") for source in sources}
        _write(["python3", program, name, parts], {**files, **pinned})
        return
    from .bots import BOTS

    if name not in BOTS:
        raise ruleset.Refused(f"unknown bot {name!r}; bots: {', '.join(BOTS)}")
    _write(["python3", "-m", "arena_openspiel", name, *BOTS[name].registered], pinned)


def main(arguments):
    try:
        write(*arguments)
    except ruleset.Refused as refused:
        print(refused, file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main(sys.argv[1:])
