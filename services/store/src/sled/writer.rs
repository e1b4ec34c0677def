//! The only thread that writes. It collects waiting jobs into one commit, packs the games, makes
//! everything durable, and only then acknowledges.

use std::{
    path::PathBuf,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, AtomicUsize, Ordering},
        mpsc::{Receiver, SyncSender},
    },
    time::{Duration, Instant},
};

use parking_lot::{Mutex, RwLock};

use crate::{
    Change, Commit, Done, Positions, RESERVE_BYTES, StoreError, StoredGame, Watcher,
    documents::{self, Summary},
    error::At,
    packing::{
        index::Index,
        pack::{self, Tip},
        packer::Packer,
    },
    sled::{
        commit_marker::{Acknowledged, CommitMarker},
        database::{Database, Tree},
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
pub(crate) struct Shared {
    pub(crate) db: Database,
    pub(crate) data: PathBuf,
    pub(crate) reserve_bytes: u64,
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

impl Shared {
    pub(crate) fn new(
        db: Database,
        data: PathBuf,
        reserve_bytes: u64,
        index: Index,
        tip: Tip,
    ) -> Self {
        Self {
            db,
            data,
            reserve_bytes,
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

    /// Writing starts only with room to spare: sled must not meet a full disk.
    pub(crate) fn check_space(&self) -> Result<(), StoreError> {
        let free = fs4::available_space(&self.data).at("ask for the free space of", &self.data)?;
        if free < self.reserve_bytes {
            return Err(StoreError::Full {
                path: self.data.clone(),
                needed: RESERVE_BYTES,
            });
        }
        Ok(())
    }
}

/// The writer's own state: the end of the chain, and how far it has acknowledged.
pub(crate) struct Writer {
    pub(crate) shared: Arc<Shared>,
    pub(crate) commit_marker: CommitMarker,
    pub(crate) tip: Tip,
    pub(crate) packer: Packer,
    pub(crate) documents: Summary,
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

impl Writer {
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
        if let Err(error) = self.commit_marker.sync() {
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
            return Err(StoreError::corrupt(&self.shared.data, damage));
        }
        Ok(Snapshot {
            packs: self.tip.packs,
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
        let mut step = Step(Instant::now());
        self.only_new(&mut games);
        if games.is_empty() && changes.is_empty() {
            return Ok(());
        }
        self.shared.db.check_in_place()?;
        self.shared.check_space()?;
        let (packs, places, tip) = self.pack(&games)?;
        let (values, documents) = self.seal(changes)?;

        (took.games, took.packed) = (games.len(), step.next());
        let db = &self.shared.db;
        if !packs.is_empty() {
            db.apply(Tree::Packs, packs)?;
        }
        if !values.is_empty() {
            db.apply(Tree::Documents, values)?;
        }
        took.applied = step.next();
        [took.written, took.synced] = db.sync()?;
        step.next();
        self.commit_marker.write(&Acknowledged { tip, documents })?;
        // What was written to deleted files must not be acknowledged.
        db.check_in_place()?;
        self.commit_marker.check_in_place()?;
        took.commit_marker = step.next();
        self.record_commit(&took);

        (self.tip, self.documents) = (tip, documents);
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
    fn pack(&mut self, mut games: &[StoredGame]) -> Result<(Entries, Vec<u32>, Tip), StoreError> {
        let mut tip = self.tip;
        let (mut packs, mut places) = (Vec::new(), Vec::with_capacity(games.len()));
        while !games.is_empty() {
            let place = pack::place(tip.packs).ok_or_else(|| StoreError::TooLarge {
                what: "the store's chain of results".to_owned(),
                bytes: usize::MAX,
                limit: u32::MAX as usize,
            })?;
            let (count, encoded) = self.packer.pack(games, &tip);
            packs.push((pack::key(tip.packs).to_vec(), Some(encoded.bytes)));
            places.resize(places.len() + count, place);
            tip = encoded.tip;
            games = &games[count..];
        }
        Ok((packs, places, tip))
    }

    /// Values of changed documents, and the summary after them.
    fn seal(&self, changes: Vec<Change>) -> Result<(Entries, Summary), StoreError> {
        let mut summary = self.documents;
        if changes.is_empty() {
            return Ok((Entries::new(), summary));
        }
        summary.version += 1;
        let mut values = documents::fold(changes);
        for (key, value) in &mut values {
            if let Some(old) = self.shared.db.get(Tree::Documents, key)? {
                let old = documents::open(key, &old).ok_or_else(|| {
                    let damage = "a document to be replaced has changed since it was written";
                    StoreError::corrupt(&self.shared.data, damage)
                })?;
                summary.remove(&old.checksum);
            }
            if let Some(content) = value {
                let (checksum, sealed) = documents::seal(key, summary.version, content);
                summary.add(&checksum);
                *value = Some(sealed);
            }
        }
        let mut values: Entries = values.into_iter().collect();
        values.push((documents::SUMMARY_KEY.to_vec(), Some(summary.seal())));
        Ok((values, summary))
    }
}

/// Keys and values as the database takes them; `None` removes the key.
type Entries = Vec<(Vec<u8>, Option<Vec<u8>>)>;

/// Where one part of the work ends, the next one starts.
struct Step(Instant);

impl Step {
    /// Duration of the part that ends now.
    fn next(&mut self) -> Duration {
        let now = Instant::now();
        now - std::mem::replace(&mut self.0, now)
    }
}
