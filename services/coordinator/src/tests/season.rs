//! Open ladders: agents come and go while they run.

use std::sync::Arc;

use arena_store::Store;
use arena_wire::{
    reasons,
    v1::{self, AgentChangeKind as Kind, OptionValue, TournamentState},
};
use tonic::{Code, Status};

use super::{
    fixture::{Fixture, memory, options, refused},
    stages::{play, played},
};

/// Six stages of 20 blocks.
fn spec(more: &str) -> String {
    let closed = super::stages::spec("ladder");
    let open = "[ladder]\nopen = true\nblocks_total = 120\nstep = 20\n";
    format!("{closed}{open}{more}")
}

fn request(id: &str, kind: Kind, agent: &str) -> v1::ChangeAgentsRequest {
    v1::ChangeAgentsRequest {
        tournament_id: id.to_owned(),
        kind: kind.into(),
        agent: agent.to_owned(),
        reason: "it copies".to_owned(),
        ..Default::default()
    }
}

async fn change(
    arena: &mut Fixture,
    request: v1::ChangeAgentsRequest,
) -> Result<v1::ChangeAgentsResponse, Status> {
    let changed = arena.coordinator.change_agents(request).await?;
    Ok(changed.into_inner())
}

/// Registers a built-in bot under a name of its own.
async fn register(arena: &mut Fixture, depth: &str) {
    let agent = v1::Agent {
        name: "mine".to_owned(),
        bot: "minimax".to_owned(),
        options: vec![OptionValue {
            name: "depth".to_owned(),
            value: depth.to_owned(),
        }],
        source: Some(v1::agent::Source::Native(v1::NativeSource {})),
        ..Default::default()
    };
    let request = v1::RegisterAgentRequest {
        agent: Some(agent),
        replace: true,
        ..Default::default()
    };
    let registered = arena.coordinator.register_agent(request).await;
    registered.expect("registered");
}

/// The changes of a season, each with the depth at which the agent `mine` is registered then.
fn changes(id: &str) -> Vec<(&'static str, v1::ChangeAgentsRequest)> {
    let at = |at_blocks: u64, request| v1::ChangeAgentsRequest {
        at_blocks,
        ..request
    };
    let with = |with: &str, request| v1::ChangeAgentsRequest {
        with: with.to_owned(),
        ..request
    };
    vec![
        ("2", at(20, request(id, Kind::Add, "mine"))),
        ("2", at(20, request(id, Kind::Bench, "b"))),
        ("2", at(30, request(id, Kind::Ban, "c"))),
        ("3", at(60, request(id, Kind::Replace, "mine"))),
        ("3", at(60, with("mcts", request(id, Kind::Replace, "a")))),
        ("3", at(60, request(id, Kind::Add, "b"))),
        // The newest successor is meant.
        ("4", at(80, request(id, Kind::Replace, "mine"))),
    ]
}

/// What a season leaves: the tournament without its times, its standings, and its games.
type Season = (v1::Tournament, v1::Standings, Vec<v1::GameRecord>);

async fn left(arena: &mut Fixture, id: &str) -> Season {
    let mut tournament = arena.tournament(id).await;
    assert_eq!(tournament.state(), TournamentState::Finished);
    (tournament.created_unix_us, tournament.finished_unix_us) = (0, 0);
    let mut games = Vec::new();
    for index in 0..tournament.games_done {
        games.extend(arena.game(&format!("{id}/{index}")).await.record);
    }
    (tournament, arena.standings(id).await, games)
}

/// All changes are made before the first game, and one worker plays.
async fn straight() -> Season {
    let mut arena = Fixture::with(options(memory())).await;
    let id = arena.start(&spec("")).await.tournament_id;
    for (depth, request) in changes(&id) {
        register(&mut arena, depth).await;
        change(&mut arena, request).await.expect("changed");
    }
    play(&mut arena.join("one").await, usize::MAX).await;
    left(&mut arena, &id).await
}

