//! Tournaments and results for this crate's tests.

use arena_engine::{FaultKind, SeatFault, Termination};
use arena_model::{AgentRef, Tournament, result::GameResult, spec::Play};

use crate::ScheduledGame;

/// A tournament of agents `a0`, `a1`, … with the default settings of play.
pub(crate) fn tournament(agents: usize, seats: usize, blocks: u64) -> Tournament {
    let agent = |number| AgentRef {
        name: format!("a{number}").parse().expect("a name"),
        bot: String::new(),
        options: Default::default(),
        version: "1".to_owned(),
        uses_seed: None,
        content: String::new(),
        registration: None,
    };
    Tournament {
        name: "test".parse().expect("a name"),
        ruleset: "none".to_owned(),
        rules_version: 1,
        rules_digest: None,
        options: Default::default(),
        seed: "0x5eed".parse().expect("a seed"),
        format: Default::default(),
        settings: None,
        blocks,
        seats,
        agents: (0..agents).map(agent).collect(),
        play: Play::default(),
        openings: None,
        returns: None,
        changes: Vec::new(),
    }
}

/// The result of a game with this placement; void if the placement is empty.
pub(crate) fn result(game: ScheduledGame, placement: &[u8], plies: u32) -> GameResult {
    GameResult {
        index: game.index,
        block: game.block,
        seats: game.seats,
        placement: placement.to_vec(),
        scores: Vec::new(),
        luck: Vec::new(),
        plies,
        termination: if placement.is_empty() {
            Termination::Void
        } else {
            Termination::Normal
        },
        faults: Vec::new(),
        course: 0,
        beginning: arena_model::Beginning::default(),
    }
}

/// A fault by its name.
pub(crate) fn fault(ply: u32, seat: u8, kind: &str) -> SeatFault {
    let kind = FaultKind::ALL
        .iter()
        .copied()
        .find(|known| known.name() == kind)
        .expect("a kind of fault");
    SeatFault { ply, seat, kind }
}

/// Small pseudorandom numbers: splitmix64 (S. Vigna, public domain).
pub(crate) struct Draws(pub(crate) u64);

impl Draws {
    pub(crate) fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.word() % end
    }

    pub(crate) fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            list.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

/// The known numbers of an estimate: its value, then the ends of both intervals.
pub(crate) fn numbers(of: Option<crate::Estimate>) -> Vec<f64> {
    let of = of.expect("an estimate");
    let ends = [of.fixed, of.anytime].into_iter().flatten();
    std::iter::once(of.value)
        .chain(ends.flat_map(|ends| [ends.low, ends.high]))
        .collect()
}
