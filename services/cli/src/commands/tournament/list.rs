//! `arena tournament list`

use arena_report::tournament_list::{ListColumns, listing};
use arena_wire::v1;
use clap::Args;

use crate::{
    access::{AccessArgs, Client},
    failure::Outcome,
    ids,
    output::{self, Format, note},
};

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// List only tournaments whose name starts with this text
    #[arg(value_name = "NAME")]
    name: Option<String>,

    #[command(flatten)]
    pub(super) access: AccessArgs,

    /// List each generation of an evolution on its own line (the default with NAME, json,
    /// jsonl and csv)
    #[arg(long)]
    all: bool,

    /// List removed tournaments instead of the others
    #[arg(long)]
    removed: bool,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    output: Format,
}

pub(super) async fn list(client: &mut Client, args: &ListArgs) -> Outcome {
    let mut tournaments = ids::listed(client, args.removed).await?;
    if let Some(name) = &args.name {
        tournaments.retain(|tournament| tournament.name.starts_with(name.as_str()));
    }
    let together = args.output == Format::Table && !args.all && args.name.is_none();
    let columns = match args.output {
        Format::Csv => ListColumns::Csv,
        _ => ListColumns::Table,
    };
    let empty = match args.name {
        None if args.removed => "no tournament was removed",
        Some(_) => "no tournament has this name: `arena tournament list` shows all",
        None => "no tournaments yet: start one with `arena tournament start SPEC`",
    };
    output::print(
        &listing(&tournaments, columns, together, empty),
        args.output,
    )?;
    if args.output == Format::Table {
        for tournament in &tournaments {
            if let Some(pause) = &tournament.pause {
                let id = &tournament.tournament_id;
                let v1::Pause { reason, error, .. } = pause;
                let colon = if error.is_empty() { "" } else { ": " };
                note(format!(
                    "{id} is paused: {reason}{colon}{error}; `arena tournament show {id}` explains \
                     what to do"
                ));
            }
        }
    }
    Ok(())
}
