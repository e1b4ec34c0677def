//! Faults that can happen on one host and not on another, reported by one owner alone: crashes,
//! timeouts, lost connections and failed starts. No replay proves them, so while a process of
//! another owner is connected, they count only as far as such a process confirms them.
//!
//! | Game with such a fault | What happens while another owner is connected |
//! |---|---|
//! | lost by an agent that never answered | is audited, and counts towards a pause once it is confirmed |
//! | of an agent that does not usually fail like this | is audited, at the latest when another owner joins, also after a restart |
//! | any other | is audited as that of a process in doubt |
//! | an audit by another owner has the same fault | it is confirmed |
//! | an audit by another owner does not have it | it lacks confirmation |
//! | only the audit by another owner has such a fault | so does the audit's |
//! | it lacks confirmation, and the agent does not usually fail like this | it is contradicted: the process is in doubt again, and the result is not sound until a retry replaces the game |
//! | three games of a process in a row are contradicted, by at least two owners, and no other owner sees the agent fail | the process goes into quarantine |
//!
//! An agent usually fails as often as an owner reports if others see it fail, too, and the rate on that owner's
//! workers is not significantly higher than on all others, nor on all others without the owner where it
//! fails most: one accomplice explains nothing. This is decided again with each new game of the agent, so a
//! game may be contradicted at first, and later not, or the other way round.
//!
//! Audits see few games, so rates decide, too:
//!
//! | Rate of an agent's faults | Games that are contradicted |
//! |---|---|
//! | on the workers of one owner, significantly higher or lower than on all others, once all games are played | those of the agent on the workers of this owner |
//! | in audits of games without such faults, significantly higher than in games | those of the agent |
//!
//! The same holds for rules in a package: if they fail on the workers of one owner alone, those rest,
//! and the tournament goes on with the others.

mod rates;

use std::collections::{BTreeMap, BTreeSet};

use arena_tournament::Rate;

use super::{Bitmap, Ledger, Owner, TournamentNo, WorkerId, WorkerProcess, audits::Audits};
use rates::{Play, Rates};

/// An owner, or all unknown ones together: those of games of earlier starts.
type MaybeOwner = Option<Owner>;

/// The claims of a tournament.
#[derive(Debug, Default)]
pub(super) struct Claims {
    /// Games lost by an agent that never answered, according to one owner alone.
    pub(super) open: Bitmap,
    /// For each agent, how often it has such faults, by owner.
    rates: BTreeMap<u16, Vec<(MaybeOwner, Rates)>>,
    /// Games of which an audit by another owner lacked the fault.
    unconfirmed: BTreeMap<u64, Unconfirmed>,
    /// The agents and owners of these games, and whether the agent usually fails as often as that owner
    /// reports.
    accused: BTreeMap<(u16, MaybeOwner), bool>,
    /// Games that are contradicted because rates differ.
    by_rate: BTreeSet<u64>,
    /// Games of earlier starts whose owner is known. Their rate is that of unknown owners.
    earlier: BTreeSet<u64>,
}

/// A game of which an audit lacked the fault.
#[derive(Debug)]
struct Unconfirmed {
    /// The owner whose worker reported the fault.
    owner: MaybeOwner,
    /// The agents with such faults.
    agents: Vec<u16>,
}

impl Claims {
    pub(super) fn new(games: u64) -> Self {
        Self {
            open: Bitmap::new(games),
            ..Self::default()
        }
    }

