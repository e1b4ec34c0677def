//! `arena store …`

mod backup;
mod compact;
mod records;

use std::path::{Path, PathBuf};

use arena_coordinator::WholeTrail;
use arena_store::{BackupReport, Location, StoreError, VerifyReport};
use clap::{Args, Subcommand};
use serde::Serialize;

use self::records::{Checked, Records};
use crate::{
    access::{AccessArgs, CredentialFlags},
    embedded::DEFAULT_DATA,
    failure::{Failure, Outcome},
    output::{self, Format, note},
};

/// Verify, copy, compact, back up and restore a store
#[derive(Debug, Subcommand)]
pub(crate) enum StoreCommand {
    /// Check every record of an idle data folder, of a database, or of a running coordinator
    #[command(after_help = "\
Checks the checksums of the store, and each record: its hash, its events against the
rules, its dice against its seed, its luck and its result. Checks the chain of the audit
trail, too.

The exit code is 3 if anything is damaged; the damage is listed. With --repair, it is 0
if every acknowledged game is restored, and 3 if games are lost.

Examples:
  arena store verify --data ./arena-data
  arena store verify --repair --data ./arena-data
  arena store verify --store postgres://arena@localhost/arena
  arena store verify --online --coordinator http://127.0.0.1:7600")]
    Verify(VerifyArgs),
    /// Back up a data folder into one file, also while a coordinator is using it
    #[command(after_help = "\
A backup of a running coordinator contains everything that was on disk at one moment;
the coordinator keeps working meanwhile. The file is written atomically, and read again as a
whole. It contains the audit trail, and no token.

Examples:
  arena store backup --data ./arena-data /backups/monday.arena
  arena store backup --coordinator http://127.0.0.1:7600 /backups/monday.arena
  arena store backup --data ./arena-data --into /backups --keep 14 --max-rate 20")]
    Backup(backup::BackupArgs),
    /// Copy a whole store from a data folder into a PostgreSQL database, or back
    #[command(after_help = "\
All games, documents and binaries are copied; exports have the same bytes afterwards. The
target must be new or empty. An interrupted copy starts again. No coordinator may be using
the target, or a data folder that is the source. The audit trail is only copied from one
data folder to another; the exit code is 3 if its chain is broken.

Examples:
  arena store copy --from ./arena-data --to postgres://arena@localhost/arena
  arena store copy --from postgres://arena@localhost/arena --to ./copy")]
    Copy(CopyArgs),
    /// Give back the space of removed tournaments
    #[command(after_help = "\
Builds the database anew without the games of removed tournaments, reads it again, compares
it, and only then replaces the old one. No coordinator may be using the store. There must be
room for a second copy of the database meanwhile, in PostgreSQL for two. An interrupted
compaction changes nothing, and starts again. Exports of the other tournaments have the same
bytes afterwards. Backups that were made before still contain the removed games.

Examples:
  arena store compact --data ./arena-data
  arena store compact --store postgres://arena@localhost/arena --output json")]
    Compact(compact::CompactArgs),
    /// Restore a backup into a new data folder
    #[command(after_help = "\
Checks the chain of the audit trail; the exit code is 3 if it is broken.

Examples:
  arena store restore /backups/monday.arena --data ./arena-data")]
    Restore(RestoreArgs),
}

#[derive(Debug, Args)]
pub(crate) struct DataArgs {
    /// Data folder
    #[arg(long, env = "ARENA_DATA", value_name = "DIR", default_value = DEFAULT_DATA)]
    data: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    data: DataArgs,

    /// PostgreSQL database to check instead of the data folder; a coordinator may be using it
    #[arg(
        long,
        env = "ARENA_STORE",
        hide_env_values = true,
        value_name = "URL",
        conflicts_with = "repair"
    )]
    store: Option<String>,

    /// Rebuild the database from all readable data, and list lost games; the coordinator plays
    /// them again at its next start
    #[arg(long)]
    repair: bool,

    /// Back up a running coordinator and check the backup; needs free space for two copies in
    /// TMPDIR
    #[arg(long, conflicts_with_all = ["repair", "store"])]
    online: bool,

    /// With --online: URL of the coordinator [default: the one that uses the data folder]
    #[arg(long, value_name = "URL", requires = "online")]
    coordinator: Option<String>,

    #[command(flatten)]
    credentials: CredentialFlags,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct CopyArgs {
    /// Data folder or postgres://… to copy
    #[arg(long, value_name = "PATH|URL", value_parser = location)]
    from: Location,

    /// New data folder, or postgres://… of an empty database
    #[arg(long, value_name = "PATH|URL", value_parser = location)]
    to: Location,
}

