//! Output of agents during one game, which is known if their process plays no other game.

use std::{rc::Rc, sync::Arc};

use arena_wire::v1;

use super::agents::{SeatedAgents, TournamentAgents};
use crate::supervise::Output;

/// Maximum bytes reported of an agent in one game.
const GAME_BYTES: usize = 8 << 10;
/// Maximum bytes reported of an agent in all games of a tournament.
const AGENT_BYTES: usize = 1 << 20;

/// Bytes written before a game.
struct Mark {
    agent: u16,
    /// The process of a sticky agent, which plays no other game.
    process: Option<usize>,
    seat: u32,
    /// None if another game was already open.
    overlaps: Option<u64>,
    output: Option<Arc<Output>>,
    total: u64,
}

/// The outputs of the agents of a game in play.
pub(super) struct GameOutputs {
    tournament: Rc<TournamentAgents>,
    marks: Vec<Mark>,
}

impl GameOutputs {
    /// A game starts.
    pub(super) fn begin(tournament: &Rc<TournamentAgents>, seats: &SeatedAgents) -> Self {
        let mut marks: Vec<Mark> = Vec::new();
        for (seat, &agent) in seats.agents().iter().enumerate() {
            if !tournament.context().is_program(agent)
                || marks.iter().any(|mark| mark.agent == agent)
            {
                continue;
            }
            let games = tournament.agent(agent);
            games.open.update(|open| open + 1);
            let process = seats.process(agent);
            let alone = process.is_some() || games.open.get() == 1;
            if !alone {
                games.overlaps.update(|overlaps| overlaps + 1);
            }
            let output = games.output(process);
            marks.push(Mark {
                agent,
                process,
                seat: seat as u32,
                overlaps: alone.then(|| games.overlaps.get()),
                total: output.as_ref().map_or(0, |output| output.total()),
                output,
            });
        }
        Self {
            tournament: tournament.clone(),
            marks,
        }
    }

    /// Bytes written since, by agents that played only this game.
    pub(super) fn take(&mut self) -> Vec<v1::AgentOutput> {
        let written = |mark: &Mark| {
            let games = self.tournament.agent(mark.agent);
            if mark.process.is_none() && mark.overlaps != Some(games.overlaps.get()) {
                return None;
            }
            let output = games.output(mark.process)?;
            // Another process wrote all its output in this game.
            let before = mark.output.as_ref();
            let is_same = before.is_some_and(|before| Arc::ptr_eq(before, &output));
            let from = if is_same { mark.total } else { 0 };
            let left = AGENT_BYTES - games.reported.get();
            let text = output.since(from, GAME_BYTES.min(left));
            let reported = &games.reported;
            reported.update(|bytes| AGENT_BYTES.min(bytes + text.len()));
            (!text.is_empty()).then(|| v1::AgentOutput {
                seat: mark.seat,
                text,
                bytes: output.total() - from,
            })
        };
        self.marks.iter().filter_map(written).collect()
    }
}

impl Drop for GameOutputs {
    fn drop(&mut self) {
        for mark in &self.marks {
            let open = &self.tournament.agent(mark.agent).open;
            open.update(|open| open - 1);
        }
    }
}
