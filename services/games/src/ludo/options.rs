//! The options of Chinese Ludo, their presets, and the rules that follow from them.

use arena_engine::options::{Kind, OptionError, Options, Preset, Spec};

use crate::read::Reader;

/// Rolls that bring a plane out of the hangar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Launch {
    Six,
    Even,
    FiveSix,
}

/// Effect of a roll that is larger than a plane's remaining distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finish {
    Exact,
    Bounce,
    Over,
}

/// Penalty for the third six in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ThreeSixes {
    Nothing,
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
    let choice = Kind::choice;
    vec![
        Spec::new(
            "launch",
            choice(&["six", "even", "five-six"]),
            "six",
            "which rolls bring a plane out of the hangar: 6, every even one, or 5 and 6",
        ),
        Spec::new(
            "start",
            choice(&["pad", "ring1"]),
            "pad",
            "where a launched plane stands: on its pad, safe, or on square 1 of the ring",
        ),
        Spec::new(
            "finish",
            choice(&["exact", "bounce", "over"]),
            "exact",
            "a roll that is more than a plane has left: illegal, flies back what is too much, \
             or brings it home",
        ),
        Spec::new(
            "dotfly",
            choice(&["seed", "standard"]),
            "seed",
            "the dotted line: from 14 to 30, or from 18 to 30 as on ordinary boards",
        ),
        Spec::new(
            "hit_squares",
            choice(&["all", "ends"]),
            "all",
            "squares of a jump or flight where opponents are hit: every one it lands on, or \
             only the first and the last",
        ),
        Spec::new(
            "fly_hits_path",
            Kind::Bool,
            false,
            "a flight hits the squares between the ends of the dotted line too",
        ),
        Spec::new(
            "three_sixes",
            choice(&["none", "end-turn", "hangar"]),
            "none",
            "what the third 6 in a row costs: nothing, the turn, or the turn and every plane \
             that is not home",
        ),
        Spec::new(
            "max_rolls",
            Kind::Int {
                min: 1,
                max: 50_000,
            },
            5_000i64,
            "rolls after which the game is ended",
        ),
        Spec::new(
            "starter",
            choice(&["seat0", "random"]),
            "seat0",
            "who begins: seat 0, or one drawn",
        ),
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
            "as Han and Zhou play it in \"Threat Matrix\": a drawn starter",
        ),
        preset(
            "standard",
            "dotfly",
            "standard",
            "the dotted line of ordinary boards, twelve squares long",
        ),
    ]
}

impl LudoRules {
    /// Parses resolved options.
    ///
    /// # Errors
    /// [`OptionError`] if one is missing or has another type.
    pub(super) fn new(options: &Options) -> Result<Self, OptionError> {
        let read = Reader(options);
        Ok(Self {
            launch: match read.word("launch")? {
                "even" => Launch::Even,
                "five-six" => Launch::FiveSix,
                _ => Launch::Six,
            },
            launches_onto_ring: read.word("start")? == "ring1",
            finish: match read.word("finish")? {
                "bounce" => Finish::Bounce,
                "over" => Finish::Over,
                _ => Finish::Exact,
            },
            flight: match read.word("dotfly")? {
                "standard" => (18, 30),
                _ => (14, 30),
            },
            hits_ends_only: read.word("hit_squares")? == "ends",
            hits_path: read.flag("fly_hits_path")?,
            three_sixes: match read.word("three_sixes")? {
                "end-turn" => ThreeSixes::EndTurn,
                "hangar" => ThreeSixes::Hangar,
                _ => ThreeSixes::Nothing,
            },
            rolls_max: read.int("max_rolls")? as u16,
            random_starter: read.word("starter")? == "random",
        })
    }
}
