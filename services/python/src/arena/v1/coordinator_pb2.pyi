from arena.v1 import access_pb2 as _access_pb2
from arena.v1 import agent_pb2 as _agent_pb2
from arena.v1 import record_pb2 as _record_pb2
from arena.v1 import worker_pb2 as _worker_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class TournamentState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TOURNAMENT_STATE_UNSPECIFIED: _ClassVar[TournamentState]
    TOURNAMENT_STATE_RUNNING: _ClassVar[TournamentState]
    TOURNAMENT_STATE_PAUSED: _ClassVar[TournamentState]
    TOURNAMENT_STATE_FINISHED: _ClassVar[TournamentState]
    TOURNAMENT_STATE_CANCELLED: _ClassVar[TournamentState]

class AgentChangeKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    AGENT_CHANGE_KIND_UNSPECIFIED: _ClassVar[AgentChangeKind]
    AGENT_CHANGE_KIND_ADD: _ClassVar[AgentChangeKind]
    AGENT_CHANGE_KIND_REPLACE: _ClassVar[AgentChangeKind]
    AGENT_CHANGE_KIND_BENCH: _ClassVar[AgentChangeKind]
    AGENT_CHANGE_KIND_BAN: _ClassVar[AgentChangeKind]

class ThirdPlay(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    THIRD_PLAY_UNSPECIFIED: _ClassVar[ThirdPlay]
    THIRD_PLAY_DURABLE: _ClassVar[ThirdPlay]
    THIRD_PLAY_OTHER: _ClassVar[ThirdPlay]
    THIRD_PLAY_NEITHER: _ClassVar[ThirdPlay]
TOURNAMENT_STATE_UNSPECIFIED: TournamentState
TOURNAMENT_STATE_RUNNING: TournamentState
TOURNAMENT_STATE_PAUSED: TournamentState
TOURNAMENT_STATE_FINISHED: TournamentState
TOURNAMENT_STATE_CANCELLED: TournamentState
AGENT_CHANGE_KIND_UNSPECIFIED: AgentChangeKind
AGENT_CHANGE_KIND_ADD: AgentChangeKind
AGENT_CHANGE_KIND_REPLACE: AgentChangeKind
AGENT_CHANGE_KIND_BENCH: AgentChangeKind
AGENT_CHANGE_KIND_BAN: AgentChangeKind
THIRD_PLAY_UNSPECIFIED: ThirdPlay
THIRD_PLAY_DURABLE: ThirdPlay
THIRD_PLAY_OTHER: ThirdPlay
THIRD_PLAY_NEITHER: ThirdPlay

class BackupStoreRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class BackupStoreResponse(_message.Message):
    __slots__ = ("chunk", "done")
    CHUNK_FIELD_NUMBER: _ClassVar[int]
    DONE_FIELD_NUMBER: _ClassVar[int]
    chunk: bytes
    done: BackupDone
    def __init__(self, chunk: _Optional[bytes] = ..., done: _Optional[_Union[BackupDone, _Mapping]] = ...) -> None: ...

class BackupDone(_message.Message):
    __slots__ = ("games", "documents", "binaries", "bytes", "events")
    GAMES_FIELD_NUMBER: _ClassVar[int]
    DOCUMENTS_FIELD_NUMBER: _ClassVar[int]
    BINARIES_FIELD_NUMBER: _ClassVar[int]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    games: int
    documents: int
    binaries: int
    bytes: int
    events: int
    def __init__(self, games: _Optional[int] = ..., documents: _Optional[int] = ..., binaries: _Optional[int] = ..., bytes: _Optional[int] = ..., events: _Optional[int] = ...) -> None: ...

class UploadBinaryRequest(_message.Message):
    __slots__ = ("header", "chunk")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    CHUNK_FIELD_NUMBER: _ClassVar[int]
    header: BinaryHeader
    chunk: bytes
    def __init__(self, header: _Optional[_Union[BinaryHeader, _Mapping]] = ..., chunk: _Optional[bytes] = ...) -> None: ...

class BinaryHeader(_message.Message):
    __slots__ = ("sha256", "size_bytes")
    SHA256_FIELD_NUMBER: _ClassVar[int]
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    sha256: str
    size_bytes: int
    def __init__(self, sha256: _Optional[str] = ..., size_bytes: _Optional[int] = ...) -> None: ...

class UploadBinaryResponse(_message.Message):
    __slots__ = ("sha256", "known")
    SHA256_FIELD_NUMBER: _ClassVar[int]
    KNOWN_FIELD_NUMBER: _ClassVar[int]
    sha256: str
    known: bool
    def __init__(self, sha256: _Optional[str] = ..., known: bool = ...) -> None: ...

class Agent(_message.Message):
    __slots__ = ("name", "version", "bot", "options", "native", "binary", "endpoint", "description", "registered_unix_us", "content", "owner", "replicas", "cpus")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    BOT_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    NATIVE_FIELD_NUMBER: _ClassVar[int]
    BINARY_FIELD_NUMBER: _ClassVar[int]
    ENDPOINT_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    REGISTERED_UNIX_US_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    OWNER_FIELD_NUMBER: _ClassVar[int]
    REPLICAS_FIELD_NUMBER: _ClassVar[int]
    CPUS_FIELD_NUMBER: _ClassVar[int]
    name: str
    version: str
    bot: str
    options: _containers.RepeatedCompositeFieldContainer[_agent_pb2.OptionValue]
    native: _worker_pb2.NativeSource
    binary: _worker_pb2.BinarySource
    endpoint: _worker_pb2.EndpointSource
    description: _agent_pb2.DescribeResponse
    registered_unix_us: int
    content: str
    owner: str
    replicas: int
    cpus: int
    def __init__(self, name: _Optional[str] = ..., version: _Optional[str] = ..., bot: _Optional[str] = ..., options: _Optional[_Iterable[_Union[_agent_pb2.OptionValue, _Mapping]]] = ..., native: _Optional[_Union[_worker_pb2.NativeSource, _Mapping]] = ..., binary: _Optional[_Union[_worker_pb2.BinarySource, _Mapping]] = ..., endpoint: _Optional[_Union[_worker_pb2.EndpointSource, _Mapping]] = ..., description: _Optional[_Union[_agent_pb2.DescribeResponse, _Mapping]] = ..., registered_unix_us: _Optional[int] = ..., content: _Optional[str] = ..., owner: _Optional[str] = ..., replicas: _Optional[int] = ..., cpus: _Optional[int] = ...) -> None: ...

class RegisterAgentRequest(_message.Message):
    __slots__ = ("request_id", "agent", "replace")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    REPLACE_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    agent: Agent
    replace: bool
    def __init__(self, request_id: _Optional[str] = ..., agent: _Optional[_Union[Agent, _Mapping]] = ..., replace: bool = ...) -> None: ...

class RegisterAgentResponse(_message.Message):
    __slots__ = ("agent",)
    AGENT_FIELD_NUMBER: _ClassVar[int]
    agent: Agent
    def __init__(self, agent: _Optional[_Union[Agent, _Mapping]] = ...) -> None: ...

class GetAgentRequest(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class GetAgentResponse(_message.Message):
    __slots__ = ("agent",)
    AGENT_FIELD_NUMBER: _ClassVar[int]
    agent: Agent
    def __init__(self, agent: _Optional[_Union[Agent, _Mapping]] = ...) -> None: ...

class ListAgentsRequest(_message.Message):
    __slots__ = ("page_size", "page_token")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListAgentsResponse(_message.Message):
    __slots__ = ("agents", "next_page_token")
    AGENTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    agents: _containers.RepeatedCompositeFieldContainer[Agent]
    next_page_token: str
    def __init__(self, agents: _Optional[_Iterable[_Union[Agent, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class RemoveAgentRequest(_message.Message):
    __slots__ = ("request_id", "name")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    name: str
    def __init__(self, request_id: _Optional[str] = ..., name: _Optional[str] = ...) -> None: ...

class RemoveAgentResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Ruleset(_message.Message):
    __slots__ = ("name", "rules", "owner", "registered_unix_us")
    NAME_FIELD_NUMBER: _ClassVar[int]
    RULES_FIELD_NUMBER: _ClassVar[int]
    OWNER_FIELD_NUMBER: _ClassVar[int]
    REGISTERED_UNIX_US_FIELD_NUMBER: _ClassVar[int]
    name: str
    rules: _worker_pb2.RulesPackage
    owner: str
    registered_unix_us: int
    def __init__(self, name: _Optional[str] = ..., rules: _Optional[_Union[_worker_pb2.RulesPackage, _Mapping]] = ..., owner: _Optional[str] = ..., registered_unix_us: _Optional[int] = ...) -> None: ...

class RegisterRulesetRequest(_message.Message):
    __slots__ = ("request_id", "ruleset", "replace")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    RULESET_FIELD_NUMBER: _ClassVar[int]
    REPLACE_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    ruleset: Ruleset
    replace: bool
    def __init__(self, request_id: _Optional[str] = ..., ruleset: _Optional[_Union[Ruleset, _Mapping]] = ..., replace: bool = ...) -> None: ...

class RegisterRulesetResponse(_message.Message):
    __slots__ = ("ruleset",)
    RULESET_FIELD_NUMBER: _ClassVar[int]
    ruleset: Ruleset
    def __init__(self, ruleset: _Optional[_Union[Ruleset, _Mapping]] = ...) -> None: ...

class ListRulesetsRequest(_message.Message):
    __slots__ = ("page_size", "page_token")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListRulesetsResponse(_message.Message):
    __slots__ = ("rulesets", "next_page_token")
    RULESETS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    rulesets: _containers.RepeatedCompositeFieldContainer[Ruleset]
    next_page_token: str
    def __init__(self, rulesets: _Optional[_Iterable[_Union[Ruleset, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class RemoveRulesetRequest(_message.Message):
    __slots__ = ("request_id", "name")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    name: str
    def __init__(self, request_id: _Optional[str] = ..., name: _Optional[str] = ...) -> None: ...

class RemoveRulesetResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class PlanTournamentRequest(_message.Message):
    __slots__ = ("spec_toml", "seed")
    SPEC_TOML_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    spec_toml: str
    seed: str
    def __init__(self, spec_toml: _Optional[str] = ..., seed: _Optional[str] = ...) -> None: ...

class PlanTournamentResponse(_message.Message):
    __slots__ = ("tournament", "games_least", "games_most", "games_expected")
    TOURNAMENT_FIELD_NUMBER: _ClassVar[int]
    GAMES_LEAST_FIELD_NUMBER: _ClassVar[int]
    GAMES_MOST_FIELD_NUMBER: _ClassVar[int]
    GAMES_EXPECTED_FIELD_NUMBER: _ClassVar[int]
    tournament: Tournament
    games_least: int
    games_most: int
    games_expected: int
    def __init__(self, tournament: _Optional[_Union[Tournament, _Mapping]] = ..., games_least: _Optional[int] = ..., games_most: _Optional[int] = ..., games_expected: _Optional[int] = ...) -> None: ...

class StartTournamentRequest(_message.Message):
    __slots__ = ("request_id", "spec_toml", "seed", "again")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    SPEC_TOML_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    AGAIN_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    spec_toml: str
    seed: str
    again: bool
    def __init__(self, request_id: _Optional[str] = ..., spec_toml: _Optional[str] = ..., seed: _Optional[str] = ..., again: bool = ...) -> None: ...

class StartTournamentResponse(_message.Message):
    __slots__ = ("tournament", "created", "notes")
    TOURNAMENT_FIELD_NUMBER: _ClassVar[int]
    CREATED_FIELD_NUMBER: _ClassVar[int]
    NOTES_FIELD_NUMBER: _ClassVar[int]
    tournament: Tournament
    created: bool
    notes: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, tournament: _Optional[_Union[Tournament, _Mapping]] = ..., created: bool = ..., notes: _Optional[_Iterable[str]] = ...) -> None: ...

class Tournament(_message.Message):
    __slots__ = ("tournament_id", "name", "state", "spec_json", "spec_toml", "setup", "games_total", "games_done", "created_unix_us", "finished_unix_us", "audits", "verdict_json", "pause", "unplayed_limit", "audit_share", "sandbox", "accepted_games", "accepted_unplayed", "generation", "earlier", "ruleset", "format", "owner", "seed_commitment", "seed_nonce", "removal")
    TOURNAMENT_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    SPEC_JSON_FIELD_NUMBER: _ClassVar[int]
    SPEC_TOML_FIELD_NUMBER: _ClassVar[int]
    SETUP_FIELD_NUMBER: _ClassVar[int]
    GAMES_TOTAL_FIELD_NUMBER: _ClassVar[int]
    GAMES_DONE_FIELD_NUMBER: _ClassVar[int]
    CREATED_UNIX_US_FIELD_NUMBER: _ClassVar[int]
    FINISHED_UNIX_US_FIELD_NUMBER: _ClassVar[int]
    AUDITS_FIELD_NUMBER: _ClassVar[int]
    VERDICT_JSON_FIELD_NUMBER: _ClassVar[int]
    PAUSE_FIELD_NUMBER: _ClassVar[int]
    UNPLAYED_LIMIT_FIELD_NUMBER: _ClassVar[int]
    AUDIT_SHARE_FIELD_NUMBER: _ClassVar[int]
    SANDBOX_FIELD_NUMBER: _ClassVar[int]
    ACCEPTED_GAMES_FIELD_NUMBER: _ClassVar[int]
    ACCEPTED_UNPLAYED_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    EARLIER_FIELD_NUMBER: _ClassVar[int]
    RULESET_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    OWNER_FIELD_NUMBER: _ClassVar[int]
    SEED_COMMITMENT_FIELD_NUMBER: _ClassVar[int]
    SEED_NONCE_FIELD_NUMBER: _ClassVar[int]
    REMOVAL_FIELD_NUMBER: _ClassVar[int]
    tournament_id: str
    name: str
    state: TournamentState
    spec_json: str
    spec_toml: str
    setup: _worker_pb2.TournamentSetup
    games_total: int
    games_done: int
    created_unix_us: int
    finished_unix_us: int
    audits: Audits
    verdict_json: str
    pause: Pause
    unplayed_limit: float
    audit_share: float
    sandbox: str
    accepted_games: int
    accepted_unplayed: int
    generation: int
    earlier: _containers.RepeatedCompositeFieldContainer[Generation]
    ruleset: str
    format: str
    owner: str
    seed_commitment: str
    seed_nonce: str
    removal: Removal
    def __init__(self, tournament_id: _Optional[str] = ..., name: _Optional[str] = ..., state: _Optional[_Union[TournamentState, str]] = ..., spec_json: _Optional[str] = ..., spec_toml: _Optional[str] = ..., setup: _Optional[_Union[_worker_pb2.TournamentSetup, _Mapping]] = ..., games_total: _Optional[int] = ..., games_done: _Optional[int] = ..., created_unix_us: _Optional[int] = ..., finished_unix_us: _Optional[int] = ..., audits: _Optional[_Union[Audits, _Mapping]] = ..., verdict_json: _Optional[str] = ..., pause: _Optional[_Union[Pause, _Mapping]] = ..., unplayed_limit: _Optional[float] = ..., audit_share: _Optional[float] = ..., sandbox: _Optional[str] = ..., accepted_games: _Optional[int] = ..., accepted_unplayed: _Optional[int] = ..., generation: _Optional[int] = ..., earlier: _Optional[_Iterable[_Union[Generation, _Mapping]]] = ..., ruleset: _Optional[str] = ..., format: _Optional[str] = ..., owner: _Optional[str] = ..., seed_commitment: _Optional[str] = ..., seed_nonce: _Optional[str] = ..., removal: _Optional[_Union[Removal, _Mapping]] = ...) -> None: ...

class Removal(_message.Message):
    __slots__ = ("by", "unix_us", "spec_sha256", "archive_sha256")
    BY_FIELD_NUMBER: _ClassVar[int]
    UNIX_US_FIELD_NUMBER: _ClassVar[int]
    SPEC_SHA256_FIELD_NUMBER: _ClassVar[int]
    ARCHIVE_SHA256_FIELD_NUMBER: _ClassVar[int]
    by: str
    unix_us: int
    spec_sha256: str
    archive_sha256: str
    def __init__(self, by: _Optional[str] = ..., unix_us: _Optional[int] = ..., spec_sha256: _Optional[str] = ..., archive_sha256: _Optional[str] = ...) -> None: ...

class Generation(_message.Message):
    __slots__ = ("number", "games", "unplayed", "replaced", "ended_unix_us", "verdict_json", "unsound")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    GAMES_FIELD_NUMBER: _ClassVar[int]
    UNPLAYED_FIELD_NUMBER: _ClassVar[int]
    REPLACED_FIELD_NUMBER: _ClassVar[int]
    ENDED_UNIX_US_FIELD_NUMBER: _ClassVar[int]
    VERDICT_JSON_FIELD_NUMBER: _ClassVar[int]
    UNSOUND_FIELD_NUMBER: _ClassVar[int]
    number: int
    games: int
    unplayed: int
    replaced: int
    ended_unix_us: int
    verdict_json: str
    unsound: int
    def __init__(self, number: _Optional[int] = ..., games: _Optional[int] = ..., unplayed: _Optional[int] = ..., replaced: _Optional[int] = ..., ended_unix_us: _Optional[int] = ..., verdict_json: _Optional[str] = ..., unsound: _Optional[int] = ...) -> None: ...

class Pause(_message.Message):
    __slots__ = ("kind", "agent", "workers", "error", "reason", "advice")
    KIND_FIELD_NUMBER: _ClassVar[int]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    WORKERS_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    ADVICE_FIELD_NUMBER: _ClassVar[int]
    kind: str
    agent: str
    workers: _containers.RepeatedScalarFieldContainer[str]
    error: str
    reason: str
    advice: str
    def __init__(self, kind: _Optional[str] = ..., agent: _Optional[str] = ..., workers: _Optional[_Iterable[str]] = ..., error: _Optional[str] = ..., reason: _Optional[str] = ..., advice: _Optional[str] = ...) -> None: ...

class Course(_message.Message):
    __slots__ = ("round", "rounds", "llr", "llr_low", "llr_high", "text")
    ROUND_FIELD_NUMBER: _ClassVar[int]
    ROUNDS_FIELD_NUMBER: _ClassVar[int]
    LLR_FIELD_NUMBER: _ClassVar[int]
    LLR_LOW_FIELD_NUMBER: _ClassVar[int]
    LLR_HIGH_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    round: int
    rounds: int
    llr: float
    llr_low: float
    llr_high: float
    text: str
    def __init__(self, round: _Optional[int] = ..., rounds: _Optional[int] = ..., llr: _Optional[float] = ..., llr_low: _Optional[float] = ..., llr_high: _Optional[float] = ..., text: _Optional[str] = ...) -> None: ...

class Audits(_message.Message):
    __slots__ = ("due", "agreed", "differing", "waiting", "given_up", "disputed", "refuted", "sampled", "same_owner", "contradicted", "claims", "pending", "unverified")
    DUE_FIELD_NUMBER: _ClassVar[int]
    AGREED_FIELD_NUMBER: _ClassVar[int]
    DIFFERING_FIELD_NUMBER: _ClassVar[int]
    WAITING_FIELD_NUMBER: _ClassVar[int]
    GIVEN_UP_FIELD_NUMBER: _ClassVar[int]
    DISPUTED_FIELD_NUMBER: _ClassVar[int]
    REFUTED_FIELD_NUMBER: _ClassVar[int]
    SAMPLED_FIELD_NUMBER: _ClassVar[int]
    SAME_OWNER_FIELD_NUMBER: _ClassVar[int]
    CONTRADICTED_FIELD_NUMBER: _ClassVar[int]
    CLAIMS_FIELD_NUMBER: _ClassVar[int]
    PENDING_FIELD_NUMBER: _ClassVar[int]
    UNVERIFIED_FIELD_NUMBER: _ClassVar[int]
    due: int
    agreed: int
    differing: int
    waiting: int
    given_up: int
    disputed: int
    refuted: int
    sampled: int
    same_owner: int
    contradicted: int
    claims: int
    pending: int
    unverified: int
    def __init__(self, due: _Optional[int] = ..., agreed: _Optional[int] = ..., differing: _Optional[int] = ..., waiting: _Optional[int] = ..., given_up: _Optional[int] = ..., disputed: _Optional[int] = ..., refuted: _Optional[int] = ..., sampled: _Optional[int] = ..., same_owner: _Optional[int] = ..., contradicted: _Optional[int] = ..., claims: _Optional[int] = ..., pending: _Optional[int] = ..., unverified: _Optional[int] = ...) -> None: ...

class GetTournamentRequest(_message.Message):
    __slots__ = ("tournament_id",)
    TOURNAMENT_ID_FIELD_NUMBER: _ClassVar[int]
    tournament_id: str
    def __init__(self, tournament_id: _Optional[str] = ...) -> None: ...

class GetTournamentResponse(_message.Message):
    __slots__ = ("tournament",)
    TOURNAMENT_FIELD_NUMBER: _ClassVar[int]
    tournament: Tournament
    def __init__(self, tournament: _Optional[_Union[Tournament, _Mapping]] = ...) -> None: ...

class ListTournamentsRequest(_message.Message):
    __slots__ = ("page_size", "page_token", "removed")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    REMOVED_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    removed: bool
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., removed: bool = ...) -> None: ...

class ListTournamentsResponse(_message.Message):
    __slots__ = ("tournaments", "next_page_token")
    TOURNAMENTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    tournaments: _containers.RepeatedCompositeFieldContainer[Tournament]
    next_page_token: str
    def __init__(self, tournaments: _Optional[_Iterable[_Union[Tournament, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class PauseTournamentRequest(_message.Message):
    __slots__ = ("request_id", "tournament_id")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    TOURNAMENT_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    tournament_id: str
    def __init__(self, request_id: _Optional[str] = ..., tournament_id: _Optional[str] = ...) -> None: ...

class PauseTournamentResponse(_message.Message):
    __slots__ = ("tournament",)
    TOURNAMENT_FIELD_NUMBER: _ClassVar[int]
    tournament: Tournament
    def __init__(self, tournament: _Optional[_Union[Tournament, _Mapping]] = ...) -> None: ...

class ResumeTournamentRequest(_message.Message):
    __slots__ = ("request_id", "tournament_id")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    TOURNAMENT_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    tournament_id: str
    def __init__(self, request_id: _Optional[str] = ..., tournament_id: _Optional[str] = ...) -> None: ...

class ResumeTournamentResponse(_message.Message):
    __slots__ = ("tournament",)
    TOURNAMENT_FIELD_NUMBER: _ClassVar[int]
    tournament: Tournament
    def __init__(self, tournament: _Optional[_Union[Tournament, _Mapping]] = ...) -> None: ...

class RetryTournamentRequest(_message.Message):
    __slots__ = ("request_id", "tournament_id")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    TOURNAMENT_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    tournament_id: str
    def __init__(self, request_id: _Optional[str] = ..., tournament_id: _Optional[str] = ...) -> None: ...

class RetryTournamentResponse(_message.Message):
    __slots__ = ("tournament",)
    TOURNAMENT_FIELD_NUMBER: _ClassVar[int]
    tournament: Tournament
    def __init__(self, tournament: _Optional[_Union[Tournament, _Mapping]] = ...) -> None: ...

class ChangeAgentsRequest(_message.Message):
    __slots__ = ("request_id", "tournament_id", "kind", "agent", "reason", "at_blocks")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    TOURNAMENT_ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    WITH_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    AT_BLOCKS_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    tournament_id: str
    kind: AgentChangeKind
    agent: str
    reason: str
    at_blocks: int
    def __init__(self, request_id: _Optional[str] = ..., tournament_id: _Optional[str] = ..., kind: _Optional[_Union[AgentChangeKind, str]] = ..., agent: _Optional[str] = ..., reason: _Optional[str] = ..., at_blocks: _Optional[int] = ..., **kwargs) -> None: ...

class ChangeAgentsResponse(_message.Message):
    __slots__ = ("tournament", "entry", "at_blocks")
    TOURNAMENT_FIELD_NUMBER: _ClassVar[int]
    ENTRY_FIELD_NUMBER: _ClassVar[int]
    AT_BLOCKS_FIELD_NUMBER: _ClassVar[int]
    tournament: Tournament
    entry: str
    at_blocks: int
    def __init__(self, tournament: _Optional[_Union[Tournament, _Mapping]] = ..., entry: _Optional[str] = ..., at_blocks: _Optional[int] = ...) -> None: ...

class RemoveTournamentRequest(_message.Message):
    __slots__ = ("request_id", "tournament_id", "archive_sha256")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    TOURNAMENT_ID_FIELD_NUMBER: _ClassVar[int]
    ARCHIVE_SHA256_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    tournament_id: str
    archive_sha256: str
    def __init__(self, request_id: _Optional[str] = ..., tournament_id: _Optional[str] = ..., archive_sha256: _Optional[str] = ...) -> None: ...

class RemoveTournamentResponse(_message.Message):
    __slots__ = ("tournament",)
    TOURNAMENT_FIELD_NUMBER: _ClassVar[int]
    tournament: Tournament
    def __init__(self, tournament: _Optional[_Union[Tournament, _Mapping]] = ...) -> None: ...

class CancelTournamentRequest(_message.Message):
    __slots__ = ("request_id", "tournament_id")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    TOURNAMENT_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    tournament_id: str
    def __init__(self, request_id: _Optional[str] = ..., tournament_id: _Optional[str] = ...) -> None: ...

class CancelTournamentResponse(_message.Message):
    __slots__ = ("tournament",)
    TOURNAMENT_FIELD_NUMBER: _ClassVar[int]
    tournament: Tournament
    def __init__(self, tournament: _Optional[_Union[Tournament, _Mapping]] = ...) -> None: ...

class WatchTournamentRequest(_message.Message):
    __slots__ = ("tournament_id",)
    TOURNAMENT_ID_FIELD_NUMBER: _ClassVar[int]
    tournament_id: str
    def __init__(self, tournament_id: _Optional[str] = ...) -> None: ...

class WatchTournamentResponse(_message.Message):
    __slots__ = ("tournament_id", "state", "games_total", "games_done", "games_per_second", "workers", "faults", "standings", "pause", "decisions_per_second")
    TOURNAMENT_ID_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    GAMES_TOTAL_FIELD_NUMBER: _ClassVar[int]
    GAMES_DONE_FIELD_NUMBER: _ClassVar[int]
    GAMES_PER_SECOND_FIELD_NUMBER: _ClassVar[int]
    WORKERS_FIELD_NUMBER: _ClassVar[int]
    FAULTS_FIELD_NUMBER: _ClassVar[int]
    STANDINGS_FIELD_NUMBER: _ClassVar[int]
    PAUSE_FIELD_NUMBER: _ClassVar[int]
    DECISIONS_PER_SECOND_FIELD_NUMBER: _ClassVar[int]
    tournament_id: str
    state: TournamentState
    games_total: int
    games_done: int
    games_per_second: float
    workers: int
    faults: int
    standings: Standings
    pause: Pause
    decisions_per_second: float
    def __init__(self, tournament_id: _Optional[str] = ..., state: _Optional[_Union[TournamentState, str]] = ..., games_total: _Optional[int] = ..., games_done: _Optional[int] = ..., games_per_second: _Optional[float] = ..., workers: _Optional[int] = ..., faults: _Optional[int] = ..., standings: _Optional[_Union[Standings, _Mapping]] = ..., pause: _Optional[_Union[Pause, _Mapping]] = ..., decisions_per_second: _Optional[float] = ...) -> None: ...

class GetStandingsRequest(_message.Message):
    __slots__ = ("tournament_id", "pairs", "anchor", "generation")
    TOURNAMENT_ID_FIELD_NUMBER: _ClassVar[int]
    PAIRS_FIELD_NUMBER: _ClassVar[int]
    ANCHOR_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    tournament_id: str
    pairs: bool
    anchor: str
    generation: int
    def __init__(self, tournament_id: _Optional[str] = ..., pairs: bool = ..., anchor: _Optional[str] = ..., generation: _Optional[int] = ...) -> None: ...

class GetStandingsResponse(_message.Message):
    __slots__ = ("standings",)
    STANDINGS_FIELD_NUMBER: _ClassVar[int]
    standings: Standings
    def __init__(self, standings: _Optional[_Union[Standings, _Mapping]] = ...) -> None: ...

class Standings(_message.Message):
    __slots__ = ("tournament_id", "state", "games", "games_total", "agents", "notes", "audits", "verdict_json", "course", "seats", "pairing", "pairs", "ratings", "starter_drawn", "adaptive", "openings", "pause", "games_clean", "generation", "generations", "opponents_differ", "workers_deviating")
    TOURNAMENT_ID_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    GAMES_FIELD_NUMBER: _ClassVar[int]
    GAMES_TOTAL_FIELD_NUMBER: _ClassVar[int]
    AGENTS_FIELD_NUMBER: _ClassVar[int]
    NOTES_FIELD_NUMBER: _ClassVar[int]
    AUDITS_FIELD_NUMBER: _ClassVar[int]
    VERDICT_JSON_FIELD_NUMBER: _ClassVar[int]
    COURSE_FIELD_NUMBER: _ClassVar[int]
    SEATS_FIELD_NUMBER: _ClassVar[int]
    PAIRING_FIELD_NUMBER: _ClassVar[int]
    PAIRS_FIELD_NUMBER: _ClassVar[int]
    RATINGS_FIELD_NUMBER: _ClassVar[int]
    STARTER_DRAWN_FIELD_NUMBER: _ClassVar[int]
    ADAPTIVE_FIELD_NUMBER: _ClassVar[int]
    OPENINGS_FIELD_NUMBER: _ClassVar[int]
    PAUSE_FIELD_NUMBER: _ClassVar[int]
    GAMES_CLEAN_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    GENERATIONS_FIELD_NUMBER: _ClassVar[int]
    OPPONENTS_DIFFER_FIELD_NUMBER: _ClassVar[int]
    WORKERS_DEVIATING_FIELD_NUMBER: _ClassVar[int]
    tournament_id: str
    state: TournamentState
    games: int
    games_total: int
    agents: _containers.RepeatedCompositeFieldContainer[AgentStanding]
    notes: _containers.RepeatedScalarFieldContainer[str]
    audits: Audits
    verdict_json: str
    course: Course
    seats: _containers.RepeatedCompositeFieldContainer[SeatStanding]
    pairing: Pairing
    pairs: _containers.RepeatedCompositeFieldContainer[PairStanding]
    ratings: Ratings
    starter_drawn: bool
    adaptive: bool
    openings: Openings
    pause: Pause
    games_clean: int
    generation: int
    generations: int
    opponents_differ: bool
    workers_deviating: int
    def __init__(self, tournament_id: _Optional[str] = ..., state: _Optional[_Union[TournamentState, str]] = ..., games: _Optional[int] = ..., games_total: _Optional[int] = ..., agents: _Optional[_Iterable[_Union[AgentStanding, _Mapping]]] = ..., notes: _Optional[_Iterable[str]] = ..., audits: _Optional[_Union[Audits, _Mapping]] = ..., verdict_json: _Optional[str] = ..., course: _Optional[_Union[Course, _Mapping]] = ..., seats: _Optional[_Iterable[_Union[SeatStanding, _Mapping]]] = ..., pairing: _Optional[_Union[Pairing, _Mapping]] = ..., pairs: _Optional[_Iterable[_Union[PairStanding, _Mapping]]] = ..., ratings: _Optional[_Union[Ratings, _Mapping]] = ..., starter_drawn: bool = ..., adaptive: bool = ..., openings: _Optional[_Union[Openings, _Mapping]] = ..., pause: _Optional[_Union[Pause, _Mapping]] = ..., games_clean: _Optional[int] = ..., generation: _Optional[int] = ..., generations: _Optional[int] = ..., opponents_differ: bool = ..., workers_deviating: _Optional[int] = ...) -> None: ...

class Openings(_message.Message):
    __slots__ = ("plies", "size", "complete", "from_book")
    PLIES_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    COMPLETE_FIELD_NUMBER: _ClassVar[int]
    FROM_BOOK_FIELD_NUMBER: _ClassVar[int]
    plies: int
    size: int
    complete: bool
    from_book: bool
    def __init__(self, plies: _Optional[int] = ..., size: _Optional[int] = ..., complete: bool = ..., from_book: bool = ...) -> None: ...

class AgentStanding(_message.Message):
    __slots__ = ("agent", "games", "wins", "draws", "losses", "voids", "faults", "faults_by_kind", "score", "score_low", "score_high", "plies_mean", "win_rate", "win_rate_low", "win_rate_high", "latency_us_p50", "latency_us_p99", "waiting_us_p50", "waiting_us_p99", "blocks", "last_fault", "non_deterministic", "score_anytime_low", "score_anytime_high", "points", "ranks", "rating", "rating_low", "rating_high", "nash", "place", "score_adjusted", "score_adjusted_low", "score_adjusted_high", "luck_mean", "luck_share", "luck_games_saved", "score_df", "tuning_horizon", "rating_anytime_low", "rating_anytime_high", "swiss_points", "buchholz", "byes", "games_repeated", "unplayed", "unasked", "score_adjusted_anytime_low", "score_adjusted_anytime_high", "score_adjusted_is_raw", "luck_share_low", "luck_share_high", "luck_games_saved_low", "luck_games_saved_high", "version", "content", "registered_unix_us", "return_mean", "return_mean_low", "return_mean_high", "return_mean_anytime_low", "return_mean_anytime_high", "season")
    class FaultsByKindEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    AGENT_FIELD_NUMBER: _ClassVar[int]
    GAMES_FIELD_NUMBER: _ClassVar[int]
    WINS_FIELD_NUMBER: _ClassVar[int]
    DRAWS_FIELD_NUMBER: _ClassVar[int]
    LOSSES_FIELD_NUMBER: _ClassVar[int]
    VOIDS_FIELD_NUMBER: _ClassVar[int]
    FAULTS_FIELD_NUMBER: _ClassVar[int]
    FAULTS_BY_KIND_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    SCORE_LOW_FIELD_NUMBER: _ClassVar[int]
    SCORE_HIGH_FIELD_NUMBER: _ClassVar[int]
    PLIES_MEAN_FIELD_NUMBER: _ClassVar[int]
    WIN_RATE_FIELD_NUMBER: _ClassVar[int]
    WIN_RATE_LOW_FIELD_NUMBER: _ClassVar[int]
    WIN_RATE_HIGH_FIELD_NUMBER: _ClassVar[int]
    LATENCY_US_P50_FIELD_NUMBER: _ClassVar[int]
    LATENCY_US_P99_FIELD_NUMBER: _ClassVar[int]
    WAITING_US_P50_FIELD_NUMBER: _ClassVar[int]
    WAITING_US_P99_FIELD_NUMBER: _ClassVar[int]
    BLOCKS_FIELD_NUMBER: _ClassVar[int]
    LAST_FAULT_FIELD_NUMBER: _ClassVar[int]
    NON_DETERMINISTIC_FIELD_NUMBER: _ClassVar[int]
    SCORE_ANYTIME_LOW_FIELD_NUMBER: _ClassVar[int]
    SCORE_ANYTIME_HIGH_FIELD_NUMBER: _ClassVar[int]
    POINTS_FIELD_NUMBER: _ClassVar[int]
    RANKS_FIELD_NUMBER: _ClassVar[int]
    RATING_FIELD_NUMBER: _ClassVar[int]
    RATING_LOW_FIELD_NUMBER: _ClassVar[int]
    RATING_HIGH_FIELD_NUMBER: _ClassVar[int]
    NASH_FIELD_NUMBER: _ClassVar[int]
    PLACE_FIELD_NUMBER: _ClassVar[int]
    SCORE_ADJUSTED_FIELD_NUMBER: _ClassVar[int]
    SCORE_ADJUSTED_LOW_FIELD_NUMBER: _ClassVar[int]
    SCORE_ADJUSTED_HIGH_FIELD_NUMBER: _ClassVar[int]
    LUCK_MEAN_FIELD_NUMBER: _ClassVar[int]
    LUCK_SHARE_FIELD_NUMBER: _ClassVar[int]
    LUCK_GAMES_SAVED_FIELD_NUMBER: _ClassVar[int]
    SCORE_DF_FIELD_NUMBER: _ClassVar[int]
    TUNING_HORIZON_FIELD_NUMBER: _ClassVar[int]
    RATING_ANYTIME_LOW_FIELD_NUMBER: _ClassVar[int]
    RATING_ANYTIME_HIGH_FIELD_NUMBER: _ClassVar[int]
    SWISS_POINTS_FIELD_NUMBER: _ClassVar[int]
    BUCHHOLZ_FIELD_NUMBER: _ClassVar[int]
    BYES_FIELD_NUMBER: _ClassVar[int]
    GAMES_REPEATED_FIELD_NUMBER: _ClassVar[int]
    UNPLAYED_FIELD_NUMBER: _ClassVar[int]
    UNASKED_FIELD_NUMBER: _ClassVar[int]
    SCORE_ADJUSTED_ANYTIME_LOW_FIELD_NUMBER: _ClassVar[int]
    SCORE_ADJUSTED_ANYTIME_HIGH_FIELD_NUMBER: _ClassVar[int]
    SCORE_ADJUSTED_IS_RAW_FIELD_NUMBER: _ClassVar[int]
    LUCK_SHARE_LOW_FIELD_NUMBER: _ClassVar[int]
    LUCK_SHARE_HIGH_FIELD_NUMBER: _ClassVar[int]
    LUCK_GAMES_SAVED_LOW_FIELD_NUMBER: _ClassVar[int]
    LUCK_GAMES_SAVED_HIGH_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    REGISTERED_UNIX_US_FIELD_NUMBER: _ClassVar[int]
    RETURN_MEAN_FIELD_NUMBER: _ClassVar[int]
    RETURN_MEAN_LOW_FIELD_NUMBER: _ClassVar[int]
    RETURN_MEAN_HIGH_FIELD_NUMBER: _ClassVar[int]
    RETURN_MEAN_ANYTIME_LOW_FIELD_NUMBER: _ClassVar[int]
    RETURN_MEAN_ANYTIME_HIGH_FIELD_NUMBER: _ClassVar[int]
    SEASON_FIELD_NUMBER: _ClassVar[int]
    agent: str
    games: int
    wins: int
    draws: int
    losses: int
    voids: int
    faults: int
    faults_by_kind: _containers.ScalarMap[str, int]
    score: float
    score_low: float
    score_high: float
    plies_mean: float
    win_rate: float
    win_rate_low: float
    win_rate_high: float
    latency_us_p50: float
    latency_us_p99: float
    waiting_us_p50: float
    waiting_us_p99: float
    blocks: int
    last_fault: str
    non_deterministic: bool
    score_anytime_low: float
    score_anytime_high: float
    points: float
    ranks: _containers.RepeatedScalarFieldContainer[int]
    rating: float
    rating_low: float
    rating_high: float
    nash: float
    place: int
    score_adjusted: float
    score_adjusted_low: float
    score_adjusted_high: float
    luck_mean: float
    luck_share: float
    luck_games_saved: int
    score_df: int
    tuning_horizon: float
    rating_anytime_low: float
    rating_anytime_high: float
    swiss_points: float
    buchholz: float
    byes: int
    games_repeated: int
    unplayed: int
    unasked: int
    score_adjusted_anytime_low: float
    score_adjusted_anytime_high: float
    score_adjusted_is_raw: bool
    luck_share_low: float
    luck_share_high: float
    luck_games_saved_low: int
    luck_games_saved_high: int
    version: str
    content: str
    registered_unix_us: int
    return_mean: float
    return_mean_low: float
    return_mean_high: float
    return_mean_anytime_low: float
    return_mean_anytime_high: float
    season: SeasonStanding
    def __init__(self, agent: _Optional[str] = ..., games: _Optional[int] = ..., wins: _Optional[int] = ..., draws: _Optional[int] = ..., losses: _Optional[int] = ..., voids: _Optional[int] = ..., faults: _Optional[int] = ..., faults_by_kind: _Optional[_Mapping[str, int]] = ..., score: _Optional[float] = ..., score_low: _Optional[float] = ..., score_high: _Optional[float] = ..., plies_mean: _Optional[float] = ..., win_rate: _Optional[float] = ..., win_rate_low: _Optional[float] = ..., win_rate_high: _Optional[float] = ..., latency_us_p50: _Optional[float] = ..., latency_us_p99: _Optional[float] = ..., waiting_us_p50: _Optional[float] = ..., waiting_us_p99: _Optional[float] = ..., blocks: _Optional[int] = ..., last_fault: _Optional[str] = ..., non_deterministic: bool = ..., score_anytime_low: _Optional[float] = ..., score_anytime_high: _Optional[float] = ..., points: _Optional[float] = ..., ranks: _Optional[_Iterable[int]] = ..., rating: _Optional[float] = ..., rating_low: _Optional[float] = ..., rating_high: _Optional[float] = ..., nash: _Optional[float] = ..., place: _Optional[int] = ..., score_adjusted: _Optional[float] = ..., score_adjusted_low: _Optional[float] = ..., score_adjusted_high: _Optional[float] = ..., luck_mean: _Optional[float] = ..., luck_share: _Optional[float] = ..., luck_games_saved: _Optional[int] = ..., score_df: _Optional[int] = ..., tuning_horizon: _Optional[float] = ..., rating_anytime_low: _Optional[float] = ..., rating_anytime_high: _Optional[float] = ..., swiss_points: _Optional[float] = ..., buchholz: _Optional[float] = ..., byes: _Optional[int] = ..., games_repeated: _Optional[int] = ..., unplayed: _Optional[int] = ..., unasked: _Optional[int] = ..., score_adjusted_anytime_low: _Optional[float] = ..., score_adjusted_anytime_high: _Optional[float] = ..., score_adjusted_is_raw: bool = ..., luck_share_low: _Optional[float] = ..., luck_share_high: _Optional[float] = ..., luck_games_saved_low: _Optional[int] = ..., luck_games_saved_high: _Optional[int] = ..., version: _Optional[str] = ..., content: _Optional[str] = ..., registered_unix_us: _Optional[int] = ..., return_mean: _Optional[float] = ..., return_mean_low: _Optional[float] = ..., return_mean_high: _Optional[float] = ..., return_mean_anytime_low: _Optional[float] = ..., return_mean_anytime_high: _Optional[float] = ..., season: _Optional[_Union[SeasonStanding, _Mapping]] = ...) -> None: ...

class SeasonStanding(_message.Message):
    __slots__ = ("state", "reason", "predecessor", "successor", "rating", "rating_low", "rating_high", "blocks")
    STATE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    PREDECESSOR_FIELD_NUMBER: _ClassVar[int]
    SUCCESSOR_FIELD_NUMBER: _ClassVar[int]
    RATING_FIELD_NUMBER: _ClassVar[int]
    RATING_LOW_FIELD_NUMBER: _ClassVar[int]
    RATING_HIGH_FIELD_NUMBER: _ClassVar[int]
    BLOCKS_FIELD_NUMBER: _ClassVar[int]
    state: str
    reason: str
    predecessor: str
    successor: str
    rating: float
    rating_low: float
    rating_high: float
    blocks: int
    def __init__(self, state: _Optional[str] = ..., reason: _Optional[str] = ..., predecessor: _Optional[str] = ..., successor: _Optional[str] = ..., rating: _Optional[float] = ..., rating_low: _Optional[float] = ..., rating_high: _Optional[float] = ..., blocks: _Optional[int] = ...) -> None: ...

class SeatStanding(_message.Message):
    __slots__ = ("seat", "games", "score", "score_low", "score_high", "score_anytime_low", "score_anytime_high")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    GAMES_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    SCORE_LOW_FIELD_NUMBER: _ClassVar[int]
    SCORE_HIGH_FIELD_NUMBER: _ClassVar[int]
    SCORE_ANYTIME_LOW_FIELD_NUMBER: _ClassVar[int]
    SCORE_ANYTIME_HIGH_FIELD_NUMBER: _ClassVar[int]
    seat: int
    games: int
    score: float
    score_low: float
    score_high: float
    score_anytime_low: float
    score_anytime_high: float
    def __init__(self, seat: _Optional[int] = ..., games: _Optional[int] = ..., score: _Optional[float] = ..., score_low: _Optional[float] = ..., score_high: _Optional[float] = ..., score_anytime_low: _Optional[float] = ..., score_anytime_high: _Optional[float] = ...) -> None: ...

class Pairing(_message.Message):
    __slots__ = ("blocks", "variance_reduction", "games_saved", "variance_reduction_low", "variance_reduction_high", "games_saved_low", "games_saved_high")
    BLOCKS_FIELD_NUMBER: _ClassVar[int]
    VARIANCE_REDUCTION_FIELD_NUMBER: _ClassVar[int]
    GAMES_SAVED_FIELD_NUMBER: _ClassVar[int]
    VARIANCE_REDUCTION_LOW_FIELD_NUMBER: _ClassVar[int]
    VARIANCE_REDUCTION_HIGH_FIELD_NUMBER: _ClassVar[int]
    GAMES_SAVED_LOW_FIELD_NUMBER: _ClassVar[int]
    GAMES_SAVED_HIGH_FIELD_NUMBER: _ClassVar[int]
    blocks: int
    variance_reduction: float
    games_saved: int
    variance_reduction_low: float
    variance_reduction_high: float
    games_saved_low: int
    games_saved_high: int
    def __init__(self, blocks: _Optional[int] = ..., variance_reduction: _Optional[float] = ..., games_saved: _Optional[int] = ..., variance_reduction_low: _Optional[float] = ..., variance_reduction_high: _Optional[float] = ..., games_saved_low: _Optional[int] = ..., games_saved_high: _Optional[int] = ...) -> None: ...

class PairStanding(_message.Message):
    __slots__ = ("agent", "opponent", "games", "wins", "draws", "losses", "blocks", "score", "score_low", "score_high", "score_anytime_low", "score_anytime_high", "difference", "difference_low", "difference_high", "difference_anytime_low", "difference_anytime_high", "rating_difference", "rating_difference_low", "rating_difference_high", "superiority", "score_adjusted", "score_adjusted_low", "score_adjusted_high", "difference_adjusted", "difference_adjusted_low", "difference_adjusted_high", "score_df", "score_tuning_horizon", "elo_difference", "elo_difference_low", "elo_difference_high", "elo_difference_anytime_low", "elo_difference_anytime_high", "rating_df", "rating_blocks", "rating_tuning_horizon", "rating_is_open", "blocks_played", "distinct_games", "distinct_games_more", "rating_superiority", "score_adjusted_anytime_low", "score_adjusted_anytime_high", "score_adjusted_is_raw", "difference_adjusted_is_raw")
    AGENT_FIELD_NUMBER: _ClassVar[int]
    OPPONENT_FIELD_NUMBER: _ClassVar[int]
    GAMES_FIELD_NUMBER: _ClassVar[int]
    WINS_FIELD_NUMBER: _ClassVar[int]
    DRAWS_FIELD_NUMBER: _ClassVar[int]
    LOSSES_FIELD_NUMBER: _ClassVar[int]
    BLOCKS_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    SCORE_LOW_FIELD_NUMBER: _ClassVar[int]
    SCORE_HIGH_FIELD_NUMBER: _ClassVar[int]
    SCORE_ANYTIME_LOW_FIELD_NUMBER: _ClassVar[int]
    SCORE_ANYTIME_HIGH_FIELD_NUMBER: _ClassVar[int]
    DIFFERENCE_FIELD_NUMBER: _ClassVar[int]
    DIFFERENCE_LOW_FIELD_NUMBER: _ClassVar[int]
    DIFFERENCE_HIGH_FIELD_NUMBER: _ClassVar[int]
    DIFFERENCE_ANYTIME_LOW_FIELD_NUMBER: _ClassVar[int]
    DIFFERENCE_ANYTIME_HIGH_FIELD_NUMBER: _ClassVar[int]
    RATING_DIFFERENCE_FIELD_NUMBER: _ClassVar[int]
    RATING_DIFFERENCE_LOW_FIELD_NUMBER: _ClassVar[int]
    RATING_DIFFERENCE_HIGH_FIELD_NUMBER: _ClassVar[int]
    SUPERIORITY_FIELD_NUMBER: _ClassVar[int]
    SCORE_ADJUSTED_FIELD_NUMBER: _ClassVar[int]
    SCORE_ADJUSTED_LOW_FIELD_NUMBER: _ClassVar[int]
    SCORE_ADJUSTED_HIGH_FIELD_NUMBER: _ClassVar[int]
    DIFFERENCE_ADJUSTED_FIELD_NUMBER: _ClassVar[int]
    DIFFERENCE_ADJUSTED_LOW_FIELD_NUMBER: _ClassVar[int]
    DIFFERENCE_ADJUSTED_HIGH_FIELD_NUMBER: _ClassVar[int]
    SCORE_DF_FIELD_NUMBER: _ClassVar[int]
    SCORE_TUNING_HORIZON_FIELD_NUMBER: _ClassVar[int]
    ELO_DIFFERENCE_FIELD_NUMBER: _ClassVar[int]
    ELO_DIFFERENCE_LOW_FIELD_NUMBER: _ClassVar[int]
    ELO_DIFFERENCE_HIGH_FIELD_NUMBER: _ClassVar[int]
    ELO_DIFFERENCE_ANYTIME_LOW_FIELD_NUMBER: _ClassVar[int]
    ELO_DIFFERENCE_ANYTIME_HIGH_FIELD_NUMBER: _ClassVar[int]
    RATING_DF_FIELD_NUMBER: _ClassVar[int]
    RATING_BLOCKS_FIELD_NUMBER: _ClassVar[int]
    RATING_TUNING_HORIZON_FIELD_NUMBER: _ClassVar[int]
    RATING_IS_OPEN_FIELD_NUMBER: _ClassVar[int]
    BLOCKS_PLAYED_FIELD_NUMBER: _ClassVar[int]
    DISTINCT_GAMES_FIELD_NUMBER: _ClassVar[int]
    DISTINCT_GAMES_MORE_FIELD_NUMBER: _ClassVar[int]
    RATING_SUPERIORITY_FIELD_NUMBER: _ClassVar[int]
    SCORE_ADJUSTED_ANYTIME_LOW_FIELD_NUMBER: _ClassVar[int]
    SCORE_ADJUSTED_ANYTIME_HIGH_FIELD_NUMBER: _ClassVar[int]
    SCORE_ADJUSTED_IS_RAW_FIELD_NUMBER: _ClassVar[int]
    DIFFERENCE_ADJUSTED_IS_RAW_FIELD_NUMBER: _ClassVar[int]
    agent: str
    opponent: str
    games: int
    wins: int
    draws: int
    losses: int
    blocks: int
    score: float
    score_low: float
    score_high: float
    score_anytime_low: float
    score_anytime_high: float
    difference: float
    difference_low: float
    difference_high: float
    difference_anytime_low: float
    difference_anytime_high: float
    rating_difference: float
    rating_difference_low: float
    rating_difference_high: float
    superiority: float
    score_adjusted: float
    score_adjusted_low: float
    score_adjusted_high: float
    difference_adjusted: float
    difference_adjusted_low: float
    difference_adjusted_high: float
    score_df: int
    score_tuning_horizon: float
    elo_difference: float
    elo_difference_low: float
    elo_difference_high: float
    elo_difference_anytime_low: float
    elo_difference_anytime_high: float
    rating_df: int
    rating_blocks: float
    rating_tuning_horizon: float
    rating_is_open: bool
    blocks_played: int
    distinct_games: int
    distinct_games_more: bool
    rating_superiority: float
    score_adjusted_anytime_low: float
    score_adjusted_anytime_high: float
    score_adjusted_is_raw: bool
    difference_adjusted_is_raw: bool
    def __init__(self, agent: _Optional[str] = ..., opponent: _Optional[str] = ..., games: _Optional[int] = ..., wins: _Optional[int] = ..., draws: _Optional[int] = ..., losses: _Optional[int] = ..., blocks: _Optional[int] = ..., score: _Optional[float] = ..., score_low: _Optional[float] = ..., score_high: _Optional[float] = ..., score_anytime_low: _Optional[float] = ..., score_anytime_high: _Optional[float] = ..., difference: _Optional[float] = ..., difference_low: _Optional[float] = ..., difference_high: _Optional[float] = ..., difference_anytime_low: _Optional[float] = ..., difference_anytime_high: _Optional[float] = ..., rating_difference: _Optional[float] = ..., rating_difference_low: _Optional[float] = ..., rating_difference_high: _Optional[float] = ..., superiority: _Optional[float] = ..., score_adjusted: _Optional[float] = ..., score_adjusted_low: _Optional[float] = ..., score_adjusted_high: _Optional[float] = ..., difference_adjusted: _Optional[float] = ..., difference_adjusted_low: _Optional[float] = ..., difference_adjusted_high: _Optional[float] = ..., score_df: _Optional[int] = ..., score_tuning_horizon: _Optional[float] = ..., elo_difference: _Optional[float] = ..., elo_difference_low: _Optional[float] = ..., elo_difference_high: _Optional[float] = ..., elo_difference_anytime_low: _Optional[float] = ..., elo_difference_anytime_high: _Optional[float] = ..., rating_df: _Optional[int] = ..., rating_blocks: _Optional[float] = ..., rating_tuning_horizon: _Optional[float] = ..., rating_is_open: bool = ..., blocks_played: _Optional[int] = ..., distinct_games: _Optional[int] = ..., distinct_games_more: bool = ..., rating_superiority: _Optional[float] = ..., score_adjusted_anytime_low: _Optional[float] = ..., score_adjusted_anytime_high: _Optional[float] = ..., score_adjusted_is_raw: bool = ..., difference_adjusted_is_raw: bool = ...) -> None: ...

class Ratings(_message.Message):
    __slots__ = ("model", "anchor", "prior_elo", "ties", "components", "fit")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    ANCHOR_FIELD_NUMBER: _ClassVar[int]
    PRIOR_ELO_FIELD_NUMBER: _ClassVar[int]
    TIES_FIELD_NUMBER: _ClassVar[int]
    COMPONENTS_FIELD_NUMBER: _ClassVar[int]
    FIT_FIELD_NUMBER: _ClassVar[int]
    model: str
    anchor: str
    prior_elo: float
    ties: _containers.RepeatedScalarFieldContainer[float]
    components: int
    fit: RatingFit
    def __init__(self, model: _Optional[str] = ..., anchor: _Optional[str] = ..., prior_elo: _Optional[float] = ..., ties: _Optional[_Iterable[float]] = ..., components: _Optional[int] = ..., fit: _Optional[_Union[RatingFit, _Mapping]] = ...) -> None: ...

class RatingFit(_message.Message):
    __slots__ = ("pairs", "statistic", "df", "df_residual", "p", "worst")
    PAIRS_FIELD_NUMBER: _ClassVar[int]
    STATISTIC_FIELD_NUMBER: _ClassVar[int]
    DF_FIELD_NUMBER: _ClassVar[int]
    DF_RESIDUAL_FIELD_NUMBER: _ClassVar[int]
    P_FIELD_NUMBER: _ClassVar[int]
    WORST_FIELD_NUMBER: _ClassVar[int]
    pairs: int
    statistic: float
    df: int
    df_residual: float
    p: float
    worst: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, pairs: _Optional[int] = ..., statistic: _Optional[float] = ..., df: _Optional[int] = ..., df_residual: _Optional[float] = ..., p: _Optional[float] = ..., worst: _Optional[_Iterable[str]] = ...) -> None: ...

class GetGameRequest(_message.Message):
    __slots__ = ("game_id", "board_after", "generation")
    GAME_ID_FIELD_NUMBER: _ClassVar[int]
    BOARD_AFTER_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    game_id: str
    board_after: int
    generation: int
    def __init__(self, game_id: _Optional[str] = ..., board_after: _Optional[int] = ..., generation: _Optional[int] = ...) -> None: ...

class GetGameResponse(_message.Message):
    __slots__ = ("record", "setup", "timing", "fault_details", "outputs", "board")
    RECORD_FIELD_NUMBER: _ClassVar[int]
    SETUP_FIELD_NUMBER: _ClassVar[int]
    TIMING_FIELD_NUMBER: _ClassVar[int]
    FAULT_DETAILS_FIELD_NUMBER: _ClassVar[int]
    OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    BOARD_FIELD_NUMBER: _ClassVar[int]
    record: _record_pb2.GameRecord
    setup: _worker_pb2.TournamentSetup
    timing: _record_pb2.GameTiming
    fault_details: _containers.RepeatedCompositeFieldContainer[_worker_pb2.FaultDetail]
    outputs: _containers.RepeatedCompositeFieldContainer[_worker_pb2.AgentOutput]
    board: _worker_pb2.Board
    def __init__(self, record: _Optional[_Union[_record_pb2.GameRecord, _Mapping]] = ..., setup: _Optional[_Union[_worker_pb2.TournamentSetup, _Mapping]] = ..., timing: _Optional[_Union[_record_pb2.GameTiming, _Mapping]] = ..., fault_details: _Optional[_Iterable[_Union[_worker_pb2.FaultDetail, _Mapping]]] = ..., outputs: _Optional[_Iterable[_Union[_worker_pb2.AgentOutput, _Mapping]]] = ..., board: _Optional[_Union[_worker_pb2.Board, _Mapping]] = ...) -> None: ...

class ListGamesRequest(_message.Message):
    __slots__ = ("tournament_id", "page_size", "page_token", "with_timing", "from_index", "generation", "columns")
    TOURNAMENT_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    WITH_TIMING_FIELD_NUMBER: _ClassVar[int]
    FROM_INDEX_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    COLUMNS_FIELD_NUMBER: _ClassVar[int]
    tournament_id: str
    page_size: int
    page_token: str
    with_timing: bool
    from_index: int
    generation: int
    columns: bool
    def __init__(self, tournament_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., with_timing: bool = ..., from_index: _Optional[int] = ..., generation: _Optional[int] = ..., columns: bool = ...) -> None: ...

class ListGamesResponse(_message.Message):
    __slots__ = ("games", "next_page_token", "columns")
    GAMES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    COLUMNS_FIELD_NUMBER: _ClassVar[int]
    games: _containers.RepeatedCompositeFieldContainer[_worker_pb2.GameReport]
    next_page_token: str
    columns: GameColumns
    def __init__(self, games: _Optional[_Iterable[_Union[_worker_pb2.GameReport, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., columns: _Optional[_Union[GameColumns, _Mapping]] = ...) -> None: ...

class GameColumns(_message.Message):
    __slots__ = ("index", "block", "seed", "agent", "placement", "score", "luck", "has_luck", "plies", "termination", "hash", "faults", "timing")
    INDEX_FIELD_NUMBER: _ClassVar[int]
    BLOCK_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    PLACEMENT_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    LUCK_FIELD_NUMBER: _ClassVar[int]
    HAS_LUCK_FIELD_NUMBER: _ClassVar[int]
    PLIES_FIELD_NUMBER: _ClassVar[int]
    TERMINATION_FIELD_NUMBER: _ClassVar[int]
    HASH_FIELD_NUMBER: _ClassVar[int]
    FAULTS_FIELD_NUMBER: _ClassVar[int]
    TIMING_FIELD_NUMBER: _ClassVar[int]
    index: _containers.RepeatedScalarFieldContainer[int]
    block: _containers.RepeatedScalarFieldContainer[int]
    seed: _containers.RepeatedScalarFieldContainer[int]
    agent: _containers.RepeatedScalarFieldContainer[int]
    placement: _containers.RepeatedScalarFieldContainer[int]
    score: _containers.RepeatedScalarFieldContainer[int]
    luck: _containers.RepeatedScalarFieldContainer[int]
    has_luck: _containers.RepeatedScalarFieldContainer[bool]
    plies: _containers.RepeatedScalarFieldContainer[int]
    termination: _containers.RepeatedScalarFieldContainer[_record_pb2.Termination]
    hash: bytes
    faults: _containers.RepeatedCompositeFieldContainer[GameFault]
    timing: _containers.RepeatedCompositeFieldContainer[_record_pb2.GameTiming]
    def __init__(self, index: _Optional[_Iterable[int]] = ..., block: _Optional[_Iterable[int]] = ..., seed: _Optional[_Iterable[int]] = ..., agent: _Optional[_Iterable[int]] = ..., placement: _Optional[_Iterable[int]] = ..., score: _Optional[_Iterable[int]] = ..., luck: _Optional[_Iterable[int]] = ..., has_luck: _Optional[_Iterable[bool]] = ..., plies: _Optional[_Iterable[int]] = ..., termination: _Optional[_Iterable[_Union[_record_pb2.Termination, str]]] = ..., hash: _Optional[bytes] = ..., faults: _Optional[_Iterable[_Union[GameFault, _Mapping]]] = ..., timing: _Optional[_Iterable[_Union[_record_pb2.GameTiming, _Mapping]]] = ...) -> None: ...

class GameFault(_message.Message):
    __slots__ = ("game", "fault")
    GAME_FIELD_NUMBER: _ClassVar[int]
    FAULT_FIELD_NUMBER: _ClassVar[int]
    game: int
    fault: _record_pb2.Fault
    def __init__(self, game: _Optional[int] = ..., fault: _Optional[_Union[_record_pb2.Fault, _Mapping]] = ...) -> None: ...

class ListDifferencesRequest(_message.Message):
    __slots__ = ("tournament_id", "page_size", "page_token")
    TOURNAMENT_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    tournament_id: str
    page_size: int
    page_token: str
    def __init__(self, tournament_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListDifferencesResponse(_message.Message):
    __slots__ = ("differences", "next_page_token", "unlisted")
    DIFFERENCES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    UNLISTED_FIELD_NUMBER: _ClassVar[int]
    differences: _containers.RepeatedCompositeFieldContainer[Difference]
    next_page_token: str
    unlisted: int
    def __init__(self, differences: _Optional[_Iterable[_Union[Difference, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., unlisted: _Optional[int] = ...) -> None: ...

class Difference(_message.Message):
    __slots__ = ("game_id", "durable_hash", "other_hash", "worker", "event", "agent", "hash_only", "dice", "durable_worker", "third_play", "charges_agent")
    GAME_ID_FIELD_NUMBER: _ClassVar[int]
    DURABLE_HASH_FIELD_NUMBER: _ClassVar[int]
    OTHER_HASH_FIELD_NUMBER: _ClassVar[int]
    WORKER_FIELD_NUMBER: _ClassVar[int]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    HASH_ONLY_FIELD_NUMBER: _ClassVar[int]
    DICE_FIELD_NUMBER: _ClassVar[int]
    DURABLE_WORKER_FIELD_NUMBER: _ClassVar[int]
    THIRD_PLAY_FIELD_NUMBER: _ClassVar[int]
    CHARGES_AGENT_FIELD_NUMBER: _ClassVar[int]
    game_id: str
    durable_hash: str
    other_hash: str
    worker: str
    event: int
    agent: str
    hash_only: bool
    dice: str
    durable_worker: str
    third_play: ThirdPlay
    charges_agent: bool
    def __init__(self, game_id: _Optional[str] = ..., durable_hash: _Optional[str] = ..., other_hash: _Optional[str] = ..., worker: _Optional[str] = ..., event: _Optional[int] = ..., agent: _Optional[str] = ..., hash_only: bool = ..., dice: _Optional[str] = ..., durable_worker: _Optional[str] = ..., third_play: _Optional[_Union[ThirdPlay, str]] = ..., charges_agent: bool = ...) -> None: ...

class ListWorkersRequest(_message.Message):
    __slots__ = ("page_size", "page_token")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListWorkersResponse(_message.Message):
    __slots__ = ("workers", "games_waiting", "next_page_token", "workers_total")
    WORKERS_FIELD_NUMBER: _ClassVar[int]
    GAMES_WAITING_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    WORKERS_TOTAL_FIELD_NUMBER: _ClassVar[int]
    workers: _containers.RepeatedCompositeFieldContainer[Worker]
    games_waiting: int
    next_page_token: str
    workers_total: int
    def __init__(self, workers: _Optional[_Iterable[_Union[Worker, _Mapping]]] = ..., games_waiting: _Optional[int] = ..., next_page_token: _Optional[str] = ..., workers_total: _Optional[int] = ...) -> None: ...

class Worker(_message.Message):
    __slots__ = ("worker_id", "name", "version", "capacity", "leases", "games_leased", "games_reported", "quarantined", "sandbox", "owner")
    WORKER_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    CAPACITY_FIELD_NUMBER: _ClassVar[int]
    LEASES_FIELD_NUMBER: _ClassVar[int]
    GAMES_LEASED_FIELD_NUMBER: _ClassVar[int]
    GAMES_REPORTED_FIELD_NUMBER: _ClassVar[int]
    QUARANTINED_FIELD_NUMBER: _ClassVar[int]
    SANDBOX_FIELD_NUMBER: _ClassVar[int]
    OWNER_FIELD_NUMBER: _ClassVar[int]
    worker_id: str
    name: str
    version: str
    capacity: int
    leases: int
    games_leased: int
    games_reported: int
    quarantined: bool
    sandbox: str
    owner: str
    def __init__(self, worker_id: _Optional[str] = ..., name: _Optional[str] = ..., version: _Optional[str] = ..., capacity: _Optional[int] = ..., leases: _Optional[int] = ..., games_leased: _Optional[int] = ..., games_reported: _Optional[int] = ..., quarantined: bool = ..., sandbox: _Optional[str] = ..., owner: _Optional[str] = ...) -> None: ...
