//! Other systems, measured in the same run and in the same way.

mod leagues;

use std::{
    path::{self, Path},
    process::Command,
};

use anyhow::{Context, bail};
use arena_tests::{World, repository};
use serde::Deserialize;

use crate::{
    Settings, arena, note,
    report::{Absent, Figure, Measured, median},
};

pub(super) fn measure(settings: &Settings, measured: &mut Measured) {
    let world = World::new();
    let python = settings.tools.join("peers/python/bin/python");
    note("  Arena: rules");
    let lines = arena::rules(&world, settings);
    if let Err(error) = &lines {
        measured.take("Arena: rules", Err(anyhow::anyhow!("{error:#}")));
    }
    let lines = lines.unwrap_or_default();
    for (ruleset, game, reported) in [
        (
            "kalah",
            "mancala",
            "the rules of kalah with its default options",
        ),
        (
            "oware-abapa",
            "oware",
            "the rules of oware-abapa with its default options",
        ),
    ] {
        for line in lines.iter().filter(|line| line.ruleset == ruleset) {
            measured.figures.push(ours(line, ruleset));
        }
        for (loops, language) in [("cpp", "C++"), ("python", "Python")] {
            let what = format!("OpenSpiel: {game}, its {language} loop with random moves");
            let figure = spiel(&world, settings, &python, loops, game).map(|figure| {
                let id = format!("peers.openspiel-{loops}-{game}");
                let (what, note) = (what.clone(), Some(reported.to_owned()));
                vec![Figure {
                    id,
                    what,
                    note,
                    group: ruleset,
                    ..figure
                }]
            });
            measured.take(&what, figure);
        }
    }
    for line in &lines {
        if !["kalah", "oware-abapa"].contains(&line.ruleset.as_str()) {
            measured.figures.push(ours(line, "rules"));
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

/// A line of `arena bench rules`, in games.
fn ours(line: &arena::Line, group: &'static str) -> Figure {
    let (ruleset, seats) = (&line.ruleset, line.seats.unwrap_or_default());
    let (way, reported, note) = if line.bare == Some(true) {
        ("bare", "rules alone", "the same loop as OpenSpiel's in C++")
    } else {
        (
            "played",
            "as a worker plays",
            "keys derived, luck counted where there are dice, and every event kept for the \
             record; forced moves are not counted as decisions",
        )
    };
    let id = format!("peers.{ruleset}-{seats}-{way}");
    let mut figure = line.games(&id, &format!("Arena: {ruleset}, {seats} seats, {reported}"));
    figure.group = group;
    figure.note = Some(note.to_owned());
    figure
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

/// The loop of OpenSpiel, in this Python.
pub(super) fn spiel(
    world: &World,
    settings: &Settings,
    python: &Path,
    loops: &str,
    game: &str,
) -> anyhow::Result<Figure> {
    // An absolute path, because it is started in another folder.
    let python = path::absolute(python)?;
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
            bail!("{}", output.transcript());
        }
        let text: Spiel = serde_json::from_str(&output.stdout).context("what spiel.py prints")?;
        runs.push(Figure {
            unit: "games",
            per_second: text.games as f64 / text.seconds,
            cpu_us: Some(text.cpu_seconds * 1e6 / text.games as f64),
            memory_mb: [("process", text.peak_mb)].into(),
            more: [("moves/s".to_owned(), text.moves as f64 / text.seconds)].into(),
            ..Figure::default()
        });
    }
    median(runs).context("no run")
}
