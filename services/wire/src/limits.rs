//! The limits of a token, by name.

use std::fmt;

use crate::v1::{AgentLimits, TokenLimits};

/// The limits of a process whose registration states none.
pub const PROCESS_DEFAULTS: AgentLimits = AgentLimits {
    start_timeout_us: 10_000_000,
    memory_bytes: 8 << 30,
    processes: 256,
    output_bytes: 16 << 20,
    disk_bytes: 1 << 30,
    cpu_us: 0,
};

/// Maximum bytes of a binary.
pub const BINARY_BYTES_MAX: u64 = 1 << 30;

impl AgentLimits {
    /// These limits, with the defaults for those that are 0.
    #[must_use]
    pub fn or_default(mut self) -> Self {
        let or = |own: &mut u64, default| *own = if *own == 0 { default } else { *own };
        or(
            &mut self.start_timeout_us,
            PROCESS_DEFAULTS.start_timeout_us,
        );
        or(&mut self.memory_bytes, PROCESS_DEFAULTS.memory_bytes);
        or(&mut self.output_bytes, PROCESS_DEFAULTS.output_bytes);
        or(&mut self.disk_bytes, PROCESS_DEFAULTS.disk_bytes);
        if self.processes == 0 {
            self.processes = PROCESS_DEFAULTS.processes;
        }
        self
    }
}

/// The value of a limit that limits nothing.
pub const UNLIMITED: u64 = u64::MAX;
/// How it is written.
const UNLIMITED_TEXT: &str = "unlimited";

