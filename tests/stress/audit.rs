//! Games that are replayed on another worker, and an agent that is not deterministic.

use std::{thread::sleep, time::Duration};

use serde_json::Value;

use super::{Broken, Figure, Outcome, StressTest};
use crate::{Server, World, program, repository, spec, until};

/// Audits every game.
const ALL: [&str; 2] = ["--audit-share", "1"];
/// Long enough for a worker to get a lease, if there is one.
const A_WHILE: Duration = Duration::from_millis(500);

/// Settings.
#[derive(Debug, clap::Args)]
pub struct Audit {
    /// Blocks of each tournament.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    blocks: u64,
    /// Worker processes.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    workers: u32,
}

impl StressTest for Audit {
    const PROMISE: &'static str = "replayed games agree on another worker, after any \
                                   restart, and an agent that is not deterministic is named";

    fn quick() -> Self {
        Self {
            blocks: 4,
            workers: 2,
        }
    }

    fn run(&self) -> Result<Outcome, Broken> {
        if let Err(reported) = program::python() {
            return Ok(Outcome::Skipped(reported));
        }
        let mut figures = self.steady()?;
        figures.extend(self.unsteady("")?);
        figures.extend(self.unsteady("records = \"hash\"")?);
        Ok(Outcome::Holds(figures))
    }
}

impl Audit {
    /// Deterministic agents: each game is audited once and agrees, also after a restart.
    fn steady(&self) -> Result<Vec<Figure>, Broken> {
        let world = World::new();
        let coordinator = world.coordinator("data", &ALL);
        let listen = coordinator.listen().to_owned();
        let url = coordinator.url();
        let agents = ["random", "aggressive", "mixed"];
        let spec = spec("steady", "cowry", self.blocks, &agents, "");
        let first = world.worker(&coordinator, &[]);
        let id = world.start_tournament("steady", &spec, &url);
        world.finish_tournament(&id, &url);
        sleep(A_WHILE);
        // A worker does not audit a game that it played.
        let reported = audits(&world, &id, &url);
        let games = reported["due"].as_u64().unwrap_or(0);
        if games == 0 || reported["waiting"] != games || reported["agreed"] != 0 {
            return Err(Broken::new(format_args!("with one worker: {reported}")));
        }
        let standings = world.arena(&["standings", &id, "--coordinator", &url]).ok();
        if !standings
            .stdout
            .contains("still to be replayed by another worker")
        {
            return Err(Broken::new(standings.transcript()));
        }
        first.kill();
        coordinator.kill();

        let again = [&ALL[..], &["--listen", &listen]].concat();
        let coordinator = world.coordinator("data", &again);
        let workers: Vec<Server> = (0..self.workers)
            .map(|_| world.worker(&coordinator, &[]))
            .collect();
        let reported = settled(&world, &id, &url);
        if reported["due"] != games || reported["agreed"] != games || reported["differing"] != 0 {
            return Err(Broken::new(format_args!(
                "deterministic agents: {reported}"
            )));
        }
        let counted = coordinator.metric("arena_audits_total", &["outcome=\"agreed\""]);
        if counted != games as f64 {
            return Err(Broken::new(format_args!(
                "{counted} of {games} were counted"
            )));
        }
        let listed = list(&world, &id, &url);
        if !listed.is_empty() {
            return Err(Broken::new(format_args!("listed: {listed:?}")));
        }
        for worker in workers {
            worker.stop();
        }
        coordinator.stop();

        // Audited games are stored, and not audited again.
        let coordinator = world.coordinator("data", &again);
        let worker = world.worker(&coordinator, &[]);
        sleep(A_WHILE);
        let after = audits(&world, &id, &url);
        let counted = coordinator.metric("arena_audits_total", &[]);
        if after != reported || counted > 0.0 {
            return Err(Broken::new(format_args!(
                "{reported} became {after} by a restart, {counted} were audited again"
            )));
        }
        worker.stop();
        coordinator.stop();
        Ok(vec![Figure::new(
            "games of deterministic agents audited, all agree",
            games,
        )])
    }

