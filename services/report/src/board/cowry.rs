//! Cowry: a square board with the pieces of each seat on the seat's path.

use arena_games::{Cowry, cowry::State};

use super::{Board, Drawn, label, shape};

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
                (0..=self.goal())
                    .map(|index| centre(self.square(seat, index)))
                    .collect()
            })
            .collect();
        let mut art = String::new();
        for index in 0..=self.goal() {
            let (x, y) = spots[0][usize::from(index)];
            let corner = [
                ("x", x - CELL / 2.0),
                ("y", y - CELL / 2.0),
                ("width", CELL),
                ("height", CELL),
            ];
            let class = match index {
                goal if goal == self.goal() => "cell goal",
                outer if outer < self.outer() => "cell",
                _ => "cell inner",
            };
            shape(&mut art, "rect", class, &corner);
            if self.is_safe(index) {
                let d = CELL * 0.36;
                let cross = |x2: f32, y2: f32| {
                    [
                        ("x1", x - x2),
                        ("y1", y - y2),
                        ("x2", x + x2),
                        ("y2", y + y2),
                    ]
                };
                shape(&mut art, "line", "mark", &cross(d, d));
                shape(&mut art, "line", "mark", &cross(d, -d));
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
            out.extend(
                pieces[..self.pieces()]
                    .iter()
                    .map(|&index| i16::from(index)),
            );
        }
    }
}

fn centre((row, column): (u8, u8)) -> (f32, f32) {
    let along = |place: u8| MARGIN + (f32::from(place) + 0.5) * CELL;
    (along(column), along(row))
}
