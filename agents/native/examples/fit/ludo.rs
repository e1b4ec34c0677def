//! Chinese Ludo.

use arena_engine::{options::Options, replay};
use arena_games::{
    ChineseLudo, Ruleset,
    ludo::{HANGAR, HOME, Phase, State},
    resolve,
};

use crate::{
    model::{Model, Sample},
    play,
};

const BOTS: [&str; 4] = [
    "ludo-threat",
    "move-first",
    "greedy",
    "expectimax:nodes=200",
];
/// Parameters: the hangar, then each progress to home; the turn.
const TURN: u16 = 58;
const PARAMETERS: usize = TURN as usize + 1;

pub(crate) fn fit(games: u64, word: &str) {
    if !"LUDO".contains(word) {
        return;
    }
    let (options, seats) =
        resolve("chinese-ludo", &Options::new(), Some(2)).expect("options of chinese-ludo");
    let game = ChineseLudo::with_options(&options, seats).expect("resolved options");
    let mut bots = play::bots(&BOTS, &game);
    let mut samples = Vec::new();
    let mut rolls = 0u64;
    let mut turns = Vec::new();
    for number in 0..games {
        let finished = play::game(&game, &mut bots, number);
        let mut last: Option<State> = None;
        replay(&game, &finished.events, |state: &State, described| {
            if described.event.is_action() || state.phase == Phase::Start {
                return;
            }
            rolls += 1;
            if last.is_some_and(|last| last.to_move == state.to_move) {
                return;
            }
            if let Some(last) = last.replace(*state) {
                let seat = usize::from(last.to_move);
                turns.push((terms(&last, seat), terms(state, seat)));
            }
            samples.push(sample(state, finished.placement[0] == 1));
        })
        .expect("what was played can be replayed");
    }
    let held = samples.len() / 5;
    let (tested, fitted) = samples.split_at(held);
    let start: Vec<f64> = (0..PARAMETERS).map(|at| at as f64 / 100.0).collect();
    println!("// LUDO: {} games, {} positions", games, samples.len());
    let mut found = Model::Root.fit(fitted, start);
    println!(
        "// {:.5} nats, held out {:.5}",
        Model::Root.likelihood(fitted, &found),
        Model::Root.likelihood(tested, &found),
    );
    // Where no plane rests nothing was learnt.
    let mut rests = [false; PARAMETERS];
    let leads = samples.iter().flat_map(|sample| &sample.lead);
    leads.for_each(|&(at, _)| rests[usize::from(at)] = true);
    for at in 2..usize::from(TURN) {
        if !rests[at] {
            found[at] = found[at - 1];
        }
    }
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
    let whole = |value: f64| (1000.0 * value).round() as i64;
    let places: Vec<i64> = found[..usize::from(TURN)]
        .iter()
        .map(|&v| whole(v))
        .collect();
    println!("PLACES: {places:?},");
    println!("TURN: {},", whole(found[usize::from(TURN)]));
    println!("EXTRA: {},", whole(gained / rolls as f64));
}
/// What counts for a seat: its planes, the hangar for nothing.
fn terms(state: &State, seat: usize) -> Vec<(u16, f32)> {
    let mut counts = [0.0; PARAMETERS];
    for &plane in &state.r[seat] {
        counts[(plane - HANGAR) as usize] += 1.0;
    }
    counts[0] = 0.0;
    let counts = (0..).zip(counts);
    counts.filter(|&(_, count)| count != 0.0).collect()
}

fn sample(state: &State, won: bool) -> Sample {
    let mut lead = [0.0; PARAMETERS];
    let mut left = [0.0; PARAMETERS];
    for (seat, sign) in [(0, 1.0), (1, -1.0)] {
        for (at, count) in terms(state, seat) {
            lead[usize::from(at)] += sign * count;
            left[usize::from(at)] -= count;
        }
        if usize::from(state.to_move) == seat {
            lead[usize::from(TURN)] += sign;
        }
    }
    left[(HOME - HANGAR) as usize] += 8.0;
    let some = |counts: [f32; PARAMETERS]| {
        let counts = (0..).zip(counts);
        counts.filter(|&(_, count)| count != 0.0).collect()
    };
    Sample {
        lead: some(lead),
        left: some(left),
        share: f32::from(u8::from(won)),
    }
}
