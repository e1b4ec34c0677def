//! `arena tournament …`

mod agents;
mod archive;
mod list;
mod plan;
mod remove;
mod verify_seed;

use arena_report::{
    state::state_name,
    tournaments::{self, describe},
    units,
};
use std::{
    path::{Path, PathBuf},
    slice,
    time::{Duration, Instant},
};

use arena_model::spec::Spec;
use arena_wire::v1;
use clap::{Args, Subcommand};
use serde_json::json;

use super::{book, set::SetArgs, standings};
use crate::{
    access::{Access, AccessArgs, request_id, start_tournament},
    failure::{Failure, Kind, Outcome},
    ids,
    output::{self, Format, note},
    progress::{self, Progress},
    workers,
};

/// Plan, start, list, watch, pause, resume, retry, cancel, archive and remove tournaments
#[derive(Debug, Subcommand)]
pub(crate) enum TournamentCommand {
    /// Estimate games, duration and precision of a tournament
    #[command(after_help = "\
Nothing is started or stored. If the number of games depends on results, the estimate
has a minimum, a maximum and an expected number. For a sequential test, the expected
number assumes a true difference half-way between its hypotheses.

Examples:
  arena tournament plan cowry.toml
  arena tournament plan cowry.toml --rate 50000 --output json")]
    Plan(plan::PlanArgs),
    /// Start a tournament, or continue a paused one
    #[command(after_help = "\
Examples:
  arena tournament start cowry.toml --coordinator http://127.0.0.1:7600
  arena tournament start cowry.toml --seed 0x5eed --output json
  arena tournament start cowry.toml --watch")]
    Start(StartArgs),
    /// List all tournaments
    #[command(after_help = "\
The table shows all generations of an evolution on one line; use --all for one line
each.

Examples:
  arena tournament list
  arena tournament list abapa-d3 --all
  arena tournament list --output csv")]
    List(list::ListArgs),
    /// Show one tournament with its spec
    Show(OneArgs),
    /// Follow a tournament to its end, then show its standings
    #[command(after_help = "\
The exit code is 0 if the tournament finished, 1 if it was cancelled or if it paused
itself, and 3 if an expectation of its spec fails or if its standings are not sound or not
final (`arena audit list`). If a user paused the tournament, the command waits until it resumes.
On a terminal, progress is drawn in place. Without a terminal, or with NO_COLOR or
TERM=dumb, progress is printed line by line.

Examples:
  arena tournament watch demo-3f9a0c1b22")]
    Watch(WatchArgs),
    /// Pause a tournament
    Pause(OneArgs),
    /// Resume a paused tournament
    Resume(OneArgs),
    /// Replay games that an agent lost without an answer, and games with untrusted results
    #[command(after_help = "\
Replays exactly these games:
  - An agent failed to start, crashed or could not be reached before its first answer.
  - A third play refuted the record, or the record is disputed.
  - The game has a crash, timeout or failed start that workers of another owner do not
    confirm.
  - A worker in a dispute or in quarantine played the game, or, if there are several
    owners, another worker of an owner in quarantine; and no other worker confirmed it
    (with several owners: no worker of another owner).
  - In swiss, knockout, ladder and sprt: later games that depend on these results.

The tournament must be paused or finished. All other games are kept. The result is a
new generation; `standings` and `export` show the previous generation with
--generation.

Examples:
  arena tournament retry cowry-3f9a0c1b22")]
    Retry(OneArgs),
    /// Cancel a tournament; its finished games are kept
    Cancel(OneArgs),
    /// Add, replace, bench and ban agents of an open ladder while it runs
    #[command(subcommand)]
    Agents(agents::AgentsCommand),
    /// Write a tournament that has ended into a folder, and check it
    #[command(after_help = "\
The folder has the spec, the records of all games in all generations, the standings with
pairs, the identities of the agents, a report, and SHA256SUMS, which is written last. All
files are read again and compared. The programs of registered agents are not in it: keep
them with it if you want to play the games again.

With --remove, the tournament is removed afterwards, but only if all games are in the
archive. The coordinator keeps the SHA-256 of SHA256SUMS.

Examples:
  arena tournament archive cowry-3f9a0c1b22 --into /archives
  arena tournament archive cowry-3f9a0c1b22 --into /archives --remove
  cd /archives/cowry-3f9a0c1b22 && sha256sum --check SHA256SUMS")]
    Archive(archive::ArchiveArgs),
    /// Remove tournaments that have ended, with their games, for good
    #[command(after_help = "\
Only finished and cancelled tournaments can be removed. Their names, times, owners and
results in short stay: `arena tournament list --removed` shows them. Their ids are not
used again. `arena store compact` gives the space of their games back.

Examples:
  arena tournament remove cowry-3f9a0c1b22
  arena tournament remove cowry-3f9a0c1b22 kalah-0123456789 --yes --output json")]
    Remove(remove::RemoveArgs),
    /// Check a drawn seed against the commitment shown before it was known
    #[command(after_help = "\
If a spec has no seed, the coordinator draws one. Until the tournament is finished or
cancelled, it shows only a commitment: the SHA-256 of \"arena seed commitment v1\", a
zero byte, a nonce and the seed (32 bytes each). The exit code is 3 if seed, nonce and
commitment do not fit, or if the seed is not that of the tournament.

Examples:
  arena tournament verify-seed cup-3f9a0c1b22
  arena tournament verify-seed @last --commitment 9c1f…")]
    VerifySeed(verify_seed::VerifySeedArgs),
}

