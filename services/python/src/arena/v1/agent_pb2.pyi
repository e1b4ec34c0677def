from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SeedUse(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SEED_USE_UNSPECIFIED: _ClassVar[SeedUse]
    SEED_USE_NO: _ClassVar[SeedUse]
    SEED_USE_YES: _ClassVar[SeedUse]

class OptionType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    OPTION_TYPE_UNSPECIFIED: _ClassVar[OptionType]
    OPTION_TYPE_BOOL: _ClassVar[OptionType]
    OPTION_TYPE_INTEGER: _ClassVar[OptionType]
    OPTION_TYPE_REAL: _ClassVar[OptionType]
    OPTION_TYPE_CHOICE: _ClassVar[OptionType]
    OPTION_TYPE_TEXT: _ClassVar[OptionType]
    OPTION_TYPE_NUMBERS: _ClassVar[OptionType]
SEED_USE_UNSPECIFIED: SeedUse
SEED_USE_NO: SeedUse
SEED_USE_YES: SeedUse
OPTION_TYPE_UNSPECIFIED: OptionType
OPTION_TYPE_BOOL: OptionType
OPTION_TYPE_INTEGER: OptionType
OPTION_TYPE_REAL: OptionType
OPTION_TYPE_CHOICE: OptionType
OPTION_TYPE_TEXT: OptionType
OPTION_TYPE_NUMBERS: OptionType

class DescribeRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class DescribeResponse(_message.Message):
    __slots__ = ("name", "version", "author", "bots", "batch_size", "omit_move_details", "sticky", "concurrent")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    AUTHOR_FIELD_NUMBER: _ClassVar[int]
    BOTS_FIELD_NUMBER: _ClassVar[int]
    BATCH_SIZE_FIELD_NUMBER: _ClassVar[int]
    OMIT_MOVE_DETAILS_FIELD_NUMBER: _ClassVar[int]
    STICKY_FIELD_NUMBER: _ClassVar[int]
    CONCURRENT_FIELD_NUMBER: _ClassVar[int]
    name: str
    version: str
    author: str
    bots: _containers.RepeatedCompositeFieldContainer[Bot]
    batch_size: int
    omit_move_details: bool
    sticky: bool
    concurrent: bool
    def __init__(self, name: _Optional[str] = ..., version: _Optional[str] = ..., author: _Optional[str] = ..., bots: _Optional[_Iterable[_Union[Bot, _Mapping]]] = ..., batch_size: _Optional[int] = ..., omit_move_details: bool = ..., sticky: bool = ..., concurrent: bool = ...) -> None: ...

class Bot(_message.Message):
    __slots__ = ("name", "summary", "rulesets", "options", "deterministic", "uses_seed", "required_options", "perfect_information")
    NAME_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    RULESETS_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    DETERMINISTIC_FIELD_NUMBER: _ClassVar[int]
    USES_SEED_FIELD_NUMBER: _ClassVar[int]
    REQUIRED_OPTIONS_FIELD_NUMBER: _ClassVar[int]
    PERFECT_INFORMATION_FIELD_NUMBER: _ClassVar[int]
    name: str
    summary: str
    rulesets: _containers.RepeatedScalarFieldContainer[str]
    options: _containers.RepeatedCompositeFieldContainer[BotOption]
    deterministic: bool
    uses_seed: SeedUse
    required_options: _containers.RepeatedCompositeFieldContainer[RequiredOption]
    perfect_information: bool
    def __init__(self, name: _Optional[str] = ..., summary: _Optional[str] = ..., rulesets: _Optional[_Iterable[str]] = ..., options: _Optional[_Iterable[_Union[BotOption, _Mapping]]] = ..., deterministic: bool = ..., uses_seed: _Optional[_Union[SeedUse, str]] = ..., required_options: _Optional[_Iterable[_Union[RequiredOption, _Mapping]]] = ..., perfect_information: bool = ...) -> None: ...

class RequiredOption(_message.Message):
    __slots__ = ("ruleset", "name", "value")
    RULESET_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    ruleset: str
    name: str
    value: str
    def __init__(self, ruleset: _Optional[str] = ..., name: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...

class BotOption(_message.Message):
    __slots__ = ("name", "summary", "type", "default_value", "min", "max", "choices", "length", "rulesets", "uses_seed")
    NAME_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    DEFAULT_VALUE_FIELD_NUMBER: _ClassVar[int]
    MIN_FIELD_NUMBER: _ClassVar[int]
    MAX_FIELD_NUMBER: _ClassVar[int]
    CHOICES_FIELD_NUMBER: _ClassVar[int]
    LENGTH_FIELD_NUMBER: _ClassVar[int]
    RULESETS_FIELD_NUMBER: _ClassVar[int]
    USES_SEED_FIELD_NUMBER: _ClassVar[int]
    name: str
    summary: str
    type: OptionType
    default_value: str
    min: str
    max: str
    choices: _containers.RepeatedScalarFieldContainer[str]
    length: int
    rulesets: _containers.RepeatedScalarFieldContainer[str]
    uses_seed: bool
    def __init__(self, name: _Optional[str] = ..., summary: _Optional[str] = ..., type: _Optional[_Union[OptionType, str]] = ..., default_value: _Optional[str] = ..., min: _Optional[str] = ..., max: _Optional[str] = ..., choices: _Optional[_Iterable[str]] = ..., length: _Optional[int] = ..., rulesets: _Optional[_Iterable[str]] = ..., uses_seed: bool = ...) -> None: ...

class OptionValue(_message.Message):
    __slots__ = ("name", "value")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    name: str
    value: str
    def __init__(self, name: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...

class GameContext(_message.Message):
    __slots__ = ("ruleset", "rules_version", "options", "seats", "bot", "bot_options", "nodes")
    RULESET_FIELD_NUMBER: _ClassVar[int]
    RULES_VERSION_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    SEATS_FIELD_NUMBER: _ClassVar[int]
    BOT_FIELD_NUMBER: _ClassVar[int]
    BOT_OPTIONS_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    ruleset: str
    rules_version: int
    options: _containers.RepeatedCompositeFieldContainer[OptionValue]
    seats: int
    bot: str
    bot_options: _containers.RepeatedCompositeFieldContainer[OptionValue]
    nodes: int
    def __init__(self, ruleset: _Optional[str] = ..., rules_version: _Optional[int] = ..., options: _Optional[_Iterable[_Union[OptionValue, _Mapping]]] = ..., seats: _Optional[int] = ..., bot: _Optional[str] = ..., bot_options: _Optional[_Iterable[_Union[OptionValue, _Mapping]]] = ..., nodes: _Optional[int] = ...) -> None: ...

class Decision(_message.Message):
    __slots__ = ("slot", "context", "seat", "number", "seed", "position", "legal_moves", "notations", "clock", "game", "moves")
    SLOT_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    SEAT_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    LEGAL_MOVES_FIELD_NUMBER: _ClassVar[int]
    NOTATIONS_FIELD_NUMBER: _ClassVar[int]
    CLOCK_FIELD_NUMBER: _ClassVar[int]
    GAME_FIELD_NUMBER: _ClassVar[int]
    MOVES_FIELD_NUMBER: _ClassVar[int]
    slot: int
    context: int
    seat: int
    number: int
    seed: int
    position: bytes
    legal_moves: _containers.RepeatedScalarFieldContainer[int]
    notations: _containers.RepeatedScalarFieldContainer[str]
    clock: Clock
    game: bytes
    moves: _containers.RepeatedCompositeFieldContainer[PastMove]
    def __init__(self, slot: _Optional[int] = ..., context: _Optional[int] = ..., seat: _Optional[int] = ..., number: _Optional[int] = ..., seed: _Optional[int] = ..., position: _Optional[bytes] = ..., legal_moves: _Optional[_Iterable[int]] = ..., notations: _Optional[_Iterable[str]] = ..., clock: _Optional[_Union[Clock, _Mapping]] = ..., game: _Optional[bytes] = ..., moves: _Optional[_Iterable[_Union[PastMove, _Mapping]]] = ...) -> None: ...

class PastMove(_message.Message):
    __slots__ = ("seat", "move_id")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    MOVE_ID_FIELD_NUMBER: _ClassVar[int]
    seat: int
    move_id: int
    def __init__(self, seat: _Optional[int] = ..., move_id: _Optional[int] = ...) -> None: ...

class Clock(_message.Message):
    __slots__ = ("left_us", "increment_us", "moves_to_go", "seats_left_us")
    LEFT_US_FIELD_NUMBER: _ClassVar[int]
    INCREMENT_US_FIELD_NUMBER: _ClassVar[int]
    MOVES_TO_GO_FIELD_NUMBER: _ClassVar[int]
    SEATS_LEFT_US_FIELD_NUMBER: _ClassVar[int]
    left_us: int
    increment_us: int
    moves_to_go: int
    seats_left_us: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, left_us: _Optional[int] = ..., increment_us: _Optional[int] = ..., moves_to_go: _Optional[int] = ..., seats_left_us: _Optional[_Iterable[int]] = ...) -> None: ...

class ChooseMoveRequest(_message.Message):
    __slots__ = ("context", "decision", "time_budget_us")
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    DECISION_FIELD_NUMBER: _ClassVar[int]
    TIME_BUDGET_US_FIELD_NUMBER: _ClassVar[int]
    context: GameContext
    decision: Decision
    time_budget_us: int
    def __init__(self, context: _Optional[_Union[GameContext, _Mapping]] = ..., decision: _Optional[_Union[Decision, _Mapping]] = ..., time_budget_us: _Optional[int] = ...) -> None: ...

class ChooseMoveResponse(_message.Message):
    __slots__ = ("move_id", "info")
    MOVE_ID_FIELD_NUMBER: _ClassVar[int]
    INFO_FIELD_NUMBER: _ClassVar[int]
    move_id: int
    info: SearchInfo
    def __init__(self, move_id: _Optional[int] = ..., info: _Optional[_Union[SearchInfo, _Mapping]] = ...) -> None: ...

class ChooseMovesRequest(_message.Message):
    __slots__ = ("contexts", "decisions", "time_budget_us", "batch")
    CONTEXTS_FIELD_NUMBER: _ClassVar[int]
    DECISIONS_FIELD_NUMBER: _ClassVar[int]
    TIME_BUDGET_US_FIELD_NUMBER: _ClassVar[int]
    BATCH_FIELD_NUMBER: _ClassVar[int]
    contexts: _containers.RepeatedCompositeFieldContainer[GameContext]
    decisions: _containers.RepeatedCompositeFieldContainer[Decision]
    time_budget_us: int
    batch: int
    def __init__(self, contexts: _Optional[_Iterable[_Union[GameContext, _Mapping]]] = ..., decisions: _Optional[_Iterable[_Union[Decision, _Mapping]]] = ..., time_budget_us: _Optional[int] = ..., batch: _Optional[int] = ...) -> None: ...

class ChooseMovesResponse(_message.Message):
    __slots__ = ("batch", "choices", "thinking_us", "last")
    BATCH_FIELD_NUMBER: _ClassVar[int]
    CHOICES_FIELD_NUMBER: _ClassVar[int]
    THINKING_US_FIELD_NUMBER: _ClassVar[int]
    LAST_FIELD_NUMBER: _ClassVar[int]
    batch: int
    choices: _containers.RepeatedCompositeFieldContainer[Choice]
    thinking_us: int
    last: bool
    def __init__(self, batch: _Optional[int] = ..., choices: _Optional[_Iterable[_Union[Choice, _Mapping]]] = ..., thinking_us: _Optional[int] = ..., last: bool = ...) -> None: ...

class Choice(_message.Message):
    __slots__ = ("slot", "move_id", "info")
    SLOT_FIELD_NUMBER: _ClassVar[int]
    MOVE_ID_FIELD_NUMBER: _ClassVar[int]
    INFO_FIELD_NUMBER: _ClassVar[int]
    slot: int
    move_id: int
    info: SearchInfo
    def __init__(self, slot: _Optional[int] = ..., move_id: _Optional[int] = ..., info: _Optional[_Union[SearchInfo, _Mapping]] = ...) -> None: ...

class SearchInfo(_message.Message):
    __slots__ = ("score", "depth", "nodes", "variation", "thinking_us")
    SCORE_FIELD_NUMBER: _ClassVar[int]
    DEPTH_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    VARIATION_FIELD_NUMBER: _ClassVar[int]
    THINKING_US_FIELD_NUMBER: _ClassVar[int]
    score: float
    depth: int
    nodes: int
    variation: _containers.RepeatedScalarFieldContainer[str]
    thinking_us: int
    def __init__(self, score: _Optional[float] = ..., depth: _Optional[int] = ..., nodes: _Optional[int] = ..., variation: _Optional[_Iterable[str]] = ..., thinking_us: _Optional[int] = ...) -> None: ...
