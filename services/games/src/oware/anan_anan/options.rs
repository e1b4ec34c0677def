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
            "a lap of twelve or more seeds skips the pit that it started from",
        ),
        words_of(
            "last_four_to",
            &["mover", "owner"],
            "who banks the last four of a sowing: the mover, or the pit's owner",
        ),
        choice::<Infinite>(
            "infinite",
            "an endless sowing: ends the game, is illegal, or ends the turn where the board first \
             repeats",
        ),
        words_of(
            "check",
            &["immediate", "turn-end"],
            "when a majority of the seeds wins: during a sowing, or after it",
        ),
        choice::<Remaining>(
            "remaining",
            "the last seeds: the last eight go to the player who banked last, the game continues \
             to the end, or it stops at four, which neither player gets",
        ),
        words_of(
            "empty_row",
            &["pass", "end"],
            "a player who cannot move passes, and two passes end the game; or the game ends at \
             once",
        ),
        int(
            "no_capture_limit",
            (0, PLIES_MAX),
            0,
            "number of plies without banked seeds after which the game ends; 0 means never; the \
             default is 100 with remaining none, 200 with stop-at-four",
        ),
        starter(),
        int(
            "max_plies",
            (1, PLIES_MAX),
            500,
            "number of plies after which the game ends",
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
            "the Oware paper; the last eight seeds as on its author's web page",
        ),
        Preset::new(
            "literal",
            &[("remaining", "none".into())],
            "the Oware paper as written: no rule for the last seeds, but a cap of a hundred plies \
             without a capture",
        ),
        Preset::new(
            "framework",
            &[
                ("last_four_to", "owner".into()),
                ("remaining", "stop-at-four".into()),
            ],
            "the first framework of the paper's author: every four goes to the pit's owner, stop \
             at four",
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
