//! Oware, both forms.

use std::cmp::Ordering;

use arena_engine::{AgentRng, GameKeys, options::Options, replay};
use arena_games::{
    Abapa, AnanAnan, Ruleset,
    oware::{Core, Oware, Phase, SEEDS},
    resolve,
};

use crate::{
    model::{Model, Sample},
    play,
};

const BOT: &str = "expectimax:nodes=200";
/// Without them all games were one.
const OPENING_PLIES: u32 = 6;
/// Seeds of a pit beyond which all count alike.
const PIT_MAX: u8 = 16;
/// Parameters: the lead, the lead by what is left, pits by their seeds, the turn.
const LEAD: u16 = 0;
const LATE: u16 = 1;
const TURN: u16 = LATE + PIT_MAX as u16 + 1;
const PARAMETERS: usize = TURN as usize + 1;
/// Of the lead by what is left, so that all parameters are of one order.
const LATE_UNIT: f32 = 10.0;

pub(crate) fn fit(games: u64, word: &str) {
    fit_one::<Abapa>(games, word);
    fit_one::<AnanAnan>(games, word);
}

fn fit_one<G: Oware + Ruleset>(games: u64, word: &str) {
    let label = G::NAME.to_uppercase().replace('-', "_");
    if !label.contains(word) {
        return;
    }
    let (options, seats) = resolve(G::NAME, &Options::new(), None).expect("options of Oware");
    let game = G::with_options(&options, seats).expect("resolved options");
    let mut bots = play::bots(&[BOT], &game);
    let mut samples = Vec::new();
    for number in 0..games {
        let keys = GameKeys::drawn(&mut AgentRng::new(number));
        let finished = play::seated(&game, &mut bots, &[0, 0], keys, OPENING_PLIES);
        let share = match finished.placement[0].cmp(&finished.placement[1]) {
            Ordering::Less => 1.0,
            Ordering::Equal => 0.5,
            Ordering::Greater => 0.0,
        };
        replay(&game, &finished.events, |state, _| {
            samples.push(sample(game.core(state), share));
        })
        .expect("what was played can be replayed");
    }
    let held = samples.len() / 5;
    let (tested, fitted) = samples.split_at(held);
    println!("// {label}: {games} games, {} positions", samples.len());
    let found = Model::Linear.fit(fitted, vec![0.0; PARAMETERS]);
    println!(
        "// {:.5} nats, held out {:.5}",
        Model::Linear.likelihood(fitted, &found),
        Model::Linear.likelihood(tested, &found),
    );
    let whole = |at: u16, unit: f64| (1000.0 * unit * found[usize::from(at)]).round() as i64;
    let pits = (1..=u16::from(PIT_MAX)).map(|seeds| whole(LATE + seeds, 1.0));
    println!("lead: {},", whole(LEAD, 1.0));
    println!("late: {},", whole(LATE, f64::from(LATE_UNIT)));
    println!(
        "pits: {:?},",
        std::iter::once(0).chain(pits).collect::<Vec<_>>()
    );
    println!("tempo: {},", whole(TURN, 1.0));
}

fn sample(core: &Core, share: f32) -> Sample {
    let mut counts = [0.0; PARAMETERS];
    let [first, second] = core.score.map(f32::from);
    let lead = first - second;
    let left = f32::from(SEEDS) - first - second;
    counts[usize::from(LEAD)] = lead;
    counts[usize::from(LATE)] = LATE_UNIT * lead / (left + 12.0);
    for (seat, sign) in [(0, 1.0), (1, -1.0)] {
        for &seeds in core.row(seat).iter().filter(|&&seeds| seeds > 0) {
            counts[usize::from(LATE) + usize::from(seeds.min(PIT_MAX))] += sign;
        }
        if core.phase == Phase::Move && usize::from(core.to_move) == seat {
            counts[usize::from(TURN)] = sign;
        }
    }
    let counts = (0..).zip(counts);
    Sample {
        lead: counts.filter(|&(_, count)| count != 0.0).collect(),
        left: Vec::new(),
        share,
    }
}
