//! The options of cowry, their presets, and the rules that follow from them.

use std::collections::BTreeSet;

use arena_engine::options::{Kind, OptionError, Options, Preset, Spec, Value};

use super::board::Inner;
use crate::read::Reader;

/// The values of a throw, by value index.
pub const VALUES: [u8; 5] = [1, 2, 3, 4, 8];

/// Maximum number of pieces of a player.
pub const PIECES_MAX: usize = 10;

/// Order of throws and moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThrowMode {
    /// All throws first, then their values in any order.
    Accumulate,
    /// Each throw is played before the next one.
    Immediate,
    /// One throw per turn.
    Single,
}

/// Effect of a double on a piece that would pass it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Block {
    /// The step is illegal until the owner's next turn.
    IllegalOnce,
    /// The step may be chosen, has no effect, and ends the turn.
    VoidTurn,
}

/// How doubles move together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DoubleMove {
    /// Both pieces by the whole value.
    Full,
    /// Never.
    None,
    /// Both pieces by half of an even value.
    Half,
}

/// When the game ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    First,
    Ranking,
    All,
}

/// Result of a deadlock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    let int = |min, max| Kind::Int { min, max };
    let choice = Kind::choice;
    vec![
        Spec::new(
            "variant",
            choice(&["basic", "doubles"]),
            "basic",
            "own pieces keep off each other, or share squares as doubles",
        ),
        Spec::new(
            "board",
            int(5, 11),
            5i64,
            "squares along a side: 5, 7, 9 or 11",
        ),
        Spec::new(
            "pieces",
            int(0, PIECES_MAX as i64),
            0i64,
            "pieces of each player; 0: one less than the board's side",
        ),
        Spec::new(
            "inner",
            choice(&["alternate", "spiral"]),
            "alternate",
            "whether inner rings alternate in direction or all run clockwise (up to board 9)",
        ),
        Spec::new(
            "safe",
            choice(&["minimal", "corners"]),
            "minimal",
            "safe squares: the starts and the centre, or the outer corners too",
        ),
        Spec::new(
            "dice",
            choice(&["empirical", "binomial", "uniform"]),
            "empirical",
            "how likely the values of a throw are; in variant doubles binomial unless chosen",
        ),
        Spec::new(
            "throw_mode",
            choice(&["accumulate", "immediate", "single"]),
            "accumulate",
            "throw all extra throws first, play each before the next, or have none",
        ),
        Spec::new(
            "extra_on_4_8",
            Kind::Bool,
            true,
            "a throw of 4 or 8 earns another; false with throw_mode single",
        ),
        Spec::new(
            "extra_on_hit",
            Kind::Bool,
            true,
            "a hit earns another throw; false in variant doubles and with throw_mode single unless chosen",
        ),
        Spec::new(
            "inner_hits",
            Kind::Bool,
            true,
            "pieces on inner squares can be hit",
        ),
        Spec::new(
            "gate",
            Kind::Bool,
            true,
            "a player enters the inner rings only after a hit",
        ),
        Spec::new(
            "block",
            choice(&["illegal-once", "void-turn"]),
            "illegal-once",
            "passing a double for the first time is illegal this turn, or costs the turn",
        ),
        Spec::new(
            "block_memory",
            choice(&["until-moved", "forever"]),
            "until-moved",
            "how long a piece that was blocked once may pass doubles",
        ),
        Spec::new(
            "block_on_safe",
            Kind::Bool,
            false,
            "doubles on safe squares block too",
        ),
        Spec::new(
            "double_hits_double",
            Kind::Bool,
            true,
            "a double moving together may hit a double",
        ),
        Spec::new(
            "double_move",
            choice(&["full", "none", "half"]),
            "full",
            "a double moves together by the whole value, never, or by half of an even value",
        ),
        Spec::new(
            "end",
            choice(&["first", "ranking", "all"]),
            "first",
            "play until one has finished, all but one, or all",
        ),
        Spec::new(
            "rank_rest",
            choice(&["progress", "tie"]),
            "progress",
            "rank those who have not finished by progress, or together",
        ),
        Spec::new(
            "deadlock",
            choice(&["draw", "progress", "open-gate"]),
            "draw",
            "when nobody can ever move: a draw, ranked by progress, or all gates open",
        ),
        Spec::new(
            "max_throws",
            int(0, 1_000_000),
            0i64,
            "throws after which the game is ended; 0: 5000, 10000, 40000 or 120000 by board",
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
    ///
    /// # Errors
    /// [`OptionError`] if they contradict each other.
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
            inner: match read.word("inner")? {
                "spiral" => Inner::Spiral,
                _ => Inner::Alternate,
            },
            safe_corners: read.word("safe")? == "corners",
            doubles: read.word("variant")? == "doubles",
            dice: match read.word("dice")? {
                "binomial" => [4, 6, 4, 1, 1],
                "uniform" => [1, 1, 1, 1, 1],
                _ => [243, 381, 236, 74, 66],
            },
            throw_mode: match read.word("throw_mode")? {
                "immediate" => ThrowMode::Immediate,
                "single" => ThrowMode::Single,
                _ => ThrowMode::Accumulate,
            },
            extra_on_4_8: read.flag("extra_on_4_8")?,
            extra_on_hit: read.flag("extra_on_hit")?,
            inner_hits: read.flag("inner_hits")?,
            gate: read.flag("gate")?,
            block: match read.word("block")? {
                "void-turn" => Block::VoidTurn,
                _ => Block::IllegalOnce,
            },
            block_forever: read.word("block_memory")? == "forever",
            block_on_safe: read.flag("block_on_safe")?,
            double_hits_double: read.flag("double_hits_double")?,
            double_move: match read.word("double_move")? {
                "none" => DoubleMove::None,
                "half" => DoubleMove::Half,
                _ => DoubleMove::Full,
            },
            end: match read.word("end")? {
                "ranking" => End::Ranking,
                "all" => End::All,
                _ => End::First,
            },
            rest_ties: read.word("rank_rest")? == "tie",
            deadlock: match read.word("deadlock")? {
                "progress" => Deadlock::Progress,
                "open-gate" => Deadlock::OpenGate,
                _ => Deadlock::Draw,
            },
            throws_max: read.int("max_throws")? as u32,
            random_starter: read.word("starter")? == "random",
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
