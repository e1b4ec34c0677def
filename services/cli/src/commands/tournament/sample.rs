//! Some games of a tournament between native agents, played on one thread to see
//! how fast it goes and how far scores spread.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use arena_agents::{Bot, Decision, Stop};
use arena_engine::{Game, Match, Setup, Status};
use arena_games::Visitor;
use arena_model::Tournament;
use arena_tournament::{Schedule, ScheduledGame};

use crate::failure::{Failure, Outcome};

/// Groups of which blocks are played: the spread is that within a group.
const GROUPS: usize = 4;
/// Blocks among which they are looked for.
const BLOCKS: u64 = 100_000;
/// How many times as long as it was told slow bots may take for what they have
/// begun.
const PATIENCE: u32 = 10;

/// What some games came to.
pub(super) struct Sample {
    pub(super) games: u64,
    pub(super) blocks: u64,
    seconds: f64,
    /// Mean scores of the first agent over blocks, by group.
    scores: BTreeMap<u64, Vec<f64>>,
}

impl Sample {
    /// Games a second; none where none was played.
    pub(super) fn rate(&self) -> Option<f64> {
        (self.games > 0 && self.seconds > 0.0).then(|| self.games as f64 / self.seconds)
    }

    /// Standard deviation of an agent's score over blocks of one group; none
    /// where no group has two.
    pub(super) fn spread(&self) -> Option<f64> {
        let (mut squares, mut freedom) = (0.0, 0.0);
        for scores in self.scores.values() {
            let mean = scores.iter().sum::<f64>() / scores.len() as f64;
            let away = scores.iter().map(|score| (score - mean) * (score - mean));
            squares += away.sum::<f64>();
            freedom += (scores.len() - 1) as f64;
        }
        (freedom > 0.0).then(|| (squares / freedom).sqrt())
    }
}

/// Plays for so many seconds, or all of the first stage. A block that takes ten
/// times as long is given up, and not counted.
pub(super) fn play(tournament: &Tournament, seconds: f64) -> Outcome<Sample> {
    let player = Player {
        tournament,
        limit: Duration::try_from_secs_f64(seconds).map_err(Failure::usage)?,
    };
    arena_games::visit(
        &tournament.ruleset,
        &tournament.options,
        tournament.seats,
        player,
    )
    .map_err(Failure::failed)?
}

struct Player<'a> {
    tournament: &'a Tournament,
    limit: Duration,
}

impl Visitor for Player<'_> {
    type Out = Outcome<Sample>;

    fn visit<G: Game>(self, game: G) -> Self::Out {
        let agents = self.tournament.agents.iter();
        let bots = agents.map(|agent| {
            arena_agents::bot(&agent.bot, &agent.options, &game).map_err(Failure::failed)
        });
        let mut bots = bots.collect::<Outcome<Vec<_>>>()?;
        let schedule = Schedule::new(self.tournament).map_err(Failure::failed)?;
        let mut sample = Sample {
            games: 0,
            blocks: 0,
            seconds: 0.0,
            scores: BTreeMap::new(),
        };
        let rotations = u64::from(schedule.rotations());
        let started = Instant::now();
        let over = || started.elapsed() >= self.limit * PATIENCE;
        'blocks: for block in 0..schedule.blocks().min(BLOCKS) {
            let group = schedule.group_of(block);
            if sample.scores.len() == GROUPS && !sample.scores.contains_key(&group) {
                continue;
            }
            let first = schedule.group(group)[0];
            let mut sum = 0.0;
            for index in block * rotations..(block + 1) * rotations {
                let scheduled = schedule.game(index);
                let Some(placement) = self.play(&game, &mut bots, &scheduled, &over)? else {
                    break 'blocks;
                };
                sum += score(first, &scheduled.seats, &placement);
            }
            sample.games += rotations;
            sample.blocks += 1;
            sample.seconds = started.elapsed().as_secs_f64();
            let scores = sample.scores.entry(group).or_default();
            scores.push(sum / rotations as f64);
            if started.elapsed() >= self.limit {
                break;
            }
        }
        Ok(sample)
    }
}

impl Player<'_> {
    /// Plays a game; tells the rank of each seat, unless it had to stop.
    fn play<G: Game>(
        &self,
        game: &G,
        bots: &mut [Box<dyn Bot<G>>],
        scheduled: &ScheduledGame,
        over: &dyn Fn() -> bool,
    ) -> Outcome<Option<Vec<u8>>> {
        let names: Vec<&str> = scheduled
            .seats
            .iter()
            .map(|&agent| self.tournament.agents[usize::from(agent)].name.as_str())
            .collect();
        let settings = &self.tournament.play;
        let setup = Setup {
            keys: scheduled.seed.keys(&names),
            opening_plies: settings.opening_plies,
            on_fault: settings.on_fault,
            ask_forced: settings.ask_forced,
        };
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

/// Mean over the seats of an agent of the share of other agents' seats behind
/// each.
fn score(agent: u16, seats: &[u16], placement: &[u8]) -> f64 {
    let (mut got, mut of) = (0.0, 0.0);
    for (own, rank) in seats.iter().zip(placement) {
        for (other, other_rank) in seats.iter().zip(placement) {
            if *own == agent && *other != agent {
                of += 1.0;
                got += match rank.cmp(other_rank) {
                    std::cmp::Ordering::Less => 1.0,
                    std::cmp::Ordering::Equal => 0.5,
                    std::cmp::Ordering::Greater => 0.0,
                };
            }
        }
    }
    if of > 0.0 { got / of } else { 0.5 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spread_is_that_within_groups_and_needs_two_blocks_of_one() {
        let mut sample = Sample {
            games: 0,
            blocks: 0,
            seconds: 0.0,
            scores: BTreeMap::from([(0, vec![0.25]), (1, vec![0.75])]),
        };
        assert_eq!((sample.rate(), sample.spread()), (None, None));
        sample.scores.insert(2, vec![0.0, 1.0, 0.5]);
        assert_eq!(sample.spread(), Some(0.5));
    }

    #[test]
    fn an_agent_on_two_seats_scores_against_the_others_alone() {
        assert_eq!(score(0, &[0, 0, 1], &[1, 3, 2]), 0.5);
        assert_eq!(score(1, &[0, 0, 1], &[1, 3, 1]), 0.75);
    }
}
