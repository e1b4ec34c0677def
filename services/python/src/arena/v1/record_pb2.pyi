from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Termination(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TERMINATION_UNSPECIFIED: _ClassVar[Termination]
    TERMINATION_NORMAL: _ClassVar[Termination]
    TERMINATION_FORFEIT: _ClassVar[Termination]
    TERMINATION_VOID: _ClassVar[Termination]
    TERMINATION_DEADLOCK: _ClassVar[Termination]
    TERMINATION_REPETITION: _ClassVar[Termination]
    TERMINATION_CAP: _ClassVar[Termination]
    TERMINATION_ADJUDICATION: _ClassVar[Termination]

class FaultKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FAULT_KIND_UNSPECIFIED: _ClassVar[FaultKind]
    FAULT_KIND_ILLEGAL_MOVE: _ClassVar[FaultKind]
    FAULT_KIND_TIMEOUT: _ClassVar[FaultKind]
    FAULT_KIND_CRASH: _ClassVar[FaultKind]
    FAULT_KIND_NOT_READY: _ClassVar[FaultKind]
    FAULT_KIND_DISCONNECTED: _ClassVar[FaultKind]
    FAULT_KIND_GARBLED: _ClassVar[FaultKind]
    FAULT_KIND_OUTPUT_LIMIT: _ClassVar[FaultKind]
    FAULT_KIND_MEMORY_LIMIT: _ClassVar[FaultKind]
    FAULT_KIND_PROCESS_LIMIT: _ClassVar[FaultKind]
    FAULT_KIND_DISK_LIMIT: _ClassVar[FaultKind]
    FAULT_KIND_CPU_LIMIT: _ClassVar[FaultKind]
TERMINATION_UNSPECIFIED: Termination
TERMINATION_NORMAL: Termination
TERMINATION_FORFEIT: Termination
TERMINATION_VOID: Termination
TERMINATION_DEADLOCK: Termination
TERMINATION_REPETITION: Termination
TERMINATION_CAP: Termination
TERMINATION_ADJUDICATION: Termination
FAULT_KIND_UNSPECIFIED: FaultKind
FAULT_KIND_ILLEGAL_MOVE: FaultKind
FAULT_KIND_TIMEOUT: FaultKind
FAULT_KIND_CRASH: FaultKind
FAULT_KIND_NOT_READY: FaultKind
FAULT_KIND_DISCONNECTED: FaultKind
FAULT_KIND_GARBLED: FaultKind
FAULT_KIND_OUTPUT_LIMIT: FaultKind
FAULT_KIND_MEMORY_LIMIT: FaultKind
FAULT_KIND_PROCESS_LIMIT: FaultKind
FAULT_KIND_DISK_LIMIT: FaultKind
FAULT_KIND_CPU_LIMIT: FaultKind

class GameRecord(_message.Message):
    __slots__ = ("index", "block", "seed", "seats", "events", "opening_plies", "placement", "scores", "plies", "decisions", "termination", "faults", "hash", "luck", "course", "beginning", "start", "adjudication", "transcript")
    INDEX_FIELD_NUMBER: _ClassVar[int]
    BLOCK_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    SEATS_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    OPENING_PLIES_FIELD_NUMBER: _ClassVar[int]
    PLACEMENT_FIELD_NUMBER: _ClassVar[int]
    SCORES_FIELD_NUMBER: _ClassVar[int]
    PLIES_FIELD_NUMBER: _ClassVar[int]
    DECISIONS_FIELD_NUMBER: _ClassVar[int]
    TERMINATION_FIELD_NUMBER: _ClassVar[int]
    FAULTS_FIELD_NUMBER: _ClassVar[int]
    HASH_FIELD_NUMBER: _ClassVar[int]
    LUCK_FIELD_NUMBER: _ClassVar[int]
    COURSE_FIELD_NUMBER: _ClassVar[int]
    BEGINNING_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    ADJUDICATION_FIELD_NUMBER: _ClassVar[int]
    TRANSCRIPT_FIELD_NUMBER: _ClassVar[int]
    index: int
    block: int
    seed: int
    seats: _containers.RepeatedScalarFieldContainer[int]
    events: _containers.RepeatedScalarFieldContainer[int]
    opening_plies: int
    placement: _containers.RepeatedScalarFieldContainer[int]
    scores: _containers.RepeatedScalarFieldContainer[int]
    plies: int
    decisions: _containers.RepeatedScalarFieldContainer[int]
    termination: Termination
    faults: _containers.RepeatedCompositeFieldContainer[Fault]
    hash: bytes
    luck: _containers.RepeatedScalarFieldContainer[int]
    course: int
    beginning: _containers.RepeatedScalarFieldContainer[int]
    start: str
    adjudication: _containers.RepeatedCompositeFieldContainer[ScoredMove]
    transcript: Transcript
    def __init__(self, index: _Optional[int] = ..., block: _Optional[int] = ..., seed: _Optional[int] = ..., seats: _Optional[_Iterable[int]] = ..., events: _Optional[_Iterable[int]] = ..., opening_plies: _Optional[int] = ..., placement: _Optional[_Iterable[int]] = ..., scores: _Optional[_Iterable[int]] = ..., plies: _Optional[int] = ..., decisions: _Optional[_Iterable[int]] = ..., termination: _Optional[_Union[Termination, str]] = ..., faults: _Optional[_Iterable[_Union[Fault, _Mapping]]] = ..., hash: _Optional[bytes] = ..., luck: _Optional[_Iterable[int]] = ..., course: _Optional[int] = ..., beginning: _Optional[_Iterable[int]] = ..., start: _Optional[str] = ..., adjudication: _Optional[_Iterable[_Union[ScoredMove, _Mapping]]] = ..., transcript: _Optional[_Union[Transcript, _Mapping]] = ...) -> None: ...

class Transcript(_message.Message):
    __slots__ = ("names", "events", "ending", "placement", "to_move")
    NAMES_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    ENDING_FIELD_NUMBER: _ClassVar[int]
    PLACEMENT_FIELD_NUMBER: _ClassVar[int]
    TO_MOVE_FIELD_NUMBER: _ClassVar[int]
    names: _containers.RepeatedScalarFieldContainer[str]
    events: _containers.RepeatedScalarFieldContainer[int]
    ending: Termination
    placement: _containers.RepeatedScalarFieldContainer[int]
    to_move: int
    def __init__(self, names: _Optional[_Iterable[str]] = ..., events: _Optional[_Iterable[int]] = ..., ending: _Optional[_Union[Termination, str]] = ..., placement: _Optional[_Iterable[int]] = ..., to_move: _Optional[int] = ...) -> None: ...

class ScoredMove(_message.Message):
    __slots__ = ("ply", "seat", "score_thousandths")
    PLY_FIELD_NUMBER: _ClassVar[int]
    SEAT_FIELD_NUMBER: _ClassVar[int]
    SCORE_THOUSANDTHS_FIELD_NUMBER: _ClassVar[int]
    ply: int
    seat: int
    score_thousandths: int
    def __init__(self, ply: _Optional[int] = ..., seat: _Optional[int] = ..., score_thousandths: _Optional[int] = ...) -> None: ...

class Fault(_message.Message):
    __slots__ = ("ply", "seat", "kind")
    PLY_FIELD_NUMBER: _ClassVar[int]
    SEAT_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    ply: int
    seat: int
    kind: FaultKind
    def __init__(self, ply: _Optional[int] = ..., seat: _Optional[int] = ..., kind: _Optional[_Union[FaultKind, str]] = ...) -> None: ...

class GameTiming(_message.Message):
    __slots__ = ("worker", "started_unix_us", "duration_us", "latencies_us", "latency", "run_queue_us", "searches")
    WORKER_FIELD_NUMBER: _ClassVar[int]
    STARTED_UNIX_US_FIELD_NUMBER: _ClassVar[int]
    DURATION_US_FIELD_NUMBER: _ClassVar[int]
    LATENCIES_US_FIELD_NUMBER: _ClassVar[int]
    LATENCY_FIELD_NUMBER: _ClassVar[int]
    RUN_QUEUE_US_FIELD_NUMBER: _ClassVar[int]
    SEARCHES_FIELD_NUMBER: _ClassVar[int]
    worker: str
    started_unix_us: int
    duration_us: int
    latencies_us: _containers.RepeatedScalarFieldContainer[int]
    latency: _containers.RepeatedCompositeFieldContainer[AgentLatency]
    run_queue_us: _containers.RepeatedScalarFieldContainer[int]
    searches: _containers.RepeatedCompositeFieldContainer[SearchNote]
    def __init__(self, worker: _Optional[str] = ..., started_unix_us: _Optional[int] = ..., duration_us: _Optional[int] = ..., latencies_us: _Optional[_Iterable[int]] = ..., latency: _Optional[_Iterable[_Union[AgentLatency, _Mapping]]] = ..., run_queue_us: _Optional[_Iterable[int]] = ..., searches: _Optional[_Iterable[_Union[SearchNote, _Mapping]]] = ...) -> None: ...

class SearchNote(_message.Message):
    __slots__ = ("score_thousandths", "depth", "nodes")
    SCORE_THOUSANDTHS_FIELD_NUMBER: _ClassVar[int]
    DEPTH_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    score_thousandths: int
    depth: int
    nodes: int
    def __init__(self, score_thousandths: _Optional[int] = ..., depth: _Optional[int] = ..., nodes: _Optional[int] = ...) -> None: ...

class AgentLatency(_message.Message):
    __slots__ = ("agent", "buckets", "counts", "waiting_buckets", "waiting_counts")
    AGENT_FIELD_NUMBER: _ClassVar[int]
    BUCKETS_FIELD_NUMBER: _ClassVar[int]
    COUNTS_FIELD_NUMBER: _ClassVar[int]
    WAITING_BUCKETS_FIELD_NUMBER: _ClassVar[int]
    WAITING_COUNTS_FIELD_NUMBER: _ClassVar[int]
    agent: int
    buckets: _containers.RepeatedScalarFieldContainer[int]
    counts: _containers.RepeatedScalarFieldContainer[int]
    waiting_buckets: _containers.RepeatedScalarFieldContainer[int]
    waiting_counts: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, agent: _Optional[int] = ..., buckets: _Optional[_Iterable[int]] = ..., counts: _Optional[_Iterable[int]] = ..., waiting_buckets: _Optional[_Iterable[int]] = ..., waiting_counts: _Optional[_Iterable[int]] = ...) -> None: ...
