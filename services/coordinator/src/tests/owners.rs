//! Workers of several tokens.

use std::fs;

use arena_access::Token;
use arena_wire::{
    reasons,
    v1::{self, Role},
};
use serde_json::Value;
use tonic::Code;

use super::{
    door::Guarded,
    fixture::{FakeWorker, SPEC, memory, options, refused, won},
};
use crate::Options;

/// A coordinator that replays records, with a running tournament and its trail in this folder.
async fn guarded(folder: &tempfile::TempDir) -> Guarded {
    let options = Options {
        trusts_records: false,
        events: Some(folder.path().to_owned()),
        ..options(memory())
    };
    started(options).await
}

/// A coordinator with these options and a running tournament.
async fn started(options: Options) -> Guarded {
    let arena = Guarded::with(options, Token::draw().expect("random numbers")).await;
    let start = v1::StartTournamentRequest {
        spec_toml: SPEC.to_owned(),
        ..Default::default()
    };
    let mut admin = arena.user(&arena.admin);
    admin.start_tournament(start).await.expect("started");
    arena
}

async fn join(arena: &Guarded, name: &str, process: u64) -> FakeWorker {
    let token = arena.create(Role::Worker).await;
    FakeWorker::join_with(arena.connection(&token), name, process).await
}

/// Name, owner and quarantine of each worker.
async fn fleet(arena: &Guarded) -> Vec<(String, String, bool)> {
    let mut admin = arena.user(&arena.admin);
    let workers = admin.list_workers(v1::ListWorkersRequest::default()).await;
    let workers = workers.expect("answered").into_inner().workers;
    let of = workers.into_iter();
    of.map(|it| (it.name, it.owner, it.quarantined)).collect()
}

#[tokio::test]
async fn ticket_is_of_no_use_to_another_token() {
    let folder = tempfile::tempdir().expect("a folder");
    let arena = guarded(&folder).await;
    let mut victim = join(&arena, "victim", 7).await;
    let mut thief = join(&arena, "thief", 8).await;
    let lease = victim.lease().await;
    let made_up = vec![won(&lease.games[0], 0)];
    let answer = thief.report(&lease, made_up).await;
    refused(answer, Code::PermissionDenied, reasons::NOT_LEASED);
    victim.try_lease(0).await.expect("no quarantine");
    assert!(fleet(&arena).await.iter().all(|(.., is_in)| !is_in));
    let text = super::limits::metrics(&arena).await;
    let series = "arena_requests_refused_total{reason=\"NOT_LEASED\"} 1";
    assert!(text.contains(series), "{text}");
}

/// The state of audits, and the agents that are shown as not deterministic.
async fn shown(arena: &Guarded) -> (v1::Audits, usize) {
    let mut admin = arena.user(&arena.admin);
    let listed = v1::ListTournamentsRequest::default();
    let listed = admin.list_tournaments(listed).await.expect("answered");
    let [tournament] = &listed.into_inner().tournaments[..] else {
        panic!("one tournament");
    };
    let request = v1::GetStandingsRequest {
        tournament_id: tournament.tournament_id.clone(),
        ..Default::default()
    };
    let standings = admin.get_standings(request).await.expect("answered");
    let standings = standings.into_inner().standings.expect("standings");
    let agents = standings.agents.into_iter();
    let named = agents.filter(|agent| agent.non_deterministic).count();
    (tournament.audits.unwrap_or_default(), named)
}

#[tokio::test]
async fn second_record_of_one_owner_charges_its_worker() {
    for honest_winner in [0, 1, 2] {
        let options = Options {
            audit_share: 1.0,
            ..options(memory())
        };
        let arena = started(options).await;
        let mut honest = join(&arena, "honest", 8).await;
        let mut liar = join(&arena, "liar", 7).await;
        let lease = liar.lease().await;
        liar.play(&lease).await;
        let game = &lease.games[0];
        for winner in [1, 2, 1] {
            let mut report = won(game, winner);
            let record = report.record.as_mut().expect("a record");
            // Another first move, by which an agent would be named.
            record.events = vec![(game.index as u32 + 1) << 1 | 1];
            let answer = liar.report(&lease, vec![report]).await;
            assert_eq!(answer.expect("taken").differing, [game.index]);
        }
        let (audits, named) = shown(&arena).await;
        assert_eq!((audits.differing, audits.disputed, named), (1, 1, 0));

        while let Some(lease) = honest.try_lease(0).await.expect("answered") {
            let winner = |index| {
                if index == game.index {
                    honest_winner
                } else {
                    0
                }
            };
            let games = lease.games.iter().map(|it| won(it, winner(it.index)));
            honest.report(&lease, games.collect()).await.expect("taken");
        }
        let (audits, named) = shown(&arena).await;
        let refuted = u64::from(honest_winner != 0);
        assert_eq!((audits.disputed, audits.refuted, named), (0, refuted, 0));
        let quarantined: Vec<bool> = fleet(&arena).await.into_iter().map(|it| it.2).collect();
        assert_eq!(quarantined, [false, true]);
    }
}

