//! A small race in two versions of its rules, for tests of a change of rules. Released programs do
//! not have it.
//!
//! Two seats throw a die in turn and add the throw, once or twice. Version 1 has a die of four
//! sides; version 2 has one of six, other notations, and one more option.

use std::fmt::Write;

use arena_engine::{
    ActionId, Ending, Game, Node, OutcomeId, PerSeat, PositionError,
    options::{Kind, OptionError, Options, Spec},
    per_seat,
};

use crate::{
    placement,
    read::Reader,
    ruleset::{Ruleset, RulesetInfo},
};

/// The race, in one version of its rules.
#[derive(Clone, Debug)]
pub struct Trial<const V: u32> {
    turns: u8,
}

/// The position of both.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Race {
    totals: [u8; 2],
    thrown: Option<u8>,
    turns: u8,
}

impl<const V: u32> Trial<V> {
    fn mover(state: &Race) -> u8 {
        state.turns % 2
    }
}

impl<const V: u32> Game for Trial<V> {
    type State = Race;

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn version(&self) -> u32 {
        Self::VERSION
    }

    fn seats(&self) -> usize {
        2
    }

    fn has_chance(&self) -> bool {
        true
    }

    fn initial(&self) -> Race {
        Race {
            totals: [0; 2],
            thrown: None,
            turns: 0,
        }
    }

    fn node(&self, state: &Race) -> Node {
        match state.thrown {
            Some(_) => Node::Decision(Self::mover(state)),
            None if state.turns == self.turns => Node::Over(Ending::Normal),
            None => Node::Chance(Some(Self::mover(state))),
        }
    }

    fn weights(&self, _: &Race) -> &[u32] {
        match V {
            1 => &[1; 4],
            _ => &[1; 6],
        }
    }

    fn legal(&self, _: &Race, out: &mut Vec<ActionId>) {
        out.clear();
        out.extend([0, 1]);
    }

    fn apply(&self, state: &mut Race, action: ActionId) {
        let mover = usize::from(Self::mover(state));
        let thrown = state.thrown.take().unwrap_or(0);
        state.totals[mover] += thrown * (1 + action as u8);
        state.turns += 1;
    }

    fn apply_outcome(&self, state: &mut Race, outcome: OutcomeId) {
        state.thrown = Some(outcome as u8 + 1);
    }

    fn placement(&self, state: &Race) -> PerSeat<u8> {
        placement::of_two(state.totals)
    }

    fn scores(&self, state: &Race) -> PerSeat<i64> {
        let [first, second] = state.totals;
        per_seat([first.into(), second.into()])
    }

    fn write_action(&self, _: &Race, action: ActionId, out: &mut dyn Write) {
        let words = if V == 1 { ["step", "leap"] } else { ["1", "2"] };
        out.write_str(words[usize::from(action)])
            .expect("a string takes all");
    }

    fn write_outcome(&self, _: &Race, outcome: OutcomeId, out: &mut dyn Write) {
        write!(out, "{}", outcome + 1).expect("a string takes all");
    }

    fn encode(&self, state: &Race, _: bool, out: &mut Vec<u8>) {
        let [first, second] = state.totals;
        out.extend([first, second, state.thrown.unwrap_or(0), state.turns]);
    }

    fn decode(&self, bytes: &[u8]) -> Result<Race, PositionError> {
        let &[first, second, thrown, turns] = bytes else {
            return Err(PositionError::of(self, "it has not four bytes"));
        };
        if usize::from(thrown) > self.weights(&self.initial()).len() || turns > self.turns {
            return Err(PositionError::of(self, "no game comes there"));
        }
        Ok(Race {
            totals: [first, second],
            thrown: (thrown > 0).then_some(thrown),
            turns,
        })
    }

    fn draw(&self, state: &Race, out: &mut dyn Write) {
        writeln!(out, "{:?}", state.totals).expect("a string takes all");
    }
}

impl<const V: u32> Ruleset for Trial<V> {
    const NAME: &'static str = "trial";
    const VERSION: u32 = V;

    fn info() -> RulesetInfo {
        let range = Kind::Int { min: 2, max: 20 };
        let mut options = vec![Spec::new("turns", range, 8, "turns of both together")];
        if V > 1 {
            let range = Kind::Int { min: 0, max: 9 };
            options.push(Spec::new("unused", range, 0, "nothing; it is in records"));
        }
        RulesetInfo {
            name: Self::NAME,
            version: V,
            summary: "a race for tests, whose rules have two versions",
            seats: (2, 2),
            options,
            presets: Vec::new(),
            settle: |_, _| {},
        }
    }

    fn with_options(options: &Options, _: usize) -> Result<Self, OptionError> {
        let turns = Reader(options).int("turns")?;
        Ok(Self {
            turns: turns.clamp(2, 20) as u8,
        })
    }
}
