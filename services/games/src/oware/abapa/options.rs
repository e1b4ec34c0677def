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
            "a sowing of twelve or more seeds skips the pit that it started from",
        ),
        choice::<GrandSlam>(
            "grand_slam",
            "a grand slam (a capture of all seeds of the opponent's row): captures nothing, is \
             illegal, captures all, leaves the pit captured last, or captures all and gives the \
             seeds left on the board to the opponent",
        ),
        flag(
            "must_feed",
            true,
            "a player must give seeds to an opponent without any, if possible",
        ),
        words_of(
            "remaining",
            &["own-side", "none"],
            "if a player cannot move, the seeds left go to the owner of their row, or to neither; \
             after repetitions and caps always to the owner of their row",
        ),
        words_of(
            "repetition",
            &["first", "off"],
            "end the game when a position repeats since the last capture",
        ),
        int(
            "no_capture_limit",
            (0, PLIES_MAX),
            0,
            "number of plies without a capture after which the game ends; 0 means never; the \
             default is 100 with repetition off",
        ),
        starter(),
        int(
            "max_plies",
            (1, PLIES_MAX),
            1_000,
            "number of plies after which the game ends",
        ),
    ]
}

/// The named sets of options.
pub(super) fn presets() -> Vec<Preset> {
    vec![
        Preset::new(
            "paper002",
            &[("grand_slam", "allow".into())],
            "grand slams capture, as the players of the Oware paper were trained",
        ),
        Preset::new(
            "stateless",
            &[("repetition", "off".into())],
            "positions may repeat; the game ends after a hundred plies without a capture",
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
