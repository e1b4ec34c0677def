//! A tournament as its user writes it: TOML, unknown keys refused.

use std::time::Duration;

use arena_engine::{
    FaultPolicy,
    options::{Options, Value, nearest},
};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use crate::format::Format;
use crate::{
    expect::{Expectation, Sentences},
    format::{self, Settings, Tables},
    name::AgentName,
    seed::TournamentSeed,
};

/// A spec that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// Not TOML, or a value of the wrong type.
    #[error("{0}")]
    Toml(String),
    /// A key that does not exist.
    #[error("unknown key \"{key}\"{place}{}", did_you_mean(nearest.as_ref(), known))]
    UnknownKey {
        /// The key.
        key: String,
        /// ` in [play]` and the like; empty at the top.
        place: String,
        /// The known key nearest to it.
        nearest: Option<String>,
        /// All keys there.
        known: Vec<String>,
    },
    /// A value out of its range, or values that do not go together.
    #[error("{0}")]
    Value(String),
}

fn did_you_mean(nearest: Option<&String>, known: &[String]) -> String {
    nearest.map_or_else(
        || format!("; known keys are {}", known.join(", ")),
        |nearest| format!(", did you mean \"{nearest}\"?"),
    )
}

/// How decisions are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Timing {
    /// Many at a time.
    #[default]
    Throughput,
    /// One at a time to each agent process, each one timed.
    Strict,
}

/// What is kept of a finished game. It changes no record, and so is no part of
/// a tournament's identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Records {
    /// All of it.
    #[default]
    Full,
    /// Result, hash and seed, without chance outcomes and moves: who wants a
    /// game back has it played again.
    Hash,
}

impl Records {
    /// As specs write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Hash => "hash",
        }
    }
}

impl<'de> Deserialize<'de> for Records {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let all = [Self::Full, Self::Hash];
        let known = all.into_iter().find(|records| records.name() == text);
        known.ok_or_else(|| {
            let hint = nearest(&text, all.map(Self::name)).map_or_else(
                || "use \"full\" or \"hash\"".to_owned(),
                |nearest| format!("did you mean \"{nearest}\"?"),
            );
            serde::de::Error::custom(format!("records = \"{text}\" is not known, {hint}"))
        })
    }
}

/// How games are played.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Play {
    /// Every rotation of the seats.
    pub rotate: bool,
    /// Rotations share their dice.
    pub paired: bool,
    /// Seeded uniform moves at the start of each game.
    pub opening_plies: u32,
    /// How decisions are sent.
    pub timing: Timing,
    /// Time for one decision.
    #[serde(with = "duration")]
    pub move_timeout: Duration,
    /// What a fault costs.
    #[serde(with = "fault_policy")]
    pub on_fault: FaultPolicy,
    /// Ask also where only one move is legal.
    pub ask_forced: bool,
}

impl Default for Play {
    fn default() -> Self {
        Self {
            rotate: true,
            paired: true,
            opening_plies: 0,
            timing: Timing::Throughput,
            move_timeout: Duration::from_secs(2),
            on_fault: FaultPolicy::Forfeit,
            ask_forced: false,
        }
    }
}

/// A variant of a bot, made for one tournament.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// What the tournament calls it.
    pub name: AgentName,
    /// The bot.
    pub bot: String,
    /// The registered process that offers the bot; none: the native bots.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<AgentName>,
    /// Values that differ from the bot's defaults.
    #[serde(default, skip_serializing_if = "Options::is_empty")]
    pub options: Options,
}

/// A tournament as its user writes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Name of the tournament.
    pub name: AgentName,
    /// Name of the ruleset.
    pub ruleset: String,
    /// Drawn where absent.
    #[serde(
        default,
        deserialize_with = "seed",
        skip_serializing_if = "Option::is_none"
    )]
    pub seed: Option<TournamentSeed>,
    /// Who plays whom.
    #[serde(default, deserialize_with = "format_name")]
    pub format: Format,
    /// Blocks for each group.
    #[serde(default = "default_blocks")]
    pub blocks: u64,
    /// Players of a game; the ruleset's least number where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seats: Option<usize>,
    /// What is kept of a game.
    #[serde(default)]
    pub records: Records,
    /// Names: registered agents, native bots, or variants below.
    pub agents: Vec<AgentName>,
    /// What is expected of the outcome; it changes none.
    #[serde(default, skip_serializing_if = "Sentences::is_empty")]
    pub expect: Sentences,
    /// Options of the ruleset.
    #[serde(default, skip_serializing_if = "Options::is_empty")]
    pub options: Options,
    /// Variants.
    #[serde(default, rename = "agent", skip_serializing_if = "Vec::is_empty")]
    pub variants: Vec<Variant>,
    /// How games are played.
    #[serde(default)]
    pub play: Play,
    /// What is set of the format.
    #[serde(flatten)]
    pub tables: Tables,
}

fn default_blocks() -> u64 {
    100
}