#[tokio::test]
async fn same_process_number_of_another_owner_is_another_process() {
    let folder = tempfile::tempdir().expect("a folder");
    let arena = guarded(&folder).await;
    let mut honest = join(&arena, "honest", 7).await;
    let mut liar = join(&arena, "liar", 7).await;
    let lease = liar.lease().await;
    let answer = liar.report(&lease, vec![won(&lease.games[0], 0)]).await;
    refused(answer, Code::InvalidArgument, reasons::RECORD_INVALID);
    honest.try_lease(0).await.expect("no quarantine");
    let workers = fleet(&arena).await;
    let [(one, owner, false), (two, other, true)] = &workers[..] else {
        panic!("{workers:?}");
    };
    assert_eq!([&**one, &**two], ["honest", "liar"]);
    assert_ne!(owner, other, "each has its own token");
}

#[tokio::test]
async fn report_is_recorded_with_the_name_of_the_lease() {
    let folder = tempfile::tempdir().expect("a folder");
    let arena = guarded(&folder).await;
    let mut liar = join(&arena, "liar", 7).await;
    let lease = liar.lease().await;
    liar.id = "node-7.honest.example".to_owned();
    let answer = liar.report(&lease, vec![won(&lease.games[0], 0)]).await;
    refused(answer, Code::InvalidArgument, reasons::RECORD_INVALID);
    arena.arena.stop().await;
    let text = fs::read_to_string(folder.path().join("events.jsonl")).expect("lines");
    let last: Value = serde_json::from_str(text.lines().last().expect("a line")).expect("JSON");
    assert_eq!(
        (&last["method"], &last["target"]),
        (&"Report".into(), &"liar".into())
    );
}

/// Ends the stay of a worker, which may still report.
async fn leave(mut worker: FakeWorker) -> FakeWorker {
    let request = v1::LeaveRequest {
        worker_id: worker.id.clone(),
        boot_epoch: worker.boot_epoch,
        session: worker.session.clone(),
    };
    worker.client.leave(request).await.expect("it leaves");
    worker
}

#[tokio::test]
async fn late_record_of_an_ended_stay_refutes_the_games_of_a_liar() {
    let options = Options {
        // It draws none of the games.
        audit_share: 0.000_001,
        ..options(memory())
    };
    let arena = started(options).await;
    let mut honest = join(&arena, "honest", 8).await;
    honest.games = 8;
    let late = honest.lease().await;
    let mut gone = leave(honest).await;
    let mut liar = join(&arena, "liar", 7).await;
    while let Some(lease) = liar.try_lease(0).await.expect("answered") {
        let games = lease.games.iter().map(|it| won(it, 1)).collect();
        liar.report(&lease, games).await.expect("taken");
    }
    // A new process is audited more. An accomplice ends these audits, so that nothing is open.
    let mut accomplice = join(&arena, "accomplice", 6).await;
    while let Some(lease) = accomplice.try_lease(0).await.expect("answered") {
        let games = lease.games.iter().map(|it| won(it, 1)).collect();
        accomplice.report(&lease, games).await.expect("taken");
    }
    let _ = leave(accomplice).await;
    let (audits, _) = shown(&arena).await;
    assert_eq!((audits.waiting, audits.differing), (0, 0));
    let agreed = audits.agreed as usize;

    let answer = gone.play(&late).await;
    assert_eq!(answer.differing.len(), 8);
    let (audits, _) = shown(&arena).await;
    assert_eq!((audits.differing, audits.disputed), (8, 8));
    let mut third = join(&arena, "third", 9).await;
    let played = third.play_all().await;
    assert!(
        played + agreed >= 40,
        "the liar's other games, too: {played}"
    );
    let (audits, named) = shown(&arena).await;
    assert_eq!((audits.refuted, named), (8, 0));
    let quarantined: Vec<String> = { fleet(&arena).await.into_iter() }
        .filter_map(|(name, _, is_in)| is_in.then_some(name))
        .collect();
    assert_eq!(quarantined, ["liar"]);
}
