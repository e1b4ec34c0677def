//! Swiss tournament: `rounds` rounds of `blocks` blocks between agents with similar
//! standings.
//!
//! An agent's points are its units won, as shares of a round. The order is by points, then
//! by the strength of opponents (Buchholz: the sum of their points). Agents level in both
//! share a place. Agents without a seat have a bye: the last in the standings among the
//! agents with the fewest byes. A bye counts as a won round if two agents play, and as half
//! of one if more do, because several agents have a bye at a time.

use arena_model::format::Settings;
use serde_json::{Value, json};

use super::{
    Field, FormatError, FormatProgress, Games, Next, StagePlanner, StageSums, Units,
    pairing::{Standing, draw},
    verdict::{Verdict, counted},
};
use crate::schedule::stage::Stage;

#[derive(Debug)]
struct Swiss {
    field: Field,
    rounds: u64,
    round: u64,
    agents: Vec<Standing>,
    tables: Vec<Vec<u16>>,
    resting: Vec<u16>,
    history: Vec<Value>,
}

pub(super) fn new(field: Field) -> Result<Box<dyn StagePlanner>, FormatError> {
    let rounds = match &field.settings {
        Some(Settings::Swiss(swiss)) => swiss.rounds,
        _ => None,
    };
    let rounds = rounds.ok_or_else(|| field.error("it needs [swiss] rounds".to_owned()))?;
    let (agents, seats) = (field.agents() as u64, field.seats as u64);
    // The default may exceed this limit at large tables, for compatibility.
    let fresh = (agents - 1) / (seats - 1);
    if rounds > fresh.max(u64::from(agents.next_power_of_two().ilog2())) {
        return Err(field.error(format!(
            "[swiss] rounds = {rounds}: with games of {seats} players, each of {agents} agents \
             has new opponents in {} only; lower rounds or list more agents",
            counted(fresh, "round")
        )));
    }
    Ok(Box::new(Swiss {
        agents: vec![Standing::default(); field.agents()],
        field,
        rounds,
        round: 0,
        tables: Vec::new(),
        resting: Vec::new(),
        history: Vec::new(),
    }))
}

impl Swiss {
    /// Units of a won round: all games against all others at the table.
    fn whole(&self) -> u64 {
        2 * (self.field.seats as u64 - 1) * self.field.games(self.field.blocks)
    }

    fn settle(&mut self, sums: &StageSums) {
        let mut history = Vec::with_capacity(self.tables.len());
        for (table, meeting) in self.tables.iter().zip(&sums.meetings) {
            let mut points = Vec::with_capacity(table.len());
            for &agent in table {
                let place = meeting.agents.iter().position(|&other| other == agent);
                let units = place.map_or(Units::default(), |place| meeting.units(place));
                points.push(units.got as f64 / 2.0);
                let standing = &mut self.agents[usize::from(agent)];
                standing.points += units.got;
                let others = table.iter().filter(|&&other| other != agent);
                standing.met.extend(others);
            }
            let names = self.field.names_of(table);
            history.push(json!({"agents": names, "points": points}));
        }
        let for_rest = if self.field.seats == 2 {
            self.whole()
        } else {
            self.whole() / 2
        };
        for &agent in &self.resting {
            let standing = &mut self.agents[usize::from(agent)];
            standing.points += for_rest;
            standing.rests += 1;
        }
        self.history.push(json!({
            "round": self.round,
            "tables": history,
            "byes": self.field.names_of(&self.resting),
        }));
    }

    fn buchholz(&self, agent: u16) -> u64 {
        let met = self.agents[usize::from(agent)].met.iter();
        met.map(|&other| self.agents[usize::from(other)].points)
            .sum()
    }

    /// Number of repeated pairings.
    fn met_again(&self) -> usize {
        self.agents.iter().map(Standing::met_again).sum::<usize>() / 2
    }

    fn verdict(&self) -> Verdict {
        let mut order: Vec<u16> = (0..self.field.agents() as u16).collect();
        let key = |agent: u16| (self.agents[usize::from(agent)].points, self.buchholz(agent));
        order.sort_by_key(|&agent| std::cmp::Reverse(key(agent)));
        let mut rows = Vec::with_capacity(order.len());
        let mut first = Vec::new();
        let mut place = 0;
        for (number, &agent) in order.iter().enumerate() {
            if number == 0 || key(order[number - 1]) != key(agent) {
                place = number + 1;
            }
            if place == 1 {
                first.push(self.field.name(agent));
            }
            let (points, buchholz) = key(agent);
            rows.push(json!({
                "place": place,
                "agent": self.field.name(agent),
                "points": points as f64 / 2.0,
                "buchholz": buchholz as f64 / 2.0,
                "byes": self.agents[usize::from(agent)].rests,
            }));
        }
        let points = order.first().map_or(0, |&agent| key(agent).0) as f64 / 2.0;
        let most = self.whole().saturating_mul(self.rounds) as f64 / 2.0;
        let mut text = match first[..] {
            [winner] => format!(
                "{winner} is first with {points} of {most} points after {}.",
                counted(self.rounds, "round")
            ),
            _ => format!(
                "{} share first place with {points} of {most} points.",
                super::verdict::listed(&first)
            ),
        };
        let winner = match first[..] {
            [winner] => Some(winner),
            _ => None,
        };
        let met_again = self.met_again();
        if met_again > 0 {
            let all = self.agents.iter().map(|it| it.met.len()).sum::<usize>() / 2;
            text += &format!(" {met_again} of {all} pairings were repeated.");
        }
        Verdict::new("ranking", &self.field, text)
            .with("winner", json!(winner))
            .with("places", json!(rows))
            .with("met_again", json!(met_again))
            .with("rounds", json!(self.history))
    }
}

impl StagePlanner for Swiss {
    fn next(&mut self, ended: Option<&StageSums>) -> Next {
        if let Some(sums) = ended {
            self.settle(sums);
        }
        if self.round == self.rounds {
            return Next::Over(self.verdict());
        }
        self.round += 1;
        (self.tables, self.resting) = draw(&self.agents, self.field.seats);
        Next::Stage(Stage::of(self.tables.clone(), self.field.blocks))
    }

    fn games(&self) -> Games {
        let tables = (self.field.agents() / self.field.seats) as u64;
        let blocks = self.rounds.saturating_mul(self.field.blocks);
        Games::exactly(self.field.games(tables.saturating_mul(blocks)))
    }

    fn progress(&self) -> FormatProgress {
        FormatProgress {
            round: self.round,
            rounds: Some(self.rounds),
            text: format!("round {} of {}", self.round, self.rounds),
            ..FormatProgress::default()
        }
    }
}
