//! Rulesets with their options and presets.

use arena_engine::options::{Kind, Preset, Spec};
use arena_games::RulesetInfo;
use arena_model::{
    Returns, ReturnsOfSeats,
    rules::{Information, RulesDescription},
};
use arena_wire::v1;
use itertools::Itertools;
use serde_json::{Value, json};

use crate::{
    error::{ReportError, Result},
    listing::Listing,
};

/// Number of digits of a digest that are shown.
pub const CONTENT_SHOWN: usize = 12;

/// What a ruleset says of itself.
pub struct About<'a> {
    /// Its name.
    pub name: &'a str,
    /// The version of the rules.
    pub version: u32,
    /// What the game is, in a sentence.
    pub summary: &'a str,
    /// The fewest and the most seats.
    pub seats: (usize, usize),
    /// Its options.
    pub options: &'a [Spec],
    /// Named values of its options.
    pub presets: &'a [Preset],
    /// What seats see of a game.
    pub information: Information,
    /// The bounds of returns, by the number of seats.
    pub returns: &'a [ReturnsOfSeats],
}

impl<'a> From<&'a RulesetInfo> for About<'a> {
    fn from(info: &'a RulesetInfo) -> Self {
        Self {
            name: info.name,
            version: info.version,
            summary: info.summary,
            seats: info.seats,
            options: &info.options,
            presets: &info.presets,
            information: Information::Perfect,
            returns: &[],
        }
    }
}

impl About<'_> {
    /// The ruleset for a reader, in a table of at most this width.
    #[must_use]
    pub fn text(&self, width: Option<usize>) -> String {
        let mut text = format!(
            "{} (rules version {}): {}\nseats: {}\n{}{}\n",
            self.name,
            self.version,
            self.summary,
            seats(self.seats),
            match self.information {
                Information::Perfect => "",
                Information::Hidden =>
                    "information: hidden, an agent sees the positions of its own decisions\n",
            },
            self.returns.iter().map(bounds).collect::<String>()
        );
        text += &options(self.options).table(width);
        for preset in self.presets {
            let Preset { name, summary, .. } = preset;
            let seats = preset.seats.map(|seats| format!(" ({seats} seats)"));
            let seats = seats.unwrap_or_default();
            let values = preset.options.iter();
            let values = values
                .map(|(name, value)| format!("{name}={value}"))
                .join(" ");
            text += &format!("\npreset \"{name}\": {summary}{seats}\n  {values}\n");
        }
        text
    }
}

/// A line with the bounds of returns.
fn bounds(of: &ReturnsOfSeats) -> String {
    let Returns { min, max, parts } = of.returns;
    let seats = of.seats.map(|seats| format!(" with {seats} seats"));
    let parts = (parts > 1).then(|| format!(", in parts of 1/{parts}"));
    format!(
        "returns: {min} to {max}{}{}\n",
        seats.unwrap_or_default(),
        parts.unwrap_or_default()
    )
}

/// A number of seats, or a range of them.
#[must_use]
pub fn seats(seats: (usize, usize)) -> String {
    match seats {
        (least, most) if least == most => least.to_string(),
        (least, most) => format!("{least} to {most}"),
    }
}

/// The rulesets of this program.
#[must_use]
pub fn listing() -> Listing<Value> {
    let row = |info: &RulesetInfo| {
        let row = vec![
            info.name.to_owned(),
            info.version.to_string(),
            seats(info.seats),
            info.options.len().to_string(),
            info.presets.iter().map(|preset| &preset.name).join(" "),
            info.summary.to_owned(),
        ];
        (row, describe(&About::from(info)))
    };
    Listing {
        header: vec!["ruleset", "version", "seats", "options", "presets", "what"],
        rows: arena_games::rulesets().iter().map(row).collect(),
        empty: "there are no rulesets",
    }
}

/// The options of a ruleset.
#[must_use]
pub fn options(options: &[Spec]) -> Listing<Value> {
    let row = |option: &Spec| {
        let row = vec![
            option.name.clone(),
            option.default.to_string(),
            option.kind.to_string(),
            option.summary.clone(),
        ];
        (row, Value::Null)
    };
    Listing {
        header: vec!["option", "default", "values", "what"],
        rows: options.iter().map(row).collect(),
        empty: "it has no options",
    }
}

/// A ruleset, for programs.
#[must_use]
pub fn describe(about: &About<'_>) -> Value {
    let option = |option: &Spec| {
        let mut value = json!({
            "name": option.name,
            "default": option.default,
            "values": option.kind.to_string(),
            "summary": option.summary,
        });
        match &option.kind {
            Kind::Int { min, max } => {
                value["min"] = json!(min);
                value["max"] = json!(max);
            }
            Kind::Choice(words) => value["choices"] = json!(words),
            _ => {}
        }
        value
    };
    let preset = |preset: &Preset| {
        json!({
            "name": preset.name,
            "summary": preset.summary,
            "options": preset.options,
            "seats": preset.seats,
        })
    };
    json!({
        "ruleset": about.name,
        "version": about.version,
        "summary": about.summary,
        "seats_min": about.seats.0,
        "seats_max": about.seats.1,
        "information": about.information,
        "returns": about.returns,
        "options": about.options.iter().map(option).collect::<Vec<_>>(),
        "presets": about.presets.iter().map(preset).collect::<Vec<_>>(),
    })
}

/// Registered rulesets, for people and programs.
pub fn registered(rulesets: Vec<v1::Ruleset>) -> Result<Listing<Value>> {
    let row = |ruleset: v1::Ruleset| {
        let rules = ruleset.rules.unwrap_or_default();
        let description =
            RulesDescription::parse(&rules.description).map_err(ReportError::failed)?;
        let loaded = rules.loaded.iter();
        let loaded = loaded.map(|it| json!({"name": it.name, "sha256": hex::encode(&it.sha256)}));
        let loaded: Vec<_> = loaded.collect();
        let document = json!({
            "ruleset": ruleset.name,
            "version": description.version,
            "rules_digest": rules.digest,
            "loaded": loaded,
            "owner": ruleset.owner,
            "registered_unix_us": ruleset.registered_unix_us,
            "description": description,
        });
        let row = vec![
            ruleset.name,
            description.version.to_string(),
            seats(description.seats),
            rules.digest.chars().take(CONTENT_SHOWN).collect(),
            description.summary,
        ];
        Ok((row, document))
    };
    Ok(Listing {
        header: vec!["ruleset", "version", "seats", "content", "what"],
        rows: rulesets.into_iter().map(row).collect::<Result<_>>()?,
        empty: "no ruleset is registered; see `arena rulesets` for those of Arena",
    })
}
