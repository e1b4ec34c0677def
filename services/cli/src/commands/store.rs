//! `arena store …`

mod records;

use std::path::PathBuf;

use arena_store::{BackupReport, StoreError};
use clap::{Args, Subcommand};
use serde::Serialize;

use self::records::{Checked, Records};
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
Checks the store's own checksums, and each record: its hash, its events against
the rules, its dice against its seed, its luck and its result.

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
    let mut records = Records::default();
    let report = arena_store::verify_with(&args.data.data, &mut records).map_err(failure)?;
    let records = records.checked;
    let whole = Verified {
        report: &report,
        records: &records,
    };
    match args.output {
        Format::Json => output::json(&whole)?,
        Format::Jsonl => output::json_line(&whole)?,
        Format::Csv => output::write(&format!(
            "games,documents,binaries,bytes,damages,unsound\n{},{},{},{},{},{}\n",
            report.games,
            report.documents,
            report.binaries,
            report.bytes_on_disk,
            report.damages.len(),
            records.unsound
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
    if records.hashes_alone > 0 {
        note(format!(
            "{} games keep no moves (records = \"hash\"): `arena game rerun` checks them one by one",
            records.hashes_alone
        ));
    }
    for (why, games) in &records.unchecked {
        note(format!("{games} games cannot be checked: {why}"));
    }
    if report.in_place {
        note(
            "checked in place, since there is no room for a copy: a torn end of the log is cut off",
        );
    }
    let mut found = report.damages.clone();
    found.extend(report.remedy.clone());
    found.extend(unsound(&records));
    if found.is_empty() {
        return Ok(());
    }
    Err(Failure::differs(found.join("\n")))
}

/// What a verification prints as JSON.
#[derive(Serialize)]
struct Verified<'a> {
    #[serde(flatten)]
    report: &'a arena_store::Report,
    records: &'a Checked,
}

/// The records that are wrong, and what to do.
fn unsound(records: &Checked) -> Vec<String> {
    if records.unsound == 0 {
        return Vec::new();
    }
    let mut lines = records.unsound_records.clone();
    let unnamed = records.unsound - lines.len() as u64;
    if unnamed > 0 {
        lines.push(format!("{unnamed} more records are wrong"));
    }
    lines.push(
        "these records were not played by these rules and seeds: play their tournaments again \
         with `arena run SPEC --again`"
            .to_owned(),
    );
    lines
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
