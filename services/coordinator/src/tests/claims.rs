//! Faults that one owner alone reports.

use std::{collections::BTreeSet, sync::Arc};

use arena_model::engine::FaultKind;
use arena_wire::{
    reasons,
    v1::{self, Role, TournamentState},
};
use tonic::{Code, Status};

use super::{
    contest::{Contest, seat},
    fixture::{FakeWorker, SPEC, memory, options, refused, unplayed, won},
};
use crate::Options;

/// Reports a lease; the agent loses the games for which `crashes` is true before it answers.
async fn play(worker: &mut FakeWorker, crashes: impl Fn(u64) -> bool) -> bool {
    let Some(lease) = worker.try_lease(0).await.expect("answered") else {
        return false;
    };
    let games = lease.games.iter().map(|game| match crashes(game.index) {
        true => unplayed(game, seat(game) as u8, FaultKind::Crash),
        false => won(game, seat(game)),
    });
    let games = games.collect();
    worker.report(&lease, games).await.expect("taken");
    true
}

/// Reports that the agent crashed in each game of a lease, after it had answered.
async fn crash(worker: &mut FakeWorker, lease: &v1::Lease) -> Result<v1::ReportResponse, Status> {
    let games = lease.games.iter().map(crashed);
    worker.report(lease, games.collect()).await
}

/// A game in which the agent crashed after it had answered.
fn crashed(game: &v1::GameAssignment) -> v1::GameReport {
    v1::GameReport {
        answered: vec![0, 1],
        ..unplayed(game, seat(game) as u8, FaultKind::Crash)
    }
}

/// Half of the games.
fn even(index: u64) -> bool {
    index.is_multiple_of(2)
}

#[tokio::test]
async fn crashes_that_one_owner_reports_pause_nothing() {
    let contest = Contest::new().await;
    let mut liar = contest.join("liar", 1).await;
    let mut honest = contest.join("honest", 2).await;
    while play(&mut liar, even).await {
        assert_ne!(contest.state().await, TournamentState::Paused);
    }
    while play(&mut honest, |_| false).await {}
    assert_eq!(contest.state().await, TournamentState::Finished);
    let notes = contest.notes().await;
    let note = "not sound: crashes, timeouts or failed starts, or what followed them, differ between \
                workers of different owners: 20 games";
    assert!(notes.contains(note), "{notes}");
    // One other owner alone puts no process into quarantine.
    liar.try_lease(0).await.expect("no quarantine");
}

#[tokio::test]
async fn retry_replaces_crashes_that_another_owner_contradicts() {
    let contest = Contest::new().await;
    let mut liar = contest.join("liar", 1).await;
    let mut honest = contest.join("honest", 2).await;
    let mut old = liar.lease().await;
    crash(&mut liar, &old).await.expect("taken");
    while let Some(lease) = liar.try_lease(0).await.expect("answered") {
        crash(&mut liar, &lease).await.expect("taken");
    }
    while play(&mut honest, |_| false).await {}
    let audits = contest.audits().await;
    assert_eq!((audits.contradicted, audits.given_up), (40, 0));

    let request = v1::RetryTournamentRequest {
        tournament_id: contest.id.clone(),
        ..Default::default()
    };
    let mut user = contest.arena.user(&contest.arena.admin);
    let again = user.retry_tournament(request).await.expect("a retry");
    let again = again.into_inner().tournament.expect("a tournament");
    assert_eq!(again.earlier[0].replaced, 40);
    // Its ticket is of the earlier generation.
    old.lease_id = 0;
    refused(
        crash(&mut liar, &old).await,
        Code::PermissionDenied,
        reasons::NOT_LEASED,
    );
    while play(&mut honest, |_| false).await {}
    assert_eq!(contest.state().await, TournamentState::Finished);
    assert_eq!(contest.audits().await.contradicted, 0);
    let notes = contest.notes().await;
    assert!(!notes.contains("not sound"), "{notes}");
}

