//! Paper 001's games against random, Tables I and II, played by a program that
//! shares nothing with the rest: neither rules nor agents nor random numbers.
//!
//! It was written after the paper's rules as its authors' program plays them (two
//! players on the board of 5, one throw of four fair shells a turn, no gate), with
//! the heuristics that program has and the search that the text has. What it and
//! `arena paper run 001-i 001-ii` come to should be the same, up to chance. One thing
//! that the rules do not settle is read alike in both: opponents that are home are not
//! behind anybody.
//!
//! ```sh
//! cargo run --release -p arena-agents --example chowka_again -- 20000
//! ```

use std::{
    io::{self, Write},
    thread,
};

/// Sixteen squares of the outer ring, eight of the inner one, and the centre.
const OUTER: usize = 16;
const GOAL: usize = 24;
const PIECES: usize = 4;
/// How many of the sixteen ways that four shells fall show each value.
const THROWS: [(usize, u64); 5] = [(1, 4), (2, 6), (3, 4), (4, 1), (8, 1)];

/// Where pieces stand, as far along their own paths, and which were held up once.
#[derive(Clone, Copy, Default)]
struct Board {
    at: [[usize; PIECES]; 2],
    held: [[bool; PIECES]; 2],
}

#[derive(Clone, Copy, PartialEq)]
enum Step {
    Never,
    /// A double is in the way, and holds the piece up this once.
    Held,
    Free,
}

/// The square at an index of a side's path: the other side begins opposite, on
/// either ring.
fn square(side: usize, index: usize) -> usize {
    match index {
        0..OUTER => (index + 8 * side) % 16,
        OUTER..GOAL => 16 + (index - OUTER + 4 * side) % 8,
        _ => GOAL,
    }
}

/// The four places where paths may begin, and the centre.
fn is_safe(index: usize) -> bool {
    index == GOAL || index < OUTER && index.is_multiple_of(4)
}

impl Board {
    /// Pieces of a side on a square.
    fn count(&self, side: usize, on: usize) -> usize {
        let pieces = self.at[side].iter();
        pieces.filter(|&&index| square(side, index) == on).count()
    }

    fn step(&self, side: usize, piece: usize, value: usize) -> Step {
        let from = self.at[side][piece];
        let to = from + value;
        if from == GOAL || to > GOAL {
            return Step::Never;
        }
        let is_double = |index: usize| self.count(1 - side, square(side, index)) > 1;
        if to < OUTER && !is_safe(to) && is_double(to) {
            return Step::Never;
        }
        let between = from + 1..to.min(OUTER);
        if !self.held[side][piece] && { between }.any(is_double) {
            return Step::Held;
        }
        Step::Free
    }

    fn free(&self, side: usize, value: usize) -> impl Iterator<Item = usize> {
        (0..PIECES).filter(move |&piece| self.step(side, piece, value) == Step::Free)
    }

    /// The board after a move; pieces that a double held up may pass it later.
    fn moved(&self, side: usize, piece: usize, value: usize) -> Self {
        let mut board = *self;
        for other in 0..PIECES {
            board.held[side][other] |= self.step(side, other, value) == Step::Held;
        }
        let to = self.at[side][piece] + value;
        board.at[side][piece] = to;
        if !is_safe(to) {
            for index in &mut board.at[1 - side] {
                if square(1 - side, *index) == square(side, to) {
                    *index = 0;
                }
            }
        }
        board
    }

    /// What a heuristic gives for a move.
    fn worth(&self, heuristic: u32, side: usize, piece: usize, value: usize) -> f64 {
        let to = self.at[side][piece] + value;
        let one = |is: bool| f64::from(u8::from(is));
        let hits = one(!is_safe(to) && self.count(1 - side, square(side, to)) > 0);
        let safe = one(is_safe(to));
        let doubles = one(to < OUTER && self.at[side].contains(&to));
        let left = (GOAL + 1 - to) as f64;
        let next = match to {
            0..4 => 4 - to,
            4..8 => 8 - to,
            8..12 => 12 - to,
            _ => 25 - to,
        } as f64;
        let own = self.at[side].iter().filter(|&&index| index < GOAL).count() as f64;
        let behind = self.at[1 - side]
            .iter()
            .filter(|&&index| index < GOAL && index != to);
        let behind = behind.map(|&index| 8 + to as i64 - index as i64);
        let reach = match behind.filter(|&apart| apart > 0).min().unwrap_or(8).min(8) {
            5.. => 5.0,
            apart @ 2..=4 => apart as f64,
            _ => 1.0,
        };
        match heuristic {
            1 => (1.0 + 10.0 * hits + 8.0 * safe) / left,
            2 => (1.0 + 10.0 * hits + reach) * own / left,
            3 => (1.0 + 10.0 * hits) / next,
            _ => (1.0 + 10.0 * hits + 7.0 * doubles + 8.0 * safe + reach) / (left + next),
        }
    }

    /// The piece whose move is worth most, the first of equals, with what it is worth.
    fn best(
        &self,
        worth: impl Fn(usize) -> f64,
        side: usize,
        value: usize,
    ) -> Option<(usize, f64)> {
        let mut best: Option<(usize, f64)> = None;
        for piece in self.free(side, value) {
            let worth = worth(piece);
            if best.is_none_or(|(_, known)| worth > known + 1e-12) {
                best = Some((piece, worth));
            }
        }
        best
    }

