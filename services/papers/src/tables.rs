//! Published tables, as their data files define them.

use arena_engine::options::Options;
use arena_model::{TournamentSeed, spec::Spec};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{fields::CellFields, measure::Measure, quantity::FigureSource};

/// Games whose decisions are timed, one after the other.
pub(crate) const TIMED_GAMES: u64 = 10;

/// One of the papers.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    /// Its number in Arena, such as `001`.
    pub id: String,
    /// Title.
    pub title: String,
    /// Authors, if known.
    pub authors: Option<String>,
    /// Year, if known.
    pub year: Option<u16>,
    /// Short name.
    pub short: String,
}

impl Paper {
    /// Authors, year and title, as far as they are known.
    #[must_use]
    pub fn cited(&self) -> String {
        let mut text = self.authors.clone().unwrap_or_default();
        if let Some(year) = self.year {
            text += &format!(" ({year})");
        }
        if !text.is_empty() {
            text += ": ";
        }
        text + &self.title
    }
}

/// A published table.
#[derive(Debug)]
pub struct PublishedTable {
    /// Its id, such as `001-ii`.
    pub id: &'static str,
    /// The paper that contains it.
    pub paper: Paper,
    /// Its name in the paper.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// How the figures were measured.
    pub protocol: String,
    /// What the published figures are, if they are not as printed.
    pub published: Option<String>,
    /// The games behind the figures.
    pub plays: Vec<Matchup>,
    /// Its figures.
    pub cells: Vec<TableCell>,
}

/// Games of the same agents under the same rules.
#[derive(Clone, Debug, PartialEq)]
pub struct Matchup {
    /// The spec, with the blocks of the data file and without a seed.
    pub spec: Spec,
    /// Resolved options of the ruleset.
    pub options: Options,
    /// Seats of a game.
    pub seats: usize,
    /// True if the games use no random numbers, so that all games are the same.
    pub deterministic: bool,
}

/// A published figure and how it is compared.
#[derive(Clone, Debug)]
pub struct TableCell {
    pub(crate) row: String,
    pub(crate) column: String,
    pub(crate) fields: CellFields,
    /// How the figure is measured, if it can be measured.
    pub(crate) measure: Option<Measure>,
    /// Index of its matchup, if it needs one.
    pub(crate) play: Option<usize>,
    /// True if our figure has no chance.
    pub(crate) exact: bool,
    /// True if the figure follows from earlier cells.
    pub(crate) dependent: bool,
}

impl PublishedTable {
    /// Number of games for its figures: as requested, or else as in the data file.
    #[must_use]
    pub fn games(&self, games: Option<u64>) -> u64 {
        let plays = 0..self.plays.len();
        plays.map(|place| self.games_of(place, games)).sum()
    }

    /// Number of games of one of its plays.
    #[must_use]
    pub fn games_of(&self, place: usize, games: Option<u64>) -> u64 {
        let play = &self.plays[place];
        let cells = || self.cells.iter().filter(|cell| cell.play == Some(place));
        let measures = || cells().filter_map(|cell| cell.measure.as_ref());
        let from = |source| measures().any(|measure| measure.quantity.source() == source);
        u64::from(from(FigureSource::Games)) * play.games(games)
            + u64::from(from(FigureSource::Clock)) * TIMED_GAMES * play.games_of_a_block()
    }
}

impl Matchup {
    /// Number of games of a block.
    #[must_use]
    pub fn games_of_a_block(&self) -> u64 {
        match self.spec.play.rotate {
            true => self.seats as u64,
            false => 1,
        }
    }

    /// Number of blocks: for the requested number of games, or else as in the data file.
    #[must_use]
    pub fn blocks(&self, games: Option<u64>) -> u64 {
        match games {
            // The second block checks that the games are the same.
            _ if self.deterministic => 2,
            Some(games) => games.div_ceil(self.games_of_a_block()),
            None => self.spec.blocks,
        }
    }

    /// Number of games: as requested, or else as in the data file.
    #[must_use]
    pub fn games(&self, games: Option<u64>) -> u64 {
        self.blocks(games) * self.games_of_a_block()
    }

    /// The spec of the games, which `arena run` accepts too.
    ///
    /// Its seed derives from the user's seed, the table and the matchup, but not from the
    /// number of games: a longer run starts with the same games.
    #[must_use]
    pub fn spec(&self, root: &TournamentSeed, games: Option<u64>) -> Spec {
        let mut spec = self.spec.clone();
        spec.blocks = 1;
        let text = format!("{root} {}", spec.to_toml());
        spec.seed = Some(TournamentSeed::from_bytes(Sha256::digest(text).into()));
        spec.blocks = self.blocks(games);
        spec
    }
}
