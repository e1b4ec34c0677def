//! False alarms and power, by simulation.

use arena_model::{Beginning, engine::Termination};

use super::*;

/// A small generator: the tests are the same on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn chance(&mut self, share: f64) -> bool {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64 <= share
    }
}

fn game(index: u64, seats: [u16; 2], placement: &[u8]) -> GameResult {
    GameResult {
        index,
        block: index / 2,
        seats: seats.to_vec(),
        placement: placement.to_vec(),
        scores: Vec::new(),
        luck: Vec::new(),
        plies: 30,
        termination: Termination::Normal,
        faults: Vec::new(),
        course: 0,
        beginning: Beginning::default(),
    }
}

/// Worker and score for each block of three agents, each pair of which plays `blocks` blocks. An
/// agent beats a later one with this probability, which a worker may change.
fn played(
    seed: u64,
    blocks: u64,
    workers: u64,
    share: impl Fn(&mut Random, u64, [u16; 2]) -> f64,
) -> WorkerScores {
    let mut random = Random(seed);
    let mut scores = WorkerScores::new(2);
    let pairs = [[0, 1], [0, 2], [1, 2]];
    let mut worker = 0;
    for block in 0..3 * blocks {
        // Leases are ranges of blocks.
        if block % 5 == 0 {
            worker = random.below(workers);
        }
        let pair = pairs[(block % 3) as usize];
        // The games of a block depend on each other.
        let first = share(&mut random, worker, pair);
        let wins = random.chance(first);
        for rotation in 0..2 {
            let wins = if random.chance(0.5) {
                wins
            } else {
                random.chance(first)
            };
            let mut seats = pair;
            let mut placement = [2 - u8::from(wins), 1 + u8::from(wins)];
            if rotation == 1 {
                seats.reverse();
                placement.reverse();
            }
            scores.add(
                "",
                &format!("w{worker}"),
                &game(2 * block + rotation, seats, &placement),
            );
        }
    }
    scores
}

fn least(scores: &WorkerScores) -> f64 {
    let all = scores.statistics(&WorkerScores::default());
    all.iter().map(|it| it.p).fold(1.0, f64::min)
}

#[test]
fn honest_workers_give_few_alarms() {
    for (blocks, workers, share) in [(40, 3, 0.5), (300, 3, 0.02), (15, 8, 0.7)] {
        let tournaments = 2_000;
        let p = (0..tournaments).map(|seed| least(&played(seed, blocks, workers, |_, _, _| share)));
        let p: Vec<f64> = p.collect();
        let below = |level: f64| p.iter().filter(|it| **it < level).count();
        let what = format!("{blocks} blocks, {workers} workers, {share}");
        // The bound is safe: fewer than the nominal share.
        assert!(
            below(0.05) <= tournaments as usize / 20,
            "{what}: {}",
            below(0.05)
        );
        assert!(below(ALARM) <= 2, "{what}: {}", below(ALARM));
    }
}

/// In how many of 100 tournaments worker 1 of 3 is found. It plays a stronger bot as agent 2 in half
/// of its games, so that it scores 0.52 instead of 0.25.
fn found(blocks: u64) -> usize {
    let is_found = |seed: &u64| {
        let scores = played(*seed, blocks, 3, |random, worker, pair| {
            match worker == 1 && pair[1] == 2 && random.chance(0.5) {
                true => 0.2,
                false => 0.75,
            }
        });
        let found = scores.deviations(&WorkerScores::default());
        found
            .iter()
            .any(|it| (&*it.worker, it.agent) == ("w1", 2) && it.score > it.expected)
    };
    (0..100).filter(is_found).count()
}

