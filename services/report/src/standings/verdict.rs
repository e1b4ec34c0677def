//! Progress and verdict of a tournament's format.

use arena_wire::v1;
use serde::Serialize;

/// Progress of the format.
#[derive(Serialize)]
pub struct CourseView<'a> {
    round: u64,
    rounds: Option<u64>,
    llr: Option<f64>,
    llr_low: Option<f64>,
    llr_high: Option<f64>,
    text: &'a str,
}

impl<'a> From<&'a v1::Course> for CourseView<'a> {
    fn from(course: &'a v1::Course) -> Self {
        Self {
            round: course.round,
            rounds: course.rounds,
            llr: course.llr,
            llr_low: course.llr_low,
            llr_high: course.llr_high,
            text: &course.text,
        }
    }
}

/// The verdict of a tournament as an object; `None` until the tournament is finished.
pub fn object(json: &str) -> Option<serde_json::Value> {
    serde_json::from_str(json).ok()
}

/// The verdict as text; `None` until the tournament is finished.
pub fn text(json: &str) -> Option<String> {
    Some(object(json)?.get("text")?.as_str()?.to_owned())
}
