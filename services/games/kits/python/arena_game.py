"""Arena's protocol for rules, version 1, with Python's standard library alone.

`serve` answers until the end of standard input. What the rules print goes to standard error.
"""

import json
import os
import sys


# A bool is an int in Python, so it comes first.
_KINDS = (("bool", bool, ()), ("integer", int, ("min", "max")), ("choice", str, ("choices",)))


def option(name, default, summary, **more):
    """An option of the game: its type is that of `default`. A whole number needs `min` and `max`, a text
    needs `choices`, and True or False needs neither."""

    def wrong(problem):
        return ValueError(f'option "{name}": {problem}')

    for kind, kinds, needed in _KINDS:
        if isinstance(default, kinds):
            break
    else:
        raise wrong(
            f"the default {default!r} is of the type {type(default).__name__}: use a whole number with min "
            "and max, a text with choices, or True or False"
        )
    if set(more) != set(needed):
        given = " and ".join(more) or "neither"
        wanted = " and ".join(needed) or "no min, max or choices"
        example = {"integer": ", such as min=0, max=100", "choice": ', such as choices=["small", "large"]'}
        raise wrong(f"the default {default!r} needs {wanted}{example.get(kind, '')}; given: {given}")
    if kind == "integer":
        low, high = more["min"], more["max"]
        if any(isinstance(it, bool) or not isinstance(it, int) for it in (low, high)):
            raise wrong(f"min and max must be whole numbers, not {low!r} and {high!r}")
        if not low <= default <= high:
            raise wrong(f"the default {default} is not within min {low} and max {high}")
    if kind == "choice":
        choices = more["choices"]
        if not isinstance(choices, (list, tuple)) or not all(isinstance(it, str) for it in choices):
            raise wrong(f"choices must be a list of texts, not {choices!r}")
        if default not in choices:
            raise wrong(f"the default {default!r} is not one of choices {list(choices)!r}")
    return {"name": name, "type": kind, "default": default, "summary": summary, **more}


def preset(name, summary, seats=None, **options):
    """A named set of options."""
    return {"name": name, "summary": summary, "options": options, **({"seats": seats} if seats else {})}


def decision(seat, moves):
    """`seat` chooses among `moves`: a dict from ids to notations. Ids are below 32768, or below 2**31 with
    `wide_ids`."""
    ids = sorted(moves)
    return {"next": "decision", "seat": seat, "legal": ids, "moves": [moves[it] for it in ids]}


def chance(outcomes, seat=None):
    """Arena draws one of `outcomes`: pairs of a notation and a whole weight, or a probability if any is a
    float. The outcome's id is its place. `seat` throws the dice, if they belong to a seat."""
    names, weights = [name for name, _ in outcomes], [it for _, it in outcomes]
    field = "probabilities" if any(isinstance(it, float) for it in weights) else "weights"
    return {"next": "chance", "seat": seat, "outcomes": names, field: weights}


def over(ranks, ending="normal"):
    """The game is over. `ranks` has the rank of each seat from 1 on; tied seats share it. `ending` may
    be "deadlock", "repetition" or "cap"."""
    return {"next": "over", "ranks": ranks, "ending": ending}


def ranks_of(scores):
    """The ranks of scores of which the highest wins."""
    return [1 + sum(other > score for other in scores) for score in scores]


_dump = json.JSONEncoder(separators=(",", ":"), sort_keys=True).encode
_FIELDS = (
    *("name", "version", "summary", "seats", "options", "presets", "chance", "information"),
    *("wide_ids", "returns", "events_max", "state_bytes_max"),
)


def serve(rules):
    """Answers for `rules`, a class. It is called with a dict of all options and the number of seats."""
    # Whatever prints to standard output must not disturb the protocol.
    lines = os.fdopen(os.dup(0), "rb", 1 << 16)
    answers = os.fdopen(os.dup(1), "wb", 1 << 16)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    sys.stdout.reconfigure(line_buffering=True)

    games = {}
    for line in lines:
        message = json.loads(line)
        try:
            answer = _answer(rules, games, message)
        except Exception as error:
            import traceback

            traceback.print_exc()
            answer = {"type": "error", "message": f"{type(error).__name__}: {error}"}
            answer.update((key, message[key]) for key in ("batch", "game") if key in message)
        if answer is not None:
            answers.write(_dump(answer).encode() + b"\n")
            answers.flush()


def _check_names(rules):
    """Raises `ValueError` if the class lacks a field and has one that is spelt nearly alike."""
    import difflib

    missing = [field for field in _FIELDS if not hasattr(rules, field)]
    for name, value in vars(rules).items():
        if isinstance(value, (bool, int, str, list, tuple)) and name not in _FIELDS and name[0] != "_":
            words = sorted(name.split("_"))
            near = [field for field in missing if sorted(field.split("_")) == words]
            near = near or difflib.get_close_matches(name, missing, 1, 0.8)
            if near:
                raise ValueError(f"the class has {name!r}; did you mean {near[0]!r}?")


def _answer(rules, games, message):
    kind = message.get("type")
    if kind == "describe":
        _check_names(rules)
        description = {field: getattr(rules, field) for field in _FIELDS if hasattr(rules, field)}
        if description.get("information") == "hidden" and not hasattr(rules, "position"):
            raise ValueError("information is hidden: write position(state), what the seat that decides sees")
        if description.get("returns") and not hasattr(rules, "scores"):
            raise ValueError("there are returns: write scores(state), which has them at the end of a game")
        extras = {"values": hasattr(rules, "values"), "draws": hasattr(rules, "draw")}
        return {"type": "description", "protocol": 1, **extras, **description}
    if kind == "game":
        known = {option["name"] for option in getattr(rules, "options", ())}
        if unknown := sorted(set(message["options"]) - known):
            raise ValueError(f"unknown option {unknown[0]!r}")
        game = rules(message["options"], message["seats"])
        # Arena's own bots see no positions.
        shows = message.get("positions", True)
        games[message["game"]] = game, shows
        return {"type": "initial", "game": message["game"], "node": _node(game, game.initial(), shows)}
    if kind not in ("apply", "look", "draw"):
        return None  # a message of a later version
    game, shows = games[message["game"]]
    states = map(json.loads, message["states"])
    if kind == "draw":
        answer = {"type": "drawings", "batch": message["batch"], "drawings": list(map(game.draw, states))}
        if hasattr(game, "svg"):
            answer["svgs"] = [game.svg(json.loads(state)) for state in message["states"]]
        return answer
    if kind == "apply":
        states = map(game.apply, states, message["events"])
    return {"type": "nodes", "batch": message["batch"], "nodes": [_node(game, it, shows) for it in states]}


def _node(game, state, shows):
    node = dict(game.next(state), state=_dump(state))
    if node["next"] == "decision" and shows:
        node["position"] = game.position(state) if hasattr(game, "position") else state
    if hasattr(game, "scores"):
        node["scores"] = game.scores(state)
    if hasattr(game, "values"):
        node["values"] = game.values(state)
    return node
