//! A tournament as its user writes it: TOML, unknown keys refused.

mod adjudicate;
mod adjudicated;
mod book;
mod clock;
mod error;
mod play;
mod quoted;
mod whole;
mod words;

use std::collections::HashSet;

use arena_engine::options::{Options, Value, nearest};
use serde::{Deserialize, Deserializer, Serialize};

pub(crate) use self::adjudicate::score as score_number;
pub use self::adjudicate::{ADJUDICATION_VERSION, Draw, Resign, score_of};
use self::adjudicate::{DRAW_KEYS, RESIGN_KEYS};
pub use self::book::{
    BOOK_BYTES_MAX, BOOK_OPENINGS_MAX, BOOK_SEPARATOR_BYTES, Book, BookOrder, fits as book_fits,
};
pub use self::clock::{Clock, ClockError};
pub use self::error::SpecError;
pub use self::play::{
    CLOCK_SCALE_MAX, GamePlay, PLAY_KEYS, Play, REPLICAS_MAX, TIMING_MARGIN, Timing,
};
pub use self::whole::{some_whole, whole};
use self::words::format_name;
pub use self::words::{Outcome, Records};
pub use crate::format::Format;
use crate::{
    expect::{self, Claim, Expectation, Sentences},
    format::{self, Settings, Tables},
    name::AgentName,
    seed::TournamentSeed,
};

/// Values of options by name.
#[cfg(test)]
type OptionTable = std::collections::BTreeMap<String, serde_json::Value>;

/// Sentences, or sentences by name.
#[cfg(test)]
#[derive(schemars::JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "the schema alone needs it")]
enum SentenceList {
    List(Vec<String>),
    Named(std::collections::BTreeMap<String, String>),
}

/// A variant of a bot for one tournament.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// Name of the variant in the tournament.
    #[cfg_attr(test, schemars(with = "String"))]
    pub name: AgentName,
    /// Name of the bot.
    pub bot: String,
    /// Registered agent that offers the bot; default: the built-in bots.
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<AgentName>,
    /// Options of the bot; others have the values of the registration, or their defaults.
    #[cfg_attr(test, schemars(with = "OptionTable"))]
    #[serde(default, skip_serializing_if = "Options::is_empty")]
    pub options: Options,
}

/// The spec of a tournament.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Name of the tournament.
    #[cfg_attr(test, schemars(with = "String"))]
    pub name: AgentName,
    /// Name of the ruleset.
    pub ruleset: String,
    /// Seed of all random draws, such as "0x5eed"; default: drawn.
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    #[serde(
        default,
        deserialize_with = "seed",
        skip_serializing_if = "Option::is_none"
    )]
    pub seed: Option<TournamentSeed>,
    /// Which agents play each other.
    #[serde(default, deserialize_with = "format_name")]
    pub format: Format,
    /// Blocks of each group; a block is one game for each rotation of the seats.
    #[cfg_attr(test, schemars(range(min = 1, max = 1_000_000_000)))]
    #[serde(default = "default_blocks", deserialize_with = "whole::<1, u64, _>")]
    pub blocks: u64,
    /// Seats of a game; default: the minimum of the ruleset.
    #[serde(
        default,
        deserialize_with = "some_whole::<2, usize, _>",
        skip_serializing_if = "Option::is_none"
    )]
    pub seats: Option<usize>,
    /// What the store keeps of each game.
    #[serde(default)]
    pub records: Records,
    /// What decides the places: the ranks of games, or their mean returns, such as chips won.
    #[serde(default, skip_serializing_if = "is_ranks")]
    pub outcome: Outcome,
    /// The tournament pauses itself if agents lost more than this share of its games before
    /// their first answer in the game. The games of all agents count together. With 1, it
    /// never pauses itself.
    #[cfg_attr(test, schemars(range(min = 0.0, max = 1.0)))]
    #[serde(
        default = "default_unplayed_limit",
        skip_serializing_if = "is_default_unplayed_limit"
    )]
    pub unplayed_limit: f64,
    /// Names of registered agents, built-in agents or variants.
    #[cfg_attr(test, schemars(with = "Vec<String>"))]
    pub agents: Vec<AgentName>,
    /// Expectations, such as "mine beats base by 5 elo at 95 %".
    #[cfg_attr(test, schemars(with = "SentenceList"))]
    #[serde(default, skip_serializing_if = "Sentences::is_empty")]
    pub expect: Sentences,
    /// Options of the ruleset.
    #[cfg_attr(test, schemars(with = "OptionTable"))]
    #[serde(default, skip_serializing_if = "Options::is_empty")]
    pub options: Options,
    /// Variants of bots for this tournament.
    #[serde(default, rename = "agent", skip_serializing_if = "Vec::is_empty")]
    pub variants: Vec<Variant>,
    /// How games are played.
    #[serde(default)]
    pub play: Play,
    /// Settings of the format.
    #[serde(flatten)]
    pub tables: Tables,
}

