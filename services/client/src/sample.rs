//! A sample of a tournament's games between native agents, played on one thread to measure
//! the rate and the standard deviation of scores.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use arena_agents::{Bot, Decision, Stop};
use arena_coordinator::openings;
use arena_engine::{BookOpening, Game, Match, Opening, Status};
use arena_games::Visitor;
use arena_model::{Tournament, format::Settings};
use arena_tournament::{Schedule, ScheduledGame, game_score};
use arena_wire::convert::match_setup;
use itertools::Itertools;

use crate::failure::{Failure, Outcome};

/// Number of groups to sample; the standard deviation is within groups, and differs between
/// them.
const GROUPS: u64 = 64;
/// Blocks of a group before the next group; with fewer there is no standard deviation.
const AT_ONCE: u64 = 2;
/// Minimum number of blocks per group to play, whatever the spec contains.
const BLOCKS_LEAST: u64 = 1000;
/// Maximum number of blocks to play.
const BLOCKS: u64 = 100_000;
/// Slow bots may take this many times the given duration to finish the blocks that they
/// have begun.
const OVERTIME: u32 = 10;

/// The results of the sampled games.
#[derive(Default)]
pub struct Sample {
    /// Number of sampled games.
    pub games: u64,
    /// Number of complete blocks.
    pub blocks: u64,
    seconds: f64,
    /// Scores over blocks, by group and agent.
    scores: BTreeMap<(u64, u16), Vec<f64>>,
}

impl Sample {
    /// A sample of one group, from the first agent's scores over blocks.
    #[must_use]
    pub fn of_scores(scores: &[f64]) -> Self {
        Self {
            games: 2 * scores.len() as u64,
            blocks: scores.len() as u64,
            seconds: 1.0,
            scores: BTreeMap::from([((0, 0), scores.to_vec())]),
        }
    }

    /// Games per second; `None` without a game.
    pub fn rate(&self) -> Option<f64> {
        (self.games > 0 && self.seconds > 0.0).then(|| self.games as f64 / self.seconds)
    }

    /// Number of blocks by the first agent's units, with `units` units per block.
    pub fn outcomes(&self, units: u64) -> Vec<u64> {
        let mut counts = vec![0; units as usize + 1];
        let first = self.scores.iter().filter(|((_, agent), _)| *agent == 0);
        for score in first.flat_map(|(_, scores)| scores) {
            let got = (score * units as f64).round() as usize;
            if let Some(count) = counts.get_mut(got) {
                *count += 1;
            }
        }
        counts
    }

    /// Standard deviation of an agent's score over blocks of one group; `None` if no group
    /// has two blocks.
    pub fn spread(&self) -> Option<f64> {
        let (mut squares, mut df) = (0.0, 0.0);
        for scores in self.scores.values() {
            let mean = scores.iter().sum::<f64>() / scores.len() as f64;
            let away = scores.iter().map(|score| (score - mean) * (score - mean));
            squares += away.sum::<f64>();
            df += (scores.len() - 1) as f64;
        }
        (df > 0.0).then(|| (squares / df).sqrt())
    }
}

/// Plays the groups of the first stage for `seconds` seconds. If the tournament has too few
/// blocks to estimate the standard deviation, it plays more. A block that takes ten times
/// as long is aborted, and not counted. `given` are the openings of the spec's own book.
pub fn play(tournament: &Tournament, given: &[String], seconds: f64) -> Outcome<Sample> {
    let mut tournament = tournament.clone();
    tournament.blocks = tournament.blocks.max(BLOCKS_LEAST);
    let mut book = Vec::new();
    if let Some(openings) = tournament.openings {
        // More blocks than openings would repeat games.
        tournament.blocks = tournament.blocks.min(openings.size);
        book = openings::book(&tournament, given).map_err(Failure::failed)?;
    }
    if let Some(Settings::Sprt(test)) = &mut tournament.settings {
        // Allow more blocks than those before the first look.
        test.step = Some(tournament.blocks);
    }
    let player = Player {
        tournament: &tournament,
        openings: &book,
        limit: Duration::try_from_secs_f64(seconds).map_err(Failure::usage)?,
    };
    let (ruleset, options, seats) = (&tournament.ruleset, &tournament.options, tournament.seats);
    arena_games::visit(ruleset, options, seats, player).map_err(Failure::failed)?
}

struct Player<'a> {
    tournament: &'a Tournament,
    openings: &'a [BookOpening],
    limit: Duration,
}

