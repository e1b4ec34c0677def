from arena.v1 import access_pb2 as _access_pb2
from arena.v1 import agent_pb2 as _agent_pb2
from arena.v1 import record_pb2 as _record_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Timing(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TIMING_UNSPECIFIED: _ClassVar[Timing]
    TIMING_THROUGHPUT: _ClassVar[Timing]
    TIMING_STRICT: _ClassVar[Timing]

class FaultPolicy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FAULT_POLICY_UNSPECIFIED: _ClassVar[FaultPolicy]
    FAULT_POLICY_FORFEIT: _ClassVar[FaultPolicy]
    FAULT_POLICY_RANDOM_MOVE: _ClassVar[FaultPolicy]
TIMING_UNSPECIFIED: Timing
TIMING_THROUGHPUT: Timing
TIMING_STRICT: Timing
FAULT_POLICY_UNSPECIFIED: FaultPolicy
FAULT_POLICY_FORFEIT: FaultPolicy
FAULT_POLICY_RANDOM_MOVE: FaultPolicy

class JoinRequest(_message.Message):
    __slots__ = ("name", "capacity", "version", "rulesets", "process", "record_version", "sandbox")
    class RulesetsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    NAME_FIELD_NUMBER: _ClassVar[int]
    CAPACITY_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    RULESETS_FIELD_NUMBER: _ClassVar[int]
    PROCESS_FIELD_NUMBER: _ClassVar[int]
    RECORD_VERSION_FIELD_NUMBER: _ClassVar[int]
    SANDBOX_FIELD_NUMBER: _ClassVar[int]
    name: str
    capacity: int
    version: str
    rulesets: _containers.ScalarMap[str, int]
    process: int
    record_version: int
    sandbox: str
    def __init__(self, name: _Optional[str] = ..., capacity: _Optional[int] = ..., version: _Optional[str] = ..., rulesets: _Optional[_Mapping[str, int]] = ..., process: _Optional[int] = ..., record_version: _Optional[int] = ..., sandbox: _Optional[str] = ...) -> None: ...

class JoinResponse(_message.Message):
    __slots__ = ("welcome", "leases_ended", "drain")
    WELCOME_FIELD_NUMBER: _ClassVar[int]
    LEASES_ENDED_FIELD_NUMBER: _ClassVar[int]
    DRAIN_FIELD_NUMBER: _ClassVar[int]
    welcome: Welcome
    leases_ended: LeasesEnded
    drain: Drain
    def __init__(self, welcome: _Optional[_Union[Welcome, _Mapping]] = ..., leases_ended: _Optional[_Union[LeasesEnded, _Mapping]] = ..., drain: _Optional[_Union[Drain, _Mapping]] = ...) -> None: ...

class Welcome(_message.Message):
    __slots__ = ("worker_id", "boot_epoch", "lease_deadline_ms", "session", "missing_rulesets")
    WORKER_ID_FIELD_NUMBER: _ClassVar[int]
    BOOT_EPOCH_FIELD_NUMBER: _ClassVar[int]
    LEASE_DEADLINE_MS_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    MISSING_RULESETS_FIELD_NUMBER: _ClassVar[int]
    worker_id: str
    boot_epoch: int
    lease_deadline_ms: int
    session: bytes
    missing_rulesets: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, worker_id: _Optional[str] = ..., boot_epoch: _Optional[int] = ..., lease_deadline_ms: _Optional[int] = ..., session: _Optional[bytes] = ..., missing_rulesets: _Optional[_Iterable[str]] = ...) -> None: ...

class LeasesEnded(_message.Message):
    __slots__ = ("lease_ids",)
    LEASE_IDS_FIELD_NUMBER: _ClassVar[int]
    lease_ids: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, lease_ids: _Optional[_Iterable[int]] = ...) -> None: ...

