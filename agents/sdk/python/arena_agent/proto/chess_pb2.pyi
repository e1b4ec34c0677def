from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ChessPhase(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CHESS_PHASE_UNSPECIFIED: _ClassVar[ChessPhase]
    CHESS_PHASE_MOVE: _ClassVar[ChessPhase]
    CHESS_PHASE_START: _ClassVar[ChessPhase]
    CHESS_PHASE_CHECKMATE: _ClassVar[ChessPhase]
    CHESS_PHASE_STALEMATE: _ClassVar[ChessPhase]
    CHESS_PHASE_INSUFFICIENT_MATERIAL: _ClassVar[ChessPhase]
    CHESS_PHASE_REPETITION: _ClassVar[ChessPhase]
    CHESS_PHASE_FIFTY_MOVES: _ClassVar[ChessPhase]
    CHESS_PHASE_CAP: _ClassVar[ChessPhase]
CHESS_PHASE_UNSPECIFIED: ChessPhase
CHESS_PHASE_MOVE: ChessPhase
CHESS_PHASE_START: ChessPhase
CHESS_PHASE_CHECKMATE: ChessPhase
CHESS_PHASE_STALEMATE: ChessPhase
CHESS_PHASE_INSUFFICIENT_MATERIAL: ChessPhase
CHESS_PHASE_REPETITION: ChessPhase
CHESS_PHASE_FIFTY_MOVES: ChessPhase
CHESS_PHASE_CAP: ChessPhase

class ChessPosition(_message.Message):
    __slots__ = ("fen", "to_move", "plies", "phase", "base_fen", "played", "moves")
    FEN_FIELD_NUMBER: _ClassVar[int]
    TO_MOVE_FIELD_NUMBER: _ClassVar[int]
    PLIES_FIELD_NUMBER: _ClassVar[int]
    PHASE_FIELD_NUMBER: _ClassVar[int]
    BASE_FEN_FIELD_NUMBER: _ClassVar[int]
    PLAYED_FIELD_NUMBER: _ClassVar[int]
    MOVES_FIELD_NUMBER: _ClassVar[int]
    fen: str
    to_move: int
    plies: int
    phase: ChessPhase
    base_fen: str
    played: _containers.RepeatedScalarFieldContainer[str]
    moves: _containers.RepeatedCompositeFieldContainer[ChessMove]
    def __init__(self, fen: _Optional[str] = ..., to_move: _Optional[int] = ..., plies: _Optional[int] = ..., phase: _Optional[_Union[ChessPhase, str]] = ..., base_fen: _Optional[str] = ..., played: _Optional[_Iterable[str]] = ..., moves: _Optional[_Iterable[_Union[ChessMove, _Mapping]]] = ...) -> None: ...

class ChessMove(_message.Message):
    __slots__ = ("id", "uci", "san")
    ID_FIELD_NUMBER: _ClassVar[int]
    UCI_FIELD_NUMBER: _ClassVar[int]
    SAN_FIELD_NUMBER: _ClassVar[int]
    id: int
    uci: str
    san: str
    def __init__(self, id: _Optional[int] = ..., uci: _Optional[str] = ..., san: _Optional[str] = ...) -> None: ...
