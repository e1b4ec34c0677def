//! Formats of tournaments with their settings.

use arena_model::format::{REFERENCE, Reference, Setting};
use itertools::Itertools;
use serde_json::{Value, json};

use crate::listing::Listing;

/// A format with its settings and an example, for a reader. Its table has at most this width.
#[must_use]
pub fn text(reference: &Reference, width: Option<usize>) -> String {
    let Reference {
        format,
        summary,
        blocks,
        example,
        ..
    } = reference;
    let (name, outcomes) = (format.name(), outcomes(reference));
    let settings = settings(reference).table(width);
    format!(
        "{name}: {summary}\nblocks: {blocks}\noutcome: {outcomes}\n\n{settings}\nIn a spec:\n\n{example}"
    )
}

/// All formats.
#[must_use]
pub fn listing() -> Listing<Value> {
    let row = |reference: &Reference| {
        let name = reference.format.name().to_owned();
        let keys = reference.settings.iter().map(|it| &*it.key).join(" ");
        let row = vec![
            name,
            outcomes(reference),
            keys,
            reference.summary.to_owned(),
        ];
        (row, describe(reference))
    };
    Listing {
        header: vec!["format", "outcome", "settings", "what"],
        rows: REFERENCE.iter().map(row).collect(),
        empty: "there are no formats",
    }
}

/// The values of `outcome` that a format accepts.
fn outcomes(reference: &Reference) -> String {
    match reference.format.rates_returns() {
        true => "ranks, returns".to_owned(),
        false => "ranks".to_owned(),
    }
}

/// The settings of a format.
#[must_use]
pub fn settings(reference: &Reference) -> Listing<Value> {
    let row = |setting: &Setting| {
        let row = [
            &setting.key,
            &setting.default,
            &setting.values,
            &setting.summary,
        ];
        (row.map(String::clone).to_vec(), Value::Null)
    };
    Listing {
        header: vec!["setting", "default", "values", "what"],
        rows: reference.settings.iter().map(row).collect(),
        empty: "it has no settings",
    }
}

/// A format, for programs.
#[must_use]
pub fn describe(reference: &Reference) -> Value {
    let settings = reference.settings.iter().map(|it| {
        json!({ "key": it.key, "default": it.default, "values": it.values, "summary": it.summary })
    });
    json!({
        "format": reference.format.name(),
        "summary": reference.summary,
        "blocks": reference.blocks,
        "returns": reference.format.rates_returns(),
        "settings": settings.collect_vec(),
        "example": reference.example,
    })
}
