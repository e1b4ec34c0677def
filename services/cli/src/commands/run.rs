//! `arena run`

use arena_report::units;
use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use arena_model::{expect::Expectation, spec::Spec};
use arena_wire::v1::{PlanTournamentRequest, TournamentState};
use clap::Args;

use super::{set::SetArgs, standings, tournament};
use crate::{
    access::{self, Client},
    embedded::DEFAULT_DATA,
    embedded::{self, Embedded, Held},
    failure::{Failure, Kind, Outcome},
    ids,
    output::{Format, note},
    progress::{self, Progress},
    signals::Interrupt,
    workers::{Builtin, Fleet},
};

/// Run a tournament here: coordinator, workers and agents in one command
#[derive(Debug, Args)]
#[command(after_help = "\
The id of the tournament is printed to stderr at the start, the standings to stdout
at the end. Other tournaments in the data folder are not played. Ctrl-C keeps every
finished game; run the same command again to continue. If an expectation of the spec
or of --expect fails, the exit code is 3.

Examples:
  arena run cowry.toml
  arena run cowry.toml --set blocks=500 --set play.move_timeout=5s
  arena run cowry.toml --seed 0x5eed --workers 3 --output json
  arena run cowry.toml --builtin process --agent-output printed")]
pub(crate) struct RunArgs {
    /// Tournament spec, a TOML file
    spec: PathBuf,

    /// Folder for results
    #[arg(long, env = "ARENA_DATA", value_name = "DIR", default_value = DEFAULT_DATA)]
    data: PathBuf,

    /// Number of worker processes to start
    #[arg(long, env = "ARENA_RUN_WORKERS", value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    workers: u16,

    /// Seed to use instead of the one in the spec
    #[arg(long, value_name = "0x…")]
    seed: Option<String>,

    #[command(flatten)]
    set: SetArgs,

    /// How to run built-in agents; results do not depend on it
    #[arg(long, env = "ARENA_RUN_BUILTIN", value_enum, default_value_t)]
    builtin: Builtin,

    /// Write the output of each agent process to DIR/AGENT-PID.log
    #[arg(long, env = "ARENA_RUN_AGENT_OUTPUT", value_name = "DIR")]
    agent_output: Option<PathBuf>,

    /// Play a finished or cancelled tournament again, under a new id
    #[arg(long)]
    again: bool,

    /// Check this expectation in addition to those in the spec, such as "mine beats base
    /// by 5 elo at 95 %"
    #[arg(long, value_name = "SENTENCE")]
    expect: Vec<String>,

    /// Output format of the standings
    #[arg(long, value_enum, default_value_t)]
    output: Format,
}

impl RunArgs {
    pub(crate) async fn run(self) -> Outcome {
        let (spec, parsed) = tournament::read_spec(&self.spec, &self.set, self.seed.as_deref())?;
        let plan = Plan {
            spec,
            parsed,
            data: self.data,
            workers: self.workers.into(),
            seed: self.seed,
            builtin: self.builtin,
            agent_output: self.agent_output,
            again: self.again,
            expect: self.expect,
        };
        let id = play(plan, self.output).await;
        id.map(drop).map_err(tournament::about(&self.spec))
    }
}

/// A tournament to play with embedded workers.
pub(crate) struct Plan {
    pub(crate) spec: String,
    /// The content of that spec.
    pub(crate) parsed: Spec,
    pub(crate) data: PathBuf,
    pub(crate) workers: usize,
    pub(crate) seed: Option<String>,
    pub(crate) builtin: Builtin,
    /// File for the output of agent processes.
    pub(crate) agent_output: Option<PathBuf>,
    pub(crate) again: bool,
    /// Expectations in addition to those of the spec.
    pub(crate) expect: Vec<String>,
}

/// Plays the tournament, prints the standings and returns its id.
pub(crate) async fn play(plan: Plan, format: Format) -> Outcome<String> {
    let mut interrupt = Interrupt::listen()?;
    // Reject invalid expectations before anything else happens.
    let expectations = arena_report::expected(&plan.parsed, &plan.expect)?;
    let data = plan.data.clone();
    if !data.exists() {
        // A rejected spec leaves no folder behind.
        embedded::plan(&PlanTournamentRequest {
            spec_toml: plan.spec.clone(),
            seed: plan.seed.clone().unwrap_or_default(),
        })?;
    }
    let mut coordinator = match embedded::hold(&data, ([127, 0, 0, 1], 0).into()).await? {
        Held::Ours(embedded) => embedded,
        Held::Other { .. } => {
            let data = data.display();
            return Err(Failure::failed(format!(
                "data folder {data} is in use by a coordinator: start the tournament there with \
                 `arena tournament start … --data {data}`, or use another folder with --data"
            )));
        }
    };
    let mut client = access::dial_embedded(&coordinator).await?;
    let (plays, stops) = (&mut coordinator, &mut interrupt);
    let outcome = play_on(&mut client, plan, &expectations, plays, stops, format).await;
    let stopped = coordinator.stop().await;
    let id = outcome?;
    stopped?;
    Ok(id)
}

