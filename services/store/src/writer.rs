//! The only thread that writes. It collects waiting jobs into one commit, packs the games, makes
//! everything durable, and only then acknowledges.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, AtomicUsize, Ordering},
        mpsc::{Receiver, SyncSender},
    },
    time::{Duration, Instant},
};

use parking_lot::{Mutex, RwLock};

use crate::{
    Change, Commit, Done, Positions, StoreError, StoredGame, Watcher,
    backend::{Acknowledged, Backend, Batch, NewPack, Tree},
    documents::{self, Summary},
    packing::{
        index::Index,
        pack::{self, Tip},
        packer::Packer,
    },
};

/// Number of games at which a commit waits for no more.
const COMMIT_GAMES: usize = 1_024;
/// Maximum time that a commit waits for more games.
const COMMIT_WAIT: Duration = Duration::from_millis(2);

/// A job for the writer.
pub(crate) enum Job {
    Games {
        batch: Vec<StoredGame>,
        bytes: usize,
        /// Time at which it was sent.
        handed: Instant,
        done: Done,
    },
    /// Without changes, the reply comes when all earlier jobs are durable.
    Documents {
        changes: Vec<Change>,
        reply: SyncSender<Result<(), StoreError>>,
    },
    /// The state between two commits, for a backup.
    Snapshot {
        reply: SyncSender<Result<Snapshot, StoreError>>,
    },
}

/// All documents of an open store at one point in time, and the length of its chain of packs.
pub(crate) struct Snapshot {
    /// Packs in the chain.
    pub(crate) packs: u64,
    /// Keys and contents.
    pub(crate) documents: Vec<(Vec<u8>, Vec<u8>)>,
}

/// State shared with readers and senders.
pub(crate) struct Shared<B> {
    pub(crate) db: B,
    /// Durable games only: other games cannot be read.
    pub(crate) index: RwLock<Index>,
    /// The end of the chain of durable packs.
    pub(crate) positions: Positions,
    /// The error that stopped the store.
    stopped: Mutex<Option<StoreError>>,
    pub(crate) queued_games: AtomicUsize,
    pub(crate) queued_bytes: AtomicUsize,
    pub(crate) syncs: AtomicU64,
    /// Called after every commit.
    pub(crate) watcher: OnceLock<Watcher>,
}

impl<B> Shared<B> {
    pub(crate) fn new(db: B, index: Index, tip: Tip) -> Self {
        Self {
            db,
            index: RwLock::new(index),
            positions: Positions::new(tip.position()),
            stopped: Mutex::new(None),
            queued_games: AtomicUsize::new(0),
            queued_bytes: AtomicUsize::new(0),
            syncs: AtomicU64::new(0),
            watcher: OnceLock::new(),
        }
    }

    /// The error that stopped the store, if one did.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        self.stopped.lock().clone().map_or(Ok(()), Err)
    }

    fn stop(&self, error: &StoreError) {
        tracing::error!(%error, "the store stopped");
        let mut stopped = self.stopped.lock();
        stopped.get_or_insert_with(|| error.clone());
    }
}

/// The writer's own state: how far it has acknowledged.
pub(crate) struct Writer<B> {
    pub(crate) shared: Arc<Shared<B>>,
    pub(crate) state: Acknowledged,
    pub(crate) packer: Packer,
}

/// One commit, and its waiting callers.
#[derive(Default)]
struct Group {
    games: Vec<StoredGame>,
    bytes: usize,
    changes: Vec<Change>,
    done: Vec<Done>,
    replies: Vec<SyncSender<Result<(), StoreError>>>,
    snapshots: Vec<SyncSender<Result<Snapshot, StoreError>>>,
    /// Its contents so far.
    took: Commit,
}

impl Group {
    /// Adds a job. Returns true if the commit may wait for more.
    fn take(&mut self, job: Job) -> bool {
        match job {
            Job::Games {
                batch,
                bytes,
                handed,
                done,
            } => {
                if self.games.is_empty() {
                    self.took.waited = handed.elapsed();
                }
                self.games.extend(batch);
                self.bytes += bytes;
                self.done.push(done);
                self.games.len() < COMMIT_GAMES
            }
            Job::Documents { changes, reply } => {
                self.changes.extend(changes);
                self.replies.push(reply);
                false
            }
            Job::Snapshot { reply } => {
                self.snapshots.push(reply);
                false
            }
        }
    }
}

