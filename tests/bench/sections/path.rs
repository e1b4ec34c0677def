//! The path of a decision, from one thread that plays like a worker to an agent in Python.

use anyhow::Context;
use arena_tests::{World, repository};

use crate::{
    Settings, arena, note,
    report::{Absent, Figure, Measured},
};

/// An agent that chooses at random.
const PYTHON_AGENT: &str = "tests/bench/agents/uniform.py";

pub(super) fn measure(settings: &Settings, measured: &mut Measured) {
    let world = World::new();
    measured.take("as a worker plays", rules(&world, settings));
    let line = |what: &str, arguments: &[&str]| arena::one(&world, settings, what, arguments);

    let what = "agents in the worker";
    let figures = line(what, &["in-process"]).map(|line| {
        let mut figure = line.decisions("path.in-process", what);
        figure.note = Some("a whole tournament, results durable".to_owned());
        vec![figure]
    });
    measured.take(what, figures);

    let what = "agents in Rust as processes, batched";
    let figures = line(what, &["batched"]).map(|line| {
        let mut figure = line.decisions("path.batched", what);
        figure.floor = Some("floors.stream-batch");
        let games = "random against random through processes";
        vec![figure, line.games("path.games", games)]
    });
    measured.take(what, figures);

    let what = "agents in Rust as processes, unary";
    let figures = line(what, &["unary"]).map(|line| {
        let mut figure = line.decisions("path.unary", what);
        figure.floor = Some("floors.unary-64");
        vec![figure]
    });
    measured.take(what, figures);

    let what = "agents in Python as processes, batched";
    measured.take(what, python(settings, what));
}

/// Each ruleset as a worker plays it, in decisions.
fn rules(world: &World, settings: &Settings) -> anyhow::Result<Vec<Figure>> {
    note("  rules");
    let lines = arena::rules(world, settings)?;
    let played = lines.iter().filter(|line| line.bare == Some(false));
    Ok(played
        .map(|line| {
            let (ruleset, seats) = (&line.ruleset, line.seats.unwrap_or_default());
            let id = format!("path.rules-{ruleset}-{seats}");
            let what = format!("{ruleset}, {seats} seats, as a worker plays");
            line.decisions(&id, &what)
        })
        .collect())
}

fn python(settings: &Settings, what: &str) -> anyhow::Result<Vec<Figure>> {
    arena_tests::python().map_err(Absent)?;
    let world = World::with_python();
    let agent = repository().join(PYTHON_AGENT);
    let agent = agent.to_str().context("a path in UTF-8")?;
    let line = arena::one(&world, settings, what, &["batched", "--agent", agent])?;
    let mut figure = line.decisions("path.python", what);
    figure.floor = Some("floors.stream-batch");
    Ok(vec![figure])
}
