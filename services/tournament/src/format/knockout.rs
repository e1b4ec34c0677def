//! Knockout: the loser of a table is out. Each table is the best of `blocks` blocks by
//! units won; the better seed wins a tie.

use arena_model::format::{Elimination, Knockout as Settings, Seeding, Settings as AnySettings};
use serde_json::{Value, json};

use super::{
    Field, FormatError, FormatProgress, Games, Meeting, Next, StagePlanner, StageSums,
    bracket::{Bracket, Pools},
    draw::{Draw, KnockoutMatch},
    tables::Tables,
    verdict::{Verdict, counted},
};
use crate::schedule::stage::Stage;

#[derive(Debug)]
struct Knockout {
    field: Field,
    /// Agents, best seed first.
    seeds: Vec<u16>,
    /// Seed of each agent.
    seed_of: Vec<usize>,
    /// True for each agent that is out.
    gone: Vec<bool>,
    draw: Box<dyn Draw>,
    games: Games,
    /// Maximum number of rounds.
    rounds: u64,
    round: u64,
    tables: Vec<KnockoutMatch>,
    /// Eliminated agents, round by round; at the last table by rank.
    out: Vec<Vec<u16>>,
    /// Rounds played, for the verdict.
    history: Vec<Value>,
}

pub(super) fn new(field: Field) -> Result<Box<dyn StagePlanner>, FormatError> {
    let settings = match &field.settings {
        Some(AnySettings::Knockout(settings)) => settings.clone(),
        _ => Settings::default(),
    };
    if settings.elimination == Elimination::Double && field.seats > 2 {
        return Err(field.error(format!(
            "elimination = \"double\" needs games of two players: a game of {} has more than one \
             loser; use elimination = \"single\"",
            field.seats
        )));
    }
    let mut seeds: Vec<u16> = (0..field.agents() as u16).collect();
    if settings.seeding == Seeding::Drawn {
        seeds.sort_by_key(|&agent| (field.seed.seeding(agent.into()), agent));
    }
    let draw = |seeds: &[u16]| -> Box<dyn Draw> {
        match settings.elimination {
            _ if field.seats > 2 => Box::new(Tables::new(seeds, field.seats)),
            Elimination::Single => Box::new(Bracket::new(seeds)),
            Elimination::Double => Box::new(Pools::new(seeds)),
        }
    };
    let (least, rounds) = rehearse(draw(&seeds), false);
    let (most, more_rounds) = rehearse(draw(&seeds), true);
    let mut seed_of = vec![0; seeds.len()];
    for (seed, &agent) in seeds.iter().enumerate() {
        seed_of[usize::from(agent)] = seed;
    }
    let games = |tables: u64| field.games(tables.saturating_mul(field.blocks));
    Ok(Box::new(Knockout {
        games: Games {
            least: games(least.min(most)),
            most: games(least.max(most)),
            expected: games(least.min(most)),
        },
        rounds: rounds.max(more_rounds),
        round: 0,
        tables: Vec::new(),
        out: Vec::new(),
        history: Vec::new(),
        draw: draw(&seeds),
        gone: vec![false; seeds.len()],
        seed_of,
        seeds,
        field,
    }))
}

/// Number of tables and rounds if the better seed always wins, or with `upset` always but
/// in a final.
fn rehearse(mut draw: Box<dyn Draw>, upset: bool) -> (u64, u64) {
    let (mut tables, mut rounds) = (0, 0);
    loop {
        let round = draw.tables();
        if round.is_empty() {
            return (tables, rounds);
        }
        tables += round.len() as u64;
        rounds += 1;
        let ranked = round.into_iter().map(|mut table| {
            if upset && table.part == Some("final") {
                table.agents.reverse();
            }
            table.agents
        });
        draw.settle(&ranked.collect::<Vec<_>>());
    }
}

impl Knockout {
    /// Agents of a table, best first.
    fn ranked(&self, table: &KnockoutMatch, meeting: Option<&Meeting>) -> Vec<(u16, u64)> {
        let units = |agent: u16| {
            let meeting = meeting?;
            let place = meeting.agents.iter().position(|&other| other == agent)?;
            Some(meeting.units(place).got)
        };
        let seed = |agent: u16| self.seed_of[usize::from(agent)];
        let mut ranked: Vec<(u16, u64)> = table
            .agents
            .iter()
            .map(|&agent| (agent, units(agent).unwrap_or(0)))
            .collect();
        ranked.sort_by_key(|&(agent, units)| (std::cmp::Reverse(units), seed(agent)));
        ranked
    }

