//! Starts that continue from stored sums.

use std::sync::Arc;

use arena_store::{Collection, SledStore, Store};
use serde_json::{Value, json};

use super::fixture::{Fixture, SPEC, options, won};
use crate::checkpoint;

fn sled() -> (tempfile::TempDir, Arc<dyn Store>) {
    let folder = tempfile::tempdir().expect("a folder");
    let store = SledStore::open(folder.path(), &arena_store::Options::default());
    (folder, Arc::new(store.expect("a new store")))
}

/// The stored checkpoint.
fn kept(store: &Arc<dyn Store>, id: &str) -> Option<Value> {
    let document = store.get(Collection::Meta, &checkpoint::key(id));
    let document = document.expect("readable")?;
    Some(serde_json::from_slice(&document).expect("JSON"))
}

fn keep(store: &Arc<dyn Store>, id: &str, document: &str) {
    let key = checkpoint::key(id);
    let put = store.put(Collection::Meta, &key, document.as_bytes());
    put.expect("durable");
}

/// The wins of all agents, reported by a coordinator on the store.
async fn wins(store: &Arc<dyn Store>, id: &str) -> u64 {
    let mut arena = Fixture::with(options(Arc::clone(store))).await;
    let standings = arena.standings(id).await;
    arena.kill().await;
    standings.agents.iter().map(|agent| agent.wins).sum()
}

/// Starts a tournament and plays some or all games; returns its id and their number.
async fn begun(store: &Arc<dyn Store>, whole: bool) -> (String, u64) {
    let mut arena = Fixture::with(options(Arc::clone(store))).await;
    let id = arena.start(SPEC).await.tournament_id;
    let mut worker = arena.join("one").await;
    let mut games = 0;
    while let Some(lease) = worker.try_lease(0).await.expect("answered") {
        // Unless all games are wanted, two of each lease stay unplayed.
        let played = lease.games.len() - if whole { 0 } else { 2 };
        for game in &lease.games[..played] {
            worker
                .report(&lease, vec![won(game, 0)])
                .await
                .expect("taken");
            games += 1;
        }
        if !whole && games > 12 {
            break;
        }
    }
    arena.kill().await;
    (id, games)
}

/// Waits until the coordinator has stored the sums.
async fn wait_for_sums(store: &Arc<dyn Store>, id: &str) -> Value {
    loop {
        if let Some(found) = kept(store, id) {
            return found;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn checkpoint_needs_its_place_in_the_chain() {
    for whole in [false, true] {
        let (_folder, store) = sled();
        let (id, games) = begun(&store, whole).await;
        let honest = wait_for_sums(&store, &id).await;
        assert_eq!(wins(&store, &id).await, games, "one win a game");

        // The coordinator reports the stored sums and does not read the games again.
        let mut forged = honest.clone();
        let of_one = &mut forged["tally"]["agents"][0]["wins"];
        *of_one = (of_one.as_u64().expect("a number") + 1_000).into();
        keep(&store, &id, &forged.to_string());
        assert_eq!(wins(&store, &id).await, games + 1_000);

        let changes: [fn(&mut Value); 11] = [
            |sums| sums["link"] = "00".repeat(32).into(),
            |sums| sums["packs"] = (sums["packs"].as_u64().expect("a number") - 1).into(),
            |sums| sums["packs"] = 1_000_000.into(),
            |sums| sums["format"] = 1_000.into(),
            |sums| sums["format"] = (sums["format"].as_u64().expect("a number") - 1).into(),
            |sums| sums["tally"]["luck"] = json!({"0": {"agents": [], "pairs": []}}),
            |sums| sums["release"] = "0.0.0-other".into(),
            |sums| drop(sums.as_object_mut().expect("a document").remove("release")),
            |sums| sums["tournament"] = "cup-0123456789".into(),
            |sums| {
                let games = sums["tally"]["games"].as_u64().expect("a number");
                sums["tally"]["games"] = (games - 1).into();
            },
            |sums| sums["counts"]["last_faults"] = Value::Array(Vec::new()),
        ];
        for (number, change) in changes.into_iter().enumerate() {
            let mut wrong = forged.clone();
            change(&mut wrong);
            keep(&store, &id, &wrong.to_string());
            assert_eq!(wins(&store, &id).await, games, "change {number}");
        }
        keep(&store, &id, "not what this release writes");
        assert_eq!(wins(&store, &id).await, games);
    }
}

#[tokio::test]
async fn checkpoint_resumes_without_a_trace() {
    let (_folder, store) = sled();
    let (id, _) = begun(&store, false).await;
    wait_for_sums(&store, &id).await;
    let mut arena = Fixture::with(options(Arc::clone(&store))).await;
    arena.join("two").await.play_all().await;
    let found = arena.standings(&id).await;
    let mut straight = Fixture::new().await;
    straight.start(SPEC).await;
    straight.join("one").await.play_all().await;
    assert_eq!(found, straight.standings(&id).await);
    assert_eq!(
        kept(&store, &id).expect("kept at the end")["tally"]["games"],
        found.games
    );
}
