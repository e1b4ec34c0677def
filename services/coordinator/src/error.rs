//! Errors, with their status codes and reasons.

mod service;

use std::{
    collections::HashMap,
    net::IpAddr,
    time::{Duration, UNIX_EPOCH},
};

use arena_access::without_secrets;
use arena_games::GamesError;
use arena_model::{
    NameError, RECORD_VERSION, SeedError, engine::options::OptionError, printable, spec::SpecError,
};
use arena_store::StoreError;
use arena_tournament::ScheduleError;
use arena_wire::{convert::ConvertError, limits::Limit, reasons, v1};
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt};

pub use service::{RunError, StartError};

/// Maximum length of a status message, in bytes. It travels in headers, whose total size clients
/// limit: a longer one would end the connection.
const MESSAGE_BYTES_MAX: usize = 2_000;

/// A message, cut if it repeats too much of a request.
fn shortened(mut message: String) -> String {
    if message.len() > MESSAGE_BYTES_MAX {
        message.truncate(message.floor_char_boundary(MESSAGE_BYTES_MAX));
        message.push('…');
    }
    message
}

/// A time in microseconds since 1970, as people read it.
fn utc(unix_us: u64) -> String {
    let time = UNIX_EPOCH + Duration::from_micros(unix_us);
    humantime::format_rfc3339_seconds(time).to_string()
}

/// Suggested delay when the store's queue is full.
const BUSY_WAIT: Duration = Duration::from_millis(200);

