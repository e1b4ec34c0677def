//! Canonical JSON.

use serde::Serialize;

/// JSON without spaces, with keys in ascending order at every depth: equal values give equal bytes.
///
/// # Panics
/// If the value cannot be JSON (a map with keys that are not text).
pub fn canonical_json(value: &impl Serialize) -> String {
    // `serde_json::Value` keeps objects in a BTreeMap (feature
    // `preserve_order` is off), which is what sorts the keys.
    let value = serde_json::to_value(value).expect("plain data is JSON");
    value.to_string()
}
