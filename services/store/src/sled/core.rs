//! The database of one generation: its writer, and reading from it.

use std::{
    collections::HashMap,
    path::Path,
    sync::{
        Arc,
        atomic::Ordering,
        mpsc::{self, SyncSender, TrySendError},
    },
    thread::{self, JoinHandle},
    time::Instant,
};

use parking_lot::{Mutex, RwLockReadGuard};

use crate::{
    Change, Done, Options, Position, StoreError, StoredGame, documents,
    error::At,
    limits,
    packing::{
        index::Index,
        pack::{self, Pack, Tip},
        packer::Packer,
    },
    repair::walk::{Walk, walk},
    sled::{
        commit_marker::{CommitMarker, Found},
        database::{Bytes, Database, Tree},
        writer::{Job, Shared, Snapshot, Writer},
    },
};

/// Jobs that may wait for the writer; games are also limited by [`Options`].
const QUEUE_JOBS: usize = 4_096;

/// The database of one generation with its writer.
pub(crate) struct Core {
    pub(crate) shared: Arc<Shared>,
    /// The writer's queue and thread; none once it is closed.
    writer: Mutex<Option<(SyncSender<Job>, JoinHandle<()>)>>,
    queue_games: usize,
    queue_bytes: usize,
    /// True if it was empty when it was opened.
    pub(crate) empty: bool,
}

impl Core {
    pub(crate) fn open(
        folder: &Path,
        data: &Path,
        options: &Options,
        new: bool,
    ) -> Result<Self, StoreError> {
        let db = Database::open(&folder.join("sled"), data, options.cache_bytes)?;
        let commit_marker = folder.join("acknowledged");
        let found = CommitMarker::read(&commit_marker)?;
        let walk = walk(&db, found, new, |_| {});
        walk.check(data)?;
        let empty = walk.is_empty();
        let Walk {
            tip,
            index,
            documents,
            ..
        } = walk;
        let commit_marker = match found {
            Found::Missing => CommitMarker::create(&commit_marker)?,
            Found::Whole(_) | Found::Damaged => CommitMarker::open(&commit_marker)?,
        };
        let shared = Arc::new(Shared::new(
            db,
            data.to_owned(),
            options.reserve_bytes,
            index,
            tip,
        ));
        // It can still be read.
        if let Err(error) = shared.check_space() {
            tracing::warn!("cannot write: {error}");
        }
        let packer = Packer::new().at("make a packer for", data)?;
        let writer = Writer {
            shared: Arc::clone(&shared),
            commit_marker,
            tip,
            packer,
            documents,
        };
        let (sender, receiver) = mpsc::sync_channel(QUEUE_JOBS);
        let thread = thread::Builder::new()
            .name("arena-store".to_owned())
            .spawn(move || writer.run(&receiver))
            .at("start the writer of", data)?;
        Ok(Self {
            shared,
            writer: Mutex::new(Some((sender, thread))),
            queue_games: options.queue_games,
            queue_bytes: options.queue_bytes,
            empty,
        })
    }

    fn jobs(&self) -> Result<SyncSender<Job>, StoreError> {
        let writer = self.writer.lock();
        let (jobs, _) = writer.as_ref().ok_or(StoreError::Closed)?;
        Ok(jobs.clone())
    }