#[tokio::test]
async fn crashes_are_audited_once_another_owner_joins() {
    let contest = Contest::with(Options {
        audit_share: 0.3,
        ..options(memory())
    })
    .await;
    let token = contest.arena.create(Role::Worker).await;
    for (name, process) in [("liar", 1), ("twin", 2)] {
        // The second process audits games of the first one.
        let connection = contest.arena.connection(&token);
        let mut liar = FakeWorker::join_with(connection, name, process).await;
        while let Some(lease) = liar.try_lease(0).await.expect("answered") {
            crash(&mut liar, &lease).await.expect("taken");
        }
    }
    assert!(contest.audits().await.same_owner > 0);
    let mut honest = contest.join("honest", 3).await;
    while play(&mut honest, |_| false).await {}
    let audits = contest.audits().await;
    assert_eq!((audits.contradicted, audits.same_owner), (40, 0));
}

#[tokio::test]
async fn crashes_are_audited_after_a_restart() {
    let store = memory();
    let shared = || Options {
        audit_share: 0.01,
        ..options(Arc::clone(&store))
    };
    let contest = Contest::with(shared()).await;
    let mut liar = contest.join("liar", 1).await;
    let _honest = contest.join("honest", 2).await;
    for _ in 0..2 {
        let lease = liar.lease().await;
        crash(&mut liar, &lease).await.expect("taken");
    }
    let crashed = contest.audits().await.due;
    assert!(crashed > 4, "{crashed}");
    let contest = contest.again(shared()).await;
    let mut others = [contest.join("anna", 3).await, contest.join("ben", 4).await];
    while contest.state().await != TournamentState::Finished || contest.audits().await.waiting > 0 {
        for other in &mut others {
            play(other, |_| false).await;
        }
    }
    assert_eq!(contest.audits().await.contradicted, crashed);
    let notes = contest.notes().await;
    assert!(notes.contains("not sound"), "{notes}");
}

#[tokio::test]
async fn crashes_are_audited_by_another_owner_although_their_own_audited_them_after_a_restart() {
    let store = memory();
    let shared = || Options {
        audit_share: 1.0,
        ..options(Arc::clone(&store))
    };
    let contest = Contest::with(shared()).await;
    let token = contest.arena.create(Role::Worker).await;
    let connection = contest.arena.connection(&token);
    let mut liar = FakeWorker::join_with(connection, "liar", 1).await;
    let lease = liar.lease().await;
    crash(&mut liar, &lease).await.expect("taken");
    let crashed = lease.games.len() as u64;
    let contest = contest.again(shared()).await;
    let connection = contest.arena.connection(&token);
    let mut twin = FakeWorker::join_with(connection, "twin", 2).await;
    while play(&mut twin, |_| false).await {}
    assert_eq!(contest.audits().await.contradicted, 0);
    let mut honest = contest.join("honest", 3).await;
    while play(&mut honest, |_| false).await {}
    assert_eq!(contest.audits().await.contradicted, crashed);
}

#[tokio::test]
async fn retry_keeps_claims_of_games_that_stand() {
    let contest = Contest::new().await;
    let mut liar = contest.join("liar", 1).await;
    let lease = liar.lease().await;
    let mut games: Vec<_> = lease.games.iter().map(crashed).collect();
    games[0].answered = Vec::new();
    liar.report(&lease, games).await.expect("taken");
    while let Some(lease) = liar.try_lease(0).await.expect("answered") {
        crash(&mut liar, &lease).await.expect("taken");
    }
    let request = v1::RetryTournamentRequest {
        tournament_id: contest.id.clone(),
        ..Default::default()
    };
    let mut user = contest.arena.user(&contest.arena.admin);
    let again = user.retry_tournament(request).await.expect("a retry");
    let again = again.into_inner().tournament.expect("a tournament");
    assert_eq!(again.earlier[0].replaced, 1);
    let mut honest = contest.join("honest", 2).await;
    while play(&mut honest, |_| false).await {}
    let audits = contest.audits().await;
    assert_eq!(audits.contradicted, 39, "{audits:?}");
}

