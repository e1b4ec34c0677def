//! `arena formats`

use arena_model::{
    engine::options::nearest,
    format::{Format as TournamentFormat, REFERENCE, Reference, Setting},
};
use clap::Args;
use itertools::Itertools;
use serde_json::{Value, json};

use crate::{
    failure::{Failure, Outcome},
    output::{self, Format, Listing},
};

/// List the tournament formats with their settings
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  arena formats                    list all formats
  arena formats sprt               show the settings of one format, with an example
  arena formats --output json      print everything as JSON")]
pub(crate) struct FormatsArgs {
    /// Format whose settings to show
    format: Option<String>,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    output: Format,
}

impl FormatsArgs {
    pub(crate) fn run(self) -> Outcome {
        let Some(name) = &self.format else {
            return list().print(self.output);
        };
        let reference = find(name)?;
        match self.output {
            Format::Json => output::json(&describe(reference)),
            Format::Jsonl => output::json_line(&describe(reference)),
            Format::Csv => settings(reference).print(Format::Csv),
            Format::Table => {
                let Reference {
                    summary,
                    blocks,
                    example,
                    ..
                } = reference;
                let outcomes = outcomes(reference);
                output::write(&format!(
                    "{name}: {summary}\nblocks: {blocks}\noutcome: {outcomes}\n\n"
                ))?;
                settings(reference).print(Format::Table)?;
                output::write(&format!("\nIn a spec:\n\n{example}"))
            }
        }
    }
}

fn find(name: &str) -> Outcome<&'static Reference> {
    let found = REFERENCE.iter().find(|it| it.format.name() == name);
    found.ok_or_else(|| {
        let names: Vec<&str> = TournamentFormat::ALL.iter().map(|it| it.name()).collect();
        Failure::usage(match nearest(name, names.iter().copied()) {
            Some(nearest) => format!("no format \"{name}\", did you mean \"{nearest}\"?"),
            None => format!("no format \"{name}\", choose one of {}", names.join(", ")),
        })
    })
}

fn list() -> Listing<Value> {
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

fn settings(reference: &Reference) -> Listing<Value> {
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

fn describe(reference: &Reference) -> Value {
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