#[tokio::test]
async fn kills_and_workers_change_no_season() {
    let expected = straight().await;
    let store = memory();
    let open = || async { Fixture::with(options(Arc::clone(&store) as Arc<dyn Store>)).await };
    let mut arena = open().await;
    let id = arena.start(&spec("")).await.tournament_id;
    let mut waiting = changes(&id).into_iter().peekable();
    let mut kills = 0;
    loop {
        arena.kill().await;
        kills += 1;
        arena = open().await;
        let blocks = arena.tournament(&id).await.games_done / 2;
        // Each change is made in the stage before it applies.
        while let Some((depth, request)) = waiting.next_if(|(_, it)| it.at_blocks <= blocks + 20) {
            register(&mut arena, depth).await;
            change(&mut arena, request).await.expect("changed");
        }
        let mut games = 0;
        for name in ["one", "two", "three"] {
            let mut worker = arena.join(name).await;
            worker.games = 4;
            games += play(&mut worker, 4).await;
        }
        if games == 0 {
            break;
        }
    }
    assert!(kills > 20, "{kills}");
    let found = left(&mut arena, &id).await;
    assert_eq!(found.0, expected.0);
    assert_eq!(found.1, expected.1);
    assert_eq!(found.2, expected.2);
}

#[tokio::test]
async fn standings_show_states_and_carried_ratings() {
    let (tournament, standings, games) = straight().await;
    let of = |name: &str| {
        let mut agents = standings.agents.iter();
        let agent = agents.find(|it| it.agent == name).expect("an agent");
        (agent, agent.season.clone().expect("a season"))
    };
    let names = ["mine", "mine-v2", "mine-v3"];
    for (name, state) in names.into_iter().zip(["replaced", "replaced", "active"]) {
        assert_eq!(of(name).1.state, state, "{name}");
        assert!(of(name).0.games > 0, "{name}");
    }
    assert_eq!(of("mine-v2").1.predecessor, "mine");
    assert_eq!(of("mine-v2").1.successor, "mine-v3");
    assert_eq!(of("mcts").1.predecessor, "a");
    assert_eq!(of("b").1.state, "active");
    let (banned, season) = of("c");
    assert_eq!((&*season.state, &*season.reason), ("banned", "it copies"));
    assert_eq!(banned.place, None);
    assert!(season.rating_low < season.rating && season.rating < season.rating_high);
    assert!(
        standings
            .notes
            .iter()
            .any(|it| it.contains("c (banned: it copies)")),
        "{:?}",
        standings.notes
    );
    // Active agents are placed by these ratings, and the verdict has the same places.
    let placed = standings.agents.iter().filter(|it| it.place.is_some());
    let ratings: Vec<_> = placed.map(|it| of(&it.agent).1.rating).collect();
    assert_eq!(ratings.len(), 7 - 2 + 2);
    // Ratings that are equal but for rounding share a place.
    let known: Vec<f64> = ratings.into_iter().flatten().collect();
    assert!(
        known.is_sorted_by(|one, next| *one >= *next - 1e-6),
        "{known:?}"
    );
    let verdict: serde_json::Value =
        serde_json::from_str(&tournament.verdict_json).expect("a verdict");
    assert_eq!(verdict["winner"], *standings.agents[0].agent);
    // The ban applied to the stage that was drawn after 40 blocks.
    let setup = tournament.setup.expect("a setup");
    let banned = setup.agents.iter().position(|it| it.name == "c");
    let banned = banned.expect("an agent") as u32;
    let mut games = games.iter().rev();
    let last = games.find(|it| it.seats.contains(&banned));
    assert!(last.expect("a game").block < 40);
}

#[tokio::test]
async fn changes_are_answered_once_and_keep_games() {
    let mut arena = Fixture::with(options(memory())).await;
    let started = arena.start(&spec("")).await;
    let id = started.tournament_id.clone();
    let mut worker = arena.join("one").await;
    let lease = worker.lease().await;
    let agents = |lease: &v1::Lease| lease.setup.as_ref().expect("a setup").agents.len();
    assert_eq!(agents(&lease), 7);
    let once = v1::ChangeAgentsRequest {
        request_id: "once".to_owned(),
        ..request(&id, Kind::Add, "minimax")
    };
    let added = change(&mut arena, once.clone()).await.expect("added");
    assert_eq!((&*added.entry, added.at_blocks), ("minimax", 20));
    let again = change(&mut arena, once).await.expect("the same request");
    assert_eq!((again.entry, again.at_blocks), (added.entry, 20));
    // The lease of before is played, and the next one has the new agent.
    let reports = lease.games.iter().map(played).collect();
    worker.report(&lease, reports).await.expect("taken");
    let before = arena.game(&format!("{id}/0")).await.record;
    let known = |agents| v1::LeaseRequest {
        worker_id: worker.id.clone(),
        boot_epoch: worker.boot_epoch,
        session: worker.session.clone(),
        games: 1,
        known_tournaments: vec![id.clone()],
        known_agents: vec![agents],
        ..Default::default()
    };
    let mut client = worker.client.clone();
    for (count, setup) in [(7, Some(8)), (8, None)] {
        let lease = client.lease(known(count)).await.expect("answered");
        let lease = lease.into_inner().lease.expect("a game");
        assert_eq!(lease.setup.map(|it| it.agents.len()), setup);
    }
    change(&mut arena, request(&id, Kind::Ban, "a"))
        .await
        .expect("banned");
    assert_eq!(arena.game(&format!("{id}/0")).await.record, before);
    // The same spec finds the tournament, with its changes.
    let found = arena.start(&spec("")).await;
    assert_eq!(found.tournament_id, id);
    assert_eq!(found.setup.expect("a setup").agents.len(), 8);
}

