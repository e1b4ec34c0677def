//! `arena tournament remove`

use std::io::{self, BufRead, IsTerminal, Write};

use arena_report::{
    tournaments::{csv, describe, summary},
    units::{self, plural},
};
use arena_wire::v1;
use clap::Args;

use crate::{
    access::{AccessArgs, Client, request_id},
    failure::{Failure, Outcome},
    ids,
    output::{self, Format},
};

#[derive(Debug, Args)]
pub(crate) struct RemoveArgs {
    /// Ids of the tournaments, or unambiguous prefixes; @last is the newest tournament
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,

    #[command(flatten)]
    pub(super) access: AccessArgs,

    /// Do not ask; needed without a terminal
    #[arg(long)]
    yes: bool,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    output: Format,
}

impl RemoveArgs {
    pub(super) async fn run(self, client: &mut Client) -> Outcome {
        // All ids are known before the first tournament is removed.
        let mut tournaments = Vec::with_capacity(self.ids.len());
        for id in &self.ids {
            let id = ids::tournament(client, id).await?;
            let found = arena_report::records::tournament(client, &id).await?;
            if !tournaments
                .iter()
                .any(|it: &v1::Tournament| it.tournament_id == id)
            {
                tournaments.push(found);
            }
        }
        if !(self.yes || confirmed(&tournaments)?) {
            return Err(Failure::usage("nothing was removed"));
        }
        let mut removed = Vec::with_capacity(tournaments.len());
        let mut failed = None;
        for tournament in tournaments {
            match remove(client, tournament.tournament_id, String::new()).await {
                Ok(tombstone) => removed.push(tombstone),
                Err(failure) => {
                    failed = Some(failure);
                    break;
                }
            }
        }
        // Also before a failure: these are gone.
        print(&removed, self.output)?;
        failed.map_or(Ok(()), Err)
    }
}

/// Asks on a terminal.
fn confirmed(tournaments: &[v1::Tournament]) -> Outcome<bool> {
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return Err(Failure::usage(
            "a removal cannot be undone: confirm it with --yes, or keep an archive with `arena \
             tournament archive ID --into FOLDER --remove`",
        ));
    }
    let games = tournaments.iter().map(|it| it.games_done).sum();
    let ids: String = tournaments.iter().map(summary).collect();
    let mut terminal = io::stderr().lock();
    write!(
        terminal,
        "{}Remove {} and {} for good? [y/N] ",
        arena_model::printable(&ids),
        plural(tournaments.len() as u64, "tournament"),
        plural(games, "game"),
    )?;
    terminal.flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(["y", "yes"].contains(&answer.trim().to_lowercase().as_str()))
}

/// Removes a tournament. Returns what is left of it.
pub(super) async fn remove(
    client: &mut Client,
    tournament_id: String,
    archive_sha256: String,
) -> Outcome<v1::Tournament> {
    let request = v1::RemoveTournamentRequest {
        request_id: request_id(),
        tournament_id,
        archive_sha256,
    };
    let answer = client.remove_tournament(request).await?.into_inner();
    Ok(answer.tournament.unwrap_or_default())
}

fn print(removed: &[v1::Tournament], format: Format) -> Outcome {
    match format {
        Format::Json => output::json(&removed.iter().map(describe).collect::<Vec<_>>()),
        Format::Jsonl => removed
            .iter()
            .map(describe)
            .try_for_each(|it| output::json_line(&it)),
        Format::Csv => output::write(&csv(removed)),
        Format::Table => {
            let line = |it: &v1::Tournament| {
                let games = units::count(it.games_done);
                format!("{}: removed, {games} games\n", it.tournament_id)
            };
            output::write(&removed.iter().map(line).collect::<String>())
        }
    }
}
