//! How RPC handlers send requests to the core.

use std::{
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use arena_model::TournamentSeed;
use arena_store::Store;
use arena_wire::v1::Role;
use tokio::sync::{
    OwnedSemaphorePermit, Semaphore,
    mpsc::{self, error::TrySendError},
    oneshot, watch,
};

use crate::{
    agents::Agents,
    binaries::Uploads,
    blocking::with_store,
    computations::{Computations, Stop},
    core::{Command, Core, sealed::SEALED},
    directory::Directory,
    error::Error,
    info::Info,
    messages::{GamesReport, Reply, Working, at_once, done},
    plan::Plan,
    principal::Principal,
    random,
    rpc::comparisons::Comparisons,
    shares::{Share, Shares},
    tickets::Tickets,
};

/// Uploads of files at once, and those of administrators in addition: each occupies a file and a message of
/// memory.
pub(crate) const UPLOADS_MAX: usize = 32;
pub(crate) const ADMIN_UPLOADS_MAX: usize = 4;
/// Downloads of files at once, of workers and of others.
pub(crate) const TRANSFERS_MAX: usize = 16;
/// Backups at once.
pub(crate) const BACKUPS_MAX: usize = 2;
/// Downloads of one submitter at once, and standings that one owner asks for: each occupies memory while it
/// waits.
pub(crate) const OWN_DOWNLOADS_MAX: usize = 4;
pub(crate) const OWN_STANDINGS_MAX: usize = 16;
/// Maximum time for which a reader may let a chunk of a download wait.
pub(crate) const CHUNK_TIMEOUT: Duration = Duration::from_secs(30);
/// Pages of games and differences that are read at a time; others wait. A page needs several times
/// the memory of its message.
pub(crate) const PAGES_MAX: usize = 4;
/// Requests that may wait for the core.
pub(crate) const COMMANDS_MAX: usize = 1024;
/// How long a request other than a report waits for room in the queue.
const ROOM_WAIT: Duration = Duration::from_secs(2);
/// Suggested delay after a request that found no room.
const ROOM_RETRY: Duration = Duration::from_millis(500);

/// A client of the core.
#[derive(Clone)]
pub(crate) struct Handle {
    pub(crate) commands: mpsc::Sender<Command>,
    pub(crate) reports: mpsc::Sender<Command>,
    pub(crate) directory: Arc<Directory>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) tickets: Tickets,
    /// Places of computations.
    pub(crate) computations: Computations,
    /// Comparisons that took long.
    pub(crate) comparisons: Arc<Comparisons>,
    /// What owners have uploaded.
    pub(crate) uploads: Uploads,
    /// Places of pages that are read.
    pub(crate) pages: Arc<Semaphore>,
    /// Places of uploads, of downloads by workers and by others, and of backups.
    pub(crate) incoming: Arc<Semaphore>,
    pub(crate) incoming_of_admins: Arc<Semaphore>,
    pub(crate) outgoing: Arc<Semaphore>,
    pub(crate) outgoing_to_users: Arc<Semaphore>,
    pub(crate) backups: Arc<Semaphore>,
    /// Downloads of a submitter and of the workers of one token, and standings that are computed.
    pub(crate) downloads: Shares,
    pub(crate) worker_downloads: Shares,
    pub(crate) standings: Shares,
    /// Tests of the accounting make records up.
    #[cfg(test)]
    pub(crate) trusts_records: bool,
    /// True while there is work for workers.
    pub(crate) active: watch::Receiver<bool>,
    /// True once the coordinator stops.
    pub(crate) stopping: watch::Receiver<bool>,
}

