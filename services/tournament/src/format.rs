//! Tournament formats: each a pure function of a spec and of what came of the
//! games of earlier stages.
//!
//! A format is a module that implements [`StagePlanner`], and one line in the list
//! below. It sees integer sums of a whole stage, never single games, so that
//! what it decides does not depend on who was quicker.

mod bracket;
mod combinations;
mod draw;
mod fixed;
mod gauntlet;
mod knockout;
mod ladder;
mod pairing;
mod planner;
mod rating;
mod round_robin;
pub mod sprt;
mod sums;
mod swiss;
mod tables;
#[cfg(test)]
mod tests;
mod verdict;

use arena_model::format::Format;

use combinations::combinations;
pub use planner::{Field, FormatError, FormatProgress, Games, Next, StagePlanner};
pub(crate) use sums::pairs;
pub use sums::{Meeting, StageSums, Units};
pub use verdict::{SwissStanding, Verdict};

/// The formats that there are.
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
