//! `arena agent …`

mod check;
mod list;
mod new;
pub(crate) mod register;
mod serve;

use clap::Subcommand;

use crate::failure::Outcome;

/// Make, register, check, list and serve agents
#[derive(Debug, Subcommand)]
pub(crate) enum AgentCommand {
    /// Make an agent in a folder: a short policy, which plays at once, and a check script
    #[command(after_help = "\
The agent needs no packages. ./check in its folder builds the agent, if the language needs
it, and runs arena agent check.

Examples:
  arena agent new --lang python my-agent
  arena agent new --lang rust --name deep ./agents/deep-search")]
    New(new::NewArgs),
    /// Register an agent: a binary that workers download and start, an endpoint that runs
    /// elsewhere, or a built-in bot with options
    #[command(after_help = "\
A binary is any executable that listens on the address in ARENA_LISTEN and serves
arena.v1.AgentService. This command starts it once to query its bots, and uploads it
to the coordinator. A built-in bot with options can also be an [[agent]] table in the
spec of a tournament, without registration.

Examples:
  arena agent register mine --binary ./my-agent
  arena agent register mine-d8 --binary ./my-agent --bot deep --option depth=8 -- --threads 1
  arena agent register far --endpoint http://10.0.0.7:5000
  arena agent register fish --uci /usr/games/stockfish --option skill_level=5
  arena agent register mcts --openspiel mcts --option max_simulations=500
  arena agent register oware-d5 --bot oware-minimax --option depth=5
  arena evolve evolve.toml --champion champion.toml
  arena agent register --fragment champion.toml")]
    Register(register::RegisterArgs),
    /// Check an agent in steps: play test games as a worker would, and report faults and
    /// wrong claims
    #[command(after_help = "\
The agent runs as on a worker: only its registered content, in an empty folder. The
agent plays every ruleset that it offers, with every preset and number of seats, in
two processes. Then it answers single questions and batches with other options,
unknown fields and many decisions, and is ended. agents/PROTOCOL.md lists the steps.
The exit code is 3 if a step fails.

Examples:
  arena agent check ./my-agent
  arena agent check ./my-agent --ruleset cowry -- --threads 1
  arena agent check --uci /usr/games/stockfish
  arena agent check --endpoint unix:/tmp/my.sock --ruleset kalah")]
    Check(check::CheckArgs),
    /// List all agents, registered and built-in
    List(list::ListArgs),
    /// Show an agent with its bots and their options
    #[command(after_help = "\
Examples:
  arena agent show mcts
  arena agent show oware-minimax --output csv      a line for each option
  arena agent show mine --output json")]
    Show(list::ShowArgs),
    /// Remove a registration; games are kept
    Remove(list::RemoveArgs),
    /// Serve the built-in agents as an agent process
    #[command(after_help = "\
Examples:
  ARENA_LISTEN=127.0.0.1:5000 arena agent serve
  arena agent serve --listen unix:/tmp/papers.sock")]
    Serve(serve::ServeArgs),
}

impl AgentCommand {
    pub(crate) async fn run(self) -> Outcome {
        match self {
            Self::New(args) => args.run().await,
            Self::Register(args) => args.run().await,
            Self::Check(args) => args.run().await,
            Self::List(args) => args.run().await,
            Self::Show(args) => args.run().await,
            Self::Remove(args) => args.run().await,
            Self::Serve(args) => args.run().await,
        }
    }
}
