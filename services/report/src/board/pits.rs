//! Kalah and both Owares: two rows of pits, with the banked seeds beside them. Seat 0's row
//! is at the bottom and is sown to the right.

use arena_games::{
    Abapa, AnanAnan, Kalah, kalah,
    oware::{Core, abapa},
};

use super::{Board, Drawn, label, shape};

/// Distance between two pits.
const STEP: f32 = 62.0;
/// Half the side of a pit.
const HALF: f32 = 27.0;
/// Width of a store with its margin.
const STORE: f32 = 76.0;
/// Distance from the centre of a side's name to the dot before it.
const DOT_AWAY: f32 = 31.0;
/// Margin above and below the rows, for the offsets.
const MARGIN: f32 = 24.0;

/// Values: the pits of seat 0, the pits of seat 1, then the banked seeds of each seat.
fn board(pits: usize, sides: [&'static str; 2]) -> Board {
    let inner = pits as f32 * STEP;
    let width = inner + 2.0 * STORE;
    let rows = [MARGIN + 1.5 * STEP + 8.0, MARGIN + 0.5 * STEP];
    let height = rows[0] + 0.5 * STEP + MARGIN;
    let mut places = Vec::new();
    let mut names = Vec::new();
    let mut art = String::new();
    for (seat, side) in sides.iter().enumerate() {
        for offset in 0..pits {
            let along = if seat == 0 { offset } else { pits - 1 - offset };
            let x = STORE + (along as f32 + 0.5) * STEP;
            places.push((x, rows[seat], HALF, HALF));
            names.push(format!("{side} {offset}"));
            let y = if seat == 0 { height - 9.0 } else { 11.0 };
            label(&mut art, "offset", (x, y), &offset.to_string());
        }
    }
    let middle = (rows[0] + rows[1]) / 2.0;
    for (seat, side) in sides.iter().enumerate() {
        // The first player banks to the right, as in Kalah.
        let x = [width - STORE / 2.0, STORE / 2.0][seat];
        places.push((x, middle, HALF, STEP - 4.0));
        names.push(format!("{side} banked"));
        let y = if seat == 0 { height - 9.0 } else { 11.0 };
        label(&mut art, &format!("side seat{seat}"), (x, y), side);
        // The dot has the player's colour of the legend.
        let dot = [("cx", x - DOT_AWAY), ("cy", y), ("r", 5.0)];
        shape(&mut art, "circle", &format!("piece p{seat}"), &dot);
    }
    Board::Pits {
        width: width as u32,
        height: height as u32,
        art,
        pits: places,
        names,
        sides,
    }
}

impl Drawn for Kalah {
    fn board(&self) -> Board {
        board(self.pits(), ["Seat 0", "Seat 1"])
    }

    fn numbers(&self, state: &kalah::State, out: &mut Vec<i16>) {
        for seat in 0..2 {
            out.extend(self.row(state, seat).iter().copied().map(i16::from));
        }
        out.extend((0..2).map(|seat| i16::from(state.board[self.store(seat)])));
    }
}

fn oware(core: &Core, out: &mut Vec<i16>) {
    let seeds = core.pits.iter().chain(&core.score);
    out.extend(seeds.copied().map(i16::from));
}

impl Drawn for Abapa {
    fn board(&self) -> Board {
        board(6, ["South", "North"])
    }

    fn numbers(&self, state: &abapa::State, out: &mut Vec<i16>) {
        oware(&state.core, out);
    }
}

impl Drawn for AnanAnan {
    fn board(&self) -> Board {
        board(6, ["South", "North"])
    }

    fn numbers(&self, core: &Core, out: &mut Vec<i16>) {
        oware(core, out);
    }
}