impl Handle {
    /// Asks the core, and waits for the answer.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&mut Core) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.ask_later(|core, reply| {
            // A caller that is gone needs no answer.
            let _ = reply.send(question(core));
            done()
        })
        .await
    }

    /// Asks the core for a change, which may wait for the disk, and waits for the answer.
    pub(crate) async fn change<T: Send + 'static>(
        &self,
        change: impl for<'a> FnOnce(&'a mut Core) -> Working<'a, Result<T, Error>> + Send + 'static,
    ) -> Result<T, Error> {
        self.ask_later(|core, reply| {
            let changing = change(core);
            // A caller that is gone needs no answer.
            Box::pin(async { drop(reply.send(changing.await)) })
        })
        .await
    }

    /// Passes a request to the core that it answers at any time, and waits for the answer.
    pub(crate) async fn ask_later<T: Send + 'static>(
        &self,
        request: impl for<'a> FnOnce(&'a mut Core, Reply<T>) -> Working<'a> + Send + 'static,
    ) -> Result<T, Error> {
        let (reply, answer) = oneshot::channel();
        self.send(Box::new(|core| request(core, reply))).await?;
        answer.await.unwrap_or(Err(Error::Draining))
    }

    /// Sends a command; waits a while if there is no room.
    async fn send(&self, command: Command) -> Result<(), Error> {
        let command = match self.commands.try_send(command) {
            Ok(()) => return Ok(()),
            Err(TrySendError::Closed(_)) => return Err(Error::Draining),
            Err(TrySendError::Full(command)) => command,
        };
        match tokio::time::timeout(ROOM_WAIT, self.commands.send(command)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(Error::Draining),
            Err(_) => Err(Error::Overloaded { wait: ROOM_RETRY }),
        }
    }

    /// Reports games. Returns, once all of them are durable, the games that had a record
    /// before.
    pub(crate) async fn report(&self, report: GamesReport) -> Result<Vec<u64>, Error> {
        let (reply, answer) = oneshot::channel();
        self.reports
            .try_send(at_once(|core: &mut Core| core.report(report, reply)))
            .map_err(|error| match error {
                TrySendError::Full(_) => Error::Overloaded { wait: ROOM_RETRY },
                TrySendError::Closed(_) => Error::Draining,
            })?;
        answer.await.unwrap_or(Err(Error::Draining))
    }

    /// The fixed properties of a tournament.
    pub(crate) async fn info(&self, tournament: &str) -> Result<Arc<Info>, Error> {
        match self.directory.find(tournament) {
            Some(info) => Ok(info),
            // The core knows which name is nearest.
            None => {
                let id = tournament.to_owned();
                self.ask(move |core| core.info(&id)).await
            }
        }
    }

    /// Plans a tournament with the agents of now, which are also returned. A seed that is not
    /// empty replaces the spec's.
    pub(crate) async fn plan(
        &self,
        spec_toml: &str,
        seed: &str,
        by: &Principal,
    ) -> Result<(Plan, Arc<Agents>), Error> {
        let asked = self.ask(|core| Ok((core.agents(), core.rulesets())));
        let (agents, rulesets) = asked.await?;
        let (spec_toml, mut seed) = (spec_toml.to_owned(), seed.to_owned());
        if let Some(commitment) = seed.strip_prefix(SEALED).map(str::to_owned) {
            seed = self.ask(move |core| core.seed_of(&commitment)).await?;
        }
        let drawn = TournamentSeed::from_bytes(random::bytes()?);
        // A book of openings takes a while, and other requests must not wait for it.
        self.compute(by, move |stop| {
            let plan = Plan::new(&spec_toml, &seed, drawn, &agents, &rulesets, stop)?;
            Ok((plan, agents))
        })
        .await
    }

    /// Computes something that takes long, when its caller has a place. If the caller leaves, the
    /// flag that the work gets is set.
    pub(crate) async fn compute<T: Send + 'static>(
        &self,
        by: &Principal,
        work: impl FnOnce(&AtomicBool) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let place = self.computations.place(by).await?;
        let stop = Stop::default();
        let flag = stop.flag();
        // The place is free when the work has ended, not when its caller has.
        self.with_store(move |_| {
            let _place = place;
            work(&flag)
        })
        .await
    }

    /// Reads a page from the store, when it has a place.
    pub(crate) async fn page<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn Store) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let place = Arc::clone(&self.pages).acquire_owned().await;
        let place = Arc::new(place.map_err(|_| Error::Draining)?);
        // The place is free when the work has ended and the caller has the page, or has gone.
        let working = Arc::clone(&place);
        let page = self.with_store(move |store| {
            let _place = working;
            work(store)
        });
        let page = page.await;
        drop(place);
        page
    }

    /// A place for an upload.
    pub(crate) fn upload_place(&self, by: &Principal) -> Result<OwnedSemaphorePermit, Error> {
        let mut place = Arc::clone(&self.incoming).try_acquire_owned();
        if by.role == Role::Admin && place.is_err() {
            place = Arc::clone(&self.incoming_of_admins).try_acquire_owned();
        }
        place.map_err(|_| Error::Overloaded { wait: ROOM_WAIT })
    }

    /// A place for a download. Workers do not wait for users, nor users for one of them.
    pub(crate) fn download_place(
        &self,
        by: &Principal,
    ) -> Result<(OwnedSemaphorePermit, Share), Error> {
        let (places, share) = match by.role {
            Role::Worker => (&self.outgoing, self.worker_downloads.take(by)?),
            _ => (&self.outgoing_to_users, self.downloads.take(by)?),
        };
        let place = Arc::clone(places).try_acquire_owned();
        let place = place.map_err(|_| Error::Overloaded { wait: ROOM_WAIT })?;
        Ok((place, share))
    }

    /// A place for a backup.
    pub(crate) fn backup_place(&self) -> Result<OwnedSemaphorePermit, Error> {
        let place = Arc::clone(&self.backups).try_acquire_owned();
        place.map_err(|_| Error::Overloaded { wait: ROOM_WAIT })
    }

    /// True if records count without a replay, which only tests of the accounting allow.
    pub(crate) fn trusts_records(&self) -> bool {
        #[cfg(test)]
        return self.trusts_records;
        #[cfg(not(test))]
        false
    }

    /// Checks that the disk has room for a change of this many bytes.
    pub(crate) async fn check_room(&self, bytes: usize) -> Result<(), Error> {
        let check = self.with_store(move |store| Ok(store.check_room(bytes as u64)?));
        check.await
    }

    /// Runs work on the store where it may block.
    pub(crate) async fn with_store<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn Store) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        with_store(Arc::clone(&self.store), work)
            .await
            .unwrap_or_else(|| {
                Err(match *self.stopping.borrow() {
                    true => Error::Draining,
                    false => Error::Defect,
                })
            })
    }
}
