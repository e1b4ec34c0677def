//! The options of cowry, their presets, and the rules that follow from them.

use std::collections::BTreeSet;

use arena_engine::options::{OptionError, Options, Preset, Spec, Value};
use strum::{IntoStaticStr, VariantArray};

use super::board::Inner;
use crate::read::{Reader, choice, flag, int, starter, words_of};

/// The values of a throw, by value index.
pub const VALUES: [u8; 5] = [1, 2, 3, 4, 8];

/// Maximum number of players.
pub(super) const SEATS_MAX: usize = 4;

/// Maximum number of pieces of a player.
pub const PIECES_MAX: usize = 10;

/// Order of throws and moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum ThrowMode {
    /// All throws first, then their values in any order.
    Accumulate,
    /// Each throw is played before the next one.
    Immediate,
    /// One throw per turn.
    Single,
}

/// Effect of a double on a piece that would pass it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub(super) enum Block {
    /// The step is illegal until the owner's next turn.
    IllegalOnce,
    /// The step may be chosen, has no effect, and ends the turn.
    VoidTurn,
}

/// How doubles move together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum DoubleMove {
    /// Both pieces by the whole value.
    Full,
    /// Never.
    None,
    /// Both pieces by half of an even value.
    Half,
}

/// When the game ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub(super) enum End {
    First,
    Ranking,
    All,
}

/// Result of a deadlock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub(super) enum Deadlock {
    Draw,
    Progress,
    OpenGate,
}

/// The options in the form of the rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CowryRules {
    pub(super) board: u8,
    pub(super) pieces: usize,
    pub(super) inner: Inner,
    pub(super) safe_corners: bool,
    /// True if own pieces share squares, and two of them form a double.
    pub(super) doubles: bool,
    /// Weights of the values of a throw.
    pub(super) dice: [u32; 5],
    pub(super) throw_mode: ThrowMode,
    pub(super) extra_on_4_8: bool,
    pub(super) extra_on_hit: bool,
    pub(super) inner_hits: bool,
    pub(super) gate: bool,
    pub(super) block: Block,
    pub(super) block_forever: bool,
    pub(super) block_on_safe: bool,
    pub(super) double_hits_double: bool,
    pub(super) double_move: DoubleMove,
    pub(super) end: End,
    pub(super) rest_ties: bool,
    pub(super) deadlock: Deadlock,
    pub(super) throws_max: u32,
    pub(super) random_starter: bool,
}

/// All options with their types and defaults.
pub(super) fn specs() -> Vec<Spec> {
    vec![
        words_of(
            "variant",
            &["basic", "doubles"],
            "basic: a square holds one piece of a player; doubles: two pieces may share a square",
        ),
        int(
            "board",
            (5, 11),
            5,
            "squares on each side of the board: 5, 7, 9 or 11",
        ),
        int(
            "pieces",
            (0, PIECES_MAX as i64),
            0,
            "pieces of each player; 0 means one less than squares on a side",
        ),
        choice::<Inner>(
            "inner",
            "direction of the inner rings: alternating, or all clockwise (up to board 9)",
        ),
        words_of(
            "safe",
            &["minimal", "corners"],
            "safe squares: the starts and the centre, or also the outer corners",
        ),
        words_of(
            "dice",
            &["empirical", "binomial", "uniform"],
            "probabilities of the values of a throw; the default is binomial in variant doubles",
        ),
        choice::<ThrowMode>(
            "throw_mode",
            "play all extra throws together, one after the other, or have none",
        ),
        flag(
            "extra_on_4_8",
            true,
            "a throw of 4 or 8 earns another throw; false with throw_mode single",
        ),
        flag(
            "extra_on_hit",
            true,
            "a capture earns another throw; the default is false in variant doubles and with \
             throw_mode single",
        ),
        flag(
            "inner_hits",
            true,
            "pieces on the inner rings can be captured",
        ),
        flag(
            "gate",
            true,
            "a player enters the inner rings only after a capture",
        ),
        choice::<Block>(
            "block",
            "passing a double for the first time is illegal this turn, or ends the turn",
        ),
        words_of(
            "block_memory",
            &["until-moved", "forever"],
            "how long a piece that was blocked once may pass doubles",
        ),
        flag("block_on_safe", false, "doubles on safe squares also block"),
        flag(
            "double_hits_double",
            true,
            "two pieces that move together may capture a double",
        ),
        choice::<DoubleMove>(
            "double_move",
            "two pieces move together by the whole value, never, or by half of an even value",
        ),
        choice::<End>(
            "end",
            "play until one player has finished, all but one, or all",
        ),
        words_of(
            "rank_rest",
            &["progress", "tie"],
            "rank unfinished players by progress, or as equal",
        ),
        choice::<Deadlock>(
            "deadlock",
            "if no player can ever move again: a draw, a ranking by progress, or all gates open",
        ),
        int(
            "max_throws",
            (0, 1_000_000),
            0,
            "number of throws after which the game ends; 0 means 5000, 10000, 40000 or 120000, \
             depending on the board",
        ),
        starter(),
    ]
}

