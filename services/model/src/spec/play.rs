//! `[play]`: how the games of a tournament are played.

use std::time::Duration;

use arena_engine::FaultPolicy;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Book, BookOrder, Draw, Resign, SpecError, clock::Clock, quoted};
use crate::SandboxLevel;

/// Default of [`Play::timing_margin`].
pub const TIMING_MARGIN: Duration = Duration::from_millis(50);

/// Maximum number of processes of an agent on a worker.
pub const REPLICAS_MAX: u32 = 1024;

/// Clocks are multiplied by at most this, and divided by at most this, on a worker of other speed.
pub const CLOCK_SCALE_MAX: u32 = 4;

/// How decisions are sent.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Timing {
    /// Many at a time, in batches.
    #[default]
    Throughput,
    /// One at a time to each agent process, each one timed.
    Strict,
}

/// A number of processes, or as many as help.
#[cfg(test)]
#[derive(schemars::JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "the schema alone needs it")]
enum WholeOrAuto {
    Number(#[schemars(range(min = 1, max = 1024))] u32),
    Auto(Auto),
}

#[cfg(test)]
#[derive(schemars::JsonSchema)]
#[schemars(rename_all = "kebab-case")]
#[expect(dead_code, reason = "the schema alone needs it")]
enum Auto {
    Auto,
}

/// Consequence of a fault.
#[cfg(test)]
#[derive(schemars::JsonSchema)]
#[schemars(rename_all = "kebab-case")]
#[expect(dead_code, reason = "the schema alone needs it")]
enum FaultPolicyName {
    Forfeit,
    RandomMove,
}

/// How games are played.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Play {
    /// Play every rotation of the seats.
    pub rotate: bool,
    /// Let the rotations of a block share their dice.
    pub paired: bool,
    /// Moves of the opening; default: as many as a ruleset without chance needs, else none.
    #[cfg_attr(test, schemars(range(max = 1000)))]
    #[serde(
        deserialize_with = "super::some_whole::<0, u32, _>",
        skip_serializing_if = "Option::is_none"
    )]
    pub opening_plies: Option<u32>,
    /// Opening book: the path of an EPD file, a PGN file, or a text file with one opening a line,
    /// relative to the spec. It replaces `opening_plies`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub book: Option<Book>,
    /// Moves that are taken from each game of a book in PGN, or of each line of a text file; default:
    /// all of them.
    #[cfg_attr(test, schemars(range(min = 1, max = 1000)))]
    #[serde(
        deserialize_with = "super::some_whole::<1, u32, _>",
        skip_serializing_if = "Option::is_none"
    )]
    pub book_plies: Option<u32>,
    /// Order of the openings of a book: "random", drawn from the seed, or "sequential".
    #[serde(skip_serializing_if = "BookOrder::is_default")]
    pub book_order: BookOrder,
    /// How decisions are sent.
    pub timing: Timing,
    /// Time for one decision, such as "2s" or "500ms".
    #[cfg_attr(test, schemars(with = "String"))]
    #[serde(with = "duration")]
    pub move_timeout: Duration,
    /// Consequence of a fault: "forfeit" or "random-move".
    #[cfg_attr(test, schemars(with = "FaultPolicyName"))]
    #[serde(with = "fault_policy")]
    pub on_fault: FaultPolicy,
    /// Ask agents even if only one move is legal.
    pub ask_forced: bool,
    /// Share of games that another worker plays again for comparison; default: that of the
    /// coordinator. It changes no record.
    #[cfg_attr(test, schemars(range(min = 0.0, max = 1.0)))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audit_share: Option<f64>,
    /// Least level of the sandbox in which workers start registered binaries: "none", "kernel" or
    /// "strict"; default: that of the coordinator. It changes no record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<SandboxLevel>,
    /// Time of each seat for all its moves, such as "10s+0.1s" or "40/60s". Implies strict timing,
    /// and replaces `move_timeout`.
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock: Option<Clock>,
    /// Time of a seat for each move, such as "50ms". Implies strict timing, and replaces
    /// `move_timeout`.
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    #[serde(with = "some_duration", skip_serializing_if = "Option::is_none")]
    pub move_time: Option<Duration>,
    /// Number of positions that agents may search for each move. Arena passes it on, and does not
    /// check it.
    #[cfg_attr(test, schemars(range(min = 1)))]
    #[serde(
        deserialize_with = "super::some_whole::<1, u64, _>",
        skip_serializing_if = "Option::is_none"
    )]
    pub nodes: Option<u64>,
    /// Time by which an answer may be late under `clock` or `move_time`; default: "50ms".
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    #[serde(with = "some_duration", skip_serializing_if = "Option::is_none")]
    pub timing_margin: Option<Duration>,
    /// Multiply clocks on each worker by its speed, so that agents search as much on a slow machine
    /// as on a fast one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub scale_clocks: bool,
    /// Maximum number of processes of each agent on a worker; default and `"auto"`: as registered. It
    /// changes no record.
    #[cfg_attr(test, schemars(with = "WholeOrAuto"))]
    #[serde(
        deserialize_with = "super::whole::whole_or_auto",
        skip_serializing_if = "Option::is_none"
    )]
    pub replicas: Option<u32>,
    /// End a game if both agents report for some moves that the same seat wins, such as
    /// `{ score = 600, moves = 3 }`. For two seats.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resign: Option<Resign>,
    /// End a game as a draw if both agents report scores near 0 for some moves, such as
    /// `{ score = 10, moves = 8, after_plies = 80 }`. For two seats.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draw: Option<Draw>,
}

