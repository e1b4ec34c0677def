//! `arena store …`

mod backup;
mod compact;

use std::path::PathBuf;

use arena_client::store::{
    failure::failure,
    records::Records,
    verify::{check_trail, print, print_copy, repair},
};
use arena_store::{Location, StoreError, VerifyReport};
use clap::{Args, Subcommand};

use crate::{
    access::{AccessArgs, CredentialFlags},
    embedded::DEFAULT_DATA,
    failure::{Failure, Outcome},
    output::{Format, note},
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
            Self::Verify(args) if args.repair => repair(&args.data.data, args.output),
            Self::Verify(args) if args.online => verify_online(&args),
            Self::Verify(args) => verify(&args),
            Self::Copy(args) => args.run(),
            Self::Backup(args) => args.run(),
            Self::Compact(args) => args.run(),
            Self::Restore(args) => {
                let report = arena_store::restore(&args.from, &args.data.data).map_err(failure)?;
                print_copy("restored to", &report)?;
                check_trail(&args.data.data)
            }
        }
    }
}

impl CopyArgs {
    fn run(&self) -> Outcome {
        let report = arena_store::copy(&self.from, &self.to).map_err(failure)?;
        print_copy("copied to", &report)?;
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
    print(&report, &records, &data, args.output)
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
    print(&report, &records, &args.data.data, args.output)
}
