//! `arena game …`

mod list;
mod rerun;

use std::{path::PathBuf, time::Duration};

use arena_client::{
    game::{
        boards::{start_package, watched_package},
        fetch::fetch,
        printed,
        replay::{replay_file, replay_stored},
        seen,
        show::{print_details, print_record, print_short},
        watch::{Watch, delay},
    },
    rerun::Programs,
};
use arena_report::records::{self, TournamentRecords};
use clap::{Args, Subcommand};

use crate::{
    access::{Access, AccessArgs},
    failure::{Failure, Outcome},
    output::{Format, note},
};

/// List, show, replay and rerun games of a tournament
#[derive(Debug, Subcommand)]
pub(crate) enum GameCommand {
    List(list::ListArgs),
    /// Show one game, event by event
    #[command(after_help = "\
Examples:
  arena game show demo-3f9a0c1b22/17
  arena game show demo-3f9a0c1b22/17 --watch
  arena game show @last/17 --watch --delay 500ms
  arena game show demo-3f9a0c1b22/17 --output-of 0
  arena game show demo-3f9a0c1b22/17 --seat 1
  arena game show demo-3f9a0c1b22/17 --output json > game.json")]
    Show(ShowArgs),
    /// Replay a record and check its dice, result and hash, without agents
    #[command(after_help = "\
The exit code is 3 if the record is not valid, also if the package of its rules fails.
If that package does not start here, the exit code is 4.

Examples:
  arena game replay demo-3f9a0c1b22/17
  arena game replay --file game.json")]
    Replay(ReplayArgs),
    /// Play a game again from its seed, with its agents, and compare the records
    #[command(after_help = "\
If the records differ, the command prints the first ply that differs, and the exit
code is 3, also if the package of the rules fails or does not allow the game any more.
If an agent cannot be reached, or the rules do not start here, the exit code is 4.
With --file, the record names the ruleset, the seed, the opening, and each agent's
bot, options and program. The programs of registered agents come from --agent, --data
or --coordinator, registered rulesets from --data or --coordinator.

Examples:
  arena game rerun demo-3f9a0c1b22/17
  arena game rerun --file game.json
  arena game rerun --file games.jsonl --agent greedy-py=./greedy.py")]
    Rerun(rerun::RerunArgs),
}

/// How a game is followed.
#[derive(Clone, Debug, Args)]
pub(crate) struct WatchArgs {
    /// Draw the board before every move. On a terminal, keys step through the game:
    /// space, enter or right for the next move, left for the previous move, q to quit
    #[arg(long)]
    watch: bool,

    /// Step automatically after this time, such as 500ms or 2s
    #[arg(long, value_name = "DURATION", requires = "watch", value_parser = delay)]
    delay: Option<Duration>,
}

impl From<&WatchArgs> for Watch {
    fn from(args: &WatchArgs) -> Self {
        Self {
            watch: args.watch,
            delay: args.delay,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Id of the game: TOURNAMENT/INDEX, such as @last/17
    game: String,

    #[command(flatten)]
    access: AccessArgs,

    #[command(flatten)]
    watch: WatchArgs,

    /// Print the output of the agent at this seat, or of this name, instead of the game.
    /// Arena keeps the output of games with a fault (the last output of the process), and
    /// of games that a process played alone, as on a worker with --capacity 1
    #[arg(long, value_name = "SEAT|AGENT", conflicts_with_all = ["watch", "output"])]
    output_of: Option<String>,

    /// Show what this seat, or the agent of this name, saw at each of its decisions: the
    /// board, or the position that the rules of a package write for it, computed again from
    /// the record. Moves that the agent was not asked for are left out
    #[arg(long, value_name = "SEAT|AGENT", conflicts_with_all = ["watch", "delay", "output_of"])]
    seat: Option<String>,

    /// Output format; json prints the game's record
    #[arg(long, value_enum, default_value_t)]
    output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// Id of the game: TOURNAMENT/INDEX, such as @last/17
    #[arg(required_unless_present = "file", conflicts_with = "file")]
    game: Option<String>,

    /// File with records, one per line, as `arena export` writes them; - reads stdin
    #[arg(long, value_name = "RECORD")]
    file: Option<PathBuf>,

    #[command(flatten)]
    access: AccessArgs,

    /// Output format; json prints the game's record
    #[arg(long, value_enum, default_value_t)]
    output: Format,
}

impl GameCommand {
    pub(crate) async fn run(self) -> Outcome {
        match self {
            Self::List(args) => args.run().await,
            Self::Show(args) => {
                let mut access = args.access.open().await?;
                let outcome = args.show(&mut access).await;
                outcome.and(access.close().await)
            }
            Self::Replay(args) => match &args.file {
                Some(file) => replay_file(file, args.output),
                None => {
                    let mut access = args.access.open().await?;
                    let id = args.game.as_deref().unwrap_or_default();
                    let outcome = replay_stored(&mut access, id, args.output).await;
                    outcome.and(access.close().await)
                }
            },
            Self::Rerun(args) => args.run().await,
        }
    }
}

impl ShowArgs {
    async fn show(&self, access: &mut Access) -> Outcome {
        let mut game = fetch(&mut access.client, &self.game).await?;
        let setup = game.setup.take().unwrap_or_default();
        let rules = TournamentRecords::new(&setup)?;
        let record = records::record(game.record.as_ref())?;
        if let Some(seat) = &self.output_of {
            return printed::print(&self.game, &setup, &record, &game, seat);
        }
        if let Some(seat) = &self.seat {
            if setup.hash_only {
                return Err(Failure::usage(records::not_kept(
                    &setup.tournament_id,
                    &self.game,
                )));
            }
            let seat = printed::find_seat(&self.game, &setup, &record, seat)?;
            let package = match setup.rules {
                Some(_) => Some(start_package(&setup, Programs::new(&[], Some(access))?).await?),
                None => None,
            };
            let package = package.as_ref().map(AsRef::as_ref);
            return seen::print(&rules, &setup, &record, seat, self.output, package);
        }
        if setup.hash_only {
            print_short(&rules, &record, self.output)?;
            note(records::not_kept(&setup.tournament_id, &self.game));
        } else {
            let watch = Watch::from(&self.watch);
            let programs = Programs::new(&[], Some(access))?;
            let package = watched_package(&setup, programs, self.output, watch).await;
            print_record(
                &rules,
                &record,
                self.output,
                watch,
                package.as_ref().map(AsRef::as_ref),
            )?;
        }
        if self.output == Format::Table {
            print_details(&setup, &record, &game.fault_details);
        }
        Ok(())
    }
}