impl<B: Backend> Writer<B> {
    /// Runs until every sender is gone and all jobs are written.
    pub(crate) fn run(mut self, jobs: &Receiver<Job>) {
        while let Ok(job) = jobs.recv() {
            let began = Instant::now();
            let mut group = Group::default();
            let mut open = group.take(job);
            let deadline = began + COMMIT_WAIT;
            while open {
                match jobs.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                    Ok(job) => open = group.take(job),
                    Err(_) => break,
                }
            }
            group.took.gathered = began.elapsed();
            self.finish(group);
        }
        if let Err(error) = self.shared.db.finish() {
            self.shared.stop(&error);
        }
    }

    fn finish(&mut self, group: Group) {
        let taken = group.games.len();
        let result = self.commit(group.games, group.changes, group.took);
        if let Err(error) = &result {
            self.shared.stop(error);
        }
        self.shared.queued_games.fetch_sub(taken, Ordering::Relaxed);
        self.shared
            .queued_bytes
            .fetch_sub(group.bytes, Ordering::Relaxed);
        for done in group.done {
            done(result.clone());
        }
        for reply in group.replies {
            // The caller may be gone.
            let _ = reply.send(result.clone());
        }
        for reply in group.snapshots {
            let _ = reply.send(result.clone().and_then(|()| self.snapshot()));
        }
    }

    /// All current documents, and the end of the chain.
    fn snapshot(&self) -> Result<Snapshot, StoreError> {
        let mut documents = Vec::new();
        let mut whole = true;
        self.shared.db.visit(Tree::Documents, &[], |key, value| {
            if *key == documents::SUMMARY_KEY {
                return true;
            }
            match documents::open(&key, &value) {
                Some(sealed) => documents.push((key.to_vec(), sealed.content.to_vec())),
                None => whole = false,
            }
            whole
        })?;
        if !whole {
            let damage = "a document has changed since it was written";
            return Err(self.shared.db.corrupt(damage.to_owned()));
        }
        Ok(Snapshot {
            packs: self.state.tip.packs,
            documents,
        })
    }

    fn commit(
        &mut self,
        mut games: Vec<StoredGame>,
        changes: Vec<Change>,
        mut took: Commit,
    ) -> Result<(), StoreError> {
        self.shared.check()?;
        let mut step = Step::begin();
        self.only_new(&mut games);
        if games.is_empty() && changes.is_empty() {
            return Ok(());
        }
        self.shared.db.check_writable()?;
        let (packs, places, tip) = self.pack(&games)?;
        let (changed, documents) = self.seal(changes)?;
        (took.games, took.packed) = (games.len(), step.next());

        let after = Acknowledged { tip, documents };
        let batch = Batch {
            packs,
            documents: changed,
            before: self.state,
            after,
        };
        self.shared.db.commit(batch, &mut took)?;
        self.record_commit(&took);

        self.state = after;
        self.shared.positions.set(tip.position());
        let mut index = self.shared.index.write();
        for (game, place) in games.iter().zip(places) {
            index.insert(&game.tournament, game.index, place);
        }
        Ok(())
    }

    /// Reports a commit.
    fn record_commit(&self, took: &Commit) {
        self.shared.syncs.fetch_add(1, Ordering::Relaxed);
        if let Some(watcher) = self.shared.watcher.get() {
            watcher(took);
        }
    }

    /// Keeps the first of equal games, and none that is durable already. Games that are read
    /// together are stored together.
    fn only_new(&self, games: &mut Vec<StoredGame>) {
        let index = self.shared.index.read();
        games.retain(|game| !index.contains(&game.tournament, game.index));
        games.sort_by(|a, b| (&a.tournament, a.index).cmp(&(&b.tournament, b.index)));
        games.dedup_by(|later, first| {
            (&later.tournament, later.index) == (&first.tournament, first.index)
        });
    }

    /// The packs of these games, the place of each game, and the end of the chain after them.
    fn pack(
        &mut self,
        mut games: &[StoredGame],
    ) -> Result<(Vec<NewPack>, Vec<u32>, Tip), StoreError> {
        let mut tip = self.state.tip;
        let (mut packs, mut places) = (Vec::new(), Vec::with_capacity(games.len()));
        while !games.is_empty() {
            let place = pack::place(tip.packs).ok_or_else(|| StoreError::TooLarge {
                what: "the store's chain of results".to_owned(),
                bytes: usize::MAX,
                limit: u32::MAX as usize,
            })?;
            let (count, encoded) = self.packer.pack(games, &tip);
            packs.push(NewPack {
                sequence: tip.packs,
                bytes: encoded.bytes,
            });
            places.resize(places.len() + count, place);
            tip = encoded.tip;
            games = &games[count..];
        }
        Ok((packs, places, tip))
    }

    /// Values of changed documents, and the summary after them.
    fn seal(&self, changes: Vec<Change>) -> Result<(Changed, Summary), StoreError> {
        let mut summary = self.state.documents;
        if changes.is_empty() {
            return Ok((Changed::new(), summary));
        }
        summary.version += 1;
        let mut values = documents::fold(changes);
        let keys: Vec<&[u8]> = values.keys().map(Vec::as_slice).collect();
        let before = self.shared.db.get_documents(&keys)?;
        for ((key, value), before) in values.iter_mut().zip(before) {
            if let Some(old) = before {
                let old = documents::open(key, &old).ok_or_else(|| {
                    let damage = "a document to be replaced has changed since it was written";
                    self.shared.db.corrupt(damage.to_owned())
                })?;
                summary.remove(&old.checksum);
            }
            if let Some(content) = value {
                let (checksum, sealed) = documents::seal(key, summary.version, content);
                summary.add(&checksum);
                *value = Some(sealed);
            }
        }
        let mut values: Changed = values.into_iter().collect();
        values.push((documents::SUMMARY_KEY.to_vec(), Some(summary.seal())));
        Ok((values, summary))
    }
}

/// Keys and values as the database takes them; `None` removes the key.
type Changed = Vec<(Vec<u8>, Option<Vec<u8>>)>;

/// Where one part of the work ends, the next one starts.
pub(crate) struct Step(Instant);

impl Step {
    pub(crate) fn begin() -> Self {
        Self(Instant::now())
    }

    /// Duration of the part that ends now.
    pub(crate) fn next(&mut self) -> Duration {
        let now = Instant::now();
        now - std::mem::replace(&mut self.0, now)
    }
}
