//! Cowry's own test vectors.

mod board;
mod doubles;
mod ends;
mod options;
mod turns;

use arena_engine::{Game, Node};
use arena_games::{
    Cowry,
    cowry::{Phase, State, VALUES},
};

use crate::support::game;

/// A game in progress, driven by notation.
pub(crate) struct Table {
    game: Cowry,
    state: State,
}

impl Table {
    /// The start of a game with these options.
    fn new(words: &str, seats: usize) -> Self {
        let game: Cowry = game(words, seats);
        let state = game.initial();
        Self { game, state }
    }

    /// Puts a seat's pieces down.
    fn put(mut self, seat: usize, pieces: &[u8]) -> Self {
        self.state.pieces[seat][..pieces.len()].copy_from_slice(pieces);
        self
    }

    /// Opens a seat's gate to the inner rings.
    fn open(mut self, seat: usize) -> Self {
        self.state.hit_mask |= 1 << seat;
        self
    }

    /// Makes it a seat's turn.
    fn turn_of(mut self, seat: u8) -> Self {
        self.state.to_move = seat;
        self
    }

    /// Throws values one after the other.
    #[track_caller]
    fn throw(&mut self, values: &[u8]) -> &mut Self {
        for value in values {
            assert_eq!(self.state.phase, Phase::Throw, "a throw of {value} is due");
            let outcome = VALUES.iter().position(|known| known == value);
            let outcome = outcome.expect("a value") as u16;
            self.game.apply_outcome(&mut self.state, outcome);
        }
        self
    }

    /// The legal moves in notation, separated by spaces.
    #[track_caller]
    fn legal(&self) -> String {
        assert_eq!(self.state.phase, Phase::Move, "a move is due");
        let mut legal = Vec::new();
        self.game.legal(&self.state, &mut legal);
        let names = legal.iter().map(|&action| {
            let mut name = String::new();
            self.game.write_action(&self.state, action, &mut name);
            name
        });
        names.collect::<Vec<_>>().join(" ")
    }

    /// Plays a legal move.
    #[track_caller]
    fn play(&mut self, name: &str) -> &mut Self {
        let names = self.legal();
        let index = names.split(' ').position(|known| known == name);
        let index = index.unwrap_or_else(|| panic!("{name} is not among {names}"));
        let mut legal = Vec::new();
        self.game.legal(&self.state, &mut legal);
        self.game.apply(&mut self.state, legal[index]);
        self
    }

    /// A seat's pieces.
    fn pieces(&self, seat: usize) -> &[u8] {
        &self.state.pieces[seat][..self.game.pieces()]
    }

    /// The current node.
    fn node(&self) -> Node {
        self.game.node(&self.state)
    }

    /// Ranks of the seats.
    fn placement(&self) -> Vec<u8> {
        self.game.placement(&self.state)[..self.game.seats()].to_vec()
    }
}

/// Tables V and VI of the cowry paper: Red and Blue with both gates open.
fn paper_position() -> Table {
    Table::new("", 2)
        .put(0, &[14, 3, 24, 0])
        .put(1, &[10, 23, 4, 12])
        .open(0)
        .open(1)
}
