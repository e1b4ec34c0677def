//! What is measured, one name each.

use arena_engine::Finished;
use arena_tournament::published::Part;
use serde::Deserialize;

use crate::{
    fields::{CellFields, ReplyWeight},
    history::{CowryHistory, GameHistory, LudoHistory, SeatHistory},
};

/// What a cell's figure is a figure of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Quantity {
    /// Games in which the agent alone came first; without an agent, the mean
    /// over all of them.
    Wins,
    /// Games in which the first place was shared.
    Draws,
    /// Blocks whose games all came to the same result, seat by seat, whoever sat
    /// where (paper 004, Table 4.1).
    Alike,
    /// Actions of a game, passes included: what papers 000 and 001 call moves
    /// or turns where a turn has one throw.
    Plies,
    /// The same, of games that the agent won.
    PliesWhenWon,
    /// The most positions that the agent looked at for one move, as it tells
    /// (paper 001, Table VII).
    NodesMost,
    /// Positions that the agent looked at for a move (paper 001, Table VII).
    Nodes,
    /// Games in which the winner had begun, of those that the agent, or
    /// anybody, won (paper 000, Table II).
    Started,
    /// Throws of the winner (paper 000, Table III).
    WinnerThrows,
    /// Sum of the winner's throws (paper 000, Table III).
    WinnerPips,
    /// Mean of the winner's throws (paper 000, Table III).
    WinnerThrow,
    /// Throws that the winner played (paper 000, Table IV).
    WinnerMoves,
    /// Mean of everybody's throws (paper 000, Table III).
    Throw,
    /// Throws of these values among everybody's (paper 000, Tables I, VIII).
    ThrowShare,
    /// Throws that the agent played (paper 000, Table VII).
    Moves,
    /// Sum of the values that the agent played (paper 000, Table VII).
    Squares,
    /// Mean of the values that the agent played (paper 000, Table VII).
    MoveValue,
    /// Moves of the agent that sent pieces back (paper 000, Table VII).
    Hits,
    /// Decisions at which the agent could hit and did not (paper 000,
    /// Table VII: lost chances to hit).
    HitsMissed,
    /// How likely the ruleset makes a throw of these values (paper 000,
    /// Tables I, VIII).
    ThrowChance,
    /// Mean of a throw, by the ruleset (paper 000, §V.C).
    ThrowExpected,
    /// Throws that take a piece home where nothing holds it up, by the
    /// ruleset: squares of the path over the mean of a throw (paper 000, §V.C).
    PieceThrows,
    /// A weight of a named vector of `oware-minimax` (paper 002, Tables 1 to 4).
    Weight,
    /// How likely a plane hits another within its turn (paper 003, Table 2).
    Threat,
    /// The same by equations 12 to 15 of paper 003.
    ThreatByFormula,
    /// The value of a plane's move in the worked example (paper 003, §4).
    ExampleValue,
    /// μ(2, 1) of the worked example (paper 003, equation 19).
    ExampleMu,
    /// Operations of a decision with the threat matrix (paper 003,
    /// equation 18).
    MatrixOperations,
    /// The same without it (paper 003, equation 17).
    RealtimeOperations,
    /// The one of the other in percent (paper 003, §5.2).
    OperationsShare,
    /// Planes that could be moved beside the chosen one whose μ with it is
    /// below 1, in a position of each game (paper 003, Table 3).
    MuBelowOne,
    /// Positions, one of each game, in which two plies choose as one does
    /// (paper 003, §6.2).
    SameChoice,
    /// Time of the agent for a move, in milliseconds on this machine, or how
    /// many times that of another agent it is (paper 001, Table VI).
    MoveTime,
}

/// How observations become one figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A share of hits among observations.
    Share,
    /// A mean.
    Mean,
    /// The greatest of all.
    Most,
    /// A share of blocks all of whose observations are the same.
    Alike,
}

/// Where a quantity comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// Games.
    Games,
    /// The rules or an agent's data alone.
    Rules,
    /// A clock, so that no two runs agree to the digit.
    Clock,
}

