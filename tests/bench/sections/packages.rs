//! Rules of one's own: in Rust as a worker plays, and as a package in Python, in plies a second of a
//! whole tournament.

use std::{
    process::{self, Command},
    time::Instant,
};

use anyhow::{Context, bail};
use arena_tests::{Output, World, arena, python, spec};

use super::peers;
use crate::{
    Settings,
    arena::{Line, middle},
    note,
    report::{Absent, Figure, Measured, median},
    usage::cpu_seconds_with_children,
};

/// Blocks of a tournament, which has two games each.
const BLOCKS: u64 = 10_000;
const BLOCKS_QUICK: u64 = 50;

pub(super) fn measure(settings: &Settings, measured: &mut Measured) {
    measured.take("kalah as a ruleset of one's own", own(settings));

    let what = "pig, rules in Python, two processes";
    let new = ["rulesets", "new", "--lang", "python", "pig"];
    let register = ["rulesets", "register", "pig", "--package", "pig"];
    let pig = tournaments(settings, "pig", what, &[&new, &register]);
    measured.take(what, pig.map(|figure| vec![figure]));

    let what = "connect_four of OpenSpiel, two processes";
    let register = ["rulesets", "register", "c4", "--openspiel", "connect_four"];
    let found = has_openspiel().and_then(|()| tournaments(settings, "c4", what, &[&register]));
    let own = "connect_four in OpenSpiel's Python loop, one process";
    match found {
        Ok(mut figure) => match python_loop(settings, own) {
            Ok(own) => {
                let percent = 100.0 * figure.per_second / own.per_second;
                let name = "percent of OpenSpiel's Python loop";
                figure.more.insert(name.to_owned(), percent);
                measured.figures.extend([figure, own]);
            }
            Err(error) => measured.take(own, Err(error)),
        },
        Err(error) => measured.take(what, Err(error)),
    }
}

/// Kalah as a built-in ruleset and, from `services/cli/examples/copy.rs`, as one of one's own.
fn own(settings: &Settings) -> anyhow::Result<Vec<Figure>> {
    let program = arena().with_file_name("examples/copy");
    if !program.is_file() {
        bail!(Absent(format!(
            "there is no {}: build it",
            program.display()
        )));
    }
    let names = ["kalah", "copy"];
    let mut runs = names.map(|_| Vec::new());
    for _ in 0..settings.runs() {
        let world = World::new();
        let mut command = world.command(&program);
        command.args(["bench", "rules", "--output", "json", "--seconds"]);
        command.arg(settings.seconds().to_string());
        let lines: Vec<Line> = serde_json::from_str(&done(world.run(command))?.stdout)?;
        for line in lines.into_iter().filter(|line| line.bare == Some(false)) {
            if let Some(at) = names.iter().position(|name| *name == line.ruleset) {
                runs[at].push(line);
            }
        }
    }
    let [built_in, own] = runs.map(|runs| middle(runs).context("no line was measured"));
    let (built_in, own) = (built_in?, own?);
    let what = |whose: &str| format!("kalah as a worker plays, {whose}");
    let mut figure = own.decisions("packages.own", &what("as a ruleset of one's own"));
    let built_in = built_in.decisions("packages.built-in", &what("built in"));
    let percent = 100.0 * figure.per_second / built_in.per_second;
    figure
        .more
        .insert("percent of built in".to_owned(), percent);
    Ok(vec![built_in, figure])
}

fn has_openspiel() -> anyhow::Result<()> {
    let python = python().map_err(Absent)?;
    let mut probe = Command::new(&python);
    probe.args(["-c", "import arena_openspiel, pyspiel"]);
    if probe.output()?.status.success() {
        return Ok(());
    }
    let text = format!("{} cannot import arena_openspiel", python.display());
    bail!(Absent(text))
}

/// Tournaments of `random` against itself, from the command to the standings.
fn tournaments(
    settings: &Settings,
    ruleset: &str,
    what: &str,
    before: &[&[&str]],
) -> anyhow::Result<Figure> {
    python().map_err(Absent)?;
    let world = World::with_python();
    for arguments in before {
        let data: &[&str] = match arguments.contains(&"register") {
            true => &["--data", "data"],
            false => &[],
        };
        let _ = done(world.arena(&[arguments, data].concat()))?;
    }
    let blocks = if settings.quick { BLOCKS_QUICK } else { BLOCKS };
    let more =
        "seats = 2\n[play]\nreplicas = 2\n[[agent]]\nname = \"random-2\"\nbot = \"random\"\n";
    let path = world.write(
        "spec.toml",
        spec("p", ruleset, blocks, &["random", "random-2"], more),
    );
    let mut runs = Vec::new();
    for run in 1..=settings.runs() {
        note(format!("  {what}, run {run}"));
        let (cpu, start) = (cpu_seconds_with_children(process::id()), Instant::now());
        let run = [
            "run", &path, "--data", "data", "--again", "--output", "json",
        ];
        let standings = done(world.arena(&run))?.json();
        let seconds = start.elapsed().as_secs_f64();
        let cpu = cpu_seconds_with_children(process::id()) - cpu;
        let agent = &standings["agents"][0];
        let games = standings["games"].as_f64().context("games")?;
        let plies = agent["plies_mean"].as_f64().context("plies")? * games;
        runs.push(Figure {
            id: format!("packages.{ruleset}"),
            what: what.to_owned(),
            unit: "plies",
            per_second: plies / seconds,
            cpu_us: Some(cpu * 1e6 / plies),
            note: Some("from the command to the standings, with starts".to_owned()),
            ..Figure::default()
        });
    }
    median(runs).context("no run")
}

fn done(output: Output) -> anyhow::Result<Output> {
    match output.code {
        Some(0) => Ok(output),
        _ => bail!("{}", output.transcript()),
    }
}

/// The same game in OpenSpiel's own loop.
fn python_loop(settings: &Settings, what: &str) -> anyhow::Result<Figure> {
    let python = python().map_err(Absent)?;
    let figure = peers::spiel(&World::new(), settings, &python, "python", "connect_four")?;
    let moves = *figure.more.get("moves/s").context("moves")?;
    Ok(Figure {
        id: "packages.loop".to_owned(),
        what: what.to_owned(),
        unit: "plies",
        per_second: moves,
        cpu_us: figure.cpu_us.map(|cpu| cpu * figure.per_second / moves),
        more: Default::default(),
        ..figure
    })
}
