//! Faults that one owner alone reports.

use arena_access::Token;
use arena_model::engine::FaultKind;
use arena_wire::v1::{self, Role, TournamentState};

use super::{
    door::Guarded,
    fixture::{FakeWorker, SPEC, memory, options, unplayed, won},
};
use crate::Options;

/// The agent that crashes, according to some workers.
const AGENT: u32 = 1;

/// A running tournament whose workers have tokens of their own.
pub(super) struct Contest {
    arena: Guarded,
    id: String,
}

impl Contest {
    async fn new() -> Self {
        Self::with(Options {
            audit_share: 0.01,
            ..options(memory())
        })
        .await
    }

    pub(super) async fn with(options: Options) -> Self {
        let arena = Guarded::with(options, Token::draw().expect("random numbers")).await;
        let request = v1::StartTournamentRequest {
            spec_toml: SPEC.to_owned(),
            ..Default::default()
        };
        let started = arena.user(&arena.admin).start_tournament(request).await;
        let tournament = started.expect("started").into_inner().tournament;
        Self {
            arena,
            id: tournament.expect("a tournament").tournament_id,
        }
    }

    /// A worker with a token of its own.
    pub(super) async fn join(&self, name: &str, process: u64) -> FakeWorker {
        let token = self.arena.create(Role::Worker).await;
        FakeWorker::join_with(self.arena.connection(&token), name, process).await
    }

    pub(super) async fn state(&self) -> TournamentState {
        let request = v1::GetTournamentRequest {
            tournament_id: self.id.clone(),
        };
        let mut user = self.arena.user(&self.arena.admin);
        let found = user.get_tournament(request).await.expect("known");
        found.into_inner().tournament.expect("a tournament").state()
    }

    async fn notes(&self) -> String {
        let request = v1::GetStandingsRequest {
            tournament_id: self.id.clone(),
            ..Default::default()
        };
        let mut user = self.arena.user(&self.arena.admin);
        let found = user.get_standings(request).await.expect("known");
        found
            .into_inner()
            .standings
            .expect("standings")
            .notes
            .join("\n")
    }
}

/// Reports a lease; the agent loses the games for which `crashes` is true before it answers.
async fn play(worker: &mut FakeWorker, crashes: impl Fn(u64) -> bool) -> bool {
    let Some(lease) = worker.try_lease(0).await.expect("answered") else {
        return false;
    };
    let games = lease.games.iter().map(|game| {
        let seat = game
            .seats
            .iter()
            .position(|it| *it == AGENT)
            .expect("it plays");
        match crashes(game.index) {
            true => unplayed(game, seat as u8, FaultKind::Crash),
            false => won(game, seat),
        }
    });
    let games = games.collect();
    worker.report(&lease, games).await.expect("taken");
    true
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
    let note = "did not happen on a worker of another owner: 20 games";
    assert!(notes.contains(note), "{notes}");
    // One other owner alone puts no process into quarantine.
    liar.try_lease(0).await.expect("no quarantine");
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
