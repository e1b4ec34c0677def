//! `resign` and `draw`: when games end by adjudication.

use std::fmt;

use arena_engine::{AdjudicationRules, DrawRule, ResignRule, Score};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, Visitor},
};

/// The version of adjudication that workers name when they join, as the ruleset `@adjudication`.
pub const ADJUDICATION_VERSION: u32 = 1;

/// All keys of `resign`.
pub(super) const RESIGN_KEYS: &[&str] = &["score", "moves"];
/// All keys of `draw`.
pub(super) const DRAW_KEYS: &[&str] = &["score", "moves", "after_plies"];

/// Wins by adjudication: a seat loses if both agents agree about that.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { score = 600, moves = 3 }"
)]
pub struct Resign {
    /// The losing agent reports at most the negative of this score, and the winning agent at least
    /// this score, each in the unit of its own scores.
    #[cfg_attr(test, schemars(with = "f64"))]
    #[serde(with = "score")]
    pub score: Score,
    /// Number of consecutive moves of each seat for which they do.
    #[cfg_attr(test, schemars(range(min = 1, max = 100)))]
    #[serde(deserialize_with = "super::whole::<1, u32, _>")]
    pub moves: u32,
}

/// Draws by adjudication.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { score = 10, moves = 8, after_plies = 80 }"
)]
pub struct Draw {
    /// Both agents report scores that are no farther from 0 than this, each in the unit of its own
    /// scores.
    #[cfg_attr(test, schemars(with = "f64"))]
    #[serde(with = "score")]
    pub score: Score,
    /// Number of consecutive moves of each seat for which they do.
    #[cfg_attr(test, schemars(range(min = 1, max = 100)))]
    #[serde(deserialize_with = "super::whole::<1, u32, _>")]
    pub moves: u32,
    /// Number of plies that the game has at least, with those of its opening.
    #[serde(default, deserialize_with = "super::whole::<0, u32, _>")]
    pub after_plies: u32,
}

pub(super) fn rules(resign: Option<Resign>, draw: Option<Draw>) -> AdjudicationRules {
    AdjudicationRules {
        resign: resign.map(|Resign { score, moves }| ResignRule { score, moves }),
        draw: draw.map(|it| DrawRule {
            score: it.score,
            moves: it.moves,
            after_plies: it.after_plies,
        }),
    }
}

/// The score that an agent reports; none if it is not a number.
#[must_use]
pub fn score_of(score: f64) -> Option<Score> {
    // A cast of a large number gives the largest one, which is more than any score.
    (!score.is_nan()).then(|| Score::from_thousandths((score * 1000.0).round() as i64))
}

/// Scores as numbers of JSON and TOML.
pub(crate) mod score {
    use super::{Deserializer, Error, Score, Serializer, Visitor, fmt, score_of};

    pub(crate) fn serialize<S: Serializer>(value: &Score, to: S) -> Result<S::Ok, S::Error> {
        match value.thousandths() {
            whole if whole % 1000 == 0 => to.serialize_i64(whole / 1000),
            thousandths => to.serialize_f64(thousandths as f64 / 1000.0),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Score, D::Error> {
        from.deserialize_any(Number)
    }

    struct Number;

    impl Visitor<'_> for Number {
        type Value = Score;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            let max = Score::MAX;
            write!(
                f,
                "a number from -{max} to {max}, with at most three decimals"
            )
        }

        fn visit_i64<E: Error>(self, value: i64) -> Result<Score, E> {
            self.visit_f64(value as f64)
        }

        fn visit_u64<E: Error>(self, value: u64) -> Result<Score, E> {
            self.visit_f64(value as f64)
        }

        fn visit_f64<E: Error>(self, value: f64) -> Result<Score, E> {
            let read = score_of(value).filter(|read| read.thousandths() as f64 / 1000.0 == value);
            read.ok_or_else(|| E::custom(format!("{value}: expected {}", Self::text())))
        }
    }

    impl Number {
        fn text() -> String {
            (&Self as &dyn serde::de::Expected).to_string()
        }
    }
}
