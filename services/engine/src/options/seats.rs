//! The number of seats of a game.

use super::{OptionError, Options, Preset, Value, find_preset};

/// The number of seats of a ruleset with these bounds: the given one, else the chosen preset's, else
/// the minimum.
///
/// # Errors
/// [`OptionError`] if the preset is unknown, or the number is not possible.
pub fn resolve_seats(
    ruleset: &str,
    (least, most): (usize, usize),
    presets: &[Preset],
    given: &Options,
    seats: Option<usize>,
) -> Result<usize, OptionError> {
    let fixed = match given.get("preset") {
        Some(Value::Text(preset)) if !presets.is_empty() => find_preset(presets, preset)?.seats,
        _ => None,
    };
    let seats = seats.or(fixed).unwrap_or(least);
    let (what, least, most) = match fixed {
        Some(fixed) if fixed != seats => {
            let preset = given.get("preset").map(ToString::to_string);
            (
                format!("preset {}", preset.unwrap_or_default()),
                fixed,
                fixed,
            )
        }
        _ => (ruleset.to_owned(), least, most),
    };
    if (least..=most).contains(&seats) {
        return Ok(seats);
    }
    let allowed = match least == most {
        true => least.to_string(),
        false => format!("{least} to {most}"),
    };
    Err(OptionError::Seats {
        what,
        allowed,
        seats,
    })
}