    /// The owner whose rate holds for a game.
    fn owner_of<'a>(&self, index: u64, owner: Option<&'a Owner>) -> Option<&'a Owner> {
        owner.filter(|_| !self.earlier.contains(&index))
    }

    /// Decides again for these agents. Returns the games that are concerned, each with true if it is
    /// contradicted.
    fn weigh(&mut self, agents: &[u16]) -> Vec<(u64, bool)> {
        let mut changed = BTreeSet::new();
        for &agent in agents {
            let of_agent = self.accused.range((agent, None)..);
            let of_agent = of_agent.take_while(|((it, _), _)| *it == agent);
            let turned = of_agent
                .filter(|((_, owner), known)| self.is_usual(agent, owner.as_ref()) != **known);
            changed.extend(turned.map(|(key, _)| key.clone()));
        }
        for key in &changed {
            self.accused
                .entry(key.clone())
                .and_modify(|known| *known = !*known);
        }
        if changed.is_empty() {
            return Vec::new();
        }
        let concerned = self.unconfirmed.iter().filter(|(_, game)| {
            let mut keys = game.agents.iter().map(|&agent| (agent, game.owner.clone()));
            keys.any(|key| changed.contains(&key))
        });
        concerned
            .map(|(&index, game)| (index, !self.are_explained(game)))
            .collect()
    }

    fn are_explained(&self, game: &Unconfirmed) -> bool {
        let mut agents = game.agents.iter();
        agents.all(|&agent| self.accused.get(&(agent, game.owner.clone())) == Some(&true))
    }

    /// Adds a game of which an audit lacked the faults of these agents. Returns true if it is contradicted.
    fn add_unconfirmed(&mut self, index: u64, owner: MaybeOwner, agents: &[u16]) -> bool {
        for &agent in agents {
            let usual = self.is_usual(agent, owner.as_ref());
            self.accused.entry((agent, owner.clone())).or_insert(usual);
        }
        let agents = agents.to_vec();
        let game = Unconfirmed { owner, agents };
        let is_contradicted = !self.are_explained(&game);
        self.unconfirmed.insert(index, game);
        is_contradicted
    }
}

impl Ledger {
    /// Counts a durable game of these agents. `failed` are those with a fault that may be that of a host;
    /// `unplayed` is true if an agent lost the game without an answer. Returns the games whose claims changed.
    pub fn count_faults(
        &mut self,
        tournament: TournamentNo,
        index: u64,
        agents: &[u16],
        failed: &[u16],
        unplayed: bool,
    ) -> Vec<u64> {
        let Some(entry) = self.tournaments.get_mut(&tournament) else {
            return Vec::new();
        };
        let audits = &mut entry.queue.audits;
        if !audits.has_sample() {
            return Vec::new();
        }
        let by = audits.process(index);
        let owner = self.processes.owner(by);
        let mut changed = audits.count(agents, failed, owner, Play::Game);
        if !failed.is_empty() {
            changed.push(index);
            self.claim(tournament, index, failed, unplayed);
        }
        changed
    }

    fn claim(&mut self, tournament: TournamentNo, index: u64, agents: &[u16], unplayed: bool) {
        let Some(entry) = self.tournaments.get_mut(&tournament) else {
            return;
        };
        let audits = &mut entry.queue.audits;
        let by = audits.process(index);
        let is_usual = audits.claims.are_usual(agents, self.processes.owner(by));
        if !is_usual {
            audits.claimed.insert(index);
        }
        if !self.processes.has_other_owner(by) {
            return;
        }
        if unplayed {
            audits.claims.open.insert(index);
            audits.doubt(index);
        } else if !is_usual || audits.is_in_doubtful_sample(index) {
            audits.doubt(index);
        }
        self.update_sets(tournament);
    }

    /// The games with faults that no other owner has audited.
    #[must_use]
    pub fn claimed(&self, tournament: TournamentNo) -> Vec<u64> {
        let entry = self.tournaments.get(&tournament);
        entry.map_or_else(Vec::new, |it| it.queue.audits.claimed.iter().collect())
    }

    /// Restores what was known before this start: for each agent, how often it had such faults, and
    /// the games with claims, with the processes that played them.
    pub fn restore_claims(
        &mut self,
        tournament: TournamentNo,
        rates: &[Rate],
        claims: Vec<(u64, u64, Owner)>,
    ) {
        let Some(entry) = self.tournaments.get_mut(&tournament) else {
            return;
        };
        let audits = &mut entry.queue.audits;
        for (agent, rate) in (0..).zip(rates).filter(|(_, rate)| rate.games > 0) {
            let rates = Rates {
                games: *rate,
                ..Rates::default()
            };
            audits.claims.rates.insert(agent, vec![(None, rates)]);
        }
        for (index, process, owner) in claims {
            let process = WorkerProcess::Process(process);
            self.processes.set_owner(process, owner);
            audits.know_process(index, process);
            audits.claims.earlier.insert(index);
        }
        self.update_sets(tournament);
    }