async fn play_on(
    client: &mut Client,
    plan: Plan,
    expectations: &[Expectation],
    coordinator: &mut Embedded,
    interrupt: &mut Interrupt,
    format: Format,
) -> Outcome<String> {
    let alone = plan.workers == 1;
    let seed_given = plan.seed.is_some() || plan.parsed.seed.is_some();
    let response = access::start_tournament(client, plan.spec, plan.seed, plan.again).await?;
    let tournament = response.tournament.unwrap_or_default();
    let id = tournament.tournament_id.clone();
    note(format!("tournament {id}"));
    response.notes.iter().for_each(note);
    if tournament.state() == TournamentState::Finished {
        note("already finished; showing stored results (use --again to play it again)");
        standings::show_checked(client, &id, format, alone, expectations).await?;
        return Ok(id);
    }
    if let Some(pause) = &tournament.pause {
        standings::show(client, &id, format).await?;
        return Err(progress::paused(&id, pause));
    }
    note_others(client, &id, &plan.data).await?;
    if tournament.games_done > 0 {
        note(format!(
            "continuing after {} of {} games",
            units::count(tournament.games_done),
            units::count(tournament.games_total)
        ));
    }
    let url = coordinator.url();
    let sandbox = plan.parsed.play.sandbox;
    let output = plan.agent_output;
    let mut fleet = Fleet::start(&url, plan.workers, plan.builtin, output, sandbox)?;
    let mut progress = Progress::default();
    let mut watching = client.clone();
    let follow = progress::follow(&mut watching, &id, &mut progress, Duration::from_secs(30));
    let last = tokio::select! {
        last = follow => last,
        failure = fleet.supervise() => Err(failure),
        failure = coordinator.failed() => Err(failure),
        () = interrupt.asked() => Err(Failure::new(Kind::Interrupted, "")),
    };
    if last.is_err() {
        progress.clear();
        note(STOPPING);
    }
    fleet.stop().await;
    let last = last.map_err(|failure| match failure.kind() {
        Kind::Interrupted => {
            let hint = seed_hint(seed_given, &tournament);
            let kept = format!(
                "stopped; finished games are kept in {}",
                plan.data.display()
            );
            let text = format!("{kept}. To continue, run the same command again{hint}");
            Failure::new(Kind::Interrupted, text)
        }
        _ => failure,
    })?;
    if let Err(failure) = progress::check_finished(&last) {
        standings::show(client, &id, format).await?;
        return Err(failure);
    }
    standings::show_checked(client, &id, format, alone, expectations).await?;
    Ok(id)
}

/// The note for a command that stops before its tournament is finished.
pub(crate) const STOPPING: &str = "stopping: finishing current games, for at most 10 s (interrupt \
 again to stop at once)";

/// Names the unfinished tournaments of the folder that this command does not play.
async fn note_others(client: &mut Client, id: &str, data: &Path) -> Outcome {
    let all = ids::all(client).await?;
    let states = [TournamentState::Running, TournamentState::Paused];
    let mut open = all
        .iter()
        .filter(|other| other.tournament_id != id && states.contains(&other.state()))
        .map(|other| other.tournament_id.as_str());
    if let Some(first) = open.next() {
        let more = match open.count() {
            0 => String::new(),
            more => format!(" and {} more", units::count(more as u64)),
        };
        note(format!(
            "{} also has unfinished tournaments, which are not played now: {first}{more}; to \
             continue one, use `arena run` with its spec",
            data.display()
        ));
    }
    Ok(())
}

/// A hint with the commitment to the drawn seed, which must be given to continue.
fn seed_hint(given: bool, tournament: &arena_wire::v1::Tournament) -> String {
    match given {
        true => String::new(),
        false => format!(" and --seed sealed:{}", tournament.seed_commitment),
    }
}
