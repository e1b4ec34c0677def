//! Measures of a table: a quantity with its parameters, and what each game adds to it.

use arena_engine::Finished;
use arena_tournament::published::Part;

use crate::{
    fields::CellFields,
    history::{CowryHistory, CowrySeatHistory, GameHistory, LudoHistory},
    quantity::{FigureSource, PaperReplyWeight, Quantity},
};

/// A quantity with its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Measure {
    pub(crate) quantity: Quantity,
    /// Index of the agent in the matchup.
    pub(crate) agent: Option<usize>,
    /// The agent that this one is compared with.
    pub(crate) versus: Option<usize>,
    /// Values of throws.
    pub(crate) values: Vec<u8>,
    /// Row and column of a matrix.
    pub(crate) at: [u8; 2],
    /// Name of a vector of weights.
    pub(crate) vector: String,
    /// Index of a weight in the vector.
    pub(crate) index: usize,
    /// Index of a plane.
    pub(crate) plane: usize,
    /// Search depth in plies.
    pub(crate) plies: u32,
    pub(crate) reply_weight: PaperReplyWeight,
}

/// A finished game, as measures read it.
#[derive(Debug)]
pub(crate) struct GameFacts<'a> {
    /// Index of each seat's agent in the matchup.
    pub(crate) agents: &'a [u16],
    pub(crate) finished: &'a Finished,
    /// Search counts by seat.
    pub(crate) searches: &'a [SearchCounts],
    /// The game's history, if a measure needs it and the ruleset has one.
    pub(crate) history: Option<&'a GameHistory>,
}

/// What the agent of a seat reports about its searches.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SearchCounts {
    /// Number of decisions.
    pub(crate) asked: u64,
    /// Number of positions searched.
    pub(crate) nodes: u64,
    /// Maximum number of positions for one decision.
    pub(crate) nodes_most: u64,
}

impl SearchCounts {
    /// Counts one decision.
    pub(crate) fn add(&mut self, nodes: u64) {
        self.asked += 1;
        self.nodes += nodes;
        self.nodes_most = self.nodes_most.max(nodes);
    }
}

impl Measure {
    /// The measure of a cell; none if the cell measures nothing.
    pub(crate) fn new(fields: &CellFields) -> Result<Option<Self>, String> {
        let Some(quantity) = fields.quantity else {
            return Ok(None);
        };
        if quantity.needs_agent() && fields.agent.is_none() {
            return Err("it does not say of which agent".to_owned());
        }
        Ok(Some(Self {
            quantity,
            agent: fields.agent,
            versus: fields.versus,
            values: fields.values.clone().unwrap_or_default(),
            at: fields.at.unwrap_or_default(),
            vector: fields.vector.clone().unwrap_or_default(),
            index: fields.index.unwrap_or(0),
            plane: fields.plane.unwrap_or(0),
            plies: fields.plies.unwrap_or(1),
            reply_weight: fields.reply_weight.unwrap_or(PaperReplyWeight::Sixth),
        }))
    }

    /// True if the measure needs games.
    pub(crate) fn is_played(&self) -> bool {
        self.quantity.source() == FigureSource::Games
    }

    /// True if the measure needs the history of games.
    pub(crate) fn needs_history(&self) -> bool {
        self.quantity.needs_history()
    }

    /// The figure from the time per move of each agent.
    pub(crate) fn of_times(&self, times: &[Option<f64>]) -> Option<f64> {
        let time = |agent: Option<usize>| times.get(agent?).copied().flatten();
        match self.versus {
            Some(_) => Some(time(self.agent)? / time(self.versus)?),
            None => time(self.agent),
        }
    }

    /// What a game adds to the measure.
    pub(crate) fn part(&self, facts: &GameFacts<'_>) -> Part {
        let search = self.seat(facts).and_then(|seat| facts.searches.get(seat));
        let found = match self.quantity {
            Quantity::Wins => Some(self.wins(facts)),
            Quantity::Draws => Some(flag(facts.winner().is_none())),
            Quantity::Alike => Some(one(facts.result())),
            Quantity::Plies => Some(one(facts.finished.plies.into())),
            Quantity::PliesWhenWon => {
                let won = self.seat(facts).is_some() && facts.winner() == self.seat(facts);
                won.then(|| one(facts.finished.plies.into()))
            }
            Quantity::NodesMost => search.map(|search| one(search.nodes_most)),
            Quantity::Nodes => search.map(|search| ratio(search.nodes, search.asked)),
            _ => facts.history.and_then(|history| match history {
                GameHistory::Cowry(history) => self.of_cowry(facts, history),
                GameHistory::Ludo(history) => self.of_ludo(history),
            }),
        };
        found.unwrap_or_default()
    }

