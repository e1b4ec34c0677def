//! Tournament formats: each is a pure function of a spec and of the results of earlier
//! stages.
//!
//! A format is a module that implements [`StagePlanner`], and one line in the list below.
//! It sees integer sums of a whole stage and no single games, so that its decisions do not
//! depend on the order in which games finish.

mod bracket;
mod combinations;
mod draw;
mod field;
mod fixed;
mod gauntlet;
mod knockout;
mod ladder;
mod matchmaking;
mod pairing;
mod planner;
mod rating;
mod round_robin;
mod season;
pub mod sprt;
mod sums;
mod swiss;
mod tables;
#[cfg(test)]
mod tests;
mod verdict;

use arena_model::format::Format;

use combinations::combinations;
pub use field::{Field, FormatError};
pub use planner::{FormatProgress, Games, Next, SeasonStanding, StagePlanner};
pub(crate) use sums::pairs;
pub use sums::{Meeting, StageSums, Units};
pub use verdict::{SwissStanding, Verdict, listed};

/// All formats.
const ALL: &[(Format, New)] = &[
    (Format::RoundRobin, round_robin::new),
    (Format::Gauntlet, gauntlet::new),
    (Format::Sprt, sprt::new),
    (Format::Swiss, swiss::new),
    (Format::Knockout, knockout::new),
    (Format::Ladder, ladder::new),
    (Format::Fixed, fixed::new),
];

type New = fn(Field) -> Result<Box<dyn StagePlanner>, FormatError>;

/// The planner of a tournament's format.
///
/// # Errors
/// [`FormatError`] if the format refuses the spec.
pub(crate) fn planner(field: Field) -> Result<Box<dyn StagePlanner>, FormatError> {
    let format = ALL.iter().find(|(format, _)| *format == field.format);
    match format {
        Some((_, new)) => new(field),
        None => Err(field.error("it is not in the list of formats".to_owned())),
    }
}