class Drain(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class LeaseRequest(_message.Message):
    __slots__ = ("worker_id", "boot_epoch", "games", "wait_ms", "known_tournaments", "call", "session", "sated_tournaments", "known_agents")
    WORKER_ID_FIELD_NUMBER: _ClassVar[int]
    BOOT_EPOCH_FIELD_NUMBER: _ClassVar[int]
    GAMES_FIELD_NUMBER: _ClassVar[int]
    WAIT_MS_FIELD_NUMBER: _ClassVar[int]
    KNOWN_TOURNAMENTS_FIELD_NUMBER: _ClassVar[int]
    CALL_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    SATED_TOURNAMENTS_FIELD_NUMBER: _ClassVar[int]
    KNOWN_AGENTS_FIELD_NUMBER: _ClassVar[int]
    worker_id: str
    boot_epoch: int
    games: int
    wait_ms: int
    known_tournaments: _containers.RepeatedScalarFieldContainer[str]
    call: int
    session: bytes
    sated_tournaments: _containers.RepeatedScalarFieldContainer[str]
    known_agents: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, worker_id: _Optional[str] = ..., boot_epoch: _Optional[int] = ..., games: _Optional[int] = ..., wait_ms: _Optional[int] = ..., known_tournaments: _Optional[_Iterable[str]] = ..., call: _Optional[int] = ..., session: _Optional[bytes] = ..., sated_tournaments: _Optional[_Iterable[str]] = ..., known_agents: _Optional[_Iterable[int]] = ...) -> None: ...

class LeaseResponse(_message.Message):
    __slots__ = ("lease",)
    LEASE_FIELD_NUMBER: _ClassVar[int]
    lease: Lease
    def __init__(self, lease: _Optional[_Union[Lease, _Mapping]] = ...) -> None: ...

class Lease(_message.Message):
    __slots__ = ("lease_id", "tournament_id", "setup", "games", "given_up", "ticket")
    LEASE_ID_FIELD_NUMBER: _ClassVar[int]
    TOURNAMENT_ID_FIELD_NUMBER: _ClassVar[int]
    SETUP_FIELD_NUMBER: _ClassVar[int]
    GAMES_FIELD_NUMBER: _ClassVar[int]
    GIVEN_UP_FIELD_NUMBER: _ClassVar[int]
    TICKET_FIELD_NUMBER: _ClassVar[int]
    lease_id: int
    tournament_id: str
    setup: TournamentSetup
    games: _containers.RepeatedCompositeFieldContainer[GameAssignment]
    given_up: _containers.RepeatedCompositeFieldContainer[UnreadyAgent]
    ticket: bytes
    def __init__(self, lease_id: _Optional[int] = ..., tournament_id: _Optional[str] = ..., setup: _Optional[_Union[TournamentSetup, _Mapping]] = ..., games: _Optional[_Iterable[_Union[GameAssignment, _Mapping]]] = ..., given_up: _Optional[_Iterable[_Union[UnreadyAgent, _Mapping]]] = ..., ticket: _Optional[bytes] = ...) -> None: ...

class UnreadyAgent(_message.Message):
    __slots__ = ("agent", "kind", "message", "stderr_tail")
    AGENT_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    STDERR_TAIL_FIELD_NUMBER: _ClassVar[int]
    agent: int
    kind: _record_pb2.FaultKind
    message: str
    stderr_tail: str
    def __init__(self, agent: _Optional[int] = ..., kind: _Optional[_Union[_record_pb2.FaultKind, str]] = ..., message: _Optional[str] = ..., stderr_tail: _Optional[str] = ...) -> None: ...

class GameAssignment(_message.Message):
    __slots__ = ("index", "block", "seed", "seats", "attempts", "opening", "start")
    INDEX_FIELD_NUMBER: _ClassVar[int]
    BLOCK_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    SEATS_FIELD_NUMBER: _ClassVar[int]
    ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    OPENING_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    index: int
    block: int
    seed: int
    seats: _containers.RepeatedScalarFieldContainer[int]
    attempts: int
    opening: _containers.RepeatedScalarFieldContainer[int]
    start: str
    def __init__(self, index: _Optional[int] = ..., block: _Optional[int] = ..., seed: _Optional[int] = ..., seats: _Optional[_Iterable[int]] = ..., attempts: _Optional[int] = ..., opening: _Optional[_Iterable[int]] = ..., start: _Optional[str] = ...) -> None: ...

