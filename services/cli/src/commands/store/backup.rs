//! `arena store backup`

use std::{
    fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

use arena_client::store::{
    backup::{fetch, file_name, remove_oldest},
    failure::failure,
    verify::print_copy,
};
use arena_report::whole_file;
use arena_store::{BackupReport, StoreError};
use clap::Args;

use crate::{access::AccessArgs, failure::Outcome};

#[derive(Debug, Args)]
pub(crate) struct BackupArgs {
    #[command(flatten)]
    access: AccessArgs,

    /// File to write; must not exist
    #[arg(required_unless_present = "into", conflicts_with = "into")]
    to: Option<PathBuf>,

    /// Folder to write to, made if it is missing; the file has the time (UTC) as its name, such as
    /// 2026-11-26T160000Z.arena
    #[arg(long, value_name = "DIR")]
    into: Option<PathBuf>,

    /// Afterwards, remove the oldest files with such names in the folder until N are left
    #[arg(long, value_name = "N", requires = "into", value_parser = clap::value_parser!(u32).range(1..))]
    keep: Option<u32>,

    /// Megabytes a second that are read from a running coordinator [default: no limit]
    #[arg(long, value_name = "MB", value_parser = clap::value_parser!(u32).range(1..))]
    max_rate: Option<u32>,
}

impl BackupArgs {
    pub(super) fn run(&self) -> Outcome {
        let to = match (&self.to, &self.into) {
            (Some(to), _) => to.clone(),
            (None, folder) => {
                let folder = folder.clone().unwrap_or_default();
                fs::create_dir_all(&folder).map_err(|error| whole_file::failed(&folder, &error))?;
                folder.join(file_name(SystemTime::now()))
            }
        };
        let rate = self.max_rate.map(|megabytes| f64::from(megabytes) * 1e6);
        print_copy("backed up to", &take(&self.access, &to, rate)?)?;
        match (&self.into, self.keep) {
            (Some(folder), Some(keep)) => remove_oldest(folder, keep as usize),
            _ => Ok(()),
        }
    }
}

/// Takes a backup of a place; `rate` limits the bytes a second from a running coordinator.
pub(super) fn take(access: &AccessArgs, to: &Path, rate: Option<f64>) -> Outcome<BackupReport> {
    if let Some(data) = access.folder() {
        match arena_store::backup(data, to) {
            Err(StoreError::Locked { .. }) => {}
            made => return made.map_err(failure),
        }
    }
    crate::commands::block_on(fetch(access, to, rate))
}
