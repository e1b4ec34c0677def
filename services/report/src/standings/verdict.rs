//! The verdict of a tournament's format.

/// The verdict of a tournament as an object; `None` until the tournament is finished.
pub fn object(json: &str) -> Option<serde_json::Value> {
    serde_json::from_str(json).ok()
}

/// The verdict as text; `None` until the tournament is finished.
pub fn text(json: &str) -> Option<String> {
    Some(object(json)?.get("text")?.as_str()?.to_owned())
}