class TournamentSetup(_message.Message):
    __slots__ = ("tournament_id", "ruleset", "rules_version", "options", "seats", "agents", "play", "hash_only", "luck", "play_json", "rules")
    TOURNAMENT_ID_FIELD_NUMBER: _ClassVar[int]
    RULESET_FIELD_NUMBER: _ClassVar[int]
    RULES_VERSION_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    SEATS_FIELD_NUMBER: _ClassVar[int]
    AGENTS_FIELD_NUMBER: _ClassVar[int]
    PLAY_FIELD_NUMBER: _ClassVar[int]
    HASH_ONLY_FIELD_NUMBER: _ClassVar[int]
    LUCK_FIELD_NUMBER: _ClassVar[int]
    PLAY_JSON_FIELD_NUMBER: _ClassVar[int]
    RULES_FIELD_NUMBER: _ClassVar[int]
    tournament_id: str
    ruleset: str
    rules_version: int
    options: _containers.RepeatedCompositeFieldContainer[_agent_pb2.OptionValue]
    seats: int
    agents: _containers.RepeatedCompositeFieldContainer[AgentSetup]
    play: PlaySettings
    hash_only: bool
    luck: bool
    play_json: str
    rules: RulesPackage
    def __init__(self, tournament_id: _Optional[str] = ..., ruleset: _Optional[str] = ..., rules_version: _Optional[int] = ..., options: _Optional[_Iterable[_Union[_agent_pb2.OptionValue, _Mapping]]] = ..., seats: _Optional[int] = ..., agents: _Optional[_Iterable[_Union[AgentSetup, _Mapping]]] = ..., play: _Optional[_Union[PlaySettings, _Mapping]] = ..., hash_only: bool = ..., luck: bool = ..., play_json: _Optional[str] = ..., rules: _Optional[_Union[RulesPackage, _Mapping]] = ...) -> None: ...

class RulesPackage(_message.Message):
    __slots__ = ("package", "digest", "description", "loaded")
    PACKAGE_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    LOADED_FIELD_NUMBER: _ClassVar[int]
    package: BinarySource
    digest: str
    description: str
    loaded: _containers.RepeatedCompositeFieldContainer[LoadedFile]
    def __init__(self, package: _Optional[_Union[BinarySource, _Mapping]] = ..., digest: _Optional[str] = ..., description: _Optional[str] = ..., loaded: _Optional[_Iterable[_Union[LoadedFile, _Mapping]]] = ...) -> None: ...

class LoadedFile(_message.Message):
    __slots__ = ("name", "sha256")
    NAME_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    name: str
    sha256: bytes
    def __init__(self, name: _Optional[str] = ..., sha256: _Optional[bytes] = ...) -> None: ...

