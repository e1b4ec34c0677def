//! Coverage without chance: games that repeat, books that run out, agents that draw in a small
//! game, and sequential tests of all of these.
//!
//! The truth is the mean over all openings, which are equally likely.

use arena_agents::{Bot, play_out};
use arena_engine::{
    Game, Match, Opening, OpeningLength, Setup, Termination, WorkLimit, opening_book,
    options::Options,
};
use arena_model::{
    BlockSeed, Openings, Tournament,
    format::{Format, Settings, Sprt, Tables},
    result::GameResult,
};
use arena_tournament::{Interval, ScheduledGame, Stages, Tally};

use super::field::{Field, Random, World};

/// A cell fails if the 99.9 % upper bound of its coverage is below this.
const HOLDS: f64 = 0.95;
const BOUND: f64 = 0.001;

/// One field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cell {
    /// Twelve searches on Kalah, 50 of all openings of three moves.
    Kalah,
    /// Two agents, half of 70 openings.
    Half,
    /// Two agents that have all of 35 openings, and 165 blocks more that repeat them.
    RunsOut,
    /// Two agents that falsely claim to draw, 100 blocks of one opening.
    Repeats,
    /// Two agents that draw, in a game with three courses from one opening: 40 blocks.
    Few,
    /// The same with four times as many blocks.
    FewLonger,
    /// A sequential test of agents that are equal over 2,000 openings.
    Sprt,
    /// A sequential test of agents that draw, in a game with three courses.
    SprtFew,
}

const CELLS: [Cell; 8] = [
    Cell::Kalah,
    Cell::Half,
    Cell::RunsOut,
    Cell::Repeats,
    Cell::Few,
    Cell::FewLonger,
    Cell::Sprt,
    Cell::SprtFew,
];

impl Cell {
    fn name(self) -> &'static str {
        match self {
            Self::Kalah => "openings: 12 searches on Kalah",
            Self::Half => "openings: 35 of 70",
            Self::RunsOut => "openings: 35, 200 blocks",
            Self::Repeats => "openings: 1, 100 blocks",
            Self::Few => "openings: 1, three courses, 40 blocks",
            Self::FewLonger => "openings: 1, three courses, 160 blocks",
            Self::Sprt => "openings: 2,000, sequential test",
            Self::SprtFew => "openings: 1, three courses, sequential test",
        }
    }

    fn agents(self) -> usize {
        if self == Self::Kalah { 12 } else { 2 }
    }

    fn blocks(self) -> u64 {
        match self {
            Self::Kalah => 50,
            Self::Half => 35,
            Self::RunsOut => 200,
            Self::Repeats => 100,
            Self::Few => 40,
            Self::FewLonger => 160,
            Self::Sprt => 2_000,
            Self::SprtFew => 4_000,
        }
    }

    fn is_sprt(self) -> bool {
        matches!(self, Self::Sprt | Self::SprtFew)
    }

    /// Agents that draw from their seeds.
    fn draws(self) -> bool {
        matches!(self, Self::Few | Self::FewLonger | Self::SprtFew)
    }
}

/// The results of games that their opening determines: placements by first seat, second seat and
/// opening.
struct Outcomes {
    openings: u64,
    agents: usize,
    placements: Vec<[u8; 2]>,
}

impl Outcomes {
    fn of(cell: Cell) -> Self {
        match cell {
            Cell::Kalah => Self::kalah(),
            Cell::Half => Self::drawn(70, 3),
            Cell::RunsOut => Self::drawn(35, 4),
            Cell::Sprt => Self::equal(2_000),
            Cell::Repeats | Cell::Few | Cell::FewLonger | Cell::SprtFew => Self::drawn(1, 5),
        }
    }

    fn at(&self, seats: &[u16], opening: u64) -> [u8; 2] {
        let [first, second] = [seats[0], seats[1]].map(usize::from);
        let pair = first * self.agents + second;
        self.placements[pair * self.openings as usize + opening as usize]
    }

