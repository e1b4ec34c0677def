"""Serves bots that OpenSpiel has: python -m arena_openspiel [BOT [OPTION=VALUE | rulesets=NAME:NAME]...]

`rulesets=any` is for rulesets that `arena rulesets register --openspiel` registers under any name.
"""

import sys

from arena_agent import serve

from .bots import BOTS
from .ruleset import check_machine


def chosen(arguments):
    """All bots, or the one of the first argument, whose options have other defaults."""
    if not arguments:
        return BOTS.values()
    bot = BOTS.get(arguments[0].replace("_", "-"))
    if bot is None:
        raise ValueError(f"unknown bot {arguments[0]!r}; bots: {', '.join(BOTS)}")
    options = {option.name: option for option in bot.options}
    for argument in arguments[1:]:
        name, _, text = argument.partition("=")
        if name == "rulesets":
            bot.rulesets = () if text == "any" else tuple(text.split(":"))
            continue
        if name not in options:
            known = ", ".join(options) or "none"
            raise ValueError(f"{bot.name} has no option {name!r}; options: {known}")
        options[name].default = options[name].parse(text)
    return [bot]


if __name__ == "__main__":
    try:
        bots = chosen(sys.argv[1:])
    except ValueError as error:
        sys.exit(f"arena_openspiel: {error}")
    check_machine()
    serve(*bots)