impl Default for Play {
    fn default() -> Self {
        Self {
            rotate: true,
            paired: true,
            opening_plies: None,
            book: None,
            book_plies: None,
            book_order: BookOrder::Random,
            timing: Timing::Throughput,
            move_timeout: Duration::from_secs(2),
            on_fault: FaultPolicy::Forfeit,
            ask_forced: false,
            audit_share: None,
            sandbox: None,
            clock: None,
            move_time: None,
            nodes: None,
            timing_margin: None,
            scale_clocks: false,
            replicas: None,
            resign: None,
            draw: None,
        }
    }
}

/// The settings of [`Play`] that a single game depends on. It needs its seed and the
/// opening of its record too, and no other setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GamePlay {
    /// How decisions are sent.
    pub timing: Timing,
    /// Time for one decision.
    #[serde(with = "duration")]
    pub move_timeout: Duration,
    /// What a fault costs.
    #[serde(with = "fault_policy")]
    pub on_fault: FaultPolicy,
    /// Ask also where only one move is legal.
    pub ask_forced: bool,
    /// Time of each seat for all its moves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<Clock>,
    /// Time of a seat for each move.
    #[serde(
        default,
        with = "some_duration",
        skip_serializing_if = "Option::is_none"
    )]
    pub move_time: Option<Duration>,
    /// Number of positions that agents may search for each move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u64>,
    /// Time by which an answer may be late.
    #[serde(
        default,
        with = "some_duration",
        skip_serializing_if = "Option::is_none"
    )]
    pub timing_margin: Option<Duration>,
    /// Clocks are multiplied by the speed of the worker.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub scale_clocks: bool,
    /// When a seat loses by adjudication.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resign: Option<Resign>,
    /// When a game is a draw by adjudication.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draw: Option<Draw>,
}

impl From<&Play> for GamePlay {
    fn from(play: &Play) -> Self {
        Self {
            timing: play.timing,
            move_timeout: play.move_timeout,
            on_fault: play.on_fault,
            ask_forced: play.ask_forced,
            clock: play.clock,
            move_time: play.move_time,
            nodes: play.nodes,
            timing_margin: play.timing_margin,
            scale_clocks: play.scale_clocks,
            resign: play.resign,
            draw: play.draw,
        }
    }
}

/// All keys of `[play]`.
pub const PLAY_KEYS: &[&str] = &[
    "rotate",
    "paired",
    "opening_plies",
    "book",
    "book_plies",
    "book_order",
    "timing",
    "move_timeout",
    "on_fault",
    "ask_forced",
    "audit_share",
    "sandbox",
    "clock",
    "move_time",
    "nodes",
    "timing_margin",
    "scale_clocks",
    "replicas",
    "resign",
    "draw",
];

impl Play {
    /// True if the time of every move counts: each decision is asked alone.
    #[must_use]
    pub fn is_timed(&self) -> bool {
        self.clock.is_some() || self.move_time.is_some()
    }

    /// The longest time that a move can take before it is a fault.
    #[must_use]
    pub fn longest_move(&self) -> Duration {
        let margin = self.timing_margin.unwrap_or(TIMING_MARGIN);
        let scale = if self.scale_clocks {
            CLOCK_SCALE_MAX
        } else {
            1
        };
        match (self.clock, self.move_time) {
            (Some(clock), _) => clock.longest_move() * scale + margin,
            (None, Some(time)) => time * scale + margin,
            (None, None) => self.move_timeout,
        }
    }

    /// Sets what follows from other keys. `throughput` is true if the spec asks for it by name.
    pub(super) fn resolve(&mut self, throughput: bool) -> Result<(), SpecError> {
        if self.is_timed() {
            if throughput {
                return Err(SpecError::Value(
                    "clock and move_time need timing = \"strict\": the time of a move is not known \
                     in a batch"
                        .to_owned(),
                ));
            }
            self.timing = Timing::Strict;
        }
        Ok(())
    }

