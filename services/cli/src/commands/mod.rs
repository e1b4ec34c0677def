//! The commands, one module each.

pub(crate) mod agent;
mod audit;
mod bench;
mod book;
pub(crate) mod completions;
mod coordinator;
mod demo;
mod doctor;
mod events;
mod evolve;
mod expect;
mod export;
mod formats;
mod game;
mod health;
mod options;
mod paper;
mod play;
mod report;
mod rulesets;
mod run;
mod set;
mod standings;
mod store;
mod tls;
mod token;
mod tournament;
mod worker;

use std::future::Future;

use clap::Subcommand;

use crate::failure::{Failure, Outcome};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Demo(demo::DemoArgs),
    Run(run::RunArgs),
    Evolve(evolve::EvolveArgs),
    Coordinator(coordinator::CoordinatorArgs),
    Worker(worker::WorkerArgs),
    #[command(subcommand)]
    Agent(agent::AgentCommand),
    #[command(subcommand)]
    Tournament(tournament::TournamentCommand),
    Standings(standings::StandingsArgs),
    #[command(subcommand)]
    Game(game::GameCommand),
    #[command(subcommand)]
    Audit(audit::AuditCommand),
    Play(play::PlayArgs),
    #[command(alias = "games")]
    Rulesets(rulesets::RulesetsArgs),
    Formats(formats::FormatsArgs),
    #[command(subcommand)]
    Paper(paper::PaperCommand),
    Export(export::ExportArgs),
    Report(report::ReportArgs),
    #[command(subcommand)]
    Store(store::StoreCommand),
    #[command(subcommand)]
    Token(token::TokenCommand),
    #[command(subcommand)]
    Events(events::EventsCommand),
    #[command(subcommand)]
    Tls(tls::TlsCommand),
    Health(health::HealthArgs),
    Doctor(doctor::DoctorArgs),
    Bench(bench::BenchArgs),
    Completions(completions::CompletionsArgs),
    Man(completions::ManArgs),
}

impl Command {
    /// Runs the command; `all` is the complete command line, for completions and manual
    /// pages.
    pub(crate) fn run(self, all: clap::Command) -> Outcome {
        match self {
            Self::Demo(args) => block_on(args.run()),
            Self::Run(args) => block_on(args.run()),
            Self::Evolve(args) => block_on(args.run()),
            Self::Coordinator(args) => block_on(args.run()),
            Self::Worker(args) => block_on(args.run()),
            Self::Agent(command) => block_on(command.run()),
            Self::Tournament(command) => block_on(command.run()),
            Self::Token(command) => block_on(command.run()),
            Self::Events(command) => block_on(command.run()),
            Self::Tls(command) => command.run(),
            Self::Standings(args) => block_on(args.run()),
            Self::Game(command) => block_on(command.run()),
            Self::Audit(command) => block_on(command.run()),
            Self::Play(args) => block_on(args.run()),
            Self::Rulesets(args) => block_on(args.run()),
            Self::Formats(args) => args.run(),
            Self::Paper(command) => block_on(command.run()),
            Self::Export(args) => block_on_two(args.run()),
            Self::Report(args) => block_on(args.run()),
            Self::Store(command) => command.run(),
            Self::Health(args) => args.run(),
            Self::Doctor(args) => block_on(args.run()),
            Self::Bench(args) => block_on(args.run()),
            Self::Completions(args) => args.run(all),
            Self::Man(args) => args.run(all),
        }
    }
}

/// Runs a command on one thread: on small machines a second runtime thread costs more than
/// it gains.
fn block_on<T>(work: impl Future<Output = Outcome<T>>) -> Outcome<T> {
    run(work, tokio::runtime::Builder::new_current_thread())
}

/// Runs a command that reads very many games: another thread fetches some while this one uses others.
fn block_on_two<T>(work: impl Future<Output = Outcome<T>>) -> Outcome<T> {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.worker_threads(1);
    run(work, runtime)
}

fn run<T>(
    work: impl Future<Output = Outcome<T>>,
    mut runtime: tokio::runtime::Builder,
) -> Outcome<T> {
    let runtime = runtime
        .enable_all()
        .build()
        .map_err(|error| Failure::failed(format!("cannot start the runtime: {error}")))?;
    let outcome = runtime.block_on(work);
    // A thread that waits for standard input would keep a failed command from ending.
    runtime.shutdown_background();
    outcome
}
