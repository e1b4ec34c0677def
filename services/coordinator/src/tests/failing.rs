//! Stores that are full, slow or damaged.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU8, AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use arena_store::{
    BinaryUpload, Change, Collection, Done, MemoryStore, Stats, Store, StoreError, StoredGame,
};
use arena_wire::{reasons, v1};
use tokio::time::sleep;
use tonic::Code;
use tonic_types::StatusExt;

use super::fixture::{FakeWorker, Fixture, SPEC, options, refused, won};
use crate::{Options, RunError};

/// How the next writes end.
pub(super) const WELL: u8 = 0;
const BUSY: u8 = 1;
const FULL: u8 = 2;
pub(super) const FULL_DOCUMENTS: u8 = 3;
const CORRUPT: u8 = 4;
const CORRUPT_DOCUMENTS: u8 = 5;
/// Games can be written but not read.
const UNREADABLE: u8 = 6;
/// Writes of documents wait until the mode changes.
const HELD_DOCUMENTS: u8 = 7;

/// A memory store whose writes fail on request.
pub(super) struct Failing {
    inner: MemoryStore,
    mode: AtomicU8,
    /// Number of writes of documents.
    puts: AtomicUsize,
}

impl Failing {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            inner: MemoryStore::new().expect("a memory store"),
            mode: AtomicU8::new(WELL),
            puts: AtomicUsize::new(0),
        })
    }

    pub(super) fn set(&self, mode: u8) {
        self.mode.store(mode, Ordering::Relaxed);
    }

    fn mode(&self) -> u8 {
        self.mode.load(Ordering::Relaxed)
    }

    /// Waits until the number of writes has changed.
    async fn writes_after(&self, before: usize) {
        while self.puts.load(Ordering::Relaxed) == before {
            sleep(Duration::from_millis(1)).await;
        }
    }
}

/// A coordinator with a tournament, and a worker with the first lease.
async fn leased(store: &Arc<Failing>) -> (Fixture, String, FakeWorker, v1::Lease) {
    let mut arena = Fixture::with(options(store.clone())).await;
    let id = arena.start(SPEC).await.tournament_id;
    let mut worker = arena.join("one").await;
    let lease = worker.lease().await;
    (arena, id, worker, lease)
}

fn full() -> StoreError {
    StoreError::Full {
        path: PathBuf::from("/data"),
        needed: 1,
    }
}

fn corrupt() -> StoreError {
    StoreError::Corrupt {
        path: PathBuf::from("/data"),
        damage: "results pack 3 has changed since it was written".to_owned(),
        remedy: "run the repair".to_owned(),
    }
}

impl Store for Failing {
    fn put_many(&self, changes: Vec<Change>) -> Result<(), StoreError> {
        self.puts.fetch_add(1, Ordering::Relaxed);
        // Ends after a minute, in case the test fails meanwhile.
        for _ in 0..60_000 {
            if self.mode() != HELD_DOCUMENTS {
                break;
            }
            thread::sleep(Duration::from_millis(1));
        }
        match self.mode() {
            FULL_DOCUMENTS => Err(full()),
            CORRUPT_DOCUMENTS => Err(corrupt()),
            _ => self.inner.put_many(changes),
        }
    }

    fn get(&self, collection: Collection, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.inner.get(collection, key)
    }

    fn list_with(
        &self,
        collection: Collection,
        prefix: &str,
    ) -> Result<Vec<(String, Vec<u8>)>, StoreError> {
        self.inner.list_with(collection, prefix)
    }

    fn begin_binary(&self, sha256: [u8; 32]) -> Result<BinaryUpload, StoreError> {
        self.inner.begin_binary(sha256)
    }

    fn binary_path(&self, sha256: &[u8; 32]) -> Option<PathBuf> {
        self.inner.binary_path(sha256)
    }

    fn append(&self, batch: Vec<StoredGame>, done: Done) -> Result<(), StoreError> {
        match self.mode() {
            BUSY => Err(StoreError::Busy { queued: 1 }),
            FULL => {
                done(Err(full()));
                Ok(())
            }
            CORRUPT => Err(corrupt()),
            _ => self.inner.append(batch, done),
        }
    }