impl Quantity {
    pub(crate) fn shape(self) -> Shape {
        match self {
            Self::Wins
            | Self::Draws
            | Self::Started
            | Self::ThrowShare
            | Self::MuBelowOne
            | Self::SameChoice => Shape::Share,
            Self::NodesMost => Shape::Most,
            Self::Alike => Shape::Alike,
            _ => Shape::Mean,
        }
    }

    pub(crate) fn source(self) -> Source {
        match self {
            Self::ThrowChance
            | Self::ThrowExpected
            | Self::PieceThrows
            | Self::Weight
            | Self::Threat
            | Self::ThreatByFormula
            | Self::ExampleValue
            | Self::ExampleMu
            | Self::MatrixOperations
            | Self::RealtimeOperations
            | Self::OperationsShare => Source::Rules,
            Self::MoveTime => Source::Clock,
            _ => Source::Games,
        }
    }

    /// True where the game has to be followed event by event.
    fn needs_course(self) -> bool {
        matches!(
            self,
            Self::Started
                | Self::WinnerThrows
                | Self::WinnerPips
                | Self::WinnerThrow
                | Self::WinnerMoves
                | Self::Throw
                | Self::ThrowShare
                | Self::Moves
                | Self::Squares
                | Self::MoveValue
                | Self::Hits
                | Self::HitsMissed
                | Self::MuBelowOne
                | Self::SameChoice
        )
    }

    fn needs_agent(self) -> bool {
        matches!(
            self,
            Self::PliesWhenWon
                | Self::NodesMost
                | Self::Nodes
                | Self::Moves
                | Self::Squares
                | Self::MoveValue
                | Self::Hits
                | Self::HitsMissed
                | Self::MoveTime
        )
    }
}

/// A quantity, and of whom or what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Measure {
    pub(crate) quantity: Quantity,
    /// Place of an agent in the play's list.
    pub(crate) agent: Option<usize>,
    /// The agent that this one is compared with.
    pub(crate) versus: Option<usize>,
    /// Values of throws.
    pub(crate) values: Vec<u8>,
    /// Row and column of a matrix.
    pub(crate) at: [u8; 2],
    /// Name of a vector of weights, and the place of one in it.
    pub(crate) vector: String,
    pub(crate) index: usize,
    /// Place of a plane.
    pub(crate) plane: usize,
    /// Plies looked ahead.
    pub(crate) plies: u32,
    pub(crate) reply_weight: ReplyWeight,
}

/// A game that was played.
#[derive(Debug)]
pub(crate) struct Facts<'a> {
    /// Place of each seat's agent in the play's list.
    pub(crate) agents: &'a [u16],
    pub(crate) finished: &'a Finished,
    /// By seat.
    pub(crate) thoughts: &'a [Thought],
    /// Where a measure needs it and the ruleset has it.
    pub(crate) course: Option<&'a GameHistory>,
}

/// What a seat's agent tells of its search.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Thought {
    /// Decisions that it was asked for.
    pub(crate) asked: u64,
    /// Positions looked at, in all.
    pub(crate) nodes: u64,
    /// The most for one decision.
    pub(crate) nodes_most: u64,
}

impl Thought {
    /// Counts one decision.
    pub(crate) fn add(&mut self, nodes: u64) {
        self.asked += 1;
        self.nodes += nodes;
        self.nodes_most = self.nodes_most.max(nodes);
    }
}

