//! Games, watching, metrics, health and reflection.

use std::time::Duration;

use arena_wire::{reasons, v1};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    time::timeout,
};
use tonic::Code;
use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};

use super::fixture::{Fixture, SPEC, memory, options, refused, won};
use crate::StartError;

async fn list(arena: &mut Fixture, id: &str, page_size: u32, from_index: u64) -> Vec<u64> {
    let mut request = v1::ListGamesRequest {
        tournament_id: id.to_owned(),
        page_size,
        from_index,
        ..Default::default()
    };
    let mut indices = Vec::new();
    loop {
        let page = arena.coordinator.list_games(request.clone()).await;
        let page = page.expect("known").into_inner();
        assert!(page.games.len() <= page_size as usize);
        let index = |game: &v1::GameReport| game.record.as_ref().map(|record| record.index);
        indices.extend(page.games.iter().filter_map(index));
        request.page_token = page.next_page_token;
        if request.page_token.is_empty() {
            return indices;
        }
    }
}

#[tokio::test]
async fn games_are_listed_in_index_order() {
    let mut arena = Fixture::new().await;
    let id = arena.start(SPEC).await.tournament_id;
    let mut worker = arena.join("one").await;
    let mut leases = Vec::new();
    while let Some(lease) = worker.try_lease(0).await.expect("answered") {
        leases.push(lease);
    }
    for lease in leases.iter().rev() {
        worker.play(lease).await;
    }
    let all: Vec<u64> = (0..40).collect();
    for page_size in [1, 7, 40, 1000] {
        assert_eq!(list(&mut arena, &id, page_size, 0).await, all);
    }
    assert_eq!(list(&mut arena, &id, 7, 33).await, all[33..]);
    let request = v1::ListGamesRequest {
        tournament_id: id,
        page_token: "x".to_owned(),
        ..Default::default()
    };
    let answer = arena.coordinator.list_games(request).await;
    refused(answer, Code::InvalidArgument, reasons::PAGE_TOKEN_INVALID);
}

#[tokio::test]
async fn columns_have_what_records_have() {
    let mut arena = Fixture::new().await;
    let id = arena.start(SPEC).await.tournament_id;
    arena.join("one").await.play_all().await;
    for from_index in [0, 39, 40] {
        let request = v1::ListGamesRequest {
            tournament_id: id.clone(),
            from_index,
            with_timing: true,
            ..Default::default()
        };
        let records = arena.coordinator.list_games(request.clone()).await;
        let records = records.expect("a page").into_inner().games;
        assert_eq!(records.len() as u64, 40 - from_index);
        let columns = v1::ListGamesRequest {
            columns: true,
            ..request
        };
        let page = arena.coordinator.list_games(columns).await;
        let page = page.expect("a page").into_inner();
        assert_eq!((page.games.len(), &*page.next_page_token), (0, ""));
        let columns = page.columns.expect("columns");
        columns.check(2, 2).expect("whole columns");
        let mut expected = v1::GameColumns::default();
        for game in &records {
            expected.push(game.record.as_ref().expect("a record"), 2);
            expected
                .timing
                .push(game.timing.clone().unwrap_or_default());
        }
        assert_eq!(columns, expected);
    }
}

