//! A database with its writer, and reading from it. All durable stores share this code.

use std::{
    collections::BTreeMap,
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
    Change, Collection, Done, Position, Stats, StoreError, StoredGame, Watcher,
    backend::{Acknowledged, Backend, Tree},
    documents,
    error::At,
    limits,
    packing::{
        index::Index,
        pack::{self, Pack, Tip},
        packer::Packer,
    },
    repair::walk::Walk,
    writer::{Job, Shared, Snapshot, Writer},
};

/// Jobs that may wait for the writer; games are also limited by [`Options`].
const QUEUE_JOBS: usize = 4_096;

/// A database with its writer.
pub(crate) struct Core<B: Backend> {
    pub(crate) shared: Arc<Shared<B>>,
    /// The writer's queue and thread; none once it is closed.
    writer: Mutex<Option<(SyncSender<Job>, JoinHandle<()>)>>,
    queue_games: usize,
    queue_bytes: usize,
    /// True if it was empty when it was opened.
    pub(crate) empty: bool,
}

impl<B: Backend> Core<B> {
    /// Starts the writer of a database that was walked.
    pub(crate) fn start(
        db: B,
        place: &Path,
        walk: Walk,
        [queue_games, queue_bytes]: [usize; 2],
    ) -> Result<Self, StoreError> {
        let empty = walk.is_empty();
        let Walk {
            tip,
            index,
            documents,
            ..
        } = walk;
        let shared = Arc::new(Shared::new(db, index, tip));
        // It can still be read.
        if let Err(error) = shared.db.check_writable() {
            tracing::warn!("cannot write: {error}");
        }
        let packer = Packer::new().at("make a packer for", place)?;
        let writer = Writer {
            shared: Arc::clone(&shared),
            state: Acknowledged { tip, documents },
            packer,
        };
        let (sender, receiver) = mpsc::sync_channel(QUEUE_JOBS);
        let thread = thread::Builder::new()
            .name("arena-store".to_owned())
            .spawn(move || writer.run(&receiver))
            .at("start the writer of", place)?;
        Ok(Self {
            shared,
            writer: Mutex::new(Some((sender, thread))),
            queue_games,
            queue_bytes,
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

    /// As [`Store::get`](crate::Store::get).
    pub(crate) fn get(
        &self,
        collection: Collection,
        key: &str,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        let key = documents::key(collection, key);
        let value = self.shared.db.get(Tree::Documents, &key)?;
        value.map(|value| self.document(&key, &value)).transpose()
    }

    /// As [`Store::list_with`](crate::Store::list_with).
    pub(crate) fn list_with(
        &self,
        collection: Collection,
        prefix: &str,
    ) -> Result<Vec<(String, Vec<u8>)>, StoreError> {
        let mut entries = Vec::new();
        let from = documents::key(collection, prefix);
        self.shared.db.visit(Tree::Documents, &from, |key, value| {
            let of = documents::parse_key(&key).filter(|_| key.starts_with(&from));
            if let Some((_, name)) = of {
                entries.push((name.to_owned(), self.document(&key, &value)));
            }
            of.is_some()
        })?;
        let entries = entries.into_iter();
        entries
            .map(|(name, content)| Ok((name, content?)))
            .collect()
    }

    fn document(&self, key: &[u8], value: &[u8]) -> Result<Vec<u8>, StoreError> {
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

    fn damaged(&self, place: u32) -> StoreError {
        self.corrupt(format!(
            "results pack {place} has changed since it was written"
        ))
    }

    fn corrupt(&self, damage: String) -> StoreError {
        self.shared.db.corrupt(damage)
    }

    pub(crate) fn games_from(
        &self,
        tournament: &str,
        from: u64,
        limit: usize,
    ) -> Result<Vec<StoredGame>, StoreError> {
        let wanted = self.index().range(tournament, from, limit);
        let mut by_pack: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (slot, &(_, place)) in wanted.iter().enumerate() {
            by_pack.entry(place).or_default().push(slot);
        }
        let places: Vec<u32> = by_pack.keys().copied().collect();
        let mut found: Vec<Option<StoredGame>> = vec![None; wanted.len()];
        self.visit_packs(&places, |place, pack, bodies| {
            let slots = by_pack.get(&place).map_or(&[][..], Vec::as_slice);
            for entry in pack.of(tournament) {
                // Slots are in ascending order, and so are their indices.
                if let Ok(at) = slots.binary_search_by_key(&entry.index, |&slot| wanted[slot].0) {
                    found[slots[at]] = entry.game(bodies);
                }
            }
            Ok(())
        })?;
        let found: Option<Vec<_>> = found.into_iter().collect();
        found.ok_or_else(|| self.corrupt(format!("a game of {tournament} is not at its place")))
    }

    /// True if the chain has this place.
    fn has(&self, position: &Position) -> Result<bool, StoreError> {
        let now = self.shared.positions.now();
        if position.packs == 0 || position.packs >= now.packs {
            return Ok(*position == now || *position == Tip::default().position());
        }
        let Ok(last) = u32::try_from(position.packs - 1) else {
            return Ok(false);
        };
        let mut has = false;
        self.visit_packs(&[last], |_, pack, _| {
            has = pack.link == position.link;
            Ok(())
        })?;
        Ok(has)
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
        self.visit_packs(&places, |place, pack, bodies| {
            for entry in pack.of(tournament) {
                visit(entry.game(bodies).ok_or_else(|| self.damaged(place))?);
            }
            Ok(())
        })
    }

    /// Visits intact packs with their records, one at a time.
    fn visit_packs(
        &self,
        places: &[u32],
        mut visit: impl FnMut(u32, &Pack, &[u8]) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.shared.db.visit_packs(places, |place, bytes| {
            let damaged = || self.damaged(place);
            let bytes = bytes.ok_or_else(damaged)?;
            let pack = pack::open(&bytes).ok_or_else(damaged)?;
            let bodies = pack.bodies(&bytes).ok_or_else(damaged)?;
            visit(place, &pack, &bodies)
        })
    }

    /// As [`Store::scan_from`](crate::Store::scan_from).
    pub(crate) fn scan_from(
        &self,
        tournament: &str,
        position: &Position,
        visit: &mut dyn FnMut(StoredGame),
    ) -> Result<bool, StoreError> {
        if !self.has(position)? {
            return Ok(false);
        }
        self.scan(tournament, position.packs, visit)?;
        Ok(true)
    }

    /// As [`Store::watch`](crate::Store::watch).
    pub(crate) fn watch(&self, watcher: Watcher) {
        // The first one is kept.
        let _ = self.shared.watcher.set(watcher);
    }

    /// As [`Store::stats`](crate::Store::stats).
    pub(crate) fn stats(&self) -> Stats {
        Stats {
            games: self.index().games(),
            bytes_on_disk: self.shared.db.size(),
            syncs: self.shared.syncs.load(Ordering::Relaxed),
            queued: self.shared.queued_games.load(Ordering::Relaxed),
        }
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

impl<B: Backend> Drop for Core<B> {
    fn drop(&mut self) {
        // Callers that need the error call `close`.
        let _ = self.close();
    }
}
