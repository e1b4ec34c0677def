from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class OwareAnanAnanPhase(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    OWARE_ANAN_ANAN_PHASE_UNSPECIFIED: _ClassVar[OwareAnanAnanPhase]
    OWARE_ANAN_ANAN_PHASE_MOVE: _ClassVar[OwareAnanAnanPhase]
    OWARE_ANAN_ANAN_PHASE_START: _ClassVar[OwareAnanAnanPhase]
    OWARE_ANAN_ANAN_PHASE_FINISHED: _ClassVar[OwareAnanAnanPhase]
    OWARE_ANAN_ANAN_PHASE_CAP: _ClassVar[OwareAnanAnanPhase]
OWARE_ANAN_ANAN_PHASE_UNSPECIFIED: OwareAnanAnanPhase
OWARE_ANAN_ANAN_PHASE_MOVE: OwareAnanAnanPhase
OWARE_ANAN_ANAN_PHASE_START: OwareAnanAnanPhase
OWARE_ANAN_ANAN_PHASE_FINISHED: OwareAnanAnanPhase
OWARE_ANAN_ANAN_PHASE_CAP: OwareAnanAnanPhase

class OwareAnanAnanPosition(_message.Message):
    __slots__ = ("pits", "score", "to_move", "since_capture", "plies", "phase", "passed", "moves")
    PITS_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    TO_MOVE_FIELD_NUMBER: _ClassVar[int]
    SINCE_CAPTURE_FIELD_NUMBER: _ClassVar[int]
    PLIES_FIELD_NUMBER: _ClassVar[int]
    PHASE_FIELD_NUMBER: _ClassVar[int]
    PASSED_FIELD_NUMBER: _ClassVar[int]
    MOVES_FIELD_NUMBER: _ClassVar[int]
    pits: _containers.RepeatedScalarFieldContainer[int]
    score: _containers.RepeatedScalarFieldContainer[int]
    to_move: int
    since_capture: int
    plies: int
    phase: OwareAnanAnanPhase
    passed: bool
    moves: _containers.RepeatedCompositeFieldContainer[OwareAnanAnanMove]
    def __init__(self, pits: _Optional[_Iterable[int]] = ..., score: _Optional[_Iterable[int]] = ..., to_move: _Optional[int] = ..., since_capture: _Optional[int] = ..., plies: _Optional[int] = ..., phase: _Optional[_Union[OwareAnanAnanPhase, str]] = ..., passed: bool = ..., moves: _Optional[_Iterable[_Union[OwareAnanAnanMove, _Mapping]]] = ...) -> None: ...

class OwareAnanAnanMove(_message.Message):
    __slots__ = ("id", "pit", "seeds", "banked", "last", "given", "lifts", "endless")
    ID_FIELD_NUMBER: _ClassVar[int]
    PIT_FIELD_NUMBER: _ClassVar[int]
    SEEDS_FIELD_NUMBER: _ClassVar[int]
    BANKED_FIELD_NUMBER: _ClassVar[int]
    LAST_FIELD_NUMBER: _ClassVar[int]
    GIVEN_FIELD_NUMBER: _ClassVar[int]
    LIFTS_FIELD_NUMBER: _ClassVar[int]
    ENDLESS_FIELD_NUMBER: _ClassVar[int]
    id: int
    pit: int
    seeds: int
    banked: int
    last: int
    given: int
    lifts: int
    endless: bool
    def __init__(self, id: _Optional[int] = ..., pit: _Optional[int] = ..., seeds: _Optional[int] = ..., banked: _Optional[int] = ..., last: _Optional[int] = ..., given: _Optional[int] = ..., lifts: _Optional[int] = ..., endless: bool = ...) -> None: ...