    fn check_times(&self) -> Result<(), SpecError> {
        let fail = |text: &str| Err(SpecError::Value(text.to_owned()));
        if self.clock.is_some() && self.move_time.is_some() {
            return fail("clock and move_time exclude each other: use one of them");
        }
        if self.is_timed() && self.move_timeout != Self::default().move_timeout {
            return fail(
                "move_timeout has no effect with clock or move_time, which limit each move: remove it",
            );
        }
        if !self.is_timed() && self.timing_margin.is_some() {
            return fail("timing_margin needs clock or move_time");
        }
        if !self.is_timed() && self.scale_clocks {
            return fail("scale_clocks needs clock or move_time");
        }
        if self.nodes == Some(0) {
            return fail("nodes = 0: must be at least 1");
        }
        let day = Duration::from_secs(86_400);
        if let Some(time) = self.move_time
            && !(Duration::from_millis(1)..=day).contains(&time)
        {
            return fail("move_time must be from \"1ms\" to \"24h\"");
        }
        if self.timing_margin.is_some_and(|margin| margin > day) {
            return fail("timing_margin must be from \"0s\" to \"24h\"");
        }
        Ok(())
    }

    fn check_book(&self) -> Result<(), SpecError> {
        let fail = |text: &str| Err(SpecError::Value(text.to_owned()));
        let Some(book) = &self.book else {
            return match (self.book_plies, self.book_order) {
                (None, BookOrder::Random) => Ok(()),
                (Some(_), _) => fail("book_plies needs book"),
                (None, BookOrder::Sequential) => fail("book_order needs book"),
            };
        };
        if self.opening_plies.is_some() {
            return fail("book and opening_plies exclude each other: use one of them");
        }
        if let Some(plies @ (0 | 1001..)) = self.book_plies {
            return fail(&format!("book_plies = {plies}: must be from 1 to 1000"));
        }
        if let (Book::Openings(_), Some(_)) = (book, self.book_plies) {
            return fail("book_plies needs the file of a book: shorten the openings of the list");
        }
        book.check().map_err(SpecError::Value)
    }

    pub(super) fn check(&self) -> Result<(), SpecError> {
        self.check_times()?;
        self.check_book()?;
        self.check_adjudication()?;
        if let Some(replicas @ (0 | REPLICAS_MAX..)) =
            self.replicas.filter(|&it| it != REPLICAS_MAX)
        {
            return Err(SpecError::Value(format!(
                "replicas = {replicas}: must be from 1 to {REPLICAS_MAX}"
            )));
        }
        if let Some(plies @ 1001..) = self.opening_plies {
            return Err(SpecError::Value(format!(
                "opening_plies = {plies}: must be from 0 to 1000"
            )));
        }
        let timeout = self.move_timeout;
        if timeout < Duration::from_millis(1) || timeout > Duration::from_secs(86_400) {
            return Err(SpecError::Value(
                "move_timeout must be from \"1ms\" to \"24h\"".to_owned(),
            ));
        }
        if let Some(share) = self.audit_share
            && !(0.0..=1.0).contains(&share)
        {
            return Err(SpecError::Value(format!(
                "audit_share = {share}: must be from 0 to 1"
            )));
        }
        Ok(())
    }
}

/// Durations as people write them: `500ms`, `2s`, `1m 30s`.
mod duration {
    use super::{Deserializer, Duration, Serializer, quoted};

    pub(super) fn serialize<S: Serializer>(value: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&humantime::format_duration(*value))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        let text = quoted::deserialize(from, "a duration", "2s", "500ms")?;
        humantime::parse_duration(&text).map_err(|_| {
            serde::de::Error::custom(format!(
                "\"{text}\" is not a duration; expected for example \"2s\" or \"500ms\""
            ))
        })
    }
}

/// The same, or nothing.
mod some_duration {
    use super::{Deserialize, Deserializer, Duration, Serializer, duration};

    #[expect(clippy::ref_option, reason = "as serde wants it")]
    pub(super) fn serialize<S: Serializer>(
        value: &Option<Duration>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => duration::serialize(value, to),
            None => to.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Duration>, D::Error> {
        #[derive(Deserialize)]
        struct Given(#[serde(with = "duration")] Duration);
        Ok(Some(Given::deserialize(from)?.0))
    }
}

mod fault_policy {
    use serde::de::Error as _;

    use super::{Deserialize, Deserializer, FaultPolicy, Serializer};

    pub(super) fn serialize<S: Serializer>(value: &FaultPolicy, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(match value {
            FaultPolicy::Forfeit => "forfeit",
            FaultPolicy::RandomMove => "random-move",
        })
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<FaultPolicy, D::Error> {
        match String::deserialize(from)?.as_str() {
            "forfeit" => Ok(FaultPolicy::Forfeit),
            "random-move" => Ok(FaultPolicy::RandomMove),
            other => Err(D::Error::custom(format!(
                "unknown value on_fault = \"{other}\": use \"forfeit\" or \"random-move\""
            ))),
        }
    }
}