impl Visitor for Player<'_> {
    type Out = Outcome<Sample>;

    fn visit<G: Game>(self, game: G) -> Self::Out {
        let agents = self.tournament.agents.iter();
        let bots = agents.map(|agent| arena_agents::bot(&agent.bot, &agent.options, &game));
        let bots: Result<Vec<_>, _> = bots.collect();
        let mut bots = bots.map_err(Failure::failed)?;
        let schedule = Schedule::new(self.tournament).map_err(Failure::failed)?;
        let mut sample = Sample::default();
        let rotations = u64::from(schedule.rotations());
        let started = Instant::now();
        let over = || started.elapsed() >= self.limit * OVERTIME;
        'blocks: for block in blocks(schedule.groups_listed(0), schedule.blocks()) {
            let group = schedule.group_of(block);
            let mut agents = schedule.group(group);
            agents.dedup();
            let mut sums = vec![0.0; agents.len()];
            for index in block * rotations..(block + 1) * rotations {
                let scheduled = schedule.game(index);
                let Some(placement) = self.play(&game, &mut bots, &scheduled, &over)? else {
                    break 'blocks;
                };
                let seats = &scheduled.seats;
                for (sum, &agent) in sums.iter_mut().zip(&agents) {
                    let own = seats.iter().positions(|&other| other == agent);
                    *sum += game_score(&own.collect_vec(), seats, &placement);
                }
            }
            sample.games += rotations;
            sample.blocks += 1;
            sample.seconds = started.elapsed().as_secs_f64();
            for (&agent, sum) in agents.iter().zip(sums) {
                let scores = sample.scores.entry((group, agent)).or_default();
                scores.push(sum / rotations as f64);
            }
            if started.elapsed() >= self.limit {
                break;
            }
        }
        Ok(sample)
    }
}

/// Blocks in playing order: some of each of some groups, spread over all groups, whenever
/// the sample stops.
fn blocks(groups: u64, blocks: u64) -> impl Iterator<Item = u64> {
    let step = step(groups);
    let sampled = groups.min(GROUPS);
    let at = move |number: u64| (u128::from(number) * u128::from(step) % u128::from(groups)) as u64;
    let rounds = blocks / groups;
    (0..rounds.div_ceil(AT_ONCE))
        .flat_map(move |pass| (0..sampled).map(move |number| (pass, at(number))))
        .flat_map(move |(pass, place)| {
            let these = pass * AT_ONCE..rounds.min((pass + 1) * AT_ONCE);
            these.map(move |round| round * groups + place)
        })
        .take(BLOCKS as usize)
}

/// A step that visits each place once and spreads quickly: about the golden ratio of the
/// places, and coprime to their number.
fn step(places: u64) -> u64 {
    let common = |mut a: u64, mut b: u64| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let section = (places as f64 * 0.618) as u64;
    let mut steps = section.max(1)..;
    steps.find(|&step| common(step, places) == 1).unwrap_or(1)
}

impl Player<'_> {
    /// Plays a game; returns the rank of each seat, unless it was stopped.
    fn play<G: Game>(
        &self,
        game: &G,
        bots: &mut [Box<dyn Bot<G>>],
        scheduled: &ScheduledGame,
        over: &dyn Fn() -> bool,
    ) -> Outcome<Option<Vec<u8>>> {
        let name = |&agent: &u16| self.tournament.agents[usize::from(agent)].name.as_str();
        let names: Vec<&str> = scheduled.seats.iter().map(name).collect();
        let settings = &self.tournament.play;
        let (start, opening) = match scheduled.opening.map(|it| &self.openings[it as usize]) {
            Some(BookOpening { start, moves }) => (start.as_ref(), Opening::Given(moves.clone())),
            None => (None, Opening::Drawn(settings.opening_plies.unwrap_or(0))),
        };
        let own = start.map(|start| game.with_start(start)).transpose();
        let own = own.map_err(Failure::failed)?;
        let game = own.as_ref().map_or(game, |(own, _)| own);
        let setup = match_setup(&settings.into(), scheduled.seed.keys(&names), opening);
        let mut play = Match::new(game.clone(), setup);
        while let Status::Asks(question) = play.status() {
            let agent = usize::from(scheduled.seats[usize::from(question.seat)]);
            let chosen = bots[agent].choose(&Decision::of(&play, question, Stop::when(over)));
            if over() {
                return Ok(None);
            }
            play.answer(chosen.action.into()).map_err(Failure::failed)?;
        }
        Ok(Some(play.finish().placement))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spread_is_within_groups() {
        let mut sample = Sample {
            games: 0,
            blocks: 0,
            seconds: 0.0,
            scores: BTreeMap::from([((0, 0), vec![0.25]), ((1, 0), vec![0.75])]),
        };
        assert_eq!((sample.rate(), sample.spread()), (None, None));
        sample.scores.insert((2, 0), vec![0.0, 1.0, 0.5]);
        assert_eq!(sample.spread(), Some(0.5));
    }

    #[test]
    fn sample_covers_the_field() {
        // All pairs of ten agents, ten blocks each.
        let (groups, rounds) = (45, 10);
        let order: Vec<u64> = blocks(groups, groups * rounds).collect();
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(
            sorted,
            (0..groups * rounds).collect::<Vec<_>>(),
            "each once"
        );
        let soon: Vec<u64> = order[..8].iter().map(|block| block % groups).collect();
        assert!(soon.chunks(2).all(|two| two[0] == two[1]), "{soon:?}");
        for quarter in 0..3 {
            let quarter = quarter * 15..(quarter + 1) * 15;
            assert!(soon.iter().any(|place| quarter.contains(place)), "{soon:?}");
        }
        // Some of many groups, and only existing blocks.
        let many: Vec<u64> = blocks(1000, 3000).collect();
        assert_eq!(many.len(), 3 * 64);
        assert!(many.iter().all(|&block| block < 3000));
        assert_eq!(blocks(1, 3).collect::<Vec<_>>(), [0, 1, 2]);
    }
}
