//! Ratings over the course of the tournament.

use arena_model::{GameRecord, Tournament};
use arena_tournament::{Stages, Tally};

use crate::sequential::SequentialTest;

/// Maximum number of agents; repeated rating of more would take too long.
const AGENTS_MAX: usize = 40;

/// The ratings after each step of a tournament, with its games in index order.
pub(super) struct Rated {
    stages: Stages,
    tally: Tally,
    /// Ratings in Elo in the order of the spec; `None` before an agent's first game.
    steps: Vec<Option<Vec<Option<f64>>>>,
    /// Number of games in the last step.
    games: u64,
    /// The sequential test, if the tournament is one.
    pub(super) test: Option<SequentialTest>,
}

impl Rated {
    /// `None` if there are too many agents or none of the tournament's games is known.
    pub(super) fn new(tournament: &Tournament) -> Option<Self> {
        if tournament.agents.len() > AGENTS_MAX {
            return None;
        }
        let stages = Stages::new(tournament).ok()?;
        let mut tally = Tally::new(tournament).ok()?;
        tally.follow(stages.schedule());
        Some(Self {
            stages,
            tally,
            steps: Vec::new(),
            games: 0,
            test: SequentialTest::new(tournament),
        })
    }

    /// Adds a game. The stages that follow from it are known afterwards.
    pub(super) fn add(&mut self, record: &GameRecord) {
        if record.index >= self.stages.schedule().games() {
            return;
        }
        let result = record.result();
        self.stages.add(&result);
        self.tally.add(&result);
        // A stage that cannot be scheduled has no games.
        if self.stages.advance().unwrap_or_default() {
            self.tally.follow(self.stages.schedule());
            if let Some(test) = &mut self.test {
                test.look(self.stages.progress());
            }
        }
    }

    /// Closes steps until there are `steps` of them.
    pub(super) fn close(&mut self, steps: usize) {
        while self.steps.len() < steps {
            let last = self.steps.last().cloned().flatten();
            let unchanged = last.is_some() && self.games == self.tally.games();
            let ratings = || {
                let all = self.tally.evidence().ratings(None)?;
                let agents = 0..all.agents.len();
                let reported = agents.map(|agent| Some(all.known(agent)?.value));
                Some(reported.collect())
            };
            let now = if unchanged { last } else { ratings() };
            self.games = self.tally.games();
            self.steps.push(now);
        }
    }

    /// An agent's rating after each step.
    pub(super) fn course(&self, agent: usize) -> impl Iterator<Item = Option<f64>> {
        let steps = self.steps.iter();
        steps.map(move |step| step.as_ref()?.get(agent).copied().flatten())
    }
}

#[cfg(test)]
mod tests {
    use arena_engine::{Termination, options::Options};
    use arena_model::{
        AgentRef,
        format::{Format, Settings, Swiss},
        spec::Play,
    };

    use super::*;

    fn swiss() -> Tournament {
        let agent = |name: &str| AgentRef {
            name: name.parse().expect("a name"),
            bot: String::new(),
            options: Options::new(),
            version: String::new(),
            uses_seed: None,
            content: String::new(),
            registration: None,
        };
        Tournament {
            name: "cup".parse().expect("a name"),
            ruleset: "kalah".to_owned(),
            rules_version: 1,
            rules_digest: None,
            options: Options::new(),
            seed: "0x5eed".parse().expect("a seed"),
            format: Format::Swiss,
            settings: Some(Settings::Swiss(Swiss { rounds: Some(2) })),
            blocks: 3,
            seats: 2,
            agents: ["a", "b", "c", "d"].map(agent).into(),
            play: Play::default(),
            openings: None,
            returns: None,
            changes: Vec::new(),
        }
    }

    /// A record in which the stronger agent wins, except in every fifth game.
    fn record(stages: &Stages, index: u64) -> GameRecord {
        let game = stages.schedule().game(index);
        let first = (game.seats[0] < game.seats[1]) == (index % 5 != 4);
        GameRecord {
            index,
            block: game.block,
            seed: game.seed,
            events: Vec::new(),
            start: None,
            opening_plies: 0,
            placement: if first { vec![1, 2] } else { vec![2, 1] },
            scores: vec![0, 0],
            luck: Vec::new(),
            plies: 10,
            decisions: vec![5, 5],
            termination: Termination::Normal,
            faults: Vec::new(),
            adjudication: Vec::new(),
            hash: [0; 32],
            course: 0,
            beginning: arena_model::Beginning::default(),
            transcript: None,
            seats: game.seats,
        }
    }

    #[test]
    fn last_rating_covers_all_stages() {
        let tournament = swiss();
        let mut rated = Rated::new(&tournament).expect("four agents");
        let mut all = Tally::new(&tournament).expect("a schedule");
        let mut stages = Stages::new(&tournament).expect("a schedule");
        rated.close(1);
        let mut index = 0;
        while stages.verdict().is_none() {
            let record = record(&stages, index);
            rated.add(&record);
            all.follow(stages.schedule());
            all.add(&record.result());
            stages.add(&record.result());
            stages.advance().expect("a stage");
            index += 1;
        }
        rated.close(3);
        let ratings = all.evidence().ratings(None).expect("games");
        assert!(ratings.agents[0].value > ratings.agents[3].value + 50.0);
        for (agent, rating) in ratings.agents.iter().enumerate() {
            let course: Vec<_> = rated.course(agent).collect();
            assert_eq!(course, [None, Some(rating.value), Some(rating.value)]);
        }
    }
}