/// Reads a place of a store; every text is one.
fn location(text: &str) -> Result<Location, std::convert::Infallible> {
    Ok(Location::from(text))
}

#[derive(Debug, Args)]
pub(crate) struct RestoreArgs {
    #[command(flatten)]
    data: DataArgs,

    /// Backup file
    from: PathBuf,
}

impl StoreCommand {
    pub(crate) fn run(self) -> Outcome {
        match self {
            Self::Verify(args) if args.repair => repair(&args),
            Self::Verify(args) if args.online => verify_online(&args),
            Self::Verify(args) => verify(&args),
            Self::Copy(args) => args.run(),
            Self::Backup(args) => args.run(),
            Self::Compact(args) => args.run(),
            Self::Restore(args) => {
                let report = arena_store::restore(&args.from, &args.data.data).map_err(failure)?;
                tell("restored to", &report)?;
                check_trail(&args.data.data)
            }
        }
    }
}

impl CopyArgs {
    fn run(&self) -> Outcome {
        let report = arena_store::copy(&self.from, &self.to).map_err(failure)?;
        tell("copied to", &report)?;
        match (&self.from, &self.to) {
            (Location::Folder(_), Location::Folder(to)) => check_trail(to),
            (Location::Folder(from), Location::Database(_)) => {
                note(format!(
                    "the audit trail stays in {}: use that folder with the database to continue it",
                    from.display()
                ));
                Ok(())
            }
            (Location::Database(_), _) => {
                note(
                    "the audit trail is not copied: it stays in the data folder of the coordinator \
                     that used the database",
                );
                Ok(())
            }
        }
    }
}

/// An invalid path is a usage error; other errors come from the disk.
fn failure(error: StoreError) -> Failure {
    match error {
        StoreError::NotFound { .. }
        | StoreError::NotEmpty { .. }
        | StoreError::InDatabase { .. }
        | StoreError::Unsuitable { .. } => Failure::usage(error),
        StoreError::Corrupt { .. } => Failure::differs(error),
        _ => Failure::failed(error),
    }
}

/// Checks a running coordinator's results: those of a backup, restored into a temporary folder.
fn verify_online(args: &VerifyArgs) -> Outcome {
    let folder = tempfile::tempdir()?;
    let (file, data) = (folder.path().join("backup"), folder.path().join("data"));
    let (access, place) = match &args.coordinator {
        Some(url) => {
            let access = AccessArgs::Url(url.clone(), args.credentials.clone());
            (access, PathBuf::from(url))
        }
        None => {
            let data = args.data.data.clone();
            (AccessArgs::Folder(data.clone()), data)
        }
    };
    backup::take(&access, &file, None)?;
    arena_store::restore(&file, &data).map_err(failure)?;
    let mut records = Records::default();
    let report = arena_store::verify_with(&data, &mut records).map_err(failure)?;
    // A repair of the copy would be of no use.
    let (path, remedy) = (place, None);
    let report = VerifyReport {
        path,
        remedy,
        ..report
    };
    show(args, &report, &records, &data)
}

fn verify(args: &VerifyArgs) -> Outcome {
    let mut records = Records::with_anchor(arena_coordinator::anchor_key(&args.data.data));
    let report = match &args.store {
        Some(url) => arena_store::verify_postgres(url, &mut records),
        None => arena_store::verify_with(&args.data.data, &mut records),
    };
    let report = report.map_err(|error| match error {
        StoreError::Locked { path, holder, .. } => Failure::failed(format!(
            "the data folder {} is in use by {}: check it while it is in use with --online, or stop \
             that process",
            path.display(),
            holder.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"))
        )),
        error => failure(error),
    })?;
    show(args, &report, &records, &args.data.data)
}

