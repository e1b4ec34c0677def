//! Fault attribution for agents that do not start: the agent or the host?
//!
//! | State of the agent | Decision |
//! |---|---|
//! | it runs on a connected worker | the host that fails is at fault; the agent's games
//! wait for a worker on which it runs |
//! | a connected worker has not tried it (for ten minutes; two if the worker joined later)
//! | wait |
//! | every worker that ran it has left | wait for the grace period; a fifth of it after a
//! restart or a pause |
//! | it ran elsewhere, never on a connected worker | its games are void |
//! | every connected worker failed to start it | the agent is given up, and charged without
//! being asked |
//!
//! A worker on which every agent fails is not waited for. Failures on workers that have
//! left say nothing. A worker charges an agent only after it tried to start it. An agent
//! that is given up is tried again once a minute.

use super::defects::{Defect, is_injected};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use super::{WorkerProcess, worker_processes::WorkerProcesses};

/// After a restart or a pause, workers have this fraction of the grace period to return.
const REJOIN: u32 = 5;
/// Maximum time to wait for a connected worker that has not tried an agent.
const UNTRIED_GRACE_PERIOD: Duration = Duration::from_secs(600);
/// The same for a worker that joined later.
const NEWCOMER: Duration = Duration::from_secs(120);
/// Interval at which an agent that was given up is tried again.
const PROBE: Duration = Duration::from_secs(60);
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
    /// Processes on which it did not start.
    fails: BTreeMap<WorkerProcess, Failed>,
    /// Start of the waiting time for workers that have not tried it.
    since: Duration,
    /// Time at which the last process that ran it left or made no progress.
    gone: Option<Duration>,
    /// Processes that ran it and whose state is unknown.
    ran: BTreeSet<WorkerProcess>,
    /// Time at which it was given up or last tried again.
    probed: Option<Duration>,
}

/// A failed start of an agent on a process.
#[derive(Clone, Copy, Debug, Default)]
struct Failed {
    /// True if it had started there before.
    ran: bool,
    /// Time of the newest attempt.
    at: Duration,
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
        let broke = self.fails.values().any(|it| it.ran);
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
                starts.probed = None;
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
        let failed = starts.fails.entry(process).or_default();
        failed.ran |= ran;
        failed.at = now;
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
            if starts.fails.remove(&process).map_or(ran, |it| it.ran) {
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
        let fails = |process: &WorkerProcess| starts.fails.contains_key(process);
        let unsuited = self.unsuited.iter().filter(|it| !fails(it)).count();
        let excused = |process| fails(&process) || self.unsuited.contains(&process);
        processes.has_other((starts.fails.len() + unsuited, excused), |came| {
            when.now < (starts.since + UNTRIED_GRACE_PERIOD).max(came + NEWCOMER)
        })
    }

    /// Agents that a process has to charge without asking; it has tried to start them.
    pub(super) fn charged_at(&self, process: WorkerProcess, outcomes: &StartOutcomes) -> Vec<u16> {
        let tried = |agent: u16| {
            let starts = self.all.get(&agent);
            starts.is_some_and(|it| it.fails.contains_key(&process))
        };
        let given_up = outcomes
            .iter()
            .filter(|(_, outcome)| *outcome == StartOutcome::GivenUp);
        let given_up = given_up.map(|&(agent, _)| agent);
        given_up
            .filter(|&agent| is_injected(Defect::ChargesAtOnce) || tried(agent))
            .collect()
    }

    /// The agent that a process has to try again: given up, and longest untried by this
    /// process, or by any process if that one does not ask.
    pub(super) fn is_to_be_tried(
        &mut self,
        agent: u16,
        process: WorkerProcess,
        now: Duration,
    ) -> bool {
        let Some(starts) = self.all.get_mut(&agent) else {
            return false;
        };
        let since = *starts.probed.get_or_insert(now);
        let at = |it: &Failed| it.at;
        let oldest = starts.fails.values().map(at).min();
        let first = starts.fails.get(&process).map(at) == oldest;
        now >= since + PROBE && (first || now >= since + 2 * PROBE)
    }

    /// An agent that was given up is tried again.
    pub(super) fn probe(&mut self, agent: u16, now: Duration) {
        if let Some(starts) = self.all.get_mut(&agent) {
            starts.probed = Some(now);
        }
    }
}

/// True if an agent is given up.
pub(super) fn is_given_up(outcomes: &StartOutcomes, agent: u16) -> bool {
    outcomes.contains(&(agent, StartOutcome::GivenUp))
}