    /// A1: by the heuristic alone.
    fn naive(&self, heuristic: u32, side: usize, value: usize) -> Option<(usize, f64)> {
        self.best(
            |piece| self.worth(heuristic, side, piece, value),
            side,
            value,
        )
    }

    /// A2: the heuristic, less the other side's best answer to each throw, and with
    /// the best move after that for each throw of one's own, all throws alike.
    fn looked_ahead(&self, heuristic: u32, side: usize, value: usize) -> Option<usize> {
        let pieces = || self.free(side, value);
        if pieces().count() < 2 {
            return pieces().next();
        }
        let ends = |piece: usize| self.moved(side, piece, value).at[side] == [GOAL; PIECES];
        if let Some(piece) = pieces().find(|&piece| ends(piece)) {
            return Some(piece);
        }
        let worth = |piece: usize| {
            let first = self.moved(side, piece, value);
            let mut sum = 0.0;
            for (answer, _) in THROWS {
                let (second, theirs) = match first.naive(heuristic, 1 - side, answer) {
                    Some((piece, worth)) => (first.moved(1 - side, piece, answer), worth),
                    None => (first, 0.0),
                };
                for (again, _) in THROWS {
                    let ours = second.naive(heuristic, side, again);
                    sum += ours.map_or(0.0, |(_, worth)| worth) - theirs;
                }
            }
            self.worth(heuristic, side, piece, value) + sum / 25.0
        };
        self.best(worth, side, value).map(|(piece, _)| piece)
    }
}

/// Xorshift with a multiplication (G. Marsaglia 2003; S. Vigna 2016).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % limit
    }

    fn throw(&mut self) -> usize {
        let mut left = self.below(16);
        for (value, ways) in THROWS {
            if left < ways {
                return value;
            }
            left -= ways;
        }
        unreachable!("there are sixteen ways")
    }

    /// A3: any piece, those on the inner ring, or going there, twice as likely.
    fn piece(&mut self, board: &Board, value: usize, lands: bool) -> Option<usize> {
        let mut bag: Vec<usize> = board.free(1, value).collect();
        let ahead = if lands { value } else { 0 };
        for piece in board.free(1, value) {
            if board.at[1][piece] + ahead >= OUTER {
                bag.push(piece);
            }
        }
        let drawn = self.below(bag.len().max(1) as u64) as usize;
        bag.get(drawn).copied()
    }
}

/// Whether A1 or A2, who begins, wins against A3, and the turns it takes.
fn game(random: &mut Random, ahead: bool, heuristic: u32, lands: bool) -> (bool, u64) {
    let mut board = Board::default();
    let mut turns = 0;
    loop {
        let side = (turns % 2) as usize;
        turns += 1;
        let value = random.throw();
        let piece = match (side, ahead) {
            (0, true) => board.looked_ahead(heuristic, 0, value),
            (0, false) => board.naive(heuristic, 0, value).map(|(piece, _)| piece),
            _ => random.piece(&board, value, lands),
        };
        match piece {
            Some(piece) => board = board.moved(side, piece, value),
            None => {
                for piece in 0..PIECES {
                    board.held[side][piece] |= board.step(side, piece, value) == Step::Held;
                }
            }
        }
        if board.at[side] == [GOAL; PIECES] {
            return (side == 0, turns);
        }
    }
}

fn main() -> io::Result<()> {
    let games: u64 = match std::env::args().nth(1).map(|text| text.parse()) {
        None => 20_000,
        Some(Ok(games)) if games > 0 => games,
        Some(_) => {
            let wrong = "usage: chowka_again [GAMES], a whole number, at least 1";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, wrong));
        }
    };
    let mut out = io::stdout();
    writeln!(
        out,
        "wins of 50 with their standard error, and turns a game: {games} games a row"
    )?;
    let rows = (1..=4).flat_map(|heuristic| {
        [(false, true), (false, false), (true, true), (true, false)]
            .map(|(lands, ahead)| (heuristic, lands, ahead))
    });
    let played: Vec<_> = rows
        .map(|(heuristic, lands, ahead)| {
            let row = thread::spawn(move || {
                let seed = u64::from(heuristic) << 8 | u64::from(lands) << 1 | u64::from(ahead);
                let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ seed);
                let (mut wins, mut turns) = (0, 0);
                for _ in 0..games {
                    let (won, took) = game(&mut random, ahead, heuristic, lands);
                    wins += u64::from(won);
                    turns += took;
                }
                (wins as f64 / games as f64, turns as f64 / games as f64)
            });
            (heuristic, lands, ahead, row)
        })
        .collect();
    for (heuristic, lands, ahead, row) in played {
        let (share, turns) = row.join().expect("no panic in playing");
        let error = (share * (1.0 - share) / games as f64).sqrt();
        let (table, row) = if ahead { ("I ", "A2") } else { ("II", "A1") };
        let lands = if lands { ", lands" } else { "       " };
        writeln!(
            out,
            "Table {table} {row} H{heuristic}{lands}  {:5.2} ± {:.2}  {turns:6.1}",
            50.0 * share,
            50.0 * error,
        )?;
    }
    Ok(())
}
