//! `arena export`

use std::io::{self, BufWriter, Write};

use arena_wire::v1;
use clap::{Args, ValueEnum};
use serde_json::json;

use crate::{
    access::{AccessArgs, Client},
    failure::{Failure, Outcome},
    model::{self, Rules},
    output,
};

/// Games asked for at a time.
const PAGE: u32 = 512;

/// Write all finished games of a tournament, in index order
#[derive(Debug, Args)]
#[command(after_help = "\
A line of JSON is one record; its \"hash\" is the SHA-256 of the line without
`,\"hash\":\"…\"`. The bytes do not depend on who played the games, or when.

Examples:
  arena export demo-3f9a0c1b22 > games.jsonl
  arena export demo-3f9a0c1b22 | sha256sum
  arena export demo-3f9a0c1b22 --format csv > games.csv
  arena export demo-3f9a0c1b22 --records hash | sha256sum")]
pub(crate) struct ExportArgs {
    /// Id of the tournament
    id: String,

    #[command(flatten)]
    access: AccessArgs,

    /// jsonl: all of every game; csv: one line of results a game
    #[arg(long, value_enum, default_value_t)]
    format: ExportFormat,

    /// full: whole records; hash: result, seed and hash, with null in the place
    /// of the events, which is all that a tournament with records = "hash" has
    #[arg(long, value_enum, default_value_t)]
    records: ExportRecords,

    /// Add worker, start, duration and latencies to each record
    #[arg(long)]
    with_timing: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum ExportFormat {
    #[default]
    Jsonl,
    Csv,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum ExportRecords {
    #[default]
    Full,
    Hash,
}

impl ExportArgs {
    pub(crate) async fn run(self) -> Outcome {
        let mut access = self.access.open().await?;
        let outcome = self.write(&mut access.client).await;
        outcome.and(access.close().await)
    }

    async fn write(&self, client: &mut Client) -> Outcome {
        let tournament = tournament(client, &self.id).await?;
        let setup = tournament.setup.unwrap_or_default();
        let whole = self.format == ExportFormat::Jsonl && self.records == ExportRecords::Full;
        if whole && setup.hash_only {
            let game = format!("{}/INDEX", self.id);
            return Err(Failure::usage(format!(
                "{}; --records hash exports what there is",
                model::not_kept(&self.id, &game)
            )));
        }
        let rules = Rules::of(&setup)?;
        let mut out = BufWriter::new(io::stdout().lock());
        if self.format == ExportFormat::Csv {
            emit(&mut out, &csv_header(&rules))?;
        }
        let mut token = String::new();
        loop {
            let request = v1::ListGamesRequest {
                tournament_id: self.id.clone(),
                page_size: PAGE,
                page_token: token,
                with_timing: self.with_timing,
                from_index: 0,
            };
            let page = client.list_games(request).await?.into_inner();
            for game in &page.games {
                emit(&mut out, &self.line(&rules, game)?)?;
            }
            token = page.next_page_token;
            if token.is_empty() {
                break;
            }
        }
        finish(out.flush())
    }

    fn line(&self, rules: &Rules, game: &v1::GameReport) -> Outcome<String> {
        let record = model::record(game.record.as_ref())?;
        if self.format == ExportFormat::Csv {
            return Ok(csv(rules, &record));
        }
        let mut line = match self.records {
            ExportRecords::Full => rules.line(&record)?,
            ExportRecords::Hash => rules.short_line(&record)?,
        };
        if let Some(timing) = game.timing.as_ref().filter(|_| self.with_timing) {
            let timing = json!({
                "worker": timing.worker,
                "started_unix_us": timing.started_unix_us,
                "duration_us": timing.duration_us,
                "latencies_us": timing.latencies_us,
            });
            line.pop();
            line += &format!(",\"timing\":{timing}}}");
        }
        line.push('\n');
        Ok(line)
    }
}

/// The names of the columns of [`csv`].
pub(crate) fn csv_header(rules: &Rules) -> String {
    let seats = rules.game.seats();
    let mut header = ["game_id", "index", "block"].map(str::to_owned).to_vec();
    for kind in ["seat", "placement", "score"] {
        header.extend((0..seats).map(|seat| format!("{kind}_{seat}")));
    }
    header.extend(["plies", "termination", "faults", "hash"].map(str::to_owned));
    output::csv_line(&header)
}

/// A game's results as a line of comma-separated values.
pub(crate) fn csv(rules: &Rules, record: &arena_model::GameRecord) -> String {
    let seats = record.seats.len();
    let mut cells = vec![
        format!("{}/{}", rules.header.tournament_id, record.index),
        record.index.to_string(),
        record.block.to_string(),
    ];
    cells.extend(
        record
            .seats
            .iter()
            .map(|&agent| rules.header.agents[usize::from(agent)].clone()),
    );
    cells.extend((0..seats).map(|seat| {
        let rank = record.placement.get(seat);
        rank.map_or_else(String::new, ToString::to_string)
    }));
    cells.extend(record.scores.iter().map(ToString::to_string));
    cells.push(record.plies.to_string());
    cells.push(record.termination.name().to_owned());
    let faults: Vec<String> = record
        .faults
        .iter()
        .map(|fault| format!("{}:{}", fault.seat, fault.kind.name()))
        .collect();
    cells.push(faults.join(" "));
    cells.push(hex::encode(record.hash));
    output::csv_line(&cells)
}

fn emit(out: &mut impl Write, text: &str) -> Outcome {
    finish(out.write_all(text.as_bytes()))
}

/// A reader that went away ends the program quietly.
fn finish(result: io::Result<()>) -> Outcome {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => std::process::exit(0),
        other => Ok(other?),
    }
}

/// The tournament of an id.
pub(crate) async fn tournament(client: &mut Client, id: &str) -> Outcome<v1::Tournament> {
    let request = v1::GetTournamentRequest {
        tournament_id: id.to_owned(),
    };
    Ok(client
        .get_tournament(request)
        .await?
        .into_inner()
        .tournament
        .unwrap_or_default())
}
