//! The options of Chinese Ludo, their presets, and the rules that follow from them.

use arena_engine::options::{OptionError, Options, Preset, Spec};
use strum::{IntoStaticStr, VariantArray};

use crate::read::{Reader, choice, flag, int, starter, words_of};

/// Rolls that bring a plane out of the hangar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub(super) enum Launch {
    Six,
    Even,
    FiveSix,
}

/// Effect of a roll that is larger than a plane's remaining distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub(super) enum Finish {
    Exact,
    Bounce,
    Over,
}

/// Penalty for the third six in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub(super) enum ThreeSixes {
    None,
    EndTurn,
    Hangar,
}

/// The options in the form of the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LudoRules {
    pub(super) launch: Launch,
    /// A launched plane is on the first square of the ring, not on the pad.
    pub(super) launches_onto_ring: bool,
    pub(super) finish: Finish,
    /// Progress of the start and end of the dotted line.
    pub(super) flight: (i8, i8),
    /// True if a jump or a flight hits only on its first and last square.
    pub(super) hits_ends_only: bool,
    /// Squares under the dotted line are hit by a flight.
    pub(super) hits_path: bool,
    pub(super) three_sixes: ThreeSixes,
    pub(super) rolls_max: u16,
    pub(super) random_starter: bool,
}

/// All options with their types and defaults.
pub(super) fn specs() -> Vec<Spec> {
    vec![
        choice::<Launch>(
            "launch",
            "rolls that launch a plane: 6, every even one, or 5 and 6",
        ),
        words_of(
            "start",
            &["pad", "ring1"],
            "where a launched plane starts: on its pad, which is safe, or on square 1 of the ring",
        ),
        choice::<Finish>(
            "finish",
            "a roll beyond home: illegal, moves back by the excess, or brings the plane home",
        ),
        words_of(
            "dotfly",
            &["seed", "standard"],
            "squares of the flight: from 14 to 30, or from 18 to 30 as on ordinary boards",
        ),
        words_of(
            "hit_squares",
            &["all", "ends"],
            "where jumps and flights capture: on every square that they land on, or on \
             the first and the last only",
        ),
        flag(
            "fly_hits_path",
            false,
            "a flight also captures on the squares between its ends",
        ),
        choice::<ThreeSixes>(
            "three_sixes",
            "penalty for a third 6 in a row: none, the turn, or the turn and every plane that is \
             not home",
        ),
        int(
            "max_rolls",
            (1, 50_000),
            5_000,
            "number of rolls after which the game ends",
        ),
        starter(),
    ]
}

/// The named sets of options.
pub(super) fn presets() -> Vec<Preset> {
    let preset = |name, option, value: &str, summary| Preset {
        seats: Some(2),
        ..Preset::new(name, &[(option, value.into())], summary)
    };
    vec![
        preset(
            "hz2022",
            "starter",
            "random",
            "rules of Han and Zhou, \"Threat Matrix\", with a drawn starter",
        ),
        preset(
            "standard",
            "dotfly",
            "standard",
            "the flight of ordinary boards, twelve squares long",
        ),
    ]
}

impl LudoRules {
    /// Parses resolved options.
    pub(super) fn new(options: &Options) -> Result<Self, OptionError> {
        let read = Reader(options);
        Ok(Self {
            launch: read.choice("launch")?,
            launches_onto_ring: read.is("start", "ring1")?,
            finish: read.choice("finish")?,
            flight: match read.word("dotfly")? {
                "standard" => (18, 30),
                _ => (14, 30),
            },
            hits_ends_only: read.is("hit_squares", "ends")?,
            hits_path: read.flag("fly_hits_path")?,
            three_sixes: read.choice("three_sixes")?,
            rolls_max: read.int("max_rolls")? as u16,
            random_starter: read.is("starter", "random")?,
        })
    }
}
