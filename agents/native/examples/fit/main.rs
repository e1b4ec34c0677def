//! Fits what places are worth to games of sensible agents, for luck, and prints
//! the tables of `services/games/src/cowry/fitted.rs` and
//! `services/games/src/ludo/fitted.rs`; and a fit of the form that
//! `services/games/src/oware/value.rs` has, for comparison with its numbers.
//!
//! `cargo run --release -p arena-agents --example fit -- [GAMES] [WORD]`, 20,000
//! games a table unless reported, only the tables whose name contains the word. The
//! same number of games gives the same tables on every machine.
//!
//! `… -- GAMES gain` prints instead how much of what scores vary by luck explains,
//! over so many blocks a pair of agents.
//!
//! The model of races is a lead by many times the square root of what all have to go:
//! dice add up, so that the same lead is worth more the less there is to come.
//! It is fitted by the likelihood of who comes before whom, over the pairs of
//! seats at every turn's first throw. That of Oware is linear.

#![expect(clippy::print_stdout, reason = "a program that prints")]

mod cowry;
mod gain;
mod ludo;
mod model;
mod oware;
mod play;

use std::env;

fn main() {
    let games = env::args().nth(1).and_then(|text| text.parse().ok());
    let word = env::args().nth(2).unwrap_or_default();
    let games = games.unwrap_or(20_000);
    if word == "gain" {
        gain::show(games);
        return;
    }
    cowry::fit(games, &word);
    ludo::fit(games, &word);
    oware::fit(games, &word);
}