/// Why a request is refused.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error(transparent)]
    Spec(#[from] SpecError),
    #[error(transparent)]
    Seed(#[from] SeedError),
    #[error(transparent)]
    Games(#[from] GamesError),
    /// A ruleset that is neither built in nor registered here.
    #[error("{}", unknown_ruleset(.0))]
    RulesetUnknown(GamesError),
    /// Options of rules that are a package.
    #[error(transparent)]
    RulesOptions(arena_model::rules::RulesError),
    #[error(
        "no ruleset \"{name}\" is registered{}",
        nearest.as_ref().map_or_else(String::new, |it| format!(", did you mean \"{it}\"?"))
    )]
    RulesetNotFound {
        name: String,
        nearest: Option<String>,
    },
    #[error("{0}")]
    RulesetConflict(String),
    /// There are no openings of the length that the spec requires.
    #[error(transparent)]
    Book(#[from] crate::openings::error::BookError),
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
    #[error("{games} games exceed the limit of {most}; lower `blocks`")]
    TooManyGames { games: u64, most: u64 },
    #[error(
        "{groups} groups of agents exceed the limit of {most}; list fewer agents, or use format = \
         \"swiss\", in which not all agents meet"
    )]
    TooManyGroups { groups: u64, most: u64 },
    #[error("agent \"{agent}\": {error}")]
    BotOption { agent: String, error: OptionError },
    #[error("agent \"{agent}\" has no options: its process describes none")]
    NoOptions { agent: String },
    #[error("unknown agent \"{name}\"{}", hint(.nearest.as_ref(), "; \
     `arena agent list` with the same --data or --coordinator shows all"))]
    UnknownAgent {
        name: String,
        nearest: Option<String>,
    },
    #[error("agent \"{agent}\": {process} offers no bot \"{bot}\"{}", hint(.nearest.as_ref(), "; \
     `arena agent list` with the same --data or --coordinator shows all"))]
    UnknownBot {
        agent: String,
        process: String,
        bot: String,
        nearest: Option<String>,
    },
    #[error(
        "agent \"{agent}\": \"{bot}\" is a registered agent, not a bot: put it into from, and its \
         bot into bot"
    )]
    BotIsAgent { agent: String, bot: String },
    #[error("agent \"{agent}\" does not play {ruleset}: it plays {}", .plays.join(", "))]
    RulesetUnsupported {
        agent: String,
        ruleset: String,
        plays: Vec<String>,
    },
    #[error("agent \"{agent}\": {reason}")]
    BotRefuses { agent: String, reason: String },
    #[error("no agent \"{name}\" is registered{}", hint(.nearest.as_ref(), "; `arena agent list` \
     shows all"))]
    AgentNotFound {
        name: String,
        nearest: Option<String>,
    },
    #[error("{0}")]
    AgentConflict(String),
    #[error(
        "agent \"{agent}\": endpoint {url} has changed: {change}; register it again with `arena \
         agent register {agent} --endpoint {url}`"
    )]
    EndpointChanged {
        agent: String,
        url: String,
        change: String,
    },
    #[error(transparent)]
    Name(#[from] NameError),
    #[error("{0}")]
    BinaryInvalid(String),
    #[error("no binary {sha256}: upload it first")]
    UnknownBinary { sha256: String },
    #[error("no tournament \"{id}\"{}", hint(.nearest.as_ref(), "; `arena tournament list` shows \
     all"))]
    UnknownTournament { id: String, nearest: Option<String> },
    #[error("tournament {id} was removed on {} by {}{}", utc(.removal.unix_us),
        if .removal.by.is_empty() { "an unknown user" } else { &.removal.by },
        if .removal.archive_sha256.is_empty() { "" } else { ", after it was archived" })]
    RemovedTournament { id: String, removal: v1::Removal },
    #[error("game {id} has no result: it has not been played, or does not exist")]
    UnknownGame { id: String },
    #[error(
        "game {id} is not shown yet: the seed of its tournament is sealed, and other games of its \
         block are not finished"
    )]
    SealedGame { id: String },
    #[error("{0}")]
    State(String),
    #[error("invalid page token: start again with the first page")]
    PageToken,
    #[error(
        "tournament {tournament} exists with records = \"{records}\": use that in the spec, or \
         another name"
    )]
    RecordsFixed {
        tournament: String,
        records: &'static str,
    },
    #[error("request id \"{0}\" was already used for another request")]
    RequestId(String),
    #[error("{0}")]
    Request(String),
    #[error("the record of game {game} {problem}")]
    Record { game: String, problem: String },
    /// As `Record`, and its worker is at fault.
    #[error("the record of game {game} {problem}")]
    Unsound { game: String, problem: String },
    #[error(transparent)]
    Convert(#[from] ConvertError),
    #[error("unknown worker {0}: join again first")]
    UnknownWorker(String),
    #[error(
        "this worker process is in quarantine, because it sent a record that cannot have \
         happened or that other workers refuted (the coordinator's log names the game): check its \
         program and its machine, then start it again"
    )]
    Quarantined,
    #[error(
        "the games of this report of tournament {tournament} were not leased to the worker that \
         sent it"
    )]
    NotLeased { tournament: String },
    #[error(
        "worker {name} (version {}) and this coordinator (version {ours}) are of different \
         releases: use the same release of arena for both",
        if .version.is_empty() { "unknown" } else { .version }
    )]
    WorkerVersion {
        name: String,
        version: String,
        ours: &'static str,
    },
    #[error(
        "worker {name} (version {version}) writes records of version {writes}, but this \
         coordinator needs {RECORD_VERSION}: use the same release of arena for both"
    )]
    WorkerOutdated {
        name: String,
        version: String,
        writes: u32,
    },
    #[error(
        "this coordinator asks for a token: name its file with --token-file or ARENA_TOKEN_FILE"
    )]
    TokenMissing,
    #[error("the token is not one of this coordinator: ask its administrator for another one")]
    TokenInvalid,
    #[error("the token has expired: ask the coordinator's administrator for another one")]
    TokenExpired,
    #[error("the token was revoked: ask the coordinator's administrator for another one")]
    TokenRevoked,
    #[error(
        "the token was used as often as it may be: ask the coordinator's administrator for \
         another one"
    )]
    TokenUsed,
    #[error(
        "a token with a limited number of uses (--uses) is not for pages and metrics, where each \
         request would be a use: ask the coordinator's administrator for one without a limit"
    )]
    TokenOfUses,
    #[error(
        "the certificate names no role: expected a URI arena:ROLE:NAME with the role viewer, \
         submitter, worker or admin"
    )]
    CertificateRole,
    /// The networks of the token are not named: a thief would learn where to use it.
    #[error(
        "the token may not be used from {}: ask the coordinator's administrator, who sees its networks \
         with `arena token list`",
        .peer.map_or_else(
            || "this connection, which has no address".to_owned(),
            |peer| format!("{peer}, the address that the coordinator sees"),
        )
    )]
    TokenAddress { peer: Option<IpAddr> },
    #[error(
        "the role {role} does not allow this{}: ask the coordinator's administrator for a token",
        match &**needed {
            "" => String::new(),
            needed => format!(", which needs the role {needed}"),
        }
    )]
    Role { role: &'static str, needed: String },
    #[error("{what} belongs to another token: only that one and administrators may change it")]
    NotOwner { what: String },
    #[error(
        "tournament {id} has the same spec, agents and seed, and belongs to another token: start one of \
         your own with --again"
    )]
    StartedByOther { id: String },
    #[error(
        "binary {sha256} belongs to others: only tokens that have uploaded it, workers with games that \
         need it, and administrators may read it"
    )]
    NotReader { sha256: String },
    #[error("no token \"{}\"; `arena token list` shows all", without_secrets(.id))]
    UnknownToken { id: String },
    #[error(
        "the limit of this token is reached: at most {maximum} {} ({}); {}, or ask the \
         coordinator's administrator for a token with a higher limit",
        .limit.counted(*.maximum), .limit.name, .limit.remedy
    )]
    Limit {
        limit: &'static Limit,
        maximum: u64,
        /// The suggested delay, if there is more room by then.
        wait: Option<Duration>,
    },
    #[error("the coordinator is overloaded: try again in a moment")]
    Overloaded {
        /// The suggested delay.
        wait: Duration,
    },
    #[error("this token has too many connections: close some of them, or use another token")]
    Connections {
        /// The suggested delay.
        wait: Duration,
    },
    #[error(
        "no answer within {} seconds: the coordinator is busy; try again later, or ask for less",
        .limit.as_secs()
    )]
    Deadline {
        /// The time that the request had.
        limit: Duration,
    },
    #[error("the coordinator is stopping")]
    Draining,
    #[error(
        "the coordinator failed, which is a bug in Arena: please report it with the coordinator's \
         log"
    )]
    Defect,
    #[error("the system provides no random numbers: {0}")]
    Random(String),
    #[error("cannot read {what} from the store: {problem}; run `arena store verify`")]
    Damaged { what: String, problem: String },
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// An unknown ruleset, and how to register a package of this name.
fn unknown_ruleset(error: &GamesError) -> String {
    let name = match error {
        GamesError::Unknown { name, .. } => name,
        _ => "NAME",
    };
    let text = error.to_string();
    let end = if text.ends_with('?') { "" } else { "." };
    format!(
        "{text}{end} If its rules are a package, register it with `arena rulesets register {name} --package PATH`; \
         if it is registered elsewhere, add --data FOLDER or --coordinator URL"
    )
}

