//! A tournament whose workers have different owners.

use arena_access::Token;
use arena_wire::v1::{self, Role, TournamentState};

use super::{
    door::Guarded,
    fixture::{FakeWorker, SPEC, memory, options},
};
use crate::Options;

/// The agent that crashes, according to some workers.
const AGENT: u32 = 1;

/// A running tournament whose workers have tokens of their own.
pub(super) struct Contest {
    pub(super) arena: Guarded,
    pub(super) id: String,
}

impl Contest {
    pub(super) async fn new() -> Self {
        Self::with(Options {
            audit_share: 0.01,
            ..options(memory())
        })
        .await
    }

    pub(super) async fn with(options: Options) -> Self {
        Self::of(SPEC, options).await
    }

    pub(super) async fn of(spec: &str, options: Options) -> Self {
        let arena = Guarded::with(options, Token::draw().expect("random numbers")).await;
        let request = v1::StartTournamentRequest {
            spec_toml: spec.to_owned(),
            ..Default::default()
        };
        let started = arena.user(&arena.admin).start_tournament(request).await;
        let tournament = started.expect("started").into_inner().tournament;
        Self {
            arena,
            id: tournament.expect("a tournament").tournament_id,
        }
    }

    /// Stops the coordinator, and starts it again.
    pub(super) async fn again(self, options: Options) -> Self {
        let Self { arena, id } = self;
        arena.arena.stop().await;
        let arena = Guarded::with(options, arena.admin).await;
        Self { arena, id }
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

    pub(super) async fn audits(&self) -> v1::Audits {
        let request = v1::GetTournamentRequest {
            tournament_id: self.id.clone(),
        };
        let mut user = self.arena.user(&self.arena.admin);
        let found = user.get_tournament(request).await.expect("known");
        let tournament = found.into_inner().tournament.expect("a tournament");
        tournament.audits.unwrap_or_default()
    }

    /// Names of the workers in quarantine.
    pub(super) async fn quarantined(&self) -> Vec<String> {
        let mut user = self.arena.user(&self.arena.admin);
        let listed = user.list_workers(v1::ListWorkersRequest::default()).await;
        let workers = listed.expect("answered").into_inner().workers.into_iter();
        let quarantined = workers.filter(|worker| worker.quarantined);
        quarantined.map(|worker| worker.name).collect()
    }

    pub(super) async fn non_deterministic(&self) -> usize {
        let agents = self.standings().await.agents.into_iter();
        agents.filter(|agent| agent.non_deterministic).count()
    }

    pub(super) async fn deviating(&self) -> u32 {
        self.standings().await.workers_deviating
    }

    pub(super) async fn notes(&self) -> String {
        self.standings().await.notes.join("\n")
    }

    async fn standings(&self) -> v1::Standings {
        let request = v1::GetStandingsRequest {
            tournament_id: self.id.clone(),
            ..Default::default()
        };
        let mut user = self.arena.user(&self.arena.admin);
        let found = user.get_standings(request).await.expect("known");
        found.into_inner().standings.expect("standings")
    }
}

/// The seat of the agent that crashes.
pub(super) fn seat(game: &v1::GameAssignment) -> usize {
    let mut seats = game.seats.iter();
    seats.position(|it| *it == AGENT).expect("it plays")
}