class PlaySettings(_message.Message):
    __slots__ = ("opening_plies", "timing", "move_timeout_us", "on_fault", "ask_forced", "clock", "move_time_us", "nodes", "timing_margin_us", "scale_clocks", "replicas", "resign", "draw")
    OPENING_PLIES_FIELD_NUMBER: _ClassVar[int]
    TIMING_FIELD_NUMBER: _ClassVar[int]
    MOVE_TIMEOUT_US_FIELD_NUMBER: _ClassVar[int]
    ON_FAULT_FIELD_NUMBER: _ClassVar[int]
    ASK_FORCED_FIELD_NUMBER: _ClassVar[int]
    CLOCK_FIELD_NUMBER: _ClassVar[int]
    MOVE_TIME_US_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    TIMING_MARGIN_US_FIELD_NUMBER: _ClassVar[int]
    SCALE_CLOCKS_FIELD_NUMBER: _ClassVar[int]
    REPLICAS_FIELD_NUMBER: _ClassVar[int]
    RESIGN_FIELD_NUMBER: _ClassVar[int]
    DRAW_FIELD_NUMBER: _ClassVar[int]
    opening_plies: int
    timing: Timing
    move_timeout_us: int
    on_fault: FaultPolicy
    ask_forced: bool
    clock: ClockSettings
    move_time_us: int
    nodes: int
    timing_margin_us: int
    scale_clocks: bool
    replicas: int
    resign: ResignRule
    draw: DrawRule
    def __init__(self, opening_plies: _Optional[int] = ..., timing: _Optional[_Union[Timing, str]] = ..., move_timeout_us: _Optional[int] = ..., on_fault: _Optional[_Union[FaultPolicy, str]] = ..., ask_forced: bool = ..., clock: _Optional[_Union[ClockSettings, _Mapping]] = ..., move_time_us: _Optional[int] = ..., nodes: _Optional[int] = ..., timing_margin_us: _Optional[int] = ..., scale_clocks: bool = ..., replicas: _Optional[int] = ..., resign: _Optional[_Union[ResignRule, _Mapping]] = ..., draw: _Optional[_Union[DrawRule, _Mapping]] = ...) -> None: ...

class ResignRule(_message.Message):
    __slots__ = ("score_thousandths", "moves")
    SCORE_THOUSANDTHS_FIELD_NUMBER: _ClassVar[int]
    MOVES_FIELD_NUMBER: _ClassVar[int]
    score_thousandths: int
    moves: int
    def __init__(self, score_thousandths: _Optional[int] = ..., moves: _Optional[int] = ...) -> None: ...

class DrawRule(_message.Message):
    __slots__ = ("score_thousandths", "moves", "after_plies")
    SCORE_THOUSANDTHS_FIELD_NUMBER: _ClassVar[int]
    MOVES_FIELD_NUMBER: _ClassVar[int]
    AFTER_PLIES_FIELD_NUMBER: _ClassVar[int]
    score_thousandths: int
    moves: int
    after_plies: int
    def __init__(self, score_thousandths: _Optional[int] = ..., moves: _Optional[int] = ..., after_plies: _Optional[int] = ...) -> None: ...

class ClockSettings(_message.Message):
    __slots__ = ("moves", "base_us", "increment_us")
    MOVES_FIELD_NUMBER: _ClassVar[int]
    BASE_US_FIELD_NUMBER: _ClassVar[int]
    INCREMENT_US_FIELD_NUMBER: _ClassVar[int]
    moves: int
    base_us: int
    increment_us: int
    def __init__(self, moves: _Optional[int] = ..., base_us: _Optional[int] = ..., increment_us: _Optional[int] = ...) -> None: ...

