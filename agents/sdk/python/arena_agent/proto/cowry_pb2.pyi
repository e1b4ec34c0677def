from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CowryPhase(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    COWRY_PHASE_UNSPECIFIED: _ClassVar[CowryPhase]
    COWRY_PHASE_MOVE: _ClassVar[CowryPhase]
    COWRY_PHASE_THROW: _ClassVar[CowryPhase]
    COWRY_PHASE_START: _ClassVar[CowryPhase]
    COWRY_PHASE_FINISHED: _ClassVar[CowryPhase]
    COWRY_PHASE_DEADLOCK: _ClassVar[CowryPhase]
    COWRY_PHASE_CAP: _ClassVar[CowryPhase]
COWRY_PHASE_UNSPECIFIED: CowryPhase
COWRY_PHASE_MOVE: CowryPhase
COWRY_PHASE_THROW: CowryPhase
COWRY_PHASE_START: CowryPhase
COWRY_PHASE_FINISHED: CowryPhase
COWRY_PHASE_DEADLOCK: CowryPhase
COWRY_PHASE_CAP: CowryPhase

class CowryPosition(_message.Message):
    __slots__ = ("board", "seats", "to_move", "pieces", "hit_mask", "may_pass", "pool", "pending_throws", "throws", "finished", "phase", "blocked_now", "moves")
    BOARD_FIELD_NUMBER: _ClassVar[int]
    SEATS_FIELD_NUMBER: _ClassVar[int]
    TO_MOVE_FIELD_NUMBER: _ClassVar[int]
    PIECES_FIELD_NUMBER: _ClassVar[int]
    HIT_MASK_FIELD_NUMBER: _ClassVar[int]
    MAY_PASS_FIELD_NUMBER: _ClassVar[int]
    POOL_FIELD_NUMBER: _ClassVar[int]
    PENDING_THROWS_FIELD_NUMBER: _ClassVar[int]
    THROWS_FIELD_NUMBER: _ClassVar[int]
    FINISHED_FIELD_NUMBER: _ClassVar[int]
    PHASE_FIELD_NUMBER: _ClassVar[int]
    BLOCKED_NOW_FIELD_NUMBER: _ClassVar[int]
    MOVES_FIELD_NUMBER: _ClassVar[int]
    board: int
    seats: int
    to_move: int
    pieces: bytes
    hit_mask: int
    may_pass: _containers.RepeatedScalarFieldContainer[int]
    pool: _containers.RepeatedScalarFieldContainer[int]
    pending_throws: int
    throws: int
    finished: _containers.RepeatedScalarFieldContainer[int]
    phase: CowryPhase
    blocked_now: int
    moves: _containers.RepeatedCompositeFieldContainer[CowryMove]
    def __init__(self, board: _Optional[int] = ..., seats: _Optional[int] = ..., to_move: _Optional[int] = ..., pieces: _Optional[bytes] = ..., hit_mask: _Optional[int] = ..., may_pass: _Optional[_Iterable[int]] = ..., pool: _Optional[_Iterable[int]] = ..., pending_throws: _Optional[int] = ..., throws: _Optional[int] = ..., finished: _Optional[_Iterable[int]] = ..., phase: _Optional[_Union[CowryPhase, str]] = ..., blocked_now: _Optional[int] = ..., moves: _Optional[_Iterable[_Union[CowryMove, _Mapping]]] = ...) -> None: ...

class CowryMove(_message.Message):
    __slots__ = ("id", "value", "piece", "together", "to", "hits")
    ID_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    PIECE_FIELD_NUMBER: _ClassVar[int]
    TOGETHER_FIELD_NUMBER: _ClassVar[int]
    FROM_FIELD_NUMBER: _ClassVar[int]
    TO_FIELD_NUMBER: _ClassVar[int]
    HITS_FIELD_NUMBER: _ClassVar[int]
    id: int
    value: int
    piece: int
    together: bool
    to: int
    hits: int
    def __init__(self, id: _Optional[int] = ..., value: _Optional[int] = ..., piece: _Optional[int] = ..., together: bool = ..., to: _Optional[int] = ..., hits: _Optional[int] = ..., **kwargs) -> None: ...
