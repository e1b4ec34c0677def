//! A small game with everything that the engine handles: dice of seats and of the table, extra
//! throws, forced moves, passes and a cap.

use std::fmt::Write;

use arena_engine::{
    ActionId, AgentRng, Ending, Game, GameKeys, MAX_SEATS, Node, Opening, OutcomeId, PerSeat,
    PositionError, Setup,
};

/// Seats throw a die in turn. A 1 allows one action, a 2 only a pass; any other throw allows
/// to add 0, 1 or 2. A seat that adds 2 throws again. The table draws in the last position.
#[derive(Clone, Debug)]
pub(crate) struct Toy {
    pub(crate) seats: usize,
    pub(crate) turns: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct State {
    pub(crate) totals: PerSeat<u8>,
    pub(crate) thrown: Option<u8>,
    pub(crate) turns: u32,
    pub(crate) bonus: Option<u8>,
}

pub(crate) const PASS: ActionId = 9;
const DIE: [u32; 6] = [1, 1, 1, 1, 1, 3];

impl Toy {
    pub(crate) fn new(seats: usize) -> Self {
        Self { seats, turns: 12 }
    }

    fn mover(&self, state: &State) -> u8 {
        (state.turns as usize % self.seats) as u8
    }
}

impl Game for Toy {
    type State = State;

    fn name(&self) -> &'static str {
        "toy"
    }

    fn version(&self) -> u32 {
        1
    }

    fn seats(&self) -> usize {
        self.seats
    }

    fn has_chance(&self) -> bool {
        true
    }

    fn initial(&self) -> State {
        State {
            totals: [0; MAX_SEATS],
            thrown: None,
            turns: 0,
            bonus: None,
        }
    }

    fn node(&self, state: &State) -> Node {
        match (state.thrown, state.bonus) {
            (_, Some(_)) => Node::Over(Ending::Normal),
            (Some(_), None) => Node::Decision(self.mover(state)),
            (None, None) if state.turns == self.turns => Node::Chance(None),
            (None, None) => Node::Chance(Some(self.mover(state))),
        }
    }

    fn weights(&self, state: &State) -> &[u32] {
        if state.turns == self.turns {
            &[1, 0, 1]
        } else {
            &DIE
        }
    }

    fn legal(&self, state: &State, out: &mut Vec<ActionId>) {
        out.clear();
        match state.thrown {
            Some(1) => out.push(0),
            Some(2) => out.push(PASS),
            _ => out.extend([0, 1, 2]),
        }
    }

    fn pass(&self) -> Option<ActionId> {
        Some(PASS)
    }

    fn apply(&self, state: &mut State, action: ActionId) {
        state.thrown = None;
        if action == PASS {
            state.turns += 1;
            return;
        }
        let mover = usize::from(self.mover(state));
        state.totals[mover] += action as u8;
        if action < 2 {
            state.turns += 1;
        }
    }

    fn apply_outcome(&self, state: &mut State, outcome: OutcomeId) {
        if state.turns == self.turns {
            state.bonus = Some(outcome as u8);
        } else {
            state.thrown = Some(outcome as u8 + 1);
        }
    }

    fn placement(&self, state: &State) -> PerSeat<u8> {
        let mut placement = [0; MAX_SEATS];
        let totals = &state.totals[..self.seats];
        for (place, mine) in placement.iter_mut().zip(totals) {
            let ahead = totals.iter().filter(|&total| total > mine);
            *place = 1 + ahead.count() as u8;
        }
        placement
    }

    fn scores(&self, state: &State) -> PerSeat<i64> {
        state.totals.map(i64::from)
    }

    fn write_action(&self, _: &State, action: ActionId, out: &mut dyn Write) {
        write!(out, "+{action}").expect("a string takes all");
    }

    fn write_outcome(&self, _: &State, outcome: OutcomeId, out: &mut dyn Write) {
        write!(out, "{}", outcome + 1).expect("a string takes all");
    }

    fn encode(&self, state: &State, _: bool, out: &mut Vec<u8>) {
        out.extend_from_slice(&state.totals);
    }

    fn decode(&self, _: &[u8]) -> Result<State, PositionError> {
        Err(PositionError {
            ruleset: self.name(),
            reason: "it keeps no positions".to_owned(),
        })
    }

    fn draw(&self, state: &State, out: &mut dyn Write) {
        writeln!(out, "{:?}", state.totals).expect("a string takes all");
    }
}

/// Distinct keys, derived from a seed.
pub(crate) fn keys(seed: u64) -> GameKeys {
    GameKeys::drawn(&mut AgentRng::new(seed))
}

/// The setup of a game without opening, with the keys of a seed.
pub(crate) fn setup(seed: u64) -> Setup {
    Setup::new(keys(seed), Opening::NONE)
}
