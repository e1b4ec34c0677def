//! The options of cowry, their presets, and the rules that follow from them.

use std::collections::BTreeSet;

use arena_engine::options::{OptionError, Options, Preset, Spec, Value};
use strum::{IntoStaticStr, VariantArray};

use super::board::Inner;
use crate::read::{Reader, choice, flag, int, starter, words_of};

/// The values of a throw, by value index.
pub const VALUES: [u8; 5] = [1, 2, 3, 4, 8];

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
            "own pieces keep off each other, or share squares as doubles",
        ),
        int("board", (5, 11), 5, "squares along a side: 5, 7, 9 or 11"),
        int(
            "pieces",
            (0, PIECES_MAX as i64),
            0,
            "pieces of each player; 0: one less than the board's side",
        ),
        choice::<Inner>(
            "inner",
            "whether inner rings alternate in direction or all run clockwise (up to board 9)",
        ),
        words_of(
            "safe",
            &["minimal", "corners"],
            "safe squares: the starts and the centre, or the outer corners too",
        ),
        words_of(
            "dice",
            &["empirical", "binomial", "uniform"],
            "how likely the values of a throw are; in variant doubles binomial unless chosen",
        ),
        choice::<ThrowMode>(
            "throw_mode",
            "throw all extra throws first, play each before the next, or have none",
        ),
        flag(
            "extra_on_4_8",
            true,
            "a throw of 4 or 8 earns another; false with throw_mode single",
        ),
        flag(
            "extra_on_hit",
            true,
            "a hit earns another throw; false in variant doubles and with throw_mode single unless chosen",
        ),
        flag("inner_hits", true, "pieces on inner squares can be hit"),
        flag(
            "gate",
            true,
            "a player enters the inner rings only after a hit",
        ),
        choice::<Block>(
            "block",
            "passing a double for the first time is illegal this turn, or costs the turn",
        ),
        words_of(
            "block_memory",
            &["until-moved", "forever"],
            "how long a piece that was blocked once may pass doubles",
        ),
        flag("block_on_safe", false, "doubles on safe squares block too"),
        flag(
            "double_hits_double",
            true,
            "a double moving together may hit a double",
        ),
        choice::<DoubleMove>(
            "double_move",
            "a double moves together by the whole value, never, or by half of an even value",
        ),
        choice::<End>("end", "play until one has finished, all but one, or all"),
        words_of(
            "rank_rest",
            &["progress", "tie"],
            "rank those who have not finished by progress, or together",
        ),
        choice::<Deadlock>(
            "deadlock",
            "when nobody can ever move: a draw, ranked by progress, or all gates open",
        ),
        int(
            "max_throws",
            (0, 1_000_000),
            0,
            "throws after which the game is ended; 0: 5000, 10000, 40000 or 120000 by board",
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
            "basic with one throw a turn",
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
            "what the Chowka Bhara paper's tables were made with",
        ),
        preset(
            "ns2017",
            4,
            &[("variant", "basic".into()), ("inner_hits", false.into())],
            "what the cowry paper's averages were probably made with",
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
                "throw_mode single has no extra throws: \
                 set extra_on_4_8 and extra_on_hit to false or leave them out"
                    .to_owned(),
            ));
        }
        if rules.inner == Inner::Spiral && rules.board > 9 {
            return Err(OptionError::Together(
                "inner spiral needs a board of 5, 7 or 9: \
                 on 11 the rings cannot be joined that way"
                    .to_owned(),
            ));
        }
        Ok(rules)
    }
}
