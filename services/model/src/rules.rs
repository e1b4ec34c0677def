//! Rules that are a package: what they say of themselves, and what is needed of them without
//! starting them. `services/games/PROTOCOL.md` describes all fields.

use arena_engine::{
    MAX_SEATS, StatedGame,
    options::{self, Kind, OptionError, Options, Preset, Spec, Value, coerce, resolve_seats},
};
use serde::{Deserialize, Serialize};

use crate::{
    printable::{is_hidden, is_variation_selector},
    returns::{Returns, ReturnsOfSeats},
};

/// The version of the protocol for rules.
pub const RULES_PROTOCOL: u32 = 1;
/// How `mcts` plays rules that are a package. Workers name it when they join, as the ruleset
/// `@package-search`.
pub const PACKAGE_SEARCH_VERSION: u32 = 1;
/// The version of wide ids that workers name when they join, as the ruleset `@wide-ids`.
pub const WIDE_IDS_VERSION: u32 = 1;
/// Maximum bytes of a state.
pub const STATE_BYTES_MAX: usize = 64 << 10;
/// Maximum number of events of a game.
pub const EVENTS_MAX: u32 = 20_000;
/// Maximum bytes of a notation.
pub const NOTATION_BYTES_MAX: usize = 32;
/// Maximum number of options, of presets, and of words of a choice.
const LIST_MAX: usize = 256;
/// Maximum bytes of a name or a summary.
const TEXT_BYTES_MAX: usize = 400;

/// Why rules are not accepted.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RulesError {
    /// The description is invalid.
    #[error("the description of the rules: {0}")]
    Description(String),
    /// Options are invalid.
    #[error("ruleset {ruleset}: {error}")]
    Options {
        /// The name of the ruleset.
        ruleset: String,
        /// The problem.
        #[source]
        error: OptionError,
    },
}

/// What rules say of themselves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RulesDescription {
    /// Version of the protocol.
    pub protocol: u32,
    /// Its own name, for people.
    pub name: String,
    /// Version of the rules.
    pub version: u32,
    /// A description in one line.
    #[serde(default)]
    pub summary: String,
    /// Minimum and maximum number of seats.
    pub seats: (usize, usize),
    /// Its options.
    #[serde(default)]
    pub options: Vec<RulesOption>,
    /// Named sets of options.
    #[serde(default)]
    pub presets: Vec<RulesPreset>,
    /// True if some position is a chance node.
    #[serde(default)]
    pub chance: bool,
    /// True if every node has values.
    #[serde(default)]
    pub values: bool,
    /// True if it draws states.
    #[serde(default)]
    pub draws: bool,
    /// What seats see.
    #[serde(default, skip_serializing_if = "Information::is_perfect")]
    pub information: Information,
    /// True if its actions have ids beyond those of Arena, which then has their places instead.
    #[serde(default, skip_serializing_if = "is_false")]
    pub wide_ids: bool,
    /// The bounds of its returns; empty: games have ranks alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub returns: Vec<ReturnsOfSeats>,
    /// Maximum number of events of a game: chance outcomes and actions.
    #[serde(default = "events_max")]
    pub events_max: u32,
    /// Maximum bytes of a state.
    #[serde(default = "state_bytes_max")]
    pub state_bytes_max: usize,
}

/// What a seat sees of a game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", try_from = "serde_json::Value")]
pub enum Information {
    /// Everything: all seats see the same.
    #[default]
    Perfect,
    /// A part: the positions of its own decisions.
    Hidden,
}

impl TryFrom<serde_json::Value> for Information {
    type Error = String;

    fn try_from(value: serde_json::Value) -> Result<Self, String> {
        match value.as_str() {
            Some("perfect") => Ok(Self::Perfect),
            Some("hidden") => Ok(Self::Hidden),
            _ => Err(format!(
                "information is {value}, but has to be \"perfect\" or \"hidden\""
            )),
        }
    }
}

impl Information {
    /// The version of hidden information that workers name when they join, as the ruleset `@hidden`.
    pub const VERSION: u32 = 1;

