//! Serves the agents of the papers over gRPC.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use arena_agents::serve::{ServeBotsError, serve};
use arena_sdk::{Listen, ListenError, ServeError};
use clap::Parser;

const EXAMPLES: &str = "\
Examples:
  arena-agents                                        any free port
  arena-agents --listen 127.0.0.1:7100                this port
  arena-agents --listen unix:/tmp/bots.sock --bot random --bot aggressive

The first line on standard output is {\"listen\":\"…\"}. Exit codes: 0 when asked
to stop, 2 where an argument is wrong, 1 where something else failed.";

/// Serve the agents of the papers over gRPC
#[derive(Parser)]
#[command(version, about, after_help = EXAMPLES)]
struct Arguments {
    /// Where to listen: unix:PATH or HOST:PORT; port 0 takes any free one
    #[arg(
        long,
        value_name = "ADDRESS",
        env = arena_sdk::LISTEN_VARIABLE,
        default_value_t = Listen::default()
    )]
    listen: Listen,
    /// Offer this bot; may be repeated, and the first is the default one [default: all]
    #[arg(long = "bot", value_name = "BOT")]
    bots: Vec<String>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // If standard error is closed, the message is lost.
            let _ = writeln!(io::stderr(), "error: {error}");
            match error {
                ServeBotsError::Bot(_)
                | ServeBotsError::Serve(ServeError::Listen(ListenError::Address(_))) => {
                    ExitCode::from(2)
                }
                ServeBotsError::Serve(_) => ExitCode::FAILURE,
            }
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), ServeBotsError> {
    // One thread: a second would cost more per call than it saves.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(ServeError::from)?;
    runtime.block_on(serve(&arguments.listen, &arguments.bots))
}
