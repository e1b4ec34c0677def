//! The options of Kalah and the rules that follow from them.

use arena_engine::options::{Kind, OptionError, Options, Spec};

use super::PITS_MAX;
use crate::read::Reader;

/// When a last stone in an empty own pit captures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EmptyCapture {
    OppositeNonempty,
    Always,
    Never,
}

/// Who gets the remaining stones at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Remaining {
    Owner,
    Emptier,
    None,
}

/// The options in the form of the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KalahRules {
    pub(super) pits: usize,
    pub(super) stones: u8,
    pub(super) empty_capture: EmptyCapture,
    pub(super) remaining: Remaining,
    pub(super) early_stop: bool,
    pub(super) plies_max: u32,
}

/// All options with their types and defaults.
pub(super) fn specs() -> Vec<Spec> {
    let int = |min, max| Kind::Int { min, max };
    vec![
        Spec::new("pits", int(1, PITS_MAX as i64), 6i64, "pits of a side"),
        Spec::new("stones", int(1, 8), 4i64, "stones in each pit at the start"),
        Spec::new(
            "empty_capture",
            Kind::choice(&["opposite-nonempty", "always", "never"]),
            "opposite-nonempty",
            "whether a last stone in an empty own pit banks itself and the opposite pit: \
             where that has stones, always, or never",
        ),
        Spec::new(
            "remaining",
            Kind::choice(&["owner", "emptier", "none"]),
            "owner",
            "who gets the stones left when a row is empty: their owner, the player whose row \
             is empty, or nobody",
        ),
        Spec::new(
            "early_stop",
            Kind::Bool,
            false,
            "end the game when a store has more than half of the stones",
        ),
        Spec::new(
            "max_plies",
            int(1, 1_000_000),
            1_000i64,
            "sowings after which the game is ended",
        ),
    ]
}

impl KalahRules {
    /// Parses resolved options.
    ///
    /// # Errors
    /// [`OptionError`] if one is missing or has another type.
    pub(super) fn new(options: &Options) -> Result<Self, OptionError> {
        let read = Reader(options);
        Ok(Self {
            pits: read.int("pits")? as usize,
            stones: read.int("stones")? as u8,
            empty_capture: match read.word("empty_capture")? {
                "always" => EmptyCapture::Always,
                "never" => EmptyCapture::Never,
                _ => EmptyCapture::OppositeNonempty,
            },
            remaining: match read.word("remaining")? {
                "emptier" => Remaining::Emptier,
                "none" => Remaining::None,
                _ => Remaining::Owner,
            },
            early_stop: read.flag("early_stop")?,
            plies_max: read.int("max_plies")? as u32,
        })
    }
}
