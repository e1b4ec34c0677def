//! Ladder: the pairs whose next block is most informative meet, until `blocks_total` blocks
//! are played.
//!
//! The goal is the order of the agents. So the precision of the rating differences between
//! neighbours in that order matters, most where their order is uncertain. After each stage
//! of `step` blocks, the ratings are fitted to all results so far (`rating.rs`), with their
//! covariance. The next block goes to the group with the largest expected reduction of the
//! variances of neighbours' differences: their sum, weighted by exp(−d² / 2v) for a
//! difference d with variance v, which is 1 between equals and near 0 if the order is
//! clear. The covariance is then updated as if the block had been played, which needs no
//! result. This repeats until the stage is full. So at first all agents meet their
//! neighbours, close pairs meet more often than clear pairs, and agents with few games get
//! more. Candidate groups are agents within a few places of each other: games of distant
//! agents are uninformative, because the stronger nearly always wins. Ties go to the higher
//! group.

use arena_model::format::Settings;
use serde_json::json;

use super::{
    Field, FormatError, FormatProgress, Games, Next, StagePlanner, StageSums, Units,
    matchmaking::{AGENTS_MAX, blocks_together, choose},
    rating::{Pair, Ratings},
    season,
    sums::pairs,
    verdict::{Verdict, counted},
};
use crate::schedule::stage::Stage;

#[derive(Debug)]
struct Ladder {
    field: Field,
    total: u64,
    step: u64,
    /// Blocks scheduled so far.
    asked: u64,
    round: u64,
    /// Units of each pair: one row per agent, with the units of the row's agent.
    units: Vec<Units>,
    /// Blocks scheduled for each agent.
    blocks: Vec<u64>,
}

pub(super) fn new(field: Field) -> Result<Box<dyn StagePlanner>, FormatError> {
    let settings = match &field.settings {
        Some(Settings::Ladder(ladder)) if ladder.open => return season::new(field),
        Some(Settings::Ladder(ladder)) => ladder.blocks_total.zip(ladder.step),
        _ => None,
    };
    let (total, step) =
        settings.ok_or_else(|| field.error("it needs blocks_total and step".to_owned()))?;
    let agents = field.agents();
    if agents > AGENTS_MAX {
        return Err(field.error(format!(
            "{agents} agents are listed, but a ladder has at most {AGENTS_MAX}"
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

    /// The next stage: `count` groups of `blocks` blocks each.
    fn choose(&mut self, count: u64, blocks: u64) -> Vec<Vec<u16>> {
        let ratings = self.ratings();
        let order = ratings.order();
        let games = self.field.games(blocks) as f64;
        let chosen = choose(ratings, &order, self.field.seats, games, count);
        for &agent in chosen.iter().flatten() {
            self.blocks[agent] += blocks;
        }
        let agents = |group: Vec<usize>| group.into_iter().map(|it| it as u16).collect();
        chosen.into_iter().map(agents).collect()
    }

    fn verdict(&self) -> Verdict {
        let ratings = self.ratings();
        let order = ratings.order();
        let agents = self.field.agents();
        let rows = order.iter().zip(1..).map(|(&agent, place)| {
            let mut all = Units::default();
            for other in 0..agents {
                all.add(self.units[agent * agents + other]);
                all.add(self.units[other * agents + agent].turned());
            }
            json!({
                "place": place,
                "agent": self.field.names[agent],
                // The rating of the standings, set by [`Verdict::rate`].
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
                    "{} is first of {agents} after {}.",
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
        let together = blocks_together(blocks);
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
            text: format!("{} of {} blocks scheduled", self.asked, self.total),
            ..FormatProgress::default()
        }
    }
}
