//! Mates and draws.

use arena_engine::{Ending, Game, Node};

use super::{ending, from_fen, line, message};

/// The phase in a message, as a word.
fn phase(fen: &str, moves: &str) -> &'static str {
    let game = from_fen(fen);
    let states = line(&game, moves);
    message(&game, states.last().expect("a move"))
        .phase()
        .as_str_name()
        .trim_start_matches("CHESS_PHASE_")
}

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

#[test]
fn mate_wins_and_stalemate_is_drawn() {
    let game = from_fen(START);
    let mated = line(&game, "f3 e5 g4 Qh4#").pop().expect("moves");
    assert_eq!(game.node(&mated), Node::Over(Ending::Normal));
    assert_eq!(game.placement(&mated)[..2], [2, 1]);
    assert_eq!(game.scores(&mated)[..2], [0, 1]);

    let game = from_fen("7k/8/6K1/8/8/8/8/5Q2 w - - 0 1");
    let stuck = line(&game, "Qf7").pop().expect("a move");
    assert_eq!(game.node(&stuck), Node::Over(Ending::Normal));
    assert_eq!(game.placement(&stuck)[..2], [1, 1]);
    assert_eq!(phase("7k/8/6K1/8/8/8/8/5Q2 w - - 0 1", "Qf7"), "STALEMATE");
}

#[test]
fn third_occurrence_of_a_position_is_drawn() {
    let game = from_fen(START);
    let knights = "Nf3 Nf6 Ng1 Ng8 ";
    assert_eq!(ending(&game, knights), None);
    assert_eq!(ending(&game, &knights.repeat(2)), Some(Ending::Repetition));
    // After a move of a pawn, positions are counted anew.
    assert_eq!(ending(&game, &format!("{knights} e4 e5 {knights}")), None);
}

#[test]
fn positions_with_other_rights_are_different() {
    // With their first moves, the kings lose the rights to castle.
    let game = from_fen("r3k3/8/8/8/8/8/8/4K2R w Kq - 0 1");
    let kings = "Kf1 Kd8 Ke1 Ke8 ";
    assert_eq!(ending(&game, &format!("{} Kf1", kings.repeat(2))), None);
    assert_eq!(
        ending(&game, &format!("{} Kf1 Kd8", kings.repeat(2))),
        Some(Ending::Repetition)
    );
    // A capture en passant was possible only the first time.
    let game = from_fen("4k3/8/8/8/3p4/8/4P3/4K3 w - - 0 1");
    let kings = "Kd7 Kf1 Ke8 Ke1 ";
    assert_eq!(ending(&game, &format!("e4 {}", kings.repeat(2))), None);
    // The capture was never legal, so the positions are equal.
    let game = from_fen("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1");
    let repeated = format!("e4 {}", kings.repeat(2));
    assert_eq!(ending(&game, &repeated), Some(Ending::Repetition));
}

#[test]
fn mate_comes_before_the_fifty_moves() {
    let mates = "6k1/5ppp/8/8/8/8/8/R3K3 w - - 99 80";
    assert_eq!(phase(mates, "Ra8#"), "CHECKMATE");
    assert_eq!(phase(mates, "Ra7"), "FIFTY_MOVES");
    assert_eq!(phase(mates.replace("99", "98").as_str(), "Ra7"), "MOVE");
    let game = from_fen(mates);
    assert_eq!(ending(&game, "Ra7"), Some(Ending::Normal));
}

#[test]
fn insufficient_material_is_drawn() {
    // Each game has one capture, after which these pieces are left.
    for (fen, moves, drawn) in [
        ("4k3/8/8/8/8/8/4p3/4K3 w - - 0 1", "Kxe2", true),
        ("4k3/8/8/8/8/8/4p3/4K1N1 w - - 0 1", "Kxe2", true),
        ("4k3/8/8/8/8/8/4p3/4KB2 w - - 0 1", "Kxe2", true),
        ("2b1k3/8/8/8/8/8/4p3/4KB2 w - - 0 1", "Kxe2", true),
        ("4kb2/8/8/8/8/8/4p3/4KB2 w - - 0 1", "Kxe2", false),
        ("4k1n1/8/8/8/8/8/4p3/4KB2 w - - 0 1", "Kxe2", false),
        ("4k1n1/8/8/8/8/8/4p3/4K1N1 w - - 0 1", "Kxe2", false),
        ("4k3/8/8/8/8/8/4p3/1N2K1N1 w - - 0 1", "Kxe2", false),
        ("4k3/8/8/8/8/8/4p3/4K2R w - - 0 1", "Kxe2", false),
        ("4k3/7p/8/8/8/8/4p3/4K3 w - - 0 1", "Kxe2", false),
    ] {
        let expected = if drawn {
            "INSUFFICIENT_MATERIAL"
        } else {
            "MOVE"
        };
        assert_eq!(phase(fen, moves), expected, "{fen}");
    }
}
