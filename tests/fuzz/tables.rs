//! Every ruleset with every preset and a spread of options, as the rules' own
//! tests have them; the first two bytes of an input choose one.

use std::sync::{LazyLock, OnceLock};

use arena_engine::Game;
use arena_games::{Visitor, visit};

use crate::{
    bytes::Bytes,
    cases::{Case, cases},
    decode, play,
};

/// A game of any ruleset that takes bytes.
pub(crate) trait Table: Send + Sync {
    /// Reads them as a position.
    fn read(&self, bytes: &[u8]);
    /// Plays by them.
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

/// Each is made once: that takes longer than to try an input.
static TABLES: LazyLock<Vec<OnceLock<Box<dyn Table>>>> =
    LazyLock::new(|| CASES.iter().map(|_| OnceLock::new()).collect());

/// How many there are.
pub(crate) fn count() -> u16 {
    u16::try_from(CASES.len()).expect("no more than two bytes can choose")
}

/// The table that a number chooses, whatever the number is.
pub(crate) fn at(number: u16) -> &'static dyn Table {
    let place = usize::from(number % count());
    let table = TABLES[place].get_or_init(|| {
        let case = &CASES[place];
        visit(case.ruleset, &case.options, case.seats, Hold(case)).expect("options are resolved")
    });
    &**table
}
