//! Whose fault it is that an agent does not start: seen by where it does.
//!
//! An agent that failed to start at a process is charged with it only where it
//! runs at no process that is here, and either failed at a second one or never
//! ran anywhere else, with nobody left who has not tried. Else it was the host that
//! lacks something, and the game goes to another.

use std::collections::{BTreeMap, BTreeSet};

use super::{Defects, Player, WorkerId, processes::Processes};

/// Processes remembered of an agent, of each kind.
const PROCESSES_MAX: usize = 64;

/// The last that is known of each process.
#[derive(Debug, Default)]
struct Starts {
    runs: BTreeSet<Player>,
    fails: BTreeSet<Player>,
    /// Where it ever ran.
    ran: BTreeSet<Player>,
}

impl Starts {
    fn is_given_up(&self, processes: &Processes, suits: impl Fn(WorkerId) -> bool) -> bool {
        let runs = || self.runs.iter().any(|&player| processes.is_here(player));
        let hopes = || {
            let is_new = |player| !self.fails.contains(&player);
            processes.has_other(None, suits, is_new)
        };
        match self.fails.len() {
            0 => false,
            // Where it ran at this one alone, it is no host that lacks something.
            1 => self.ran.is_subset(&self.fails) && !hopes(),
            _ => !runs(),
        }
    }
}

fn add(to: &mut BTreeSet<Player>, player: Player) {
    if to.insert(player) && to.len() > PROCESSES_MAX {
        to.pop_first();
    }
}

/// The agents of a tournament, by their place in it.
#[derive(Debug, Default)]
pub(super) struct Agents(BTreeMap<u16, Starts>);

impl Agents {
    /// Agents played at a process.
    pub(super) fn run(&mut self, agents: &[u16], player: Player) {
        for &agent in agents {
            let starts = self.0.entry(agent).or_default();
            if !starts.runs.contains(&player) {
                starts.fails.remove(&player);
                add(&mut starts.ran, player);
                add(&mut starts.runs, player);
            }
        }
    }

    /// An agent did not start at a process.
    pub(super) fn fail(&mut self, agent: u16, player: Player) {
        let starts = self.0.entry(agent).or_default();
        starts.runs.remove(&player);
        add(&mut starts.fails, player);
    }

    pub(super) fn is_given_up<D: Defects>(&self, agent: u16, processes: &Processes) -> bool {
        let starts = self.0.get(&agent);
        starts.is_some_and(|starts| D::CHARGES_AT_ONCE || starts.is_given_up(processes, |_| true))
    }

    /// Those that are charged without being asked.
    pub(super) fn given_up<D: Defects>(
        &self,
        processes: &Processes,
        suits: impl Fn(WorkerId) -> bool,
    ) -> Vec<u16> {
        let all = self.0.iter();
        let given_up = all.filter(|(_, starts)| {
            let at_once = D::CHARGES_AT_ONCE && !starts.fails.is_empty();
            at_once || starts.is_given_up(processes, &suits)
        });
        given_up.map(|(&agent, _)| agent).collect()
    }
}
