//! Chinese Ludo: the ring, the hangars in two corners and the home columns towards the
//! centre.

use arena_games::{
    ChineseLudo,
    ludo::{HANGAR, HOME, PAD, RING_LAST, State, is_own_colour},
};

use super::{Board, Drawn, label, square};

/// Side of a square.
const CELL: f32 = 26.0;
/// Squares along a side of the ring.
const SIDE: i16 = 14;
/// Margin around the board.
const MARGIN: f32 = 44.0;

impl Drawn for ChineseLudo {
    fn board(&self) -> Board {
        let side = 2.0 * MARGIN + f32::from(SIDE) * CELL;
        let spots: Vec<Vec<(f32, f32)>> = (0..2)
            .map(|seat| (HANGAR..=HOME).map(|at| spot(seat, at)).collect())
            .collect();
        let mut art = String::new();
        let at = |seat: usize, progress: i8| spots[seat][(progress - HANGAR) as usize];
        for seat in 0..2 {
            for progress in 1..=RING_LAST {
                square(&mut art, "cell", at(seat, progress), CELL);
            }
        }
        for (seat, name) in ["Red", "Blue"].iter().enumerate() {
            let own = format!("cell own{seat}");
            for progress in (1..HOME).filter(|&at| is_own_colour(at) || at > RING_LAST) {
                square(&mut art, &own, at(seat, progress), CELL);
            }
            for (progress, side) in [(HANGAR, 2.0), (PAD, 1.2), (HOME, 1.8)] {
                square(&mut art, &own, at(seat, progress), side * CELL);
            }
            let (x, y) = at(seat, HANGAR);
            let beside = if seat == 0 { 2.0 } else { -2.0 };
            let at = (x + beside * CELL, y);
            label(&mut art, &format!("side seat{seat}"), at, name);
        }
        Board::Pieces {
            width: side as u32,
            height: side as u32,
            art,
            pieces: 4,
            least: i16::from(HANGAR),
            spots,
            spot: CELL,
            words: vec![
                (i16::from(HANGAR), "hangar"),
                (i16::from(PAD), "pad"),
                (i16::from(HOME), "home"),
            ],
        }
    }

    fn numbers(&self, state: &State, out: &mut Vec<i16>) {
        for planes in &state.r {
            out.extend(planes.iter().copied().map(i16::from));
        }
    }
}

/// Centre of a seat's square at a progress. The ring runs clockwise from square 1 of seat 0
/// in the upper left corner. The home column runs inwards from the last square of the ring.
/// The path of the other seat is the same, rotated by 180°.
fn spot(seat: usize, progress: i8) -> (f32, f32) {
    let last = SIDE - 1;
    let (row, column) = match progress {
        HANGAR => (1.6, 1.6),
        PAD => (-1.05, -1.05),
        HOME => (3.0, 6.4),
        column if progress > RING_LAST => (3.0, f32::from(column - RING_LAST)),
        progress => {
            let step = i16::from(progress) - 1;
            let along = step % last;
            let (row, column) = match step / last {
                0 => (0, along),
                1 => (along, last),
                2 => (last, last - along),
                _ => (last - along, 0),
            };
            (f32::from(row), f32::from(column))
        }
    };
    let along = |place: f32| MARGIN + (place + 0.5) * CELL;
    let last = f32::from(last);
    if seat == 0 {
        (along(column), along(row))
    } else {
        (along(last - column), along(last - row))
    }
}