impl Measure {
    /// What the fields of a cell say; none where nothing is measured.
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
            reply_weight: fields.reply_weight.unwrap_or(ReplyWeight::Sixth),
        }))
    }

    /// True where games have to be played for it.
    pub(crate) fn is_played(&self) -> bool {
        self.quantity.source() == Source::Games
    }

    pub(crate) fn needs_course(&self) -> bool {
        self.quantity.needs_course()
    }

    /// The figure of a clock's readings, by agent.
    pub(crate) fn of_times(&self, times: &[Option<f64>]) -> Option<f64> {
        let time = |agent: Option<usize>| times.get(agent?).copied().flatten();
        match self.versus {
            Some(_) => Some(time(self.agent)? / time(self.versus)?),
            None => time(self.agent),
        }
    }

    /// What a game adds.
    pub(crate) fn part(&self, facts: &Facts<'_>) -> Part {
        let found = match self.quantity {
            Quantity::Wins => Some(self.wins(facts)),
            Quantity::Draws => Some(flag(facts.winner().is_none())),
            Quantity::Alike => Some(one(facts.result())),
            Quantity::Plies => Some(one(facts.finished.plies.into())),
            Quantity::PliesWhenWon => {
                let won = self.seat(facts).is_some() && facts.winner() == self.seat(facts);
                won.then(|| one(facts.finished.plies.into()))
            }
            Quantity::NodesMost => self.thought(facts).map(|thought| one(thought.nodes_most)),
            Quantity::Nodes => self
                .thought(facts)
                .map(|thought| ratio(thought.nodes, thought.asked)),
            _ => facts.course.and_then(|course| match course {
                GameHistory::Cowry(course) => self.of_cowry(facts, course),
                GameHistory::Ludo(course) => self.of_ludo(course),
            }),
        };
        found.unwrap_or_default()
    }

    fn of_cowry(&self, facts: &Facts<'_>, course: &CowryHistory) -> Option<Part> {
        let winner = facts.winner().map(|seat| &course.seats[seat]);
        let mine = self.seat(facts).map(|seat| &course.seats[seat]);
        let all = |of: fn(&SeatHistory) -> u64| course.seats.iter().map(of).sum::<u64>();
        Some(match self.quantity {
            Quantity::Started => {
                let winner = facts.winner()?;
                if self.agent.is_some() && self.seat(facts) != Some(winner) {
                    return None;
                }
                flag(course.starter == Some(winner))
            }
            Quantity::WinnerThrows => one(winner?.thrown()),
            Quantity::WinnerPips => one(winner?.pips()),
            Quantity::WinnerThrow => ratio(winner?.pips(), winner?.thrown()),
            Quantity::WinnerMoves => one(winner?.moves),
            Quantity::Throw => ratio(all(SeatHistory::pips), all(SeatHistory::thrown)),
            Quantity::ThrowShare => {
                let counted = |seat: &SeatHistory| self.count(&seat.throws);
                let hits = course.seats.iter().map(counted).sum();
                ratio(hits, all(SeatHistory::thrown))
            }
            Quantity::Moves => one(mine?.moves),
            Quantity::Squares => one(mine?.squares),
            Quantity::MoveValue => ratio(mine?.squares, mine?.moves),
            Quantity::Hits => one(mine?.hits),
            Quantity::HitsMissed => one(mine?.hits_missed),
            _ => return None,
        })
    }

    fn of_ludo(&self, course: &LudoHistory) -> Option<Part> {
        let ahead = match self.reply_weight {
            ReplyWeight::Sixth => course.sixth,
            ReplyWeight::ThirtySixth => course.thirty_sixth,
        };
        Some(match self.quantity {
            Quantity::MuBelowOne => ratio(ahead.below_one, ahead.pairs),
            Quantity::SameChoice => flag(ahead.same),
            _ => return None,
        })
    }

    fn wins(&self, facts: &Facts<'_>) -> Part {
        let winner = facts.winner();
        match self.agent {
            Some(_) => flag(winner.is_some() && winner == self.seat(facts)),
            None => ratio(winner.is_some().into(), facts.agents.len() as u64),
        }
    }

    /// How often one of the measure's values was thrown.
    fn count(&self, throws: &[u64]) -> u64 {
        let each = arena_games::cowry::VALUES.iter().zip(throws);
        each.filter(|(value, _)| self.values.contains(value))
            .map(|(_, count)| count)
            .sum()
    }

    fn seat(&self, facts: &Facts<'_>) -> Option<usize> {
        let agent = self.agent?;
        let mut seats = facts.agents.iter();
        seats.position(|&other| usize::from(other) == agent)
    }

    fn thought<'a>(&self, facts: &Facts<'a>) -> Option<&'a Thought> {
        facts.thoughts.get(self.seat(facts)?)
    }
}

impl Facts<'_> {
    /// The ranks of all seats in one number.
    fn result(&self) -> u64 {
        let digit = |number, &rank: &u8| number * 16 + u64::from(rank);
        self.finished.placement.iter().fold(0, digit)
    }

    /// The seat that came first alone.
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