/// Prints the result of a verification, and fails if anything is wrong; `data` has the audit trail.
fn show(args: &VerifyArgs, report: &VerifyReport, records: &Records, data: &Path) -> Outcome {
    let (records, anchor) = (&records.checked, records.anchor.as_deref());
    let whole = Verified { report, records };
    let VerifyReport {
        games,
        documents,
        binaries,
        bytes_on_disk: bytes,
        ..
    } = report;
    match args.output {
        Format::Json => output::json(&whole)?,
        Format::Jsonl => output::json_line(&whole)?,
        Format::Csv => {
            let (damages, unsound) = (report.damage_report.len(), records.unsound);
            output::write(&format!(
                "games,documents,binaries,bytes,damages,unsound\n\
                 {games},{documents},{binaries},{bytes},{damages},{unsound}\n"
            ))?;
        }
        Format::Table => output::write(&format!(
            "{}: {games} games, {documents} documents, {binaries} binaries, {bytes} bytes\n",
            report.path.display()
        ))?,
    }
    if records.removed > 0 {
        note(format!(
            "{} games are of removed tournaments: `arena store compact` gives their space back",
            records.removed
        ));
    }
    if records.hashes_alone > 0 {
        note(format!(
            "{} games have no moves (records = \"hash\"): check them one by one with `arena game \
             rerun`",
            records.hashes_alone
        ));
    }
    for (why, games) in &records.unchecked {
        note(format!("{games} games cannot be checked: {why}"));
    }
    if report.in_place {
        note(
            "checked in place, because there is no space for a copy: a torn end of the log is cut \
             off",
        );
    }
    let mut found = report.damage_report.clone();
    found.extend(report.remedy.clone());
    found.extend(unsound(records));
    found.extend(broken_trail(data, anchor));
    if found.is_empty() {
        return Ok(());
    }
    Err(Failure::differs(found.join("\n")))
}

/// What a verification prints as JSON.
#[derive(Serialize)]
struct Verified<'a> {
    #[serde(flatten)]
    report: &'a VerifyReport,
    records: &'a Checked,
}

/// The invalid records, and what to do.
fn unsound(records: &Checked) -> Vec<String> {
    if records.unsound == 0 {
        return Vec::new();
    }
    let mut lines = records.unsound_records.clone();
    let unnamed = records.unsound - lines.len() as u64;
    lines.extend((unnamed > 0).then(|| format!("{unnamed} more records are wrong")));
    let advice = "these records do not match the rules and seeds: play their tournaments again \
     with `arena run SPEC --again`";
    lines.push(advice.to_owned());
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
            "{} games and {} documents of them came from the files outside the database\n",
            repaired.games_rescued, repaired.documents_rescued
        );
    }
    for damage in &repaired.damage_report {
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
    if !repaired.has_losses() {
        return Ok(());
    }
    Err(Failure::differs(format!(
        "the store is repaired, but {} games and {} documents are lost: lost games are replayed \
         when their tournament continues; to return to a backup, use `arena store restore BACKUP \
         --data NEW-FOLDER`",
        repaired.games_lost, repaired.documents_lost
    )))
}

/// Fails if the audit trail of a new data folder is not whole.
fn check_trail(data: &Path) -> Outcome {
    match broken_trail(data, None) {
        Some(problem) => Err(Failure::differs(problem)),
        None => Ok(()),
    }
}

/// What is wrong with the audit trail of a data folder, if anything is. A whole one is noted. `anchor` is
/// its end, as the store has it.
fn broken_trail(data: &Path, anchor: Option<&[u8]>) -> Option<String> {
    match arena_coordinator::verify_events(data, anchor) {
        Ok(None) => None,
        Ok(Some(WholeTrail { first, last, hash })) => {
            note(format!(
                "audit trail: whole, events {first} to {last}; the last has hash {hash}"
            ));
            None
        }
        Err(problem) => Some(format!(
            "the audit trail in {} is not whole: {problem}; compare it with a backup",
            data.display()
        )),
    }
}

fn tell(what: &str, report: &BackupReport) -> Outcome {
    output::write(&format!(
        "{what} {}: {} games, {} documents, {} binaries, {} events, {} bytes\n",
        report.path.display(),
        report.games,
        report.documents,
        report.binaries,
        report.events,
        report.bytes
    ))
}
