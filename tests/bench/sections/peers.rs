//! Other systems, measured in the same run and in the same way.

mod leagues;

use std::process::Command;

use anyhow::{Context, bail};
use arena_tests::{World, repository};
use serde::Deserialize;

use crate::{
    Settings, arena, note,
    report::{Absent, Figure, Measured, median},
};

pub(super) fn measure(settings: &Settings, measured: &mut Measured) {
    let world = World::new();
    let what = "Arena: kalah, rules and random moves in one thread";
    measured.take(what, kalah(&world, settings, what));
    for (game, told) in [
        ("mancala", "the same game as kalah here"),
        (
            "oware",
            "no ruleset of the same name here: for its loop alone",
        ),
    ] {
        for (loops, language) in [("cpp", "C++"), ("python", "Python")] {
            let what = format!("OpenSpiel: {game}, its {language} loop with random moves");
            let figure = spiel(&world, settings, loops, game).map(|figure| {
                let id = format!("peers.openspiel-{loops}-{game}");
                let (what, note) = (what.clone(), Some(told.to_owned()));
                vec![Figure {
                    id,
                    what,
                    note,
                    ..figure
                }]
            });
            measured.take(&what, figure);
        }
    }
    let what = "Arena: cowry through processes, batched";
    let line = arena::one(&world, settings, what, &["batched"]).map(|line| {
        let mut figure = line.games("peers.arena-processes", what);
        figure.group = "matches";
        figure.note = Some(
            "real games of about a hundred decisions, by agents in processes of their own, \
             results durable"
                .to_owned(),
        );
        vec![figure]
    });
    measured.take(what, line);
    let what = "cgarena: matches without a game";
    measured.take(what, leagues::cgarena(settings, what));
    let what = "psyleague: matches without a game";
    measured.take(what, leagues::psyleague(settings, what));
}

fn kalah(world: &World, settings: &Settings, what: &str) -> anyhow::Result<Vec<Figure>> {
    note(format!("  {what}"));
    let mut runs = Vec::new();
    for _ in 0..settings.runs() {
        let lines = arena::bench(world, &["rules"], settings.seconds())?;
        let line = lines.into_iter().find(|line| line.ruleset == "kalah");
        let line = line.context("arena bench measures no kalah")?;
        let mut figure = line.games("peers.arena-kalah", what);
        let decisions = line.decisions("", "").per_second;
        figure.more.insert("decisions/s".to_owned(), decisions);
        figure.note = Some(
            "keys derived and every event kept for the record; forced moves are not counted as \
             decisions"
                .to_owned(),
        );
        runs.push(figure);
    }
    Ok(vec![median(runs).context("no run")?])
}

/// What `spiel.py` prints.
#[derive(Deserialize)]
struct Spiel {
    games: u64,
    moves: u64,
    seconds: f64,
    cpu_seconds: f64,
    peak_mb: f64,
}

fn spiel(world: &World, settings: &Settings, loops: &str, game: &str) -> anyhow::Result<Figure> {
    // Absolute, since it is started in another folder.
    let python = std::path::absolute(settings.tools.join("peers/python/bin/python"))?;
    let script = repository().join("tests/bench/peers/spiel.py");
    let have = Command::new(&python)
        .args(["-c", "import pyspiel"])
        .output();
    if !have.is_ok_and(|output| output.status.success()) {
        bail!(Absent(format!(
            "{} cannot import pyspiel: tests/bench/run installs open_spiel where pip can",
            python.display()
        )));
    }
    note(format!("  OpenSpiel, {game}, {loops}"));
    let mut runs = Vec::new();
    for _ in 0..settings.runs() {
        let mut command = world.command(&python);
        command.arg(&script).args([loops, game]);
        command.arg(settings.seconds().to_string());
        let output = world.run(command);
        if output.code != Some(0) {
            bail!("{}", output.told());
        }
        let told: Spiel = serde_json::from_str(&output.stdout).context("what spiel.py prints")?;
        runs.push(Figure {
            unit: "games",
            per_second: told.games as f64 / told.seconds,
            cpu_us: Some(told.cpu_seconds * 1e6 / told.games as f64),
            memory_mb: [("process", told.peak_mb)].into(),
            more: [("moves/s".to_owned(), told.moves as f64 / told.seconds)].into(),
            ..Figure::default()
        });
    }
    median(runs).context("no run")
}
