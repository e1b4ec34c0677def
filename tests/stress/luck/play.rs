//! Plays thousands of tournaments in process, with the tally of a coordinator.

use arena_agents::{Bot, play_out};
use arena_engine::{
    Finished, Game, Setup,
    options::{Options, Value},
};
use arena_games::{Visitor, resolve, ruleset, visit};
use arena_model::{AgentRef, GameRecord, Tournament, TournamentSeed, spec::Play};
use arena_tournament::{AgentStanding, Estimate, Schedule, Tally};

use super::{
    Match,
    others::{self, Values},
};
use crate::stress::Broken;

/// The share of games that are also measured with other values: one in this many.
const OTHERS_EVERY: u64 = 5;
/// The value functions that luck is measured with.
const FUNCTIONS: [&str; 3] = ["of the rules", "pips", "nonsense"];

/// The sums over many tournaments of a match.
#[derive(Default)]
pub(super) struct Course {
    games: u64,
    /// Luck by function and seat.
    luck: [Vec<Mean>; FUNCTIONS.len()],
    /// Sums by agent.
    raw: Vec<Mean>,
    adjusted: Vec<Mean>,
    /// Adjusted minus raw score.
    shift: Vec<Mean>,
    share: Vec<Mean>,
    /// Ends of both intervals, adjusted and raw, of each tournament.
    intervals: Vec<Vec<[(f64, f64); 2]>>,
    names: Vec<String>,
}

/// The figures of one agent.
pub(super) struct AgentOutcome {
    pub(super) name: String,
    /// The score over all games, which is the truth for the intervals of single tournaments.
    pub(super) score: f64,
    /// The difference between the means of adjusted and raw scores, in standard errors.
    pub(super) bias: f64,
    /// Share of adjusted intervals that contain the score.
    pub(super) coverage: f64,
    /// Share of raw intervals that contain the score.
    pub(super) coverage_raw: f64,
    /// Mean width of an adjusted interval relative to a raw one.
    pub(super) width: f64,
    /// Share of games that the adjustment saves at equal precision.
    pub(super) saved: f64,
}

/// A mean and its standard error.
#[derive(Clone, Copy, Default)]
struct Mean {
    n: f64,
    sum: f64,
    squares: f64,
}

impl Mean {
    fn add(&mut self, value: f64) {
        self.n += 1.0;
        self.sum += value;
        self.squares += value * value;
    }

    fn value(self) -> f64 {
        self.sum / self.n.max(1.0)
    }

    /// The distance from zero, in standard errors.
    fn errors(self) -> f64 {
        let mean = self.value();
        let variance = self.squares / self.n.max(1.0) - mean * mean;
        if variance > 0.0 {
            mean / (variance / self.n).sqrt()
        } else {
            0.0
        }
    }
}

/// Plays tournaments of a match.
pub(super) fn course(
    of: &Match,
    tournaments: u64,
    blocks: u64,
    seed: u64,
) -> Result<Course, Broken> {
    let mut given = Options::new();
    for (name, value) in &of.options {
        let value = match value {
            toml::Value::Integer(number) => Value::Int(*number),
            toml::Value::Boolean(flag) => Value::Bool(*flag),
            other => Value::Text(other.as_str().unwrap_or_default().to_owned()),
        };
        given.insert(name.clone(), value);
    }
    let (options, seats) =
        resolve(&of.ruleset, &given, Some(of.agents.len())).map_err(Broken::new)?;
    let agent = |bot: &String| {
        Ok(AgentRef {
            name: bot.parse().map_err(Broken::new)?,
            bot: bot.clone(),
            options: Options::new(),
            version: "1".to_owned(),
            uses_seed: None,
            content: String::new(),
            registration: None,
        })
    };
    let tournament = Tournament {
        name: "luck".parse().map_err(Broken::new)?,
        ruleset: of.ruleset.clone(),
        rules_version: ruleset(&of.ruleset).map_err(Broken::new)?.version,
        rules_digest: None,
        options: options.clone(),
        seed: TournamentSeed::from_bytes([0; 32]),
        format: Default::default(),
        settings: None,
        blocks,
        seats,
        agents: of.agents.iter().map(agent).collect::<Result<_, Broken>>()?,
        play: Play::default(),
        openings: None,
        returns: None,
        changes: Vec::new(),
    };
    let run = Run {
        tournament,
        tournaments,
        seed,
    };
    visit(&of.ruleset, &options, seats, run).map_err(Broken::new)?
}

struct Run {
    tournament: Tournament,
    tournaments: u64,
    seed: u64,
}

impl Visitor for Run {
    type Out = Result<Course, Broken>;

