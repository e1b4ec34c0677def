//! How far a tournament's format is, and what the tournament came to.

use arena_wire::v1;
use serde::Serialize;

/// How far the format is.
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

/// What a tournament came to, as an object; none until it is finished.
pub fn object(json: &str) -> Option<serde_json::Value> {
    serde_json::from_str(json).ok()
}

/// The same for people; none until it is finished.
pub fn text(json: &str) -> Option<String> {
    Some(object(json)?.get("text")?.as_str()?.to_owned())
}
