//! Limits of what one spec can ask for.

use std::{
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::Duration,
};

use arena_model::spec::{AGENTS_MAX, SPEC_BYTES_MAX};
use arena_store::SledStore;
use arena_wire::v1;
use tonic::Code;

use super::fixture::{Fixture, options, refused};

/// A spec of this many variants of one bot.
fn spec(agents: usize, format: &str) -> String {
    let names: Vec<String> = (0..agents).map(|agent| format!("\"a{agent}\"")).collect();
    let variants = names
        .iter()
        .map(|name| format!("[[agent]]\nname = {name}\nbot = \"minimax\"\n"));
    format!(
        "name = \"cup\"\nruleset = \"kalah\"\nseed = 1\nblocks = 1\nformat = \"{format}\"\n\
         agents = [{}]\n{}",
        names.join(","),
        variants.collect::<String>()
    )
}

fn request(spec_toml: String) -> v1::PlanTournamentRequest {
    v1::PlanTournamentRequest {
        spec_toml,
        ..Default::default()
    }
}

#[tokio::test]
async fn oversized_specs_are_refused() {
    let mut arena = Fixture::new().await;
    let long = format!("{}# {}", spec(2, "swiss"), "x".repeat(SPEC_BYTES_MAX));
    for (spec, problem) in [
        (
            spec(AGENTS_MAX + 1, "swiss"),
            "4097 agents are listed; the limit is 4096: split them into several tournaments",
        ),
        (
            spec(1415, "round-robin"),
            "1000405 groups of agents exceed the limit of 1000000; list fewer agents, or use \
             format = \"swiss\", in which not all agents meet",
        ),
        (long, "the limit is 1048576: split it"),
    ] {
        let answer = arena.coordinator.plan_tournament(request(spec)).await;
        let text = refused(answer, Code::InvalidArgument, "SPEC_INVALID");
        assert!(text.contains(problem), "{text}");
    }
    let largest = arena
        .coordinator
        .plan_tournament(request(spec(AGENTS_MAX, "swiss")));
    let planned = largest.await.expect("planned").into_inner();
    assert_eq!(planned.games_most, 12 * 4096);
    arena.stop().await;
}

/// A plan waits for this lock while it checks its agents.
static CHECK: Mutex<()> = Mutex::new(());

#[tokio::test]
async fn calls_are_answered_during_a_plan() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = SledStore::open(folder.path(), &arena_store::Options::default()).expect("a store");
    let mut arena = Fixture::with(crate::Options {
        check_native: |_, _, _, _, _| {
            drop(CHECK.lock().unwrap_or_else(PoisonError::into_inner));
            Ok(())
        },
        ..options(Arc::new(store))
    })
    .await;
    let (release, released) = std::sync::mpsc::channel::<()>();
    let (locked, is_locked) = std::sync::mpsc::channel();
    let holder = thread::spawn(move || {
        let _lock = CHECK.lock();
        locked.send(()).expect("the test waits");
        // A failed test releases it, too.
        let _ = released.recv_timeout(Duration::from_secs(60));
    });
    is_locked.recv().expect("locked");
    let mut planner = arena.coordinator.clone();
    let largest = request(spec(AGENTS_MAX, "swiss"));
    let plan = tokio::spawn(async move { planner.plan_tournament(largest).await });
    for _ in 0..20 {
        let listed = arena
            .coordinator
            .list_tournaments(v1::ListTournamentsRequest::default());
        listed.await.expect("answered");
    }
    assert!(!plan.is_finished());
    release.send(()).expect("it waits");
    plan.await.expect("no panic").expect("planned");
    holder.join().expect("no panic");
    arena.stop().await;
}
