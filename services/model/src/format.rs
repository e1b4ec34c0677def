//! Tournament formats: their names and settings.
//!
//! A format has a table of the spec that is named after it. [`Settings::resolve`] fills in the
//! defaults, so that a spec with a default written down is the same tournament.

mod listed;
mod reference;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantArray};

use self::listed::Listed;
use crate::{
    name::AgentName,
    spec::{SpecError, some_whole},
};

pub use reference::{REFERENCE, Reference, Setting};

/// The format of a tournament: which agents play each other.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    Default,
    Serialize,
    Deserialize,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Format {
    /// Every group of agents plays.
    #[default]
    RoundRobin,
    /// Challengers play all other agents.
    Gauntlet,
    /// A sequential test of one agent against another.
    Sprt,
    /// Rounds that pair agents with equal points.
    Swiss,
    /// Elimination.
    Knockout,
    /// Schedules the pair whose next block is most informative.
    Ladder,
    /// A list of games.
    Fixed,
}

impl Format {
    /// All formats.
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// True if results decide which games are played.
    #[must_use]
    pub fn looks_at_results(self) -> bool {
        matches!(
            self,
            Self::Sprt | Self::Swiss | Self::Knockout | Self::Ladder
        )
    }

    /// True if agents meet different opponents, so that scores do not order them. For a list of
    /// games, see [`Fixed::is_even`].
    #[must_use]
    pub fn opponents_differ(self) -> bool {
        matches!(
            self,
            Self::Gauntlet | Self::Swiss | Self::Knockout | Self::Ladder
        )
    }

    /// True if mean returns can decide the places, instead of ranks.
    #[must_use]
    pub fn rates_returns(self) -> bool {
        matches!(self, Self::RoundRobin | Self::Fixed)
    }

    /// The name in specs.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Meaning of the Elo differences of a test.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EloModel {
    /// A score of 1 / (1 + 10^(−elo / 400)).
    #[default]
    Logistic,
    /// The score's distance from one half in standard deviations of a game, times 800 / ln 10.
    Normalized,
}

/// Losses after which an agent is out.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Elimination {
    /// One.
    #[default]
    Single,
    /// Two.
    Double,
}

/// Order of strength before the first game.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Seeding {
    /// The order of the spec.
    #[default]
    Listed,
    /// Drawn from the tournament's seed.
    Drawn,
}

/// `[gauntlet]`
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Gauntlet {
    /// Agents that play all others; default: the first agent.
    #[cfg_attr(test, schemars(with = "Vec<String>"))]
    pub challengers: Vec<AgentName>,
}

/// `[sprt]`
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sprt {
    /// H0: Elo difference of the first agent over the second.
    pub elo0: f64,
    /// H1: Elo difference of the first agent over the second.
    pub elo1: f64,
    /// Probability of accepting H1 if H0 is true.
    pub alpha: f64,
    /// Probability of accepting H0 if H1 is true.
    pub beta: f64,
    /// Meaning of the Elo differences.
    pub model: EloModel,
    /// Blocks between two looks at the results; default: 16, growing by a thirty-second each time.
    #[serde(
        deserialize_with = "some_whole::<1, u64, _>",
        skip_serializing_if = "Option::is_none"
    )]
    pub step: Option<u64>,
}

impl Default for Sprt {
    fn default() -> Self {
        Self {
            elo0: 0.0,
            elo1: 5.0,
            alpha: 0.05,
            beta: 0.05,
            model: EloModel::default(),
            step: None,
        }
    }
}

/// `[swiss]`
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Swiss {
    /// Number of rounds; default: ⌈log2 of the number of agents⌉.
    #[serde(
        deserialize_with = "some_whole::<1, u64, _>",
        skip_serializing_if = "Option::is_none"
    )]
    pub rounds: Option<u64>,
}

/// `[knockout]`
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Knockout {
    /// Losses after which an agent is out.
    pub elimination: Elimination,
    /// Order of strength before the first game.
    pub seeding: Seeding,
}

/// `[ladder]`
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Ladder {
    /// Blocks in all; default: blocks × agents.
    #[serde(
        deserialize_with = "some_whole::<1, u64, _>",
        skip_serializing_if = "Option::is_none"
    )]
    pub blocks_total: Option<u64>,
    /// Blocks scheduled at a time.
    #[serde(
        deserialize_with = "some_whole::<1, u64, _>",
        skip_serializing_if = "Option::is_none"
    )]
    pub step: Option<u64>,
    /// True if agents may be added, replaced, benched and banned while it runs.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub open: bool,
}

/// `[fixed]`
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Fixed {
    /// Games: names of agents in the order of the seats.
    #[cfg_attr(test, schemars(with = "Vec<Vec<String>>"))]
    pub games: Vec<Vec<AgentName>>,
}

