//! Fault attribution for agents that do not start: the agent or the host?
//!
//! | State of the agent | Decision |
//! |---|---|
//! | runs on a connected process | its games wait for that process |
//! | a connected process has not tried it | wait a grace period, or a fifth for a newcomer |
//! | every process that ran it has left | wait a grace period |
//! | the tournament has just resumed | wait a fifth of a grace period |
//! | ran elsewhere, never on a connected process | its games are void |
//! | each connected process failed to start it | given up: charged without being asked |
//!
//! A process that fails with every game is not waited for. Failures on processes that have
//! left do not count. A process charges an agent only after it tried to start it. An agent
//! that is given up is tried again on a process that joins, and after a user resumes the
//! tournament.

use super::defects::{Defect, is_injected};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use super::{WorkerProcess, worker_processes::WorkerProcesses};

/// Workers that join have this fraction of the grace period to try an agent, and lost ones
/// to return after a restart or a pause.
const REJOIN: u32 = 5;
/// Maximum number of remembered processes that left and had run an agent.
const GONE_MAX: usize = 64;

/// What happens to the games of an agent that did not start somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StartOutcome {
    /// They wait: other workers may play them.
    Waits,
    /// The agent runs on a connected worker.
    Runs,
    /// The agent is charged.
    GivenUp,
    /// The agent ran elsewhere, and never on a worker that failed to start it: its fault
    /// cannot be decided.
    Unknown,
}

/// Agents that did not start somewhere, with what happens to their games.
pub(super) type StartOutcomes = Vec<(u16, StartOutcome)>;

/// The starts of an agent on connected workers.
#[derive(Debug, Default)]
struct StartHistory {
    /// Processes on which it started and has not failed since.
    runs: BTreeSet<WorkerProcess>,
    /// Processes on which it did not start, and whether it had started there before.
    fails: BTreeMap<WorkerProcess, bool>,
    /// Start of the waiting time for workers that have not tried it.
    since: Duration,
    /// Time at which the last process that ran it left or made no progress.
    gone: Option<Duration>,
    /// Processes that ran it and whose state is unknown.
    ran: BTreeSet<WorkerProcess>,
}

impl StartHistory {
    fn outcome(&self, untried: impl FnOnce() -> bool, when: &When) -> StartOutcome {
        if !self.runs.is_empty() {
            return StartOutcome::Runs;
        }
        if is_injected(Defect::NeverCharges) {
            return StartOutcome::Unknown;
        }
        if untried() {
            return StartOutcome::Waits;
        }
        let since = |since: Option<Duration>, wait| since.is_some_and(|it| when.now < it + wait);
        let awaited =
            since(self.gone, when.grace_period) || since(when.resumed, when.grace_period / REJOIN);
        if awaited && !is_injected(Defect::AwaitsNobody) {
            return StartOutcome::Waits;
        }
        let broke = self.fails.values().any(|ran| *ran);
        if self.gone.is_some() && !broke && !is_injected(Defect::ChargesElsewhere) {
            StartOutcome::Unknown
        } else {
            StartOutcome::GivenUp
        }
    }

    /// Remembers a process that ran the agent and may return.
    fn remember(&mut self, process: WorkerProcess) {
        if matches!(process, WorkerProcess::Process(_)) && self.ran.len() < GONE_MAX {
            self.ran.insert(process);
        }
    }
}

struct When {
    now: Duration,
    resumed: Option<Duration>,
    /// Time for workers that ran the agent to return.
    grace_period: Duration,
}

/// The agents of a tournament, by number.
#[derive(Debug, Default)]
pub(super) struct AgentStarts {
    all: BTreeMap<u16, StartHistory>,
    /// Connected processes that cannot play the tournament.
    unsuited: BTreeSet<WorkerProcess>,
    /// Time at which the coordinator or a user resumed the tournament.
    resumed: Option<Duration>,
}

impl AgentStarts {
    /// Marks a tournament of an earlier start as resumed.
    pub(super) fn resumed(&mut self, now: Duration) {
        self.resumed = Some(now);
    }