    /// An agent that falsely claims to be deterministic.
    fn unsteady(&self, records: &str) -> Result<Vec<Figure>, Broken> {
        let world = World::with_python();
        let coordinator = world.coordinator("data", &ALL);
        let url = coordinator.url();
        let agent = repository().join("tests/agents/unsteady.py");
        let agent = agent.to_str().expect("UTF-8");
        let access = ["--coordinator", &url];
        let register = ["agent", "register", "unsteady", "--binary", agent];
        let _ = world.arena(&[&register[..], &access].concat()).ok();
        let workers: Vec<Server> = (0..self.workers)
            .map(|_| world.worker(&coordinator, &[]))
            .collect();
        let spec = spec(
            "unsteady",
            "cowry",
            self.blocks,
            &["unsteady", "aggressive"],
            records,
        );
        let id = world.start_tournament("unsteady", &spec, &url);
        // Disputes that are known by then make the ranking not final.
        world.end_tournament(&id, &url);
        let reported = settled(&world, &id, &url);
        let listed = list(&world, &id, &url);
        let differing = reported["differing"].as_u64().unwrap_or(0);
        if differing == 0 || listed.len() as u64 != differing {
            return Err(Broken::new(format_args!(
                "{reported}, listed {}",
                listed.len()
            )));
        }
        let counted = coordinator.metric("arena_audits_total", &["outcome=\"differing\""]);
        if counted != differing as f64 {
            return Err(Broken::new(format_args!(
                "{counted} were counted: {reported}"
            )));
        }
        let standings = world
            .arena(&["standings", &id, "--coordinator", &url, "--output", "json"])
            .fails(3, &["not final", "third worker"])
            .json();
        let flagged: Vec<&str> = standings["agents"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|agent| agent["non_deterministic"] == true)
            .filter_map(|agent| agent["agent"].as_str())
            .collect();
        let prefix = format!("{id}/");
        // With hashes only, the difference has no details.
        let whole = records.is_empty();
        for row in &listed {
            let named = row["agent"] == "unsteady" && row["event"].is_u64();
            let game = row["game_id"].as_str().unwrap_or_default();
            if !game.starts_with(&prefix) || named != whole {
                return Err(Broken::new(format_args!("listed: {row}")));
            }
        }
        let expected: &[&str] = if whole { &["unsteady"] } else { &[] };
        if flagged != expected {
            return Err(Broken::new(format_args!("flagged: {flagged:?}")));
        }
        for worker in workers {
            worker.stop();
        }
        coordinator.stop();
        world.nothing_runs();
        let name = match whole {
            true => "games of an unsteady agent that differ, named",
            false => "the same where only hashes are kept, found",
        };
        Ok(vec![Figure::new(
            name,
            format!("{differing} of {}", reported["due"]),
        )])
    }
}

fn audits(world: &World, id: &str, url: &str) -> Value {
    let shown = [
        "tournament",
        "show",
        id,
        "--coordinator",
        url,
        "--output",
        "json",
    ];
    world.arena(&shown).ok().json()["audits"].clone()
}

/// The state of the audits when none is waiting.
fn settled(world: &World, id: &str, url: &str) -> Value {
    until("the audits to be done", || {
        let reported = audits(world, id, url);
        (reported["waiting"] == 0).then_some(reported)
    })
}

fn list(world: &World, id: &str, url: &str) -> Vec<Value> {
    let listed = [
        "audit",
        "list",
        id,
        "--coordinator",
        url,
        "--output",
        "jsonl",
    ];
    let listed = world.arena(&listed).ok().stdout;
    let lines = listed.lines().filter(|line| !line.is_empty());
    lines
        .map(|line| serde_json::from_str(line).expect("a line of JSON"))
        .collect()
}
