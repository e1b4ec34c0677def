//! A worker that plays a stronger bot in the place of an agent, but plays honestly what looks like
//! an audit.

use std::collections::BTreeMap;

use arena_model::GameRecord;
use arena_tests::{
    JoinedWorker, World,
    fleet::{Book, tournament},
    spec,
};
use arena_wire::{reasons, v1};
use prost::Message;
use serde_json::Value;
use tonic::Status;
use tonic_types::StatusExt;

/// Games of a lease, at most.
const LEASE: u32 = 64;

/// Plays one lease, if there is one. Returns false if there is none.
async fn play_lease(
    worker: &mut JoinedWorker,
    report: impl FnMut(u64) -> v1::GameReport,
) -> Result<bool, Status> {
    let Some(lease) = worker.lease(LEASE, 0).await? else {
        return Ok(false);
    };
    let games = lease.games.iter().map(|game| game.index).map(report);
    let games = games.collect();
    worker.report(&lease, games).await.map(|()| true)
}

/// A game as it was reported, with its record.
fn played(book: &Book, index: u64) -> (v1::GameReport, GameRecord) {
    let report = v1::GameReport::decode(&*book.game(index).expect("a game").report);
    let report = report.expect("a report");
    let record = report.record.as_ref().expect("a record");
    let record = GameRecord::try_from(record).expect("a record");
    (report, record)
}

/// Number of games that agent 0 won alone.
fn wins(book: &Book, games: u64) -> u64 {
    let won = |index: &u64| {
        let record = played(book, *index).1;
        let seat = record.seats.iter().position(|&agent| agent == 0);
        let rank = record.placement[seat.expect("it plays")];
        rank == 1 && record.placement.iter().filter(|&&it| it == 1).count() == 1
    };
    (0..games).filter(won).count() as u64
}

/// The number of games that agent 0 won, from its standings.
fn won(standings: &Value) -> u64 {
    let mut agents = standings["agents"].as_array().expect("agents").iter();
    let random = agents.find(|it| it["agent"] == "random").expect("it plays");
    random["wins"].as_u64().expect("a number")
}

#[test]
fn worker_with_a_stronger_bot_is_found_and_its_games_are_replaced() {
    let games = 6_000;
    let world = World::new();
    let coordinator = world.coordinator("data", &["--audit-share", "0.1"]);
    let url = coordinator.url();
    let agents = ["random", "greedy"];
    let spec = spec("lies", "cowry", games / 2, &agents, "");
    let id = world.start_tournament("lies", &spec, &url);
    let document = tournament(&url, &id).expect("it runs");
    let book = Book::new(&document).expect("built-in bots");
    let mut stronger = document;
    let seats = &mut stronger.setup.as_mut().expect("a setup").agents;
    let (bot, options) = (seats[1].bot.clone(), seats[1].options.clone());
    (seats[0].bot, seats[0].options) = (bot, options);
    let forged = Book::new(&stronger).expect("built-in bots");
    let honest_wins = wins(&book, games);

    // Its thread serves connections while this one asks for the state of the tournament.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    let state = || tournament(&url, &id).expect("known");
    let honest = |index: u64| played(&book, index).0;
    let join = |(name, process)| {
        runtime
            .block_on(JoinedWorker::join(&url, name, process))
            .expect("joins")
    };
    let mut liar = join(("liar", 1));
    let mut workers = [("anna", 2), ("ben", 3)].map(join);
    let play = |worker: &mut JoinedWorker| {
        let played = runtime.block_on(play_lease(worker, honest));
        played.expect("an honest worker plays")
    };
    let mut lies = BTreeMap::new();
    let mut newest = 0;
    let mut caught = None;
    loop {
        let lie = |index: u64| {
            // What is older may be an audit.
            let looks_new = index >= newest;
            newest = newest.max(index);
            if !looks_new || (index / 2).is_multiple_of(2) {
                return honest(index);
            }
            let (report, record) = played(&forged, index);
            lies.insert(index, record.hash);
            report
        };
        if caught.is_none() {
            caught = runtime.block_on(play_lease(&mut liar, lie)).err();
        }
        let busy = workers.iter_mut().map(play).filter(|it| *it).count();
        let now = state();
        let audits = now.audits.unwrap_or_default();
        if busy == 0 && now.games_done == games && audits.waiting + audits.disputed == 0 {
            break;
        }
    }
    let caught = caught.expect("it is found").get_details_error_info();
    let reason = caught.expect("a reason").reason;
    assert_eq!(reason, reasons::WORKER_QUARANTINED);
    lies.retain(|&index, hash| *hash != played(&book, index).1.hash);
    assert!(lies.len() > 100, "{} lies", lies.len());
    let shown = state().audits.unwrap_or_default();
    assert!(
        shown.refuted > 0 && shown.refuted <= lies.len() as u64,
        "{shown:?}"
    );

    // The first records stay, and are not shown as sound.
    let access = ["--coordinator", &url];
    let standings = ["standings", &id, "--output", "json", access[0], access[1]];
    let refused = world
        .arena(&standings)
        .fails(3, &["not sound", "tournament retry"]);
    let false_wins = won(&refused.json());
    assert!(
        false_wins > honest_wins + 20,
        "{false_wins} of {games}, honestly {honest_wins}"
    );
    for more in [
        &["--ratings", "elo"][..],
        &["--ratings", "glicko2", "--crosstable"],
    ] {
        let ratings = ["standings", &id, access[0], access[1]];
        let _ = world
            .arena(&[&ratings, more].concat())
            .fails(3, &["not sound", "tournament retry"]);
    }
    let report = ["report", &id, "--junit", access[0], access[1]];
    let report = world.arena(&report).fails(3, &["not sound"]).stdout;
    assert!(report.contains("failures=\"1\""), "{report}");
    let listed = world
        .arena(&["audit", "list", &id, access[0], access[1]])
        .ok();
    assert!(listed.stdout.contains("worker liar"), "{}", listed.stdout);

    // A retry replays them, and the verdict no longer rests on them.
    let _ = world
        .arena(&["tournament", "retry", &id, access[0], access[1]])
        .ok();
    while state().games_done < games {
        workers.iter_mut().for_each(|worker| {
            play(worker);
        });
    }
    let exported = world.export(&id, access);
    for (index, game) in (0..).zip(&exported.games) {
        assert_eq!(
            game["hash"],
            hex::encode(played(&book, index).1.hash),
            "game {index}"
        );
    }
    assert_eq!(exported.games.len() as u64, games);
    assert_eq!(won(&world.arena(&standings).ok().json()), honest_wins);
    // The earlier generation stays as it was.
    let earlier = [&standings[..], &["--generation", "1"]].concat();
    let problem = "a later generation replaced them";
    let _ = world
        .arena(&earlier)
        .fails(3, &["generation 1 is not sound", problem]);
}
