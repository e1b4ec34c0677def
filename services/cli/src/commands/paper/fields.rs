//! A table's data file as it is written. What is said of the table holds for
//! its columns, what is said of a column for its rows, and so on to the cell:
//! the nearest word counts.

use std::collections::BTreeMap;

use arena_engine::options::Options;
use serde::Deserialize;

use super::quantity::Quantity;

/// One file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    /// Number of the paper.
    pub(super) paper: String,
    /// What the paper calls the table.
    pub(super) table: String,
    /// What it shows.
    pub(super) title: String,
    /// How it was made, and how it is made here.
    pub(super) protocol: String,
    /// What the published figures here are, where they are not as printed.
    pub(super) published: Option<String>,
    #[serde(default)]
    pub(super) play: PlayFields,
    #[serde(default)]
    pub(super) cell: CellFields,
    pub(super) column: Vec<Column>,
    pub(super) row: Vec<Row>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Column {
    pub(super) name: String,
    #[serde(default)]
    pub(super) cell: CellFields,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    pub(super) name: String,
    #[serde(default)]
    pub(super) play: PlayFields,
    #[serde(default)]
    pub(super) cell: CellFields,
    /// By column.
    pub(super) cells: BTreeMap<String, CellEntry>,
}

/// A cell: its figure, or more.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum CellEntry {
    Figure(f64),
    Fields(Box<CellFields>),
}

/// What is played.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct PlayFields {
    pub(super) ruleset: Option<String>,
    pub(super) options: Option<Options>,
    /// As `arena play --seats` takes them, in seat order.
    pub(super) agents: Option<Vec<String>>,
    /// Games unless the user says otherwise.
    pub(super) games: Option<u64>,
    /// Every rotation of the seats on the same dice or opening.
    pub(super) rotate: Option<bool>,
    pub(super) opening_plies: Option<u32>,
    /// Neither the game nor the agents draw anything: all games are one.
    pub(super) deterministic: Option<bool>,
}

/// What is compared, and how.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct CellFields {
    /// The printed figure.
    pub(super) published: Option<f64>,
    pub(super) kind: Option<Kind>,
    /// Games or observations behind the printed figure.
    pub(super) of: Option<u64>,
    pub(super) quantity: Option<Quantity>,
    /// Place of an agent in the play's list.
    pub(super) agent: Option<usize>,
    /// Place of the agent that it is compared with.
    pub(super) versus: Option<usize>,
    /// Values of throws.
    pub(super) values: Option<Vec<u8>>,
    /// Row and column of a matrix.
    pub(super) at: Option<[u8; 2]>,
    /// Name of a vector of weights, and the place of one in it.
    pub(super) vector: Option<String>,
    pub(super) index: Option<usize>,
    /// Place of a plane.
    pub(super) plane: Option<usize>,
    /// Plies looked ahead.
    pub(super) plies: Option<u32>,
    pub(super) reply_weight: Option<ReplyWeight>,
    /// Shown as percent above this.
    pub(super) above: Option<f64>,
    /// Multiplied by this.
    pub(super) times: Option<f64>,
    pub(super) expect: Option<Expect>,
    pub(super) reason: Option<String>,
    /// Accepted where the two differ by no more than this.
    pub(super) within: Option<f64>,
    /// Accepted where ours is no less, with all of its interval.
    pub(super) at_least: Option<f64>,
    /// Accepted where ours is no more, with all of its interval.
    pub(super) at_most: Option<f64>,
    /// Accepted up to so many standard errors, in place of the general rule.
    pub(super) z_max: Option<f64>,
    /// True by construction: the printed figure went into what it is compared
    /// with, or ours is bound to be so whatever is played.
    pub(super) given: Option<bool>,
    /// The printed row, where several rows here are of one: it counts once.
    pub(super) printed: Option<String>,
}

/// What kind of figure is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Kind {
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
pub(super) enum ReplyWeight {
    /// As often as it is rolled.
    Sixth,
    /// As the paper argues.
    ThirtySixth,
}

/// What can be expected of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(super) enum Expect {
    /// Reproducible within the stated bounds.
    #[serde(rename = "R")]
    Reproducible,
    /// In sign or order only.
    #[serde(rename = "Q")]
    Qualitative,
    /// Not to be expected.
    #[serde(rename = "N")]
    None,
}

impl Expect {
    /// As in the data files.
    pub(super) fn letter(self) -> &'static str {
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
    pub(super) fn over(&self, far: &Self) -> Self {
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
    pub(super) fn over(&self, far: &Self) -> Self {
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
    pub(super) fn fields(&self) -> CellFields {
        match self {
            Self::Fields(fields) => (**fields).clone(),
            Self::Figure(figure) => CellFields {
                published: Some(*figure),
                ..CellFields::default()
            },
        }
    }
}
