//! `arena formats`

use arena_model::{
    engine::options::nearest,
    format::{Format as TournamentFormat, REFERENCE, Reference},
};
use arena_report::formats::{self, describe};
use clap::Args;

use crate::{
    failure::{Failure, Outcome},
    output::{self, Format},
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
            return output::print(&formats::listing(), self.output);
        };
        let reference = find(name)?;
        match self.output {
            Format::Json => output::json(&describe(reference)),
            Format::Jsonl => output::json_line(&describe(reference)),
            Format::Csv => output::print(&formats::settings(reference), Format::Csv),
            Format::Table => output::write(&formats::text(reference, output::width())),
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