    fn of_cowry(&self, facts: &GameFacts<'_>, history: &CowryHistory) -> Option<Part> {
        let winner = facts.winner().map(|seat| &history.seats[seat]);
        let mine = self.seat(facts).map(|seat| &history.seats[seat]);
        let all = |of: fn(&CowrySeatHistory) -> u64| history.seats.iter().map(of).sum::<u64>();
        Some(match self.quantity {
            Quantity::Started => {
                let winner = facts.winner()?;
                if self.agent.is_some() && self.seat(facts) != Some(winner) {
                    return None;
                }
                flag(history.starter == Some(winner))
            }
            Quantity::WinnerThrows => one(winner?.thrown()),
            Quantity::WinnerPips => one(winner?.pips()),
            Quantity::WinnerThrow => ratio(winner?.pips(), winner?.thrown()),
            Quantity::WinnerMoves => one(winner?.moves),
            Quantity::Throw => ratio(all(CowrySeatHistory::pips), all(CowrySeatHistory::thrown)),
            Quantity::ThrowShare => {
                let counted = |seat: &CowrySeatHistory| self.count(&seat.throws);
                let hits = history.seats.iter().map(counted).sum();
                ratio(hits, all(CowrySeatHistory::thrown))
            }
            Quantity::Moves => one(mine?.moves),
            Quantity::Squares => one(mine?.squares),
            Quantity::MoveValue => ratio(mine?.squares, mine?.moves),
            Quantity::Hits => one(mine?.hits),
            Quantity::HitsMissed => one(mine?.hits_missed),
            _ => return None,
        })
    }

    fn of_ludo(&self, history: &LudoHistory) -> Option<Part> {
        let ahead = match self.reply_weight {
            PaperReplyWeight::Sixth => history.sixth,
            PaperReplyWeight::ThirtySixth => history.thirty_sixth,
        };
        Some(match self.quantity {
            Quantity::MuBelowOne => ratio(ahead.below_one, ahead.pairs),
            Quantity::SameChoice => flag(ahead.same),
            _ => return None,
        })
    }

    fn wins(&self, facts: &GameFacts<'_>) -> Part {
        let winner = facts.winner();
        match self.agent {
            Some(_) => flag(winner.is_some() && winner == self.seat(facts)),
            None => ratio(winner.is_some().into(), facts.agents.len() as u64),
        }
    }

    /// Number of throws whose value is one of the measure's.
    fn count(&self, throws: &[u64]) -> u64 {
        let each = arena_games::cowry::VALUES.iter().zip(throws);
        let each = each.filter(|(value, _)| self.values.contains(value));
        each.map(|(_, count)| count).sum()
    }

    fn seat(&self, facts: &GameFacts<'_>) -> Option<usize> {
        let agent = self.agent?;
        let mut seats = facts.agents.iter();
        seats.position(|&other| usize::from(other) == agent)
    }
}

impl GameFacts<'_> {
    /// The ranks of all seats, packed into one number.
    fn result(&self) -> u64 {
        let digit = |number, &rank: &u8| number * 16 + u64::from(rank);
        self.finished.placement.iter().fold(0, digit)
    }

    /// The only seat with the first rank, if there is one.
    fn winner(&self) -> Option<usize> {
        let first = |&(_, &rank): &(usize, &u8)| rank == 1;
        let mut firsts = self.finished.placement.iter().enumerate().filter(first);
        let (seat, _) = firsts.next()?;
        firsts.next().is_none().then_some(seat)
    }
}

fn one(value: u64) -> Part {
    ratio(value, 1)
}

fn flag(value: bool) -> Part {
    one(value.into())
}

fn ratio(sum: u64, count: u64) -> Part {
    Part {
        sum: sum.try_into().unwrap_or(i64::MAX),
        count,
    }
}