    /// Two agents, of which the first is slightly stronger.
    fn drawn(openings: u64, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut placements = vec![[1, 1]; 4 * openings as usize];
        for placement in &mut placements {
            *placement = [[1, 2], [1, 2], [2, 1], [1, 1]][random.outcome(&[0.3, 0.2, 0.3, 0.2])];
        }
        Self {
            openings,
            agents: 2,
            placements,
        }
    }

    /// Two agents, each with exactly half of the score over all openings.
    fn equal(openings: u64) -> Self {
        let mut drawn = Self::drawn(openings, 6);
        let size = openings as usize;
        for opening in 0..size / 2 {
            for (from, to) in [(1, 2), (2, 1)] {
                let [first, second] = drawn.placements[from * size + opening];
                // The other agent gets the same score from the mirrored opening.
                drawn.placements[to * size + size - 1 - opening] = [first, second];
            }
        }
        drawn
    }

    fn kalah() -> Self {
        let (options, seats) =
            arena_games::resolve("kalah", &Options::new(), None).expect("resolved");
        struct Play;
        impl arena_games::Visitor for Play {
            type Out = Outcomes;

            fn visit<G: Game>(self, game: G) -> Outcomes {
                Outcomes::played(&game)
            }
        }
        arena_games::visit("kalah", &options, seats, Play).expect("kalah")
    }

    /// Searches of three depths with four utilities each.
    fn played<G: Game>(game: &G) -> Self {
        let book = opening_book(game, OpeningLength::Plies(3), 1, &[0; 32], WorkLimit::NONE)
            .expect("openings");
        let mut bots: Vec<Box<dyn Bot<G>>> = Vec::new();
        for depth in 1..=3_i64 {
            for utility in 0..4_i64 {
                let options = Options::from([
                    ("depth".to_owned(), depth.into()),
                    ("h_flag".to_owned(), utility.into()),
                ]);
                bots.push(arena_agents::bot("kalah-alphabeta", &options, game).expect("a bot"));
            }
        }
        let agents = bots.len();
        let mut placements = Vec::with_capacity(agents * agents * book.openings.len());
        for pair in 0..agents * agents {
            let seats = [pair / agents, pair % agents];
            for opening in &book.openings {
                let keys = BlockSeed(0).keys(&["one", "other"]);
                let setup = Setup::new(keys, Opening::Given(opening.clone()));
                let finished = play_out(Match::new(game.clone(), setup), |decision| {
                    bots[seats[usize::from(decision.seat)]].choose(decision)
                });
                let placement = finished.expect("legal actions").placement;
                placements.push([placement[0], placement[1]]);
            }
        }
        Self {
            openings: book.openings.len() as u64,
            agents,
            placements,
        }
    }
}

/// A field with its truth.
struct Simulated {
    cell: Cell,
    outcomes: Outcomes,
    tournament: Tournament,
}

/// Probabilities of the three courses of a small game: win, draw and loss of the first seat.
const COURSES: [f64; 3] = [0.4, 0.2, 0.4];

impl Simulated {
    fn new(cell: Cell) -> Self {
        let outcomes = Outcomes::of(cell);
        let world = World::new(Field {
            name: String::new(),
            seats: 2,
            blocks: cell.blocks(),
            elo: vec![0.0; cell.agents()],
            tie: 0.0,
            luck: 0.0,
            unpaired: false,
            first: 0.0,
            beyond: Vec::new(),
        });
        let mut tournament = world.tournament.clone();
        tournament.openings = Some(Openings {
            size: outcomes.openings,
            complete: true,
            starter_drawn: false,
        });
        if cell.is_sprt() {
            tournament.format = Format::Sprt;
            let tables = Tables {
                sprt: Some(Sprt {
                    elo0: 0.0,
                    elo1: 20.0,
                    ..Sprt::default()
                }),
                ..Tables::default()
            };
            let names: Vec<_> = tournament.agents.iter().map(|it| it.name.clone()).collect();
            let settings = Settings::resolve(Format::Sprt, &tables, cell.blocks(), &names);
            tournament.settings = settings.expect("settings");
        }
        Self {
            cell,
            outcomes,
            tournament,
        }
    }

