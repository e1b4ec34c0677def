//! The data file of a table, as it is written.
//!
//! A field of the table applies to all its cells unless a column, a row or the cell itself
//! overrides it. The order of precedence is cell, row, column, table.

use std::collections::BTreeMap;

use arena_engine::options::Options;
use serde::{Deserialize, de::DeserializeOwned};
use toml::Table;

use crate::quantity::{PaperReplyWeight, Quantity};

/// A data file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TableFile {
    /// Number of the paper.
    pub(crate) paper: String,
    /// What the paper calls the table.
    pub(crate) table: String,
    /// What it shows.
    pub(crate) title: String,
    /// How it was made, and how it is made here.
    pub(crate) protocol: String,
    /// What the published figures are, if they are not as printed.
    pub(crate) published: Option<String>,
    #[serde(default)]
    pub(crate) play: Table,
    #[serde(default)]
    pub(crate) cell: Table,
    pub(crate) column: Vec<ColumnFields>,
    pub(crate) row: Vec<RowFields>,
}

/// A column and the fields of its cells.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ColumnFields {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) cell: Table,
}

/// A row, its matchup and its cells.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RowFields {
    pub(crate) name: String,
    /// Its [`PlayFields`].
    #[serde(default)]
    pub(crate) play: Table,
    /// The [`CellFields`] of all its cells.
    #[serde(default)]
    pub(crate) cell: Table,
    /// Cells by the name of their column: the published figure, or [`CellFields`].
    pub(crate) cells: BTreeMap<String, toml::Value>,
}

/// The matchup of a row: ruleset, options and agents.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct PlayFields {
    pub(crate) ruleset: Option<String>,
    pub(crate) options: Options,
    /// As `arena play --seats` takes them, in seat order.
    pub(crate) agents: Vec<String>,
    /// Number of games, unless the user requests another number.
    pub(crate) games: Option<u64>,
    /// Play every rotation of the seats with the same dice or opening.
    pub(crate) rotate: bool,
    pub(crate) opening_plies: u32,
    /// Neither the game nor the agents use random numbers, so all games are the same.
    pub(crate) deterministic: bool,
}

/// The published figure of a cell and how it is compared.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CellFields {
    /// The printed figure.
    pub(crate) published: Option<f64>,
    pub(crate) kind: FigureKind,
    /// Games or observations behind the printed figure.
    pub(crate) of: Option<u64>,
    pub(crate) quantity: Option<Quantity>,
    /// Index of the agent in the matchup.
    pub(crate) agent: Option<usize>,
    /// Index of the agent that it is compared with.
    pub(crate) versus: Option<usize>,
    /// Values of throws.
    pub(crate) values: Option<Vec<u8>>,
    /// Row and column of a matrix.
    pub(crate) at: Option<[u8; 2]>,
    /// Name of a vector of weights.
    pub(crate) vector: Option<String>,
    /// Index of a weight in the vector.
    pub(crate) index: Option<usize>,
    /// Index of a plane.
    pub(crate) plane: Option<usize>,
    /// Search depth in plies.
    pub(crate) plies: Option<u32>,
    pub(crate) reply_weight: Option<PaperReplyWeight>,
    /// Shown as percent above this.
    pub(crate) above: Option<f64>,
    /// Multiplied by this.
    pub(crate) times: Option<f64>,
    pub(crate) expect: Reproducibility,
    pub(crate) reason: Option<String>,
    /// Maximum difference between the published figure and ours.
    pub(crate) within: Option<f64>,
    /// Lower bound of our figure and of its whole interval.
    pub(crate) at_least: Option<f64>,
    /// Upper bound of our figure and of its whole interval.
    pub(crate) at_most: Option<f64>,
    /// Maximum difference in standard errors, instead of the general rule.
    pub(crate) z_max: Option<f64>,
    /// True by construction: the printed figure is an input of our figure, or our figure is
    /// the same whatever the games' results are.
    #[serde(default)]
    pub(crate) by_construction: bool,
    /// Name of the printed row, if several rows here repeat it: it counts once.
    pub(crate) printed: Option<String>,
}

impl CellFields {
    /// True if bounds replace the general rule.
    pub(crate) fn is_bounded(&self) -> bool {
        self.within.is_some() || self.at_least.is_some() || self.at_most.is_some()
    }
}

/// Kind of a printed figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FigureKind {
    /// A number of games, out of `of` games.
    Count,
    /// A percentage of games or other observations.
    Percent,
    /// A share of games or other observations, from 0 to 1.
    Share,
    /// A mean over games.
    Mean,
    /// A number without chance.
    Value,
}

/// How well a published figure can be reproduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Reproducibility {
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

impl Reproducibility {
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

/// Reads fields from tables; a field of an earlier table takes precedence.
pub(crate) fn nearest<T: DeserializeOwned>(tables: &[&Table]) -> Result<T, String> {
    let tables = tables.iter().rev();
    let fields: Table = tables.flat_map(|table| (*table).clone()).collect();
    fields
        .try_into()
        .map_err(|error: toml::de::Error| error.to_string())
}