class AgentSetup(_message.Message):
    __slots__ = ("name", "bot", "options", "batch_size", "omit_move_details", "native", "binary", "endpoint", "deterministic", "label", "replicas", "cpus", "sticky", "concurrent", "record_json")
    NAME_FIELD_NUMBER: _ClassVar[int]
    BOT_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    BATCH_SIZE_FIELD_NUMBER: _ClassVar[int]
    OMIT_MOVE_DETAILS_FIELD_NUMBER: _ClassVar[int]
    NATIVE_FIELD_NUMBER: _ClassVar[int]
    BINARY_FIELD_NUMBER: _ClassVar[int]
    ENDPOINT_FIELD_NUMBER: _ClassVar[int]
    DETERMINISTIC_FIELD_NUMBER: _ClassVar[int]
    LABEL_FIELD_NUMBER: _ClassVar[int]
    REPLICAS_FIELD_NUMBER: _ClassVar[int]
    CPUS_FIELD_NUMBER: _ClassVar[int]
    STICKY_FIELD_NUMBER: _ClassVar[int]
    CONCURRENT_FIELD_NUMBER: _ClassVar[int]
    RECORD_JSON_FIELD_NUMBER: _ClassVar[int]
    name: str
    bot: str
    options: _containers.RepeatedCompositeFieldContainer[_agent_pb2.OptionValue]
    batch_size: int
    omit_move_details: bool
    native: NativeSource
    binary: BinarySource
    endpoint: EndpointSource
    deterministic: bool
    label: str
    replicas: int
    cpus: int
    sticky: bool
    concurrent: bool
    record_json: str
    def __init__(self, name: _Optional[str] = ..., bot: _Optional[str] = ..., options: _Optional[_Iterable[_Union[_agent_pb2.OptionValue, _Mapping]]] = ..., batch_size: _Optional[int] = ..., omit_move_details: bool = ..., native: _Optional[_Union[NativeSource, _Mapping]] = ..., binary: _Optional[_Union[BinarySource, _Mapping]] = ..., endpoint: _Optional[_Union[EndpointSource, _Mapping]] = ..., deterministic: bool = ..., label: _Optional[str] = ..., replicas: _Optional[int] = ..., cpus: _Optional[int] = ..., sticky: bool = ..., concurrent: bool = ..., record_json: _Optional[str] = ...) -> None: ...

