//! `[play]`: how the games of a tournament are played.

use std::time::Duration;

use arena_engine::FaultPolicy;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::SpecError;

/// How decisions are sent.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Timing {
    /// Many at a time, in batches.
    #[default]
    Throughput,
    /// One at a time to each agent process, each one timed.
    Strict,
}

/// Consequence of a fault.
#[cfg(test)]
#[derive(schemars::JsonSchema)]
#[schemars(rename_all = "kebab-case")]
#[expect(dead_code, reason = "the schema alone needs it")]
enum FaultPolicyName {
    Forfeit,
    RandomMove,
}

/// How games are played.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Play {
    /// Play every rotation of the seats.
    pub rotate: bool,
    /// Let the rotations of a block share their dice.
    pub paired: bool,
    /// Moves of the opening; default: as many as a ruleset without chance needs, else none.
    #[cfg_attr(test, schemars(range(max = 1000)))]
    #[serde(
        deserialize_with = "super::some_whole::<0, u32, _>",
        skip_serializing_if = "Option::is_none"
    )]
    pub opening_plies: Option<u32>,
    /// How decisions are sent.
    pub timing: Timing,
    /// Time for one decision, such as "2s" or "500ms".
    #[cfg_attr(test, schemars(with = "String"))]
    #[serde(with = "duration")]
    pub move_timeout: Duration,
    /// Consequence of a fault: "forfeit" or "random-move".
    #[cfg_attr(test, schemars(with = "FaultPolicyName"))]
    #[serde(with = "fault_policy")]
    pub on_fault: FaultPolicy,
    /// Ask agents even if only one move is legal.
    pub ask_forced: bool,
    /// Share of games that another worker plays again for comparison; default: that of the
    /// coordinator. It changes no record.
    #[cfg_attr(test, schemars(range(min = 0.0, max = 1.0)))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audit_share: Option<f64>,
}

impl Default for Play {
    fn default() -> Self {
        Self {
            rotate: true,
            paired: true,
            opening_plies: None,
            timing: Timing::Throughput,
            move_timeout: Duration::from_secs(2),
            on_fault: FaultPolicy::Forfeit,
            ask_forced: false,
            audit_share: None,
        }
    }
}

/// The settings of [`Play`] that a single game depends on. It needs its seed and the
/// opening of its record too, and no other setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GamePlay {
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

impl From<&Play> for GamePlay {
    fn from(play: &Play) -> Self {
        Self {
            timing: play.timing,
            move_timeout: play.move_timeout,
            on_fault: play.on_fault,
            ask_forced: play.ask_forced,
        }
    }
}

/// All keys of `[play]`.
pub const PLAY_KEYS: &[&str] = &[
    "rotate",
    "paired",
    "opening_plies",
    "timing",
    "move_timeout",
    "on_fault",
    "ask_forced",
    "audit_share",
];

impl Play {
    pub(super) fn check(&self) -> Result<(), SpecError> {
        if let Some(plies @ 1001..) = self.opening_plies {
            return Err(SpecError::Value(format!(
                "opening_plies = {plies}: must be from 0 to 1000"
            )));
        }
        let timeout = self.move_timeout;
        if timeout < Duration::from_millis(1) || timeout > Duration::from_secs(86_400) {
            return Err(SpecError::Value(
                "move_timeout must be from \"1ms\" to \"24h\"".to_owned(),
            ));
        }
        if let Some(share) = self.audit_share
            && !(0.0..=1.0).contains(&share)
        {
            return Err(SpecError::Value(format!(
                "audit_share = {share}: must be from 0 to 1"
            )));
        }
        Ok(())
    }
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
                "\"{text}\" is not a duration; expected for example \"2s\" or \"500ms\""
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
                "unknown value on_fault = \"{other}\": use \"forfeit\" or \"random-move\""
            ))),
        }
    }
}