#[tokio::test]
async fn game_is_shown_with_its_report() {
    let mut arena = Fixture::new().await;
    let id = arena.start(SPEC).await.tournament_id;
    let mut worker = arena.join("one").await;
    let lease = worker.lease().await;
    let mut report = won(&lease.games[2], 0);
    report.timing = Some(v1::GameTiming {
        worker: "one".to_owned(),
        duration_us: 1234,
        latency: vec![v1::AgentLatency {
            agent: 0,
            buckets: vec![94, 200],
            counts: vec![99, 1],
            waiting_buckets: vec![20],
            waiting_counts: vec![100],
        }],
        ..Default::default()
    });
    worker
        .report(&lease, vec![report.clone()])
        .await
        .expect("taken");
    let request = |index: &str| v1::GetGameRequest {
        game_id: format!("{id}/{index}"),
        ..Default::default()
    };
    let game = arena
        .coordinator
        .get_game(request("2"))
        .await
        .expect("durable")
        .into_inner();
    assert_eq!(game.record, report.record);
    assert_eq!(game.timing, report.timing);
    assert_eq!(game.setup, lease.setup);
    let answer = arena.coordinator.get_game(request("3")).await;
    refused(answer, Code::NotFound, reasons::UNKNOWN_GAME);
    let answer = arena.coordinator.get_game(request("x")).await;
    refused(answer, Code::InvalidArgument, reasons::NAME_INVALID);
    let standings = arena.standings(&id).await;
    let timed: Vec<f64> = standings
        .agents
        .iter()
        .filter_map(|agent| agent.latency_us_p50)
        .collect();
    assert_eq!(timed, [0.488], "the middle of its bucket is 488 ns");
    let agents = standings.agents.iter();
    let waited: Vec<f64> = agents.filter_map(|agent| agent.waiting_us_p99).collect();
    assert_eq!(waited, [0.02], "beside its thinking");
}

#[tokio::test]
async fn game_names_its_worker() {
    let mut arena = Fixture::new().await;
    let id = arena.start(SPEC).await.tournament_id;
    let mut worker = arena.join("one").await;
    let lease = worker.lease().await;
    // A worker could write the name of another one.
    let found = [("", "one"), ("another", "one")];
    let games = lease.games.iter().zip(found).map(|(game, (found, _))| {
        let timing = v1::GameTiming {
            worker: found.to_owned(),
            ..Default::default()
        };
        v1::GameReport {
            timing: Some(timing),
            ..won(game, 0)
        }
    });
    let games = games.collect();
    worker.report(&lease, games).await.expect("taken");
    for (game, (_, shown)) in lease.games.iter().zip(found) {
        let request = v1::GetGameRequest {
            game_id: format!("{id}/{}", game.index),
            ..Default::default()
        };
        let answer = arena.coordinator.get_game(request).await;
        let timing = answer.expect("durable").into_inner().timing;
        assert_eq!(timing.expect("reported").worker, shown);
    }
}

#[tokio::test]
async fn last_fault_has_agent_output() {
    let mut arena = Fixture::new().await;
    let id = arena.start(SPEC).await.tournament_id;
    let mut worker = arena.join("one").await;
    let lease = worker.lease().await;
    let long = format!("start {}\n", "ä".repeat(200));
    for (game, stderr, said) in [
        (&lease.games[0], "", String::new()),
        (&lease.games[1], "\n \n", String::new()),
        (
            &lease.games[2],
            "one\ntwo\nthree\nfour\n",
            "\ntwo\nthree\nfour".to_owned(),
        ),
        (&lease.games[3], &long, format!("\n{}", "ä".repeat(150))),
        (
            &lease.games[4],
            "KeyError: 7\nbye\nbye\nbye\n",
            "\nKeyError: 7".to_owned(),
        ),
        (&lease.games[5], "Error: exit code 1\nbye\n", String::new()),
    ] {
        let mut report = won(game, 0);
        if let Some(record) = &mut report.record {
            record.faults = vec![v1::Fault {
                seat: 1,
                kind: v1::FaultKind::Crash.into(),
                ply: 7,
            }];
        }
        report.fault_details = vec![v1::FaultDetail {
            seat: 1,
            message: "Error: exit code 1".to_owned(),
            stderr_tail: stderr.to_owned(),
        }];
        worker.report(&lease, vec![report]).await.expect("taken");
        let agent = &lease.setup.as_ref().expect("sent").agents[game.seats[1] as usize].name;
        let standings = arena.standings(&id).await;
        let found = standings.agents.iter().find(|found| found.agent == *agent);
        let expected = format!(
            "crash at ply 7 of {id}/{}: Error: exit code 1{said}",
            game.index
        );
        assert_eq!(found.expect("listed").last_fault, expected);
    }
}