class NativeSource(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class BinarySource(_message.Message):
    __slots__ = ("sha256", "file_name", "args", "limits")
    SHA256_FIELD_NUMBER: _ClassVar[int]
    FILE_NAME_FIELD_NUMBER: _ClassVar[int]
    ARGS_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    sha256: str
    file_name: str
    args: _containers.RepeatedScalarFieldContainer[str]
    limits: AgentLimits
    def __init__(self, sha256: _Optional[str] = ..., file_name: _Optional[str] = ..., args: _Optional[_Iterable[str]] = ..., limits: _Optional[_Union[AgentLimits, _Mapping]] = ...) -> None: ...

class EndpointSource(_message.Message):
    __slots__ = ("url", "name", "registered_unix_us")
    URL_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    REGISTERED_UNIX_US_FIELD_NUMBER: _ClassVar[int]
    url: str
    name: str
    registered_unix_us: int
    def __init__(self, url: _Optional[str] = ..., name: _Optional[str] = ..., registered_unix_us: _Optional[int] = ...) -> None: ...

class AgentLimits(_message.Message):
    __slots__ = ("start_timeout_us", "memory_bytes", "processes", "output_bytes", "disk_bytes", "cpu_us")
    START_TIMEOUT_US_FIELD_NUMBER: _ClassVar[int]
    MEMORY_BYTES_FIELD_NUMBER: _ClassVar[int]
    PROCESSES_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_BYTES_FIELD_NUMBER: _ClassVar[int]
    DISK_BYTES_FIELD_NUMBER: _ClassVar[int]
    CPU_US_FIELD_NUMBER: _ClassVar[int]
    start_timeout_us: int
    memory_bytes: int
    processes: int
    output_bytes: int
    disk_bytes: int
    cpu_us: int
    def __init__(self, start_timeout_us: _Optional[int] = ..., memory_bytes: _Optional[int] = ..., processes: _Optional[int] = ..., output_bytes: _Optional[int] = ..., disk_bytes: _Optional[int] = ..., cpu_us: _Optional[int] = ...) -> None: ...

class ReportRequest(_message.Message):
    __slots__ = ("worker_id", "boot_epoch", "tournament_id", "lease_id", "games", "session", "ticket")
    WORKER_ID_FIELD_NUMBER: _ClassVar[int]
    BOOT_EPOCH_FIELD_NUMBER: _ClassVar[int]
    TOURNAMENT_ID_FIELD_NUMBER: _ClassVar[int]
    LEASE_ID_FIELD_NUMBER: _ClassVar[int]
    GAMES_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    TICKET_FIELD_NUMBER: _ClassVar[int]
    worker_id: str
    boot_epoch: int
    tournament_id: str
    lease_id: int
    games: _containers.RepeatedCompositeFieldContainer[GameReport]
    session: bytes
    ticket: bytes
    def __init__(self, worker_id: _Optional[str] = ..., boot_epoch: _Optional[int] = ..., tournament_id: _Optional[str] = ..., lease_id: _Optional[int] = ..., games: _Optional[_Iterable[_Union[GameReport, _Mapping]]] = ..., session: _Optional[bytes] = ..., ticket: _Optional[bytes] = ...) -> None: ...

class GameReport(_message.Message):
    __slots__ = ("record", "timing", "void_reason", "fault_details", "unready", "answered", "unplayed", "unasked", "generation", "outputs", "rules_failed", "rules_unready", "replayed_by", "process", "owner")
    RECORD_FIELD_NUMBER: _ClassVar[int]
    TIMING_FIELD_NUMBER: _ClassVar[int]
    VOID_REASON_FIELD_NUMBER: _ClassVar[int]
    FAULT_DETAILS_FIELD_NUMBER: _ClassVar[int]
    UNREADY_FIELD_NUMBER: _ClassVar[int]
    ANSWERED_FIELD_NUMBER: _ClassVar[int]
    UNPLAYED_FIELD_NUMBER: _ClassVar[int]
    UNASKED_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    RULES_FAILED_FIELD_NUMBER: _ClassVar[int]
    RULES_UNREADY_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_BY_FIELD_NUMBER: _ClassVar[int]
    PROCESS_FIELD_NUMBER: _ClassVar[int]
    OWNER_FIELD_NUMBER: _ClassVar[int]
    record: _record_pb2.GameRecord
    timing: _record_pb2.GameTiming
    void_reason: str
    fault_details: _containers.RepeatedCompositeFieldContainer[FaultDetail]
    unready: UnreadyAgent
    answered: _containers.RepeatedScalarFieldContainer[int]
    unplayed: _containers.RepeatedScalarFieldContainer[int]
    unasked: _containers.RepeatedScalarFieldContainer[int]
    generation: int
    outputs: _containers.RepeatedCompositeFieldContainer[AgentOutput]
    rules_failed: bool
    rules_unready: bool
    replayed_by: str
    process: int
    owner: str
    def __init__(self, record: _Optional[_Union[_record_pb2.GameRecord, _Mapping]] = ..., timing: _Optional[_Union[_record_pb2.GameTiming, _Mapping]] = ..., void_reason: _Optional[str] = ..., fault_details: _Optional[_Iterable[_Union[FaultDetail, _Mapping]]] = ..., unready: _Optional[_Union[UnreadyAgent, _Mapping]] = ..., answered: _Optional[_Iterable[int]] = ..., unplayed: _Optional[_Iterable[int]] = ..., unasked: _Optional[_Iterable[int]] = ..., generation: _Optional[int] = ..., outputs: _Optional[_Iterable[_Union[AgentOutput, _Mapping]]] = ..., rules_failed: bool = ..., rules_unready: bool = ..., replayed_by: _Optional[str] = ..., process: _Optional[int] = ..., owner: _Optional[str] = ...) -> None: ...

class ReplayRequest(_message.Message):
    __slots__ = ("worker_id", "boot_epoch", "session", "wait_ms", "known_tournaments", "verdict")
    WORKER_ID_FIELD_NUMBER: _ClassVar[int]
    BOOT_EPOCH_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    WAIT_MS_FIELD_NUMBER: _ClassVar[int]
    KNOWN_TOURNAMENTS_FIELD_NUMBER: _ClassVar[int]
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    worker_id: str
    boot_epoch: int
    session: bytes
    wait_ms: int
    known_tournaments: _containers.RepeatedScalarFieldContainer[str]
    verdict: ReplayVerdict
    def __init__(self, worker_id: _Optional[str] = ..., boot_epoch: _Optional[int] = ..., session: _Optional[bytes] = ..., wait_ms: _Optional[int] = ..., known_tournaments: _Optional[_Iterable[str]] = ..., verdict: _Optional[_Union[ReplayVerdict, _Mapping]] = ...) -> None: ...

class ReplayVerdict(_message.Message):
    __slots__ = ("job_id", "problems", "failed", "rules_failed", "board")
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    PROBLEMS_FIELD_NUMBER: _ClassVar[int]
    FAILED_FIELD_NUMBER: _ClassVar[int]
    RULES_FAILED_FIELD_NUMBER: _ClassVar[int]
    BOARD_FIELD_NUMBER: _ClassVar[int]
    job_id: int
    problems: _containers.RepeatedCompositeFieldContainer[ReplayProblem]
    failed: str
    rules_failed: bool
    board: Board
    def __init__(self, job_id: _Optional[int] = ..., problems: _Optional[_Iterable[_Union[ReplayProblem, _Mapping]]] = ..., failed: _Optional[str] = ..., rules_failed: bool = ..., board: _Optional[_Union[Board, _Mapping]] = ...) -> None: ...

class Board(_message.Message):
    __slots__ = ("text", "svg", "problem")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    SVG_FIELD_NUMBER: _ClassVar[int]
    PROBLEM_FIELD_NUMBER: _ClassVar[int]
    text: str
    svg: str
    problem: str
    def __init__(self, text: _Optional[str] = ..., svg: _Optional[str] = ..., problem: _Optional[str] = ...) -> None: ...

class ReplayProblem(_message.Message):
    __slots__ = ("index", "problem")
    INDEX_FIELD_NUMBER: _ClassVar[int]
    PROBLEM_FIELD_NUMBER: _ClassVar[int]
    index: int
    problem: str
    def __init__(self, index: _Optional[int] = ..., problem: _Optional[str] = ...) -> None: ...

class ReplayResponse(_message.Message):
    __slots__ = ("job",)
    JOB_FIELD_NUMBER: _ClassVar[int]
    job: ReplayJob
    def __init__(self, job: _Optional[_Union[ReplayJob, _Mapping]] = ...) -> None: ...

class ReplayJob(_message.Message):
    __slots__ = ("job_id", "tournament_id", "setup", "records", "draw_after")
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    TOURNAMENT_ID_FIELD_NUMBER: _ClassVar[int]
    SETUP_FIELD_NUMBER: _ClassVar[int]
    RECORDS_FIELD_NUMBER: _ClassVar[int]
    DRAW_AFTER_FIELD_NUMBER: _ClassVar[int]
    job_id: int
    tournament_id: str
    setup: TournamentSetup
    records: _containers.RepeatedCompositeFieldContainer[RecordToReplay]
    draw_after: int
    def __init__(self, job_id: _Optional[int] = ..., tournament_id: _Optional[str] = ..., setup: _Optional[_Union[TournamentSetup, _Mapping]] = ..., records: _Optional[_Iterable[_Union[RecordToReplay, _Mapping]]] = ..., draw_after: _Optional[int] = ...) -> None: ...

class RecordToReplay(_message.Message):
    __slots__ = ("record", "from_book")
    RECORD_FIELD_NUMBER: _ClassVar[int]
    FROM_BOOK_FIELD_NUMBER: _ClassVar[int]
    record: _record_pb2.GameRecord
    from_book: bool
    def __init__(self, record: _Optional[_Union[_record_pb2.GameRecord, _Mapping]] = ..., from_book: bool = ...) -> None: ...

class AgentOutput(_message.Message):
    __slots__ = ("seat", "text", "bytes")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    seat: int
    text: str
    bytes: int
    def __init__(self, seat: _Optional[int] = ..., text: _Optional[str] = ..., bytes: _Optional[int] = ...) -> None: ...

class FaultDetail(_message.Message):
    __slots__ = ("seat", "message", "stderr_tail")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    STDERR_TAIL_FIELD_NUMBER: _ClassVar[int]
    seat: int
    message: str
    stderr_tail: str
    def __init__(self, seat: _Optional[int] = ..., message: _Optional[str] = ..., stderr_tail: _Optional[str] = ...) -> None: ...

class ReportResponse(_message.Message):
    __slots__ = ("differing",)
    DIFFERING_FIELD_NUMBER: _ClassVar[int]
    differing: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, differing: _Optional[_Iterable[int]] = ...) -> None: ...

