//! Replays records of rulesets that are packages, which other workers played.

use std::{sync::Arc, time::Duration};

use arena_access::Connection;
use arena_engine::{Event, ReplayError, ReplayProblem};
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
    binaries::CoordinatorBinaries,
    context::TournamentContext,
    driver::RulesStarter,
    environment::BinaryProvider,
    rules::{self, RulesCause, RulesFailure, RulesSource},
};

/// Time that a request waits for records.
const WAIT: Duration = Duration::from_secs(20);
/// Additional timeout of its answer.
const SLACK: Duration = Duration::from_secs(10);
/// Pause after a failed request, or one that was answered at once without records.
const PAUSE: Duration = Duration::from_secs(1);
/// Maximum bytes of an answer, which has the records of one report.
const ANSWER_BYTES_MAX: usize = 64 << 20;
/// Maximum bytes of a problem.
const PROBLEM_BYTES_MAX: usize = 400;
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
        // Sent again until it has arrived.
        let mut verdict: Option<v1::ReplayVerdict> = None;
        loop {
            let known = self
                .tournaments
                .iter()
                .map(|it| it.tournament_id().to_owned());
            request.known_tournaments = known.collect();
            request.verdict.clone_from(&verdict);
            let asked = time::Instant::now();
            let answer = time::timeout(WAIT + SLACK, self.client.replay(request.clone())).await;
            let job = match answer {
                Ok(Ok(answer)) => {
                    verdict = None;
                    answer.into_inner().job
                }
                Ok(Err(status)) if is_final(&status) => return,
                Ok(Err(status)) => {
                    tracing::debug!("cannot ask for records to replay: {}", problem(&status));
                    None
                }
                Err(_) => None,
            };
            match job {
                Some(job) => {
                    verdict = Some(match job.draw_after {
                        Some(plies) => self.draw(job, plies).await,
                        None => self.replay(job).await,
                    });
                }
                None if asked.elapsed() < PAUSE => time::sleep(PAUSE).await,
                None => {}
            }
        }
    }

    async fn replay(&mut self, job: v1::ReplayJob) -> v1::ReplayVerdict {
        let (job_id, tournament) = (job.job_id, job.tournament_id.clone());
        let verdict = match self.confirmed(job).await {
            Ok(problems) => v1::ReplayVerdict {
                job_id,
                problems,
                ..Default::default()
            },
            Err(Unable {
                reason,
                is_of_rules,
            }) => v1::ReplayVerdict {
                job_id,
                failed: reason,
                rules_failed: is_of_rules,
                ..Default::default()
            },
        };
        if !verdict.failed.is_empty() {
            self.forget(&tournament);
        }
        verdict
    }

    /// The records that cannot have happened. Rules that remember games can refuse records that they
    /// would accept after a start, so processes that have just started are asked before a worker is
    /// charged.
    async fn confirmed(&mut self, job: v1::ReplayJob) -> Result<Vec<v1::ReplayProblem>, Unable> {
        let v1::ReplayJob {
            tournament_id: tournament,
            mut setup,
            records,
            ..
        } = job;
        let mut doubtful = records.clone();
        let first = self.replay_all(&tournament, &mut setup, records, true);
        let first = first.await?;
        if first.is_empty() {
            return Ok(first);
        }
        let is_doubtful = |index| first.iter().any(|problem| problem.index == index);
        doubtful.retain(|it| it.record.as_ref().is_some_and(|it| is_doubtful(it.index)));
        self.restart(&tournament, &mut setup);
        // One after the other, so that the first ones are asked of processes that remember little.
        let second = self.replay_all(&tournament, &mut setup, doubtful, false);
        let second = second.await?;
        let mut accepted = first
            .into_iter()
            .filter(|problem| second.iter().all(|it| it.index != problem.index));
        match accepted.next() {
            None => Ok(second),
            Some(v1::ReplayProblem { index, problem }) => Err(Unable {
                reason: format!(
                    "the rules remember other games: a process that had just started accepted the \
                     record of game {index}, and one that had replayed others did not: {problem}"
                ),
                is_of_rules: true,
            }),
        }
    }

    /// The problems of records. `together`: they are replayed side by side.
    async fn replay_all(
        &mut self,
        tournament: &str,
        setup: &mut Option<v1::TournamentSetup>,
        mut records: Vec<v1::RecordToReplay>,
        mut together: bool,
    ) -> Result<Vec<v1::ReplayProblem>, Unable> {
        let mut problems = Vec::new();
        while !records.is_empty() {
            let context = self.context(tournament, setup.as_ref()).await?;
            let replayed = task::spawn_blocking(move || replay_some(&context, records, together));
            let replayed = replayed.await.map_err(|panicked| panicked.to_string())??;
            problems.extend(replayed.problems);
            records = replayed.left;
            if replayed.has_failed {
                // One after the other, it shows which record it is.
                together = false;
                self.restart(tournament, setup);
            }
        }
        Ok(problems)
    }

    /// Lets the rules of a tournament start again. `setup` has what this needs afterwards.
    fn restart(&mut self, tournament: &str, setup: &mut Option<v1::TournamentSetup>) {
        if let Some(context) = self.forget(tournament) {
            setup.get_or_insert_with(|| context.wire().clone());
        }
    }

    fn forget(&mut self, tournament: &str) -> Option<Arc<TournamentContext>> {
        let mut known = self.tournaments.iter();
        let at = known.position(|it| it.tournament_id() == tournament)?;
        Some(self.tournaments.remove(at))
    }

    /// Draws the board of a record. Why there is none is for people.
    async fn draw(&mut self, job: v1::ReplayJob, plies: u64) -> v1::ReplayVerdict {
        let tournament = job.tournament_id;
        let board = match self.context(&tournament, job.setup.as_ref()).await {
            Ok(context) => {
                let of = Arc::clone(&context);
                let record = job.records.into_iter().next().unwrap_or_default().record;
                let drawn = task::spawn_blocking(move || {
                    let record = GameRecord::try_from(&record.unwrap_or_default());
                    let record = record.map_err(|error| error.to_string())?;
                    Ok::<_, String>(of.board_after(&record, plies))
                });
                let drawn = drawn.await;
                if context.rules_failure().is_some() {
                    self.forget(&tournament);
                }
                drawn.unwrap_or_else(|error| Err(error.to_string()))
            }
            Err(error) => Err(error),
        };
        v1::ReplayVerdict {
            job_id: job.job_id,
            board: Some(board.unwrap_or_else(rules::without)),
            ..Default::default()
        }
    }

    /// The tournament of a job with its rules, which are started if they are not known.
    async fn context(
        &mut self,
        tournament: &str,
        setup: Option<&v1::TournamentSetup>,
    ) -> Result<Arc<TournamentContext>, String> {
        if let Some(context) = self.forget(tournament) {
            self.tournaments.push(Arc::clone(&context));
            return Ok(context);
        }
        let missing = || "the coordinator sent no setup with a package".to_owned();
        let setup = setup.ok_or_else(missing)?;
        let rules = setup.rules.as_ref().ok_or_else(missing)?;
        let package = rules.package.as_ref().ok_or_else(missing)?;
        let program = self.binaries.provide(package).await;
        let program = program.map_err(|error| error.to_string())?;
        let source = RulesSource::of_rules(program, package, rules);
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

/// Why records were not replayed.
struct Unable {
    reason: String,
    /// True if the rules contradict themselves.
    is_of_rules: bool,
}

impl From<String> for Unable {
    fn from(reason: String) -> Self {
        Self {
            reason,
            is_of_rules: false,
        }
    }
}

/// What replayed records showed.
#[derive(Default)]
struct Replayed {
    problems: Vec<v1::ReplayProblem>,
    /// True if the rules failed, so that they have to be started again.
    has_failed: bool,
    /// The records that were not replayed.
    left: Vec<v1::RecordToReplay>,
}

/// The error if a failure says nothing of records: the rules contradict themselves, or this machine
/// lacks something.
fn no_verdict(failure: &RulesFailure) -> Result<(), Unable> {
    let is_of_rules = failure.cause == RulesCause::Purity;
    match is_of_rules || failure.is_absence() {
        true => Err(Unable {
            reason: failure.message.clone(),
            is_of_rules,
        }),
        false => Ok(()),
    }
}

/// The events of a record; none if it cannot be read.
fn events_of(record: &v1::RecordToReplay) -> Vec<Event> {
    let record = record.record.as_ref().map(GameRecord::try_from);
    record
        .and_then(Result::ok)
        .map_or_else(Vec::new, |it| it.events)
}

/// Replays records until the rules fail: the worker that played such a game met no failure, so its
/// record cannot have happened. The error is one of this machine, or of rules that contradict
/// themselves. `together`: the rules are asked about all records at once; if they fail, none counts as
/// replayed.
fn replay_some(
    context: &TournamentContext,
    records: Vec<v1::RecordToReplay>,
    together: bool,
) -> Result<Replayed, Unable> {
    let game = context.replayed_game();
    let verifier = RecordVerifier::new(context.header(), game);
    let verifier = verifier.map_err(|error| error.to_string())?;
    let plies = context.wire().play.unwrap_or_default().opening_plies;
    let mut line = String::new();
    let mut replayed = Replayed::default();
    if together {
        let events: Vec<Vec<Event>> = records.iter().map(events_of).collect();
        game.prepare(&events.iter().map(Vec::as_slice).collect::<Vec<_>>());
        if let Some(failure) = context.rules_failure() {
            no_verdict(&failure)?;
            replayed.has_failed = true;
            replayed.left = records;
            return Ok(replayed);
        }
    }
    let mut records = records.into_iter();
    for v1::RecordToReplay { record, from_book } in records.by_ref() {
        let record = record.ok_or_else(|| "the coordinator sent no record".to_owned())?;
        let record = GameRecord::try_from(&record).map_err(|error| error.to_string())?;
        let verified = verifier.verify(&record, game, &mut line);
        let begins = match &verified {
            Ok(()) if !from_book => record.has_drawn_opening(game, plies),
            _ => Ok(true),
        };
        let failure = context.rules_failure();
        let has_failed = failure.is_some();
        failure.as_ref().map_or(Ok(()), no_verdict)?;
        let mut problem = match (verified, begins) {
            _ if has_failed => failure.map(|it| it.message).unwrap_or_default(),
            // Failures of the machine alone are not kept.
            (
                Err(VerifyError::Replay(ReplayError {
                    problem: ReplayProblem::Failed(failure),
                    ..
                })),
                _,
            )
            | (_, Err(failure)) => return Err(failure.into()),
            (Err(error), _) => error.to_string(),
            (Ok(()), Ok(true)) => continue,
            (Ok(()), Ok(false)) => {
                "it does not start with the opening that its seed draws".to_owned()
            }
        };
        problem.truncate(problem.floor_char_boundary(PROBLEM_BYTES_MAX));
        let index = record.index;
        replayed.problems.push(v1::ReplayProblem { index, problem });
        if has_failed {
            replayed.has_failed = true;
            break;
        }
    }
    replayed.left = records.collect();
    Ok(replayed)
}