    /// True if all seats see everything.
    #[must_use]
    pub fn is_perfect(&self) -> bool {
        *self == Self::Perfect
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde wants it")]
fn is_false(value: &bool) -> bool {
    !value
}

fn events_max() -> u32 {
    EVENTS_MAX
}

fn state_bytes_max() -> usize {
    STATE_BYTES_MAX
}

/// An option.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RulesOption {
    /// Lower-case words joined by underscores.
    pub name: String,
    /// A description in one line.
    #[serde(default)]
    pub summary: String,
    /// Its type.
    #[serde(flatten)]
    pub kind: RulesOptionKind,
    /// Its default.
    pub default: Value,
}

/// The type of an option.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum RulesOptionKind {
    /// `true` or `false`.
    Bool,
    /// A whole number within inclusive bounds.
    Integer {
        /// Minimum.
        min: i64,
        /// Maximum.
        max: i64,
    },
    /// One of some words.
    Choice {
        /// The words.
        choices: Vec<String>,
    },
}

/// A named set of options.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RulesPreset {
    /// Lower-case words joined by underscores.
    pub name: String,
    /// A description in one line.
    #[serde(default)]
    pub summary: String,
    /// The values that it sets.
    #[serde(default)]
    pub options: Options,
    /// Its number of seats; none: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seats: Option<usize>,
}

/// True for a notation of an action or a chance outcome: ASCII without spaces, quotes and
/// backslashes, because records contain it as it is.
#[must_use]
pub fn is_notation(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_graphic() && !b"\"'\\".contains(&byte);
    (1..=NOTATION_BYTES_MAX).contains(&text.len()) && text.bytes().all(fits)
}

fn is_name(text: &str) -> bool {
    let fits =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-".contains(&byte);
    (1..=40).contains(&text.len()) && text.bytes().all(fits)
}

/// True for a text of one line. It may have emojis, whose variation selectors are shown as escapes.
fn is_text(text: &str) -> bool {
    let is_refused = |c| is_hidden(c) && !is_variation_selector(c);
    text.len() <= TEXT_BYTES_MAX && !text.contains(is_refused)
}

impl RulesDescription {
    /// Reads the answer to `describe`. Unknown fields are ignored.
    ///
    /// # Errors
    /// [`RulesError::Description`].
    pub fn parse(text: &str) -> Result<Self, RulesError> {
        let parsed: Self = serde_json::from_str(text)
            .map_err(|error| RulesError::Description(error.to_string()))?;
        parsed.check().map_err(RulesError::Description)?;
        Ok(parsed)
    }

    /// The description as JSON, without unknown fields.
    #[must_use]
    pub fn to_json(&self) -> String {
        crate::canonical_json(self)
    }

