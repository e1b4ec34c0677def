"""Arena's protocol for rules, version 1, with Python's standard library alone.

`serve` answers until the end of standard input. What the rules print goes to standard error.
"""

import json
import os
import sys


def option(name, default, summary, **more):
    """An option of the game: its type is that of `default`. `more` has `min` and `max` of a number, or
    `choices` of a text."""
    kinds = {bool: "bool", int: "integer", str: "choice"}
    return {"name": name, "type": kinds[type(default)], "default": default, "summary": summary, **more}


def preset(name, summary, seats=None, **options):
    """A named set of options."""
    return {"name": name, "summary": summary, "options": options, **({"seats": seats} if seats else {})}


def decision(seat, moves):
    """`seat` chooses among `moves`: a dict from ids below 32768 to notations."""
    ids = sorted(moves)
    return {"next": "decision", "seat": seat, "legal": ids, "moves": [moves[it] for it in ids]}


def chance(outcomes, seat=None):
    """Arena draws one of `outcomes`: pairs of a notation and a whole weight. The outcome's id is its
    place. `seat` throws the dice, if they belong to a seat."""
    names = [name for name, _ in outcomes]
    return {"next": "chance", "seat": seat, "outcomes": names, "weights": [it for _, it in outcomes]}


def over(ranks, ending="normal"):
    """The game is over. `ranks` has the rank of each seat from 1 on; tied seats share it. `ending` may
    be "deadlock", "repetition" or "cap"."""
    return {"next": "over", "ranks": ranks, "ending": ending}


def ranks_of(scores):
    """The ranks of scores of which the highest wins."""
    return [1 + sum(other > score for other in scores) for score in scores]


_dump = json.JSONEncoder(separators=(",", ":"), sort_keys=True).encode
_FIELDS = ("name", "version", "summary", "seats", "options", "presets", "chance", "events_max", "state_bytes_max")


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


def _answer(rules, games, message):
    kind = message.get("type")
    if kind == "describe":
        description = {field: getattr(rules, field) for field in _FIELDS if hasattr(rules, field)}
        extras = {"values": hasattr(rules, "values"), "draws": hasattr(rules, "draw")}
        return {"type": "description", "protocol": 1, **extras, **description}
    if kind == "game":
        game = games[message["game"]] = rules(message["options"], message["seats"])
        return {"type": "initial", "game": message["game"], "node": _node(game, game.initial())}
    if kind not in ("apply", "look", "draw"):
        return None  # a message of a later version
    game = games[message["game"]]
    states = map(json.loads, message["states"])
    if kind == "draw":
        return {"type": "drawings", "batch": message["batch"], "drawings": list(map(game.draw, states))}
    if kind == "apply":
        states = map(game.apply, states, message["events"])
    return {"type": "nodes", "batch": message["batch"], "nodes": [_node(game, it) for it in states]}


def _node(game, state):
    node = dict(game.next(state), state=_dump(state))
    if node["next"] == "decision":
        node["position"] = game.position(state) if hasattr(game, "position") else state
    if hasattr(game, "scores"):
        node["scores"] = game.scores(state)
    if hasattr(game, "values"):
        node["values"] = game.values(state)
    return node
