//! The program `arena`: coordinator, worker, agents of the papers, and all user commands. A program
//! of your own is `arena` with rulesets of your own, see [`with_rulesets!`].

mod commands;
mod config;
#[cfg(test)]
mod settings_tests;

use std::{ffi::OsString, process::ExitCode, sync::LazyLock};

use arena_client::{access, embedded, failure, ids, output, progress, signals, workers};
use arena_telemetry::logs;
use clap::{CommandFactory, FromArgMatches, Parser};

pub use arena_engine as engine;
pub use arena_games::{AddedRuleset, Reader, Ruleset, RulesetInfo};

use commands::Command;
use failure::{Failure, Outcome};

/// The version, with the commit if the build was given one in ARENA_COMMIT.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let version = env!("CARGO_PKG_VERSION");
    match option_env!("ARENA_COMMIT") {
        None | Some("") => version.to_owned(),
        Some(commit) => format!("{version} ({commit})"),
    }
});

/// A tournament server for game-playing agents
///
/// Register agents in any language, play tournaments on any number of workers,
/// and play any game again from its seed.
#[derive(Debug, Parser)]
#[command(
    name = "arena",
    version = VERSION.as_str(),
    max_term_width = 100,
    subcommand_required = true
)]
#[command(after_help = "\
Examples:
  arena demo                                  play a small tournament
  arena run cowry.toml                        run a tournament on this machine
  arena play --ruleset cowry --seed 0x5eed --seats random,aggressive --watch
  arena agent register mine --binary ./my-agent
  arena standings demo-3f9a0c1b22 --output json

Exit codes: 0 success, 1 failure, 2 wrong input, 3 a comparison or verification
failed, 4 a service or an agent cannot be reached, 130 interrupted.")]
struct Cli {
    #[command(subcommand)]
    command: Command,

    /// Log filter: error, warn, info, debug, trace, or filters such as
    /// arena_worker=debug; logs go to stderr
    #[arg(
        long,
        global = true,
        env = "ARENA_LOG",
        default_value = "warn",
        value_name = "FILTER",
        help_heading = "Logging"
    )]
    log: String,

    /// Read settings from a TOML file: a table for each command, such as [worker] or
    /// [paper.run], with its flags as keys. Flags and environment variables take
    /// precedence
    #[arg(long, global = true, env = "ARENA_CONFIG", value_name = "FILE")]
    config: Option<std::path::PathBuf>,

    /// Log format
    #[arg(long, global = true, env = "ARENA_LOG_FORMAT", default_value = "text", value_name = "FORMAT", value_parser = ["text", "json"], help_heading = "Logging")]
    log_format: String,
}

/// Runs `arena` with the rulesets of these types, which implement [`Ruleset`], and returns its exit
/// code. It is the whole `main` of a program:
///
/// ```no_run
/// # type MyGame = arena_games::Kalah;
/// fn main() -> std::process::ExitCode {
///     arena::with_rulesets!(MyGame)
/// }
/// ```
#[macro_export]
macro_rules! with_rulesets {
    ($($game:ty),+ $(,)?) => {
        $crate::run(vec![$($crate::ruleset::<$game>()),+])
    };
}

/// A ruleset whose games are played as fast as those of a built-in one: the loops of a worker and the bots
/// for any ruleset are compiled for its type.
#[must_use]
pub fn ruleset<G: Ruleset>() -> AddedRuleset {
    arena_agents::add_game::<G>();
    let ruleset = AddedRuleset::of::<G>();
    arena_client::bench::rules::measure_typed::<G>(arena_worker::play_typed::<G>(ruleset))
}

/// Runs the command of this process with further rulesets. Returns its exit code.
#[must_use]
pub fn run(rulesets: Vec<AddedRuleset>) -> ExitCode {
    // What a worker starts for each agent process starts often and needs none of the rest.
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|word| word == "agent") {
        match arguments.next() {
            Some(word) if word == "guard" => return arena_worker::guard::main(arguments),
            Some(word) if word == "uci" => return serve_uci(arguments.skip(1)),
            _ => {}
        }
    }
    disable_core_files();
    let added = arena_games::add_rulesets(rulesets).map_err(Failure::usage);
    let outcome = added.and_then(|()| parse()).and_then(|cli| {
        let format = match cli.log_format.as_str() {
            "json" => logs::Format::Json,
            _ => logs::Format::Text,
        };
        logs::init(format, &cli.log).map_err(Failure::usage)?;
        cli.command.run(Cli::command())
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => output::report(&failure),
    }
}

/// Runs `arena agent uci -- ENGINE [ARGS]…`: a UCI engine as an agent that speaks lines.
fn serve_uci(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let program = arguments.next().unwrap_or_default();
    let (input, output) = (std::io::stdin().lock(), std::io::stdout().lock());
    match arena_uci::serve(program, arguments.collect(), input, output) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => output::report(&Failure::failed(error)),
    }
}

/// Lets a crash write no core file, which would contain tokens and keys. The hard limit stays, so that
/// a user can allow one with `prlimit`.
fn disable_core_files() {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};
    if let Ok((_, hard)) = getrlimit(Resource::RLIMIT_CORE) {
        // A lower limit is always allowed.
        let _ = setrlimit(Resource::RLIMIT_CORE, 0, hard);
    }
}

fn parse() -> Outcome<Cli> {
    let mut command = Cli::command();
    let arguments: Vec<_> = std::env::args_os().collect();
    if let Some(file) = config::named(&arguments) {
        command = config::apply(command, file.as_ref())?;
    }
    let matches = command.get_matches_from(arguments);
    Cli::from_arg_matches(&matches).map_err(Failure::usage)
}