    fn check(&self) -> Result<(), String> {
        let (least, most) = self.seats;
        let seats = format!("seats are {least} to {most}, but have to be within 2 to {MAX_SEATS}");
        let events = self.events_max;
        let bytes = self.state_bytes_max;
        let lists = [self.options.len(), self.presets.len()];
        let checks = [
            (
                self.protocol == RULES_PROTOCOL,
                format!(
                    "protocol {} is unknown, this Arena speaks {RULES_PROTOCOL}",
                    self.protocol
                ),
            ),
            (
                is_name(&self.name),
                format!("{:?} is no name: use a-z, 0-9, - and _", self.name),
            ),
            (
                is_text(&self.summary),
                "summary: not a short line".to_owned(),
            ),
            (2 <= least && least <= most && most <= MAX_SEATS, seats),
            (
                (1..=EVENTS_MAX).contains(&events),
                format!("events_max is {events}, but has to be within 1 to {EVENTS_MAX}"),
            ),
            (
                (1..=STATE_BYTES_MAX).contains(&bytes),
                format!("state_bytes_max is {bytes}, but has to be within 1 to {STATE_BYTES_MAX}"),
            ),
            (
                lists.iter().all(|&length| length <= LIST_MAX),
                format!("more than {LIST_MAX} options or presets"),
            ),
        ];
        if let Some((_, problem)) = checks.into_iter().find(|(holds, _)| !holds) {
            return Err(problem);
        }
        for bounds in &self.returns {
            bounds.returns.check()?;
        }
        let of = |seats| self.returns.iter().filter(move |it| it.are_of(seats));
        let is_known = |seats| of(seats).count() == 1;
        if !self.returns.is_empty()
            && let Some(seats) = (least..=most).find(|&seats| !is_known(seats))
        {
            let count = of(seats).count();
            return Err(format!(
                "returns: {count} entries are for games of {seats} seats; give one without \"seats\", \
                 or one for each number of seats"
            ));
        }
        let specs = self.options();
        for (place, (option, spec)) in self.options.iter().zip(&specs).enumerate() {
            let name = &option.name;
            let is_taken = self.options[..place].iter().any(|it| it.name == *name);
            let choices = match &option.kind {
                RulesOptionKind::Choice { choices } => &choices[..],
                RulesOptionKind::Bool | RulesOptionKind::Integer { .. } => &[],
            };
            let are_words = choices.len() <= LIST_MAX && choices.iter().all(|word| is_name(word));
            if !is_name(name) || name == "preset" || is_taken || !are_words {
                return Err(format!(
                    "options[{place}]: names and words are different ones of a-z, 0-9, - and _"
                ));
            }
            if !is_text(&option.summary) {
                return Err(format!(
                    "option \"{name}\": the summary is not a short line"
                ));
            }
            coerce(spec, &option.default).map_err(|error| error.to_string())?;
        }
        for (place, preset) in self.presets.iter().enumerate() {
            if !is_name(&preset.name) || !is_text(&preset.summary) {
                return Err(format!("presets[{place}]: no name or no short line"));
            }
            options::resolve(&specs, &[], &preset.options)
                .map_err(|error| format!("preset \"{}\": {error}", preset.name))?;
        }
        Ok(())
    }

    /// Its options.
    #[must_use]
    pub fn options(&self) -> Vec<Spec> {
        let spec = |option: &RulesOption| {
            let kind = match &option.kind {
                RulesOptionKind::Bool => Kind::Bool,
                &RulesOptionKind::Integer { min, max } => Kind::Int { min, max },
                RulesOptionKind::Choice { choices } => Kind::Choice(choices.clone()),
            };
            Spec::new(&option.name, kind, option.default.clone(), &option.summary)
        };
        self.options.iter().map(spec).collect()
    }

    /// Its presets.
    #[must_use]
    pub fn presets(&self) -> Vec<Preset> {
        let specs = self.options();
        let preset = |preset: &RulesPreset| {
            let all = options::resolve(&specs, &[], &preset.options).unwrap_or_default();
            let mut options = all;
            options.retain(|name, _| preset.options.contains_key(name));
            Preset {
                name: preset.name.clone(),
                summary: preset.summary.clone(),
                options,
                seats: preset.seats,
            }
        };
        self.presets.iter().map(preset).collect()
    }

    /// All options with their values, and the number of seats, for the ruleset of this name.
    ///
    /// # Errors
    /// [`RulesError::Options`].
    pub fn resolve(
        &self,
        ruleset: &str,
        given: &Options,
        seats: Option<usize>,
    ) -> Result<(Options, usize), RulesError> {
        let fail = |error| RulesError::Options {
            ruleset: ruleset.to_owned(),
            error,
        };
        let presets = self.presets();
        let resolved = options::resolve(&self.options(), &presets, given).map_err(fail)?;
        let seats = resolve_seats(ruleset, self.seats, &presets, given, seats).map_err(fail)?;
        Ok((resolved, seats))
    }

    /// The bounds of the returns of games with this number of seats.
    #[must_use]
    pub fn returns(&self, seats: usize) -> Option<Returns> {
        let found = self.returns.iter().find(|bounds| bounds.are_of(seats));
        found.map(|bounds| bounds.returns)
    }

    /// The game without its rules.
    #[must_use]
    pub fn stated_game(&self, seats: usize) -> StatedGame {
        StatedGame::new(self.version, seats, self.chance)
    }
}

#[cfg(test)]
mod tests;
