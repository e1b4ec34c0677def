//! The quantities that a published table can measure.

use serde::Deserialize;

/// The quantity behind a cell's figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Quantity {
    /// Games that the agent won alone; without an agent, the mean over all agents.
    Wins,
    /// Games in which the first place was shared.
    Draws,
    /// Blocks in which all games have the same result seat by seat (paper 004, Table 4.1).
    Alike,
    /// Actions of a game, including passes. Papers 000 and 001 call them moves, or turns if
    /// a turn has one throw.
    Plies,
    /// Actions of the games that the agent won.
    PliesWhenWon,
    /// Maximum number of positions that the agent searched for one move, as it reports
    /// (paper 001, Table VII).
    NodesMost,
    /// Positions that the agent searched per move (paper 001, Table VII).
    Nodes,
    /// Games that the winner started, out of the games that the agent, or any agent, won
    /// (paper 000, Table II).
    Started,
    /// Throws of the winner (paper 000, Table III).
    WinnerThrows,
    /// Sum of the winner's throws (paper 000, Table III).
    WinnerPips,
    /// Mean of the winner's throws (paper 000, Table III).
    WinnerThrow,
    /// Throws that the winner played (paper 000, Table IV).
    WinnerMoves,
    /// Mean of all agents' throws (paper 000, Table III).
    Throw,
    /// Share of throws with these values, over all agents (paper 000, Tables I, VIII).
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
    /// Probability of a throw of these values, by the ruleset (paper 000, Tables I, VIII).
    ThrowChance,
    /// Mean of a throw, by the ruleset (paper 000, §V.C).
    ThrowExpected,
    /// Throws that take an unhindered piece home, by the ruleset: squares of the path divided
    /// by the mean of a throw (paper 000, §V.C).
    PieceThrows,
    /// A weight of a named vector of `oware-minimax` (paper 002, Tables 1 to 4).
    Weight,
    /// Probability that a plane hits another within its turn (paper 003, Table 2).
    Threat,
    /// This probability by equations 12 to 15 of paper 003.
    ThreatByFormula,
    /// The value of a plane's move in the worked example (paper 003, §4).
    ExampleValue,
    /// μ(2, 1) of the worked example (paper 003, equation 19).
    ExampleMu,
    /// Operations of a decision with the threat matrix (paper 003,
    /// equation 18).
    MatrixOperations,
    /// Operations of a decision without the threat matrix (paper 003, equation 17).
    RealtimeOperations,
    /// Operations with the matrix in percent of those without it (paper 003, §5.2).
    OperationsShare,
    /// Share of movable planes other than the chosen one whose μ with it is below 1, at one
    /// position of each game (paper 003, Table 3).
    MuBelowOne,
    /// Share of positions, one of each game, at which searches of one and of two plies choose
    /// the same plane (paper 003, §6.2).
    SameChoice,
    /// Time per move of the agent, in milliseconds on this machine or as a multiple of another
    /// agent's (paper 001, Table VI).
    MoveTime,
}

/// Weight of a reply in the evaluation of two plies (paper 003, §6.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PaperReplyWeight {
    /// Its probability of one in six.
    Sixth,
    /// One in thirty-six, as the paper argues.
    ThirtySixth,
}

/// How observations are combined into one figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aggregation {
    /// A share of hits among observations.
    Share,
    /// A mean.
    Mean,
    /// The maximum.
    Most,
    /// The share of blocks whose observations are all equal.
    Alike,
}

/// Source of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FigureSource {
    /// Games.
    Games,
    /// The rules or an agent's data, without games.
    Rules,
    /// A clock, so figures differ from run to run.
    Clock,
}

impl Quantity {
    pub(crate) fn aggregation(self) -> Aggregation {
        match self {
            Self::Wins
            | Self::Draws
            | Self::Started
            | Self::ThrowShare
            | Self::MuBelowOne
            | Self::SameChoice => Aggregation::Share,
            Self::NodesMost => Aggregation::Most,
            Self::Alike => Aggregation::Alike,
            _ => Aggregation::Mean,
        }
    }

    pub(crate) fn source(self) -> FigureSource {
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
            | Self::OperationsShare => FigureSource::Rules,
            Self::MoveTime => FigureSource::Clock,
            _ => FigureSource::Games,
        }
    }

    /// True if the quantity needs the history of games.
    pub(crate) fn needs_history(self) -> bool {
        let of_result = matches!(
            self,
            Self::Wins
                | Self::Draws
                | Self::Alike
                | Self::Plies
                | Self::PliesWhenWon
                | Self::NodesMost
                | Self::Nodes
        );
        self.source() == FigureSource::Games && !of_result
    }

    /// True if the quantity is one of a single agent.
    pub(crate) fn needs_agent(self) -> bool {
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