    pub(crate) fn index(&self) -> RwLockReadGuard<'_, Index> {
        self.shared.index.read()
    }

    /// Passes a job to the writer and waits for its reply.
    fn ask<T>(
        &self,
        job: impl FnOnce(SyncSender<Result<T, StoreError>>) -> Job,
    ) -> Result<T, StoreError> {
        self.shared.check()?;
        let (reply, answer) = mpsc::sync_channel(1);
        self.jobs()?
            .send(job(reply))
            .map_err(|_| StoreError::Closed)?;
        answer.recv().unwrap_or(Err(StoreError::Closed))
    }

    /// The state of one moment, for a backup.
    pub(crate) fn snapshot(&self) -> Result<Snapshot, StoreError> {
        self.ask(|reply| Job::Snapshot { reply })
    }

    /// Applies changes and waits until these and all earlier jobs are durable.
    pub(crate) fn put_many(&self, changes: Vec<Change>) -> Result<(), StoreError> {
        limits::changes(&changes)?;
        self.ask(|reply| Job::Documents { changes, reply })
    }

    pub(crate) fn document(&self, key: &[u8], value: &[u8]) -> Result<Vec<u8>, StoreError> {
        documents::open(key, value)
            .map(|sealed| sealed.content.to_vec())
            .ok_or_else(|| {
                let name = String::from_utf8_lossy(key.get(1..).unwrap_or_default());
                self.corrupt(format!(
                    "the document \"{name}\" has changed since it was written"
                ))
            })
    }

    pub(crate) fn append(&self, batch: Vec<StoredGame>, done: Done) -> Result<(), StoreError> {
        limits::games(&batch)?;
        self.shared.check()?;
        let jobs = self.jobs()?;
        let games = batch.len();
        let bytes = batch.iter().map(pack::size).sum();
        let waiting = self.shared.queued_games.fetch_add(games, Ordering::Relaxed);
        let waiting_bytes = self.shared.queued_bytes.fetch_add(bytes, Ordering::Relaxed);
        let give_back = || {
            self.shared.queued_games.fetch_sub(games, Ordering::Relaxed);
            self.shared.queued_bytes.fetch_sub(bytes, Ordering::Relaxed);
        };
        // A batch larger than the whole queue is accepted if nothing waits.
        let over = waiting + games > self.queue_games || waiting_bytes + bytes > self.queue_bytes;
        if over && waiting > 0 {
            give_back();
            return Err(StoreError::Busy { queued: waiting });
        }
        let handed = Instant::now();
        let job = Job::Games {
            batch,
            bytes,
            handed,
            done,
        };
        jobs.try_send(job).map_err(|error| {
            give_back();
            match error {
                TrySendError::Full(_) => StoreError::Busy { queued: waiting },
                TrySendError::Disconnected(_) => StoreError::Closed,
            }
        })
    }

    /// As [`Store::append_and_wait`], for copies; waits for room in the queue.
    pub(crate) fn append_and_wait(&self, batch: Vec<StoredGame>) -> Result<(), StoreError> {
        let games = batch.len();
        let bytes = batch.iter().map(pack::size).sum();
        self.shared.queued_games.fetch_add(games, Ordering::Relaxed);
        self.shared.queued_bytes.fetch_add(bytes, Ordering::Relaxed);
        self.ask(|reply| {
            let done = Box::new(move |result| {
                // The caller waits below, in `ask`.
                let _ = reply.send(result);
            });
            Job::Games {
                batch,
                bytes,
                handed: Instant::now(),
                done,
            }
        })
    }

    fn pack(&self, place: u32) -> Result<(Bytes, Pack), StoreError> {
        let damaged = || self.damaged(place);
        let key = pack::key(u64::from(place));
        let bytes = self.shared.db.get(Tree::Packs, &key)?.ok_or_else(damaged)?;
        let pack = pack::open(&bytes).ok_or_else(damaged)?;
        Ok((bytes, pack))
    }

    fn damaged(&self, place: u32) -> StoreError {
        self.corrupt(format!(
            "results pack {place} has changed since it was written"
        ))
    }

    fn corrupt(&self, damage: String) -> StoreError {
        StoreError::corrupt(&self.shared.data, damage)
    }

    pub(crate) fn games_from(
        &self,
        tournament: &str,
        from: u64,
        limit: usize,
    ) -> Result<Vec<StoredGame>, StoreError> {
        let wanted = self.index().range(tournament, from, limit);
        // One pack at a time is in memory, however the games are spread over packs.
        let mut by_pack: HashMap<u32, Vec<usize>> = HashMap::new();
        for (slot, &(_, place)) in wanted.iter().enumerate() {
            by_pack.entry(place).or_default().push(slot);
        }
        let mut found: Vec<Option<StoredGame>> = vec![None; wanted.len()];
        for (place, slots) in by_pack {
            let (bytes, pack) = self.pack(place)?;
            let bodies = pack.bodies(&bytes).ok_or_else(|| self.damaged(place))?;
            for entry in pack.of(tournament) {
                // Slots are in ascending order, and so are their indices.
                if let Ok(at) = slots.binary_search_by_key(&entry.index, |&slot| wanted[slot].0) {
                    found[slots[at]] = entry.game(&bodies);
                }
            }
        }
        let found: Option<Vec<_>> = found.into_iter().collect();
        found.ok_or_else(|| self.corrupt(format!("a game of {tournament} is not at its place")))
    }

    /// True if the chain has this place.
    pub(crate) fn has(&self, position: &Position) -> Result<bool, StoreError> {
        let now = self.shared.positions.now();
        if position.packs == 0 || position.packs >= now.packs {
            return Ok(*position == now || *position == Tip::default().position());
        }
        let Ok(last) = u32::try_from(position.packs - 1) else {
            return Ok(false);
        };
        Ok(self.pack(last)?.1.link == position.link)
    }

    /// Visits the games of a tournament in this pack or a later one.
    pub(crate) fn scan(
        &self,
        tournament: &str,
        from: u64,
        visit: &mut dyn FnMut(StoredGame),
    ) -> Result<(), StoreError> {
        let mut places = self.index().places(tournament);
        places.retain(|&place| u64::from(place) >= from);
        for place in places {
            let (bytes, pack) = self.pack(place)?;
            let bodies = pack.bodies(&bytes).ok_or_else(|| self.damaged(place))?;
            for entry in pack.of(tournament) {
                visit(entry.game(&bodies).ok_or_else(|| self.damaged(place))?);
            }
        }
        Ok(())
    }

    pub(crate) fn close(&self) -> Result<(), StoreError> {
        // Unlocked before the writer, which may call the store, is waited for.
        let writer = self.writer.lock().take();
        if let Some((jobs, thread)) = writer {
            drop(jobs);
            // The writer ends when all sent jobs are written.
            let _ = thread.join();
        }
        self.shared.check()
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        // Callers that need the error call `close`.
        let _ = self.close();
    }
}