    fn games(
        &self,
        tournament: &str,
        from: u64,
        limit: usize,
    ) -> Result<Vec<StoredGame>, StoreError> {
        match self.mode() {
            UNREADABLE => Err(corrupt()),
            _ => self.inner.games(tournament, from, limit),
        }
    }

    fn scan(&self, tournament: &str, visit: &mut dyn FnMut(StoredGame)) -> Result<(), StoreError> {
        self.inner.scan(tournament, visit)
    }

    fn count(&self, tournament: &str) -> u64 {
        self.inner.count(tournament)
    }

    fn stats(&self) -> Stats {
        self.inner.stats()
    }

    fn flush(&self) -> Result<(), StoreError> {
        self.inner.flush()
    }

    fn close(&self) -> Result<(), StoreError> {
        self.inner.close()
    }
}

#[tokio::test]
async fn full_queue_loses_nothing() {
    let store = Failing::new();
    let (mut arena, id, mut worker, lease) = leased(&store).await;
    store.set(BUSY);
    let answer = worker.report(&lease, vec![won(&lease.games[0], 0)]).await;
    let retry = answer
        .as_ref()
        .expect_err("refused")
        .get_details_retry_info();
    assert!(retry.is_some_and(|retry| retry.retry_delay.is_some()));
    refused(answer, Code::ResourceExhausted, reasons::OVERLOADED);
    assert_eq!(arena.tournament(&id).await.games_done, 0);
    store.set(WELL);
    worker.play(&lease).await;
    worker.play_all().await;
    assert_eq!(arena.standings(&id).await.games, 40);
}

#[tokio::test]
async fn full_disk_stops_and_restart_continues() {
    for (mode, acknowledged) in [(FULL, 8), (FULL_DOCUMENTS, 8)] {
        let store = Failing::new();
        let (mut arena, id, mut worker, first) = leased(&store).await;
        let kept = first.games[..acknowledged].iter().map(|game| won(game, 0));
        worker
            .report(&first, kept.collect())
            .await
            .expect("durable");
        store.set(mode);
        if mode == FULL {
            let rest = first.games[acknowledged..].iter().map(|game| won(game, 0));
            let answer = worker.report(&first, rest.collect()).await;
            refused(answer, Code::Internal, reasons::STORE_FAILED);
        } else {
            arena
                .try_start(&SPEC.replace("cup", "other"), false)
                .await
                .expect_err("no room");
        }
        match arena.ended().await {
            Err(RunError::Store(error)) => assert_eq!(error, full()),
            other => panic!("{other:?}"),
        }

        store.set(WELL);
        let mut arena = Fixture::with(options(store)).await;
        assert_eq!(arena.tournament(&id).await.games_done, acknowledged as u64);
        let mut worker = arena.join("one").await;
        assert_eq!(worker.play_all().await, 40 - acknowledged);
        assert_eq!(arena.standings(&id).await.games, 40);
    }
}