    /// Number of games lost without an answer that do not count towards a pause, because one owner
    /// alone reported them and a process of another owner is connected.
    #[must_use]
    pub fn unconfirmed(&self, tournament: TournamentNo) -> u64 {
        let entry = self.tournaments.get(&tournament);
        let open = entry.map_or(0, |entry| entry.queue.audits.claims.open.count());
        match self.processes.has_two_owners() {
            true => open,
            false => 0,
        }
    }

    /// The owner of a worker; none if it is unknown.
    #[must_use]
    pub fn owner(&self, worker: WorkerId) -> Option<Owner> {
        let process = self.workers.get(&worker)?.process;
        self.processes.owner(process).cloned()
    }

    /// True if a connected process of an owner that is not among these can play the tournament.
    #[must_use]
    pub fn has_further_owner(
        &self,
        tournament: TournamentNo,
        owners: &BTreeSet<Option<Owner>>,
    ) -> bool {
        let entry = self.tournaments.get(&tournament);
        entry.is_some_and(|it| self.processes.has_further_owner(owners, &it.queue.agents))
    }

    /// Audits the faults that other owners reported than that of a process that joins, and what other
    /// owners could not replay.
    pub(super) fn doubt_claims(&mut self, joined: WorkerProcess) {
        let numbers: Vec<TournamentNo> = self.tournaments.keys().copied().collect();
        for number in numbers {
            if let Some(entry) = self.tournaments.get_mut(&number) {
                let processes = &self.processes;
                let is_other = |by| !processes.have_one_owner(by, joined);
                entry.queue.audits.doubt_claimed(is_other);
                entry.queue.audits.try_again();
            }
            self.update_sets(number);
        }
    }

    /// Handles the audit of a worker if only one of its record and the durable one has a fault, which these
    /// agents have; `is_new` is true if it is the worker's. The game is contradicted, unless an owner
    /// confirms itself or the agents usually fail.
    pub fn contradict(
        &mut self,
        tournament: TournamentNo,
        index: u64,
        (agents, is_new): (&[u16], bool),
        worker: WorkerId,
    ) -> Contradicted {
        let of = self.workers.get(&worker).map(|worker| worker.process);
        let entry = self.tournaments.get_mut(&tournament);
        let Some((of, entry)) = of.zip(entry) else {
            return Contradicted::default();
        };
        let audits = &mut entry.queue.audits;
        if !audits.is_compared(index, worker) {
            return Contradicted::default();
        }
        let by = audits.process(index);
        // After a restart, the owner that reported the fault is unknown: perhaps another one.
        if self.processes.may_have_one_owner(by, of) {
            audits.claims.open.remove(index);
            return Contradicted::default();
        }
        let mut changed = match is_new {
            // It was counted before.
            true => Vec::new(),
            false => audits.count(agents, &[], self.processes.owner(of), Play::OfClaim),
        };
        let owner = match is_new {
            true => self.processes.owner(of),
            false => audits.claims.owner_of(index, self.processes.owner(by)),
        };
        // An agent that fails with others, too, must not bring one worker after the other into quarantine.
        let fails_with_others =
            { agents.iter() }.any(|&agent| audits.claims.fails_with_others(agent, owner));
        let is_contradicted = (audits.claims).add_unconfirmed(index, owner.cloned(), agents);
        if is_contradicted {
            audits.contradicted.insert(index);
        }
        changed.push(index);
        if is_contradicted && is_new {
            // Which of the two lied is unknown.
            self.processes.mark_differing(by);
            self.processes.mark_differing(of);
        }
        let in_a_row = is_contradicted
            && !is_new
            && !fails_with_others
            && self.processes.mark_contradicted(by, of);
        Contradicted {
            is_contradicted,
            quarantine: in_a_row.then_some(by),
            changed,
        }
    }