#[tokio::test]
async fn watch_ends_with_the_tournament() {
    let mut arena = Fixture::new().await;
    let id = arena.start(SPEC).await.tournament_id;
    let request = v1::WatchTournamentRequest {
        tournament_id: id.clone(),
    };
    let watched = arena.coordinator.watch_tournament(request.clone()).await;
    let mut watched = watched.expect("known").into_inner();
    let first = watched.message().await.expect("open").expect("the state");
    assert_eq!((first.games_done, first.games_total), (0, 40));
    let mut worker = arena.join("one").await;
    worker.play_all().await;
    let mut last = first;
    while let Some(next) = watched.message().await.expect("open") {
        assert!(next.games_done >= last.games_done);
        last = next;
    }
    assert_eq!(last.state(), v1::TournamentState::Finished);
    assert_eq!(last.games_done, 40);
    assert_eq!(last.standings.expect("standings").games, 40);
    let unknown = v1::WatchTournamentRequest {
        tournament_id: "nothing".to_owned(),
    };
    let answer = arena.coordinator.watch_tournament(unknown).await;
    refused(
        answer.map(|_| ()),
        Code::NotFound,
        reasons::UNKNOWN_TOURNAMENT,
    );
}

#[tokio::test]
async fn watch_ends_with_the_coordinator() {
    let mut arena = Fixture::new().await;
    let tournament_id = arena.start(SPEC).await.tournament_id;
    let request = v1::WatchTournamentRequest { tournament_id };
    let watched = arena.coordinator.watch_tournament(request).await;
    let mut watched = watched.expect("known").into_inner();
    let ending =
        tokio::spawn(async move { while watched.message().await.expect("open").is_some() {} });
    arena.stop().await;
    ending.await.expect("no panic");
}