class HeartbeatRequest(_message.Message):
    __slots__ = ("worker_id", "boot_epoch", "leases", "settled_calls", "decisions", "session")
    WORKER_ID_FIELD_NUMBER: _ClassVar[int]
    BOOT_EPOCH_FIELD_NUMBER: _ClassVar[int]
    LEASES_FIELD_NUMBER: _ClassVar[int]
    SETTLED_CALLS_FIELD_NUMBER: _ClassVar[int]
    DECISIONS_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    worker_id: str
    boot_epoch: int
    leases: _containers.RepeatedCompositeFieldContainer[LeaseProgress]
    settled_calls: int
    decisions: _containers.RepeatedCompositeFieldContainer[TournamentDecisions]
    session: bytes
    def __init__(self, worker_id: _Optional[str] = ..., boot_epoch: _Optional[int] = ..., leases: _Optional[_Iterable[_Union[LeaseProgress, _Mapping]]] = ..., settled_calls: _Optional[int] = ..., decisions: _Optional[_Iterable[_Union[TournamentDecisions, _Mapping]]] = ..., session: _Optional[bytes] = ...) -> None: ...

class TournamentDecisions(_message.Message):
    __slots__ = ("tournament_id", "decisions")
    TOURNAMENT_ID_FIELD_NUMBER: _ClassVar[int]
    DECISIONS_FIELD_NUMBER: _ClassVar[int]
    tournament_id: str
    decisions: int
    def __init__(self, tournament_id: _Optional[str] = ..., decisions: _Optional[int] = ...) -> None: ...

