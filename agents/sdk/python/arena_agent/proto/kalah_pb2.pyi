from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class KalahPosition(_message.Message):
    __slots__ = ("pits", "board", "to_move", "plies", "moves")
    PITS_FIELD_NUMBER: _ClassVar[int]
    BOARD_FIELD_NUMBER: _ClassVar[int]
    TO_MOVE_FIELD_NUMBER: _ClassVar[int]
    PLIES_FIELD_NUMBER: _ClassVar[int]
    MOVES_FIELD_NUMBER: _ClassVar[int]
    pits: int
    board: _containers.RepeatedScalarFieldContainer[int]
    to_move: int
    plies: int
    moves: _containers.RepeatedCompositeFieldContainer[KalahMove]
    def __init__(self, pits: _Optional[int] = ..., board: _Optional[_Iterable[int]] = ..., to_move: _Optional[int] = ..., plies: _Optional[int] = ..., moves: _Optional[_Iterable[_Union[KalahMove, _Mapping]]] = ...) -> None: ...

class KalahMove(_message.Message):
    __slots__ = ("id", "pit", "stones", "moves_again", "banked")
    ID_FIELD_NUMBER: _ClassVar[int]
    PIT_FIELD_NUMBER: _ClassVar[int]
    STONES_FIELD_NUMBER: _ClassVar[int]
    MOVES_AGAIN_FIELD_NUMBER: _ClassVar[int]
    BANKED_FIELD_NUMBER: _ClassVar[int]
    id: int
    pit: int
    stones: int
    moves_again: bool
    banked: int
    def __init__(self, id: _Optional[int] = ..., pit: _Optional[int] = ..., stones: _Optional[int] = ..., moves_again: bool = ..., banked: _Optional[int] = ...) -> None: ...
