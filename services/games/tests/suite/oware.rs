//! Tests of oware.

mod abapa;
mod anan_anan;
mod figures;
mod model;

use arena_engine::{Ending, Node, Stream};
use arena_games::oware::{Core, Phase};

/// A position from "pits score | pits score".
fn core(board: &str, to_move: u8) -> Core {
    let numbers: Vec<u8> = board
        .split_whitespace()
        .filter_map(|word| word.parse().ok())
        .collect();
    assert_eq!(numbers.len(), 14, "{board}");
    let mut pits = [0; 12];
    pits[..6].copy_from_slice(&numbers[..6]);
    pits[6..].copy_from_slice(&numbers[7..13]);
    Core {
        pits,
        score: [numbers[6], numbers[13]],
        to_move,
        phase: Phase::Move,
        passed: false,
        since_capture: 0,
        plies: 0,
    }
}

/// The same position with exchanged sides.
fn turned(core: &Core) -> Core {
    let mut turned = *core;
    turned.pits.rotate_left(6);
    turned.score.swap(0, 1);
    turned.to_move = 1 - core.to_move;
    turned
}

/// The next node in a data file, for the position and for the exchanged sides.
fn next(word: &str) -> [Node; 2] {
    match word.trim() {
        "normal" => [Node::Over(Ending::Normal); 2],
        "repetition" => [Node::Over(Ending::Repetition); 2],
        "cap" => [Node::Over(Ending::Cap); 2],
        seat => {
            let seat = seat.parse().expect("a seat");
            [Node::Decision(seat), Node::Decision(1 - seat)]
        }
    }
}

/// The fields of the lines of a data file.
fn lines(name: &str) -> Vec<Vec<String>> {
    let line = |row: Vec<String>| {
        let line = row.join(" | ");
        line.split('/')
            .map(|field| field.trim().to_owned())
            .collect()
    };
    crate::support::rows(name).into_iter().map(line).collect()
}

/// A random position, which play need not reach. Often a few pits have many seeds.
fn anywhere(stream: &mut Stream) -> Core {
    let mut core = core("0 0 0 0 0 0 0 | 0 0 0 0 0 0 0", stream.below(2) as u8);
    let spread = 1 + stream.below(12);
    for _ in 0..48 {
        match stream.below(20) {
            0 => core.score[0] += 1,
            1 => core.score[1] += 1,
            _ => core.pits[(stream.below(spread) * 5 % 12) as usize] += 1,
        }
    }
    core
}

#[test]
fn position_is_three_words() {
    assert!(size_of::<Core>() <= 24);
    assert!(size_of::<arena_engine::Ending>() == 1);
}
