//! One large tournament: checks whether memory, standings and export stay constant while it grows.

use std::{
    collections::BTreeMap,
    process::{Child, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use anyhow::{Context, bail};
use arena_access::{Connection, Credentials};
use arena_tests::{Server, World, fleet::Usage, spec};
use arena_wire::v1::{
    GetStandingsRequest, GetTournamentRequest, TournamentState,
    coordinator_service_client::CoordinatorServiceClient,
};
use tokio::runtime::Runtime;

use crate::{
    Records, Settings, note,
    report::{Figure, Measured},
    usage::{cpu_seconds, megabytes},
};

/// Shares of the tournament at which it is measured.
const MARKS: [(&str, f64); 4] = [
    ("tenth", 0.1),
    ("quarter", 0.25),
    ("half", 0.5),
    ("end", 1.0),
];

/// How often standings are requested at each mark.
const STANDINGS: usize = 50;

const PAUSE: Duration = Duration::from_millis(200);

/// The number of games that bars refer to.
const TEN_MILLION: u64 = 10_000_000;

/// Games of a quick run.
const QUICK_GAMES: u64 = 20_000;

pub(super) fn measure(settings: &Settings, measured: &mut Measured) {
    let games = if settings.quick {
        settings.games.min(QUICK_GAMES)
    } else {
        settings.games
    };
    let mut figures = Vec::new();
    let result = play(games, settings.records, &mut figures);
    measured.figures.append(&mut figures);
    measured.take("a large tournament", result.map(|()| Vec::new()));
}

/// Plays the tournament. Keeps the measurements if it does not finish.
fn play(games: u64, records: Records, figures: &mut Vec<Figure>) -> anyhow::Result<()> {
    let world = World::new();
    let coordinator = world.coordinator("data", &[]);
    let url = coordinator.url();
    let worker = world.worker(&coordinator, &["--builtin", "in-process"]);
    let players =
        "[[agent]]\nname = \"a\"\nbot = \"random\"\n[[agent]]\nname = \"b\"\nbot = \"random\"";
    let more = format!("records = \"{}\"\n{players}", records.name());
    let spec = spec("large", "cowry", games.div_ceil(2), &["a", "b"], &more);
    let id = world.start_tournament("large", &spec, &url);
    let mut asking = Asking::new(&url, &id)?;
    let mut last = Mark::now(0, &coordinator, &worker);
    for (name, share) in MARKS {
        let wanted = (games as f64 * share) as u64;
        note(format!("  {wanted} games"));
        let mut most = [0.0_f64; 2];
        let done = loop {
            for (most, server) in most.iter_mut().zip([&coordinator, &worker]) {
                *most = most.max(memory(server.id()));
            }
            let (done, state) = asking.progress()?;
            if done >= wanted || state != TournamentState::Running {
                break done;
            }
            sleep(PAUSE);
        };
        if done < wanted {
            bail!("the tournament ended with {done} of {wanted} games");
        }
        let mark = Mark::now(done, &coordinator, &worker);
        let count = (done - last.games).max(1) as f64;
        figures.push(Figure {
            id: if done >= TEN_MILLION {
                "large.ten-million".to_owned()
            } else {
                format!("large.{name}")
            },
            what: format!("cowry, {done} games stored, {} records", records.name()),
            unit: "games",
            per_second: count / (mark.at - last.at).as_secs_f64(),
            cpu_us: Some((mark.cpu_seconds - last.cpu_seconds) * 1e6 / count),
            memory_mb: [("coordinator", most[0]), ("worker", most[1])].into(),
            latency_ms: asking.standings()?,
            more: [(
                "bytes a game on disk".to_owned(),
                folder_bytes(&world)? / done as f64,
            )]
            .into(),
            note: Some("rate and CPU since the mark before; latency: of standings".to_owned()),
            ..Figure::default()
        });
        last = Mark::now(done, &coordinator, &worker);
    }
    worker.stop();
    note("  export");
    figures.push(export(&world, &coordinator, &id, records)?);
    coordinator.stop();
    Ok(())
}

/// Resource usage up to a moment.
struct Mark {
    at: Instant,
    games: u64,
    cpu_seconds: f64,
}

impl Mark {
    fn now(games: u64, coordinator: &Server, worker: &Server) -> Self {
        Self {
            at: Instant::now(),
            games,
            cpu_seconds: cpu_seconds(coordinator.id()) + cpu_seconds(worker.id()),
        }
    }
}

fn memory(process: u32) -> f64 {
    Usage::of(process).map_or(0.0, |usage| megabytes(usage.rss_peak_bytes))
}

/// All files of the coordinator's folder.
fn folder_bytes(world: &World) -> anyhow::Result<f64> {
    let mut folders = vec![world.folder().join("data")];
    let mut bytes = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            // A file may have been replaced in the meantime.
            let Ok(metadata) = entry.metadata() else {
                continue;
            };
            match metadata.is_dir() {
                true => folders.push(entry.path()),
                false => bytes += metadata.len(),
            }
        }
    }
    Ok(bytes as f64)
}

