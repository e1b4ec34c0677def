//! Openings of the rulesets without chance.

use std::{collections::BTreeSet, sync::atomic::AtomicBool};

use arena_engine::{Game, OpeningBook, OpeningError, OpeningLength, WorkLimit, opening_book};
use arena_games::{Abapa, AnanAnan, ChineseLudo, Kalah};

use crate::support::game;

fn book<G: Game>(game: &G, length: OpeningLength, want: usize) -> OpeningBook {
    opening_book(game, length, want, &[7; 32], WorkLimit::NONE).expect("openings")
}

/// The encoded position after each opening, playing its moves.
fn positions<G: Game>(game: &G, book: &OpeningBook) -> Vec<Vec<u8>> {
    let after = |moves: &Vec<u16>| {
        let mut state = game.initial();
        let mut legal = Vec::new();
        for &action in moves {
            game.legal(&state, &mut legal);
            assert!(legal.contains(&action));
            game.apply(&mut state, action);
        }
        let mut bytes = Vec::new();
        game.encode(&state, false, &mut bytes);
        bytes
    };
    book.openings.iter().map(after).collect()
}

fn check<G: Game>(game: &G, length: OpeningLength, want: usize, expected: (u32, usize, bool)) {
    let book = book(game, length, want);
    let found = (book.plies, book.openings.len(), book.complete);
    assert_eq!(found, expected, "{}", game.name());
    let positions = positions(game, &book);
    let different: BTreeSet<_> = positions.iter().collect();
    assert_eq!(different.len(), positions.len(), "no position twice");
}

#[test]
fn openings_are_distinct_positions() {
    let kalah: Kalah = game("", 2);
    check(&kalah, OpeningLength::Plies(0), 1, (0, 1, true));
    check(&kalah, OpeningLength::Plies(1), 1, (1, 6, true));
    check(&kalah, OpeningLength::Plies(2), 1, (2, KALAH_2, true));
    let abapa: Abapa = game("", 2);
    check(&abapa, OpeningLength::Plies(2), 1, (2, 36, true));
    let anan: AnanAnan = game("", 2);
    check(&anan, OpeningLength::Plies(1), 1, (1, 6, true));
}

/// Of the 6 first moves of Kalah with 4 stones in 6 pits, that of the third pit moves
/// again, to one of the 5 other pits; the other 5 leave 6 moves to the opponent. No two
/// of these 35 sequences lead to the same position.
const KALAH_2: usize = 35;

#[test]
fn shortest_sufficient_openings_are_used() {
    let kalah: Kalah = game("", 2);
    let shortest = book(&kalah, OpeningLength::Shortest, 20);
    assert_eq!((shortest.plies, shortest.openings.len()), (2, KALAH_2));
    let same = book(&kalah, OpeningLength::Plies(2), 1);
    assert_eq!(
        shortest, same,
        "the order does not depend on what is asked for"
    );
}

#[test]
fn many_openings_are_sampled_distinct() {
    let kalah: Kalah = game("", 2);
    check(&kalah, OpeningLength::Plies(20), 300, (20, 300, false));
}

/// Most random games are over before so many moves: a sample for fewer openings than the first one
/// was to find needs as many tries.
#[test]
fn known_book_is_drawn_again_whole() {
    let kalah: Kalah = game("", 2);
    let plies = OpeningLength::Plies(70);
    let first = book(&kalah, plies, 100);
    let found = first.openings.len();
    assert!((2..50).contains(&found), "{found}");
    assert!(book(&kalah, plies, found).openings.len() < found);
    assert_eq!(book(&kalah, OpeningLength::Known(70), found), first);
}

#[test]
fn key_gives_one_order() {
    let kalah: Kalah = game("", 2);
    let order = |key| {
        opening_book(
            &kalah,
            OpeningLength::Plies(2),
            1,
            &[key; 32],
            WorkLimit::NONE,
        )
    };
    assert_eq!(order(1), order(1));
    assert_ne!(order(1), order(2));
}

#[test]
fn impossible_openings_are_refused() {
    let ludo: ChineseLudo = game("", 2);
    let chance = opening_book(
        &ludo,
        OpeningLength::Shortest,
        10,
        &[7; 32],
        WorkLimit::NONE,
    );
    assert_eq!(chance, Err(OpeningError::Chance));
    let kalah: Kalah = game("", 2);
    let over = opening_book(
        &kalah,
        OpeningLength::Plies(1000),
        10,
        &[7; 32],
        WorkLimit::NONE,
    );
    assert_eq!(over, Err(OpeningError::Over { plies: 1000 }));
}

/// Within a limit of moves, the book is the same as without; else there is none.
#[test]
fn work_is_limited() {
    let kalah: Kalah = game("", 2);
    let limited = |moves, stop| {
        let limit = WorkLimit { moves, stop };
        opening_book(&kalah, OpeningLength::Plies(20), 300, &[7; 32], limit)
    };
    let error = OpeningError::Work { moves: 100_000 };
    assert_eq!(limited(100_000, None), Err(error));
    assert_eq!(limited(2_000_000, None), limited(u64::MAX, None));
    let stop = AtomicBool::new(true);
    assert_eq!(limited(u64::MAX, Some(&stop)), Err(OpeningError::Stopped));
}
