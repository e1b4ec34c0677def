//! Cowry.

use arena_engine::{options::Options, replay};
use arena_games::{
    Cowry, Ruleset,
    cowry::{Phase, State},
    resolve,
};

use crate::{
    model::{Model, Sample},
    play,
};

/// Name of the table, options, seats.
const TABLES: [(&str, &str, usize); 7] = [
    ("BASIC_2", "variant=basic", 2),
    ("BASIC_3", "variant=basic", 3),
    ("BASIC_4", "variant=basic", 4),
    ("SINGLE_4", "preset=basic_single", 4),
    ("DOUBLES_2", "preset=doubles", 2),
    ("DOUBLES_4", "variant=doubles", 4),
    ("CB2012", "preset=cb2012", 2),
];
const BOTS: [&str; 5] = [
    "mixed",
    "aggressive",
    "move-first",
    "greedy",
    "expectimax:nodes=200",
];
/// Indices of the outer ring and from there to the goal, on a board of 5.
const OUTER: u16 = 16;
const INNER: u16 = 9;
/// Parameters: the outer ring with the gate open and closed, the inner rings,
/// the gate, the turn.
const CLOSED: u16 = OUTER;
const INSIDE: u16 = 2 * OUTER;
const GATE: u16 = INSIDE + INNER;
const TURN: u16 = GATE + 1;
const PARAMETERS: usize = TURN as usize + 1;

pub(crate) fn fit(games: u64, word: &str) {
    for (name, options, seats) in TABLES {
        if name.contains(word) {
            // More seats make more pairs.
            let pairs = seats * (seats - 1) / 2;
            table(name, options, seats, games / pairs as u64);
        }
    }
}

fn table(name: &str, words: &str, seats: usize, games: u64) {
    let (key, value) = words.split_once('=').expect("key=value");
    let given: Options = [(key.to_owned(), value.into())].into();
    let (options, seats) = resolve("cowry", &given, Some(seats)).expect("options of cowry");
    let game = Cowry::with_options(&options, seats).expect("resolved options");
    let mut bots = play::bots(&BOTS, &game);
    let mut samples = Vec::new();
    let mut throws = 0u64;
    let mut turns = Vec::new();
    for number in 0..games {
        let finished = play::game(&game, &mut bots, number);
        let mut last: Option<State> = None;
        replay(&game, &finished.events, |state: &State, described| {
            if described.event.is_action() || state.phase == Phase::Start {
                return;
            }
            throws += 1;
            if state.pool_size() > 0 || last.is_some_and(|last| last.to_move == state.to_move) {
                return;
            }
            if let Some(last) = last.replace(*state) {
                turns.push((terms(&game, &last, usize::from(last.to_move)), {
                    terms(&game, state, usize::from(last.to_move))
                }));
            }
            for one in 0..seats {
                for other in one + 1..seats {
                    samples.push(sample(&game, state, one, other, &finished.placement));
                }
            }
        })
        .expect("what was played can be replayed");
    }
    let held = samples.len() / 5;
    let (tested, fitted) = samples.split_at(held);
    let start: Vec<f64> = vec![0.0; PARAMETERS];
    println!("// {name}: {} games, {} pairs", games, samples.len());
    let found = Model::Linear.fit(fitted, start);
    println!(
        "// {:.5} nats, held out {:.5}",
        Model::Linear.likelihood(fitted, &found),
        Model::Linear.likelihood(tested, &found),
    );
    let sum = |terms: &[(u16, f32)]| -> f64 {
        terms
            .iter()
            .map(|&(at, n)| found[usize::from(at)] * f64::from(n))
            .sum()
    };
    let gained: f64 = turns
        .iter()
        .map(|(before, after)| sum(after) - sum(before))
        .sum();
    print(name, &found, gained / throws as f64);
}

/// What counts for a seat.
fn terms(game: &Cowry, state: &State, seat: usize) -> Vec<(u16, f32)> {
    let mut counts = [0.0; PARAMETERS];
    let open = !game.has_gate() || state.has_hit(seat);
    for &index in &state.pieces[seat][..game.pieces()] {
        let index = u16::from(index);
        let at = if index >= OUTER {
            INSIDE + index - OUTER
        } else if open {
            index
        } else {
            CLOSED + index
        };
        counts[usize::from(at)] += 1.0;
    }
    if open && game.has_gate() {
        counts[usize::from(GATE)] = 1.0;
    }
    // Places of the start are worth nothing, so that the gate can be reported.
    counts[0] = 0.0;
    counts[usize::from(CLOSED)] = 0.0;
    let counts = (0..).zip(counts);
    counts.filter(|&(_, count)| count != 0.0).collect()
}

fn sample(game: &Cowry, state: &State, one: usize, other: usize, placement: &[u8]) -> Sample {
    let mut lead = [0.0; PARAMETERS];
    let mut left = [0.0; PARAMETERS];
    for (seat, sign) in [(one, 1.0), (other, -1.0)] {
        for (at, count) in terms(game, state, seat) {
            lead[usize::from(at)] += sign * count;
            left[usize::from(at)] -= count;
        }
        if usize::from(state.to_move) == seat {
            lead[usize::from(TURN)] += sign;
        }
    }
    left[usize::from(INSIDE + INNER - 1)] += 2.0 * game.pieces() as f32;
    if game.has_gate() {
        left[usize::from(GATE)] += 2.0;
    }
    let some = |counts: [f32; PARAMETERS]| {
        let counts = (0..).zip(counts);
        counts.filter(|&(_, count)| count != 0.0).collect()
    };
    Sample {
        lead: some(lead),
        left: some(left),
        share: match placement[one].cmp(&placement[other]) {
            std::cmp::Ordering::Less => 1.0,
            std::cmp::Ordering::Equal => 0.5,
            std::cmp::Ordering::Greater => 0.0,
        },
    }
}

fn print(name: &str, found: &[f64], extra: f64) {
    let whole = |value: f64| (1000.0 * value).round() as i64;
    let list = |from: u16, count: u16| -> Vec<i64> {
        let from = usize::from(from);
        found[from..from + usize::from(count)]
            .iter()
            .map(|&value| whole(value))
            .collect()
    };
    println!("const {name}: Fit = Fit {{");
    println!("    open: {:?},", list(0, OUTER));
    println!("    closed: {:?},", list(CLOSED, OUTER));
    println!("    inner: {:?},", list(INSIDE, INNER));
    println!("    gate: {},", whole(found[usize::from(GATE)]));
    println!("    turn: {},", whole(found[usize::from(TURN)]));
    println!("    extra: {},", whole(extra));
    println!("}};");
}
