use arena_access::Credentials;
use arena_model::GameRecord;
use arena_tests::{JoinedWorker, World, sha256, spec, until};
use arena_wire::v1::{self, coordinator_service_client::CoordinatorServiceClient};
use tokio::runtime::{Builder, Runtime};
use tonic::Status;

use crate::{package_promises::hostile, package_rules::register};

type Lie = fn(&mut GameRecord);

fn runtime() -> Runtime {
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime")
}

/// The games of a finished tournament, as workers report them.
async fn games(url: &str, id: &str) -> Vec<v1::GameReport> {
    let channel = Credentials::found().connect_lazy(url).expect("a URL");
    let request = v1::ListGamesRequest {
        tournament_id: id.to_owned(),
        ..Default::default()
    };
    let mut client = CoordinatorServiceClient::new(channel);
    let page = client.list_games(request).await.expect("games");
    page.into_inner().games
}

/// The connected workers.
async fn workers(url: &str) -> Vec<v1::Worker> {
    let channel = Credentials::found().connect_lazy(url).expect("a URL");
    let mut client = CoordinatorServiceClient::new(channel);
    let found = client.list_workers(v1::ListWorkersRequest::default()).await;
    found.expect("answered").into_inner().workers
}

/// A worker reports a game with a lie that no coordinator can see, because it does not run the package.
/// Two other workers replay the record and refute it, and then play its games.
fn is_refuted(lie: Lie) {
    let world = World::with_python();
    let text = spec(
        "pig",
        "pig",
        4,
        &["random", "second"],
        "seats = 2\n[options]\ntarget = 20",
    );
    let text = format!(
        "{text}\n[play]\nsandbox = \"none\"\n\n[[agent]]\nname = \"second\"\nbot = \"random\"\n"
    );
    register(&world, "truth");
    let (id, _, _) = world.tournament(&text, "truth", &[]);
    let truth = world.arena(&["export", &id, "--data", "truth"]).ok().stdout;
    let runtime = runtime();
    let played = {
        let coordinator = world.coordinator("truth", &[]);
        runtime.block_on(games(&coordinator.url(), &id))
    };
    register(&world, "data");
    let coordinator = world.coordinator("data", &[]);
    let url = coordinator.url();
    assert_eq!(world.start_tournament("lie", &text, &url), id);
    let (mut liar, lease) = runtime.block_on(async {
        let mut liar = JoinedWorker::join(&url, "liar", 1).await.expect("it joins");
        let lease = liar.lease(64, 10_000).await.expect("answered");
        (liar, lease.expect("games"))
    });
    let _workers = ["one", "two"].map(|name| world.worker(&coordinator, &["--name", name]));
    let joined = || (runtime.block_on(workers(&url)).len() == 3).then_some(());
    until("both workers have joined", joined);
    let index = lease.games[0].index;
    let mut report = played.into_iter().find(|it| {
        let record = it.record.as_ref();
        record.is_some_and(|record| record.index == index)
    });
    let report = report.as_mut().expect("this game");
    let message = report.record.as_ref().expect("a record");
    let mut record = GameRecord::try_from(message).expect("a record");
    lie(&mut record);
    let mut forged = v1::GameRecord::from(&record);
    // The coordinator computes the hash.
    forged.hash = Vec::new();
    report.record = Some(forged);
    let refused: Result<(), Status> =
        runtime.block_on(async { liar.report(&lease, vec![report.clone()]).await });
    let refused = refused.expect_err("it is refuted");
    assert!(
        refused.message().contains("according to two other workers"),
        "{refused}"
    );
    let finished = || {
        let list = [
            "tournament",
            "list",
            "--coordinator",
            &url,
            "--output",
            "json",
        ];
        let listed = world.arena(&list).ok().stdout;
        listed.contains("\"finished\"").then_some(())
    };
    until("the others have played its games", finished);
    let export = ["export", &id, "--coordinator", &url];
    assert_eq!(sha256(&world.arena(&export).ok().stdout), sha256(&truth));
}

