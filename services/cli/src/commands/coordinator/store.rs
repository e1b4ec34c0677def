//! Opens the store of a coordinator, and waits for one that another coordinator owns.

use std::{path::Path, sync::Arc, time::Duration};

use arena_store::{
    DATABASE_FILE, Holder, Location, Options, Ownership, PostgresOptions, SledStore, Standby,
    Store, StoreError,
};
use nix::sys::utsname::uname;
use tokio::task::JoinSet;

use super::CoordinatorArgs;
use crate::{
    failure::{Failure, Outcome},
    output::note,
    signals::Interrupt,
};

/// Time between two attempts to own a database.
const RETRY: Duration = Duration::from_millis(250);

impl CoordinatorArgs {
    /// Opens the store. None if a stop was requested while another coordinator owned it. Calls
    /// `standing_by` if another one owns it.
    pub(super) async fn open_store(
        &self,
        interrupt: &mut Interrupt,
        standing_by: impl FnOnce(),
    ) -> Outcome<Option<Arc<dyn Store>>> {
        let defaults = Options::default();
        let options = Options {
            // Excess reports are rejected before they are read, not by the store.
            queue_games: 2 * self.report_queue as usize,
            queue_bytes: 2 * defaults.queue_bytes,
            reserve_bytes: self.reserve,
            ..defaults
        };
        let folder = std::path::absolute(&self.data).unwrap_or_else(|_| self.data.clone());
        let is_new = !arena_store::has_store(&self.data);
        let Some(url) = self.store.clone() else {
            match arena_store::database_of(&self.data) {
                Some(database) if is_new => return Err(in_database(&folder, &database)),
                Some(database) => note(format!(
                    "warning: {} was used with the database {database}, too: this coordinator uses \
                     the store in the folder; to use the database, give --store",
                    folder.display()
                )),
                None => {}
            }
            if is_new && self.require_store {
                return Err(Failure::usage(format!(
                    "--require-store: {} contains no store: name another folder with --data, or \
                     restore a backup into it",
                    folder.display()
                )));
            }
            let store = SledStore::open(&self.data, &options).map_err(Failure::failed)?;
            if is_new {
                note(format!("made a new, empty store in {}", folder.display()));
            }
            return Ok(Some(Arc::new(store)));
        };
        if !matches!(Location::from(&*url), Location::Database(_)) {
            return Err(Failure::usage(
                "--store must be postgres://USER@HOST/DATABASE; without it, results are in the \
                 folder of --data",
            ));
        }
        let options = PostgresOptions {
            data: self.data.clone(),
            holder: Holder {
                name: name(),
                address: Some(self.listen.to_string()),
            },
            queue_games: options.queue_games,
            queue_bytes: options.queue_bytes,
        };
        let connect = move || Standby::connect(&url, options);
        let mut standby = blocking(connect).await?;
        if !is_new {
            note(format!(
                "warning: the store in {} is not used, because --store names a database; \
                 `arena store copy` copies a store into an empty database",
                folder.display()
            ));
        }
        let mut known = None;
        let mut probes: Option<JoinSet<()>> = None;
        let mut standing_by = Some(standing_by);
        loop {
            match blocking(move || standby.own()).await? {
                Ownership::Ours(store) => {
                    if known.is_some() {
                        note("took over the store");
                    }
                    if let Some(mut probes) = probes {
                        // The address is free once they have ended.
                        probes.shutdown().await;
                    }
                    return Ok(Some(store));
                }
                Ownership::Theirs(ours, holder) => {
                    if let Some(call) = standing_by.take() {
                        call();
                        probes = Some(self.answer_probes()?);
                    }
                    if known.as_ref() != Some(&holder) {
                        note(format!("standing by: {} owns the store", holder.name));
                        known = Some(holder);
                    }
                    standby = *ours;
                }
            }
            tokio::select! {
                () = tokio::time::sleep(RETRY) => {}
                () = interrupt.asked() => {
                    note("stopped; another coordinator owns the store");
                    return Ok(None);
                }
            }
        }
    }
}

/// Refuses to make a new store in a folder whose results are in a database.
fn in_database(folder: &Path, database: &str) -> Failure {
    let mark = folder.join(DATABASE_FILE);
    Failure::usage(format!(
        "the results of {} are in the database {database}: name that database with --store, or \
         another folder with --data; to make a new store in this folder, remove {}",
        folder.display(),
        mark.display()
    ))
}

/// Runs calls of a store that wait for a disk or a database.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Outcome<T> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(Failure::failed)?.map_err(|error| match error {
        StoreError::Unsuitable { .. } => Failure::usage(error),
        error => Failure::failed(error),
    })
}

/// This process, for other coordinators.
fn name() -> String {
    let host = uname().map(|names| names.nodename().to_string_lossy().into_owned());
    let host = host.unwrap_or_else(|_| "this machine".to_owned());
    format!("process {} on {host}", std::process::id())
}