/// One of the limits.
#[derive(Debug)]
pub struct Limit {
    /// Its name in commands.
    pub name: &'static str,
    /// What is counted: one, and several.
    counted: [&'static str; 2],
    /// What the holder of a token can do when the limit is reached.
    pub remedy: &'static str,
    /// The smallest value that makes sense.
    least: u64,
    field: fn(&mut TokenLimits) -> &mut Option<u64>,
}

/// Registered agents.
pub static AGENTS: Limit = Limit {
    name: "agents",
    counted: ["registered agent", "registered agents"],
    remedy: "remove agents with `arena agent remove`",
    least: 0,
    field: |limits| &mut limits.agents,
};

/// Running tournaments.
pub static TOURNAMENTS: Limit = Limit {
    name: "tournaments",
    counted: ["running tournament", "running tournaments"],
    remedy: "wait for a tournament to finish, or pause or cancel one",
    least: 0,
    field: |limits| &mut limits.tournaments,
};

/// Games of running tournaments.
pub static GAMES: Limit = Limit {
    name: "games",
    counted: [
        "game of running tournaments",
        "games of running tournaments",
    ],
    remedy: "lower `blocks`, or wait for a tournament to finish",
    least: 0,
    field: |limits| &mut limits.games,
};

/// Tournaments in any state.
pub static STORED_TOURNAMENTS: Limit = Limit {
    name: "stored-tournaments",
    counted: [
        "tournament, paused, finished and cancelled ones included",
        "tournaments, paused, finished and cancelled ones included",
    ],
    remedy: "remove some that have ended and ask the operator to give their space back (`arena store \
             compact`), or ask for a higher limit",
    least: 0,
    field: |limits| &mut limits.stored_tournaments,
};

/// Bytes of uploaded binaries.
pub static UPLOAD_BYTES: Limit = Limit {
    name: "upload-bytes",
    counted: ["byte of uploaded binaries", "bytes of uploaded binaries"],
    remedy: "remove agents that need binaries; the coordinator removes unneeded binaries within \
             two hours",
    least: 0,
    field: |limits| &mut limits.upload_bytes,
};

/// Time in which an upload has to send its next MiB, or its rest.
pub static UPLOAD_IDLE: Limit = Limit {
    name: "upload-idle-seconds",
    counted: [
        "second for each MiB of an upload",
        "seconds for each MiB of an upload",
    ],
    remedy: "send the file again over a faster connection, or ask for a higher limit",
    least: 1,
    field: |limits| &mut limits.upload_idle_seconds,
};

/// Open streams.
pub static STREAMS: Limit = Limit {
    name: "streams",
    counted: ["open stream", "open streams"],
    remedy: "end a watch, a transfer or a worker",
    least: 0,
    field: |limits| &mut limits.streams,
};

/// Requests a second.
pub static REQUESTS: Limit = Limit {
    name: "requests-per-second",
    counted: ["request a second", "requests a second"],
    remedy: "wait a moment",
    least: 1,
    field: |limits| &mut limits.requests_per_second,
};

/// Memory that an agent asks for.
pub static AGENT_MEMORY: Limit = Limit {
    name: "agent-memory-mib",
    counted: ["MiB of memory for an agent", "MiB of memory for an agent"],
    remedy: "register it with a lower --memory",
    least: 1,
    field: |limits| &mut limits.agent_memory_mib,
};

/// Scratch folder that an agent asks for.
pub static AGENT_SCRATCH: Limit = Limit {
    name: "agent-scratch-mib",
    counted: [
        "MiB of scratch folder for an agent",
        "MiB of scratch folder for an agent",
    ],
    remedy: "register it with a lower --scratch",
    least: 1,
    field: |limits| &mut limits.agent_scratch_mib,
};

/// Processes that an agent asks for.
pub static AGENT_PROCESSES: Limit = Limit {
    name: "agent-processes",
    counted: ["process for an agent", "processes for an agent"],
    remedy: "register it with a lower --processes",
    least: 1,
    field: |limits| &mut limits.agent_processes,
};

/// Cores that an agent asks for.
pub static AGENT_CPUS: Limit = Limit {
    name: "agent-cpus",
    counted: ["core for an agent", "cores for an agent"],
    remedy: "register it with a lower --cpus",
    least: 1,
    field: |limits| &mut limits.agent_cpus,
};

/// CPU time that an agent asks for.
pub static AGENT_CPU_TIME: Limit = Limit {
    name: "agent-cpu-seconds",
    counted: [
        "second of CPU time for an agent",
        "seconds of CPU time for an agent",
    ],
    remedy: "register it with a lower --cpu-time",
    least: 1,
    field: |limits| &mut limits.agent_cpu_seconds,
};

/// Time to get ready that an agent asks for.
pub static AGENT_START: Limit = Limit {
    name: "agent-start-seconds",
    counted: [
        "second to get ready for an agent",
        "seconds to get ready for an agent",
    ],
    remedy: "register it with a lower --start-timeout",
    least: 1,
    field: |limits| &mut limits.agent_start_seconds,
};

/// All limits, in the order in which they are listed.
pub static LIMITS: [&Limit; 14] = [
    &AGENTS,
    &TOURNAMENTS,
    &GAMES,
    &STORED_TOURNAMENTS,
    &UPLOAD_BYTES,
    &UPLOAD_IDLE,
    &STREAMS,
    &REQUESTS,
    &AGENT_MEMORY,
    &AGENT_SCRATCH,
    &AGENT_PROCESSES,
    &AGENT_CPUS,
    &AGENT_CPU_TIME,
    &AGENT_START,
];

/// Why a text is no limit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LimitError {
    /// It has no equals sign.
    #[error("\"{0}\" is not a limit: expected NAME=VALUE, such as agents=20")]
    Form(String),
    /// The name is wrong.
    #[error("unknown limit \"{0}\": expected {names}", names = names())]
    Name(String),
    /// The value is wrong.
    #[error("\"{value}\" is not a value of {name}: expected a number from {least}, or unlimited")]
    Value {
        /// Name of the limit.
        name: &'static str,
        /// The text.
        value: String,
        /// The smallest value.
        least: u64,
    },
}

fn names() -> String {
    let names = LIMITS.map(|limit| limit.name);
    let (last, first) = names.split_last().unwrap_or((&"", &[]));
    format!("{} or {last}", first.join(", "))
}