/// A tournament of 400 games, all of which are audited.
async fn audited() -> Contest {
    let options = Options {
        audit_share: 1.0,
        ..options(memory())
    };
    Contest::of(&SPEC.replace("blocks = 20", "blocks = 200"), options).await
}

/// Asks for a few games, and reports them; the agent crashes, after it had answered, in those for which
/// `crashes` is true.
async fn step(worker: &mut FakeWorker, mut crashes: impl FnMut(u64) -> bool) -> bool {
    worker.games = 8;
    let Some(lease) = worker.try_lease(0).await.expect("answered") else {
        return false;
    };
    let games = lease.games.iter().map(|game| match crashes(game.index) {
        true => crashed(game),
        false => won(game, seat(game)),
    });
    let games = games.collect();
    worker.report(&lease, games).await.expect("taken");
    true
}

#[tokio::test]
async fn crashes_of_an_agent_that_fails_now_and_then_are_not_contradicted() {
    let contest = audited().await;
    let mut first = contest.join("first", 1).await;
    let mut second = contest.join("second", 2).await;
    // Each replays the games of the other without a crash.
    assert!(step(&mut first, |index| index == 0).await);
    assert!(step(&mut second, |_| false).await);
    let audits = contest.audits().await;
    assert_eq!((audits.contradicted, audits.sampled), (1, 1));
    let mut goes_on = true;
    while goes_on {
        goes_on = step(&mut second, |index| index % 20 == 3).await;
        goes_on |= step(&mut first, |index| index % 20 == 6).await;
    }
    assert_eq!(contest.state().await, TournamentState::Finished);
    let audits = contest.audits().await;
    assert_eq!((audits.contradicted, audits.waiting), (0, 0));
    assert!(audits.sampled > 10, "{audits:?}");
    let notes = contest.notes().await;
    assert!(!notes.contains("not sound"), "{notes}");
}

/// Plays with workers of two owners until no games are left. `crashes` is asked for each worker and game, with
/// true for an audit.
async fn play_all(contest: &Contest, mut crashes: impl FnMut(usize, u64, bool) -> bool) {
    let mut workers = [contest.join("one", 1).await, contest.join("two", 2).await];
    let mut played = BTreeSet::new();
    let mut goes_on = true;
    while goes_on {
        goes_on = false;
        for (number, worker) in workers.iter_mut().enumerate() {
            // Audits come first.
            for _ in 0..2 {
                goes_on |= step(worker, |index| {
                    let is_audit = !played.insert(index);
                    crashes(number, index, is_audit)
                })
                .await;
            }
        }
    }
    assert_eq!(contest.state().await, TournamentState::Finished);
}

#[tokio::test]
async fn crashes_that_one_owner_denies_are_found() {
    let contest = audited().await;
    play_all(&contest, |worker, index, _| worker == 0 && index % 8 == 0).await;
    let audits = contest.audits().await;
    assert!(
        audits.contradicted > 40 && audits.given_up == 0,
        "{audits:?}"
    );
    let notes = contest.notes().await;
    assert!(notes.contains("not sound"), "{notes}");
}

#[tokio::test]
async fn rates_of_crashes_by_owner_are_compared_without_audits() {
    let options = Options {
        audit_share: 0.001,
        ..options(memory())
    };
    let contest = Contest::of(&SPEC.replace("blocks = 20", "blocks = 200"), options).await;
    // Audits agree with what they audit, so no game is contradicted by itself.
    play_all(&contest, |worker, index, is_audit| {
        index % 8 == 0 && (worker == 0) != is_audit
    })
    .await;
    let notes = contest.notes().await;
    assert!(notes.contains("not sound"), "{notes}");
    // Both owners may be the one that lies.
    assert_eq!(contest.audits().await.contradicted, 400);
}

#[tokio::test]
async fn agent_that_crashes_in_audits_alone_is_not_verified() {
    let contest = audited().await;
    play_all(&contest, |_, _, is_audit| is_audit).await;
    assert_eq!(contest.audits().await.contradicted, 400);
    let notes = contest.notes().await;
    assert!(notes.contains("not sound"), "{notes}");
}