#[test]
fn owner_with_many_names_is_found() {
    let mut random = Random(7);
    let mut scores = WorkerScores::new(2);
    for block in 0..600 {
        let is_liar = random.chance(0.3);
        let (owner, name) = match is_liar {
            true => ("liar", format!("w{}", random.below(200))),
            false => ("honest", "host".to_owned()),
        };
        let share = if is_liar { 0.5 } else { 0.2 };
        for rotation in 0..2 {
            let wins = random.chance(share);
            let mut seats = [0, 1];
            let mut placement = [2 - u8::from(wins), 1 + u8::from(wins)];
            if rotation == 1 {
                seats.reverse();
                placement.reverse();
            }
            // Two workers of one owner share some blocks.
            let name = if rotation == 1 && is_liar {
                "w0"
            } else {
                &name
            };
            scores.add(owner, name, &game(2 * block + rotation, seats, &placement));
        }
    }
    let found = scores.deviations(&WorkerScores::default());
    let liar = found
        .iter()
        .find(|it| it.worker.ends_with("… (of one owner)"));
    assert!(liar.is_some_and(|it| it.blocks > 150), "{found:?}");
}

#[test]
fn worker_with_a_stronger_bot_is_found() {
    let [few, many] = [250, 500].map(found);
    assert!(few >= 90, "{few}");
    assert_eq!(many, 100);
}

#[test]
fn worker_that_plays_all_games_is_found_by_second_plays() {
    // One worker plays every block, and agent 0 wins nearly all. Two others play them again, and it wins a third.
    for (blocks, is_found) in [(30, true), (8, false)] {
        let (mut first, mut second) = (WorkerScores::new(2), WorkerScores::new(2));
        for index in 0..2 * blocks {
            let seats = if index % 2 == 0 { [0, 1] } else { [1, 0] };
            let won = |wins: bool| seats.map(|it| 2 - u8::from((it == 0) == wins));
            first.add("", "liar", &game(index, seats, &won(index / 2 != 0)));
            let honest = ["one", "two"][(index / 2 % 2) as usize];
            second.add("", honest, &game(index, seats, &won(index / 2 % 3 == 0)));
        }
        let found = first.deviations(&second);
        let finds_liar = found.iter().any(|it| it.worker == "liar");
        assert_eq!(finds_liar, is_found, "{found:?}");
    }
}

#[test]
fn second_plays_are_compared() {
    // Each pair was played by one worker only: without second plays nothing can be compared.
    let (mut first, mut second) = (WorkerScores::new(2), WorkerScores::new(2));
    for index in 0..400 {
        let seats = if index % 2 == 0 { [0, 1] } else { [1, 0] };
        let wins = |agent: u16| seats.map(|it| 2 - u8::from(it == agent));
        first.add(
            "",
            "liar",
            &game(index, seats, &wins(u16::from(index / 2 % 4 == 0))),
        );
        if index / 2 % 3 == 0 {
            second.add(
                "",
                "other",
                &game(index, seats, &wins(u16::from(index / 2 % 4 != 0))),
            );
        }
    }
    assert_eq!(first.deviations(&WorkerScores::default()), []);
    let found = first.deviations(&second);
    assert!(found.iter().any(|it| it.worker == "liar"), "{found:?}");
}

#[test]
fn only_whole_blocks_of_one_worker_count() {
    let mut scores = WorkerScores::new(2);
    scores.add("", "a", &game(0, [0, 1], &[1, 2]));
    scores.add("", "b", &game(1, [1, 0], &[1, 2]));
    scores.add("", "a", &game(2, [0, 1], &[]));
    scores.add("", "a", &game(3, [1, 0], &[1, 2]));
    scores.add("", "a", &game(4, [0, 1], &[1, 1]));
    assert_eq!((scores.cells.len(), scores.open.len()), (0, 1));
    scores.add("", "a", &game(5, [1, 0], &[2, 1]));
    let expected = [(3, 9), (1, 1)].map(|(units, squares)| Sums {
        blocks: 1,
        units,
        squares,
    });
    assert_eq!(scores.cells[0].sums, expected);
    let text = serde_json::to_string(&scores).expect("JSON");
    assert_eq!(
        serde_json::from_str::<WorkerScores>(&text).expect("read"),
        scores
    );
}
