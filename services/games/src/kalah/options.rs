//! The options of Kalah and the rules that follow from them.

use arena_engine::options::{OptionError, Options, Spec};
use strum::{IntoStaticStr, VariantArray};

use super::PITS_MAX;
use crate::read::{Reader, choice, flag, int};

/// When a last stone that falls into an empty pit of the mover captures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub(super) enum EmptyCapture {
    OppositeNonempty,
    Always,
    Never,
}

/// The store that gets the remaining stones at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub(super) enum Remaining {
    Owner,
    Emptier,
    None,
}

/// The options as typed values.
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
    vec![
        int("pits", (1, PITS_MAX as i64), 6, "pits on each side"),
        int("stones", (1, 8), 4, "stones in each pit at the start"),
        choice::<EmptyCapture>(
            "empty_capture",
            "last stone in an own empty pit: the mover banks it with the opposite pit if that has \
             stones, always, or never",
        ),
        choice::<Remaining>(
            "remaining",
            "when a row is empty, the stones left go to their owner, to the player with the empty \
             row, or to neither",
        ),
        flag(
            "early_stop",
            false,
            "end the game when a store has more than half of the stones",
        ),
        int(
            "max_plies",
            (1, 1_000_000),
            1_000,
            "number of plies after which the game ends",
        ),
    ]
}

impl KalahRules {
    /// Parses resolved options.
    pub(super) fn new(options: &Options) -> Result<Self, OptionError> {
        let read = Reader(options);
        Ok(Self {
            pits: read.int("pits")? as usize,
            stones: read.int("stones")? as u8,
            empty_capture: read.choice("empty_capture")?,
            remaining: read.choice("remaining")?,
            early_stop: read.flag("early_stop")?,
            plies_max: read.int("max_plies")? as u32,
        })
    }
}
