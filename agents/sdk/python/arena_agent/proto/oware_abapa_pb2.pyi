from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class OwareAbapaPhase(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    OWARE_ABAPA_PHASE_UNSPECIFIED: _ClassVar[OwareAbapaPhase]
    OWARE_ABAPA_PHASE_MOVE: _ClassVar[OwareAbapaPhase]
    OWARE_ABAPA_PHASE_START: _ClassVar[OwareAbapaPhase]
    OWARE_ABAPA_PHASE_FINISHED: _ClassVar[OwareAbapaPhase]
    OWARE_ABAPA_PHASE_REPETITION: _ClassVar[OwareAbapaPhase]
    OWARE_ABAPA_PHASE_CAP: _ClassVar[OwareAbapaPhase]
OWARE_ABAPA_PHASE_UNSPECIFIED: OwareAbapaPhase
OWARE_ABAPA_PHASE_MOVE: OwareAbapaPhase
OWARE_ABAPA_PHASE_START: OwareAbapaPhase
OWARE_ABAPA_PHASE_FINISHED: OwareAbapaPhase
OWARE_ABAPA_PHASE_REPETITION: OwareAbapaPhase
OWARE_ABAPA_PHASE_CAP: OwareAbapaPhase

class OwareAbapaPosition(_message.Message):
    __slots__ = ("pits", "score", "to_move", "since_capture", "plies", "phase", "seen", "moves")
    PITS_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    TO_MOVE_FIELD_NUMBER: _ClassVar[int]
    SINCE_CAPTURE_FIELD_NUMBER: _ClassVar[int]
    PLIES_FIELD_NUMBER: _ClassVar[int]
    PHASE_FIELD_NUMBER: _ClassVar[int]
    SEEN_FIELD_NUMBER: _ClassVar[int]
    MOVES_FIELD_NUMBER: _ClassVar[int]
    pits: _containers.RepeatedScalarFieldContainer[int]
    score: _containers.RepeatedScalarFieldContainer[int]
    to_move: int
    since_capture: int
    plies: int
    phase: OwareAbapaPhase
    seen: _containers.RepeatedScalarFieldContainer[int]
    moves: _containers.RepeatedCompositeFieldContainer[OwareAbapaMove]
    def __init__(self, pits: _Optional[_Iterable[int]] = ..., score: _Optional[_Iterable[int]] = ..., to_move: _Optional[int] = ..., since_capture: _Optional[int] = ..., plies: _Optional[int] = ..., phase: _Optional[_Union[OwareAbapaPhase, str]] = ..., seen: _Optional[_Iterable[int]] = ..., moves: _Optional[_Iterable[_Union[OwareAbapaMove, _Mapping]]] = ...) -> None: ...

class OwareAbapaMove(_message.Message):
    __slots__ = ("id", "pit", "seeds", "captured", "last", "given")
    ID_FIELD_NUMBER: _ClassVar[int]
    PIT_FIELD_NUMBER: _ClassVar[int]
    SEEDS_FIELD_NUMBER: _ClassVar[int]
    CAPTURED_FIELD_NUMBER: _ClassVar[int]
    LAST_FIELD_NUMBER: _ClassVar[int]
    GIVEN_FIELD_NUMBER: _ClassVar[int]
    id: int
    pit: int
    seeds: int
    captured: int
    last: int
    given: int
    def __init__(self, id: _Optional[int] = ..., pit: _Optional[int] = ..., seeds: _Optional[int] = ..., captured: _Optional[int] = ..., last: _Optional[int] = ..., given: _Optional[int] = ...) -> None: ...
