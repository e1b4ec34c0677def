//! Agents that think: how many cores are busy, and how early the first games finish.

mod agent;

use std::{
    collections::BTreeMap,
    env, fs, iter, thread,
    time::{Duration, Instant},
};

use anyhow::{Context, bail};
use arena_tests::{Server, World, spec};

pub(crate) use self::agent::serve;
use crate::{
    Settings, note,
    report::{Figure, Measured, median},
    usage::cpu_seconds,
};

/// Games of the tournament.
const GAMES: u64 = 400;
/// Time in which processes start, which does not count.
const START: Duration = Duration::from_secs(3);
/// The shortest measurement: a move takes as long as several thousand of other agents.
const SECONDS_MIN: f64 = 10.0;

pub(super) fn measure(settings: &Settings, measured: &mut Measured) {
    let seconds = match settings.quick {
        true => 3.0,
        false => settings.seconds().max(SECONDS_MIN),
    };
    for (id, what, play) in [
        ("throughput", "agents that think 20 ms, unary", ""),
        (
            "strict",
            "the same, timing = \"strict\"",
            "timing = \"strict\"",
        ),
    ] {
        note(format!("  {what}"));
        let runs = (0..settings.runs()).map(|_| run(play, seconds));
        let figure = runs
            .collect::<anyhow::Result<Vec<_>>>()
            .and_then(|runs| median(runs).context("no run"));
        let figure = figure.map(|figure| {
            vec![Figure {
                id: format!("cores.{id}"),
                what: what.to_owned(),
                ..figure
            }]
        });
        measured.take(what, figure);
    }
    let what = format!("first of {GAMES} games of agents that think 50 ms");
    note(format!("  {what}"));
    measured.take(&what, first(&what).map(|figure| vec![figure]));
}

/// A tournament of two agents that think for this long, on a coordinator with one worker.
struct Play {
    _world: World,
    /// Start of the worker.
    started: Instant,
    coordinator: Server,
    worker: Server,
}

impl Play {
    fn start(think: Duration, play: &str) -> anyhow::Result<Self> {
        let world = World::new();
        let program = env::current_exe()?;
        fs::create_dir(world.folder().join("burner"))?;
        let think = think.as_millis().to_string();
        let manifest = format!("command = [{program:?}, \"--burn\", {think:?}]\n");
        let _ = world.write("burner/arena-agent.toml", manifest);
        let coordinator = world.coordinator("data", &[]);
        let url = coordinator.url();
        for name in ["a", "b"] {
            let registered = world.arena(&[
                "agent",
                "register",
                name,
                "--binary",
                "burner",
                "--coordinator",
                &url,
            ]);
            if registered.code != Some(0) {
                bail!("{}", registered.transcript());
            }
        }
        let spec = spec(
            "thinkers",
            "cowry",
            GAMES / 2,
            &["a", "b"],
            &format!("[play]\n{play}"),
        );
        let _ = world.start_tournament("thinkers", &spec, &url);
        let folder = program.parent().context("the folder of this program")?;
        let folder = folder.to_str().context("a path in UTF-8")?;
        let started = Instant::now();
        let worker = world.worker(&coordinator, &["--agent-path", folder]);
        Ok(Self {
            _world: world,
            started,
            coordinator,
            worker,
        })
    }

    fn moves(&self) -> f64 {
        self.worker.metric("arena_decisions_total", &[])
    }

    /// CPU seconds of the coordinator, the worker, and the agents.
    fn cpu(&self) -> f64 {
        let agents = descendants(self.worker.id());
        let all = agents.chain([self.coordinator.id(), self.worker.id()]);
        all.map(cpu_seconds).sum()
    }
}

/// The processes below a process.
fn descendants(process: u32) -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let parents: BTreeMap<u32, u32> = entries
        .filter_map(|entry| {
            let id = entry.file_name().to_str()?.parse().ok()?;
            let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
            // The name in parentheses may have spaces.
            let (_, rest) = stat.rsplit_once(')')?;
            Some((id, rest.split_whitespace().nth(1)?.parse().ok()?))
        })
        .collect();
    let is_below = |id: u32| {
        let mut above = iter::successors(parents.get(&id), |&id| parents.get(id));
        above.any(|&id| id == process)
    };
    let below: Vec<u32> = { parents.keys().copied() }
        .filter(|&id| is_below(id))
        .collect();
    below.into_iter()
}

fn run(settings: &str, seconds: f64) -> anyhow::Result<Figure> {
    let play = Play::start(Duration::from_millis(20), settings)?;
    thread::sleep(START);
    let (moves, cpu, start) = (play.moves(), play.cpu(), Instant::now());
    thread::sleep(Duration::from_secs_f64(seconds));
    let took = start.elapsed().as_secs_f64();
    let (moves, cpu) = (play.moves() - moves, play.cpu() - cpu);
    if moves <= 0.0 {
        bail!("no move was made: {}", play.worker.log());
    }
    Ok(Figure {
        unit: "moves",
        per_second: moves / took,
        cpu_us: Some(1e6 * cpu / moves),
        more: [("cores busy".to_owned(), cpu / took)].into(),
        ..Figure::default()
    })
}

/// How long it takes from the start of the worker until the first game is durable.
fn first(what: &str) -> anyhow::Result<Figure> {
    let play = Play::start(Duration::from_millis(50), "")?;
    let start = play.started;
    while play.coordinator.metric("arena_games_total", &[]) < 1.0 {
        if start.elapsed() > Duration::from_secs(120) {
            bail!("no game finished: {}", play.worker.log());
        }
        thread::sleep(Duration::from_millis(20));
    }
    let seconds = start.elapsed().as_secs_f64();
    Ok(Figure {
        id: "cores.first-game".to_owned(),
        what: what.to_owned(),
        unit: "first games",
        per_second: 1.0 / seconds,
        more: [("s until it is durable".to_owned(), seconds)].into(),
        ..Figure::default()
    })
}