/// A connection to the coordinator for requests about one tournament.
struct Asking {
    runtime: Runtime,
    client: CoordinatorServiceClient<Connection>,
    id: String,
}

impl Asking {
    fn new(url: &str, id: &str) -> anyhow::Result<Self> {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        let runtime = builder.enable_all().build()?;
        let entered = runtime.enter();
        let channel = Credentials::found().connect_lazy(url)?;
        drop(entered);
        Ok(Self {
            runtime,
            client: CoordinatorServiceClient::new(channel),
            id: id.to_owned(),
        })
    }

    fn progress(&mut self) -> anyhow::Result<(u64, TournamentState)> {
        let request = GetTournamentRequest {
            tournament_id: self.id.clone(),
        };
        let answer = self.runtime.block_on(self.client.get_tournament(request))?;
        let tournament = answer.into_inner().tournament.context("a tournament")?;
        Ok((tournament.games_done, tournament.state()))
    }

    fn standings(&mut self) -> anyhow::Result<BTreeMap<&'static str, f64>> {
        let mut times = Vec::new();
        for _ in 0..STANDINGS {
            let request = GetStandingsRequest {
                tournament_id: self.id.clone(),
                ..Default::default()
            };
            let asked = Instant::now();
            let answer = self.runtime.block_on(self.client.get_standings(request))?;
            times.push(asked.elapsed().as_secs_f64() * 1e3);
            answer.into_inner().standings.context("standings")?;
        }
        times.sort_by(f64::total_cmp);
        let at = |share: f64| times[(times.len() as f64 * share) as usize];
        Ok([("p50", at(0.5)), ("p99", at(0.99))].into())
    }
}

fn export(
    world: &World,
    coordinator: &Server,
    id: &str,
    records: Records,
) -> anyhow::Result<Figure> {
    let (games, _) = Asking::new(&coordinator.url(), id)?.progress()?;
    let before = cpu_seconds(coordinator.id());
    let started = Instant::now();
    let mut command = world.command(arena_tests::arena());
    command
        .args(["export", id, "--coordinator", &coordinator.url()])
        .args(["--records", records.name()])
        .stdout(Stdio::null());
    let mut child = Exporting(command.spawn()?);
    let (mut most, mut cpu) = ([0.0_f64; 2], 0.0);
    let status = loop {
        most[0] = most[0].max(memory(coordinator.id()));
        most[1] = most[1].max(memory(child.0.id()));
        // After the process has ended, its usage cannot be read.
        cpu = cpu_seconds(child.0.id()).max(cpu);
        if let Some(status) = child.0.try_wait()? {
            break status;
        }
        sleep(Duration::from_millis(10));
    };
    if !status.success() {
        bail!("arena export ended with {status}");
    }
    let cpu = cpu + cpu_seconds(coordinator.id()) - before;
    let note = match records {
        Records::Full => "each game replayed and written as a line",
        Records::Hash => "each game as a line without its events",
    };
    Ok(Figure {
        id: "large.export".to_owned(),
        what: format!("export of {games} games"),
        unit: "games",
        group: "export",
        per_second: games as f64 / started.elapsed().as_secs_f64(),
        cpu_us: Some(cpu * 1e6 / games as f64),
        memory_mb: [("coordinator", most[0]), ("export", most[1])].into(),
        note: Some(note.to_owned()),
        ..Figure::default()
    })
}

/// A child process that is killed when dropped.
struct Exporting(Child);

impl Drop for Exporting {
    fn drop(&mut self) {
        // An error means that it has already ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
