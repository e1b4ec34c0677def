//! Games without a coordinator, and queries of an agent without a game.

use std::{io, sync::Arc, time::Duration};

use arena_engine::{AnyGame, FaultKind};
use arena_model::{
    GameRecord, RecordHeader,
    record::{RecordVerifier, VerifyError},
};
use arena_telemetry::{MetricsError, Registry, WorkerMetrics};
use arena_wire::{
    convert::ConvertError,
    v1::{self, agent_setup},
};
use tokio::time;
use tonic::{Code, codegen::BoxFuture};

use crate::{
    agent::connection::{AgentConnection, Down, Source, Start},
    context::{SetupError, TournamentContext},
    driver::{Drivers, GivenUp},
    environment::{AgentOptions, BinaryError, BinaryProvider, Environment, Provided},
    native::Pool,
    rules::{RulesFailure, RulesHost, RulesService, RulesSource},
    runtime::on_own_thread,
};

/// Maximum time for an agent to describe itself.
const DESCRIBE: Duration = Duration::from_secs(10);

/// A finished game.
#[derive(Clone, Debug)]
pub struct Played {
    /// Its record, with its hash.
    pub record: GameRecord,
    /// Writes its line.
    pub header: RecordHeader,
    /// Start and duration; latencies if timing is strict.
    pub timing: v1::GameTiming,
    /// Details of its faults, in order.
    pub fault_details: Vec<v1::FaultDetail>,
}