const KEYS: &[&str] = &[
    "name", "ruleset", "seed", "format", "blocks", "seats", "records", "agents", "options",
    "agent", "play", "expect", "gauntlet", "sprt", "swiss", "knockout", "ladder", "fixed",
];
/// All keys of `[play]`.
pub const PLAY_KEYS: &[&str] = &[
    "rotate",
    "paired",
    "opening_plies",
    "timing",
    "move_timeout",
    "on_fault",
    "ask_forced",
];
const VARIANT_KEYS: &[&str] = &["name", "bot", "from", "options"];

/// The most blocks of a group, so that a schedule's size fits 64 bits.
const BLOCKS_MAX: u64 = 1_000_000_000;

impl Spec {
    /// Reads a spec.
    ///
    /// # Errors
    /// [`SpecError`] at the first thing that is wrong; messages of the TOML
    /// reader tell line and column.
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        let table: toml::Table = text.parse().map_err(toml_error)?;
        check_keys(&table, KEYS, "")?;
        if let Some(toml::Value::Table(play)) = table.get("play") {
            check_keys(play, PLAY_KEYS, " in [play]")?;
        }
        if let Some(toml::Value::Array(variants)) = table.get("agent") {
            for variant in variants.iter().filter_map(toml::Value::as_table) {
                check_keys(variant, VARIANT_KEYS, " in [[agent]]")?;
            }
        }
        for (name, keys) in format::TABLES {
            if let Some(toml::Value::Table(table)) = table.get(name) {
                check_keys(table, keys, &format!(" in [{name}]"))?;
            }
        }
        // Of what is flattened into a spec the reader would not tell the place.
        toml::from_str::<Tables>(text).map_err(toml_error)?;
        let spec: Self = toml::from_str(text).map_err(toml_error)?;
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
        if self.play.opening_plies > 1000 {
            return fail(format!(
                "opening_plies = {}: must be from 0 to 1000",
                self.play.opening_plies
            ));
        }
        let timeout = self.play.move_timeout;
        if timeout < Duration::from_millis(1) || timeout > Duration::from_secs(86_400) {
            return fail("move_timeout must be from \"1ms\" to \"24h\"".to_owned());
        }
        for (place, name) in self.agents.iter().enumerate() {
            if self.agents[..place].contains(name) {
                return fail(format!(
                    "agent \"{name}\" is listed twice: give the second one a name of its own in an [[agent]] table"
                ));
            }
        }
        for (place, variant) in self.variants.iter().enumerate() {
            if self.variants[..place]
                .iter()
                .any(|other| other.name == variant.name)
            {
                return fail(format!("[[agent]] \"{}\" is defined twice", variant.name));
            }
            if !self.agents.contains(&variant.name) {
                return fail(format!(
                    "[[agent]] \"{}\" is defined but not listed in agents",
                    variant.name
                ));
            }
        }
        for (name, value) in self.options.iter().chain(
            self.variants
                .iter()
                .flat_map(|variant| variant.options.iter()),
        ) {
            let finite = match value {
                Value::Real(value) => value.is_finite(),
                Value::Numbers(values) => values.iter().all(|value| value.is_finite()),
                Value::Bool(_) | Value::Int(_) | Value::Text(_) => true,
            };
            if !finite {
                return fail(format!("option \"{name}\" must be a finite number"));
            }
        }
        self.expectations()?;
        self.settings().map(drop)
    }

    /// What is expected of the outcome, understood.
    ///
    /// # Errors
    /// [`SpecError::Value`] with what in a sentence is wrong.
    pub fn expectations(&self) -> Result<Vec<Expectation>, SpecError> {
        self.expect.read(&self.agents)
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

/// Reads the name of a format.
fn format_name<'de, D: Deserializer<'de>>(from: D) -> Result<Format, D::Error> {
    let text = String::deserialize(from)?;
    let known = Format::ALL.into_iter().find(|format| format.name() == text);
    known.ok_or_else(|| {
        let names = Format::ALL.map(Format::name);
        let hint = nearest(&text, names).map_or_else(
            || format!("use one of {}", names.join(", ")),
            |nearest| format!("did you mean \"{nearest}\"?"),
        );
        serde::de::Error::custom(format!("format = \"{text}\" is not known, {hint}"))
    })
}

/// Reads a seed in quotes, or a whole number without.
///
/// # Errors
/// Where it is neither.
pub fn seed<'de, D: Deserializer<'de>>(from: D) -> Result<Option<TournamentSeed>, D::Error> {
    #[derive(Deserialize)]
    #[serde(
        untagged,
        expecting = "a seed is text such as \"0x5eed\", or a number from 0 on"
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

/// Durations as people write them: `500ms`, `2s`, `1m 30s`.
mod duration {
    use super::{Deserialize, Deserializer, Duration, Serializer};

    pub(super) fn serialize<S: Serializer>(value: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&humantime::format_duration(*value))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        let text = String::deserialize(from)?;
        humantime::parse_duration(&text).map_err(|_| {
            serde::de::Error::custom(format!(
                "\"{text}\" is not a duration, write for example \"2s\" or \"500ms\""
            ))
        })
    }
}

mod fault_policy {
    use serde::de::Error as _;

    use super::{Deserialize, Deserializer, FaultPolicy, Serializer};

    pub(super) fn serialize<S: Serializer>(value: &FaultPolicy, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(match value {
            FaultPolicy::Forfeit => "forfeit",
            FaultPolicy::RandomMove => "random-move",
        })
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<FaultPolicy, D::Error> {
        match String::deserialize(from)?.as_str() {
            "forfeit" => Ok(FaultPolicy::Forfeit),
            "random-move" => Ok(FaultPolicy::RandomMove),
            other => Err(D::Error::custom(format!(
                "on_fault = \"{other}\" is not known: use \"forfeit\" or \"random-move\""
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAST: &str = "name = \"t\"\nruleset = \"kalah\"\nagents = [\"a\", \"b\"]\n";

    #[test]
    fn what_a_spec_leaves_out_has_the_documented_default() {
        let spec = Spec::parse(LEAST).expect("a spec");
        assert_eq!(spec.seed, None);
        assert_eq!(spec.blocks, 100);
        assert_eq!(spec.seats, None);
        assert_eq!(spec.format, Format::RoundRobin);
        assert!(spec.play.rotate && spec.play.paired && !spec.play.ask_forced);
        assert_eq!(spec.play.move_timeout, Duration::from_secs(2));
        assert_eq!(spec.play.on_fault, FaultPolicy::Forfeit);
        assert_eq!(spec.play.timing, Timing::Throughput);
        assert_eq!(spec.records, Records::Full);
    }

    #[test]
    fn a_spec_is_read_back_as_it_was_written() {
        let text = format!(
            "{LEAST}seed = 0x5eed\nblocks = 7\nrecords = \"hash\"\n[options]\npits = 4\n\
             [[agent]]\nname = \"b\"\nbot = \"x\"\nfrom = \"p\"\noptions = {{ depth = 3, w = 0.5 }}\n\
             [play]\nmove_timeout = \"250ms\"\non_fault = \"random-move\"\ntiming = \"strict\"\n"
        );
        let spec = Spec::parse(&text).expect("a spec");
        assert_eq!(spec.seed.expect("a seed").to_string(), "0x5eed");
        assert_eq!(spec.records, Records::Hash);
        assert_eq!(Spec::parse(&spec.to_toml()).expect("a spec"), spec);
    }

    #[test]
    fn expectations_are_read_back_as_they_were_written() {
        for written in [
            "expect = [\"a beats b at 95 %\", \"no faults\"]\n",
            "[expect]\nsound = \"no faults\"\nstrong = \"a beats b at 95 %\"\n",
        ] {
            let spec = Spec::parse(&format!("{LEAST}{written}[options]\npits = 4\n"));
            let spec = spec.expect("a spec");
            assert_eq!(spec.expectations().map(|all| all.len()), Ok(2));
            assert_eq!(Spec::parse(&spec.to_toml()).expect("a spec"), spec);
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let cases = [
            (
                "blcoks = 3",
                "unknown key \"blcoks\", did you mean \"blocks\"?",
            ),
            (
                "[play]\nrotat = true",
                "unknown key \"rotat\" in [play], did you mean \"rotate\"?",
            ),
            (
                "[[agent]]\nname = \"b\"\nbot = \"x\"\nform = \"p\"",
                "unknown key \"form\" in [[agent]], did you mean \"from\"?",
            ),
            ("blocks = 0", "blocks = 0: must be from 1 to 1000000000"),
            ("blocks = \"many\"", "expected u64"),
            ("seed = \"five\"", "\"five\" is not a seed"),
            ("seed = -1", "a seed is text"),
            (
                "format = \"swizz\"",
                "format = \"swizz\" is not known, did you mean \"swiss\"?",
            ),
            (
                "records = \"hahs\"",
                "records = \"hahs\" is not known, did you mean \"hash\"?",
            ),
            ("records = \"none\"", "use \"full\" or \"hash\""),
            (
                "record = \"hash\"",
                "unknown key \"record\", did you mean \"records\"?",
            ),
            ("[play]\nmove_timeout = \"2\"", "\"2\" is not a duration"),
            ("[play]\nmove_timeout = \"0s\"", "move_timeout must be from"),
            (
                "[play]\non_fault = \"shrug\"",
                "on_fault = \"shrug\" is not known",
            ),
            ("[play]\nopening_plies = 1001", "must be from 0 to 1000"),
            (
                "[[agent]]\nname = \"c\"\nbot = \"x\"",
                "defined but not listed",
            ),
            ("[options]\npits = nan", "must be a finite number"),
            (
                "expect = [\"a beats c by 5 elo\"]",
                "expect \"a beats c by 5 elo\": there is no agent \"c\"",
            ),
            ("[expect]\nstrong = \"a bets b\"", "did you mean \"beats\"?"),
            ("[expect]\nstrong = 5", "a list of sentences, or a table"),
        ];
        for (line, expected) in cases {
            let error = Spec::parse(&format!("{LEAST}{line}\n")).expect_err(line);
            assert!(error.to_string().contains(expected), "{line}: {error}");
        }
        let twice = LEAST.replace("\"b\"", "\"a\"");
        let error = Spec::parse(&twice).expect_err("one name twice");
        assert!(error.to_string().contains("listed twice"), "{error}");
    }
}
