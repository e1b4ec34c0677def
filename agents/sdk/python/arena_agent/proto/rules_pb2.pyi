from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class RulesInformation(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RULES_INFORMATION_UNSPECIFIED: _ClassVar[RulesInformation]
    RULES_INFORMATION_PERFECT: _ClassVar[RulesInformation]
    RULES_INFORMATION_HIDDEN: _ClassVar[RulesInformation]

class RulesNext(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RULES_NEXT_UNSPECIFIED: _ClassVar[RulesNext]
    RULES_NEXT_DECISION: _ClassVar[RulesNext]
    RULES_NEXT_CHANCE: _ClassVar[RulesNext]
    RULES_NEXT_OVER: _ClassVar[RulesNext]

class RulesEnding(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RULES_ENDING_UNSPECIFIED: _ClassVar[RulesEnding]
    RULES_ENDING_NORMAL: _ClassVar[RulesEnding]
    RULES_ENDING_DEADLOCK: _ClassVar[RulesEnding]
    RULES_ENDING_REPETITION: _ClassVar[RulesEnding]
    RULES_ENDING_CAP: _ClassVar[RulesEnding]
RULES_INFORMATION_UNSPECIFIED: RulesInformation
RULES_INFORMATION_PERFECT: RulesInformation
RULES_INFORMATION_HIDDEN: RulesInformation
RULES_NEXT_UNSPECIFIED: RulesNext
RULES_NEXT_DECISION: RulesNext
RULES_NEXT_CHANCE: RulesNext
RULES_NEXT_OVER: RulesNext
RULES_ENDING_UNSPECIFIED: RulesEnding
RULES_ENDING_NORMAL: RulesEnding
RULES_ENDING_DEADLOCK: RulesEnding
RULES_ENDING_REPETITION: RulesEnding
RULES_ENDING_CAP: RulesEnding

class DescribeRulesRequest(_message.Message):
    __slots__ = ("protocol",)
    PROTOCOL_FIELD_NUMBER: _ClassVar[int]
    protocol: int
    def __init__(self, protocol: _Optional[int] = ...) -> None: ...

class DescribeRulesResponse(_message.Message):
    __slots__ = ("protocol", "name", "version", "summary", "seats_min", "seats_max", "options", "presets", "chance", "values", "draws", "information", "returns", "events_max", "state_bytes_max", "wide_ids")
    PROTOCOL_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    SEATS_MIN_FIELD_NUMBER: _ClassVar[int]
    SEATS_MAX_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    PRESETS_FIELD_NUMBER: _ClassVar[int]
    CHANCE_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    DRAWS_FIELD_NUMBER: _ClassVar[int]
    INFORMATION_FIELD_NUMBER: _ClassVar[int]
    RETURNS_FIELD_NUMBER: _ClassVar[int]
    EVENTS_MAX_FIELD_NUMBER: _ClassVar[int]
    STATE_BYTES_MAX_FIELD_NUMBER: _ClassVar[int]
    WIDE_IDS_FIELD_NUMBER: _ClassVar[int]
    protocol: int
    name: str
    version: int
    summary: str
    seats_min: int
    seats_max: int
    options: _containers.RepeatedCompositeFieldContainer[RulesOption]
    presets: _containers.RepeatedCompositeFieldContainer[RulesPreset]
    chance: bool
    values: bool
    draws: bool
    information: RulesInformation
    returns: _containers.RepeatedCompositeFieldContainer[RulesReturns]
    events_max: int
    state_bytes_max: int
    wide_ids: bool
    def __init__(self, protocol: _Optional[int] = ..., name: _Optional[str] = ..., version: _Optional[int] = ..., summary: _Optional[str] = ..., seats_min: _Optional[int] = ..., seats_max: _Optional[int] = ..., options: _Optional[_Iterable[_Union[RulesOption, _Mapping]]] = ..., presets: _Optional[_Iterable[_Union[RulesPreset, _Mapping]]] = ..., chance: bool = ..., values: bool = ..., draws: bool = ..., information: _Optional[_Union[RulesInformation, str]] = ..., returns: _Optional[_Iterable[_Union[RulesReturns, _Mapping]]] = ..., events_max: _Optional[int] = ..., state_bytes_max: _Optional[int] = ..., wide_ids: bool = ...) -> None: ...

class RulesOption(_message.Message):
    __slots__ = ("name", "summary", "boolean", "integer", "choice")
    NAME_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    BOOLEAN_FIELD_NUMBER: _ClassVar[int]
    INTEGER_FIELD_NUMBER: _ClassVar[int]
    CHOICE_FIELD_NUMBER: _ClassVar[int]
    name: str
    summary: str
    boolean: RulesBoolean
    integer: RulesInteger
    choice: RulesChoice
    def __init__(self, name: _Optional[str] = ..., summary: _Optional[str] = ..., boolean: _Optional[_Union[RulesBoolean, _Mapping]] = ..., integer: _Optional[_Union[RulesInteger, _Mapping]] = ..., choice: _Optional[_Union[RulesChoice, _Mapping]] = ...) -> None: ...

class RulesBoolean(_message.Message):
    __slots__ = ("default_value",)
    DEFAULT_VALUE_FIELD_NUMBER: _ClassVar[int]
    default_value: bool
    def __init__(self, default_value: bool = ...) -> None: ...

class RulesInteger(_message.Message):
    __slots__ = ("min", "max", "default_value")
    MIN_FIELD_NUMBER: _ClassVar[int]
    MAX_FIELD_NUMBER: _ClassVar[int]
    DEFAULT_VALUE_FIELD_NUMBER: _ClassVar[int]
    min: int
    max: int
    default_value: int
    def __init__(self, min: _Optional[int] = ..., max: _Optional[int] = ..., default_value: _Optional[int] = ...) -> None: ...

class RulesChoice(_message.Message):
    __slots__ = ("choices", "default_value")
    CHOICES_FIELD_NUMBER: _ClassVar[int]
    DEFAULT_VALUE_FIELD_NUMBER: _ClassVar[int]
    choices: _containers.RepeatedScalarFieldContainer[str]
    default_value: str
    def __init__(self, choices: _Optional[_Iterable[str]] = ..., default_value: _Optional[str] = ...) -> None: ...

class RulesOptionValue(_message.Message):
    __slots__ = ("name", "boolean", "integer", "choice")
    NAME_FIELD_NUMBER: _ClassVar[int]
    BOOLEAN_FIELD_NUMBER: _ClassVar[int]
    INTEGER_FIELD_NUMBER: _ClassVar[int]
    CHOICE_FIELD_NUMBER: _ClassVar[int]
    name: str
    boolean: bool
    integer: int
    choice: str
    def __init__(self, name: _Optional[str] = ..., boolean: bool = ..., integer: _Optional[int] = ..., choice: _Optional[str] = ...) -> None: ...

class RulesPreset(_message.Message):
    __slots__ = ("name", "summary", "options", "seats")
    NAME_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    SEATS_FIELD_NUMBER: _ClassVar[int]
    name: str
    summary: str
    options: _containers.RepeatedCompositeFieldContainer[RulesOptionValue]
    seats: int
    def __init__(self, name: _Optional[str] = ..., summary: _Optional[str] = ..., options: _Optional[_Iterable[_Union[RulesOptionValue, _Mapping]]] = ..., seats: _Optional[int] = ...) -> None: ...

class RulesReturns(_message.Message):
    __slots__ = ("seats", "min", "max", "parts")
    SEATS_FIELD_NUMBER: _ClassVar[int]
    MIN_FIELD_NUMBER: _ClassVar[int]
    MAX_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    seats: int
    min: int
    max: int
    parts: int
    def __init__(self, seats: _Optional[int] = ..., min: _Optional[int] = ..., max: _Optional[int] = ..., parts: _Optional[int] = ...) -> None: ...

class StartGameRequest(_message.Message):
    __slots__ = ("game", "seats", "options", "omit_positions")
    GAME_FIELD_NUMBER: _ClassVar[int]
    SEATS_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    OMIT_POSITIONS_FIELD_NUMBER: _ClassVar[int]
    game: int
    seats: int
    options: _containers.RepeatedCompositeFieldContainer[RulesOptionValue]
    omit_positions: bool
    def __init__(self, game: _Optional[int] = ..., seats: _Optional[int] = ..., options: _Optional[_Iterable[_Union[RulesOptionValue, _Mapping]]] = ..., omit_positions: bool = ...) -> None: ...

class StartGameResponse(_message.Message):
    __slots__ = ("node",)
    NODE_FIELD_NUMBER: _ClassVar[int]
    node: RulesNode
    def __init__(self, node: _Optional[_Union[RulesNode, _Mapping]] = ...) -> None: ...

class ApplyRequest(_message.Message):
    __slots__ = ("game", "states", "events")
    GAME_FIELD_NUMBER: _ClassVar[int]
    STATES_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    game: int
    states: _containers.RepeatedScalarFieldContainer[str]
    events: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, game: _Optional[int] = ..., states: _Optional[_Iterable[str]] = ..., events: _Optional[_Iterable[int]] = ...) -> None: ...

class ApplyResponse(_message.Message):
    __slots__ = ("nodes",)
    NODES_FIELD_NUMBER: _ClassVar[int]
    nodes: _containers.RepeatedCompositeFieldContainer[RulesNode]
    def __init__(self, nodes: _Optional[_Iterable[_Union[RulesNode, _Mapping]]] = ...) -> None: ...

class LookRequest(_message.Message):
    __slots__ = ("game", "states")
    GAME_FIELD_NUMBER: _ClassVar[int]
    STATES_FIELD_NUMBER: _ClassVar[int]
    game: int
    states: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, game: _Optional[int] = ..., states: _Optional[_Iterable[str]] = ...) -> None: ...

class LookResponse(_message.Message):
    __slots__ = ("nodes",)
    NODES_FIELD_NUMBER: _ClassVar[int]
    nodes: _containers.RepeatedCompositeFieldContainer[RulesNode]
    def __init__(self, nodes: _Optional[_Iterable[_Union[RulesNode, _Mapping]]] = ...) -> None: ...

class DrawRequest(_message.Message):
    __slots__ = ("game", "states")
    GAME_FIELD_NUMBER: _ClassVar[int]
    STATES_FIELD_NUMBER: _ClassVar[int]
    game: int
    states: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, game: _Optional[int] = ..., states: _Optional[_Iterable[str]] = ...) -> None: ...