impl Fixed {
    /// True if all agents of the list meet each other equally often. Otherwise, agents that meet
    /// weaker opponents more often have better scores.
    #[must_use]
    pub fn is_even(&self) -> bool {
        let mut agents = BTreeSet::new();
        let mut met: BTreeMap<(&AgentName, &AgentName), u64> = BTreeMap::new();
        for game in &self.games {
            agents.extend(game);
            for (seat, one) in game.iter().enumerate() {
                for other in game[seat + 1..].iter().filter(|&other| other != one) {
                    *met.entry((one.min(other), one.max(other))).or_default() += 1;
                }
            }
        }
        let pairs = agents.len() * agents.len().saturating_sub(1) / 2;
        let mut times = met.values();
        let first = times.next();
        met.len() == pairs && times.all(|times| Some(times) == first)
    }
}

/// The settings of a tournament's format; round robin has none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Settings {
    /// Of a gauntlet.
    Gauntlet(Gauntlet),
    /// Of a sequential test.
    Sprt(Sprt),
    /// Of a Swiss tournament.
    Swiss(Swiss),
    /// Of a knockout.
    Knockout(Knockout),
    /// Of a ladder.
    Ladder(Ladder),
    /// Of a list of games.
    Fixed(Fixed),
}

/// The formats' tables of a spec.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tables {
    /// `[gauntlet]`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gauntlet: Option<Gauntlet>,
    /// `[sprt]`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sprt: Option<Sprt>,
    /// `[swiss]`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub swiss: Option<Swiss>,
    /// `[knockout]`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub knockout: Option<Knockout>,
    /// `[ladder]`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ladder: Option<Ladder>,
    /// `[fixed]`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixed: Option<Fixed>,
}

/// Minimum of the default number of blocks that a ladder chooses at a time.
const STEP_MIN: u64 = 16;
/// Maximum of it.
const STEP_MAX: u64 = 1024;
/// Approximate number of choices of a ladder by default.
const CHOICES: u64 = 50;
/// Difference in Elo beyond which a score is 0 or 1 in all digits.
const ELO_MAX: f64 = 2000.0;
/// Minimum distance of hypotheses: no test can separate closer ones in practice.
const ELO_STEP: f64 = 0.01;
/// Minimum error probability of a test.
const ERROR_MIN: f64 = 1e-6;

impl Tables {
    /// The existing tables.
    fn given(&self) -> impl Iterator<Item = &'static str> {
        let given = [
            self.gauntlet.is_some(),
            self.sprt.is_some(),
            self.swiss.is_some(),
            self.knockout.is_some(),
            self.ladder.is_some(),
            self.fixed.is_some(),
        ];
        let tables = REFERENCE.iter().map(|it| it.format.name()).skip(1);
        tables
            .zip(given)
            .filter_map(|(name, given)| given.then_some(name))
    }
}

impl Settings {
    /// Resolves the tables of a spec for its format; none for a format without settings.
    ///
    /// # Errors
    /// [`SpecError::Value`] if a table belongs to another format, a value is out of range, or a
    /// name is of no agent.
    pub fn resolve(
        format: Format,
        tables: &Tables,
        blocks: u64,
        agents: &[AgentName],
    ) -> Result<Option<Self>, SpecError> {
        if let Some(table) = tables.given().find(|table| *table != format.name()) {
            return fail(format!(
                "[{table}] belongs to another format: this tournament has format = \"{}\"",
                format.name()
            ));
        }
        Ok(Some(match format {
            Format::RoundRobin => return Ok(None),
            Format::Gauntlet => Self::Gauntlet(gauntlet(tables.gauntlet.clone(), agents)?),
            Format::Sprt => Self::Sprt(sprt(tables.sprt.clone(), blocks)?),
            Format::Swiss => Self::Swiss(swiss(tables.swiss.clone(), agents)?),
            Format::Knockout => Self::Knockout(tables.knockout.clone().unwrap_or_default()),
            Format::Ladder => Self::Ladder(ladder(tables.ladder.clone(), blocks, agents)?),
            Format::Fixed => Self::Fixed(fixed(tables.fixed.clone(), agents)?),
        }))
    }
}

fn fail<T>(text: String) -> Result<T, SpecError> {
    Err(SpecError::Value(text))
}

