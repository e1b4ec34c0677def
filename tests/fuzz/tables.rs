//! Every ruleset with every preset and a range of options, as in the rules' own tests. The first
//! two bytes of an input choose one.

use std::sync::{LazyLock, OnceLock};

use arena_engine::Game;
use arena_games::{Visitor, visit};

use crate::{
    bytes::Bytes,
    cases::{Case, cases},
    decode, play,
};

/// A game of any ruleset, with bytes as input.
pub(crate) trait Table: Send + Sync {
    /// Decodes bytes as a position.
    fn read(&self, bytes: &[u8]);
    /// Plays a game from bytes.
    fn play(&self, bytes: Bytes<'_>);
    /// Messages from a real game.
    fn messages(&self) -> Vec<Vec<u8>>;
}

struct Held<G> {
    game: G,
    case: &'static Case,
}

impl<G: Game> Table for Held<G> {
    fn read(&self, bytes: &[u8]) {
        decode::read(&self.game, self.case, bytes);
    }

    fn play(&self, bytes: Bytes<'_>) {
        play::play(&self.game, self.case, bytes);
    }

    fn messages(&self) -> Vec<Vec<u8>> {
        decode::messages(&self.game)
    }
}

struct Hold(&'static Case);

impl Visitor for Hold {
    type Out = Box<dyn Table>;

    fn visit<G: Game>(self, game: G) -> Self::Out {
        Box::new(Held { game, case: self.0 })
    }
}

static CASES: LazyLock<Vec<Case>> = LazyLock::new(cases);

/// Each table is made once, because that takes longer than an input.
static TABLES: LazyLock<Vec<OnceLock<Box<dyn Table>>>> =
    LazyLock::new(|| CASES.iter().map(|_| OnceLock::new()).collect());

/// The number of tables.
pub(crate) fn count() -> u16 {
    u16::try_from(CASES.len()).expect("no more than two bytes can choose")
}

/// The table of a number, which may be any number.
pub(crate) fn at(number: u16) -> &'static dyn Table {
    let place = usize::from(number % count());
    let table = TABLES[place].get_or_init(|| {
        let case = &CASES[place];
        visit(case.ruleset, &case.options, case.seats, Hold(case)).expect("options are resolved")
    });
    &**table
}
