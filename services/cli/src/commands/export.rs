//! `arena export`

use std::path::PathBuf;

use arena_client::export::{Export, ExportFormat, ExportRecords, ExportTable};
use clap::Args;

use crate::{
    access::AccessArgs,
    failure::{Failure, Outcome},
};

/// Export the games of a tournament, in index order
#[derive(Debug, Args)]
#[command(after_help = "\
A line of JSON is one record; its \"hash\" is the SHA-256 of the line without
`,\"hash\":\"…\"`. The bytes do not depend on which worker played a game, or when.
In games with dice, \"luck\" is the effect of the dice on each seat: the value of each
throw minus the mean over all possible throws, in millionths of a game's score.

Tables of games have the column return_N for each seat N if the spec of a tournament has
outcome = \"returns\": the shortest decimal that reads back, and empty for void games.

Tables in csv and parquet, and decisions and standings in jsonl, end with the columns
tournament_id, generation, tournament_seed and spec_sha256 (of the spec with all
defaults). Standings also have spec_json, which contains this spec.

Examples:
  arena export demo-3f9a0c1b22 > games.jsonl
  arena export @last | sha256sum
  arena export --all --table standings --format csv > standings.csv
  arena export demo-3f9a0c1b22 --format csv > games.csv
  arena export demo-3f9a0c1b22 --table decisions --format parquet --out moves.parquet
  arena export --all --table games --format parquet --folder ./games
  arena export demo-3f9a0c1b22 --records hash | sha256sum
  arena export @last --format pgn > games.pgn")]
pub(crate) struct ExportArgs {
    /// Id of the tournament, or an unambiguous prefix; @last is the newest tournament
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    id: Option<String>,

    /// Export all tournaments, oldest first
    #[arg(long)]
    all: bool,

    #[command(flatten)]
    access: AccessArgs,

    /// games: one row per finished game, in index order; decisions: one row per ply;
    /// standings: one row per agent
    #[arg(long, value_enum, default_value_t)]
    table: ExportTable,

    /// jsonl: one JSON document per line (for games, whole records); csv and parquet: a
    /// fixed set of columns; pgn: games of chess, for chess programs
    #[arg(long, value_enum, default_value_t)]
    format: ExportFormat,

    /// full: whole records; hash: result, seed and hash, with null instead of the events.
    /// For a tournament with records = "hash", both give the same lines
    #[arg(long, value_enum, default_value_t)]
    records: ExportRecords,

    /// Add worker, start time and duration to each game; in JSON, latencies as well
    #[arg(long)]
    with_timing: bool,

    /// Export an earlier generation: the games before `arena tournament retry`
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    generation: Option<u32>,

    /// Do not protect csv cells that look like formulas with an apostrophe
    #[arg(long)]
    raw: bool,

    /// Write to this file, atomically, instead of stdout
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Write csv or parquet to files in this new folder: tournament_id=ID/part-00000.parquet, …,
    /// and manifest.json last, with the rows, size and SHA-256 of each
    #[arg(long, value_name = "FOLDER", conflicts_with = "out")]
    folder: Option<PathBuf>,

    /// Maximum number of rows of a file in the folder
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1_000_000,
        requires = "folder",
        value_parser = clap::value_parser!(u64).range(1..)
    )]
    rows_per_file: u64,
}

impl ExportArgs {
    pub(crate) async fn run(self) -> Outcome {
        if self.format == ExportFormat::Parquet && cfg!(not(feature = "parquet")) {
            return Err(Failure::usage(
                "this arena was built without Parquet: build it with `cargo build --release \
                 --package arena-cli --features parquet`, or use --format csv or jsonl",
            ));
        }
        let export = Export {
            id: self.id,
            table: self.table,
            format: self.format,
            records: self.records,
            with_timing: self.with_timing,
            generation: self.generation,
            raw: self.raw,
            out: self.out,
            folder: self.folder,
            rows_per_file: self.rows_per_file,
        };
        let mut access = self.access.open().await?;
        let outcome = export.write(&mut access.client).await;
        outcome.and(access.close().await)
    }
}
