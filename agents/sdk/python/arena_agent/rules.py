"""Serves the rules of a game over gRPC, for a package with `protocol = "grpc"`.

The game is a class with the members of `arena rulesets new --lang python`, such as that of `game.py`
there. `services/games/PROTOCOL.md` describes what its methods return.
"""

import json
import os
import sys
import threading
import traceback
from typing import Any, Callable, Dict, Optional, Tuple

import grpc

from .proto import rules_pb2 as pb
from .server import run

NAME = "arena.v1.RulesService"

_PROTOCOL = 1
_dump = json.JSONEncoder(separators=(",", ":"), sort_keys=True).encode
#: Attributes of a class that are fields of its description.
_FIELDS = ("name", "version", "summary", "chance", "wide_ids", "events_max", "state_bytes_max")


def serve_rules(rules: Callable[[Dict[str, Any], int], Any], listen: Optional[str] = None) -> None:
    """Serves `rules` until SIGTERM or SIGINT. The class is called with a dict of all options and the
    number of seats. Listens as `arena_agent.serve` does."""
    run(lambda: RulesService(rules), listen)


class RulesService:
    """`arena.v1.RulesService` over a class."""

    name = NAME

    def __init__(self, rules: Any) -> None:
        self._rules = rules
        self.names = str(getattr(rules, "name", "rules"))
        self._games: Dict[int, Tuple[Any, bool]] = {}
        self._turn = threading.Lock()

    def handler(self) -> grpc.GenericRpcHandler:
        """The service as grpcio takes it."""
        methods = {
            "DescribeRules": (self._describe, pb.DescribeRulesRequest, pb.DescribeRulesResponse),
            "StartGame": (self._start, pb.StartGameRequest, pb.StartGameResponse),
            "Apply": (self._apply, pb.ApplyRequest, pb.ApplyResponse),
            "Look": (self._look, pb.LookRequest, pb.LookResponse),
            "Draw": (self._draw, pb.DrawRequest, pb.DrawResponse),
        }
        return grpc.method_handlers_generic_handler(
            NAME,
            {
                name: grpc.unary_unary_rpc_method_handler(
                    self._answering(answer),
                    request_deserializer=request.FromString,
                    response_serializer=response.SerializeToString,
                )
                for name, (answer, request, response) in methods.items()
            },
        )

    def thinking(self) -> bool:
        """Whether a question is being answered."""
        return self._turn.locked()

    def _answering(self, answer: Callable[[Any], Any]) -> Callable[[Any, grpc.ServicerContext], Any]:
        def answered(request: Any, call: grpc.ServicerContext) -> Any:
            try:
                with self._turn:
                    return answer(request)
            except SystemExit as end:
                # In a thread of gRPC, it would end nothing.
                if isinstance(end.code, str):
                    print(end.code, file=sys.stderr)
                sys.stderr.flush()
                os._exit(1 if isinstance(end.code, str) else end.code or 0)
            except Exception as error:  # whatever the rules raise is the answer
                traceback.print_exc()
                sys.stderr.flush()
                text = f"{type(error).__name__}: {error}"
            call.abort(grpc.StatusCode.INTERNAL, text)

        return answered

    def _describe(self, request: pb.DescribeRulesRequest) -> pb.DescribeRulesResponse:
        rules = self._rules
        hidden = getattr(rules, "information", "perfect") == "hidden"
        returns = getattr(rules, "returns", [])
        if hidden and not hasattr(rules, "position"):
            raise ValueError("information is hidden: write position(state), what the seat that decides sees")
        if returns and not hasattr(rules, "scores"):
            raise ValueError("there are returns: write scores(state), which has them at the end of a game")
        return pb.DescribeRulesResponse(
            protocol=_PROTOCOL,
            seats_min=rules.seats[0],
            seats_max=rules.seats[1],
            options=[_option(option) for option in getattr(rules, "options", [])],
            presets=[_preset(preset) for preset in getattr(rules, "presets", [])],
            information=pb.RULES_INFORMATION_HIDDEN if hidden else pb.RULES_INFORMATION_PERFECT,
            returns=[pb.RulesReturns(**bounds) for bounds in returns],
            values=hasattr(rules, "values"),
            draws=hasattr(rules, "draw"),
            **{field: getattr(rules, field) for field in _FIELDS if hasattr(rules, field)},
        )

    def _start(self, request: pb.StartGameRequest) -> pb.StartGameResponse:
        options = {option.name: getattr(option, option.WhichOneof("value")) for option in request.options}
        known = {option["name"] for option in getattr(self._rules, "options", ())}
        if unknown := sorted(set(options) - known):
            raise ValueError(f"unknown option {unknown[0]!r}")
        game, shows = self._rules(options, request.seats), not request.omit_positions
        self._games[request.game] = game, shows
        return pb.StartGameResponse(node=_node(game, game.initial(), shows))

    def _apply(self, request: pb.ApplyRequest) -> pb.ApplyResponse:
        game, shows = self._games[request.game]
        states = map(game.apply, map(json.loads, request.states), request.events)
        return pb.ApplyResponse(nodes=[_node(game, state, shows) for state in states])

    def _look(self, request: pb.LookRequest) -> pb.LookResponse:
        game, shows = self._games[request.game]
        return pb.LookResponse(nodes=[_node(game, json.loads(state), shows) for state in request.states])

    def _draw(self, request: pb.DrawRequest) -> pb.DrawResponse:
        game, _ = self._games[request.game]
        svg = getattr(game, "svg", lambda state: None)
        boards = [
            pb.RulesBoard(text=game.draw(json.loads(state)), svg=svg(json.loads(state)) or "")
            for state in request.states
        ]
        return pb.DrawResponse(boards=boards)


def _option(option: Dict[str, Any]) -> pb.RulesOption:
    message = pb.RulesOption(name=option["name"], summary=option["summary"])
    default = option["default"]
    # A bool is an int in Python, so it comes first.
    if isinstance(default, bool):
        message.boolean.default_value = default
        message.boolean.SetInParent()
    elif isinstance(default, int):
        message.integer.CopyFrom(
            pb.RulesInteger(min=option["min"], max=option["max"], default_value=default)
        )
    else:
        message.choice.CopyFrom(pb.RulesChoice(choices=option["choices"], default_value=default))
    return message


def _preset(preset: Dict[str, Any]) -> pb.RulesPreset:
    kinds = {bool: "boolean", int: "integer", str: "choice"}
    options = [
        pb.RulesOptionValue(name=name, **{kinds[type(value)]: value})
        for name, value in preset["options"].items()
    ]
    seats = preset.get("seats") or 0
    return pb.RulesPreset(name=preset["name"], summary=preset["summary"], options=options, seats=seats)


def _node(game: Any, state: Any, shows: bool) -> pb.RulesNode:
    node = dict(game.next(state))
    kind = node.pop("next")
    node["next"] = f"RULES_NEXT_{kind.upper()}"
    if "ending" in node:
        node["ending"] = f"RULES_ENDING_{node['ending'].upper()}"
    if kind == "decision" and shows:
        node["position_json"] = _dump(game.position(state) if hasattr(game, "position") else state)
    for field in ("scores", "values"):
        if hasattr(game, field):
            node[field] = getattr(game, field)(state)
    return pb.RulesNode(state=_dump(state), **node)
