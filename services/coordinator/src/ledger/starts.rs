//! Whose fault it is that an agent does not start: seen by where it does.
//!
//! An agent is charged without being asked where everybody who is here tried to
//! start it and nobody could. While it runs at somebody who is here, or somebody
//! is here who has not tried, it is hosts that lack something, and its games wait
//! for the others. What failed at hosts that are gone says nothing. Nobody charges
//! an agent without having tried to start it.
//!
//! Where those went at which it ran, or who was here before the coordinator started
//! is not known, they have a while to come back. After it one host alone still
//! does not charge an agent that is known to have run elsewhere: its games are void.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use super::{Defects, Player, WorkerId, processes::Processes};

/// How long those have to come back at which an agent ran: less than the attempts
/// at a game take until it is void.
const RETURN: Duration = Duration::from_secs(30);
/// How long somebody who is here and has not tried is waited for.
const PATIENCE: Duration = Duration::from_secs(600);

/// What is known of an agent, by those who are here.
#[derive(Debug, Default)]
struct Starts {
    /// Where it started, and did not fail since.
    runs: BTreeSet<Player>,
    /// Where it did not start, and whether it had before.
    fails: BTreeMap<Player, bool>,
    /// Since when somebody is waited for who has not tried.
    since: Duration,
    /// When the last one went at which it ran.
    gone: Option<Duration>,
}

impl Starts {
    fn is_given_up<D: Defects>(
        &self,
        (now, resumed): (Duration, Option<Duration>),
        processes: &Processes,
        suits: impl Fn(WorkerId) -> bool,
    ) -> bool {
        if self.fails.is_empty() || !self.runs.is_empty() {
            return false;
        }
        let untried = |player| !self.fails.contains_key(&player);
        let waits = !D::CHARGES_UNTRIED && now < self.since + PATIENCE;
        if waits && processes.has_other(None, suits, untried) {
            return false;
        }
        let broke = self.fails.values().any(|&ran| ran);
        if self.gone.is_some() && !broke && self.fails.len() == 1 {
            return false;
        }
        let awaited = self.gone.max(resumed);
        awaited.is_none_or(|since| now >= since + RETURN)
    }
}

/// The agents of a tournament, by their place in it.
#[derive(Debug, Default)]
pub(super) struct Agents {
    all: BTreeMap<u16, Starts>,
    /// When the coordinator went on with the tournament, where it did.
    resumed: Option<Duration>,
}

impl Agents {
    /// Of a tournament that an earlier start of the coordinator played of.
    pub(super) fn resumed(&mut self, now: Duration) {
        self.resumed = Some(now);
    }

    /// Somebody came, or the tournament goes on: who has not tried has the whole
    /// time to do so.
    pub(super) fn wait_anew(&mut self, now: Duration) {
        for starts in self.all.values_mut() {
            starts.since = now;
        }
    }

    /// Agents played at a process that is here.
    pub(super) fn run(&mut self, agents: &[u16], player: Player) {
        for &agent in agents {
            let starts = self.all.entry(agent).or_default();
            if starts.runs.insert(player) {
                starts.fails.remove(&player);
            }
        }
    }

    /// An agent did not start at a process.
    pub(super) fn fail(&mut self, agent: u16, player: Player, now: Duration) {
        let starts = self.all.entry(agent).or_default();
        if starts.fails.is_empty() || !starts.runs.is_empty() {
            starts.since = now;
        }
        let ran = starts.runs.remove(&player);
        *starts.fails.entry(player).or_default() |= ran;
    }

    /// A process is gone.
    pub(super) fn left(&mut self, player: Player, now: Duration) {
        for starts in self.all.values_mut() {
            let ran = starts.runs.remove(&player);
            if starts.fails.remove(&player).unwrap_or(ran) {
                starts.gone = Some(now);
            }
        }
    }

    pub(super) fn is_given_up<D: Defects>(
        &self,
        agent: u16,
        now: Duration,
        processes: &Processes,
    ) -> bool {
        let when = (now, self.resumed);
        let starts = self.all.get(&agent);
        starts
            .is_some_and(|it| D::CHARGES_AT_ONCE || it.is_given_up::<D>(when, processes, |_| true))
    }

    /// Those that start nowhere.
    pub(super) fn given_up<D: Defects>(
        &self,
        now: Duration,
        processes: &Processes,
        suits: impl Fn(WorkerId) -> bool,
    ) -> Vec<u16> {
        let when = (now, self.resumed);
        let given_up = self.all.iter().filter(|(_, starts)| {
            let at_once = D::CHARGES_AT_ONCE && !starts.fails.is_empty();
            at_once || starts.is_given_up::<D>(when, processes, &suits)
        });
        given_up.map(|(&agent, _)| agent).collect()
    }

    /// Those of them that a process is to charge without asking: it has tried.
    pub(super) fn charged_at<D: Defects>(
        &self,
        player: Player,
        now: Duration,
        processes: &Processes,
        suits: impl Fn(WorkerId) -> bool,
    ) -> Vec<u16> {
        let mut given_up = self.given_up::<D>(now, processes, suits);
        let tried = |agent: &u16| {
            let starts = self.all.get(agent);
            starts.is_some_and(|it| it.fails.contains_key(&player))
        };
        given_up.retain(|agent| D::CHARGES_AT_ONCE || tried(agent));
        given_up
    }
}
