//! `arena agent …`

mod check;
mod list;
mod register;
mod serve;

use std::{ffi::OsString, process::ExitCode};

use clap::Subcommand;

use crate::failure::Outcome;

/// Register, check, list and serve agents
#[derive(Debug, Subcommand)]
pub(crate) enum AgentCommand {
    /// Register an agent: a binary that workers fetch and start, an endpoint
    /// that runs elsewhere, or a bot with options of its own
    #[command(after_help = "\
A binary is any executable file: it listens where ARENA_LISTEN says and answers
arena.v1.AgentService. It is started here once to ask what it offers, and kept
by the coordinator. Listen on loopback only: to register a binary is to run code.
A bot with options of its own can also be an [[agent]] table in the spec of a
tournament, without registration; such a table alone in a file is a --fragment.

Examples:
  arena agent register mine --binary ./my-agent
  arena agent register mine-d8 --binary ./my-agent --bot deep --option depth=8 -- --threads 1
  arena agent register far --endpoint http://10.0.0.7:5000
  arena agent register oware-d5 --bot oware-minimax --option depth=5
  arena evolve evolve.toml --champion champion.toml
  arena agent register --fragment champion.toml")]
    Register(register::RegisterArgs),
    /// Play an agent as workers do, and report its faults and false claims
    #[command(after_help = "\
What is checked is what would be registered: its content alone, started in an empty
folder. It plays each ruleset that it offers, with every preset and number of seats,
in two processes. Exits with 3 where it makes a fault, offers a ruleset that does not
exist, or is not as deterministic as it says.

Examples:
  arena agent check ./my-agent
  arena agent check ./my-agent --ruleset cowry -- --threads 1
  arena agent check --endpoint unix:/tmp/my.sock --ruleset kalah")]
    Check(check::CheckArgs),
    /// List all agents, those of the papers included
    List(list::ListArgs),
    /// Show one agent with its bots and their options
    #[command(after_help = "\
Examples:
  arena agent show mcts
  arena agent show oware-minimax --output csv      a line for each option
  arena agent show mine --output json")]
    Show(list::ShowArgs),
    /// Remove a registration; its games stay
    Remove(list::RemoveArgs),
    /// Serve the agents of the papers as a process, as workers do
    #[command(after_help = "\
Examples:
  ARENA_LISTEN=127.0.0.1:5000 arena agent serve
  arena agent serve --listen unix:/tmp/papers.sock")]
    Serve(serve::ServeArgs),
}

impl AgentCommand {
    pub(crate) async fn run(self) -> Outcome {
        match self {
            Self::Register(args) => args.run().await,
            Self::Check(args) => args.run().await,
            Self::List(args) => args.run().await,
            Self::Show(args) => args.run().await,
            Self::Remove(args) => args.run().await,
            Self::Serve(args) => args.run().await,
        }
    }
}

/// `arena agent guard`: what a worker puts around each agent process.
pub(crate) fn guard(arguments: Vec<OsString>) -> ExitCode {
    arena_worker::guard::main(arguments)
}