    fn result(&self, game: ScheduledGame, random: &mut Random) -> GameResult {
        let opening = game.opening.expect("an opening");
        let (placement, course) = if self.cell.draws() {
            let course = random.outcome(&COURSES);
            ([[1, 2], [1, 1], [2, 1]][course], 1 + course as u64)
        } else {
            let seats = u64::from(game.seats[0]) * 12 + u64::from(game.seats[1]);
            (
                self.outcomes.at(&game.seats, opening),
                1 + seats * self.outcomes.openings + opening,
            )
        };
        GameResult {
            index: game.index,
            block: game.block,
            seats: game.seats,
            placement: placement.to_vec(),
            scores: Vec::new(),
            luck: Vec::new(),
            plies: 30,
            termination: Termination::Normal,
            faults: Vec::new(),
            course,
            beginning: arena_model::Beginning::default(),
        }
    }

    /// Plays a whole tournament, with the verdict of its format.
    fn play(&self, tournament: &Tournament, random: &mut Random) -> (Tally, String) {
        let mut stages = Stages::new(tournament).expect("a tournament");
        let mut tally = Tally::new(tournament).expect("a tally");
        tally.follow(stages.schedule());
        let mut index = 0;
        while stages.verdict().is_none() {
            let result = self.result(stages.schedule().game(index), random);
            stages.add(&result);
            tally.add(&result);
            index += 1;
            if stages.advance().expect("a stage") {
                tally.follow(stages.schedule());
            }
        }
        let kind = stages.verdict().map(|verdict| verdict.kind.clone());
        (tally, kind.unwrap_or_default())
    }

    /// Scores and ratings over all openings.
    fn truth(&self) -> (Vec<f64>, Vec<f64>) {
        if self.cell.draws() || self.cell.is_sprt() {
            return (vec![0.5; 2], vec![0.0; 2]);
        }
        let mut all = self.tournament.clone();
        all.blocks = self.outcomes.openings;
        let (tally, _) = self.play(&all, &mut Random::new(0));
        let standings = tally.standings();
        let score = |agent: usize| {
            let name = format!("a{agent}");
            let found = standings.agents.iter().find(|it| it.agent == name);
            found.and_then(|it| it.score).expect("games").value
        };
        let ratings = tally.evidence().ratings(None).expect("games");
        (
            (0..self.cell.agents()).map(score).collect(),
            ratings.agents.iter().map(|rating| rating.value).collect(),
        )
    }
}

/// How often a condition was true, and the width of its intervals.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    of: u64,
    held: u64,
    width: f64,
}

impl Held {
    fn add(&mut self, ends: Option<Interval>, truth: f64) {
        let Some(Interval { low, high }) = ends else {
            return;
        };
        // Sums in another order differ in the last digits.
        let slack = 1e-9;
        self.of += 1;
        self.held += u64::from(low - slack <= truth && truth <= high + slack);
        self.width += high - low;
    }

    /// Whether 95 % can be excluded: the probability of so few cases with 95 % is below that of the
    /// 99.9 % upper bound of Clopper and Pearson.
    fn is_wrong(self) -> bool {
        self.of > 0 && at_most(self.held, self.of, HOLDS) < BOUND
    }

    fn shown(self, name: &str) -> String {
        let of = self.of.max(1) as f64;
        format!(
            "{name} {:.2} % of {}, mean width {:.3}",
            100.0 * self.held as f64 / of,
            self.of,
            self.width / of
        )
    }
}

/// The probability of at most this many events of `of`, each with this probability.
fn at_most(count: u64, of: u64, chance: f64) -> f64 {
    let mut term = of as f64 * (1.0 - chance).ln();
    let mut sum = term.exp();
    for done in 1..=count {
        term += ((of - done + 1) as f64 / done as f64).ln() + (chance / (1.0 - chance)).ln();
        sum += term.exp();
    }
    sum
}

