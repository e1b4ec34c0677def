//! A tournament of a ruleset that is a package, whose workers replay records of each other.

use arena_access::Token;
use arena_wire::v1::{self, Role};
use tokio::task::JoinHandle;
use tonic::Status;

use super::{
    door::{Guarded, owners},
    fixture::{FakeWorker, memory, options, won},
};
use crate::Options;

/// Number of games of the tournament.
pub(super) const GAMES: u64 = 40;

/// A tournament of a package.
pub(super) struct Pig {
    pub(super) arena: Guarded,
    pub(super) id: String,
}

impl Pig {
    pub(super) async fn new() -> Self {
        Self::of(owners::ruleset(false, &[]), "random").await
    }

    /// A tournament of `random` against another bot.
    pub(super) async fn of(ruleset: v1::RegisterRulesetRequest, bot: &str) -> Self {
        let options = Options {
            audit_share: 0.0,
            ..options(memory())
        };
        let arena = Guarded::with(options, Token::draw().expect("random numbers")).await;
        owners::upload(&arena, &arena.admin).await;
        let mut user = arena.user(&arena.admin);
        let registered = user.register_ruleset(ruleset).await;
        registered.expect("registered");
        let spec_toml = format!(
            "name = \"pig\"\nruleset = \"{}\"\nseed = \"1\"\nblocks = 20\nagents = [\"random\", \"second\"]\n\
             [play]\nsandbox = \"none\"\n[[agent]]\nname = \"second\"\nbot = \"{bot}\"\n",
            owners::RULESET
        );
        let request = v1::StartTournamentRequest {
            spec_toml,
            ..Default::default()
        };
        let started = user.start_tournament(request).await.expect("started");
        let tournament = started.into_inner().tournament.expect("a tournament");
        assert_eq!(tournament.games_total, GAMES);
        Self {
            arena,
            id: tournament.tournament_id,
        }
    }

    /// A worker with a token of its own.
    pub(super) async fn join(&self, name: &str, process: u64) -> FakeWorker {
        let token = self.arena.create(Role::Worker).await;
        FakeWorker::join_with(self.arena.connection(&token), name, process).await
    }

    /// A worker that has asked for records.
    pub(super) async fn replayer(&self, name: &str, process: u64) -> FakeWorker {
        let mut worker = self.join(name, process).await;
        assert_eq!(replay(&mut worker, None).await.expect("answered"), None);
        worker
    }

    pub(super) async fn tournament(&self) -> v1::Tournament {
        let request = v1::GetTournamentRequest {
            tournament_id: self.id.clone(),
        };
        let mut user = self.arena.user(&self.arena.admin);
        let found = user.get_tournament(request).await.expect("known");
        found.into_inner().tournament.expect("a tournament")
    }

    /// The note on games that no other worker replayed.
    pub(super) async fn unverified(&self) -> Option<String> {
        let request = v1::GetStandingsRequest {
            tournament_id: self.id.clone(),
            ..Default::default()
        };
        let mut user = self.arena.user(&self.arena.admin);
        let found = user.get_standings(request).await.expect("known");
        let notes = found.into_inner().standings.expect("standings").notes;
        notes.into_iter().find(|note| note.contains("unverified"))
    }
}

/// Answers the earlier job, and asks for another.
pub(super) async fn try_replay(
    worker: &mut FakeWorker,
    verdict: Option<v1::ReplayVerdict>,
    wait_ms: u32,
) -> Result<Option<v1::ReplayJob>, Status> {
    let request = v1::ReplayRequest {
        worker_id: worker.id.clone(),
        boot_epoch: worker.boot_epoch,
        session: worker.session.clone(),
        wait_ms,
        known_tournaments: Vec::new(),
        verdict,
    };
    Ok(worker.client.replay(request).await?.into_inner().job)
}

/// As [`try_replay`], without waiting.
pub(super) async fn replay(
    worker: &mut FakeWorker,
    verdict: Option<v1::ReplayVerdict>,
) -> Result<Option<v1::ReplayJob>, Status> {
    try_replay(worker, verdict, 0).await
}

/// Waits for a job.
pub(super) async fn job(worker: &mut FakeWorker) -> v1::ReplayJob {
    let job = try_replay(worker, None, 10_000).await.expect("answered");
    job.expect("records")
}

pub(super) fn sound(job: &v1::ReplayJob) -> Option<v1::ReplayVerdict> {
    Some(v1::ReplayVerdict {
        job_id: job.job_id,
        ..Default::default()
    })
}

/// A verdict that refutes the first record.
pub(super) fn wrong(job: &v1::ReplayJob) -> Option<v1::ReplayVerdict> {
    let record = job.records[0].record.as_ref().expect("a record");
    Some(v1::ReplayVerdict {
        job_id: job.job_id,
        problems: vec![v1::ReplayProblem {
            index: record.index,
            problem: "the rules give another result".to_owned(),
        }],
        ..Default::default()
    })
}

pub(super) type Reporting = JoinHandle<Result<v1::ReportResponse, Status>>;

/// Leases games to a worker, and reports them while others replay them.
pub(super) async fn reporting(worker: &mut FakeWorker) -> (v1::Lease, Reporting) {
    let lease = worker.lease().await;
    let games = lease.games.iter().map(|game| won(game, 0)).collect();
    let report = tokio::spawn(worker.reporting(&lease, games));
    (lease, report)
}

pub(super) async fn answer(report: Reporting) -> Result<v1::ReportResponse, Status> {
    report.await.expect("no panic")
}
