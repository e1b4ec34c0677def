//! Kalah's own test vectors.

use arena_engine::{Ending, Game, Node};
use arena_games::{Kalah, kalah::State};
use arena_wire::games::KalahPosition;
use prost::Message;

use crate::support::{game, play_at_random, rows, setup};

fn state(game: &Kalah, board: &str, to_move: u8) -> State {
    let cells: Vec<u8> = board
        .split_whitespace()
        .filter_map(|word| word.parse().ok())
        .collect();
    let mut state = game.initial();
    state.board = [0; 18];
    state.board[..cells.len()].copy_from_slice(&cells);
    state.to_move = to_move;
    state
}

/// The same position with exchanged sides.
fn turned(game: &Kalah, state: &State) -> State {
    let mut turned = *state;
    let half = game.pits() + 1;
    turned.board[..2 * half].rotate_left(half);
    turned.to_move = 1 - state.to_move;
    turned
}

#[test]
fn sowings_match_the_rule_file() {
    for line in rows("kalah_vectors.txt") {
        let line = line.join(" | ");
        let [words, board, pit, expected, next] = line.split('/').collect::<Vec<_>>()[..] else {
            panic!("five fields: {line}");
        };
        let game: Kalah = game(words, 2);
        let before = state(&game, board, 0);
        let pit = pit.trim().parse().expect("a pit");
        let node = |seat| match next.trim() {
            "over" => Node::Over(Ending::Normal),
            "0" => Node::Decision(seat),
            _ => Node::Decision(1 - seat),
        };
        let mut after = before;
        game.apply(&mut after, pit);
        assert_eq!(after.board, state(&game, expected, 0).board, "{line}");
        assert_eq!(game.node(&after), node(0), "{line}");

        let mut mirrored = turned(&game, &before);
        game.apply(&mut mirrored, pit);
        assert_eq!(mirrored.board, turned(&game, &after).board, "{line}");
        assert_eq!(game.node(&mirrored), node(1), "{line}");
    }
}

#[test]
fn start_follows_the_options() {
    for (words, expected) in [
        ("", "4 4 4 4 4 4 0 | 4 4 4 4 4 4 0"),
        ("pits=1 stones=8", "8 0 | 8 0"),
        ("pits=8 stones=1", "1 1 1 1 1 1 1 1 0 | 1 1 1 1 1 1 1 1 0"),
    ] {
        let game: Kalah = game(words, 2);
        assert_eq!(game.initial(), state(&game, expected, 0), "{words}");
    }
}

#[test]
fn more_stones_win_and_equal_stones_draw() {
    let game: Kalah = game("", 2);
    for (board, expected) in [
        ("0 0 0 0 0 0 25 | 0 0 0 0 0 0 23", [1, 2]),
        ("0 0 0 0 0 0 23 | 0 0 0 0 0 0 25", [2, 1]),
        ("0 0 0 0 0 0 24 | 0 0 0 0 0 0 24", [1, 1]),
    ] {
        let state = state(&game, board, 0);
        assert_eq!(game.placement(&state)[..2], expected, "{board}");
    }
}

#[test]
fn cap_ends_long_games() {
    let game: Kalah = game("max_plies=5", 2);
    let finished = play_at_random(&game, setup(1));
    assert_eq!(finished.plies, 5);
    assert_eq!(finished.termination, Ending::Cap.into());
}

#[test]
fn early_stop_does_not_change_the_result() {
    let (whole, short): (Kalah, Kalah) = (game("", 2), game("early_stop=true", 2));
    let mut shorter = 0;
    for seed in 0..200 {
        let [whole, short] = [&whole, &short].map(|game| play_at_random(game, setup(seed)));
        assert!(whole.events.starts_with(&short.events));
        assert_eq!(whole.placement, short.placement);
        shorter += u32::from(short.plies < whole.plies);
    }
    assert!(shorter > 50, "{shorter}");
}

#[test]
fn moves_show_banked_seeds() {
    let game: Kalah = game("", 2);
    let state = state(&game, "1 0 0 0 1 1 5 | 0 0 0 0 3 2 35", 0);
    let mut bytes = Vec::new();
    game.encode(&state, true, &mut bytes);
    let message = KalahPosition::decode(&bytes[..]).expect("a message");
    let reported: Vec<_> = message
        .moves
        .iter()
        .map(|sowing| (sowing.pit, sowing.stones, sowing.moves_again, sowing.banked))
        .collect();
    assert_eq!(
        reported,
        [(0, 1, false, 4), (4, 1, false, 0), (5, 1, true, 1)]
    );
}

#[test]
fn board_is_drawn_from_seat_0s_side() {
    let game: Kalah = game("", 2);
    let mut drawn = String::new();
    game.draw(
        &state(&game, "1 2 3 4 5 6 7 | 8 9 10 11 12 13 14", 1),
        &mut drawn,
    );
    let expected = [
        "            (5) (4) (3) (2) (1) (0)",
        "> seat 1     13  12  11  10   9   8",
        "         14                           7",
        "  seat 0      1   2   3   4   5   6",
        "            (0) (1) (2) (3) (4) (5)",
        "",
    ];
    assert_eq!(drawn, expected.join("\n"), "\n{drawn}");
}
