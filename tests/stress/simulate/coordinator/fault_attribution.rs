//! Failures, counted independently of the ledger: a game may be void only after enough
//! attempts, and an agent charged only if no connected worker could have started it.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use arena_coordinator::ledger::{Ended, Grant, LeaseId};
use arena_wire::ATTEMPTS_MAX;

use super::{Present, Wrong};
use crate::stress::simulate::{
    games::{FORFEIT, Spec, UNREADY, VOID},
    net::Played,
};

/// A game by its tournament and number.
type Game = (usize, u64);

/// A game that failed at this many processes need not be tried by others.
const PROCESSES: usize = 3;
/// A process is not waited for after this many consecutive failures.
const BROKEN: u32 = 3;
/// A game may be void after this many attempts, if its agents run on several hosts.
const SCATTERED: u32 = 20;
/// The time to return for hosts on which an agent ran, and for hosts that may have been connected
/// before a start.
pub(in crate::stress::simulate) const HOST_GRACE_PERIOD: Duration = Duration::from_secs(30);
const REJOIN: Duration = Duration::from_secs(6);

#[derive(Default)]
struct Failures {
    count: u32,
    /// Failed attempts for other reasons than an agent that does not start.
    played: u32,
    /// Whether the agent ran on some host and did not start on another.
    unknown: bool,
    at: BTreeSet<u64>,
}

struct Leased {
    process: u64,
    tournament: usize,
    games: BTreeSet<u64>,
    /// Id of the request that it answers.
    call: u64,
    /// Whether a game of the lease failed.
    failed: bool,
}

/// What this start of the coordinator has observed.
#[derive(Default)]
pub(super) struct FaultAttribution {
    /// Consecutive failed leases of a process, other than by their agent, and when one last
    /// expired.
    broken: BTreeMap<u64, (Option<Duration>, u32)>,
    failures: BTreeMap<Game, Failures>,
    leases: BTreeMap<LeaseId, Leased>,
    void: BTreeSet<Game>,
    /// Processes on which agents run.
    runs: BTreeMap<(usize, u16), BTreeSet<u64>>,
    /// Processes on which they did not start, with the time since when.
    fails: BTreeMap<(usize, u16), (Duration, BTreeSet<u64>)>,
    /// Processes on which they ran, including ones that have left.
    ever: BTreeMap<(usize, u16), BTreeSet<u64>>,
    /// When the last process left on which they ran.
    gone: BTreeMap<(usize, u16), Duration>,
    /// Tournaments of earlier starts.
    resumed: BTreeSet<usize>,
    specs: Vec<Spec>,
}

impl FaultAttribution {
    pub(super) fn new(specs: &[Spec]) -> Self {
        Self {
            specs: specs.to_vec(),
            ..Self::default()
        }
    }

