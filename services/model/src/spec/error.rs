//! What is wrong with a spec.

/// A spec that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// Not TOML, or a value of the wrong type.
    #[error("{0}")]
    Toml(String),
    /// A key that does not exist.
    #[error("unknown key \"{key}\"{place}{}", did_you_mean(nearest.as_ref(), known))]
    UnknownKey {
        /// The key.
        key: String,
        /// ` in [play]` and the like; empty at the top.
        place: String,
        /// The known key nearest to it.
        nearest: Option<String>,
        /// All keys there.
        known: Vec<String>,
    },
    /// A value out of its range, or values that do not go together.
    #[error("{0}")]
    Value(String),
}

fn did_you_mean(nearest: Option<&String>, known: &[String]) -> String {
    nearest.map_or_else(
        || format!("; known keys: {}", known.join(", ")),
        |nearest| format!(", did you mean \"{nearest}\"?"),
    )
}