fn default_blocks() -> u64 {
    100
}

fn default_unplayed_limit() -> f64 {
    UNPLAYED_LIMIT
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde wants it")]
fn is_default_unplayed_limit(limit: &f64) -> bool {
    limit.to_bits() == UNPLAYED_LIMIT.to_bits()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde wants it")]
fn is_ranks(outcome: &Outcome) -> bool {
    *outcome == Outcome::Ranks
}

/// Default of [`Spec::unplayed_limit`].
pub const UNPLAYED_LIMIT: f64 = 0.1;

const KEYS: &[&str] = &[
    "name",
    "ruleset",
    "seed",
    "format",
    "blocks",
    "seats",
    "records",
    "outcome",
    "unplayed_limit",
    "agents",
    "options",
    "agent",
    "play",
    "expect",
    "gauntlet",
    "sprt",
    "swiss",
    "knockout",
    "ladder",
    "fixed",
];
const VARIANT_KEYS: &[&str] = &["name", "bot", "from", "options"];

/// The most blocks of a group, so that a schedule's size fits 64 bits.
const BLOCKS_MAX: u64 = 1_000_000_000;
/// The longest spec, in bytes.
pub const SPEC_BYTES_MAX: usize = 1 << 20;
/// The most agents of a tournament.
pub const AGENTS_MAX: usize = 4096;

impl Spec {
    /// Reads a spec.
    ///
    /// # Errors
    /// [`SpecError`] at the first thing that is wrong; messages of the TOML
    /// reader name line and column.
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        if text.len() > SPEC_BYTES_MAX {
            return Err(SpecError::Value(format!(
                "the spec has {} bytes; the limit is {SPEC_BYTES_MAX}: split it into several \
                 tournaments",
                text.len()
            )));
        }
        let table: toml::Table = text.parse().map_err(toml_error)?;
        let misplaced =
            |key: &&String| PLAY_KEYS.contains(&key.as_str()) && !KEYS.contains(&key.as_str());
        if let Some(key) = table.keys().find(misplaced) {
            return Err(SpecError::Value(format!(
                "\"{key}\" is a key of [play]: move it below a line [play]"
            )));
        }
        check_keys(&table, KEYS, "")?;
        if let Some(toml::Value::Table(play)) = table.get("play") {
            check_keys(play, PLAY_KEYS, " in [play]")?;
            let rules = [("resign", RESIGN_KEYS), ("draw", DRAW_KEYS)];
            for (key, keys) in rules {
                if let Some(toml::Value::Table(rule)) = play.get(key) {
                    check_keys(rule, keys, &format!(" in {key} of [play]"))?;
                }
            }
        }
        if let Some(toml::Value::Array(variants)) = table.get("agent") {
            for variant in variants.iter().filter_map(toml::Value::as_table) {
                check_keys(variant, VARIANT_KEYS, " in [[agent]]")?;
            }
        }
        for reference in &*format::REFERENCE {
            let name = reference.format.name();
            if let Some(toml::Value::Table(table)) = table.get(name) {
                let keys: Vec<&str> = reference.settings.iter().map(|it| &*it.key).collect();
                check_keys(table, &keys, &format!(" in [{name}]"))?;
            }
        }
        // For flattened tables the reader of specs would not name the place of an error.
        toml::from_str::<Tables>(text).map_err(toml_error)?;
        let mut spec: Self = toml::from_str(text).map_err(toml_error)?;
        let timing = table.get("play").and_then(|play| play.get("timing"));
        let throughput = timing.and_then(toml::Value::as_str) == Some("throughput");
        spec.play.resolve(throughput)?;
        spec.check()?;
        Ok(spec)
    }

    /// The same spec as TOML.
    ///
    /// # Panics
    /// Never: every spec can be written.
    #[must_use]
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("a spec is TOML")
    }

    fn check(&self) -> Result<(), SpecError> {
        let fail = |text: String| Err(SpecError::Value(text));
        if !(1..=BLOCKS_MAX).contains(&self.blocks) {
            return fail(format!(
                "blocks = {}: must be from 1 to {BLOCKS_MAX}",
                self.blocks
            ));
        }
        if !(0.0..=1.0).contains(&self.unplayed_limit) {
            return fail(format!(
                "unplayed_limit = {}: must be from 0 to 1; with 1 the tournament never pauses itself",
                self.unplayed_limit
            ));
        }
        self.play.check()?;
        self.check_outcome()?;
        if self.agents.len() > AGENTS_MAX {
            return fail(format!(
                "{} agents are listed; the limit is {AGENTS_MAX}: split them into several \
                 tournaments",
                self.agents.len()
            ));
        }
        let mut listed = HashSet::new();
        if let Some(name) = self.agents.iter().find(|name| !listed.insert(*name)) {
            return fail(format!(
                "agent \"{name}\" is listed twice: define the second one under another name in \
                 an [[agent]] table"
            ));
        }
        let mut defined = HashSet::new();
        for Variant { name, .. } in &self.variants {
            if !defined.insert(name) {
                return fail(format!("[[agent]] \"{name}\" is defined twice"));
            }
            if !listed.contains(name) {
                return fail(format!(
                    "[[agent]] \"{name}\" is defined but not listed in agents"
                ));
            }
        }
        let of_game = self.options.iter().map(|option| (option, String::new()));
        let of_agents = self.variants.iter().flat_map(|variant| {
            let whose = format!(" of agent \"{}\"", variant.name);
            let options = variant.options.iter();
            options.map(move |option| (option, whose.clone()))
        });
        for ((name, value), whose) in of_game.chain(of_agents) {
            let finite = match value {
                Value::Real(value) => value.is_finite(),
                Value::Numbers(values) => values.iter().all(|value| value.is_finite()),
                Value::Bool(_) | Value::Int(_) | Value::Text(_) => true,
            };
            if !finite {
                return fail(format!("option \"{name}\"{whose} must be a finite number"));
            }
        }
        self.expectations()?;
        self.settings().map(drop)
    }

    /// Whether returns can decide the places.
    fn check_outcome(&self) -> Result<(), SpecError> {
        let fail = |text: String| Err(SpecError::Value(text));
        if self.outcome == Outcome::Ranks {
            return Ok(());
        }
        if !self.format.rates_returns() {
            return fail(format!(
                "outcome = \"returns\": format \"{}\" goes by ranks; use \"round-robin\" or \"fixed\"",
                self.format.name()
            ));
        }
        if self.play.resign.is_some() || self.play.draw.is_some() {
            return fail(
                "outcome = \"returns\": an adjudicated game has no returns; remove resign and draw"
                    .to_owned(),
            );
        }
        Ok(())
    }

    /// What is expected of the outcome, understood.
    ///
    /// # Errors
    /// [`SpecError::Value`] with what in a sentence is wrong.
    pub fn expectations(&self) -> Result<Vec<Expectation>, SpecError> {
        let read = self.expect.read(&self.agents)?;
        read.iter().try_for_each(|one| self.suits(one))?;
        Ok(read)
    }

    /// What one more sentence expects of the outcome.
    ///
    /// # Errors
    /// As [`Self::expectations`].
    pub fn expectation(&self, text: &str) -> Result<Expectation, SpecError> {
        let read = expect::read(text, text, &self.agents)?;
        self.suits(&read)?;
        Ok(read)
    }

    /// Whether results of the format can show what is expected.
    fn suits(&self, expected: &Expectation) -> Result<(), SpecError> {
        let Claim::Passes { agent } = &expected.claim else {
            return Ok(());
        };
        let text = &expected.text;
        if self.format != Format::Sprt {
            return Err(SpecError::Value(format!(
                "expect \"{text}\": format \"{}\" is not a test; use format = \"sprt\", or state \
                 a score of {agent}",
                self.format.name()
            )));
        }
        match self.agents.first() {
            Some(first) if first.as_str() != agent => Err(SpecError::Value(format!(
                "expect \"{text}\": the test is about the first agent, {first}"
            ))),
            _ => Ok(()),
        }
    }

    /// The settings of its format with all defaults filled in.
    ///
    /// # Errors
    /// [`SpecError::Value`] where they do not go with the rest of the spec.
    pub fn settings(&self) -> Result<Option<Settings>, SpecError> {
        Settings::resolve(self.format, &self.tables, self.blocks, &self.agents)
    }
}