#[tokio::test]
async fn impossible_changes_are_refused() {
    let mut arena = Fixture::with(options(memory())).await;
    let closed = arena.start(&super::stages::spec("ladder")).await;
    let closed = change(&mut arena, request(&closed.tournament_id, Kind::Bench, "a")).await;
    let conflict =
        |answer: Result<_, _>| refused(answer, Code::FailedPrecondition, reasons::STATE_CONFLICT);
    assert!(conflict(closed).contains("open = true"));
    let id = arena.start(&spec("")).await.tournament_id;
    let ask = |kind, agent| request(&id, kind, agent);
    for (request, words) in [
        (ask(Kind::Add, "a"), "plays already"),
        (ask(Kind::Replace, "a"), "plays this version"),
        (
            v1::ChangeAgentsRequest {
                at_blocks: 19,
                ..ask(Kind::Bench, "a")
            },
            "20 blocks are scheduled already",
        ),
        (
            v1::ChangeAgentsRequest {
                at_blocks: 121,
                ..ask(Kind::Bench, "a")
            },
            "only 120 blocks",
        ),
    ] {
        let problem = conflict(change(&mut arena, request).await);
        assert!(problem.contains(words), "{problem}");
    }
    for (request, reason) in [
        (ask(Kind::Unspecified, "a"), reasons::REQUEST_INVALID),
        (ask(Kind::Replace, "z"), reasons::REQUEST_INVALID),
        (
            v1::ChangeAgentsRequest {
                reason: " ".to_owned(),
                ..ask(Kind::Ban, "a")
            },
            reasons::REQUEST_INVALID,
        ),
    ] {
        refused(
            change(&mut arena, request).await,
            Code::InvalidArgument,
            reason,
        );
    }
    // It plays cowry only, and the tournament is of kalah.
    let other = change(&mut arena, ask(Kind::Add, "aggressive")).await;
    assert!(other.expect_err("refused").message().contains("kalah"));
    let unknown = change(&mut arena, ask(Kind::Add, "nothing")).await;
    refused(unknown, Code::InvalidArgument, reasons::UNKNOWN_AGENT);
    for name in ["a", "b", "c", "d", "e"] {
        change(&mut arena, ask(Kind::Ban, name))
            .await
            .expect("banned");
    }
    let few = conflict(change(&mut arena, ask(Kind::Bench, "f")).await);
    assert!(few.contains("2 seats"), "{few}");
    let banned = conflict(change(&mut arena, ask(Kind::Add, "a")).await);
    assert!(banned.contains("it copies"), "{banned}");
    play(&mut arena.join("one").await, usize::MAX).await;
    let over = conflict(change(&mut arena, ask(Kind::Bench, "f")).await);
    assert!(over.contains("finished"), "{over}");
}

#[tokio::test]
async fn other_formats_cannot_be_open() {
    let mut arena = Fixture::with(options(memory())).await;
    let swiss = super::stages::spec("swiss") + "[ladder]\nopen = true\n";
    let problem = arena.try_start(&swiss, false).await.expect_err("refused");
    assert!(problem.message().contains("[ladder]"), "{problem}");
}

#[tokio::test]
async fn sealed_seed_stays_sealed() {
    let mut arena = Fixture::with(options(memory())).await;
    let drawn = spec("").replace("seed = \"0x5eed\"\n", "");
    let id = arena.start(&drawn).await.tournament_id;
    for kind in [Kind::Bench, Kind::Add] {
        let changed = change(&mut arena, request(&id, kind, "a"))
            .await
            .expect("changed");
        let shown = changed.tournament.expect("a tournament");
        assert!(!shown.spec_json.contains("\"seed\""), "{}", shown.spec_json);
        assert!(
            shown.spec_json.contains("\"changes\""),
            "{}",
            shown.spec_json
        );
    }
}