class LeaveRequest(_message.Message):
    __slots__ = ("worker_id", "boot_epoch", "session")
    WORKER_ID_FIELD_NUMBER: _ClassVar[int]
    BOOT_EPOCH_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    worker_id: str
    boot_epoch: int
    session: bytes
    def __init__(self, worker_id: _Optional[str] = ..., boot_epoch: _Optional[int] = ..., session: _Optional[bytes] = ...) -> None: ...

class LeaveResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class LeaseProgress(_message.Message):
    __slots__ = ("lease_id", "plies")
    LEASE_ID_FIELD_NUMBER: _ClassVar[int]
    PLIES_FIELD_NUMBER: _ClassVar[int]
    lease_id: int
    plies: int
    def __init__(self, lease_id: _Optional[int] = ..., plies: _Optional[int] = ...) -> None: ...

class HeartbeatResponse(_message.Message):
    __slots__ = ("ended_leases",)
    ENDED_LEASES_FIELD_NUMBER: _ClassVar[int]
    ended_leases: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, ended_leases: _Optional[_Iterable[int]] = ...) -> None: ...

class FetchBinaryRequest(_message.Message):
    __slots__ = ("sha256", "worker_id", "boot_epoch", "session")
    SHA256_FIELD_NUMBER: _ClassVar[int]
    WORKER_ID_FIELD_NUMBER: _ClassVar[int]
    BOOT_EPOCH_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    sha256: str
    worker_id: str
    boot_epoch: int
    session: bytes
    def __init__(self, sha256: _Optional[str] = ..., worker_id: _Optional[str] = ..., boot_epoch: _Optional[int] = ..., session: _Optional[bytes] = ...) -> None: ...

class FetchBinaryResponse(_message.Message):
    __slots__ = ("chunk",)
    CHUNK_FIELD_NUMBER: _ClassVar[int]
    chunk: bytes
    def __init__(self, chunk: _Optional[bytes] = ...) -> None: ...