fn toml_error(error: toml::de::Error) -> SpecError {
    SpecError::Toml(error.to_string().trim_end().to_owned())
}

/// Refuses a key that is not known; `place` is ` in [play]` and the like, or
/// empty at the top.
///
/// # Errors
/// [`SpecError::UnknownKey`] with the nearest known key.
pub fn check_keys(table: &toml::Table, known: &[&str], place: &str) -> Result<(), SpecError> {
    match table.keys().find(|key| !known.contains(&key.as_str())) {
        None => Ok(()),
        Some(key) => Err(SpecError::UnknownKey {
            key: key.clone(),
            place: place.to_owned(),
            nearest: nearest(key, known.iter().copied()),
            known: known.iter().map(|&key| key.to_owned()).collect(),
        }),
    }
}

/// Reads a seed in quotes, or a whole number without.
///
/// # Errors
/// Where it is neither.
pub fn seed<'de, D: Deserializer<'de>>(from: D) -> Result<Option<TournamentSeed>, D::Error> {
    #[derive(Deserialize)]
    #[serde(
        untagged,
        expecting = "a seed must be text such as \"0x5eed\", or a number of at least 0"
    )]
    enum Written {
        Text(String),
        Number(u64),
    }
    let text = match Written::deserialize(from)? {
        Written::Text(text) => text,
        Written::Number(number) => format!("{number:#x}"),
    };
    text.parse().map(Some).map_err(serde::de::Error::custom)
}

#[cfg(test)]
mod tests;
