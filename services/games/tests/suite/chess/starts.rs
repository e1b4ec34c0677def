//! Start positions: options, FEN, and those of Chess960.

use arena_engine::{Game, Node};
use arena_games::{Chess, resolve};

use super::{line, message};
use crate::support::{game, options};

/// The start position with these options.
fn start(words: &str) -> String {
    let game: Chess = game(words, 2);
    message(&game, &game.initial()).fen
}

#[test]
fn start_positions_are_numbered() {
    let standard = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    assert_eq!(start(""), standard);
    for (number, row, rights) in [
        (0, "bbqnnrkr", "HFhf"),
        (518, "rnbqkbnr", "HAha"),
        (959, "rkrnnqbb", "CAca"),
    ] {
        let white = row.to_uppercase();
        let fen = format!("{row}/pppppppp/8/8/8/8/PPPPPPPP/{white} w {rights} - 0 1");
        assert_eq!(start(&format!("variant=chess960 start={number}")), fen);
    }
}

#[test]
fn start_of_chess960_is_drawn() {
    let game: Chess = game("variant=chess960", 2);
    let mut state = game.initial();
    assert_eq!(game.node(&state), Node::Chance(None));
    assert_eq!(game.weights(&state), [1; 960]);
    let before = message(&game, &state);
    assert_eq!((&before.fen[..], &before.base_fen[..]), ("", ""));
    game.apply_outcome(&mut state, 959);
    assert_eq!(
        message(&game, &state).fen,
        start("variant=chess960 start=959")
    );
}

#[test]
fn fen_is_read_in_several_ways_and_written_in_one() {
    let fen = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2";
    for (words, written) in [
        (fen.to_owned(), fen),
        // No capture on e6 is legal.
        (fen.replace(" - ", " e6 "), fen),
        // EPD has no clocks.
        (
            fen.replace(" 0 2", ""),
            "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 1",
        ),
    ] {
        let given = options(&format!("fen={}", words.replace(' ', "_")));
        let (resolved, _) = resolve("chess", &given, None).expect("a position");
        assert_eq!(resolved["fen"].to_string(), written);
        assert_eq!(resolved["start"].to_string(), "518");
    }
    // K and Q are the outermost rooks.
    let rooks = "1r2k1rr/8/8/8/8/8/8/RR2K1R1 w KQkq - 0 1".replace(' ', "_");
    assert_eq!(
        start(&format!("variant=chess960 fen={rooks}")),
        "1r2k1rr/8/8/8/8/8/8/RR2K1R1 w GAhb - 0 1"
    );
}

#[test]
fn impossible_starts_are_refused() {
    for (words, reason) in [
        ("start=5", "`start` needs `variant = \"chess960\"`"),
        (
            "variant=chess960 start=5 fen=4k3/8/8/8/8/8/4P3/4K3_w_-_-",
            "`start` and `fen` cannot be combined",
        ),
        ("fen=nonsense", "in FEN: the board is invalid"),
        ("fen=4k3/8/8/8/8/8/4P3/4K3_w", "the FEN is missing a field"),
        ("fen=4k3/8/8/8/8/8/8/4K3_w_-_-", "the game is over"),
        ("fen=4k3/8/8/8/8/8/4P3/4K3_w_-_-_100_90", "the game is over"),
        ("fen=R3k3/8/4K3/8/8/8/8/8_b_-_-", "the game is over"),
        ("fen=4k3/8/8/8/8/8/4P3/8_w_-_-", "the board is invalid"),
        // The seat to move could take the king.
        ("fen=4k3/4R3/8/8/8/8/8/4K3_w_-_-", "the board is invalid"),
        ("fen=4k3/8/8/8/8/8/8/3K3R_w_K_-", "Chess960"),
        ("fen=4k3/8/8/8/8/8/8/4K1R1_w_K_-", "castling rights"),
    ] {
        let error = resolve("chess", &options(words), None).expect_err(words);
        assert!(error.to_string().contains(reason), "{error}");
    }
}

#[test]
fn black_may_begin() {
    let words = "fen=4k3/8/8/8/8/8/4P3/4K3_b_-_-_7_30";
    let game: Chess = game(words, 2);
    assert_eq!(game.node(&game.initial()), Node::Decision(1));
    let after = line(&game, "Kd7").pop().expect("a move");
    let message = message(&game, &after);
    assert_eq!(message.fen, "8/3k4/8/8/8/8/4P3/4K3 w - - 8 31");
    assert_eq!(message.base_fen, "4k3/8/8/8/8/8/4P3/4K3 b - - 7 30");
    assert_eq!((message.plies, message.to_move), (1, 0));
    assert_eq!(message.played, ["e8d7"]);
}