/// The named sets of options.
pub(super) fn presets() -> Vec<Preset> {
    let preset = |name, seats, options: &[_], summary| Preset {
        seats: Some(seats),
        ..Preset::new(name, options, summary)
    };
    vec![
        preset(
            "basic",
            4,
            &[("variant", "basic".into())],
            "four players without doubles (Nagabhushan and Davoudian)",
        ),
        preset(
            "basic_single",
            4,
            &[("variant", "basic".into()), ("throw_mode", "single".into())],
            "basic, with one throw in each turn",
        ),
        preset(
            "doubles",
            2,
            &[("variant", "doubles".into())],
            "two players with doubles (Chowka Bhara)",
        ),
        preset(
            "cb2012",
            2,
            &[
                ("variant", "doubles".into()),
                ("dice", "binomial".into()),
                ("throw_mode", "single".into()),
                ("gate", false.into()),
                ("double_move", "none".into()),
                ("block_on_safe", true.into()),
                ("block_memory", "forever".into()),
            ],
            "rules behind the tables of the Chowka Bhara paper",
        ),
        preset(
            "ns2017",
            4,
            &[("variant", "basic".into()), ("inner_hits", false.into())],
            "rules that are probably behind the averages of the cowry paper",
        ),
    ]
}

/// Sets the options that follow from chosen ones.
pub(super) fn settle(options: &mut Options, chosen: &BTreeSet<&str>) {
    let is = |options: &Options, name: &str, value: &str| options[name] == Value::from(value);
    let board = match options["board"] {
        Value::Int(board) => board,
        _ => 5,
    };
    let doubles = is(options, "variant", "doubles");
    let single = is(options, "throw_mode", "single");
    let mut follow = |name: &str, value: Value| {
        if !chosen.contains(name) {
            options.insert(name.to_owned(), value);
        }
    };
    if doubles {
        follow("dice", "binomial".into());
        follow("extra_on_hit", false.into());
    }
    if single {
        follow("extra_on_4_8", false.into());
        follow("extra_on_hit", false.into());
    }
    if options["pieces"] == Value::Int(0) {
        options.insert("pieces".to_owned(), Value::Int(board - 1));
    }
    if options["max_throws"] == Value::Int(0) {
        let throws = match board {
            ..=5 => 5_000,
            6..=7 => 10_000,
            8..=9 => 40_000,
            _ => 120_000,
        };
        options.insert("max_throws".to_owned(), Value::Int(throws));
    }
}

impl CowryRules {
    /// Parses resolved options.
    pub(super) fn new(options: &Options) -> Result<Self, OptionError> {
        let read = Reader(options);
        let board = read.int("board")?;
        if board % 2 == 0 {
            return Err(OptionError::Value {
                name: "board".to_owned(),
                value: board.to_string(),
                expected: "5, 7, 9 or 11".to_owned(),
            });
        }
        let rules = Self {
            board: board as u8,
            pieces: read.int("pieces")? as usize,
            inner: read.choice("inner")?,
            safe_corners: read.is("safe", "corners")?,
            doubles: read.is("variant", "doubles")?,
            dice: match read.word("dice")? {
                "binomial" => [4, 6, 4, 1, 1],
                "uniform" => [1, 1, 1, 1, 1],
                _ => [243, 381, 236, 74, 66],
            },
            throw_mode: read.choice("throw_mode")?,
            extra_on_4_8: read.flag("extra_on_4_8")?,
            extra_on_hit: read.flag("extra_on_hit")?,
            inner_hits: read.flag("inner_hits")?,
            gate: read.flag("gate")?,
            block: read.choice("block")?,
            block_forever: read.is("block_memory", "forever")?,
            block_on_safe: read.flag("block_on_safe")?,
            double_hits_double: read.flag("double_hits_double")?,
            double_move: read.choice("double_move")?,
            end: read.choice("end")?,
            rest_ties: read.is("rank_rest", "tie")?,
            deadlock: read.choice("deadlock")?,
            throws_max: read.int("max_throws")? as u32,
            random_starter: read.is("starter", "random")?,
        };
        if rules.throw_mode == ThrowMode::Single && (rules.extra_on_4_8 || rules.extra_on_hit) {
            return Err(OptionError::Together(
                "throw_mode single has no extra throws: set extra_on_4_8 and extra_on_hit to \
                 false, or omit them"
                    .to_owned(),
            ));
        }
        if rules.inner == Inner::Spiral && rules.board > 9 {
            return Err(OptionError::Together(
                "inner spiral needs a board of 5, 7 or 9: on 11 the rings do not connect"
                    .to_owned(),
            ));
        }
        Ok(rules)
    }
}
