//! Whose fault it is that an agent does not start: seen by where it does.
//!
//! An agent is charged without being asked where everybody who is here tried to
//! start it and nobody could. While it runs at somebody who is here, or somebody
//! is here who has not tried, it is hosts that lack something, and its games wait
//! for the others; one at which everything fails is not waited for. What failed at
//! hosts that are gone says nothing. Nobody charges an agent without having tried to
//! start it. One that is charged is tried again once a minute: what it lacked may
//! have come back.
//!
//! Where those went at which it ran, they have ten minutes to come back: a host that
//! boots. Where who was here before the coordinator started, or a pause began, is not
//! known, they have two. An agent that is known to have run elsewhere, and at nobody
//! who is here, is not charged after that either: its games are void.

use super::defects::{Defect, is_injected};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use super::{WorkerProcess, worker_processes::WorkerProcesses};

/// Those who may have been here before a start or a pause have this part of the time
/// of those at which an agent is known to have run.
const REJOIN: u32 = 5;
/// How long somebody who is here and has not tried is waited for.
const UNTRIED_GRACE_PERIOD: Duration = Duration::from_secs(600);
/// The same of one who comes later.
const NEWCOMER: Duration = Duration::from_secs(120);
/// How long after it was given up, or tried, an agent is tried again.
const PROBE: Duration = Duration::from_secs(60);
/// Processes that left and are known to have run an agent.
const GONE_MAX: usize = 64;

/// What is to become of the games of an agent that did not start somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StartOutcome {
    /// Others may play them.
    Waits,
    /// It runs at somebody who is here.
    Runs,
    /// They are charged to it.
    GivenUp,
    /// It ran elsewhere, and never at any of those who cannot start it: whose fault
    /// that is nobody knows.
    Unknown,
}

/// Agents that did not start somewhere, and what is to become of their games.
pub(super) type StartOutcomes = Vec<(u16, StartOutcome)>;

/// What is known of an agent, by those who are here.
#[derive(Debug, Default)]
struct StartHistory {
    /// Where it started, and did not fail since.
    runs: BTreeSet<WorkerProcess>,
    /// Where it did not start.
    fails: BTreeMap<WorkerProcess, Failed>,
    /// Since when those are waited for who were here and have not tried.
    since: Duration,
    /// When the last one went, or made no progress, at which it ran.
    gone: Option<Duration>,
    /// Those at which it ran and of whom nobody knows whether it does.
    ran: BTreeSet<WorkerProcess>,
    /// When it was given up, or tried again since.
    probed: Option<Duration>,
}

/// An agent that did not start at a process.
#[derive(Clone, Copy, Debug, Default)]
struct Failed {
    /// It had started there before.
    ran: bool,
    /// When it was tried last.
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

    /// It ran at a process, which may come back.
    fn remember(&mut self, process: WorkerProcess) {
        if matches!(process, WorkerProcess::Process(_)) && self.ran.len() < GONE_MAX {
            self.ran.insert(process);
        }
    }
}

struct When {
    now: Duration,
    resumed: Option<Duration>,
    /// How long those have to come back at which an agent ran.
    grace_period: Duration,
}

/// The agents of a tournament, by their place in it.
#[derive(Debug, Default)]
pub(super) struct AgentStarts {
    all: BTreeMap<u16, StartHistory>,
    /// Processes that are here and cannot play the tournament.
    unsuited: BTreeSet<WorkerProcess>,
    /// When the coordinator went on with the tournament, or a user did.
    resumed: Option<Duration>,
}

impl AgentStarts {
    /// Of a tournament that an earlier start of the coordinator had.
    pub(super) fn resumed(&mut self, now: Duration) {
        self.resumed = Some(now);
    }

    /// The tournament goes on: who has not tried has the whole time to do so.
    pub(super) fn wait_anew(&mut self, now: Duration) {
        self.resumed = Some(now);
        for starts in self.all.values_mut() {
            starts.since = now;
        }
    }

    /// Forgets where agents started and where not.
    pub(super) fn forget(&mut self) {
        self.all.clear();
    }

    /// Whether a process that asks for games can play the tournament at all.
    pub(super) fn asks(&mut self, process: WorkerProcess, suits: bool) {
        if suits {
            self.unsuited.remove(&process);
        } else {
            self.unsuited.insert(process);
        }
    }

    /// Whether a process can play the tournament, as far as is known.
    pub(super) fn suits(&self, process: WorkerProcess) -> bool {
        !self.unsuited.contains(&process)
    }

    /// Agents played at a process that is here.
    pub(super) fn run(&mut self, agents: &[u16], process: WorkerProcess) {
        for &agent in agents {
            let starts = self.all.entry(agent).or_default();
            if starts.runs.insert(process) {
                starts.fails.remove(&process);
                starts.probed = None;
            }
        }
    }

    /// An agent did not start at a process.
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

    /// A process made no progress with what it was leased: whether anything still runs
    /// there nobody knows.
    pub(super) fn stuck(&mut self, process: WorkerProcess, now: Duration) {
        for starts in self.all.values_mut() {
            if starts.runs.remove(&process) {
                starts.remember(process);
                (starts.since, starts.gone) = (now, Some(now));
            }
        }
    }

    /// A process is gone.
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

    /// Of all that did not start somewhere.
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

    /// Whether somebody is here who can play the tournament and has not tried, though
    /// not for too long.
    fn is_untried(&self, starts: &StartHistory, when: &When, processes: &WorkerProcesses) -> bool {
        let fails = |process: &WorkerProcess| starts.fails.contains_key(process);
        let unsuited = self.unsuited.iter().filter(|it| !fails(it)).count();
        let excused = |process| fails(&process) || self.unsuited.contains(&process);
        processes.has_other((starts.fails.len() + unsuited, excused), |came| {
            when.now < (starts.since + UNTRIED_GRACE_PERIOD).max(came + NEWCOMER)
        })
    }

    /// Those that a process is to charge without asking: it has tried.
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

    /// Whether a process is to try one now that was given up: whose last attempt is
    /// longest ago, or anybody where that one does not come.
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

    /// One that was given up is tried again.
    pub(super) fn probe(&mut self, agent: u16, now: Duration) {
        if let Some(starts) = self.all.get_mut(&agent) {
            starts.probed = Some(now);
        }
    }
}

/// Whether an agent is given up.
pub(super) fn is_given_up(outcomes: &StartOutcomes, agent: u16) -> bool {
    outcomes.contains(&(agent, StartOutcome::GivenUp))
}