/// One field's figures.
pub(super) struct Row {
    pub(super) name: String,
    /// Scores by agent.
    held: Vec<(&'static str, Vec<Held>)>,
}

pub(super) fn names() -> impl Iterator<Item = String> {
    CELLS.into_iter().map(|cell| cell.name().to_owned())
}

/// A row for each field, with a quarter of the tournaments of other cells.
pub(super) fn simulate(tournaments: u64, seed: u64, only: &[String]) -> Vec<Row> {
    let cells = CELLS
        .into_iter()
        .filter(|cell| super::selects(only, cell.name()));
    cells
        .map(|cell| row(&Simulated::new(cell), tournaments / 4, seed))
        .collect()
}

fn row(simulated: &Simulated, tournaments: u64, seed: u64) -> Row {
    let cell = simulated.cell;
    let (scores, ratings) = simulated.truth();
    let none = vec![Held::default(); cell.agents()];
    let [mut score, mut score_always] = [none.clone(), none.clone()];
    let [mut rating, mut rating_always] = [none.clone(), none];
    let mut verdict = Held::default();
    for number in 0..tournaments {
        let mut random = Random::new(seed << 32 | number);
        let mut tournament = simulated.tournament.clone();
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&random.word().to_be_bytes());
        tournament.seed = arena_model::TournamentSeed::from_bytes(bytes);
        let (tally, kind) = simulated.play(&tournament, &mut random);
        if cell.is_sprt() {
            // Correct: the first hypothesis is true, and is not rejected.
            verdict.of += 1;
            verdict.held += u64::from(kind != "h1");
        }
        for standing in &tally.standings().agents {
            let agent: usize = standing.agent[1..].parse().expect("a number");
            let ends = standing.score.and_then(|score| score.fixed);
            let always = standing.score.and_then(|score| score.anytime);
            if !cell.is_sprt() {
                score[agent].add(ends, scores[agent]);
            }
            score_always[agent].add(always, scores[agent]);
        }
        if let Some(fitted) = tally.evidence().ratings(None) {
            for (agent, (found, &truth)) in fitted.agents.iter().zip(&ratings).enumerate() {
                if !cell.is_sprt() {
                    rating[agent].add(found.fixed, truth);
                }
                rating_always[agent].add(found.anytime, truth);
            }
        }
    }
    let held = [
        ("score", score),
        ("score*", score_always),
        ("rating", rating),
        ("rating*", rating_always),
        ("verdict", vec![verdict]),
    ];
    Row {
        name: cell.name().to_owned(),
        held: held
            .into_iter()
            .filter(|(_, held)| held[0].of > 0)
            .collect(),
    }
}

impl Row {
    pub(super) fn shown(&self) -> String {
        // Of several agents, the one with the lowest coverage.
        let shown = self.held.iter().filter_map(|(name, held)| {
            let worst = held.iter().min_by_key(|held| held.held)?;
            Some(worst.shown(name))
        });
        shown.collect::<Vec<_>>().join("; ")
    }

    /// The failed conditions.
    pub(super) fn wrong(&self) -> Vec<String> {
        let all = self.held.iter();
        let all = all.flat_map(|(name, held)| held.iter().map(move |held| (name, held)));
        all.filter(|(_, held)| held.is_wrong())
            .map(|(name, held)| format!("{}: {}", self.name, held.shown(name)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums of the binomial probabilities of 1,000 events with 95 % each, computed with
    /// the logarithm of the gamma function in Python.
    #[test]
    fn low_counts_are_excluded_by_probability() {
        for (count, chance) in [(930, 0.003_474_358_7), (925, 0.000_411_343_4)] {
            assert!((at_most(count, 1000, 0.95) - chance).abs() < 1e-9);
        }
        let held = |held| Held {
            of: 1000,
            held,
            width: 0.0,
        };
        assert!(!held(930).is_wrong());
        assert!(held(920).is_wrong());
    }
}