    /// Adds the results of a finished round.
    fn settle(&mut self, sums: &StageSums) {
        let tables = std::mem::take(&mut self.tables);
        let mut ranked = Vec::with_capacity(tables.len());
        let mut history = Vec::with_capacity(tables.len());
        for (table, number) in tables.iter().zip(0..) {
            let order = self.ranked(table, sums.meetings.get(number));
            let by_seed = order.get(table.on).is_some_and(|out| {
                let last_on = order[table.on - 1];
                last_on.1 == out.1
            });
            let agents: Vec<u16> = order.iter().map(|&(agent, _)| agent).collect();
            history.push(json!({
                "part": table.part,
                "agents": self.field.names_of(&agents),
                "points": order.iter().map(|&(_, units)| units as f64 / 2.0).collect::<Vec<_>>(),
                "go_on": table.on,
                "by_seed": by_seed,
            }));
            ranked.push(agents);
        }
        let mut out = self.draw.settle(&ranked);
        if let [last] = &ranked[..] {
            // If there is only one table, its ranks are places.
            out.sort_by_key(|agent| last.iter().position(|other| other == agent));
        }
        let byes = self.byes(&tables);
        self.history.push(json!({
            "round": self.round,
            "tables": history,
            "byes": byes,
            "out": self.field.names_of(&out),
        }));
        for &agent in &out {
            self.gone[usize::from(agent)] = true;
        }
        self.out.push(out);
    }

    /// The agents in the round that do not play.
    fn byes(&self, tables: &[KnockoutMatch]) -> Vec<&str> {
        let mut rests: Vec<bool> = self.gone.iter().map(|gone| !gone).collect();
        for &agent in tables.iter().flat_map(|table| &table.agents) {
            rests[usize::from(agent)] = false;
        }
        let rests = |agent: &&u16| rests[usize::from(**agent)];
        self.field.names_of(self.seeds.iter().filter(rests))
    }

    fn verdict(&self) -> Verdict {
        let gone = |agent: &u16| self.gone[usize::from(*agent)];
        let winner = self.seeds.iter().find(|agent| !gone(agent)).copied();
        let mut places: Vec<(u64, u16)> = winner.iter().map(|&agent| (1, agent)).collect();
        for (number, out) in self.out.iter().rev().enumerate() {
            let first = places.len() as u64 + 1;
            for (rank, &agent) in out.iter().enumerate() {
                let own = if number == 0 { rank as u64 } else { 0 };
                places.push((first + own, agent));
            }
        }
        let text = match (winner, self.out.last().and_then(|out| out.first())) {
            (Some(winner), Some(&second)) => format!(
                "{} wins the knockout of {} after {}, the last one against {}.",
                self.field.name(winner),
                self.field.agents(),
                counted(self.round, "round"),
                self.field.name(second)
            ),
            _ => "No game was played.".to_owned(),
        };
        let rows = places
            .iter()
            .map(|&(place, agent)| json!({"place": place, "agent": self.field.name(agent)}));
        Verdict::new("winner", &self.field, text)
            .with("winner", json!(winner.map(|agent| self.field.name(agent))))
            .with("places", rows.collect())
            .with("seeds", json!(self.field.names_of(&self.seeds)))
            .with("rounds", json!(self.history))
    }
}

impl StagePlanner for Knockout {
    fn next(&mut self, ended: Option<&StageSums>) -> Next {
        if let Some(sums) = ended {
            self.settle(sums);
        }
        self.tables = self.draw.tables();
        if self.tables.is_empty() {
            return Next::Over(self.verdict());
        }
        self.round += 1;
        let groups = self.tables.iter().map(|table| table.agents.clone());
        Next::Stage(Stage::of(groups.collect(), self.field.blocks))
    }

    fn games(&self) -> Games {
        self.games
    }

    fn progress(&self) -> FormatProgress {
        let tables = self.tables.len();
        let left = self.field.agents() - self.out.iter().map(Vec::len).sum::<usize>();
        FormatProgress {
            round: self.round,
            rounds: Some(self.rounds),
            text: match tables {
                1 => format!("round {}: {left} left, 1 match", self.round),
                _ => format!("round {}: {left} left, {tables} matches", self.round),
            },
            ..FormatProgress::default()
        }
    }
}
