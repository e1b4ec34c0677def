//! Measures how fast games become durable.
//!
//! ```text
//! cargo run --release -p arena-store --example append -- [GAMES] [BATCH] [OUTSTANDING] [STORE] [RATE]
//! ```
//!
//! STORE is a data folder, or postgres://… of an empty database (with --features postgres). With
//! RATE, in games per second, each batch is due at a time of its own, and its latency counts from
//! then.

use std::{
    collections::BTreeSet,
    env,
    path::Path,
    sync::{Arc, mpsc},
    thread,
    time::{Duration, Instant},
};

use arena_store::{
    Holder, Location, Options, Ownership, PostgresOptions, SledStore, Standby, Store, StoreError,
    StoredGame,
};

/// Bytes of a packed record of an ordinary game, and of what stands beside it.
const RECORD_BYTES: usize = 200;
const SIDE_BYTES: usize = 24;

#[expect(clippy::print_stdout, reason = "the figures are what it is for")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let number = |at: usize, default: u64| {
        arguments
            .get(at)
            .map_or(Ok(default), |given| given.replace('_', "").parse())
    };
    let (games, batch, outstanding) = (number(0, 1_000_000)?, number(1, 100)?, number(2, 64)?);
    let temporary = tempfile::tempdir()?;
    let local = temporary.path().join("data");
    let location = arguments.get(3).map(|text| Location::from(&**text));
    let location = location.unwrap_or_else(|| Location::Folder(local.clone()));
    let rate = number(4, 0)?;
    let due = |start: u64| match rate {
        0 => Duration::ZERO,
        rate => Duration::from_secs_f64(start as f64 / rate as f64),
    };

    let store = open(&location, &local)?;
    let tournament: Arc<str> = "cowry-strategies-3f9a0c1b22".into();
    let (sender, receiver) = mpsc::channel();
    let mut latencies: Vec<Duration> = Vec::new();
    let mut waiting = BTreeSet::new();
    let mut busy = 0_u64;
    let started = Instant::now();
    let mut start = 0;
    while start < games || !waiting.is_empty() {
        let is_late = started.elapsed() >= due(start);
        if start < games && (waiting.len() as u64) < outstanding && is_late {
            let end = games.min(start + batch);
            let made = (start..end).map(|index| game(&tournament, index)).collect();
            let handed = match rate {
                0 => Instant::now(),
                _ => started + due(start),
            };
            let sender = sender.clone();
            let done = Box::new(move |result: Result<(), StoreError>| {
                // The receiver outlives every batch.
                let _ = sender.send((start, result.map(|()| handed.elapsed())));
            });
            match store.append(made, done) {
                Ok(()) => {
                    waiting.insert(start);
                    start = end;
                    continue;
                }
                Err(StoreError::Busy { .. }) => busy += 1,
                Err(error) => return Err(error.into()),
            }
        }
        let until_due = due(start).saturating_sub(started.elapsed());
        let answer = match start < games && !until_due.is_zero() {
            true => receiver.recv_timeout(until_due).ok(),
            false if waiting.is_empty() => None,
            false => Some(receiver.recv()?),
        };
        if let Some((acknowledged, latency)) = answer {
            waiting.remove(&acknowledged);
            latencies.push(latency?);
        } else if waiting.is_empty() {
            thread::yield_now();
        }
    }
    let seconds = started.elapsed().as_secs_f64();
    latencies.sort_unstable();
    let at = |share: f64| latencies[((latencies.len() - 1) as f64 * share) as usize];
    let stats = store.stats();
    let written = memory("VmRSS");
    store.close()?;
    drop(store);
    println!(
        "durable         {:.0} games/s ({games} games, {batch} a batch)",
        games as f64 / seconds
    );
    println!(
        "acknowledged    p50 {:?}  p99 {:?}  ({outstanding} batches at once)",
        at(0.5),
        at(0.99)
    );
    println!(
        "commits         {} ({:.0} games each), busy {busy} times",
        stats.syncs,
        games as f64 / stats.syncs as f64
    );
    println!(
        "on disk         {:.0} bytes/game, {} of them record",
        stats.bytes_on_disk as f64 / games as f64,
        RECORD_BYTES + SIDE_BYTES
    );

    println!(
        "memory          {written} after writing, {} after closing",
        memory("VmRSS")
    );

    let started = Instant::now();
    let store = open(&location, &local)?;
    println!(
        "opened, checked {:?}, memory {}",
        started.elapsed(),
        memory("VmRSS")
    );
    let started = Instant::now();
    let mut scanned = 0_u64;
    store.scan(&tournament, &mut |_| scanned += 1)?;
    println!(
        "scanned         {:.0} games/s",
        scanned as f64 / started.elapsed().as_secs_f64()
    );
    let started = Instant::now();
    let (mut exported, mut from) = (0, 0);
    loop {
        let page = store.games(&tournament, from, 1_000)?;
        let Some(last) = page.last() else { break };
        (exported, from) = (exported + page.len(), last.index + 1);
    }
    println!(
        "in index order  {:.0} games/s",
        exported as f64 / started.elapsed().as_secs_f64()
    );
    println!("memory          peak {} in all", memory("VmHWM"));
    Ok(())
}

/// Opens a store; `local` is the folder for the cache of one in a database.
fn open(location: &Location, local: &Path) -> Result<Arc<dyn Store>, Box<dyn std::error::Error>> {
    let options = Options::default();
    let url = match location {
        Location::Folder(folder) => return Ok(Arc::new(SledStore::open(folder, &options)?)),
        Location::Database(url) => url,
    };
    let options = PostgresOptions {
        data: local.to_owned(),
        holder: Holder {
            name: "append".to_owned(),
            address: None,
        },
        queue_games: options.queue_games,
        queue_bytes: options.queue_bytes,
    };
    match Standby::connect(url, options)?.own()? {
        Ownership::Ours(store) => Ok(store),
        Ownership::Theirs(_, holder) => Err(format!("{} owns the database", holder.name).into()),
    }
}

/// Bytes that do not compress, as a packed record does not.
fn game(tournament: &Arc<str>, index: u64) -> StoredGame {
    let mut state = index.wrapping_add(1);
    let mut bytes = |count: usize| -> Vec<u8> {
        (0..count)
            .map(|_| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                (state >> 56) as u8
            })
            .collect()
    };
    StoredGame {
        tournament: Arc::clone(tournament),
        index,
        hash: [index as u8; 32],
        record: bytes(RECORD_BYTES),
        side: bytes(SIDE_BYTES),
    }
}

/// The process's resident memory as Linux reports it.
fn memory(what: &str) -> String {
    std::fs::read_to_string("/proc/self/status")
        .ok()
        .and_then(|status| {
            let line = status
                .lines()
                .find_map(|line| line.strip_prefix(what)?.strip_prefix(':'))?;
            Some(line.trim().to_owned())
        })
        .unwrap_or_else(|| "unknown".to_owned())
}
