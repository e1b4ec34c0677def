//! Coverage in tournaments of every format, including formats in which results decide the next
//! games or the end.

use arena_model::{
    AgentName, Tournament,
    format::{Fixed, Format, Settings, Tables},
};
use arena_tournament::{Interval, Stages, Tally, ratings::expected_score};

use super::field::{Field, Random, World};

/// Bounds of the coverage of fixed-sample intervals, if results decide nothing.
const FIXED: (f64, f64) = (0.94, 0.965);
/// The least coverage of anytime-valid intervals.
const ANYTIME: f64 = 0.95;
/// Odds of a tie.
const TIE: f64 = 1.0;

/// How often the true rating of the first agent, and its true difference to the second, was inside
/// either kind of interval at the end of a tournament.
pub(super) struct Row {
    pub(super) name: String,
    adaptive: bool,
    /// Five blocks have few possible results, so intervals are wider than necessary.
    few: bool,
    tournaments: u64,
    reported: u64,
    rating: Held,
    elo: Held,
}

/// How often each kind of interval contained the truth.
#[derive(Default)]
struct Held {
    once: u64,
    always: u64,
    /// How often the truth was below each kind of interval, so that the interval claimed too much.
    misled: [u64; 2],
}

impl Held {
    fn count(&mut self, truth: f64, once: Interval, always: Interval) {
        self.once += u64::from(once.contains(truth));
        self.always += u64::from(always.contains(truth));
        self.misled[0] += u64::from(truth < once.low);
        self.misled[1] += u64::from(truth < always.low);
    }
}

/// The name by which rows are selected.
pub(super) fn names() -> impl Iterator<Item = String> {
    Format::ALL.iter().map(|format| format.name().to_owned())
}

/// A row for each format.
pub(super) fn simulate(tournaments: u64, seed: u64, only: &[String]) -> Vec<Row> {
    let rows = Format::ALL.iter().copied();
    let rows = rows.filter(|format| super::selects(only, format.name()));
    rows.map(|format| row(format, tournaments, seed)).collect()
}

/// The first agent meets each other agent once; those meet each other twenty times.
fn uneven(names: &[AgentName]) -> Fixed {
    let mut games = Vec::new();
    for (place, one) in names.iter().enumerate() {
        let times = if place == 0 { 1 } else { 20 };
        for other in &names[place + 1..] {
            games.extend(vec![vec![one.clone(), other.clone()]; times]);
        }
    }
    Fixed { games }
}

fn row(format: Format, tournaments: u64, seed: u64) -> Row {
    // The test is of equal agents, because that is where it stops early most often by chance.
    let (elo, blocks) = match format {
        Format::Sprt => (vec![0.0, 0.0], 600),
        _ => (vec![60.0, 20.0, 0.0, -20.0, -60.0, -100.0], 20),
    };
    let world = World::new(Field {
        name: String::new(),
        seats: 2,
        blocks,
        elo,
        tie: TIE,
        luck: 0.0,
        unpaired: false,
        first: 0.0,
        beyond: Vec::new(),
    });
    let names = world.tournament.agents.iter();
    let names: Vec<_> = names.map(|agent| agent.name.clone()).collect();
    let tables = Tables {
        fixed: (format == Format::Fixed).then(|| uneven(&names)),
        ..Tables::default()
    };
    let blocks = if format == Format::Fixed { 1 } else { blocks };
    let settings = Settings::resolve(format, &tables, blocks, &names);
    let tournament = Tournament {
        format,
        settings: settings.expect("settings"),
        blocks,
        ..world.tournament.clone()
    };
    let score = expected_score(world.field.elo[0] - world.field.elo[1], TIE);
    let truth = 400.0 * (score / (1.0 - score)).log10();
    let elo = &world.field.elo;
    let rated = elo[0] - elo.iter().sum::<f64>() / elo.len() as f64;
    let mut row = Row {
        name: format!("{} of {}, until its end", format.name(), names.len()),
        adaptive: format.looks_at_results(),
        few: format == Format::Fixed,
        tournaments,
        reported: 0,
        rating: Held::default(),
        elo: Held::default(),
    };
    for number in 0..tournaments {
        let mut random = Random::new(seed << 32 | number);
        let tally = play(&world, &tournament, &mut random);
        let Some(ratings) = tally.evidence().ratings(None) else {
            continue;
        };
        let between = ratings.difference(0, 1);
        let rating = ratings.agents[0];
        let ((Some(once), Some(always)), (Some(one), Some(any))) = (
            (between.elo.fixed, between.elo.anytime),
            (rating.fixed, rating.anytime),
        ) else {
            continue;
        };
        row.reported += 1;
        row.elo.count(truth, once, always);
        row.rating.count(rated, one, any);
    }
    row
}

/// Plays a whole tournament of its format.
fn play(world: &World, tournament: &Tournament, random: &mut Random) -> Tally {
    let mut stages = Stages::new(tournament).expect("a tournament");
    let mut tally = Tally::new(tournament).expect("a tally");
    tally.follow(stages.schedule());
    let mut index = 0;
    while stages.verdict().is_none() {
        let result = world.result(stages.schedule().game(index), 0, random);
        stages.add(&result);
        tally.add(&result);
        index += 1;
        if stages.advance().expect("a stage") {
            tally.follow(stages.schedule());
        }
    }
    tally
}

impl Row {
    /// The intervals by name.
    fn held(&self) -> [(&'static str, &Held); 2] {
        [("elo", &self.elo), ("rating", &self.rating)]
    }

    pub(super) fn shown(&self) -> String {
        let share = |count: u64| 100.0 * count as f64 / self.reported.max(1) as f64;
        let kinds = self.held().map(|(name, held)| {
            format!(
                "{name} {:.2} %, too high {:.2} %; {name}* {:.2} %, too high {:.2} %",
                share(held.once),
                share(held.misled[0]),
                share(held.always),
                share(held.misled[1]),
            )
        });
        let kinds = kinds.join("; ");
        format!(
            "{kinds}; reported in {} of {}",
            self.reported, self.tournaments
        )
    }

    /// The failed conditions.
    pub(super) fn wrong(&self) -> Vec<String> {
        let share = |count: u64| count as f64 / self.reported.max(1) as f64;
        let mut wrong = Vec::new();
        let (least, most) = FIXED;
        let most = if self.few { 1.0 } else { most };
        for (kind, held) in self.held() {
            if !self.adaptive && !(least..=most).contains(&share(held.once)) {
                let held = share(held.once) * 100.0;
                wrong.push(format!("{}: {kind} held in {held:.2} %", self.name));
            }
            if share(held.always) < ANYTIME {
                let held = share(held.always) * 100.0;
                wrong.push(format!("{}: {kind}* held in {held:.2} %", self.name));
            }
        }
        wrong
    }
}
