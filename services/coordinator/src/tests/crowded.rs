//! Standings of many agents.

use std::{
    sync::{
        Arc, Condvar, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use arena_store::SledStore;
use arena_wire::v1;
use tokio::task::JoinSet;

use super::fixture::{Fixture, SPEC, options};
use crate::computations::COMPUTATIONS_MAX;

const AGENTS: usize = 2_000;
/// A plan that waits while it checks its agents.
const WAITING: &str =
    "name = \"plan\"\nruleset = \"cowry\"\nagents = [\"random\", \"aggressive\"]\n";

/// Whether plans of [`WAITING`] may go on.
static MAY_GO_ON: (Mutex<bool>, Condvar) = (Mutex::new(false), Condvar::new());
/// Number of such plans that have come so far.
static PLANS: AtomicUsize = AtomicUsize::new(0);

fn wait() {
    PLANS.fetch_add(1, Ordering::Relaxed);
    let (may_go_on, changed) = &MAY_GO_ON;
    let waits = may_go_on.lock().unwrap_or_else(PoisonError::into_inner);
    let waited = changed.wait_while(waits, |may_go_on| !*may_go_on);
    drop(waited.unwrap_or_else(PoisonError::into_inner));
}

/// Lets the plans go on when it is dropped, also by a test that fails.
struct Gate;

impl Drop for Gate {
    fn drop(&mut self) {
        let (may_go_on, changed) = &MAY_GO_ON;
        *may_go_on.lock().unwrap_or_else(PoisonError::into_inner) = true;
        changed.notify_all();
    }
}

/// A spec in which each of many agents plays two games.
fn spec() -> String {
    let names: Vec<String> = (0..AGENTS).map(|agent| format!("\"a{agent}\"")).collect();
    let variants = names
        .iter()
        .map(|name| format!("[[agent]]\nname = {name}\nbot = \"minimax\"\n"));
    format!(
        "name = \"crowd\"\nruleset = \"kalah\"\nseed = 1\nblocks = 1\nformat = \"swiss\"\n\
         agents = [{}]\n[swiss]\nrounds = 1\n{}",
        names.join(","),
        variants.collect::<String>()
    )
}

#[tokio::test]
async fn calls_are_answered_while_many_agents_are_compared() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = SledStore::open(folder.path(), &arena_store::Options::default()).expect("a store");
    let mut arena = Fixture::with(crate::Options {
        check_native: |_, _, ruleset, _, _| {
            if ruleset == "cowry" {
                wait();
            }
            Ok(())
        },
        ..options(Arc::new(store))
    })
    .await;
    let crowd = arena.start(&spec()).await.tournament_id;
    let mut worker = arena.join("one").await;
    assert_eq!(worker.play_all().await, AGENTS);
    arena.start(SPEC).await;

    // All places of computations are taken, so that the comparison cannot end.
    let gate = Gate;
    let mut plans = JoinSet::new();
    for _ in 0..COMPUTATIONS_MAX {
        let mut planner = arena.coordinator.clone();
        let request = v1::PlanTournamentRequest {
            spec_toml: WAITING.to_owned(),
            ..Default::default()
        };
        plans.spawn(async move { planner.plan_tournament(request).await });
    }
    while PLANS.load(Ordering::Relaxed) < COMPUTATIONS_MAX {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let mut reader = arena.coordinator.clone();
    let request = v1::GetStandingsRequest {
        tournament_id: crowd.clone(),
        ..Default::default()
    };
    let standings = tokio::spawn(async move { reader.get_standings(request).await });
    for _ in 0..20 {
        let list = v1::ListTournamentsRequest::default();
        let listed = arena.coordinator.list_tournaments(list).await;
        assert_eq!(listed.expect("a list").into_inner().tournaments.len(), 2);
        let request = v1::WatchTournamentRequest {
            tournament_id: crowd.clone(),
        };
        let watched = arena.coordinator.watch_tournament(request).await;
        let shown = watched.expect("a stream").into_inner().message().await;
        let shown = shown.expect("open").and_then(|shown| shown.standings);
        assert_eq!(shown.expect("standings").agents.len(), AGENTS);
    }
    assert_eq!(worker.play_all().await, 40);
    assert!(!standings.is_finished());
    drop(gate);
    while let Some(plan) = plans.join_next().await {
        plan.expect("no panic").expect("a plan");
    }
    let standings = standings.await.expect("no panic").expect("an answer");
    let standings = standings.into_inner().standings.expect("standings");
    assert!(standings.ratings.is_some());
    arena.stop().await;
}
