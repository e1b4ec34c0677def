//! Paths, safe squares, the squares of each seat, and the symmetry of seats.

use arena_engine::{Event, Game, replay};
use arena_games::Cowry;

use super::{Table, paper_position};
use crate::support::{game, play_at_random, rows, setup};

fn square(text: &str) -> (u8, u8) {
    let mut digits = text
        .chars()
        .map(|digit| digit.to_digit(11).expect("base 11") as u8);
    (
        digits.next().expect("a row"),
        digits.next().expect("a column"),
    )
}

#[test]
fn paths_match_the_printed_board() {
    for row in rows("cowry_paths.txt") {
        let [board, inner, seat, squares] = &row[..] else {
            panic!("four fields: {row:?}");
        };
        let game: Cowry = game(&format!("board={board} inner={inner}"), 4);
        let seat = seat.parse().expect("a seat");
        let expected: Vec<_> = squares.split(' ').map(square).collect();
        assert_eq!(expected.len(), usize::from(game.goal()) + 1);
        for (index, &square) in expected.iter().enumerate() {
            assert_eq!(game.square(seat, index as u8), square, "{row:?} at {index}");
        }
    }
}

#[test]
fn seats_have_their_sides() {
    for (seats, starts) in [
        (2, vec!["42", "02"]),
        (3, vec!["42", "24", "02"]),
        (4, vec!["42", "24", "02", "20"]),
    ] {
        let game: Cowry = game("", seats);
        for (seat, start) in starts.into_iter().enumerate() {
            assert_eq!(game.square(seat, 0), square(start), "{seats} {seat}");
        }
    }
}

#[test]
fn safe_squares_follow_options() {
    for board in [5, 7, 9, 11] {
        for (safe, corners) in [("minimal", false), ("corners", true)] {
            let game: Cowry = game(&format!("board={board} safe={safe}"), 2);
            let (last, middle) = (board - 1, (board - 1) / 2);
            for index in 0..=game.goal() {
                let square = game.square(1, index);
                let is_start =
                    [(last, middle), (middle, last), (0, middle), (middle, 0)].contains(&square);
                let is_corner = [(0, 0), (0, last), (last, 0), (last, last)].contains(&square);
                let expected = is_start || square == (middle, middle) || corners && is_corner;
                assert_eq!(game.is_safe(index), expected, "{board} {safe} {square:?}");
            }
        }
    }
}

#[test]
fn crossing_between_paths_keeps_the_square() {
    for board in [5, 7, 9, 11] {
        for seats in 2..=4 {
            let game: Cowry = game(&format!("board={board}"), seats);
            for (seat, other) in (0..seats).flat_map(|seat| (0..seats).map(move |o| (seat, o))) {
                for index in 0..=game.goal() {
                    let there = game.cross(seat, other, index);
                    assert_eq!(game.square(seat, index), game.square(other, there));
                    assert_eq!(game.is_safe(index), game.is_safe(there));
                }
            }
        }
    }
}

#[test]
fn position_of_the_paper_is_on_its_squares() {
    let table = paper_position();
    let squares = |seat: usize| -> Vec<_> {
        let pieces = table.pieces(seat).iter();
        pieces
            .map(|&piece| table.game.square(seat, piece))
            .collect()
    };
    assert_eq!(squares(0), ["40", "34", "22", "42"].map(square));
    assert_eq!(squares(1), ["44", "12", "20", "24"].map(square));
}

/// The distance of the nearest attackers behind, as (piece, distance 1 to 3).
fn attackers(table: &Table, seat: usize, square_of: u8) -> Vec<(usize, u8)> {
    let other = 1 - seat;
    if table.game.is_safe(square_of) {
        return Vec::new();
    }
    let there = table.game.cross(seat, other, square_of);
    let pieces = table.pieces(other).iter().enumerate();
    pieces
        .filter(|&(_, &piece)| piece != table.game.goal())
        .filter_map(|(piece, &index)| Some((piece, there.checked_sub(index)?)))
        .filter(|&(_, distance)| (1..=3).contains(&distance))
        .collect()
}

#[test]
fn dangers_match_the_paper() {
    let table = paper_position();
    assert_eq!(attackers(&table, 0, 14), [(2, 2)], "R1 on 40 by B3");
    assert_eq!(attackers(&table, 0, 17), [], "R1 on 21");
    assert_eq!(attackers(&table, 0, 3), [(0, 1)], "R2 on 34 by B1");
    assert_eq!(attackers(&table, 0, 6), [(3, 2)], "R2 on 04 by B4");
    assert_eq!(attackers(&table, 1, 10), [(3, 2)], "B1 on 44 by R4");
    assert_eq!(attackers(&table, 1, 12), [], "B1 on 24");
    assert_eq!(attackers(&table, 1, 14), [(1, 3)], "B4 on 04 by R2");
    let table = table.put(0, &[17]);
    assert_eq!(attackers(&table, 1, 23), [(0, 2)], "B2 on 12 by R1 on 21");
}

#[test]
fn seats_are_symmetric() {
    for (words, seats) in [
        ("", 4),
        ("", 2),
        ("variant=doubles", 4),
        ("variant=doubles", 2),
        ("board=7", 4),
        ("board=7 variant=doubles block=void-turn end=all", 2),
        ("end=ranking throw_mode=immediate", 4),
    ] {
        let game: Cowry = game(&format!("{words} starter=random"), seats);
        for seed in 0..10 {
            let finished = play_at_random(&game, setup(seed));
            let starter = usize::from(finished.events[0].id());
            for shift in 1..seats {
                let mut events = finished.events.clone();
                events[0] = Event::chance(((starter + shift) % seats) as u16);
                let turned = replay(&game, &events, |_, _| {}).expect("the same game");
                for seat in 0..seats {
                    let there = (seat + shift) % seats;
                    assert_eq!(turned.placement[there], finished.placement[seat], "{words}");
                    assert_eq!(turned.scores[there], finished.scores[seat], "{words}");
                }
            }
        }
    }
}

#[test]
fn board_is_drawn_with_pieces_and_safe_squares() {
    let mut table = paper_position();
    table.throw(&[3]);
    let mut drawn = String::new();
    table.game.draw(&table.state, &mut drawn);
    let expected = [
        ".   .   x   .   .",
        ".   .   .N1 .   .",
        "xN2 .   x   .   xN3",
        ".   .   .   .   .S1",
        ".S0 .   x   .   .N0",
        "> seat 0 South  start 1, home 1, at 14 3 24 0, to play 3",
        "  seat 1 North  start 0, home 0, at 10 23 4 12",
        "",
    ];
    assert_eq!(drawn, expected.join("\n"), "\n{drawn}");
    for board in [5, 7, 9, 11] {
        for seats in 2..=4 {
            let table = Table::new(&format!("board={board}"), seats);
            let mut drawn = String::new();
            table.game.draw(&table.state, &mut drawn);
            assert_eq!(drawn.lines().count(), board + seats, "\n{drawn}");
        }
    }
}