/// Why a game could not be played.
#[derive(Debug, thiserror::Error)]
pub enum PlayError {
    /// This program cannot play the setup.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// No agent is at fault.
    #[error("the game could not be played: {0}")]
    Void(String),
    /// The package of the rules is at fault.
    #[error("{0}")]
    Rules(RulesFailure),
    /// This program made a record that it cannot read.
    #[error(transparent)]
    Convert(#[from] ConvertError),
    /// This program played a game that its rules do not allow.
    #[error("the game cannot be replayed: {0}")]
    Replay(#[from] VerifyError),
    /// Metrics could not be registered.
    #[error(transparent)]
    Metrics(#[from] MetricsError),
    /// Threads could not be started.
    #[error("cannot start threads: {0}")]
    Io(#[from] io::Error),
}

/// Plays one game. It may run on any runtime; dropping the future ends the game and the agents'
/// processes.
///
/// # Errors
/// [`PlayError`]; a fault of an agent is no error.
pub fn play_one(
    setup: v1::TournamentSetup,
    game: v1::GameAssignment,
    binaries: Arc<dyn BinaryProvider>,
    options: AgentOptions,
) -> BoxFuture<Played, PlayError> {
    Box::pin(async move {
        let options = AgentOptions {
            threads: 1,
            drivers: 1,
            ..options
        };
        let rules = rules_of(&setup, &*binaries, &options).await?;
        let context = TournamentContext::new(setup.clone(), rules.clone())?;
        let reports = play_all(setup, rules.clone(), vec![game], 1, binaries, options).await?;
        // Of a game without a result, no agent is at fault.
        if let Some(failure) = rules.and_then(|rules| rules.failure()) {
            return Err(PlayError::Rules(failure));
        }
        let report = reports.into_iter().next().unwrap_or_default();
        if !report.void_reason.is_empty() {
            return Err(PlayError::Void(report.void_reason));
        }
        Ok(Played {
            record: GameRecord::try_from(&report.record.unwrap_or_default())?,
            header: context.header().clone(),
            timing: report.timing.unwrap_or_default(),
            fault_details: report.fault_details,
        })
    })
}

/// Plays games, at most `at_once` at a time. Returns their reports in the order in which they
/// end. It may run on any runtime; dropping the future ends the games and the agents' processes.
///
/// # Errors
/// [`PlayError`]. Neither a fault of an agent nor a game that could not be played is an error;
/// the report of such a game names the reason.
pub fn play_games(
    setup: v1::TournamentSetup,
    games: Vec<v1::GameAssignment>,
    at_once: usize,
    binaries: Arc<dyn BinaryProvider>,
    options: AgentOptions,
) -> BoxFuture<Vec<v1::GameReport>, PlayError> {
    Box::pin(async move {
        let rules = rules_of(&setup, &*binaries, &options).await?;
        play_all(setup, rules, games, at_once, binaries, options).await
    })
}

/// Replays a record with the package of its rules: the rules allow its events, the seed draws its
/// chance outcomes, and result and hash follow from them.
///
/// # Errors
/// [`PlayError::Replay`] if they do not, [`PlayError::Rules`] if the package fails.
pub async fn verify_record(
    setup: v1::TournamentSetup,
    record: &GameRecord,
    binaries: &dyn BinaryProvider,
    options: &AgentOptions,
) -> Result<(), PlayError> {
    let rules = rules_of(&setup, binaries, options).await?;
    let context = TournamentContext::new(setup, rules)?;
    let checked = context.header().verify(record, context.game());
    match context.rules_failure() {
        Some(failure) => Err(PlayError::Rules(failure)),
        None => checked.map_err(PlayError::Replay),
    }
}

/// The game of a setup whose rules are a package, with processes that answer for them as long as it
/// is used. It draws the boards of the package.
///
/// # Errors
/// [`PlayError::Setup`] if the package cannot be started here.
pub async fn package_game(
    setup: v1::TournamentSetup,
    binaries: &dyn BinaryProvider,
    options: &AgentOptions,
) -> Result<Arc<dyn AnyGame>, PlayError> {
    let rules = rules_of(&setup, binaries, options).await?;
    Ok(TournamentContext::new(setup, rules)?.shared_game())
}

/// What answers for the rules of a setup, if they are a package.
async fn rules_of(
    setup: &v1::TournamentSetup,
    binaries: &dyn BinaryProvider,
    options: &AgentOptions,
) -> Result<Option<Arc<dyn RulesService>>, SetupError> {
    let Some(rules) = &setup.rules else {
        return Ok(None);
    };
    let Some(package) = &rules.package else {
        return Ok(None);
    };
    let failed = |problem: String| SetupError::Package {
        ruleset: setup.ruleset.clone(),
        problem,
    };
    let program = binaries.provide(package).await;
    let program = program.map_err(|error| failed(error.to_string()))?;
    let source = RulesSource::of_rules(program, package, rules);
    let host = RulesHost::new(&setup.ruleset, source, options);
    Ok(Some(host.map_err(|error| failed(error.to_string()))?))
}

fn play_all(
    setup: v1::TournamentSetup,
    rules: Option<Arc<dyn RulesService>>,
    games: Vec<v1::GameAssignment>,
    at_once: usize,
    binaries: Arc<dyn BinaryProvider>,
    options: AgentOptions,
) -> BoxFuture<Vec<v1::GameReport>, PlayError> {
    Box::pin(async move {
        let context = TournamentContext::new(setup.clone(), rules.clone())?;
        games.iter().try_for_each(|game| context.check(game))?;
        let metrics = WorkerMetrics::new(&Registry::new(), [setup.ruleset.as_str()])?;
        let pool = Pool::new(options.threads())?;
        on_own_thread("games", move || async move {
            let count = options.drivers();
            let environment = Environment::new(options, binaries, Arc::new(metrics));
            let mut drivers = Drivers::on_threads(environment, pool, at_once, count);
            drivers.set_alone();
            let tournament = setup.tournament_id.clone();
            drivers.add_tournament(setup, rules)?;
            let mut reports = Vec::with_capacity(games.len());
            let wanted = games.len();
            drivers.add_lease(&tournament, 1, games, GivenUp::default());
            loop {
                reports.extend(drivers.take_done().into_iter().map(|done| done.report));
                if reports.len() >= wanted {
                    break;
                }
                drivers.work().await;
            }
            drivers.close().await;
            Ok(reports)
        })
        .await?
        .and_then(|mut reports: Vec<_>| {
            complete(&context, &mut reports)?;
            Ok(reports)
        })
    })
}

/// Adds luck and hash to records, as the coordinator does in a tournament.
fn complete(context: &TournamentContext, reports: &mut [v1::GameReport]) -> Result<(), PlayError> {
    let game = context.game();
    let verifier = RecordVerifier::new(context.header(), game)?;
    let mut line = String::new();
    let played = reports.iter_mut().filter(|it| it.void_reason.is_empty());
    for message in played.filter_map(|report| report.record.as_mut()) {
        let mut record = GameRecord::try_from(&*message)?;
        verifier.complete(&mut record, game, context.wire().luck, &mut line)?;
        message.hash = record.hash.to_vec();
        message.luck = record.luck;
    }
    Ok(())
}

/// Why an agent's description could not be queried.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct DescribeError {
    /// The fault that it would be in a game; none if this worker is at fault.
    pub kind: Option<FaultKind>,
    /// What happened.
    pub message: String,
    /// The agent's last output.
    pub stderr_tail: String,
}

impl DescribeError {
    pub(crate) fn ours(problem: impl ToString) -> Self {
        Self {
            kind: None,
            message: problem.to_string(),
            stderr_tail: String::new(),
        }
    }
}

impl From<Down> for DescribeError {
    fn from(down: Down) -> Self {
        match down {
            Down::Worker(problem) => Self::ours(problem),
            Down::Agent(fault_report) => Self {
                kind: Some(fault_report.kind),
                message: fault_report.message,
                stderr_tail: fault_report.tail,
            },
        }
    }
}

/// Starts or reaches an agent as in a game, queries its description, and ends it. An agent
/// without `Describe` has one bot without a name.
///
/// # Errors
/// [`DescribeError`].
pub fn describe(
    source: agent_setup::Source,
    binaries: Arc<dyn BinaryProvider>,
    options: AgentOptions,
) -> BoxFuture<v1::DescribeResponse, DescribeError> {
    Box::pin(async move {
        let metrics =
            WorkerMetrics::new(&Registry::new(), ["none"; 0]).map_err(DescribeError::ours)?;
        on_own_thread("describe", move || async move {
            let environment = Environment::new(options, binaries, Arc::new(metrics));
            let source = Source::of(source, &environment);
            let how = Start {
                name: "agent",
                own_cores: None,
            };
            let connection = AgentConnection::open(how, &source, &environment).await?;
            let described = ask(&connection).await;
            connection.close().await;
            described
        })
        .await
        .map_err(DescribeError::ours)?
    })
}

async fn ask(connection: &AgentConnection) -> Result<v1::DescribeResponse, DescribeError> {
    let answer = time::timeout(DESCRIBE, connection.link.describe()).await;
    let fault_report = match answer {
        Ok(Ok(answer)) => return Ok(answer),
        Ok(Err(status)) if status.code() == Code::Unimplemented => {
            return Ok(v1::DescribeResponse::default());
        }
        Ok(Err(status)) => connection.fault_report(&status).await,
        Err(_) => {
            let message = format!("Describe was not answered within {DESCRIBE:?}");
            connection.fault(FaultKind::Timeout, message)
        }
    };
    Err(Down::Agent(fault_report).into())
}

/// A provider for games without registered binaries.
#[derive(Clone, Copy, Debug)]
pub struct NoBinaries;

impl BinaryProvider for NoBinaries {
    fn provide<'a>(&'a self, binary: &'a v1::BinarySource) -> Provided<'a> {
        let problem = "there is no source of binaries".to_owned();
        let error = BinaryError::new(binary, problem);
        Box::pin(async { Err(error) })
    }
}
