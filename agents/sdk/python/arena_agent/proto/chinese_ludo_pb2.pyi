from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ChineseLudoPhase(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CHINESE_LUDO_PHASE_UNSPECIFIED: _ClassVar[ChineseLudoPhase]
    CHINESE_LUDO_PHASE_MOVE: _ClassVar[ChineseLudoPhase]
    CHINESE_LUDO_PHASE_ROLL: _ClassVar[ChineseLudoPhase]
    CHINESE_LUDO_PHASE_START: _ClassVar[ChineseLudoPhase]
    CHINESE_LUDO_PHASE_FINISHED: _ClassVar[ChineseLudoPhase]
    CHINESE_LUDO_PHASE_CAP: _ClassVar[ChineseLudoPhase]
CHINESE_LUDO_PHASE_UNSPECIFIED: ChineseLudoPhase
CHINESE_LUDO_PHASE_MOVE: ChineseLudoPhase
CHINESE_LUDO_PHASE_ROLL: ChineseLudoPhase
CHINESE_LUDO_PHASE_START: ChineseLudoPhase
CHINESE_LUDO_PHASE_FINISHED: ChineseLudoPhase
CHINESE_LUDO_PHASE_CAP: ChineseLudoPhase

class ChineseLudoPosition(_message.Message):
    __slots__ = ("to_move", "die", "planes", "rolls", "sixes", "phase", "moves")
    TO_MOVE_FIELD_NUMBER: _ClassVar[int]
    DIE_FIELD_NUMBER: _ClassVar[int]
    PLANES_FIELD_NUMBER: _ClassVar[int]
    ROLLS_FIELD_NUMBER: _ClassVar[int]
    SIXES_FIELD_NUMBER: _ClassVar[int]
    PHASE_FIELD_NUMBER: _ClassVar[int]
    MOVES_FIELD_NUMBER: _ClassVar[int]
    to_move: int
    die: int
    planes: _containers.RepeatedScalarFieldContainer[int]
    rolls: int
    sixes: int
    phase: ChineseLudoPhase
    moves: _containers.RepeatedCompositeFieldContainer[ChineseLudoMove]
    def __init__(self, to_move: _Optional[int] = ..., die: _Optional[int] = ..., planes: _Optional[_Iterable[int]] = ..., rolls: _Optional[int] = ..., sixes: _Optional[int] = ..., phase: _Optional[_Union[ChineseLudoPhase, str]] = ..., moves: _Optional[_Iterable[_Union[ChineseLudoMove, _Mapping]]] = ...) -> None: ...

class ChineseLudoMove(_message.Message):
    __slots__ = ("id", "plane", "to", "hits", "lost")
    ID_FIELD_NUMBER: _ClassVar[int]
    PLANE_FIELD_NUMBER: _ClassVar[int]
    FROM_FIELD_NUMBER: _ClassVar[int]
    TO_FIELD_NUMBER: _ClassVar[int]
    HITS_FIELD_NUMBER: _ClassVar[int]
    LOST_FIELD_NUMBER: _ClassVar[int]
    id: int
    plane: int
    to: int
    hits: int
    lost: int
    def __init__(self, id: _Optional[int] = ..., plane: _Optional[int] = ..., to: _Optional[int] = ..., hits: _Optional[int] = ..., lost: _Optional[int] = ..., **kwargs) -> None: ...