#[tokio::test]
async fn damaged_store_names_the_repair() {
    for mode in [CORRUPT, CORRUPT_DOCUMENTS] {
        let store = Failing::new();
        let (mut arena, _, mut worker, lease) = leased(&store).await;
        store.set(mode);
        if mode == CORRUPT {
            let answer = worker.report(&lease, vec![won(&lease.games[0], 0)]).await;
            refused(answer, Code::Internal, reasons::STORE_FAILED);
        } else {
            let other = SPEC.replace("cup", "other");
            arena.try_start(&other, false).await.expect_err("damaged");
        }
        match arena.ended().await {
            Err(RunError::Store(error)) => assert_eq!(error, corrupt()),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn unreadable_record_delays_no_acknowledgement() {
    let store = Failing::new();
    let audited = crate::Options {
        audit_share: 1.0,
        ..options(store.clone())
    };
    let mut arena = Fixture::with(audited).await;
    let id = arena.start(SPEC).await.tournament_id;
    let mut one = arena.join("one").await;
    let mut leases = Vec::new();
    while let Some(lease) = one.try_lease(0).await.expect("answered") {
        leases.push(lease);
    }
    for lease in &leases {
        one.play(lease).await;
    }
    store.set(UNREADABLE);
    // A repeated report and the report of an audit are acknowledged.
    let twice = one
        .report(&leases[0], vec![won(&leases[0].games[0], 1)])
        .await;
    assert!(twice.expect("acknowledged").differing.is_empty());
    let mut two = arena.join("two").await;
    while let Some(lease) = two.try_lease(0).await.expect("answered") {
        two.play(&lease).await;
    }
    let audits = arena.tournament(&id).await.audits.expect("audited");
    let reported = (
        audits.agreed,
        audits.differing,
        audits.waiting,
        audits.given_up,
    );
    assert_eq!(reported, (0, 0, 0, 40), "nothing agreed, and nothing waits");
}

#[tokio::test]
async fn differences_of_a_report_are_one_write() {
    let store = Failing::new();
    let (mut arena, id, mut worker, lease) = leased(&store).await;
    worker.play(&lease).await;
    let before = store.puts.load(Ordering::Relaxed);
    let others = lease.games.iter().map(|game| won(game, 1)).collect();
    let answer = worker.report(&lease, others).await.expect("taken");
    assert_eq!(answer.differing.len(), lease.games.len());
    assert_eq!(store.puts.load(Ordering::Relaxed), before + 1);
    assert_eq!(arena.differences(&id).await.len(), lease.games.len());
}

#[tokio::test]
async fn difference_is_durable_before_acknowledgement() {
    let store = Failing::new();
    let mut arena = Fixture::with(Options {
        audit_share: 1.0,
        ..options(store.clone())
    })
    .await;
    let id = arena.start(SPEC).await.tournament_id;
    arena.join("player").await.play_all().await;
    let mut auditor = arena.join("auditor").await;
    let lease = auditor.lease().await;
    let other = |game| {
        let mut report = won(game, 1);
        let record = report.record.as_mut().expect("a record");
        // A different first move, so that the differing agent is reported.
        record.events = vec![1 << 1 | 1];
        report
    };
    let others: Vec<_> = lease.games.iter().map(other).collect();
    let before = store.puts.load(Ordering::Relaxed);
    store.set(HELD_DOCUMENTS);
    let first = tokio::spawn(auditor.reporting(&lease, others.clone()));
    store.writes_after(before).await;
    // The same report again, as if the answer had been lost.
    let again = tokio::spawn(auditor.reporting(&lease, others));
    for _ in 0..10 {
        assert_eq!(audit_counts(&mut arena, &id).await, (0, 40, 0, 0));
        sleep(Duration::from_millis(10)).await;
    }
    assert!(
        !first.is_finished() && !again.is_finished(),
        "nothing of it is durable"
    );
    store.set(WELL);
    let answer = first.await.expect("no panic").expect("taken");
    let differing = answer.differing.len();
    assert!(differing > 0);
    again.await.expect("no panic").expect("taken");
    let waiting = 40 - differing as u64;
    assert_eq!(
        audit_counts(&mut arena, &id).await,
        (differing as u64, waiting, differing, 2)
    );
}

/// Numbers of differing audits, waiting audits, listed differences and flagged agents.
async fn audit_counts(arena: &mut Fixture, id: &str) -> (u64, u64, usize, usize) {
    let audits = arena.tournament(id).await.audits.expect("audited");
    let standings = arena.standings(id).await;
    let flagged = standings
        .agents
        .iter()
        .filter(|agent| agent.non_deterministic);
    (
        audits.differing,
        audits.waiting,
        arena.differences(id).await.len(),
        flagged.count(),
    )
}

const NOTHING: [u64; 0] = [];

/// As if its process had been stopped: it could read no report, so no lease is late.
#[tokio::test]
async fn slow_disk_expires_no_lease() {
    let store = Failing::new();
    let mut arena = Fixture::with(Options {
        lease_deadline: Duration::from_secs(3),
        ..options(store.clone())
    })
    .await;
    let spec = format!("{SPEC}\n[play]\nmove_timeout = \"1ms\"\n");
    arena.start(&spec).await;
    let mut worker = arena.join("one").await;
    let lease = worker.lease().await;
    let before = store.puts.load(Ordering::Relaxed);
    store.set(HELD_DOCUMENTS);
    let another = tokio::spawn(async move {
        arena.start(&spec.replace("cup", "other")).await;
        arena
    });
    store.writes_after(before).await;
    sleep(Duration::from_secs(5)).await;
    store.set(WELL);
    let arena = another.await.expect("no panic");
    assert_eq!(worker.beat(&lease, 1).await, NOTHING);
    arena.kill().await;
}