    fn visit<G: Game>(mut self, game: G) -> Self::Out {
        let names: Vec<String> = self
            .tournament
            .agents
            .iter()
            .map(|agent| agent.bot.clone())
            .collect();
        let mut bots = names
            .iter()
            .map(|name| arena_agents::bot(name, &Options::new(), &game))
            .collect::<Result<Vec<_>, _>>()
            .map_err(Broken::new)?;
        let mut course = Course::new(&names, game.seats());
        for number in 0..self.tournaments {
            let seed = format!("0x{:x}", self.seed << 32 | number);
            self.tournament.seed = seed.parse().map_err(Broken::new)?;
            let schedule = Schedule::new(&self.tournament).map_err(Broken::new)?;
            let mut tally = Tally::new(&self.tournament).map_err(Broken::new)?;
            for planned in schedule.iter() {
                let order: Vec<&str> = planned
                    .seats
                    .iter()
                    .map(|&agent| names[usize::from(agent)].as_str())
                    .collect();
                let setup = Setup::new(planned.seed.keys(&order), arena_engine::Opening::NONE);
                let finished = play(&game, &mut bots, &planned.seats, setup);
                course.measure(&game, &finished, planned.index);
                let record = GameRecord::new(
                    planned.index,
                    planned.block,
                    planned.seed,
                    planned.seats,
                    finished,
                );
                tally.add(&record.result());
            }
            course.add(&tally.standings().agents);
        }
        Ok(course)
    }
}

fn play<G: Game>(game: &G, bots: &mut [Box<dyn Bot<G>>], seats: &[u16], setup: Setup) -> Finished {
    let play = arena_engine::Match::new(game.clone(), setup);
    play_out(play, |decision| {
        bots[usize::from(seats[usize::from(decision.seat)])].choose(decision)
    })
    .expect("a native agent chooses what is legal")
}

impl Course {
    fn new(names: &[String], seats: usize) -> Self {
        let agents = names.len();
        Self {
            games: 0,
            luck: [(); FUNCTIONS.len()].map(|()| vec![Mean::default(); seats]),
            raw: vec![Mean::default(); agents],
            adjusted: vec![Mean::default(); agents],
            shift: vec![Mean::default(); agents],
            share: vec![Mean::default(); agents],
            intervals: vec![Vec::new(); agents],
            names: names.to_vec(),
        }
    }

    /// Adds the luck of a game, by some of the functions.
    fn measure<G: Game>(&mut self, game: &G, finished: &Finished, index: u64) {
        self.games += 1;
        let [own, pips, nonsense] = &mut self.luck;
        add(own, &finished.luck);
        if index.is_multiple_of(OTHERS_EVERY) {
            add(pips, &others::luck(game, Values::Pips, &finished.events));
            let found = others::luck(game, Values::Nonsense, &finished.events);
            add(nonsense, &found);
        }
    }

    /// Adds the standings of a tournament.
    fn add(&mut self, agents: &[AgentStanding]) {
        for agent in agents {
            let Some(place) = self.names.iter().position(|name| *name == agent.agent) else {
                continue;
            };
            let Some(score) = agent.score else { continue };
            let ends = |of: Option<Estimate>| {
                let ends = of?.fixed?;
                Some((ends.low, ends.high))
            };
            let Some(raw) = ends(agent.score) else {
                continue;
            };
            // If all blocks are equal, there is nothing to adjust.
            let reported = ends(agent.score_adjusted);
            let score = score.value;
            let adjusted = agent.score_adjusted.map_or(score, |of| of.value);
            self.raw[place].add(score);
            self.adjusted[place].add(adjusted);
            self.shift[place].add(adjusted - score);
            self.share[place].add(agent.luck_share.map_or(0.0, |of| of.value));
            self.intervals[place].push([reported.unwrap_or(raw), raw]);
        }
    }

    /// Games played.
    pub(super) fn games(&self) -> u64 {
        self.games
    }

    /// The distance of luck from zero in standard errors, by function and seat.
    pub(super) fn luck(&self) -> Vec<(&'static str, Vec<f64>)> {
        let errors = |means: &Vec<Mean>| means.iter().map(|mean| mean.errors()).collect();
        FUNCTIONS
            .into_iter()
            .zip(&self.luck)
            .map(|(function, means)| (function, errors(means)))
            .collect()
    }

    /// The figures of each agent.
    pub(super) fn agents(&self) -> Vec<AgentOutcome> {
        let text = |(place, name): (usize, &String)| {
            let score = self.raw[place].value();
            let intervals = &self.intervals[place];
            let count = intervals.len().max(1) as f64;
            let holds = |which: usize| {
                let hold =
                    |ends: &&[(f64, f64); 2]| (ends[which].0..=ends[which].1).contains(&score);
                intervals.iter().filter(hold).count() as f64 / count
            };
            let width = |which: usize| -> f64 {
                intervals
                    .iter()
                    .map(|ends| ends[which].1 - ends[which].0)
                    .sum()
            };
            AgentOutcome {
                name: name.clone(),
                score,
                bias: self.shift[place].errors(),
                coverage: holds(0),
                coverage_raw: holds(1),
                width: width(0) / width(1),
                saved: self.share[place].value(),
            }
        };
        self.names.iter().enumerate().map(text).collect()
    }
}

fn add(means: &mut [Mean], luck: &[i32]) {
    for (mean, &luck) in means.iter_mut().zip(luck) {
        mean.add(f64::from(luck));
    }
}
