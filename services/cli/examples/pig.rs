//! The dice game Pig, as a ruleset of one's own: `services/games/docs/own-ruleset.md` explains it.

use std::{fmt::Write, process::ExitCode};

use arena::{
    Reader, Ruleset, RulesetInfo,
    engine::{
        ActionId, Ending, Game, Node, OutcomeId, PerSeat, PositionError,
        options::{Kind, OptionError, Options, Spec},
        per_seat, values,
    },
};
use serde::{Deserialize, Serialize};

fn main() -> ExitCode {
    arena::with_rulesets!(Pig)
}

/// Maximum number of players.
const SEATS_MAX: usize = 4;

/// In each turn, a player throws a die as often as it likes. A one ends the turn without points; who
/// holds adds the points of the turn to its total. The first total that reaches the target wins.
#[derive(Clone)]
struct Pig {
    seats: usize,
    target: i64,
    turns_max: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct State {
    totals: [i64; SEATS_MAX],
    /// The seat to move.
    seat: u8,
    /// Points of this turn.
    points: i64,
    /// True if the die is about to be thrown.
    throws: bool,
    /// Number of finished turns.
    turns: i64,
}

const HOLD: ActionId = 0;
const THROW: ActionId = 1;

impl Pig {
    fn next_turn(&self, state: &mut State) {
        state.seat = (state.seat + 1) % self.seats as u8;
        state.points = 0;
        state.throws = true;
        state.turns += 1;
    }
}

impl Game for Pig {
    type State = State;

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn version(&self) -> u32 {
        Self::VERSION
    }

    fn seats(&self) -> usize {
        self.seats
    }

    fn has_chance(&self) -> bool {
        true
    }

    fn initial(&self) -> State {
        State {
            totals: [0; SEATS_MAX],
            seat: 0,
            points: 0,
            throws: true,
            turns: 0,
        }
    }

    fn node(&self, state: &State) -> Node {
        if state.totals.iter().any(|&total| total >= self.target) {
            Node::Over(Ending::Normal)
        } else if state.turns >= self.turns_max {
            Node::Over(Ending::Cap)
        } else if state.throws {
            Node::Chance(Some(state.seat))
        } else {
            Node::Decision(state.seat)
        }
    }

    fn weights(&self, _: &State) -> &[u32] {
        &[1; 6]
    }

    fn apply_outcome(&self, state: &mut State, outcome: OutcomeId) {
        state.throws = false;
        match outcome {
            0 => self.next_turn(state),
            pips => state.points += i64::from(pips) + 1,
        }
    }

    fn legal(&self, _: &State, out: &mut Vec<ActionId>) {
        out.clear();
        out.extend([HOLD, THROW]);
    }

    fn apply(&self, state: &mut State, action: ActionId) {
        if action == THROW {
            state.throws = true;
        } else {
            state.totals[usize::from(state.seat)] += state.points;
            self.next_turn(state);
        }
    }

    fn placement(&self, state: &State) -> PerSeat<u8> {
        let totals = &state.totals[..self.seats];
        let mut ranks = PerSeat::default();
        for (rank, total) in ranks.iter_mut().zip(totals) {
            *rank = 1 + totals.iter().filter(|&other| other > total).count() as u8;
        }
        ranks
    }

    fn scores(&self, state: &State) -> PerSeat<i64> {
        per_seat(state.totals)
    }

    /// A lead of a quarter of the target is worth odds of e to 1. Points of this turn count half.
    fn values(&self, state: &State) -> PerSeat<i64> {
        if let Node::Over(_) = self.node(state) {
            return values::of_placement(self.seats, &self.placement(state));
        }
        let mut points = state.totals.map(|total| 2 * total);
        points[usize::from(state.seat)] += state.points;
        let lead = |one: usize, other: usize| points[one] - points[other];
        values::pairwise(self.seats, |one, other| {
            values::logistic(2000 * lead(one, other) / self.target)
        })
    }

    fn write_action(&self, _: &State, action: ActionId, out: &mut dyn Write) {
        let _ = out.write_str(if action == HOLD { "hold" } else { "throw" });
    }

    fn write_outcome(&self, _: &State, outcome: OutcomeId, out: &mut dyn Write) {
        let _ = write!(out, "{}", outcome + 1);
    }

    fn encode(&self, state: &State, _: bool, out: &mut Vec<u8>) {
        serde_json::to_writer(out, state).expect("numbers can be written");
    }

    fn decode(&self, bytes: &[u8]) -> Result<State, PositionError> {
        let refused = |reason: &str| PositionError::of(self, reason);
        let state: State =
            serde_json::from_slice(bytes).map_err(|error| refused(&error.to_string()))?;
        if usize::from(state.seat) >= self.seats || state.points < 0 || state.turns < 0 {
            return Err(refused("no game gets there"));
        }
        Ok(state)
    }

    fn draw(&self, state: &State, out: &mut dyn Write) {
        for seat in 0..self.seats {
            let points = match usize::from(state.seat) == seat {
                true => format!(" + {}", state.points),
                false => String::new(),
            };
            let _ = writeln!(out, "seat {seat}: {}{points}", state.totals[seat]);
        }
    }
}

impl Ruleset for Pig {
    const NAME: &'static str = "pig";
    const VERSION: u32 = 1;

    fn info() -> RulesetInfo {
        let number = |min, max| Kind::Int { min, max };
        RulesetInfo {
            name: Self::NAME,
            version: Self::VERSION,
            summary: "throw a die as often as you dare",
            seats: (2, SEATS_MAX),
            options: vec![
                Spec::new("target", number(1, 1000), 100, "points that win"),
                Spec::new("turns_max", number(1, 10_000), 1000, "turns of all players"),
            ],
            presets: Vec::new(),
            settle: |_, _| {},
        }
    }

    fn with_options(options: &Options, seats: usize) -> Result<Self, OptionError> {
        let options = Reader(options);
        Ok(Self {
            seats,
            target: options.int("target")?,
            turns_max: options.int("turns_max")?,
        })
    }
}
