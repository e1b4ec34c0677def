//! The commands, one module each.

pub(crate) mod agent;
mod audit;
mod bench;
pub(crate) mod completions;
mod coordinator;
mod demo;
mod evolve;
mod expect;
pub(crate) mod export;
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
mod tournament;
mod worker;

use std::future::Future;

use clap::Subcommand;

use crate::failure::{Failure, Outcome};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a small example tournament with real agent processes
    Demo(demo::DemoArgs),
    /// Run a tournament here: coordinator, workers and agents in one command
    Run(run::RunArgs),
    /// Evolve an agent's numeric options; each generation is a tournament
    Evolve(evolve::EvolveArgs),
    /// Start a coordinator, which schedules games and stores results
    Coordinator(coordinator::CoordinatorArgs),
    /// Start a worker, which plays games for a coordinator
    Worker(worker::WorkerArgs),
    /// Register, check, list and serve agents
    #[command(subcommand)]
    Agent(agent::AgentCommand),
    /// Plan, start, list, watch, pause, resume and cancel tournaments
    #[command(subcommand)]
    Tournament(tournament::TournamentCommand),
    /// Show the standings of a tournament
    Standings(standings::StandingsArgs),
    /// List, show, replay and rerun games of a tournament
    #[command(subcommand)]
    Game(game::GameCommand),
    /// List audited games whose replay differed
    #[command(subcommand)]
    Audit(audit::AuditCommand),
    /// Play one game, given a ruleset, a seed and the seats
    Play(play::PlayArgs),
    /// List the rulesets with their options
    #[command(alias = "games")]
    Rulesets(rulesets::RulesetsArgs),
    /// List the tournament formats with their settings
    Formats(formats::FormatsArgs),
    /// Reproduce the published tables of the papers and compare
    #[command(subcommand)]
    Paper(paper::PaperCommand),
    /// Export the games of a tournament, in order
    Export(export::ExportArgs),
    /// Write a report (HTML, Markdown or JUnit)
    Report(report::ReportArgs),
    /// Verify, back up and restore a data folder
    #[command(subcommand)]
    Store(store::StoreCommand),
    /// Check the health of a coordinator or worker
    Health(health::HealthArgs),
    /// Measure the speed of rules, agents and workers on this machine
    Bench(bench::BenchArgs),
    /// Print a completion script for a shell
    Completions(completions::CompletionsArgs),
    /// Write the manual pages of all commands
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
            Self::Standings(args) => block_on(args.run()),
            Self::Game(command) => block_on(command.run()),
            Self::Audit(command) => block_on(command.run()),
            Self::Play(args) => block_on(args.run()),
            Self::Rulesets(args) => args.run(),
            Self::Formats(args) => args.run(),
            Self::Paper(command) => block_on(command.run()),
            Self::Export(args) => block_on(args.run()),
            Self::Report(args) => block_on(args.run()),
            Self::Store(command) => command.run(),
            Self::Health(args) => args.run(),
            Self::Bench(args) => block_on(args.run()),
            Self::Completions(args) => args.run(all),
            Self::Man(args) => args.run(all),
        }
    }
}

/// Runs a command on one thread: on small machines a second runtime thread costs more than
/// it gains.
fn block_on(work: impl Future<Output = Outcome>) -> Outcome {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::failed(format!("cannot start the runtime: {error}")))?
        .block_on(work)
}