fn hint(nearest: Option<&String>, otherwise: &str) -> String {
    nearest.map_or_else(
        || otherwise.to_owned(),
        |nearest| format!(", did you mean \"{nearest}\"?"),
    )
}

impl Error {
    /// The error of a document that cannot be read.
    pub(crate) fn damaged(what: String, problem: impl ToString) -> Self {
        let problem = problem.to_string();
        Self::Damaged { what, problem }
    }

    /// The stable reason.
    pub(crate) fn reason(&self) -> &'static str {
        self.kind().1
    }

    /// The status code.
    pub(crate) fn code(&self) -> Code {
        self.kind().0
    }

    /// Status code and reason. Only this function chooses them.
    fn kind(&self) -> (Code, &'static str) {
        use crate::openings::error::BookError;
        use Code::{
            Cancelled, DeadlineExceeded, FailedPrecondition, Internal, InvalidArgument, NotFound,
            PermissionDenied, ResourceExhausted, Unauthenticated, Unavailable,
        };
        match self {
            Self::Spec(_)
            | Self::Seed(_)
            | Self::Schedule(_)
            | Self::TooManyGames { .. }
            | Self::TooManyGroups { .. }
            | Self::RecordsFixed { .. } => (InvalidArgument, reasons::SPEC_INVALID),
            Self::RulesetUnknown(_) | Self::Games(GamesError::Unknown { .. }) => {
                (InvalidArgument, reasons::UNKNOWN_RULESET)
            }
            Self::RulesetNotFound { .. } => (NotFound, reasons::UNKNOWN_RULESET),
            Self::RulesetConflict(_) => (FailedPrecondition, reasons::RULESET_CONFLICT),
            Self::Book(BookError::Work { .. }) => (InvalidArgument, reasons::REQUEST_INVALID),
            Self::Book(BookError::Stopped) => (Cancelled, reasons::DEADLINE_EXCEEDED),
            Self::Deadline { .. } => (DeadlineExceeded, reasons::DEADLINE_EXCEEDED),
            Self::Book(_)
            | Self::RulesOptions(_)
            | Self::Games(_)
            | Self::BotOption { .. }
            | Self::BotRefuses { .. }
            | Self::NoOptions { .. } => (InvalidArgument, reasons::OPTION_INVALID),
            Self::UnknownAgent { .. } => (InvalidArgument, reasons::UNKNOWN_AGENT),
            Self::UnknownBot { .. } | Self::BotIsAgent { .. } => {
                (InvalidArgument, reasons::UNKNOWN_BOT)
            }
            Self::RulesetUnsupported { .. } => (InvalidArgument, reasons::RULESET_UNSUPPORTED),
            Self::AgentNotFound { .. } => (NotFound, reasons::UNKNOWN_AGENT),
            Self::AgentConflict(_) | Self::EndpointChanged { .. } => {
                (InvalidArgument, reasons::AGENT_CONFLICT)
            }
            Self::Name(_) => (InvalidArgument, reasons::NAME_INVALID),
            Self::BinaryInvalid(_) => (InvalidArgument, reasons::BINARY_INVALID),
            Self::UnknownBinary { .. } => (NotFound, reasons::UNKNOWN_BINARY),
            Self::UnknownTournament { .. } => (NotFound, reasons::UNKNOWN_TOURNAMENT),
            Self::RemovedTournament { .. } => (NotFound, reasons::TOURNAMENT_REMOVED),
            Self::UnknownGame { .. } => (NotFound, reasons::UNKNOWN_GAME),
            Self::SealedGame { .. } | Self::State(_) => {
                (FailedPrecondition, reasons::STATE_CONFLICT)
            }
            Self::PageToken => (InvalidArgument, reasons::PAGE_TOKEN_INVALID),
            Self::RequestId(_) => (InvalidArgument, reasons::REQUEST_ID_CONFLICT),
            Self::Request(_) | Self::Convert(_) => (InvalidArgument, reasons::REQUEST_INVALID),
            Self::Record { .. } | Self::Unsound { .. } => {
                (InvalidArgument, reasons::RECORD_INVALID)
            }
            Self::UnknownWorker(_) => (FailedPrecondition, reasons::UNKNOWN_WORKER),
            Self::NotLeased { .. } => (PermissionDenied, reasons::NOT_LEASED),
            Self::Quarantined => (PermissionDenied, reasons::WORKER_QUARANTINED),
            Self::WorkerOutdated { .. } | Self::WorkerVersion { .. } => {
                (FailedPrecondition, reasons::WORKER_OUTDATED)
            }
            Self::TokenMissing => (Unauthenticated, reasons::TOKEN_MISSING),
            Self::TokenInvalid => (Unauthenticated, reasons::TOKEN_INVALID),
            Self::TokenExpired => (Unauthenticated, reasons::TOKEN_EXPIRED),
            Self::TokenRevoked => (Unauthenticated, reasons::TOKEN_REVOKED),
            Self::TokenUsed | Self::TokenOfUses => (Unauthenticated, reasons::TOKEN_USED),
            Self::TokenAddress { .. } => (PermissionDenied, reasons::TOKEN_ADDRESS),
            Self::CertificateRole | Self::Role { .. } => {
                (PermissionDenied, reasons::ROLE_INSUFFICIENT)
            }
            Self::NotOwner { .. } | Self::StartedByOther { .. } | Self::NotReader { .. } => {
                (PermissionDenied, reasons::NOT_OWNER)
            }
            Self::UnknownToken { .. } => (NotFound, reasons::UNKNOWN_TOKEN),
            Self::Limit { .. } => (ResourceExhausted, reasons::LIMIT_REACHED),
            Self::Overloaded { .. }
            | Self::Connections { .. }
            | Self::Store(StoreError::Busy { .. }) => (ResourceExhausted, reasons::OVERLOADED),
            Self::Draining => (Unavailable, reasons::DRAINING),
            Self::Store(StoreError::WrongDigest { .. }) => {
                (InvalidArgument, reasons::BINARY_INVALID)
            }
            Self::Store(StoreError::NoRoom { .. }) => (ResourceExhausted, reasons::STORE_FAILED),
            Self::Store(StoreError::TooLarge { .. }) => (InvalidArgument, reasons::REQUEST_INVALID),
            Self::Store(StoreError::Closed | StoreError::TakenOver { .. }) => {
                (Unavailable, reasons::STORE_FAILED)
            }
            Self::Defect | Self::Random(_) => (Internal, reasons::INTERNAL),
            Self::Damaged { .. } | Self::Store(_) => (Internal, reasons::STORE_FAILED),
        }
    }

    /// Suggested delay before a retry, if a retry helps.
    pub(crate) fn wait(&self) -> Option<Duration> {
        match self {
            Self::Overloaded { wait } | Self::Connections { wait } => Some(*wait),
            Self::Limit { wait, .. } => *wait,
            Self::Store(StoreError::Busy { .. }) => Some(BUSY_WAIT),
            _ => None,
        }
    }

    /// Details of the reason, for programs.
    fn details(&self) -> HashMap<String, String> {
        match self {
            Self::Limit { limit, maximum, .. } => HashMap::from([
                ("limit".to_owned(), limit.name.to_owned()),
                ("maximum".to_owned(), maximum.to_string()),
            ]),
            _ => HashMap::new(),
        }
    }
}

impl From<Error> for Status {
    fn from(error: Error) -> Self {
        let (code, reason) = error.kind();
        let mut details = ErrorDetails::with_error_info(reason, reasons::DOMAIN, error.details());
        if let Some(wait) = error.wait() {
            details.set_retry_info(Some(wait));
        }
        // Messages repeat what requests contain, and clients print them.
        let message = printable(&error.to_string()).into_owned();
        Self::with_error_details(code, shortened(message), details)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_messages_have_no_hidden_characters() {
        let name = "k\u{1b}[2J\u{202e}\u{3164}".to_owned();
        let error = Error::AgentNotFound {
            name,
            nearest: None,
        };
        let status = Status::from(error);
        let shown = r#"no agent "k\x1b[2J\u{202e}\u{3164}" is registered"#;
        assert!(status.message().starts_with(shown), "{}", status.message());
        // Places in a spec take several lines.
        let status = Status::from(Error::Request("line 1\n\tline 2".to_owned()));
        assert_eq!(status.message(), "line 1\n\tline 2");
        let long = Error::Request("\u{1b}".repeat(MESSAGE_BYTES_MAX));
        let message = Status::from(long).message().to_owned();
        assert!(message.len() <= MESSAGE_BYTES_MAX + "…".len());
    }
}