pub(super) async fn page(address: std::net::SocketAddr, path: &str) -> String {
    let mut stream = tokio::net::TcpStream::connect(address)
        .await
        .expect("it listens");
    let request = format!("GET {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("answered");
    answer
}

/// A tournament of variants of one bot.
fn variants(count: usize) -> String {
    let names: Vec<String> = (0..count).map(|number| format!("p{number:02}")).collect();
    let tables = names
        .iter()
        .map(|name| format!("[[agent]]\nname = \"{name}\"\nbot = \"minimax\"\n"));
    format!(
        "name = \"many\"\nruleset = \"kalah\"\nseed = \"0x1\"\nblocks = 1\nagents = {names:?}\n{}",
        tables.collect::<String>()
    )
}

#[tokio::test]
async fn many_variants_share_a_metric_label() {
    for (count, own) in [(10, true), (11, false)] {
        let mut arena = Fixture::new().await;
        arena.start(&variants(count)).await;
        let mut worker = arena.join("one").await;
        worker.play_all().await;
        let metrics = page(arena.metrics, "/metrics").await;
        let counted = |agent: &str| {
            let start = format!("arena_agent_games_total{{agent=\"{agent}\"");
            let lines = metrics.lines().filter(|line| line.starts_with(&start));
            let count = |line: &str| line.rsplit(' ').next()?.parse::<u64>().ok();
            lines.filter_map(count).sum::<u64>()
        };
        // Each agent plays each other agent on both seats.
        let games = (count * (count - 1)) as u64;
        let (shared, single) = (counted("minimax"), counted("p00"));
        let expected = match own {
            true => (0, 2 * games / count as u64),
            false => (2 * games, 0),
        };
        assert_eq!((shared, single), expected, "{count} variants");
    }
}

#[tokio::test]
async fn metrics_count_durable_games_once() {
    let mut arena = Fixture::new().await;
    arena.start(SPEC).await;
    let mut worker = arena.join("one").await;
    let lease = worker.lease().await;
    worker.play(&lease).await;
    worker.play(&lease).await;
    worker.play_all().await;
    let metrics = page(arena.metrics, "/metrics").await;
    for line in [
        "arena_agent_games_total{agent=\"random\",result=\"win\",ruleset=\"kalah\"} 20\n",
        "arena_game_plies_count{ruleset=\"kalah\"} 40\n",
    ] {
        assert!(metrics.contains(line), "{line}{metrics}");
    }
    assert!(
        page(arena.metrics, "/healthz")
            .await
            .starts_with("HTTP/1.1 200")
    );
}

#[tokio::test]
async fn health_and_reflection_are_served() {
    use tonic_reflection::pb::{
        v1::{
            ServerReflectionRequest, server_reflection_client::ServerReflectionClient,
            server_reflection_request::MessageRequest, server_reflection_response::MessageResponse,
        },
        v1alpha::server_reflection_client::ServerReflectionClient as AlphaClient,
    };

    let arena = Fixture::new().await;
    let mut health = HealthClient::new(arena.channel().await);
    for service in ["", "arena.v1.CoordinatorService", "arena.v1.WorkerService"] {
        let request = HealthCheckRequest {
            service: service.to_owned(),
        };
        assert_eq!(
            health
                .check(request)
                .await
                .expect("known")
                .into_inner()
                .status,
            1
        );
    }
    let mut reflection = ServerReflectionClient::new(arena.channel().await);
    let request = ServerReflectionRequest {
        host: String::new(),
        message_request: Some(MessageRequest::ListServices(String::new())),
    };
    let mut answers = reflection
        .server_reflection_info(tokio_stream::iter([request]))
        .await
        .expect("answered")
        .into_inner();
    let answer = answers.message().await.expect("open").expect("an answer");
    let Some(MessageResponse::ListServicesResponse(list)) = answer.message_response else {
        panic!("{answer:?}");
    };
    let names: Vec<&str> = list
        .service
        .iter()
        .map(|service| service.name.as_str())
        .collect();
    for name in [
        "arena.v1.CoordinatorService",
        "arena.v1.WorkerService",
        "grpc.health.v1.Health",
    ] {
        assert!(names.contains(&name), "{names:?}");
    }
    let mut alpha = AlphaClient::new(arena.channel().await);
    alpha
        .server_reflection_info(tokio_stream::empty())
        .await
        .expect("served");
}

#[tokio::test]
async fn port_in_use_is_named() {
    let arena = Fixture::new().await;
    let taken = arena.url.trim_start_matches("http://");
    let taken: std::net::SocketAddr = taken.parse().expect("an address");
    let mut second = options(memory());
    second.listen = Some(taken);
    match second.build().await.err() {
        Some(StartError::InUse { address }) => assert_eq!(address, taken),
        other => panic!("{other:?}"),
    }
}

/// Each change comes while the watch waits between two messages.
#[tokio::test]
async fn watch_shows_every_state_change() {
    let mut arena = Fixture::new().await;
    let id = arena.start(SPEC).await.tournament_id;
    let request = v1::WatchTournamentRequest {
        tournament_id: id.clone(),
    };
    let watched = arena.coordinator.watch_tournament(request).await;
    let mut messages = watched.expect("known").into_inner();
    for round in 0..6 {
        let state = if round % 2 == 0 {
            arena.pause(&id).await;
            v1::TournamentState::Paused
        } else {
            arena.resume(&id).await;
            v1::TournamentState::Running
        };
        // After the second message of a change, the watch sends none until the next change.
        let mut shown = 0;
        while shown < 2 {
            let message = timeout(Duration::from_secs(20), messages.message()).await;
            let message = message.expect("it is shown").expect("no error");
            shown += u32::from(message.expect("no end").state() == state);
        }
    }
}
