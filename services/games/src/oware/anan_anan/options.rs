//! The options of Anan-anan and the rules that follow from them.

use std::collections::BTreeSet;

use arena_engine::options::{OptionError, Options, Preset, Spec, Value};
use strum::{IntoStaticStr, VariantArray};

use crate::read::{Reader, choice, flag, int, starter, words_of};

/// Maximum for the length limit of a game.
const PLIES_MAX: i64 = 10_000;

/// Effect of an endless sowing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub(super) enum Infinite {
    EndGame,
    Illegal,
    StopTurn,
}

/// How the last seeds end the game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub(super) enum Remaining {
    LastEight,
    None,
    StopAtFour,
}

/// The options in the form of the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AnanAnanRules {
    pub(super) skip_origin: bool,
    pub(super) last_four_to_mover: bool,
    pub(super) infinite: Infinite,
    /// True if more than half of the seeds win in the middle of a sowing.
    pub(super) checks_at_once: bool,
    pub(super) remaining: Remaining,
    pub(super) empty_row_ends: bool,
    /// Maximum plies without a bank; the maximum of the type for no limit.
    pub(super) quiet_max: u16,
    pub(super) random_starter: bool,
    pub(super) plies_max: u16,
}

/// All options with their types and defaults.
pub(super) fn specs() -> Vec<Spec> {
    vec![
        flag(
            "skip_origin",
            false,
            "a lap of twelve seeds or more passes over the pit it was lifted from",
        ),
        words_of(
            "last_four_to",
            &["mover", "owner"],
            "who banks the four that a sowing ends with: the mover, or the pit's owner",
        ),
        choice::<Infinite>(
            "infinite",
            "a sowing that never ends: ends the game, is no legal move, or ends the turn where \
             the board is first repeated",
        ),
        words_of(
            "check",
            &["immediate", "turn-end"],
            "when more than half of the seeds win: at once, in the middle of a sowing, or after it",
        ),
        choice::<Remaining>(
            "remaining",
            "the last seeds: the last eight go to who banked before them, the game goes on to \
             the last, or it stops at four that count for nobody",
        ),
        words_of(
            "empty_row",
            &["pass", "end"],
            "a player who cannot move passes, and two passes end the game, or ends it at once",
        ),
        int(
            "no_capture_limit",
            (0, PLIES_MAX),
            0,
            "plies in which nothing is banked after which the game is ended; 0: never, and unless \
             chosen 100 with remaining none, 200 with stop-at-four",
        ),
        starter(),
        int(
            "max_plies",
            (1, PLIES_MAX),
            500,
            "plies after which the game is ended",
        ),
    ]
}

/// The named sets of options.
pub(super) fn presets() -> Vec<Preset> {
    vec![
        Preset::new(
            "paper002",
            &[
                ("last_four_to", "mover".into()),
                ("infinite", "end-game".into()),
                ("remaining", "last-eight".into()),
            ],
            "the Oware paper, with the last eight seeds as on its author's page of rules",
        ),
        Preset::new(
            "literal",
            &[("remaining", "none".into())],
            "the Oware paper to the letter: no rule for the last seeds but a hundred plies \
             without a capture",
        ),
        Preset::new(
            "framework",
            &[
                ("last_four_to", "owner".into()),
                ("remaining", "stop-at-four".into()),
            ],
            "the early framework of the paper's author: every four to its owner, stop at four",
        ),
    ]
}

/// Sets the options that follow from chosen ones: if the last seeds are played for, they may go
/// round forever. The page of the rules has 100 for `none`; its figures for `stop-at-four` are
/// reproduced with 200.
pub(super) fn settle(options: &mut Options, chosen: &BTreeSet<&str>) {
    let limit: i64 = match &options["remaining"] {
        Value::Text(word) if word == "none" => 100,
        Value::Text(word) if word == "stop-at-four" => 200,
        _ => return,
    };
    if !chosen.contains("no_capture_limit") {
        options.insert("no_capture_limit".to_owned(), Value::Int(limit));
    }
}

impl AnanAnanRules {
    /// Parses resolved options.
    pub(super) fn new(options: &Options) -> Result<Self, OptionError> {
        let read = Reader(options);
        Ok(Self {
            skip_origin: read.flag("skip_origin")?,
            last_four_to_mover: read.is("last_four_to", "mover")?,
            infinite: read.choice("infinite")?,
            checks_at_once: read.is("check", "immediate")?,
            remaining: read.choice("remaining")?,
            empty_row_ends: read.is("empty_row", "end")?,
            quiet_max: match read.int("no_capture_limit")? {
                0 => u16::MAX,
                limit => limit as u16,
            },
            random_starter: read.is("starter", "random")?,
            plies_max: read.int("max_plies")? as u16,
        })
    }
}