/// Reads `NAME=VALUE`.
///
/// # Errors
/// [`LimitError`], which lists the names.
pub fn parse(text: &str) -> Result<(&'static Limit, u64), LimitError> {
    let pair = text.split_once('=');
    let (name, value) = pair.ok_or_else(|| LimitError::Form(text.escape_debug().to_string()))?;
    let limit = LIMITS.into_iter().find(|limit| limit.name == name);
    let limit = limit.ok_or_else(|| LimitError::Name(name.escape_debug().to_string()))?;
    let number = match value {
        UNLIMITED_TEXT => Some(UNLIMITED),
        value => value.parse().ok(),
    };
    match number.filter(|&number| number >= limit.least) {
        Some(number) => Ok((limit, number)),
        None => Err(LimitError::Value {
            name: limit.name,
            value: value.escape_debug().to_string(),
            least: limit.least,
        }),
    }
}

/// The value of a limit as text.
#[must_use]
pub fn format(value: u64) -> String {
    match value {
        UNLIMITED => UNLIMITED_TEXT.to_owned(),
        value => value.to_string(),
    }
}

impl Limit {
    /// What is counted, after its number.
    #[must_use]
    pub fn counted(&self, number: u64) -> &'static str {
        self.counted[usize::from(number != 1)]
    }

    /// Its value, if there is one.
    #[must_use]
    pub fn of(&self, limits: &TokenLimits) -> Option<u64> {
        let mut limits = *limits;
        *(self.field)(&mut limits)
    }

    /// Sets its value.
    pub fn set(&self, limits: &mut TokenLimits, value: Option<u64>) {
        *(self.field)(limits) = value;
    }

    /// True if a value can be used.
    #[must_use]
    pub fn allows(&self, value: u64) -> bool {
        value >= self.least
    }
}

impl TokenLimits {
    /// These limits, and for the absent ones those of others.
    #[must_use]
    pub fn or(mut self, others: &Self) -> Self {
        for limit in LIMITS {
            let value = limit.of(&self).or(limit.of(others));
            limit.set(&mut self, value);
        }
        self
    }

    /// The limits that have a value.
    pub fn entries(&self) -> impl Iterator<Item = (&'static Limit, u64)> {
        LIMITS.into_iter().filter_map(|it| Some((it, it.of(self)?)))
    }
}

impl fmt::Display for TokenLimits {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, (limit, value)) in self.entries().enumerate() {
            let space = if number > 0 { " " } else { "" };
            write!(formatter, "{space}{}={}", limit.name, format(value))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_back() {
        let mut limits = TokenLimits::default();
        for (number, limit) in LIMITS.into_iter().enumerate() {
            let text = format!("{}={}", limit.name, number + 1);
            let (found, value) = parse(&text).expect("a limit");
            found.set(&mut limits, Some(value));
        }
        let (found, value) = parse("games=unlimited").expect("a limit");
        found.set(&mut limits, Some(value));
        assert_eq!(
            limits.to_string(),
            "agents=1 tournaments=2 games=unlimited stored-tournaments=4 upload-bytes=5 \
             upload-idle-seconds=6 streams=7 requests-per-second=8 agent-memory-mib=9 \
             agent-scratch-mib=10 agent-processes=11 agent-cpus=12 agent-cpu-seconds=13 \
             agent-start-seconds=14"
        );
        let (limit, value) = (&AGENTS, 7);
        let mut own = TokenLimits::default();
        limit.set(&mut own, Some(value));
        let both = own.or(&limits);
        assert_eq!((both.agents, both.tournaments), (Some(7), Some(2)));
    }

    #[test]
    fn wrong_limits_say_what_is_expected() {
        for (text, expected) in [
            ("agents", "expected NAME=VALUE"),
            ("", "expected NAME=VALUE"),
            (
                "agent=1",
                "unknown limit \"agent\": expected agents, tournaments, games, \
                 stored-tournaments, upload-bytes, upload-idle-seconds, streams, ",
            ),
            ("agents=", "expected a number from 0, or unlimited"),
            ("agents=-1", "expected a number from 0, or unlimited"),
            ("agents=1e3", "expected a number from 0, or unlimited"),
            (
                "agents=18446744073709551616",
                "expected a number from 0, or unlimited",
            ),
            (
                "requests-per-second=0",
                "expected a number from 1, or unlimited",
            ),
        ] {
            let error = parse(text).expect_err(text).to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