    /// The tournament resumes: workers that have not tried an agent get the whole time.
    pub(super) fn wait_anew(&mut self, now: Duration) {
        self.resumed = Some(now);
        for starts in self.all.values_mut() {
            starts.since = now;
        }
    }

    /// Forgets all starts and failures.
    pub(super) fn forget(&mut self) {
        self.all.clear();
    }

    /// Sets whether a process that requests games can play the tournament.
    pub(super) fn asks(&mut self, process: WorkerProcess, suits: bool) {
        if suits {
            self.unsuited.remove(&process);
        } else {
            self.unsuited.insert(process);
        }
    }

    /// True if a process can play the tournament, as far as known.
    pub(super) fn suits(&self, process: WorkerProcess) -> bool {
        !self.unsuited.contains(&process)
    }

    /// Agents played on a connected process.
    pub(super) fn run(&mut self, agents: &[u16], process: WorkerProcess) {
        for &agent in agents {
            let starts = self.all.entry(agent).or_default();
            if starts.runs.insert(process) {
                starts.fails.remove(&process);
            }
        }
    }

    /// An agent did not start on a process.
    pub(super) fn fail(&mut self, agent: u16, process: WorkerProcess, now: Duration) {
        let starts = self.all.entry(agent).or_default();
        if starts.fails.is_empty() || !starts.runs.is_empty() {
            starts.since = now;
        }
        let ran = starts.runs.remove(&process) || starts.ran.contains(&process);
        *starts.fails.entry(process).or_default() |= ran;
    }

    /// A process made no progress with a lease: it is unknown whether its agents still run.
    pub(super) fn stuck(&mut self, process: WorkerProcess, now: Duration) {
        for starts in self.all.values_mut() {
            if starts.runs.remove(&process) {
                starts.remember(process);
                (starts.since, starts.gone) = (now, Some(now));
            }
        }
    }

    /// A process left.
    pub(super) fn left(&mut self, process: WorkerProcess, now: Duration) {
        self.unsuited.remove(&process);
        for starts in self.all.values_mut() {
            let ran = starts.runs.remove(&process);
            if starts.fails.remove(&process).unwrap_or(ran) {
                starts.gone = Some(now);
                starts.remember(process);
            }
        }
    }

    /// What happens to the games of each agent that did not start somewhere.
    pub(super) fn outcomes(&self, now: Duration, processes: &WorkerProcesses) -> StartOutcomes {
        let when = When {
            now,
            resumed: self.resumed,
            grace_period: processes.grace_period,
        };
        let failed = self.all.iter().filter(|(_, it)| !it.fails.is_empty());
        let outcomes = failed.map(|(&agent, starts)| {
            let outcome = if is_injected(Defect::ChargesAtOnce) {
                StartOutcome::GivenUp
            } else {
                let untried = || {
                    !is_injected(Defect::ChargesUntried)
                        && self.is_untried(starts, &when, processes)
                };
                starts.outcome(untried, &when)
            };
            (agent, outcome)
        });
        outcomes.collect()
    }

    /// True if a connected worker can play the tournament and has not tried the agent,
    /// within the time limit.
    fn is_untried(&self, starts: &StartHistory, when: &When, processes: &WorkerProcesses) -> bool {
        let excused =
            |process| starts.fails.contains_key(&process) || self.unsuited.contains(&process);
        processes.has_other(excused, |joined| {
            let longest = starts.since + when.grace_period;
            when.now < longest.max(joined + when.grace_period / REJOIN)
        })
    }

    /// Agents that a process has to charge without asking them: it has tried to start them.
    pub(super) fn charged_at(&self, process: WorkerProcess, outcomes: &StartOutcomes) -> Vec<u16> {
        let tried = |agent: &u16| {
            let starts = self.all.get(agent);
            is_injected(Defect::ChargesAtOnce)
                || starts.is_some_and(|it| it.fails.contains_key(&process))
        };
        let given_up = outcomes.iter().filter(|it| it.1 == StartOutcome::GivenUp);
        given_up.map(|&(agent, _)| agent).filter(tried).collect()
    }
}

/// True if an agent is given up.
pub(super) fn is_given_up(outcomes: &StartOutcomes, agent: u16) -> bool {
    outcomes.contains(&(agent, StartOutcome::GivenUp))
}
