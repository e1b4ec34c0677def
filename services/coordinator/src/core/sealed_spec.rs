//! The spec of a tournament whose seed is sealed.

use arena_model::{canonical_json, spec::Spec};
use arena_wire::v1;

/// A spec without its seed.
pub(super) struct SealedSpec {
    /// The commitment to the seed.
    pub(super) commitment: String,
    pub(super) json: String,
    pub(super) toml: String,
}

impl SealedSpec {
    /// What cannot be read is not shown.
    pub(super) fn of(document: &v1::Tournament) -> Self {
        let json = serde_json::from_str::<serde_json::Value>(&document.spec_json);
        let json = json.map(|mut spec| {
            spec.as_object_mut().map(|fields| fields.remove("seed"));
            canonical_json(&spec)
        });
        let toml = Spec::parse(&document.spec_toml);
        let toml = toml.map(|spec| Spec { seed: None, ..spec }.to_toml());
        Self {
            commitment: document.seed_commitment.clone(),
            json: json.unwrap_or_default(),
            toml: toml.unwrap_or_default(),
        }
    }
}
