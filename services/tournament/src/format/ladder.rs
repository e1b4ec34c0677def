//! Those meet of whom the next block tells most, until `blocks_total` blocks
//! are played.
//!
//! What is to be found out is the order of the agents, so what counts is how
//! well the differences of ratings of neighbours in that order are known, and
//! most where it is open who of the two is better. After each stage of `step`
//! blocks ratings are fitted to all results so far (`rating.rs`), with their
//! covariance. The group whose next block is expected to lessen the variances of
//! neighbours' differences most is given that block: their sum, each weighed by
//! exp(−d² / 2v) for a difference d with variance v, which is 1 between equals
//! and nothing where the order is clear. The covariance is brought forward as if
//! the block had been played, which needs no result; and so on until the stage is
//! full. So first of all everybody meets neighbours, pairs that are close meet
//! more often than pairs that are clear, and those who have few games have more.
//! Groups are looked for among those who stand within a few places of each other:
//! of others a game tells little, as the stronger nearly always wins. Ties go to
//! the group that stands higher.

use arena_model::format::Settings;
use serde_json::json;

use super::{
    Field, FormatError, FormatProgress, Games, Next, StagePlanner, StageSums, Units,
    rating::{Pair, Ratings},
    sums::pairs,
    verdict::{Verdict, counted},
};
use crate::schedule::stage::Stage;

/// How many places apart those are who may meet.
const REACH: usize = 4;
/// More agents would make choosing slower than playing.
const AGENTS_MAX: usize = 128;
/// So often a group is chosen for a stage; what has more blocks has them by
/// several at a time.
const CHOICES: u64 = 64;

#[derive(Debug)]
struct Ladder {
    field: Field,
    total: u64,
    step: u64,
    /// Blocks asked for so far.
    asked: u64,
    round: u64,
    /// Of each pair of agents, one row an agent, what the row's agent got.
    units: Vec<Units>,
    /// Of each agent, blocks that it was asked for.
    blocks: Vec<u64>,
}

pub(super) fn new(field: Field) -> Result<Box<dyn StagePlanner>, FormatError> {
    let settings = match &field.settings {
        Some(Settings::Ladder(ladder)) => ladder.blocks_total.zip(ladder.step),
        _ => None,
    };
    let (total, step) =
        settings.ok_or_else(|| field.error("it needs blocks_total and step".to_owned()))?;
    let agents = field.agents();
    if agents > AGENTS_MAX {
        return Err(field.error(format!(
            "{agents} agents are listed, a ladder has at most {AGENTS_MAX}"
        )));
    }
    Ok(Box::new(Ladder {
        units: vec![Units::default(); agents * agents],
        blocks: vec![0; agents],
        field,
        total,
        step,
        asked: 0,
        round: 0,
    }))
}

impl Ladder {
    fn settle(&mut self, sums: &StageSums) {
        let agents = self.field.agents();
        for meeting in &sums.meetings {
            for ((one, other), units) in pairs(meeting.agents.len()).zip(&meeting.pairs) {
                let one = usize::from(meeting.agents[one]);
                let other = usize::from(meeting.agents[other]);
                self.units[one * agents + other].add(*units);
            }
        }
    }

    fn ratings(&self) -> Ratings {
        let agents = self.field.agents();
        let met: Vec<Pair> = pairs(agents)
            .map(|(one, other)| Pair {
                one,
                other,
                units: self.units[one * agents + other],
            })
            .filter(|pair| pair.units.of > 0)
            .collect();
        Ratings::fit(agents, &met)
    }

    /// Groups that may meet, by the places of their agents in the order.
    fn groups(&self) -> Vec<Vec<usize>> {
        let (agents, seats) = (self.field.agents(), self.field.seats);
        let reach = (seats - 1 + REACH).min(agents);
        let mut groups = Vec::new();
        for first in 0..=agents - seats {
            let behind: Vec<u16> = (first + 1..(first + reach).min(agents))
                .map(|place| place as u16)
                .collect();
            let others = super::combinations(&behind, seats - 1);
            for others in others.unwrap_or_default() {
                let others = others.into_iter().map(usize::from);
                groups.push(std::iter::once(first).chain(others).collect());
            }
        }
        groups
    }

