//! States of tournaments as text.

use arena_wire::v1::{self, TournamentState};

/// The name of a state in output.
#[must_use]
pub fn state_name(state: TournamentState) -> &'static str {
    match state {
        TournamentState::Unspecified => "unknown",
        TournamentState::Running => "running",
        TournamentState::Paused => "paused",
        TournamentState::Finished => "finished",
        TournamentState::Cancelled => "cancelled",
    }
}

/// The reason for a pause with its error, on one line.
#[must_use]
pub fn pause_line(pause: &v1::Pause) -> String {
    let error: Vec<&str> = pause.error.lines().map(str::trim).collect();
    match error.as_slice() {
        [] => pause.reason.clone(),
        error => format!("{} ({})", pause.reason, error.join("; ")),
    }
}

/// Formats the reason for a pause, and the remedy.
#[must_use]
pub fn format_pause(pause: &v1::Pause) -> String {
    let mut text = pause.reason.clone();
    for line in pause.error.lines() {
        text += &format!("\n    {line}");
    }
    text + "\n" + &pause.advice
}