fn gauntlet(given: Option<Gauntlet>, agents: &[AgentName]) -> Result<Gauntlet, SpecError> {
    const AT: &str = "[gauntlet] challengers";
    let mut given = given.unwrap_or_default();
    if given.challengers.is_empty() {
        given.challengers.extend(agents.first().cloned());
    }
    let listed = Listed::new(agents);
    // Their order changes no game.
    let mut places = BTreeSet::new();
    for name in &given.challengers {
        if !places.insert(listed.place(|| AT.to_owned(), name)?) {
            return fail(format!("{AT}: \"{name}\" is listed twice"));
        }
    }
    given.challengers = { places.iter() }.map(|&at| agents[at].clone()).collect();
    Ok(given)
}

fn sprt(given: Option<Sprt>, blocks: u64) -> Result<Sprt, SpecError> {
    let given = given.unwrap_or_default();
    for (name, elo) in [("elo0", given.elo0), ("elo1", given.elo1)] {
        if !(-ELO_MAX..=ELO_MAX).contains(&elo) {
            return fail(format!(
                "[sprt] {name} = {elo}: must be from {} to {ELO_MAX}",
                -ELO_MAX
            ));
        }
    }
    for (name, elo) in [("elo0", given.elo0), ("elo1", given.elo1)] {
        if elo != 0.0 && elo.abs() < ELO_STEP {
            return fail(format!(
                "[sprt] {name} = {elo:?}: must be 0, or at least {ELO_STEP} Elo from it"
            ));
        }
    }
    if given.elo0 >= given.elo1 {
        return fail(format!(
            "[sprt] elo0 = {} and elo1 = {}: elo0 must be below elo1",
            given.elo0, given.elo1
        ));
    }
    if given.elo1 - given.elo0 < ELO_STEP {
        return fail(format!(
            "[sprt] elo0 = {} and elo1 = {}: must be at least {ELO_STEP} Elo apart",
            given.elo0, given.elo1
        ));
    }
    for (name, chance) in [("alpha", given.alpha), ("beta", given.beta)] {
        if !(ERROR_MIN..0.5).contains(&chance) {
            return fail(format!(
                "[sprt] {name} = {chance:?}: must be at least {ERROR_MIN:?} and below 0.5"
            ));
        }
    }
    if given.step == Some(0) {
        return fail("[sprt] step = 0: must be at least 1".to_owned());
    }
    Ok(Sprt {
        step: given.step.map(|step| step.min(blocks)),
        ..given
    })
}

fn swiss(given: Option<Swiss>, agents: &[AgentName]) -> Result<Swiss, SpecError> {
    let opponents = (agents.len() as u64).saturating_sub(1);
    let enough = u64::from(agents.len().max(2).next_power_of_two().ilog2());
    let rounds = given.unwrap_or_default().rounds.unwrap_or(enough);
    if rounds == 0 {
        return fail("[swiss] rounds = 0: must be at least 1".to_owned());
    }
    if opponents > 0 && rounds > opponents {
        return fail(format!(
            "[swiss] rounds = {rounds}: with {} agents each has only {opponents} {}; lower rounds \
             or list more agents",
            agents.len(),
            if opponents == 1 {
                "opponent"
            } else {
                "opponents"
            }
        ));
    }
    Ok(Swiss {
        rounds: Some(rounds),
    })
}

fn ladder(given: Option<Ladder>, blocks: u64, agents: &[AgentName]) -> Result<Ladder, SpecError> {
    let given = given.unwrap_or_default();
    let count = agents.len().max(1) as u64;
    let total = given.blocks_total.unwrap_or(blocks.saturating_mul(count));
    let step = given.step.unwrap_or_else(|| {
        let step = total.div_ceil(CHOICES);
        step.clamp(count.min(STEP_MIN), STEP_MAX.max(count))
    });
    for (name, value) in [("blocks_total", total), ("step", step)] {
        if value == 0 {
            return fail(format!("[ladder] {name} = 0: must be at least 1"));
        }
    }
    Ok(Ladder {
        blocks_total: Some(total),
        step: Some(step.min(total)),
        open: given.open,
    })
}

fn fixed(given: Option<Fixed>, agents: &[AgentName]) -> Result<Fixed, SpecError> {
    let given = given.unwrap_or_default();
    if given.games.is_empty() {
        return fail(
            "format = \"fixed\" needs a list of games: [fixed] games = [[\"a\", \"b\"], …]"
                .to_owned(),
        );
    }
    let listed = Listed::new(agents);
    for (number, game) in given.games.iter().enumerate() {
        let at = || format!("[fixed] games, number {}", number + 1);
        if game.is_empty() {
            return fail(format!("{}: empty name", at()));
        }
        let mut seated = BTreeSet::new();
        for name in game {
            if !seated.insert(listed.place(at, name)?) {
                return fail(format!("{}: \"{name}\" cannot play against itself", at()));
            }
        }
    }
    Ok(given)
}

#[cfg(test)]
mod tests;