#[derive(Debug, Args)]
pub(crate) struct StartArgs {
    /// Tournament spec, a TOML file
    spec: PathBuf,

    #[command(flatten)]
    access: AccessArgs,

    /// Seed to use instead of the one in the spec
    #[arg(long, value_name = "0x…")]
    seed: Option<String>,

    #[command(flatten)]
    set: SetArgs,

    /// Play a finished or cancelled tournament again, under a new id
    #[arg(long)]
    again: bool,

    /// Follow the tournament to its end and show its standings, as `arena tournament
    /// watch` does
    #[arg(long)]
    watch: bool,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct OneArgs {
    /// Id of the tournament, or an unambiguous prefix; @last is the newest tournament
    id: String,

    #[command(flatten)]
    access: AccessArgs,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct WatchArgs {
    #[command(flatten)]
    one: OneArgs,

    /// Seconds without a connection to the coordinator before giving up
    #[arg(long, default_value_t = CONNECT_TIMEOUT, value_name = "SECONDS")]
    connect_timeout: u64,
}

/// Seconds without an answer of the coordinator until a watch ends.
const CONNECT_TIMEOUT: u64 = 30;

impl TournamentCommand {
    pub(crate) async fn run(self) -> Outcome {
        let mut access = match &self {
            // It needs no coordinator.
            Self::Plan(args) => return plan::plan(args).await,
            Self::Start(args) => args.access.open_or_create().await?,
            Self::List(args) => args.access.open().await?,
            Self::Show(args)
            | Self::Pause(args)
            | Self::Resume(args)
            | Self::Retry(args)
            | Self::Cancel(args) => args.access.open().await?,
            Self::Watch(args) => args.one.access.open().await?,
            Self::VerifySeed(args) => args.access.open().await?,
            Self::Archive(args) => args.access.open().await?,
            Self::Agents(args) => args.access().open().await?,
            Self::Remove(args) => args.access.open().await?,
        };
        let outcome = self.with(&mut access).await;
        outcome.and(access.close().await)
    }

    async fn with(mut self, access: &mut Access) -> Outcome {
        let client = &mut access.client;
        if let Self::Pause(one) | Self::Resume(one) | Self::Retry(one) | Self::Cancel(one) =
            &mut self
        {
            one.id = ids::tournament(client, &one.id).await?;
        }
        match self {
            Self::Plan(args) => plan::plan(&args).await,
            Self::Start(args) => start_command(access, args).await,
            Self::List(args) => list::list(client, &args).await,
            Self::Show(args) => {
                let tournament = match ids::tournament(client, &args.id).await {
                    Ok(id) => arena_report::records::tournament(client, &id).await?,
                    Err(unknown) => {
                        let removed = ids::removed(client, &args.id).await?;
                        removed.ok_or(unknown)?
                    }
                };
                match args.output {
                    Format::Table => output::write(&tournaments::text(&tournament)),
                    format => print(
                        &tournament,
                        &tournaments::describe_fully(&tournament),
                        format,
                    ),
                }
            }
            Self::Archive(args) => args.run(client).await,
            Self::Agents(args) => args.run(client).await,
            Self::Remove(args) => args.run(client).await,
            Self::Watch(args) => args.run(access).await,
            Self::Pause(args) => {
                let changed = changed!(client.pause_tournament(PauseTournamentRequest, args.id));
                print(&changed, &describe(&changed), args.output)
            }
            Self::Resume(args) => {
                let resumed = changed!(client.resume_tournament(ResumeTournamentRequest, args.id));
                plays_on(access, &resumed, args.output).await
            }
            Self::Retry(args) => {
                let retried = changed!(client.retry_tournament(RetryTournamentRequest, args.id));
                plays_on(access, &retried, args.output).await
            }
            Self::VerifySeed(args) => args.run(client).await,
            Self::Cancel(args) => {
                let changed = changed!(client.cancel_tournament(CancelTournamentRequest, args.id));
                print(&changed, &describe(&changed), args.output)
            }
        }
    }
}

/// Calls a method that changes a tournament; the result is the changed tournament.
macro_rules! changed {
    ($client:ident.$method:ident($request:ident, $tournament_id:expr)) => {{
        let request = v1::$request {
            request_id: request_id(),
            tournament_id: $tournament_id,
        };
        let answer = $client.$method(request).await?.into_inner();
        answer.tournament.unwrap_or_default()
    }};
}
use changed;

/// Reads a spec file, with `--set`, and the file of its opening book. Returns its text and its content;
/// its agents are not checked. `seed` replaces the spec's seed.
pub(crate) fn read_spec(path: &Path, set: &SetArgs, seed: Option<&str>) -> Outcome<(String, Spec)> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| {
        Failure::usage(format!(
            "cannot read {shown}: {error}; give the path of a spec, a file in TOML"
        ))
    })?;
    let text = set.apply(text).map_err(about(path))?;
    let spec = Spec::parse(&text)
        .map_err(Failure::usage)
        .map_err(about(path))?;
    let folder = path.parent().unwrap_or_else(|| Path::new(""));
    book::include(folder, text, spec, seed).map_err(about(path))
}

