//! Fault attribution for agents that do not start: is the agent or the host at fault?
//!
//! "Process" means a worker process.
//!
//! | State of the agent | Decision |
//! |---|---|
//! | it runs on a connected process | its games wait for that process |
//! | a connected process has not tried it | wait a grace period; a fifth for a process that joined later |
//! | every process that ran it has left | wait a grace period |
//! | the tournament has just resumed | wait a fifth of a grace period |
//! | it ran on other processes, but never on a connected one | its games are void |
//! | each connected process failed to start it | given up: charged without a question |
//!
//! The ledger does not wait for a process that fails with every game. Failures on processes that
//! have left do not count. A process charges an agent only after the process tried to start the
//! agent. An agent that is given up is tried again on a process that joins, and after a user
//! resumes the tournament.

use super::defects::{Defect, is_injected};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use super::{WorkerProcess, worker_processes::WorkerProcesses};

/// The grace period is divided by this number for workers that join, to try an agent, and for lost
/// workers, to return after a restart or a pause.
const REJOIN: u32 = 5;
/// Maximum number of processes that are remembered for an agent because they ran it and left.
const GONE_MAX: usize = 64;

/// What happens to the games of an agent that did not start somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StartOutcome {
    /// The games wait, because other workers may be able to play them.
    Waits,
    /// The agent runs on a connected worker.
    Runs,
    /// The agent is charged.
    GivenUp,
    /// The agent ran on other workers, and never on a worker that failed to start it. The ledger
    /// cannot decide whether the agent or the host is at fault.
    Unknown,
}

/// Agents that did not start somewhere, with what happens to their games.
pub(super) type StartOutcomes = Vec<(u16, StartOutcome)>;

/// The starts of an agent on connected workers.
#[derive(Debug, Default)]
struct StartHistory {
    /// Processes on which the agent started and has not failed since.
    runs: BTreeSet<WorkerProcess>,
    /// Processes on which the agent did not start, and whether it had started there before.
    fails: BTreeMap<WorkerProcess, bool>,
    /// Start of the waiting time for workers that have not tried the agent.
    since: Duration,
    /// Time at which the last process that ran the agent left or made no progress.
    gone: Option<Duration>,
    /// Processes that ran the agent, and then left or made no progress.
    ran: BTreeSet<WorkerProcess>,
}

impl StartHistory {
    /// `untried` returns true while a connected worker still has time to try the agent.
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
        if awaited && !is_injected(Defect::AwaitsNoWorker) {
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

/// The time of a decision, and the times that it depends on.
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
    pub(super) fn mark_resumed(&mut self, now: Duration) {
        self.resumed = Some(now);
    }

    /// Marks the tournament as resumed, and gives workers that have not tried an agent the whole
    /// grace period again.
    pub(super) fn restart_waiting(&mut self, now: Duration) {
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
    pub(super) fn set_suited(&mut self, process: WorkerProcess, suits: bool) {
        if suits {
            self.unsuited.remove(&process);
        } else {
            self.unsuited.insert(process);
        }
    }

    /// True unless it is known that a process cannot play the tournament.
    pub(super) fn suits(&self, process: WorkerProcess) -> bool {
        !self.unsuited.contains(&process)
    }

    /// Records that these agents played on a connected process.
    pub(super) fn mark_run(&mut self, agents: &[u16], process: WorkerProcess) {
        for &agent in agents {
            let starts = self.all.entry(agent).or_default();
            if starts.runs.insert(process) {
                starts.fails.remove(&process);
            }
        }
    }

    /// Records that an agent did not start on a process.
    pub(super) fn mark_failed(&mut self, agent: u16, process: WorkerProcess, now: Duration) {
        let starts = self.all.entry(agent).or_default();
        if starts.fails.is_empty() || !starts.runs.is_empty() {
            starts.since = now;
        }
        let ran = starts.runs.remove(&process) || starts.ran.contains(&process);
        *starts.fails.entry(process).or_default() |= ran;
    }

    /// Records that a process made no progress with a lease, so that it is unknown whether its
    /// agents still run.
    pub(super) fn mark_stuck(&mut self, process: WorkerProcess, now: Duration) {
        for starts in self.all.values_mut() {
            if starts.runs.remove(&process) {
                starts.remember(process);
                (starts.since, starts.gone) = (now, Some(now));
            }
        }
    }

    /// Records that a process left.
    pub(super) fn mark_left(&mut self, process: WorkerProcess, now: Duration) {
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

    /// Agents that are given up and that this process has tried to start. The process charges them
    /// without a question.
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