    /// Counts the audit of a game whose durable record has no such fault. Returns the agents that fail
    /// significantly more often when they are asked again, and the games whose claims changed.
    pub fn asked_again(
        &mut self,
        tournament: TournamentNo,
        index: u64,
        (agents, failed): (&[u16], &[u16]),
        worker: WorkerId,
    ) -> (Vec<u16>, Vec<u64>) {
        let of = self.workers.get(&worker).map(|worker| worker.process);
        let Some((of, entry)) = of.zip(self.tournaments.get_mut(&tournament)) else {
            return Default::default();
        };
        let audits = &mut entry.queue.audits;
        if !audits.is_compared(index, worker) {
            return Default::default();
        }
        let changed = audits.count(agents, failed, self.processes.owner(of), Play::Again);
        let failed = failed.iter().copied();
        let again = failed.filter(|&agent| audits.claims.fails_again(agent));
        (again.collect(), changed)
    }

    /// The agents that fail significantly more or less often on the workers of one owner than on all others,
    /// with the games of this owner.
    #[must_use]
    pub fn uneven(&self, tournament: TournamentNo) -> Vec<(u16, Owner, Vec<u64>)> {
        let Some(entry) = self.tournaments.get(&tournament) else {
            return Vec::new();
        };
        let audits = &entry.queue.audits;
        let uneven = audits.claims.uneven().into_iter();
        uneven
            .map(|(agent, owner)| {
                let games = audits.games_where(|by| self.processes.owner(by) == Some(&owner));
                (agent, owner, games)
            })
            .collect()
    }

    /// Marks games as contradicted whose agents' rates of faults differ. Returns those that were not.
    pub fn contradict_all(&mut self, tournament: TournamentNo, games: &[u64]) -> Vec<u64> {
        let entry = self.tournaments.get_mut(&tournament);
        let Some(audits) = entry.map(|entry| &mut entry.queue.audits) else {
            return Vec::new();
        };
        audits.claims.by_rate.extend(games);
        let games = games.iter().copied();
        let new = games
            .filter(|&index| audits.contradicted.insert(index))
            .collect();
        self.update_sets(tournament);
        new
    }

    /// Handles the audit of a worker whose record has the fault of the durable one as well. Returns
    /// true if the game counts towards a pause now, and the games whose claims changed.
    pub fn confirm(
        &mut self,
        tournament: TournamentNo,
        index: u64,
        agents: &[u16],
        worker: WorkerId,
    ) -> (bool, Vec<u64>) {
        let of = self.workers.get(&worker).map(|worker| worker.process);
        let entry = self.tournaments.get_mut(&tournament);
        let Some((of, entry)) = of.zip(entry) else {
            return (false, Vec::new());
        };
        let audits = &mut entry.queue.audits;
        let by = audits.process(index);
        if !audits.is_compared(index, worker) || self.processes.have_one_owner(by, of) {
            return (false, Vec::new());
        }
        self.processes.mark_confirmed(by);
        let changed = audits.count(agents, agents, self.processes.owner(of), Play::OfClaim);
        (audits.claims.open.remove(index), changed)
    }
}

/// Result of an audit that lacks a fault of the durable record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contradicted {
    /// True if the game is contradicted.
    pub is_contradicted: bool,
    /// The process that reported it, if it has to go into quarantine.
    pub quarantine: Option<WorkerProcess>,
    /// The games whose claims changed.
    pub changed: Vec<u64>,
}

impl Audits {
    /// Counts a game of these agents on the workers of an owner, and decides again for them. Returns the
    /// games whose claims changed.
    fn count(
        &mut self,
        agents: &[u16],
        failed: &[u16],
        owner: Option<&Owner>,
        play: Play,
    ) -> Vec<u64> {
        for (place, &agent) in agents.iter().enumerate() {
            // An agent may have several seats.
            if !agents[..place].contains(&agent) {
                self.claims
                    .count(agent, owner, failed.contains(&agent), play);
            }
        }
        let mut changed = Vec::new();
        for (index, is_contradicted) in self.claims.weigh(agents) {
            let is_new = match is_contradicted {
                _ if self.claims.by_rate.contains(&index) => false,
                true => self.contradicted.insert(index),
                false => self.contradicted.remove(index),
            };
            if is_new {
                changed.push(index);
            }
        }
        changed
    }
}

#[cfg(test)]
mod tests;
