//! Kalah under another name, as a ruleset of one's own: `tests/bench/run packages` compares the speed
//! of both.

use std::{fmt::Write, process::ExitCode};

use arena::{
    Ruleset, RulesetInfo,
    engine::{
        ActionId, Game, Node, OutcomeId, PerSeat, PositionError,
        options::{OptionError, Options},
    },
};
use arena_games::Kalah;

fn main() -> ExitCode {
    arena::with_rulesets!(Copy)
}

/// Kalah.
#[derive(Clone)]
struct Copy(Kalah);

/// Methods of kalah.
macro_rules! methods_of_kalah {
    ($(fn $name:ident(&self $(, $argument:ident: $kind:ty)*) $(-> $value:ty)?;)+) => {
        $(fn $name(&self $(, $argument: $kind)*) $(-> $value)? {
            self.0.$name($($argument),*)
        })+
    };
}

impl Game for Copy {
    type State = <Kalah as Game>::State;

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn weights<'a>(&'a self, state: &'a Self::State) -> &'a [u32] {
        self.0.weights(state)
    }

    methods_of_kalah! {
        fn version(&self) -> u32;
        fn seats(&self) -> usize;
        fn has_chance(&self) -> bool;
        fn draws_only_starter(&self) -> bool;
        fn initial(&self) -> Self::State;
        fn node(&self, state: &Self::State) -> Node;
        fn legal(&self, state: &Self::State, out: &mut Vec<ActionId>);
        fn pass(&self) -> Option<ActionId>;
        fn apply(&self, state: &mut Self::State, action: ActionId);
        fn apply_outcome(&self, state: &mut Self::State, outcome: OutcomeId);
        fn placement(&self, state: &Self::State) -> PerSeat<u8>;
        fn scores(&self, state: &Self::State) -> PerSeat<i64>;
        fn values(&self, state: &Self::State) -> PerSeat<i64>;
        fn chance_values(&self, state: &Self::State, out: &mut Vec<i64>);
        fn write_action(&self, state: &Self::State, action: ActionId, out: &mut dyn Write);
        fn find_action(&self, state: &Self::State, text: &str) -> Option<ActionId>;
        fn write_outcome(&self, state: &Self::State, outcome: OutcomeId, out: &mut dyn Write);
        fn encode(&self, state: &Self::State, moves: bool, out: &mut Vec<u8>);
        fn decode(&self, bytes: &[u8]) -> Result<Self::State, PositionError>;
        fn save(&self, state: &Self::State, out: &mut Vec<u8>);
        fn load(&self, bytes: &[u8]) -> Result<Self::State, PositionError>;
        fn has_luck(&self) -> bool;
        fn draw(&self, state: &Self::State, out: &mut dyn Write);
    }
}

impl Ruleset for Copy {
    const NAME: &'static str = "copy";
    const VERSION: u32 = Kalah::VERSION;

    fn info() -> RulesetInfo {
        Kalah::info()
    }

    fn with_options(options: &Options, seats: usize) -> Result<Self, OptionError> {
        Kalah::with_options(options, seats).map(Self)
    }
}
