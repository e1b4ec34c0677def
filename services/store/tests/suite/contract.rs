//! The promises of `Store`, tested with every store.

#![expect(clippy::unwrap_used, reason = "tests")]

mod binaries;
mod documents;

use std::{
    sync::{
        Arc, Barrier,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
};

use sha2::{Digest, Sha256};
use tempfile::TempDir;

use crate::{Collection, MemoryStore, Options, SledStore, Store, StoreError, StoredGame};
use binaries::{
    a_binary_broken_off_leaves_nothing, a_binary_is_kept_under_its_digest,
    a_binary_with_another_content_is_refused_and_leaves_nothing,
};
use documents::{
    a_document_reads_as_it_was_written, changes_of_documents_are_made_together,
    documents_are_listed_by_collection_in_the_order_of_their_keys,
    what_is_too_large_is_refused_and_nothing_of_it_taken,
};

/// A game whose bytes follow from its name, so that an exchange of games is found.
pub(crate) fn game(tournament: &str, index: u64) -> StoredGame {
    let hash = Sha256::digest(format!("{tournament}/{index}")).into();
    let length = (index.wrapping_mul(37) % 400) as usize;
    StoredGame {
        tournament: tournament.into(),
        index,
        hash,
        record: hash.iter().copied().cycle().take(length).collect(),
        side: index
            .to_le_bytes()
            .into_iter()
            .take((index % 9) as usize)
            .collect(),
    }
}

pub(crate) fn games(tournament: &str, indices: impl IntoIterator<Item = u64>) -> Vec<StoredGame> {
    indices
        .into_iter()
        .map(|index| game(tournament, index))
        .collect()
}

fn indices(games: &[StoredGame]) -> Vec<u64> {
    games.iter().map(|game| game.index).collect()
}

pub(crate) struct Opened {
    pub(crate) store: Arc<dyn Store>,
    _folder: Option<TempDir>,
}

fn memory() -> Opened {
    Opened {
        store: Arc::new(MemoryStore::new().unwrap()),
        _folder: None,
    }
}

fn sled() -> Opened {
    let folder = tempfile::tempdir().unwrap();
    let store = SledStore::open(folder.path().join("data"), &Options::default()).unwrap();
    Opened {
        store: Arc::new(store),
        _folder: Some(folder),
    }
}

/// A store in a new database of a server.
#[cfg(feature = "postgres")]
pub(crate) fn postgres(url: &str) -> Opened {
    use crate::{Holder, Ownership, PostgresOptions, Standby};
    let folder = tempfile::tempdir().unwrap();
    let options = PostgresOptions {
        data: folder.path().join("data"),
        holder: Holder {
            name: "a test".to_owned(),
            address: None,
        },
        queue_games: Options::default().queue_games,
        queue_bytes: Options::default().queue_bytes,
    };
    match Standby::connect(url, options).unwrap().own().unwrap() {
        Ownership::Ours(store) => Opened {
            store,
            _folder: Some(folder),
        },
        Ownership::Theirs(_, holder) => panic!("{holder:?} owns a new database"),
    }
}

/// A test of one promise.
#[cfg(feature = "postgres")]
type Promise = fn(&Arc<dyn Store>);

/// Runs each test with each store. All databases are on one server, so those are one test.
macro_rules! suite {
    ($($promise:ident)*) => {
        mod memory_store { $(#[test] fn $promise() { super::$promise(&super::memory().store); })* }
        mod sled_store { $(#[test] fn $promise() { super::$promise(&super::sled().store); })* }
        #[cfg(feature = "postgres")]
        const PROMISES: &[(&str, Promise)] = &[$((stringify!($promise), $promise),)*];
    };
}

#[cfg(feature = "postgres")]
#[test]
#[expect(clippy::print_stdout, reason = "tests are reported there")]
fn postgres_store_keeps_every_promise() {
    let server = match crate::server::PostgresServer::start(&[]) {
        Ok(server) => server,
        Err(reason) => return println!("skipped: {reason}"),
    };
    for (number, (name, promise)) in PROMISES.iter().enumerate() {
        println!("{name}");
        let url = server.create(&format!("promise_{number}"));
        promise(&postgres(&url).store);
    }
}

suite! {
    a_document_reads_as_it_was_written
    documents_are_listed_by_collection_in_the_order_of_their_keys
    changes_of_documents_are_made_together
    what_is_too_large_is_refused_and_nothing_of_it_taken
    games_read_as_they_were_appended_in_index_order
    a_page_of_games_starts_at_an_index_and_ends_at_the_limit
    a_scan_visits_every_game_of_one_tournament_once
    of_two_games_with_one_index_the_first_stands
    every_acknowledgement_comes_once_and_after_the_game_can_be_read
    indices_are_reported_ascending_each_once
    a_visitor_may_read_the_store
    many_threads_may_append_and_read_at_once
    a_binary_is_kept_under_its_digest
    a_binary_with_another_content_is_refused_and_leaves_nothing
    a_binary_broken_off_leaves_nothing
    a_closed_store_writes_nothing_more_but_reads
    figures_count_the_games
    a_place_of_the_chain_is_found_again
}

fn games_read_as_they_were_appended_in_index_order(store: &Arc<dyn Store>) {
    for chunk in [3_000..4_000, 0..700, 2_000..3_000, 700..2_000] {
        store.append_and_wait(games("cup", chunk.rev())).unwrap();
    }
    store
        .append_and_wait(games("bowl", [5, u64::MAX, 0]))
        .unwrap();
    assert_eq!(
        store.games("cup", 0, usize::MAX).unwrap(),
        games("cup", 0..4_000)
    );
    assert_eq!(
        store.games("bowl", 0, 10).unwrap(),
        games("bowl", [0, 5, u64::MAX])
    );
    assert_eq!(store.game("cup", 1_234).unwrap(), Some(game("cup", 1_234)));
    assert_eq!(store.game("bowl", 1_234).unwrap(), None);
    assert_eq!(
        (store.count("cup"), store.count("bowl"), store.count("none")),
        (4_000, 3, 0)
    );
}

fn a_page_of_games_starts_at_an_index_and_ends_at_the_limit(store: &Arc<dyn Store>) {
    store
        .append_and_wait(games("cup", (0..3_000).step_by(3)))
        .unwrap();
    assert_eq!(indices(&store.games("cup", 4, 3).unwrap()), [6, 9, 12]);
    assert_eq!(indices(&store.games("cup", 2_997, 3).unwrap()), [2_997]);
    assert_eq!(
        indices(&store.games("cup", 2_998, 3).unwrap()),
        [] as [u64; 0]
    );
    assert_eq!(indices(&store.games("cup", 0, 0).unwrap()), [] as [u64; 0]);
    assert_eq!(store.games("none", 0, 9).unwrap(), []);
}

fn a_scan_visits_every_game_of_one_tournament_once(store: &Arc<dyn Store>) {
    let both = games("cup", 0..500).into_iter().zip(games("bowl", 0..500));
    store
        .append_and_wait(both.flat_map(|(a, b)| [a, b]).collect())
        .unwrap();
    store.append_and_wait(games("cup", 500..600)).unwrap();
    let mut seen = Vec::new();
    store.scan("cup", &mut |game| seen.push(game)).unwrap();
    seen.sort_by_key(|game| game.index);
    assert_eq!(seen, games("cup", 0..600));
    store.scan("none", &mut |game| panic!("{game:?}")).unwrap();
}

fn of_two_games_with_one_index_the_first_stands(store: &Arc<dyn Store>) {
    let other = |index| StoredGame {
        hash: [9; 32],
        ..game("cup", index)
    };
    store
        .append_and_wait(vec![game("cup", 1), other(1)])
        .unwrap();
    store
        .append_and_wait(vec![other(1), game("cup", 2)])
        .unwrap();
    let (sender, receiver) = mpsc::channel();
    for batch in [vec![game("cup", 3)], vec![other(3)], vec![other(2)]] {
        let sender = sender.clone();
        store
            .append(batch, Box::new(move |result| sender.send(result).unwrap()))
            .unwrap();
    }
    for _ in 0..3 {
        assert_eq!(receiver.recv().unwrap(), Ok(()));
    }
    assert_eq!(store.games("cup", 0, 10).unwrap(), games("cup", 1..4));
    assert_eq!(store.count("cup"), 3);
}

fn every_acknowledgement_comes_once_and_after_the_game_can_be_read(store: &Arc<dyn Store>) {
    let (sender, receiver) = mpsc::channel();
    for index in 0..200 {
        let (sender, reader) = (sender.clone(), Arc::clone(store));
        let done = Box::new(move |result: Result<(), StoreError>| {
            sender.send((index, result, reader.count("cup"))).unwrap();
        });
        store.append(games("cup", [index]), done).unwrap();
    }
    drop(sender);
    store.flush().unwrap();
    let reported: Vec<_> = receiver.iter().collect();
    assert_eq!(reported.len(), 200);
    for (order, (index, result, count)) in reported.into_iter().enumerate() {
        assert_eq!((index, result), (order as u64, Ok(())));
        assert!(
            count > index,
            "{count} games could be read when {index} was acknowledged"
        );
    }
}

fn indices_are_reported_ascending_each_once(store: &Arc<dyn Store>) {
    let expected: Vec<u64> = (0..10)
        .chain(1_000..1_100)
        .chain([5_000, u64::MAX])
        .collect();
    for index in expected.iter().rev() {
        store.append_and_wait(games("cup", [*index])).unwrap();
    }
    store.append_and_wait(games("bowl", [3])).unwrap();
    let mut reported = Vec::new();
    store
        .indices("cup", &mut |index| reported.push(index))
        .unwrap();
    assert_eq!(reported, expected);
    store
        .indices("none", &mut |index| panic!("{index}"))
        .unwrap();
}

fn a_visitor_may_read_the_store(store: &Arc<dyn Store>) {
    store.append_and_wait(games("cup", 0..50)).unwrap();
    let mut visited = 0;
    store
        .scan("cup", &mut |game| {
            assert_eq!(store.game("cup", game.index).unwrap(), Some(game));
            visited += 1;
        })
        .unwrap();
    assert_eq!(visited, 50);
}

fn many_threads_may_append_and_read_at_once(store: &Arc<dyn Store>) {
    let barrier = Barrier::new(9);
    thread::scope(|scope| {
        for worker in 0..8 {
            let barrier = &barrier;
            scope.spawn(move || {
                barrier.wait();
                for batch in 0..10 {
                    let start = (batch * 8 + worker) * 20;
                    store
                        .append_and_wait(games("cup", start..start + 20))
                        .unwrap();
                    store
                        .put(Collection::Meta, &format!("{worker}"), &[batch as u8])
                        .unwrap();
                }
            });
        }
        barrier.wait();
        while store.count("cup") < 1_600 {
            for game in store.games("cup", 0, usize::MAX).unwrap() {
                assert_eq!(game, self::game("cup", game.index));
            }
        }
    });
    assert_eq!(
        store.games("cup", 0, usize::MAX).unwrap(),
        games("cup", 0..1_600)
    );
    assert_eq!(store.list(Collection::Meta).unwrap().len(), 8);
}

fn a_closed_store_writes_nothing_more_but_reads(store: &Arc<dyn Store>) {
    let reported = Arc::new(AtomicUsize::new(0));
    for index in 0..50 {
        let reported = Arc::clone(&reported);
        let done = Box::new(move |result: Result<(), StoreError>| {
            result.unwrap();
            reported.fetch_add(1, Ordering::SeqCst);
        });
        store.append(games("cup", [index]), done).unwrap();
    }
    store.close().unwrap();
    assert_eq!(reported.load(Ordering::SeqCst), 50);
    assert_eq!(
        store.append_and_wait(games("cup", [99])),
        Err(StoreError::Closed)
    );
    assert_eq!(
        store.put(Collection::Meta, "key", b""),
        Err(StoreError::Closed)
    );
    assert_eq!(store.flush(), Err(StoreError::Closed));
    assert_eq!(store.close(), Ok(()));
    assert_eq!(store.games("cup", 0, 99).unwrap(), games("cup", 0..50));
}

fn figures_count_the_games(store: &Arc<dyn Store>) {
    assert_eq!(store.stats().games, 0);
    store.append_and_wait(games("cup", 0..10)).unwrap();
    store.append_and_wait(games("bowl", 0..5)).unwrap();
    assert_eq!((store.stats().games, store.stats().queued), (15, 0));
}

fn a_place_of_the_chain_is_found_again(store: &Arc<dyn Store>) {
    // A store without places has nothing to find.
    let Some(positions) = store.positions() else {
        return;
    };
    let seen_from = |place| {
        let mut seen = Vec::new();
        let known = store.scan_from("cup", &place, &mut |game| seen.push(game.index));
        seen.sort_unstable();
        known.unwrap().then_some(seen)
    };
    let start = positions.now();
    store.append_and_wait(games("cup", 0..300)).unwrap();
    let middle = positions.now();
    store.append_and_wait(games("bowl", 0..10)).unwrap();
    store.append_and_wait(games("cup", 300..310)).unwrap();
    assert_eq!(seen_from(start), Some((0..310).collect()));
    assert_eq!(seen_from(middle), Some((300..310).collect()));
    assert_eq!(seen_from(positions.now()), Some(Vec::new()));
    let unknown = crate::Position {
        link: [7; 32],
        ..middle
    };
    assert_eq!(seen_from(unknown), None);
}
