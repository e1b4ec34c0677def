//! The limits of a search, as the command `go`.

use std::fmt;

use crate::{
    game::Game,
    messages::{Clock, Decision},
    options::DEPTH,
};

/// The limits of a search.
#[derive(Debug, PartialEq)]
pub(crate) struct Limits {
    clock: Option<Clock>,
    /// Positions to search; 0: no limit.
    nodes: u64,
    /// In plies; 0: no limit.
    depth: u32,
    /// For this move, in microseconds; 0: no limit.
    time_budget_us: u64,
}

impl Limits {
    pub(crate) fn new(game: &Game, decision: &Decision, time_budget_us: u64) -> Self {
        let depth = game.bot_options.get(DEPTH);
        Self {
            clock: decision.clock.clone(),
            nodes: game.nodes.parse().unwrap_or_default(),
            depth: depth.and_then(|text| text.parse().ok()).unwrap_or_default(),
            time_budget_us,
        }
    }
}

/// Whole milliseconds, and at least one: engines take 0 for no time.
fn milliseconds(us: u64) -> u64 {
    (us / 1_000).max(1)
}

impl fmt::Display for Limits {
    /// A clock goes along with nodes and depth. Without all of them, the search gets 95 % of the time
    /// for the move: answers are late after it.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "go")?;
        if let Some(clock) = &self.clock {
            for (seat, side) in ["w", "b"].iter().enumerate() {
                let left = clock.seats_left_us.get(seat).unwrap_or(&clock.left_us);
                write!(out, " {side}time {}", milliseconds(*left))?;
            }
            let increment = clock.increment_us / 1_000;
            write!(out, " winc {increment} binc {increment}")?;
            if clock.moves_to_go > 0 {
                write!(out, " movestogo {}", clock.moves_to_go)?;
            }
        }
        if self.nodes > 0 {
            write!(out, " nodes {}", self.nodes)?;
        }
        if self.depth > 0 {
            write!(out, " depth {}", self.depth)?;
        }
        if self.clock.is_none() && self.nodes == 0 && self.depth == 0 {
            match self.time_budget_us {
                0 => write!(out, " movetime 1000")?,
                us => write!(out, " movetime {}", milliseconds(us / 20 * 19))?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_become_a_go_command() {
        let clock = |moves_to_go| Clock {
            left_us: 900,
            increment_us: 100_000,
            moves_to_go,
            seats_left_us: vec![1_234_567, 900],
        };
        for (clock, nodes, depth, time_budget_us, expected) in [
            (None, 0, 0, 2_000_000, "go movetime 1900"),
            (None, 0, 0, 0, "go movetime 1000"),
            (None, 0, 0, 900, "go movetime 1"),
            (None, 5_000, 0, 2_000_000, "go nodes 5000"),
            (None, 5_000, 7, 2_000_000, "go nodes 5000 depth 7"),
            (
                Some(clock(0)),
                0,
                0,
                1_234_567,
                "go wtime 1234 btime 1 winc 100 binc 100",
            ),
            (
                Some(clock(12)),
                10,
                0,
                1_234_567,
                "go wtime 1234 btime 1 winc 100 binc 100 movestogo 12 nodes 10",
            ),
        ] {
            let limits = Limits {
                clock,
                nodes,
                depth,
                time_budget_us,
            };
            assert_eq!(limits.to_string(), expected);
        }
    }
}
