//! Cowry: a square board with the pieces of each seat on the seat's path.

use arena_games::{Cowry, cowry::State};

use super::{Board, Drawn, label, shape, square};

/// Side of a square.
const CELL: f32 = 40.0;
/// Margin around the board, for the names of the sides.
const MARGIN: f32 = 26.0;

impl Drawn for Cowry {
    fn board(&self) -> Board {
        let size = f32::from(self.size());
        let seats = arena_engine::Game::seats(self);
        let spots: Vec<Vec<(f32, f32)>> = (0..seats)
            .map(|seat| {
                let path = 0..=self.goal();
                path.map(|index| centre(self.square(seat, index))).collect()
            })
            .collect();
        let mut art = String::new();
        for index in 0..=self.goal() {
            let (x, y) = spots[0][usize::from(index)];
            let class = match index {
                goal if goal == self.goal() => "cell goal",
                outer if outer < self.outer() => "cell",
                _ => "cell inner",
            };
            square(&mut art, class, (x, y), CELL);
            if self.is_safe(index) {
                let d = CELL * 0.36;
                for (dx, dy) in [(d, d), (d, -d)] {
                    let from = [("x1", x - dx), ("y1", y - dy)];
                    let to = [("x2", x + dx), ("y2", y + dy)];
                    shape(&mut art, "line", "mark", &[from, to].concat());
                }
            }
        }
        let side = 2.0 * MARGIN + size * CELL;
        let middle = side / 2.0;
        let sides: &[(&str, (f32, f32), &str)] = &[
            ("South", (middle, side - MARGIN / 2.0), ""),
            ("East", (side - MARGIN / 2.0, middle), " down"),
            ("North", (middle, MARGIN / 2.0), ""),
            ("West", (MARGIN / 2.0, middle), " up"),
        ];
        let places: &[usize] = match seats {
            2 => &[0, 2],
            3 => &[0, 1, 2],
            _ => &[0, 1, 2, 3],
        };
        for (seat, &place) in places.iter().enumerate() {
            let (name, at, turned) = sides[place];
            label(&mut art, &format!("side seat{seat}{turned}"), at, name);
        }
        Board::Pieces {
            width: side as u32,
            height: side as u32,
            art,
            pieces: self.pieces(),
            least: 0,
            spots,
            spot: CELL,
            words: vec![(0, "start"), (i16::from(self.goal()), "home")],
        }
    }

    fn numbers(&self, state: &State, out: &mut Vec<i16>) {
        for pieces in &state.pieces[..arena_engine::Game::seats(self)] {
            out.extend(pieces[..self.pieces()].iter().copied().map(i16::from));
        }
    }
}

fn centre((row, column): (u8, u8)) -> (f32, f32) {
    let along = |place: u8| MARGIN + (f32::from(place) + 0.5) * CELL;
    (along(column), along(row))
}