#[tokio::test]
async fn one_crash_elsewhere_does_not_explain_many() {
    let contest = audited().await;
    let mut liar = contest.join("liar", 1).await;
    let mut accomplice = contest.join("accomplice", 2).await;
    let mut crashes = 1;
    assert!(step(&mut accomplice, |_| std::mem::take(&mut crashes) > 0).await);
    let mut goes_on = true;
    while goes_on {
        // Audits come first.
        goes_on = step(&mut liar, |index| index % 4 == 0).await;
        goes_on |= step(&mut liar, |index| index % 4 == 0).await;
        goes_on |= step(&mut accomplice, |_| false).await;
    }
    let audits = contest.audits().await;
    assert!(audits.contradicted > 20, "{audits:?}");
    let notes = contest.notes().await;
    assert!(notes.contains("not sound"), "{notes}");
}

#[tokio::test]
async fn crashes_with_an_accomplice_do_not_explain_those_of_a_liar() {
    let contest = audited().await;
    let [mut liar, mut accomplice, mut honest] = [
        contest.join("liar", 1).await,
        contest.join("accomplice", 2).await,
        contest.join("honest", 3).await,
    ];
    for _ in 0..12 {
        step(&mut liar, |index| index % 4 == 0).await;
        step(&mut accomplice, |index| index % 4 == 0).await;
        step(&mut honest, |_| false).await;
    }
    // Rates alone are compared at the end.
    assert_eq!(contest.state().await, TournamentState::Running);
    let audits = contest.audits().await;
    assert!(audits.contradicted > 10, "{audits:?}");
    let notes = contest.notes().await;
    assert!(notes.contains("not sound"), "{notes}");
}

#[tokio::test]
async fn ticket_does_not_cover_games_that_another_owner_holds() {
    let contest = Contest::new().await;
    let mut first = contest.join("first", 1).await;
    let lease = first.lease().await;
    let given_back = v1::LeaveRequest {
        worker_id: first.id.clone(),
        boot_epoch: first.boot_epoch,
        session: first.session.clone(),
    };
    first.client.leave(given_back).await.expect("it leaves");
    // No worker holds the first game.
    let report = |index: usize| vec![won(&lease.games[index], 0)];
    first.report(&lease, report(0)).await.expect("taken");
    let mut second = contest.join("second", 2).await;
    while second.try_lease(0).await.expect("answered").is_some() {}
    refused(
        first.report(&lease, report(1)).await,
        Code::PermissionDenied,
        reasons::NOT_LEASED,
    );
}

#[tokio::test]
async fn crashes_that_another_owner_confirms_pause_the_tournament() {
    let contest = Contest::new().await;
    let mut first = contest.join("first", 1).await;
    let mut second = contest.join("second", 2).await;
    for _ in 0..2 {
        assert!(play(&mut first, even).await);
    }
    assert_eq!(contest.state().await, TournamentState::Running);
    while play(&mut second, even).await {}
    while contest.state().await != TournamentState::Paused {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn crashes_count_at_once_without_another_owner() {
    let contest = Contest::new().await;
    let mut alone = contest.join("alone", 1).await;
    while play(&mut alone, even).await {}
    assert_eq!(contest.state().await, TournamentState::Paused);
}

#[tokio::test]
async fn process_whose_crashes_two_owners_contradict_is_quarantined() {
    let contest = Contest::new().await;
    let mut liar = contest.join("liar", 1).await;
    let mut others = [contest.join("anna", 2).await, contest.join("ben", 3).await];
    for _ in 0..3 {
        assert!(play(&mut liar, |_| true).await);
    }
    // A lease has fewer games than there are audits, so both get some.
    for other in &mut others {
        assert!(play(other, |_| false).await);
    }
    let refused = liar.try_lease(0).await.expect_err("in quarantine");
    assert!(refused.message().contains("quarantine"), "{refused}");
    for other in &mut others {
        other.try_lease(0).await.expect("no quarantine");
    }
}
