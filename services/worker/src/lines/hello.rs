//! The description of an agent that speaks lines.

use std::collections::BTreeMap;

use arena_wire::v1;
use serde::{Deserialize, de::DeserializeOwned};

/// The version that this worker speaks.
pub(super) const PROTOCOL: u32 = 1;

/// Reads a `hello`.
pub(super) fn read(line: &[u8]) -> Result<v1::DescribeResponse, String> {
    let hello: Hello = fields(line)?;
    if !(1..=PROTOCOL).contains(&hello.protocol) {
        let version = hello.protocol;
        return Err(format!(
            "protocol {version} is unknown, this Arena speaks {PROTOCOL}"
        ));
    }
    Ok(hello.into())
}

#[derive(Debug, Deserialize)]
struct Hello {
    protocol: u32,
    #[serde(default)]
    name: String,
    #[serde(default)]
    version: String,
    #[serde(default)]
    author: String,
    #[serde(default)]
    bots: Vec<Bot>,
    #[serde(default)]
    batch_size: u32,
    #[serde(default)]
    omit_move_details: bool,
    #[serde(default)]
    sticky: bool,
    #[serde(default)]
    concurrent: bool,
}

#[derive(Debug, Deserialize)]
struct Bot {
    name: String,
    #[serde(default)]
    summary: String,
    #[serde(default)]
    rulesets: Vec<String>,
    #[serde(default)]
    deterministic: bool,
    uses_seed: Option<UsesSeed>,
    #[serde(default)]
    options: Vec<BotOption>,
    /// Values by ruleset and option.
    #[serde(default)]
    required_options: BTreeMap<String, BTreeMap<String, String>>,
    #[serde(default)]
    perfect_information: bool,
}

#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
enum UsesSeed {
    Yes,
    No,
}

impl TryFrom<String> for UsesSeed {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match &*text {
            "yes" => Ok(Self::Yes),
            "no" => Ok(Self::No),
            _ => Err(format!("\"{text}\" is neither \"yes\" nor \"no\"")),
        }
    }
}

#[derive(Debug, Deserialize)]
struct BotOption {
    name: String,
    #[serde(default)]
    summary: String,
    #[serde(rename = "type")]
    kind: OptionType,
    default_value: String,
    #[serde(default)]
    min: String,
    #[serde(default)]
    max: String,
    #[serde(default)]
    choices: Vec<String>,
    #[serde(default)]
    length: u32,
    #[serde(default)]
    rulesets: Vec<String>,
    #[serde(default)]
    uses_seed: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum OptionType {
    Bool,
    Integer,
    Real,
    Choice,
    Text,
    Numbers,
}

impl From<Hello> for v1::DescribeResponse {
    fn from(hello: Hello) -> Self {
        Self {
            name: hello.name,
            version: hello.version,
            author: hello.author,
            bots: hello.bots.into_iter().map(Into::into).collect(),
            batch_size: hello.batch_size,
            omit_move_details: hello.omit_move_details,
            sticky: hello.sticky,
            concurrent: hello.concurrent,
        }
    }
}

impl From<Bot> for v1::Bot {
    fn from(bot: Bot) -> Self {
        let uses_seed = match bot.uses_seed {
            None => v1::SeedUse::Unspecified,
            Some(UsesSeed::Yes) => v1::SeedUse::Yes,
            Some(UsesSeed::No) => v1::SeedUse::No,
        };
        let required = { bot.required_options.into_iter() }.flat_map(|(ruleset, values)| {
            values
                .into_iter()
                .map(move |(name, value)| v1::RequiredOption {
                    ruleset: ruleset.clone(),
                    name,
                    value,
                })
        });
        Self {
            name: bot.name,
            summary: bot.summary,
            rulesets: bot.rulesets,
            options: bot.options.into_iter().map(Into::into).collect(),
            deterministic: bot.deterministic,
            uses_seed: uses_seed.into(),
            required_options: required.collect(),
            perfect_information: bot.perfect_information,
        }
    }
}

impl From<BotOption> for v1::BotOption {
    fn from(option: BotOption) -> Self {
        let kind = match option.kind {
            OptionType::Bool => v1::OptionType::Bool,
            OptionType::Integer => v1::OptionType::Integer,
            OptionType::Real => v1::OptionType::Real,
            OptionType::Choice => v1::OptionType::Choice,
            OptionType::Text => v1::OptionType::Text,
            OptionType::Numbers => v1::OptionType::Numbers,
        };
        Self {
            name: option.name,
            summary: option.summary,
            r#type: kind.into(),
            default_value: option.default_value,
            min: option.min,
            max: option.max,
            choices: option.choices,
            length: option.length,
            rulesets: option.rulesets,
            uses_seed: option.uses_seed,
        }
    }
}

/// Reads the fields of a message. An error has the name of the field.
pub(super) fn fields<T: DeserializeOwned>(line: &[u8]) -> Result<T, String> {
    serde_json::from_slice(line).map_err(|error| {
        // Read again, since a path costs time.
        let mut again = serde_json::Deserializer::from_slice(line);
        match serde_path_to_error::deserialize::<_, T>(&mut again) {
            Err(error) => error.to_string(),
            Ok(_) => error.to_string(),
        }
    })
}
