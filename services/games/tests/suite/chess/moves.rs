//! Legal moves, ids and notations.

use arena_engine::{ActionId, Game};
use arena_games::{Chess, chess::State};

use super::{from_fen, from_fen_960, line, message, named};
use crate::support::rows;

/// Number of paths of `depth` legal moves. Unlike [`arena_engine::perft`], drawn games continue.
fn paths(game: &Chess, state: &State, depth: usize) -> u64 {
    let mut legal = Vec::new();
    game.legal(state, &mut legal);
    if depth == 1 {
        return legal.len() as u64;
    }
    let after = |action| {
        let mut next = state.clone();
        game.apply(&mut next, action);
        paths(game, &next, depth - 1)
    };
    legal.into_iter().map(after).sum()
}

/// Compares counts with those of the file, up to a number of paths.
fn check_paths(paths_max: u64) {
    for row in rows("chess_perft.txt") {
        let game = match row[0].contains(" HF") || row[0].contains(" HE") {
            true => from_fen_960(&row[0]),
            false => from_fen(&row[0]),
        };
        for (depth, count) in row.iter().enumerate().skip(1) {
            let count: u64 = count.parse().expect("a number");
            if count <= paths_max {
                let found = paths(&game, &game.initial(), depth);
                assert_eq!(found, count, "{}: depth {depth}", row[0]);
            }
        }
    }
}

#[test]
fn perft_equals_published_counts() {
    check_paths(5_000_000);
}

/// `cargo test --release -p arena-games perft_to_depth_five -- --ignored`
#[test]
#[ignore = "takes minutes without optimisation"]
fn perft_to_depth_five_equals_published_counts() {
    check_paths(u64::MAX);
}

#[test]
fn id_is_from_to_and_promotion() {
    let game = from_fen("4k3/P7/8/8/8/8/8/R3K2R w KQ - 0 1");
    let state = game.initial();
    for (san, uci, id) in [
        ("Ra2", "a1a2", 64 * 8),
        ("O-O", "e1g1", 4 + 64 * 6),
        ("O-O-O", "e1c1", 4 + 64 * 2),
        ("a8=N", "a7a8n", 48 + 64 * 56 + 4096),
        ("a8=B", "a7a8b", 48 + 64 * 56 + 2 * 4096),
        ("a8=R+", "a7a8r", 48 + 64 * 56 + 3 * 4096),
        ("a8=Q+", "a7a8q", 48 + 64 * 56 + 4 * 4096),
    ] {
        let step = named(&game, &state, san);
        assert_eq!((&step.uci[..], step.id), (uci, id), "{san}");
    }
    let castled = &line(&game, "O-O-O")[0];
    assert_eq!(
        message(&game, castled).fen,
        "4k3/P7/8/8/8/8/8/2KR3R b - - 1 1"
    );
}

#[test]
fn castling_takes_the_own_rook_in_chess960() {
    let game = from_fen_960("1r3kr1/6p1/8/8/8/8/6P1/1R3KR1 w GBgb - 0 1");
    let state = game.initial();
    for (san, uci, after) in [
        ("O-O+", "f1g1", "1r3kr1/6p1/8/8/8/8/6P1/1R3RK1 b gb - 1 1"),
        ("O-O-O", "f1b1", "1r3kr1/6p1/8/8/8/8/6P1/2KR2R1 b gb - 1 1"),
    ] {
        let step = named(&game, &state, san);
        assert_eq!(step.uci, uci);
        let mut next = state.clone();
        game.apply(&mut next, step.id as ActionId);
        assert_eq!(message(&game, &next).fen, after, "{san}");
    }
}

#[test]
fn san_names_the_piece_and_no_more_than_needed() {
    for (fen, moves) in [
        // Another piece on the same rank, on the same file, and on both.
        ("7k/8/8/3N3N/8/8/8/K7 w - - 0 1", "Ndf4 Nhf4 Ndf6 Nhf6"),
        ("7k/8/8/R7/8/8/8/R3K3 w - - 0 1", "R1a3 R5a3"),
        ("1k6/8/8/Q6Q/8/8/8/Q3K3 w - - 0 1", "Qa5e5+ Qhe5+ Q1e5+"),
        // Capture, en passant, promotion with capture, and mate.
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "exd6 e6"),
        ("3rk3/2P5/8/8/8/8/8/4K3 w - - 0 1", "cxd8=Q+ cxd8=N c8=R"),
        ("6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1", "Ra8#"),
    ] {
        let game = from_fen(fen);
        for san in moves.split(' ') {
            named(&game, &game.initial(), san);
        }
    }
}

#[test]
fn en_passant_is_named_only_if_it_is_legal() {
    // The pawn of d4 is pinned to its king on the rank: it cannot capture.
    for (fen, legal) in [
        ("8/8/8/8/k2p3R/8/4P3/4K3 w - - 0 1", false),
        ("8/8/8/8/3p3R/k7/4P3/4K3 w - - 0 1", true),
        ("8/8/8/8/7R/k7/4P3/4K3 w - - 0 1", false),
    ] {
        let game = from_fen(fen);
        let after = &line(&game, "e4")[0];
        let text = message(&game, after).fen;
        assert_eq!(text.contains(" e3 "), legal, "{text}");
    }
}
