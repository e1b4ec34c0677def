//! A table's data file as it is written. What is said of the table holds for
//! its columns, what is said of a column for its rows, and so on to the cell:
//! the nearest word counts.

use std::collections::BTreeMap;

use arena_engine::options::Options;
use serde::Deserialize;

use crate::quantity::Quantity;

/// One file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    /// Number of the paper.
    pub(crate) paper: String,
    /// What the paper calls the table.
    pub(crate) table: String,
    /// What it shows.
    pub(crate) title: String,
    /// How it was made, and how it is made here.
    pub(crate) protocol: String,
    /// What the published figures here are, where they are not as printed.
    pub(crate) published: Option<String>,
    #[serde(default)]
    pub(crate) play: PlayFields,
    #[serde(default)]
    pub(crate) cell: CellFields,
    pub(crate) column: Vec<Column>,
    pub(crate) row: Vec<Row>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Column {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) cell: CellFields,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Row {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) play: PlayFields,
    #[serde(default)]
    pub(crate) cell: CellFields,
    /// By column.
    pub(crate) cells: BTreeMap<String, CellEntry>,
}

/// A cell: its figure, or more.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum CellEntry {
    Figure(f64),
    Fields(Box<CellFields>),
}

/// What is played.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct PlayFields {
    pub(crate) ruleset: Option<String>,
    pub(crate) options: Option<Options>,
    /// As `arena play --seats` takes them, in seat order.
    pub(crate) agents: Option<Vec<String>>,
    /// Games unless the user says otherwise.
    pub(crate) games: Option<u64>,
    /// Every rotation of the seats on the same dice or opening.
    pub(crate) rotate: Option<bool>,
    pub(crate) opening_plies: Option<u32>,
    /// Neither the game nor the agents draw anything: all games are one.
    pub(crate) deterministic: Option<bool>,
}

/// What is compared, and how.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct CellFields {
    /// The printed figure.
    pub(crate) published: Option<f64>,
    pub(crate) kind: Option<Kind>,
    /// Games or observations behind the printed figure.
    pub(crate) of: Option<u64>,
    pub(crate) quantity: Option<Quantity>,
    /// Place of an agent in the play's list.
    pub(crate) agent: Option<usize>,
    /// Place of the agent that it is compared with.
    pub(crate) versus: Option<usize>,
    /// Values of throws.
    pub(crate) values: Option<Vec<u8>>,
    /// Row and column of a matrix.
    pub(crate) at: Option<[u8; 2]>,
    /// Name of a vector of weights, and the place of one in it.
    pub(crate) vector: Option<String>,
    pub(crate) index: Option<usize>,
    /// Place of a plane.
    pub(crate) plane: Option<usize>,
    /// Plies looked ahead.
    pub(crate) plies: Option<u32>,
    pub(crate) reply_weight: Option<ReplyWeight>,
    /// Shown as percent above this.
    pub(crate) above: Option<f64>,
    /// Multiplied by this.
    pub(crate) times: Option<f64>,
    pub(crate) expect: Option<Expect>,
    pub(crate) reason: Option<String>,
    /// Accepted where the two differ by no more than this.
    pub(crate) within: Option<f64>,
    /// Accepted where ours is no less, with all of its interval.
    pub(crate) at_least: Option<f64>,
    /// Accepted where ours is no more, with all of its interval.
    pub(crate) at_most: Option<f64>,
    /// Accepted up to so many standard errors, in place of the general rule.
    pub(crate) z_max: Option<f64>,
    /// True by construction: the printed figure went into what it is compared
    /// with, or ours is bound to be so whatever is played.
    pub(crate) given: Option<bool>,
    /// The printed row, where several rows here are of one: it counts once.
    pub(crate) printed: Option<String>,
}

/// What kind of figure is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    /// A number of games, of so many.
    Count,
    /// A percentage of games or other observations.
    Percent,
    /// The same from 0 to 1.
    Share,
    /// A mean over games.
    Mean,
    /// A number that no chance is in.
    Value,
}

/// How much a reply counts in the evaluation of two plies (paper 003, §6.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ReplyWeight {
    /// As often as it is rolled.
    Sixth,
    /// As the paper argues.
    ThirtySixth,
}

/// How well a published figure can be reproduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Expect {
    /// Reproducible within the stated bounds.
    #[serde(rename = "R")]
    Reproducible,
    /// Reproducible in sign or order only.
    #[serde(rename = "Q")]
    Qualitative,
    /// Not reproducible.
    #[serde(rename = "N")]
    None,
}

impl Expect {
    /// The letter of the data files.
    #[must_use]
    pub fn letter(self) -> &'static str {
        match self {
            Self::Reproducible => "R",
            Self::Qualitative => "Q",
            Self::None => "N",
        }
    }
}

/// Takes each field from the nearer of two, where it says anything.
macro_rules! nearer {
    ($near:ident, $far:ident, $type:ident { $($field:ident),* $(,)? }) => {
        $type { $($field: $near.$field.clone().or_else(|| $far.$field.clone()),)* }
    };
}

impl PlayFields {
    pub(crate) fn over(&self, far: &Self) -> Self {
        nearer!(
            self,
            far,
            PlayFields {
                ruleset,
                options,
                agents,
                games,
                rotate,
                opening_plies,
                deterministic,
            }
        )
    }
}

impl CellFields {
    pub(crate) fn over(&self, far: &Self) -> Self {
        nearer!(
            self,
            far,
            CellFields {
                published,
                kind,
                of,
                quantity,
                agent,
                versus,
                values,
                at,
                vector,
                index,
                plane,
                plies,
                reply_weight,
                above,
                times,
                expect,
                reason,
                within,
                at_least,
                at_most,
                z_max,
                given,
                printed,
            }
        )
    }
}

impl CellEntry {
    pub(crate) fn fields(&self) -> CellFields {
        match self {
            Self::Fields(fields) => (**fields).clone(),
            Self::Figure(figure) => CellFields {
                published: Some(*figure),
                ..CellFields::default()
            },
        }
    }
}
