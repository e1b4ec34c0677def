//! The reference of formats for users: description, settings, and an example.

use std::sync::LazyLock;

use serde::Deserialize;

use super::Format;

/// A setting of a format's table.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Setting {
    /// Its key.
    pub key: String,
    /// Its default as a spec writes it, or words if it follows from other settings.
    pub default: String,
    /// Its valid values.
    pub values: String,
    /// Its effect.
    pub summary: String,
}

/// A format in `arena formats`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Reference {
    /// The format.
    pub format: Format,
    /// Who plays whom, and how it ends.
    pub summary: String,
    /// Meaning of `blocks`.
    pub blocks: String,
    /// Settings of its table.
    #[serde(default)]
    pub settings: Vec<Setting>,
    /// Lines of a spec that choose it.
    pub example: String,
}

/// All formats, in the order of [`Format::ALL`].
pub static REFERENCE: LazyLock<Vec<Reference>> = LazyLock::new(|| {
    #[derive(Deserialize)]
    struct File {
        format: Vec<Reference>,
    }
    let file: File = toml::from_str(include_str!("../../data/formats.toml")).expect("our own data");
    file.format
});
