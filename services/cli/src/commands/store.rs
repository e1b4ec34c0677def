//! `arena store …`

use std::path::PathBuf;

use arena_store::{BackupReport, StoreError};
use clap::{Args, Subcommand};

use crate::{
    access::DEFAULT_DATA,
    failure::{Failure, Outcome},
    output::{self, Format, note},
};

/// Verify, back up and restore a data folder
#[derive(Debug, Subcommand)]
pub(crate) enum StoreCommand {
    /// Check every record of a data folder that nobody uses
    #[command(after_help = "\
Exits with 3 where something is damaged, and says what. With --repair it exits
with 0 where the store then has all that was ever acknowledged, and with 3 where
it was repaired, and something is lost.

Examples:
  arena store verify --data ./arena-data
  arena store verify --repair --data ./arena-data")]
    Verify(VerifyArgs),
    /// Write a data folder that nobody uses into one file
    #[command(after_help = "\
Examples:
  arena store backup --data ./arena-data /backups/monday.arena")]
    Backup(BackupArgs),
    /// Bring a backup back into a new data folder
    #[command(after_help = "\
Examples:
  arena store restore /backups/monday.arena --data ./arena-data")]
    Restore(RestoreArgs),
}

#[derive(Debug, Args)]
pub(crate) struct DataArgs {
    /// The data folder
    #[arg(long, env = "ARENA_DATA", value_name = "DIR", default_value = DEFAULT_DATA)]
    data: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    data: DataArgs,

    /// Build a new database of all that can be read, past the damaged one where
    /// need be; what is lost is listed, and played again
    #[arg(long)]
    repair: bool,

    /// How to print
    #[arg(long, value_enum, default_value_t)]
    output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct BackupArgs {
    #[command(flatten)]
    data: DataArgs,

    /// The file; must not exist
    to: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct RestoreArgs {
    #[command(flatten)]
    data: DataArgs,

    /// The backup
    from: PathBuf,
}

impl StoreCommand {
    pub(crate) fn run(self) -> Outcome {
        match self {
            Self::Verify(args) if args.repair => repair(&args),
            Self::Verify(args) => verify(&args),
            Self::Backup(args) => {
                let report = arena_store::backup(&args.data.data, &args.to).map_err(failure)?;
                tell("backed up to", &report)
            }
            Self::Restore(args) => {
                let report = arena_store::restore(&args.from, &args.data.data).map_err(failure)?;
                tell("restored to", &report)
            }
        }
    }
}

/// What the user named wrongly is the user's; the rest is the disk's.
fn failure(error: StoreError) -> Failure {
    match error {
        StoreError::NotFound { .. } | StoreError::NotEmpty { .. } => Failure::usage(error),
        StoreError::Corrupt { .. } => Failure::differs(error),
        _ => Failure::failed(error),
    }
}

fn verify(args: &VerifyArgs) -> Outcome {
    let report = arena_store::verify(&args.data.data).map_err(failure)?;
    match args.output {
        Format::Json => output::json(&report)?,
        Format::Jsonl => output::json_line(&report)?,
        Format::Csv => output::write(&format!(
            "games,documents,binaries,bytes,damages\n{},{},{},{},{}\n",
            report.games,
            report.documents,
            report.binaries,
            report.bytes_on_disk,
            report.damages.len()
        ))?,
        Format::Table => output::write(&format!(
            "{}: {} games, {} documents, {} binaries, {} bytes\n",
            report.path.display(),
            report.games,
            report.documents,
            report.binaries,
            report.bytes_on_disk
        ))?,
    }
    if report.in_place {
        note(
            "checked in place, since there is no room for a copy: a torn end of the log is cut off",
        );
    }
    if report.is_sound() {
        return Ok(());
    }
    Err(Failure::differs(format!(
        "{}\n{}",
        report.damages.join("\n"),
        report.remedy.unwrap_or_default()
    )))
}

fn repair(args: &VerifyArgs) -> Outcome {
    let repaired = arena_store::repair(&args.data.data).map_err(failure)?;
    let mut text = format!(
        "{}: kept {} games and {} documents\n",
        repaired.path.display(),
        repaired.games,
        repaired.documents
    );
    if repaired.games_rescued > 0 || repaired.documents_rescued > 0 {
        text += &format!(
            "of them {} games and {} documents that only the bare files had any more\n",
            repaired.games_rescued, repaired.documents_rescued
        );
    }
    for damage in &repaired.damages {
        text += &format!("found: {damage}\n");
    }
    if let Some(before) = &repaired.before {
        text += &format!("the damaged database is kept in {}\n", before.display());
    }
    match args.output {
        Format::Json => output::json(&repaired)?,
        Format::Jsonl => output::json_line(&repaired)?,
        Format::Csv | Format::Table => output::write(&text)?,
    }
    if !repaired.lost() {
        return Ok(());
    }
    Err(Failure::differs(format!(
        "the store is repaired, but {} games and {} documents are lost: games are played again \
         when their tournament goes on, `arena store restore BACKUP --data NEW-FOLDER` goes back \
         to a backup",
        repaired.games_lost, repaired.documents_lost
    )))
}

fn tell(what: &str, report: &BackupReport) -> Outcome {
    output::write(&format!(
        "{what} {}: {} games, {} documents, {} binaries, {} bytes\n",
        report.path.display(),
        report.games,
        report.documents,
        report.binaries,
        report.bytes
    ))
}
