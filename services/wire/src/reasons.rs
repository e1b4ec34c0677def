//! Stable reasons of `google.rpc.ErrorInfo`, domain [`DOMAIN`]. Clients may rely on them; messages
//! may change.

/// The domain of all reasons.
pub const DOMAIN: &str = "arena";

/// The spec is not TOML, has unknown keys, or values out of range.
pub const SPEC_INVALID: &str = "SPEC_INVALID";
/// No ruleset of this name.
pub const UNKNOWN_RULESET: &str = "UNKNOWN_RULESET";
/// An option does not exist, is out of range, or cannot be combined with others.
pub const OPTION_INVALID: &str = "OPTION_INVALID";
/// No agent of this name.
pub const UNKNOWN_AGENT: &str = "UNKNOWN_AGENT";
/// The process offers no bot of this name.
pub const UNKNOWN_BOT: &str = "UNKNOWN_BOT";
/// The agent does not play this ruleset.
pub const RULESET_UNSUPPORTED: &str = "RULESET_UNSUPPORTED";
/// The name is taken, or the version is known with another binary.
pub const AGENT_CONFLICT: &str = "AGENT_CONFLICT";
/// A ruleset of this name is registered with another content, or is a ruleset of Arena.
pub const RULESET_CONFLICT: &str = "RULESET_CONFLICT";
/// The text is no name.
pub const NAME_INVALID: &str = "NAME_INVALID";
/// The binary was not uploaded, or its bytes do not hash to its name.
pub const BINARY_INVALID: &str = "BINARY_INVALID";
/// No binary of this SHA-256.
pub const UNKNOWN_BINARY: &str = "UNKNOWN_BINARY";
/// No tournament of this id.
pub const UNKNOWN_TOURNAMENT: &str = "UNKNOWN_TOURNAMENT";
/// The tournament was removed; the message says when and by whom.
pub const TOURNAMENT_REMOVED: &str = "TOURNAMENT_REMOVED";
/// No such game, or it has no result.
pub const UNKNOWN_GAME: &str = "UNKNOWN_GAME";
/// The tournament's state does not allow it.
pub const STATE_CONFLICT: &str = "STATE_CONFLICT";
/// The page token does not belong to this list.
pub const PAGE_TOKEN_INVALID: &str = "PAGE_TOKEN_INVALID";
/// A request id was already used for another request.
pub const REQUEST_ID_CONFLICT: &str = "REQUEST_ID_CONFLICT";
/// A field is missing or invalid.
pub const REQUEST_INVALID: &str = "REQUEST_INVALID";
/// The worker has to join (again) first.
pub const UNKNOWN_WORKER: &str = "UNKNOWN_WORKER";
/// The rules do not allow the moves of a record, its seed draws other dice, or its result does not
/// follow from them.
pub const RECORD_INVALID: &str = "RECORD_INVALID";
/// The games were not leased to the worker that reports them.
pub const NOT_LEASED: &str = "NOT_LEASED";
/// The worker process sent a record that cannot have happened, and gets no more games.
pub const WORKER_QUARANTINED: &str = "WORKER_QUARANTINED";
/// The call has no token, and this coordinator asks for one.
pub const TOKEN_MISSING: &str = "TOKEN_MISSING";
/// The token is malformed, or not one of this coordinator.
pub const TOKEN_INVALID: &str = "TOKEN_INVALID";
/// The token's time is over.
pub const TOKEN_EXPIRED: &str = "TOKEN_EXPIRED";
/// The token was revoked.
pub const TOKEN_REVOKED: &str = "TOKEN_REVOKED";
/// The token was used as often as it may be.
pub const TOKEN_USED: &str = "TOKEN_USED";
/// The token may not be used from this address.
pub const TOKEN_ADDRESS: &str = "TOKEN_ADDRESS";
/// The role of the token does not allow the method.
pub const ROLE_INSUFFICIENT: &str = "ROLE_INSUFFICIENT";
/// Another token's agent, tournament or binary.
pub const NOT_OWNER: &str = "NOT_OWNER";
/// No token of this id.
pub const UNKNOWN_TOKEN: &str = "UNKNOWN_TOKEN";
/// The worker is of another release and could play other games.
pub const WORKER_OUTDATED: &str = "WORKER_OUTDATED";
/// A queue is full: slow down and try again.
pub const OVERLOADED: &str = "OVERLOADED";
/// A limit of the token is reached: its number of agents, tournaments, games, bytes or streams, or
/// its requests a second. The details have its name (`limit`) and value (`maximum`).
pub const LIMIT_REACHED: &str = "LIMIT_REACHED";
/// The answer took too long. A change may have been made: ask for its state before a retry.
pub const DEADLINE_EXCEEDED: &str = "DEADLINE_EXCEEDED";
/// The coordinator is stopping.
pub const DRAINING: &str = "DRAINING";
/// The disk is full, or the store failed.
pub const STORE_FAILED: &str = "STORE_FAILED";
/// A defect, or a failure of the coordinator's machine.
pub const INTERNAL: &str = "INTERNAL";