class DrawResponse(_message.Message):
    __slots__ = ("boards",)
    BOARDS_FIELD_NUMBER: _ClassVar[int]
    boards: _containers.RepeatedCompositeFieldContainer[RulesBoard]
    def __init__(self, boards: _Optional[_Iterable[_Union[RulesBoard, _Mapping]]] = ...) -> None: ...

class RulesBoard(_message.Message):
    __slots__ = ("text", "svg")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    SVG_FIELD_NUMBER: _ClassVar[int]
    text: str
    svg: str
    def __init__(self, text: _Optional[str] = ..., svg: _Optional[str] = ...) -> None: ...

class RulesNode(_message.Message):
    __slots__ = ("state", "next", "seat", "legal", "moves", "weights", "outcomes", "ranks", "ending", "scores", "values", "position_json", "probabilities")
    STATE_FIELD_NUMBER: _ClassVar[int]
    NEXT_FIELD_NUMBER: _ClassVar[int]
    SEAT_FIELD_NUMBER: _ClassVar[int]
    LEGAL_FIELD_NUMBER: _ClassVar[int]
    MOVES_FIELD_NUMBER: _ClassVar[int]
    WEIGHTS_FIELD_NUMBER: _ClassVar[int]
    OUTCOMES_FIELD_NUMBER: _ClassVar[int]
    RANKS_FIELD_NUMBER: _ClassVar[int]
    ENDING_FIELD_NUMBER: _ClassVar[int]
    SCORES_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    POSITION_JSON_FIELD_NUMBER: _ClassVar[int]
    PROBABILITIES_FIELD_NUMBER: _ClassVar[int]
    state: str
    next: RulesNext
    seat: int
    legal: _containers.RepeatedScalarFieldContainer[int]
    moves: _containers.RepeatedScalarFieldContainer[str]
    weights: _containers.RepeatedScalarFieldContainer[int]
    outcomes: _containers.RepeatedScalarFieldContainer[str]
    ranks: _containers.RepeatedScalarFieldContainer[int]
    ending: RulesEnding
    scores: _containers.RepeatedScalarFieldContainer[int]
    values: _containers.RepeatedScalarFieldContainer[int]
    position_json: str
    probabilities: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, state: _Optional[str] = ..., next: _Optional[_Union[RulesNext, str]] = ..., seat: _Optional[int] = ..., legal: _Optional[_Iterable[int]] = ..., moves: _Optional[_Iterable[str]] = ..., weights: _Optional[_Iterable[int]] = ..., outcomes: _Optional[_Iterable[str]] = ..., ranks: _Optional[_Iterable[int]] = ..., ending: _Optional[_Union[RulesEnding, str]] = ..., scores: _Optional[_Iterable[int]] = ..., values: _Optional[_Iterable[int]] = ..., position_json: _Optional[str] = ..., probabilities: _Optional[_Iterable[float]] = ...) -> None: ...
