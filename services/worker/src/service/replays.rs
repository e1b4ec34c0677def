//! Replays records of rulesets that are packages, which other workers played.

use std::{sync::Arc, time::Duration};

use arena_access::Connection;
use arena_engine::{ReplayError, ReplayProblem};
use arena_model::{
    GameRecord,
    record::{RecordVerifier, VerifyError},
};
use arena_wire::{
    reasons,
    v1::{self, worker_service_client::WorkerServiceClient},
};
use tokio::{task, time};
use tonic::{Code, Status};
use tonic_types::StatusExt;

use super::calls::problem;
use crate::{
    binaries::CoordinatorBinaries, context::TournamentContext, driver::RulesStarter,
    environment::BinaryProvider, rules::RulesSource,
};

/// Time that a request waits for records.
const WAIT: Duration = Duration::from_secs(20);
/// Additional timeout of its answer.
const SLACK: Duration = Duration::from_secs(10);
/// Pause after a failed request, or one that was answered at once without records.
const PAUSE: Duration = Duration::from_secs(1);
/// Maximum bytes of an answer, which has the records of one report.
const ANSWER_BYTES_MAX: usize = 64 << 20;
/// Tournaments whose rules are kept.
const KEPT: usize = 4;

/// Replays records for a coordinator.
pub(super) struct Replays {
    client: WorkerServiceClient<Connection>,
    binaries: Arc<CoordinatorBinaries>,
    starter: RulesStarter,
    /// The newest last.
    tournaments: Vec<Arc<TournamentContext>>,
}

impl Replays {
    pub(super) fn new(
        channel: Connection,
        binaries: Arc<CoordinatorBinaries>,
        starter: RulesStarter,
    ) -> Self {
        let client = WorkerServiceClient::new(channel);
        Self {
            client: client.max_decoding_message_size(ANSWER_BYTES_MAX),
            binaries,
            starter,
            tournaments: Vec::new(),
        }
    }

    /// Replays until the coordinator does not know this session any more. `request` has the session.
    pub(super) async fn run(mut self, mut request: v1::ReplayRequest) {
        request.wait_ms = WAIT.as_millis() as u32;
        let mut verdict = None;
        loop {
            let known = self
                .tournaments
                .iter()
                .map(|it| it.tournament_id().to_owned());
            request.known_tournaments = known.collect();
            request.verdict = verdict.take();
            let asked = time::Instant::now();
            let answer = time::timeout(WAIT + SLACK, self.client.replay(request.clone())).await;
            let job = match answer {
                Ok(Ok(answer)) => answer.into_inner().job,
                Ok(Err(status)) if is_final(&status) => return,
                Ok(Err(status)) => {
                    tracing::debug!("cannot ask for records to replay: {}", problem(&status));
                    None
                }
                Err(_) => None,
            };
            match job {
                Some(job) => verdict = Some(self.replay(job).await),
                None if asked.elapsed() < PAUSE => time::sleep(PAUSE).await,
                None => {}
            }
        }
    }

    async fn replay(&mut self, job: v1::ReplayJob) -> v1::ReplayVerdict {
        let failed = |failed: String| v1::ReplayVerdict {
            job_id: job.job_id,
            problems: Vec::new(),
            failed,
        };
        let context = match self.context(&job).await {
            Ok(context) => context,
            Err(error) => return failed(error),
        };
        let records = job.records;
        let replayed = task::spawn_blocking(move || replay_all(&context, records)).await;
        match replayed {
            Ok(Ok(problems)) => v1::ReplayVerdict {
                job_id: job.job_id,
                problems,
                failed: String::new(),
            },
            Ok(Err(error)) => {
                // The next job starts the rules again.
                self.tournaments
                    .retain(|it| it.tournament_id() != job.tournament_id);
                failed(error)
            }
            Err(panicked) => failed(panicked.to_string()),
        }
    }

    /// The tournament of a job with its rules, which are started if they are not known.
    async fn context(&mut self, job: &v1::ReplayJob) -> Result<Arc<TournamentContext>, String> {
        let mut known = self.tournaments.iter();
        if let Some(at) = known.position(|it| it.tournament_id() == job.tournament_id) {
            let context = self.tournaments.remove(at);
            self.tournaments.push(Arc::clone(&context));
            return Ok(context);
        }
        let missing = || "the coordinator sent no setup with a package".to_owned();
        let setup = job.setup.as_ref().ok_or_else(missing)?;
        let rules = setup.rules.as_ref();
        let package = rules
            .and_then(|rules| rules.package.as_ref())
            .ok_or_else(missing)?;
        let program = self.binaries.provide(package).await;
        let program = program.map_err(|error| error.to_string())?;
        let source = RulesSource::of_binary(program, package);
        let host = self.starter.start(&setup.ruleset, source);
        let host = host.map_err(|error| error.to_string())?;
        let context = TournamentContext::new(setup.clone(), Some(host));
        let context = Arc::new(context.map_err(|error| error.to_string())?);
        if self.tournaments.len() >= KEPT {
            self.tournaments.remove(0);
        }
        self.tournaments.push(Arc::clone(&context));
        Ok(context)
    }
}

/// True if the coordinator does not know the session any more, or has no such method.
fn is_final(status: &Status) -> bool {
    let details = status.get_error_details();
    let reason = details.error_info().map(|info| info.reason.as_str());
    reason == Some(reasons::UNKNOWN_WORKER) || status.code() == Code::Unimplemented
}

/// Replays records. Returns those that cannot have happened, or why the rules failed.
fn replay_all(
    context: &TournamentContext,
    records: Vec<v1::RecordToReplay>,
) -> Result<Vec<v1::ReplayProblem>, String> {
    let verifier = RecordVerifier::new(context.header(), context.game());
    let verifier = verifier.map_err(|error| error.to_string())?;
    let plies = context.wire().play.unwrap_or_default().opening_plies;
    let mut line = String::new();
    let mut problems = Vec::new();
    for v1::RecordToReplay { record, from_book } in records {
        let record = record.ok_or("the coordinator sent no record")?;
        let record = GameRecord::try_from(&record).map_err(|error| error.to_string())?;
        let game = context.game();
        let verified = verifier.verify(&record, game, &mut line);
        if let Some(failure) = context.rules_failure() {
            return Err(failure.message);
        }
        let problem = match verified {
            Err(VerifyError::Replay(ReplayError {
                problem: ReplayProblem::Failed(failure),
                ..
            })) => return Err(failure),
            Err(error) => error.to_string(),
            Ok(()) if from_book || record.has_drawn_opening(game, plies)? => continue,
            Ok(()) => "it does not start with the opening that its seed draws".to_owned(),
        };
        let index = record.index;
        problems.push(v1::ReplayProblem { index, problem });
    }
    Ok(problems)
}