    /// Processes that can play a tournament at all.
    fn able<'a>(
        &'a self,
        tournament: usize,
        present: &'a [Present],
    ) -> impl Iterator<Item = &'a Present> {
        let spec = &self.specs[tournament];
        present.iter().filter(|here| spec.suits(here.who.place))
    }

    /// Marks a tournament as one of an earlier start.
    pub(super) fn goes_on(&mut self, tournament: usize) {
        self.resumed.insert(tournament);
    }

    fn fail(&mut self, game: Game, process: u64, unready: Option<u16>) {
        let failures = self.failures.entry(game).or_default();
        failures.count += 1;
        failures.played += u32::from(unready.is_none());
        if let Some(agent) = unready {
            let of = (game.0, agent);
            let tried = self.fails.get(&of).map(|(_, at)| at);
            let ran = self.ever.get(&of);
            failures.unknown = ran
                .zip(tried)
                .is_some_and(|(ran, tried)| !ran.is_subset(tried));
        }
        failures.at.insert(process);
    }

    /// A process gets a lease.
    pub(super) fn leased(
        &mut self,
        present: &[Present],
        (now, process): (Duration, u64),
        tournament: usize,
        grant: &Grant,
        call: u64,
    ) -> Result<(), Wrong> {
        for assigned in grant.games.iter().filter(|_| !grant.audit) {
            let game = (tournament, assigned.index);
            let failures = self.failures.get(&game);
            let (count, at) = failures.map_or((0, 0), |it| (it.count, it.at.len()));
            if assigned.attempts > count {
                return Err(format!(
                    "game {game:?} failed {count} times, but {} are counted",
                    assigned.attempts
                ));
            }
            if assigned.attempts >= ATTEMPTS_MAX {
                if at < PROCESSES && count < 2 * ATTEMPTS_MAX {
                    return Err(format!(
                        "game {game:?} is void after {count} attempts on {at} processes"
                    ));
                }
                let enough = |it: &Failures| {
                    it.played >= ATTEMPTS_MAX || it.unknown || it.count >= SCATTERED
                };
                if failures.is_some_and(|it| !enough(it)) {
                    return Err(format!(
                        "game {game:?} is void, but its agent, which starts on no worker, is not charged"
                    ));
                }
                self.void.insert(game);
            }
        }
        for &agent in &grant.given_up {
            let runs = self.runs.get(&(tournament, agent));
            let here = |here: &Present| runs.is_some_and(|it| it.contains(&here.who.process()));
            if present.iter().any(here) {
                return Err(format!(
                    "agent {agent} of tournament {tournament} is charged, but starts on a \
                     connected process"
                ));
            }
            let gone = self.gone.get(&(tournament, agent)).copied();
            let start = self.resumed.contains(&tournament) && now < REJOIN;
            if start || gone.is_some_and(|since| now < since + HOST_GRACE_PERIOD) {
                return Err(format!(
                    "agent {agent} of tournament {tournament} is charged before the processes \
                     that ran it can return"
                ));
            }
            let tried = self.fails.get(&(tournament, agent));
            let untried = |here: &Present| {
                let process = here.who.process();
                let broken = self.broken.get(&process).is_some_and(|it| it.1 >= BROKEN);
                let since = tried.map_or(Duration::ZERO, |(since, _)| *since);
                !broken
                    && now < (since + HOST_GRACE_PERIOD).max(here.since + REJOIN)
                    && tried.is_none_or(|(_, tried)| !tried.contains(&process))
            };
            if tried.is_none_or(|(_, tried)| !tried.contains(&process)) {
                return Err(format!(
                    "agent {agent} of tournament {tournament} is charged by a process that has not tried it"
                ));
            }
            let of = (tournament, agent);
            let ran = self.ever.get(&of);
            let here = |tried: &BTreeSet<u64>| ran.is_some_and(|ran| !ran.is_disjoint(tried));
            if gone.is_some() && !tried.is_some_and(|(_, tried)| here(tried)) {
                return Err(format!(
                    "agent {agent} of tournament {tournament} ran elsewhere, but is charged by \
                     processes on which it never ran"
                ));
            }
            if self.able(tournament, present).any(untried) {
                return Err(format!(
                    "agent {agent} of tournament {tournament} is charged, but a process has not \
                     tried it"
                ));
            }
        }
        let games = grant.games.iter().map(|game| game.index);
        let leased = Leased {
            process,
            tournament,
            games: games.collect(),
            call,
            failed: false,
        };
        self.leases.insert(grant.lease, leased);
        Ok(())
    }

    /// A lease was lost with all its games.
    pub(super) fn lost(&mut self, lease: LeaseId) {
        if let Some(leased) = self.leases.remove(&lease) {
            for index in leased.games {
                self.fail((leased.tournament, index), leased.process, None);
            }
        }
    }

    /// A lease made no progress.
    pub(super) fn expired(&mut self, present: &[Present], ended: Ended, now: Duration) {
        let Ended { worker, lease } = ended;
        let of = present.iter().find(|here| here.number == worker);
        if let Some(process) = of.map(|here| here.who.process()) {
            let (at, times) = self.broken.entry(process).or_default();
            *times += u32::from(*at != Some(now));
            *at = Some(now);
            if let Some(leased) = self.leases.get(&lease) {
                for (&of, runs) in &mut self.runs {
                    if of.0 == leased.tournament && runs.remove(&process) {
                        self.gone.insert(of, now);
                    }
                }
            }
        }
        self.lost(lease);
    }

    /// A worker left: all its leases are lost, unless it left in order.
    pub(super) fn left(
        &mut self,
        present: &[Present],
        (now, process): (Duration, u64),
        in_order: bool,
    ) -> bool {
        let of = self
            .leases
            .iter()
            .filter(|(_, leased)| leased.process == process);
        let of: Vec<LeaseId> = of.map(|(&lease, _)| lease).collect();
        if !present.iter().any(|here| here.who.process() == process) {
            for (_, tried) in self.fails.values_mut() {
                tried.remove(&process);
            }
            for (&of, runs) in &mut self.runs {
                if runs.remove(&process) {
                    self.gone.insert(of, now);
                }
            }
        }
        let mut had_games = false;
        for lease in of {
            had_games |= self
                .leases
                .get(&lease)
                .is_some_and(|it| !it.games.is_empty());
            if in_order {
                self.leases.remove(&lease);
            } else {
                self.lost(lease);
            }
        }
        had_games
    }

    /// Leases that a process does not have, although it has settled the requests for them.
    pub(super) fn missing(
        &self,
        process: u64,
        settled: u64,
        held: &[(LeaseId, u64)],
    ) -> Vec<LeaseId> {
        let missing = self.leases.iter().filter(|(lease, leased)| {
            leased.process == process
                && leased.call <= settled
                && !held.iter().any(|(held, _)| held == *lease)
        });
        missing.map(|(&lease, _)| lease).collect()
    }

    /// A process reports games of this start; failed games have the hash 0.
    pub(super) fn reported(
        &mut self,
        process: u64,
        lease: LeaseId,
        spec: &Spec,
        (tournament, games): (usize, &[Played]),
    ) {
        let own = self
            .leases
            .get_mut(&lease)
            .filter(|it| it.process == process);
        let mut failed = Vec::new();
        if let Some(leased) = own {
            for &(index, hash) in games {
                if leased.games.remove(&index) && [0, UNREADY].contains(&hash) {
                    let unready = hash == UNREADY;
                    let (_, times) = self.broken.entry(process).or_default();
                    if unready {
                        *times = 0;
                    } else if !leased.failed {
                        leased.failed = true;
                        *times += 1;
                    }
                    failed.push((index, unready.then(|| spec.agent(index))));
                }
            }
        }
        for (index, unready) in failed {
            self.fail((tournament, index), process, unready);
        }
        for &(index, hash) in games
            .iter()
            .filter(|(_, hash)| ![0, UNREADY, VOID].contains(hash))
        {
            self.broken.remove(&process);
            if hash != FORFEIT {
                let of = (tournament, spec.agent(index));
                self.runs.entry(of).or_default().insert(process);
            }
        }
    }

    /// Other workers need not report a game that has a record.
    pub(super) fn came(&mut self, tournament: usize, index: u64) {
        let mut of = self.leases.values_mut();
        if let Some(leased) = of.find(|it| it.tournament == tournament && it.games.contains(&index))
        {
            leased.games.remove(&index);
        }
    }

    /// A process reports games that it played, perhaps late.
    pub(super) fn ran(
        &mut self,
        process: u64,
        spec: &Spec,
        (tournament, games): (usize, &[Played]),
    ) {
        for &(index, hash) in games {
            if ![0, UNREADY, VOID, FORFEIT].contains(&hash) {
                let of = (tournament, spec.agent(index));
                self.ever.entry(of).or_default().insert(process);
            }
        }
    }

    /// An agent did not start on a process.
    pub(super) fn unready(&mut self, now: Duration, of: (usize, u16), process: u64) {
        let runs = self.runs.get(&of).is_some_and(|runs| !runs.is_empty());
        let (since, at) = self.fails.entry(of).or_default();
        if at.is_empty() || runs {
            *since = now;
        }
        at.insert(process);
        if let Some(runs) = self.runs.get_mut(&of) {
            runs.remove(&process);
        }
    }

    /// Whether a game may be void.
    pub(super) fn was_void(&self, tournament: usize, index: u64) -> bool {
        self.void.contains(&(tournament, index))
    }
}
