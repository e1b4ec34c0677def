//! Failures of commands and their exit codes. The exit codes are a contract.

use std::{error::Error, fmt};

use arena_access::tls_advice;
use arena_evolution::EvolutionError;
use arena_papers::PaperError;
use arena_report::ReportError;
use tonic::{Code, Status};

/// The reason why a command failed.
#[derive(Debug)]
pub struct Failure {
    kind: Kind,
    message: String,
}

/// The exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A failure of a port, a folder, a disk or a process.
    Failed = 1,
    /// The user's input is wrong.
    Usage = 2,
    /// A comparison or verification failed.
    Differs = 3,
    /// A peer cannot be reached.
    Unreachable = 4,
    /// Interrupted by a signal.
    Interrupted = 130,
}

impl Failure {
    /// A failure with this exit code and message.
    pub fn new(kind: Kind, message: impl fmt::Display) -> Self {
        Self {
            kind,
            message: message.to_string(),
        }
    }

    /// As [`Self::new`], for [`Kind::Failed`].
    pub fn failed(message: impl fmt::Display) -> Self {
        Self::new(Kind::Failed, message)
    }

    /// As [`Self::new`], for [`Kind::Usage`].
    pub fn usage(message: impl fmt::Display) -> Self {
        Self::new(Kind::Usage, message)
    }

    /// As [`Self::new`], for [`Kind::Differs`].
    pub fn differs(message: impl fmt::Display) -> Self {
        Self::new(Kind::Differs, message)
    }

    /// As [`Self::new`], for [`Kind::Unreachable`].
    pub fn unreachable(message: impl fmt::Display) -> Self {
        Self::new(Kind::Unreachable, message)
    }

    /// Its exit code.
    pub fn kind(&self) -> Kind {
        self.kind
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<Status> for Failure {
    fn from(status: Status) -> Self {
        // An error below gRPC, in whatever code: the connection broke.
        if let Some(cause) = status.source() {
            let cause = root_cause(cause);
            let advice = tls_advice(&cause).unwrap_or("is it still running?");
            return Self::unreachable(format!(
                "lost the connection to the coordinator: {cause}; {advice}"
            ));
        }
        let kind = match status.code() {
            Code::InvalidArgument
            | Code::NotFound
            | Code::AlreadyExists
            | Code::FailedPrecondition
            | Code::OutOfRange => Kind::Usage,
            Code::Unavailable => Kind::Unreachable,
            _ => Kind::Failed,
        };
        Self::new(kind, status.message())
    }
}

impl From<EvolutionError> for Failure {
    fn from(error: EvolutionError) -> Self {
        let kind = match error {
            EvolutionError::Usage(_) => Kind::Usage,
            EvolutionError::Failed(_) => Kind::Failed,
        };
        Self::new(kind, error)
    }
}

impl From<ReportError> for Failure {
    fn from(error: ReportError) -> Self {
        match error {
            ReportError::Usage(message) => Self::usage(message),
            ReportError::Failed(message) => Self::failed(message),
            ReportError::Differs(message) => Self::differs(message),
            ReportError::Status(status) => status.into(),
            // A reader such as `head` has closed stdout: end without an error.
            ReportError::Closed => std::process::exit(0),
        }
    }
}

impl From<PaperError> for Failure {
    fn from(error: PaperError) -> Self {
        let kind = match error {
            PaperError::Usage(_) => Kind::Usage,
            PaperError::Failed(_) => Kind::Failed,
            PaperError::Interrupted => return Self::new(Kind::Interrupted, ""),
        };
        Self::new(kind, error)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::failed(error)
    }
}

/// The result of a command or of a part of it.
pub type Outcome<T = ()> = Result<T, Failure>;

/// The innermost cause, which is the most specific one.
pub fn root_cause(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}
