//! The options of Abapa and the rules that follow from them.

use std::collections::BTreeSet;

use arena_engine::options::{OptionError, Options, Preset, Spec, Value};
use strum::{IntoStaticStr, VariantArray};

use crate::read::{Reader, choice, flag, int, starter, words_of};

/// Maximum for the length limit of a game, which bounds the boards in a position.
const PLIES_MAX: i64 = 10_000;

/// Effect of capturing all seeds of the opponent's row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub(super) enum GrandSlam {
    NoCapture,
    Illegal,
    Allow,
    KeepLast,
    OpponentKeeps,
}

/// The options in the form of the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AbapaRules {
    pub(super) skip_origin: bool,
    pub(super) grand_slam: GrandSlam,
    pub(super) must_feed: bool,
    /// True if each player takes the own row when no move is possible.
    pub(super) sweeps: bool,
    pub(super) repetition: bool,
    /// Maximum plies without a capture; the maximum of the type for no limit.
    pub(super) quiet_max: u16,
    pub(super) random_starter: bool,
    pub(super) plies_max: u16,
}

/// All options with their types and defaults.
pub(super) fn specs() -> Vec<Spec> {
    vec![
        flag(
            "skip_origin",
            true,
            "a sowing of twelve seeds or more passes over the pit it began at",
        ),
        choice::<GrandSlam>(
            "grand_slam",
            "a capture of every seed of the opponent's row: captures nothing, is no legal move, \
             captures all, leaves the pit captured last, or captures all and gives what is left \
             on the board to the opponent",
        ),
        flag(
            "must_feed",
            true,
            "who can has to give seeds to an opponent that has none",
        ),
        words_of(
            "remaining",
            &["own-side", "none"],
            "who gets the seeds left where a player cannot move: each those of the own row, or \
             nobody; repetitions and caps always give each the own row",
        ),
        words_of(
            "repetition",
            &["first", "off"],
            "end the game when a position comes back since the last capture, or never by that",
        ),
        int(
            "no_capture_limit",
            (0, PLIES_MAX),
            0,
            "plies without a capture after which the game is ended; 0: never, and 100 with \
             repetition off unless chosen",
        ),
        starter(),
        int(
            "max_plies",
            (1, PLIES_MAX),
            1_000,
            "plies after which the game is ended",
        ),
    ]
}

/// The named sets of options.
pub(super) fn presets() -> Vec<Preset> {
    vec![
        Preset::new(
            "paper002",
            &[("grand_slam", "allow".into())],
            "grand slams capture, which the players of the Oware paper learned to seek",
        ),
        Preset::new(
            "stateless",
            &[("repetition", "off".into())],
            "positions may come back; a hundred plies without a capture end the game",
        ),
    ]
}

/// Sets the options that follow from chosen ones.
pub(super) fn settle(options: &mut Options, chosen: &BTreeSet<&str>) {
    let off = options["repetition"] == Value::from("off");
    if off && !chosen.contains("no_capture_limit") {
        options.insert("no_capture_limit".to_owned(), Value::Int(100));
    }
}

impl AbapaRules {
    /// Parses resolved options.
    pub(super) fn new(options: &Options) -> Result<Self, OptionError> {
        let read = Reader(options);
        Ok(Self {
            skip_origin: read.flag("skip_origin")?,
            grand_slam: read.choice("grand_slam")?,
            must_feed: read.flag("must_feed")?,
            sweeps: read.is("remaining", "own-side")?,
            repetition: read.is("repetition", "first")?,
            quiet_max: match read.int("no_capture_limit")? {
                0 => u16::MAX,
                limit => limit as u16,
            },
            random_starter: read.is("starter", "random")?,
            plies_max: read.int("max_plies")? as u16,
        })
    }
}
