//! `arena game list`

use arena_wire::v1;
use clap::Args;
use serde_json::json;

use crate::{
    access::{AccessArgs, Client},
    commands::export,
    failure::Outcome,
    model::{self, Rules},
    output::{Format, Listing, note},
};

/// List the finished games of a tournament
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  arena game list demo-3f9a0c1b22
  arena game list demo-3f9a0c1b22 --from 1000 --limit 50 --output jsonl")]
pub(crate) struct ListArgs {
    /// Id of the tournament
    id: String,

    #[command(flatten)]
    access: AccessArgs,

    /// Index of the first game shown
    #[arg(long, default_value_t = 0, value_name = "INDEX")]
    from: u64,

    /// How many games are shown
    #[arg(long, default_value_t = 20, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=512))]
    limit: u32,

    /// How to print
    #[arg(long, value_enum, default_value_t)]
    output: Format,
}

impl ListArgs {
    pub(crate) async fn run(self) -> Outcome {
        let mut access = self.access.open().await?;
        let outcome = self.list(&mut access.client).await;
        outcome.and(access.close().await)
    }

    async fn list(&self, client: &mut Client) -> Outcome {
        let tournament = export::tournament(client, &self.id).await?;
        let rules = Rules::of(&tournament.setup.unwrap_or_default())?;
        let request = v1::ListGamesRequest {
            tournament_id: self.id.clone(),
            page_size: self.limit,
            page_token: String::new(),
            with_timing: false,
            from_index: self.from,
        };
        let page = client.list_games(request).await?.into_inner();
        let mut rows = Vec::new();
        for game in &page.games {
            let record = model::record(game.record.as_ref())?;
            rows.push(row(&rules, &record));
        }
        let shown = rows.len() as u64;
        let listing = Listing {
            header: vec![
                "game",
                "seats",
                "placement",
                "scores",
                "plies",
                "termination",
                "faults",
            ],
            rows,
            empty: "no finished games there",
        };
        listing.print(self.output)?;
        if self.output == Format::Table && !page.next_page_token.is_empty() {
            note(format!(
                "{shown} of {} finished games; more with --from and --limit, all with arena export",
                tournament.games_done
            ));
        }
        Ok(())
    }
}

fn row(rules: &Rules, record: &arena_model::GameRecord) -> (Vec<String>, serde_json::Value) {
    let id = format!("{}/{}", rules.header.tournament_id, record.index);
    let seats: Vec<&str> = record
        .seats
        .iter()
        .map(|&agent| rules.header.agents[usize::from(agent)].as_str())
        .collect();
    let join = |values: Vec<String>| values.join(" ");
    let faults: Vec<String> = record
        .faults
        .iter()
        .map(|fault| format!("{}: {}", seats[usize::from(fault.seat)], fault.kind.name()))
        .collect();
    let cells = vec![
        id.clone(),
        seats.join(", "),
        join(record.placement.iter().map(ToString::to_string).collect()),
        join(record.scores.iter().map(ToString::to_string).collect()),
        record.plies.to_string(),
        record.termination.name().to_owned(),
        faults.join(", "),
    ];
    let value = json!({
        "game_id": id,
        "seats": seats,
        "placement": Some(&record.placement).filter(|ranks| !ranks.is_empty()),
        "scores": record.scores,
        "luck": Some(&record.luck).filter(|luck| !luck.is_empty()),
        "plies": record.plies,
        "termination": record.termination.name(),
        "faults": faults,
    });
    (cells, value)
}