#[test]
fn other_scores_of_a_package_are_refuted() {
    is_refuted(|record| {
        for (score, place) in record.scores.iter_mut().zip(&record.placement) {
            *score -= i64::from(*place - 1);
        }
    });
}

#[test]
fn left_out_events_of_a_package_are_refuted() {
    is_refuted(|record| {
        let transcript = record.transcript.as_mut().expect("a package");
        let last = record.events.iter().rposition(|event| event.is_action());
        record.events.truncate(last.expect("a move"));
        transcript.events.truncate(record.events.len());
        record.plies = 0;
        record.decisions = vec![0; 2];
        for (event, (seat, _)) in record.events.iter().zip(&transcript.events) {
            if event.is_action() {
                record.plies += 1;
                record.decisions[usize::from(seat.expect("a seat"))] += 1;
            }
        }
    });
}

/// Workers whose processes give wrong answers after some games do not refute the records of another
/// one: processes that have just started accept them.
#[test]
fn rules_that_remember_games_put_no_worker_into_quarantine() {
    let world = World::with_python();
    hostile(&world, "tires");
    let package = ["rulesets", "register", "hostile", "--package", "tires"];
    let register = |data| {
        let rest = ["--data", data, "--", "tires"];
        let _ = world.arena(&[&package[..], &rest].concat()).ok();
    };
    let text = spec("hostile", "hostile", 4, &["random", "second"], "");
    let text = format!(
        "{text}\n[play]\nsandbox = \"none\"\n\n[[agent]]\nname = \"second\"\nbot = \"random\"\n"
    );
    register("truth");
    let (id, _, _) = world.tournament(&text, "truth", &[]);
    let runtime = runtime();
    let played = {
        let coordinator = world.coordinator("truth", &[]);
        runtime.block_on(games(&coordinator.url(), &id))
    };
    register("data");
    let coordinator = world.coordinator("data", &[]);
    let url = coordinator.url();
    assert_eq!(world.start_tournament("tires", &text, &url), id);
    let (mut honest, lease) = runtime.block_on(async {
        let mut honest = JoinedWorker::join(&url, "honest", 1)
            .await
            .expect("it joins");
        let lease = honest.lease(64, 10_000).await.expect("answered");
        (honest, lease.expect("games"))
    });
    let _workers = [(); 2].map(|()| world.worker_with(&coordinator, "TEST_RULES_TIRE", "1"));
    let joined = || (runtime.block_on(workers(&url)).len() == 3).then_some(());
    until("both workers have joined", joined);
    let leased: Vec<u64> = lease.games.iter().map(|game| game.index).collect();
    let reports: Vec<v1::GameReport> = { played.into_iter() }
        .filter(|it| { it.record.as_ref() }.is_some_and(|it| leased.contains(&it.index)))
        .collect();
    assert!(reports.len() > 3, "the processes tire within these games");
    let answer: Result<(), Status> =
        runtime.block_on(async { honest.report(&lease, reports).await });
    let problem = answer.err().map(|status| status.message().to_owned());
    assert!(
        !problem
            .clone()
            .unwrap_or_default()
            .contains("cannot have happened"),
        "{problem:?}"
    );
    let listed = runtime.block_on(workers(&url));
    assert!(listed.iter().all(|it| !it.quarantined), "{listed:?}");
    let show = ["standings", &id, "--coordinator", &url, "--output", "json"];
    let paused = || {
        let standings = world.arena(&show).json();
        (standings["state"] == "paused").then_some(standings)
    };
    let standings = until("the tournament pauses", paused);
    let error = standings["pause"]["error"].as_str().expect("a reason");
    let known = [
        "the rules remember other games",
        "two processes answer the same question differently",
    ];
    assert!(known.iter().any(|it| error.contains(it)), "{standings}");
}
