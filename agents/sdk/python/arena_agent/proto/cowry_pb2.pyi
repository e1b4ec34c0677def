from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CowryPosition(_message.Message):
    __slots__ = ("board", "seats", "to_move", "pieces", "hit_mask", "blocked", "pool", "pending_throws", "throws", "finished", "moves")
    BOARD_FIELD_NUMBER: _ClassVar[int]
    SEATS_FIELD_NUMBER: _ClassVar[int]
    TO_MOVE_FIELD_NUMBER: _ClassVar[int]
    PIECES_FIELD_NUMBER: _ClassVar[int]
    HIT_MASK_FIELD_NUMBER: _ClassVar[int]
    BLOCKED_FIELD_NUMBER: _ClassVar[int]
    POOL_FIELD_NUMBER: _ClassVar[int]
    PENDING_THROWS_FIELD_NUMBER: _ClassVar[int]
    THROWS_FIELD_NUMBER: _ClassVar[int]
    FINISHED_FIELD_NUMBER: _ClassVar[int]
    MOVES_FIELD_NUMBER: _ClassVar[int]
    board: int
    seats: int
    to_move: int
    pieces: bytes
    hit_mask: int
    blocked: _containers.RepeatedScalarFieldContainer[int]
    pool: _containers.RepeatedScalarFieldContainer[int]
    pending_throws: int
    throws: int
    finished: _containers.RepeatedScalarFieldContainer[int]
    moves: _containers.RepeatedCompositeFieldContainer[CowryMove]
    def __init__(self, board: _Optional[int] = ..., seats: _Optional[int] = ..., to_move: _Optional[int] = ..., pieces: _Optional[bytes] = ..., hit_mask: _Optional[int] = ..., blocked: _Optional[_Iterable[int]] = ..., pool: _Optional[_Iterable[int]] = ..., pending_throws: _Optional[int] = ..., throws: _Optional[int] = ..., finished: _Optional[_Iterable[int]] = ..., moves: _Optional[_Iterable[_Union[CowryMove, _Mapping]]] = ...) -> None: ...

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
