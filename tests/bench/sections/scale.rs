//! Increases one setting at a time, with all others at their defaults.

use arena_tests::World;

use crate::{
    Settings, arena,
    report::{Figure, Measured},
};

pub(super) fn measure(settings: &Settings, measured: &mut Measured) {
    let world = World::new();
    let mut take = |group: &'static str, number: u32, what: &str, arguments: &[&str]| {
        let route = arguments[0];
        let what = format!("{number} {what}, {route}");
        let line = arena::one(&world, settings, &what, arguments);
        let id = format!("scale.{group}-{number}");
        let figures = line.map(|line| {
            let figure = line.decisions(&id, &what);
            vec![Figure { group, ..figure }]
        });
        measured.take(&what, figures);
    };
    for (group, route) in [("workers-in-process", "in-process"), ("workers", "batched")] {
        for workers in [1, 2, 4] {
            let count = workers.to_string();
            let arguments = [route, "--workers", &count];
            take(group, workers, "worker processes", &arguments);
        }
    }
    for games in [1, 8, 64, 512, 4096] {
        let count = games.to_string();
        let arguments = ["batched", "--capacity", &count];
        take("games", games, "games in flight", &arguments);
    }
    for agents in [2, 8, 32, 64] {
        let count = agents.to_string();
        let arguments = ["batched", "--agents", &count];
        take("agents", agents, "agents, each a process", &arguments);
    }
}
