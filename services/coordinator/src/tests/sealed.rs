//! Drawn seeds are sealed until the tournament is over.

use arena_model::Tournament;
use arena_wire::{reasons, v1};
use tonic::Code;

use super::fixture::{Fixture, SPEC, memory, options, refused, won};

fn unseeded() -> String {
    SPEC.replace("seed = \"0x5eed\"\n", "")
}

/// Checks that a tournament does not show its seed; returns the commitment.
fn sealed(tournament: &v1::Tournament) -> String {
    assert!(!tournament.spec_json.contains("\"seed\""), "{tournament:?}");
    assert!(!tournament.spec_toml.contains("seed ="), "{tournament:?}");
    assert_eq!(tournament.seed_nonce, "");
    assert_eq!(tournament.seed_commitment.len(), 64);
    tournament.seed_commitment.clone()
}

async fn games(arena: &mut Fixture, id: &str, page_size: u32) -> Vec<u64> {
    let mut request = v1::ListGamesRequest {
        tournament_id: id.to_owned(),
        page_size,
        ..Default::default()
    };
    let mut found = Vec::new();
    loop {
        let page = arena.coordinator.list_games(request.clone()).await;
        let page = page.expect("a page").into_inner();
        let records = page.games.into_iter().filter_map(|game| game.record);
        found.extend(records.map(|record| record.index));
        request.page_token = page.next_page_token;
        if request.page_token.is_empty() {
            return found;
        }
    }
}

#[tokio::test]
async fn drawn_seed_is_shown_at_the_end() {
    let store = memory();
    let mut arena = Fixture::with(options(store.clone())).await;
    let started = arena.start(&unseeded()).await;
    let id = started.tournament_id.clone();
    let commitment = sealed(&started);
    assert_eq!(sealed(&arena.tournament(&id).await), commitment);
    let listed = arena
        .coordinator
        .list_tournaments(v1::ListTournamentsRequest::default());
    let listed = listed.await.expect("a list").into_inner().tournaments;
    assert_eq!(sealed(&listed[0]), commitment);
    arena.pause(&id).await;
    assert_eq!(sealed(&arena.tournament(&id).await), commitment);
    arena.resume(&id).await;
    arena.stop().await;

    let mut arena = Fixture::with(options(store)).await;
    assert_eq!(sealed(&arena.tournament(&id).await), commitment);
    arena.join("one").await.play_all().await;
    let ended = arena.tournament(&id).await;
    assert_eq!(ended.state(), v1::TournamentState::Finished);
    assert_eq!(ended.seed_commitment, commitment);
    let (tournament, seed) = Tournament::shown(&ended.spec_json).expect("a spec");
    let mut nonce = [0; 32];
    hex::decode_to_slice(&ended.seed_nonce, &mut nonce).expect("a nonce");
    let seed = seed.expect("the seed");
    assert_eq!(hex::encode(seed.commitment(&nonce)), commitment);
    assert_eq!(tournament.id(1), id);
    assert!(ended.spec_toml.contains(&seed.to_string()));
}

#[tokio::test]
async fn given_seed_is_not_sealed() {
    let mut arena = Fixture::new().await;
    let started = arena.start(SPEC).await;
    assert_eq!(started.seed_commitment, "");
    assert!(started.spec_json.contains("0x5eed"));
}

#[tokio::test]
async fn games_are_shown_in_whole_blocks() {
    let mut arena = Fixture::new().await;
    let id = arena.start(&unseeded()).await.tournament_id;
    let mut worker = arena.join("one").await;
    let lease = worker.lease().await;
    let game = |index: u64| won(&lease.games[index as usize], 0);
    let report = vec![game(0), game(2), game(3), game(5)];
    worker.report(&lease, report).await.expect("counted");
    for page_size in [0, 1, 2] {
        assert_eq!(games(&mut arena, &id, page_size).await, [2, 3]);
    }
    let request = |index: u64| v1::GetGameRequest {
        game_id: format!("{id}/{index}"),
        ..Default::default()
    };
    let hidden = arena.coordinator.get_game(request(0)).await;
    refused(hidden, Code::FailedPrecondition, reasons::STATE_CONFLICT);
    let shown = arena.coordinator.get_game(request(2)).await;
    assert!(shown.is_ok(), "{shown:?}");
    worker.report(&lease, vec![game(1)]).await.expect("counted");
    assert_eq!(games(&mut arena, &id, 0).await, [0, 1, 2, 3]);
}

#[tokio::test]
async fn differences_are_shown_in_whole_blocks() {
    let mut arena = Fixture::new().await;
    let id = arena.start(&unseeded()).await.tournament_id;
    let mut worker = arena.join("one").await;
    let lease = worker.lease().await;
    worker.differ(&lease, &lease.games[0]).await;
    assert_eq!(arena.differences(&id).await, []);
    let rest = vec![won(&lease.games[1], 0)];
    worker.report(&lease, rest).await.expect("counted");
    assert_eq!(arena.differences(&id).await.len(), 1);
}

#[tokio::test]
async fn sealed_seed_only_continues() {
    let mut arena = Fixture::new().await;
    let first = arena.start(&unseeded()).await;
    let seed = format!("sealed:{}", first.seed_commitment);
    let request = |spec_toml: String, again: bool| v1::StartTournamentRequest {
        spec_toml,
        seed: seed.clone(),
        again,
        ..Default::default()
    };
    let same = arena
        .coordinator
        .start_tournament(request(unseeded(), false));
    let same = same.await.expect("the same").into_inner();
    assert!(!same.created);
    let same = same.tournament.expect("a tournament");
    assert_eq!(same.tournament_id, first.tournament_id);
    sealed(&same);
    // Another tournament with the same seed would show it.
    let other = unseeded().replace("blocks = 20", "blocks = 1");
    for request in [request(other, false), request(unseeded(), true)] {
        let answer = arena.coordinator.start_tournament(request).await;
        refused(answer, Code::InvalidArgument, reasons::REQUEST_INVALID);
    }
    let plan = v1::PlanTournamentRequest {
        spec_toml: unseeded(),
        seed: seed.clone(),
    };
    let planned = arena.coordinator.plan_tournament(plan).await;
    let planned = planned.expect("a plan").into_inner().tournament;
    assert_ne!(planned.expect("one").tournament_id, first.tournament_id);
    let unknown = v1::StartTournamentRequest {
        seed: "sealed:".to_owned(),
        ..request(unseeded(), false)
    };
    let answer = arena.coordinator.start_tournament(unknown).await;
    refused(answer, Code::InvalidArgument, reasons::REQUEST_INVALID);
}