    /// The next stage: so many groups of so many blocks each.
    fn choose(&mut self, count: u64, blocks: u64) -> Vec<Vec<u16>> {
        let mut ratings = self.ratings();
        let order = ratings.order();
        let candidates: Vec<Vec<usize>> = self
            .groups()
            .into_iter()
            .map(|group| group.into_iter().map(|place| order[place]).collect())
            .collect();
        let neighbours: Vec<(usize, usize)> =
            order.windows(2).map(|pair| (pair[0], pair[1])).collect();
        let games = self.field.games(blocks) as f64;
        let mut chosen = Vec::new();
        for _ in 0..count {
            let open: Vec<((usize, usize), f64)> = neighbours
                .iter()
                .map(|&pair| (pair, ratings.openness(pair)))
                .collect();
            let mut best: Option<(f64, &Vec<usize>)> = None;
            for group in &candidates {
                let gain: f64 = pairs(group.len())
                    .map(|(a, b)| {
                        let pair = (group[a], group[b]);
                        ratings.gain(pair, games, &open)
                    })
                    .sum();
                if best.is_none_or(|(most, _)| gain > most) {
                    best = Some((gain, group));
                }
            }
            let Some((_, group)) = best else { break };
            for (a, b) in pairs(group.len()) {
                ratings.foresee((group[a], group[b]), games);
            }
            for &agent in group {
                self.blocks[agent] += blocks;
            }
            chosen.push(group.iter().map(|&agent| agent as u16).collect());
        }
        chosen
    }

    fn verdict(&self) -> Verdict {
        let ratings = self.ratings();
        let order = ratings.order();
        let agents = self.field.agents();
        let rows = order.iter().zip(1..).map(|(&agent, place)| {
            let mut all = Units::default();
            for other in 0..agents {
                let (got, lost) = (
                    self.units[agent * agents + other],
                    self.units[other * agents + agent],
                );
                all.add(got);
                all.add(Units {
                    got: lost.of - lost.got,
                    of: lost.of,
                });
            }
            json!({
                "place": place,
                "agent": self.field.names[agent],
                // That of the standings, which [`Verdict::rate`] puts here.
                "elo": null,
                "score": all.score(),
                "blocks": self.blocks[agent],
            })
        });
        let rows: Vec<_> = rows.collect();
        let played = self.units.iter().any(|units| units.of > 0);
        let leader = order.first().filter(|_| played).copied();
        let text = leader.map_or_else(
            || "No game was played.".to_owned(),
            |leader| {
                format!(
                    "{} stands first of {agents} after {}.",
                    self.field.names[leader],
                    counted(self.asked, "block")
                )
            },
        );
        Verdict::new("ranking", &self.field, text)
            .with(
                "winner",
                json!(leader.map(|leader| &self.field.names[leader])),
            )
            .with("places", json!(rows))
    }
}

impl StagePlanner for Ladder {
    fn next(&mut self, ended: Option<&StageSums>) -> Next {
        if let Some(sums) = ended {
            self.settle(sums);
        }
        let blocks = self.step.min(self.total - self.asked);
        if blocks == 0 {
            return Next::Over(self.verdict());
        }
        self.round += 1;
        let together = (blocks / CHOICES).max(1);
        let count = blocks / together;
        self.asked += count * together;
        Next::Stage(Stage::of(self.choose(count, together), together))
    }

    fn games(&self) -> Games {
        Games::exactly(self.field.games(self.total))
    }

    fn progress(&self) -> FormatProgress {
        FormatProgress {
            round: self.round,
            text: format!("{} of {} blocks chosen", self.asked, self.total),
            ..FormatProgress::default()
        }
    }
}
