//! The agents of a game in play.

use std::rc::Rc;

use super::TournamentAgents;

/// The agents of a game in play, until it is dropped.
pub(in crate::driver) struct SeatedAgents {
    tournament: Rc<TournamentAgents>,
    agents: Vec<u16>,
    /// The processes of sticky agents.
    processes: Vec<(u16, usize)>,
    /// True if one of the agents needed cores for its games when this game started.
    is_thinking: bool,
}

impl SeatedAgents {
    pub(in crate::driver) fn new(tournament: Rc<TournamentAgents>, agents: Vec<u16>) -> Self {
        let mut processes: Vec<(u16, usize)> = Vec::new();
        for &agent in &agents {
            tournament.agent(agent).active.update(|seats| seats + 1);
            if !processes.iter().any(|&(known, _)| known == agent)
                && let Some(sticky) = tournament.sticky(agent)
            {
                processes.push((agent, sticky.take()));
            }
        }
        tournament.playing.update(|games| games + 1);
        tournament.shared.count_playing();
        let limits = |&agent: &u16| tournament.agent(agent).games_by_cores().is_some();
        let is_thinking = agents.iter().any(limits);
        let thinking = usize::from(is_thinking);
        tournament.thinking.update(|games| games + thinking);
        Self {
            tournament,
            agents,
            processes,
            is_thinking,
        }
    }

    pub(in crate::driver) fn agent(&self, seat: u8) -> u16 {
        self.agents[usize::from(seat)]
    }

    /// The agents in seat order.
    pub(in crate::driver) fn agents(&self) -> &[u16] {
        &self.agents
    }

    /// Number of seats.
    pub(in crate::driver) fn len(&self) -> usize {
        self.agents.len()
    }

    /// The process of a sticky agent that plays the game.
    pub(in crate::driver) fn process(&self, agent: u16) -> Option<usize> {
        let mut processes = self.processes.iter();
        processes.find_map(|&(known, process)| (known == agent).then_some(process))
    }
}

impl Drop for SeatedAgents {
    fn drop(&mut self) {
        self.tournament.playing.update(|games| games - 1);
        self.tournament.shared.count_played();
        let thinking = usize::from(self.is_thinking);
        self.tournament.thinking.update(|games| games - thinking);
        for &agent in &self.agents {
            let active = &self.tournament.agent(agent).active;
            active.update(|seats| seats - 1);
        }
        for &(agent, process) in &self.processes {
            if let Some(sticky) = self.tournament.sticky(agent) {
                sticky.give_back(process);
            }
        }
    }
}
