//! `arena game …`, and the parts that `arena play` shares with it.

mod boards;
mod list;
mod printed;
mod rerun;
mod seen;
mod show;
mod watch;

use arena_report::records::{self, TournamentRecords};
use std::{
    fmt::Display,
    path::{Path, PathBuf},
};

use arena_model::{GameRecord, record::ParsedRecord};
use arena_wire::v1;
use arena_worker::{AgentOptions, verify_record};
use clap::{Args, Subcommand};

use crate::{
    access::{Access, AccessArgs, Client},
    failure::{Failure, Outcome},
    ids,
    output::{self, Format, note},
};

use boards::start_package;
pub(crate) use boards::{drawing_package, watched_package};
pub(crate) use show::{print_details, print_record};
pub(crate) use watch::WatchArgs;

use arena_client::rerun::{Programs, Text, again_failed, texts};

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
                Some(file) => args.replay_file(file),
                None => {
                    let mut access = args.access.open().await?;
                    let outcome = args.replay_stored(&mut access).await;
                    outcome.and(access.close().await)
                }
            },
            Self::Rerun(args) => args.run().await,
        }
    }
}

/// A finished game and its tournament's setup.
async fn fetch(client: &mut Client, id: &str) -> Outcome<v1::GetGameResponse> {
    let game_id = ids::game(client, id).await?;
    let _: arena_model::GameId = game_id.parse().map_err(Failure::usage)?;
    let request = v1::GetGameRequest {
        game_id,
        ..Default::default()
    };
    Ok(client.get_game(request).await?.into_inner())
}

/// A failure with the id of its game.
fn in_game(id: &str, failure: &Failure) -> Failure {
    Failure::new(failure.kind(), format!("game {id}: {failure}"))
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
            show::print_short(&rules, &record, self.output)?;
            note(records::not_kept(&setup.tournament_id, &self.game));
        } else {
            let programs = Programs::new(&[], Some(access))?;
            let package = watched_package(&setup, programs, self.output, &self.watch).await;
            print_record(
                &rules,
                &record,
                self.output,
                &self.watch,
                package.as_ref().map(AsRef::as_ref),
            )?;
        }
        if self.output == Format::Table {
            print_details(&setup, &record, &game.fault_details);
        }
        Ok(())
    }
}

impl ReplayArgs {
    async fn replay_stored(&self, access: &mut Access) -> Outcome {
        let id = self.game.as_deref().unwrap_or_default();
        let game = fetch(&mut access.client, id).await?;
        let setup = game.setup.unwrap_or_default();
        if setup.hash_only {
            return Err(Failure::usage(records::not_kept(&setup.tournament_id, id)));
        }
        let rules = TournamentRecords::new(&setup)?;
        let record = records::record(game.record.as_ref())?;
        let differs = |error: &dyn Display| Failure::differs(format!("game {id}: {error}"));
        rules.verify(&record).map_err(|failure| differs(&failure))?;
        if !rules.game.has_rules() {
            let programs = Programs::new(&[], Some(access))?;
            let options = AgentOptions::of_executable(std::env::current_exe()?).confined();
            let verified = verify_record(setup.clone(), &record, &*programs, &options).await;
            verified.map_err(|error| in_game(id, &again_failed(error)))?;
        }
        let line = rules.line(&record)?;
        self.tell(id, &record, &line)
    }

    fn replay_file(&self, file: &Path) -> Outcome {
        texts(file)?
            .iter()
            .try_for_each(|text| self.replay_text(text))
    }

    fn replay_text(&self, Text { place, text }: &Text) -> Outcome {
        let differs = |error: &dyn std::fmt::Display| Failure::differs(format!("{place}: {error}"));
        let parsed = ParsedRecord::parse(text).map_err(|error| differs(&error))?;
        let id = parsed.game_id();
        if !parsed.has_events() {
            return Err(Failure::usage(format!(
                "{place}: the line has no moves: use `arena game rerun --file`, which plays game \
                 {id} again and compares its hash"
            )));
        }
        let seats = parsed.seats().len();
        let (ruleset, version) = (parsed.ruleset(), parsed.rules_version());
        if let Some(digest) = parsed.rules_digest() {
            return Err(Failure::usage(format!(
                "{place}: the rules of {ruleset} are a package with the content {}: replay the game by \
                 its id, with --data or --coordinator of a store that has it",
                &digest[..12]
            )));
        }
        let given = parsed.options();
        let (options, seats) = arena_games::resolve_version(ruleset, version, given, Some(seats))
            .map_err(|error| differs(&error))?;
        if let Some(name) = options.keys().find(|name| !given.contains_key(*name)) {
            let problem = format!("option \"{name}\" is missing: a record has every option");
            return Err(differs(&problem));
        }
        let game = arena_games::build_version(ruleset, version, &options, seats)
            .map_err(|error| differs(&error))?;
        let (_, record) = parsed.verify(&*game).map_err(|error| differs(&error))?;
        self.tell(id, &record, text.trim())
    }

    fn tell(&self, id: &str, record: &GameRecord, line: &str) -> Outcome {
        match self.output {
            Format::Json | Format::Jsonl => output::document(line),
            Format::Csv => output::write(&format!("game_id,replays\n{id},true\n")),
            Format::Table => {
                let luck = |seat| format!("  seat {seat}{}\n", show::luck(record, seat));
                let luck: String = (0..record.luck.len()).map(luck).collect();
                let comma = if luck.is_empty() {
                    " and"
                } else {
                    ", luck and"
                };
                output::write(&format!(
                    "{id} replays: {} plies; result{comma} hash are correct\n{luck}",
                    record.plies
                ))
            }
        }
    }
}