/// Adds the file name to a rejection by the coordinator.
pub(crate) fn about(path: &Path) -> impl Fn(Failure) -> Failure + '_ {
    move |failure| match failure.kind() {
        Kind::Usage => Failure::usage(format!("{}: {failure}", path.display())),
        _ => failure,
    }
}

async fn start_command(access: &mut Access, args: StartArgs) -> Outcome {
    let (spec, _) = read_spec(&args.spec, &args.set, args.seed.as_deref())?;
    let response = start_tournament(&mut access.client, spec, args.seed, args.again)
        .await
        .map_err(about(&args.spec))?;
    response.notes.iter().for_each(note);
    let tournament = response.tournament.unwrap_or_default();
    if args.watch {
        note(format!("tournament {}", tournament.tournament_id));
        let timeout = Duration::from_secs(CONNECT_TIMEOUT);
        return follow(access, &tournament, timeout, args.output).await;
    }
    note_unplayed(access, &tournament).await?;
    let (id, state) = (&tournament.tournament_id, state_name(tournament.state()));
    match args.output {
        Format::Json | Format::Jsonl => output::json_line(&json!({
            "tournament_id": id,
            "state": state,
            "games_total": tournament.games_total,
            "created": response.created,
        })),
        Format::Csv => output::write(&format!("tournament_id\n{id}\n")),
        Format::Table => {
            output::write(&format!("{id}\n"))?;
            let state = if response.created { "started" } else { state };
            let games = units::count(tournament.games_total);
            note(format!(
                "{state}, {games} games; follow it with: arena tournament watch {id}"
            ));
            Ok(())
        }
    }
}

/// Prints a tournament: its summary, its line, or `value`.
fn print(tournament: &v1::Tournament, value: &serde_json::Value, format: Format) -> Outcome {
    match format {
        Format::Table => output::write(&tournaments::summary(tournament)),
        Format::Csv => output::write(&tournaments::csv(slice::from_ref(tournament))),
        Format::Json => output::json(value),
        Format::Jsonl => output::json_line(value),
    }
}

/// Prints a tournament that continues.
async fn plays_on(access: &mut Access, tournament: &v1::Tournament, output: Format) -> Outcome {
    note_unplayed(access, tournament).await?;
    print(tournament, &describe(tournament), output)
}

/// Notes that there is no worker for a tournament, and what to do.
async fn note_unplayed(access: &mut Access, tournament: &v1::Tournament) -> Outcome {
    if tournament.state() != v1::TournamentState::Running {
        return Ok(());
    }
    if !access.is_embedded() {
        return workers::note_absence(&mut access.client, &access.url).await;
    }
    note(
        "no coordinator is using the data folder, so nothing is played yet: play it with `arena \
         run` and the tournament's spec, or start `arena coordinator` and `arena worker`",
    );
    Ok(())
}

impl WatchArgs {
    /// Watches; begins again if the coordinator is lost before the watch has begun.
    async fn run(self, access: &mut Access) -> Outcome {
        let began = Instant::now();
        let timeout = Duration::from_secs(self.connect_timeout);
        loop {
            match self.watch(access, timeout).await {
                Err(lost) if lost.kind() == Kind::Unreachable && began.elapsed() < timeout => {
                    tokio::time::sleep(Duration::from_millis(250)).await;
                }
                outcome => return outcome,
            }
        }
    }

    async fn watch(&self, access: &mut Access, timeout: Duration) -> Outcome {
        // Report an unknown id at once.
        let id = ids::tournament(&mut access.client, &self.one.id).await?;
        let tournament = arena_report::records::tournament(&mut access.client, &id).await?;
        follow(access, &tournament, timeout, self.one.output).await
    }
}

async fn follow(
    access: &mut Access,
    tournament: &v1::Tournament,
    timeout: Duration,
    output: Format,
) -> Outcome {
    if tournament.state() == v1::TournamentState::Running {
        workers::note_absence(&mut access.client, &access.url).await?;
    }
    let (client, id) = (&mut access.client, &tournament.tournament_id);
    let mut progress = Progress::watched();
    let last = progress::follow(client, id, &mut progress, timeout).await?;
    if let Err(unfinished) = progress::check_finished(&last) {
        standings::show(client, id, output).await?;
        return Err(unfinished);
    }
    let tournament = arena_report::records::tournament(client, id).await?;
    let expectations = arena_report::expectations(&tournament, &[])?;
    standings::show_checked(client, id, output, false, &expectations).await
}
