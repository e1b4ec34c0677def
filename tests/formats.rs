//! Each format with real agents: the fleet and kills change neither its games nor its verdict.

use arena_tests::{Games, PAPER_000, Server, World, is_long, spec, until};
use serde_json::Value;

/// Runs a spec of a format in several ways and compares the results.
fn holds(agents: &[&str], blocks: u64, format: &str) {
    let spec = spec("formats", "cowry", blocks, agents, format);
    let world = World::new();
    let (id, standings, one) = world.tournament(&spec, "one", &[]);
    let verdict = verdict(&standings);
    assert_eq!(standings["games"], standings["games_total"]);
    assert_eq!(one.games.len() as u64, standings["games"], "{format}");
    let path = world.write("plan.toml", &spec);
    let plan = ["tournament", "plan", &path, "--measure", "0"];
    let plan = world
        .arena(&[&plan[..], &["--output", "json"]].concat())
        .ok()
        .json();
    let [least, most] = ["games_least", "games_most"].map(|key| plan[key].as_u64());
    let games = Some(one.games.len() as u64);
    assert!(least <= games && games <= most, "{format}: {plan}");
    let (other, standings, three) = world.tournament(&spec, "three", &["--workers", "3"]);
    assert_eq!(other, id);
    same(
        format,
        "three workers",
        (&one, &verdict),
        &three,
        &standings,
    );
    let shown = world
        .arena(&["tournament", "show", &id, "--data", "one"])
        .ok();
    let text = verdict["text"].as_str().expect("a text");
    assert!(shown.stdout.contains(text), "{}", shown.transcript());
    // With more than two seats only in the long form.
    if !format.contains("seats") || is_long() {
        killed(&world, &spec, (&one, &verdict), format);
    }
    world.nothing_runs();
}

/// Kills the coordinator twice during the tournament.
fn killed(world: &World, spec: &str, left: (&Games, &Value), format: &str) {
    let mut coordinator = world.coordinator("killed", &[]);
    let listen = coordinator.listen().to_owned();
    let url = coordinator.url();
    let id = world.start_tournament("killed", spec, &url);
    let worker = world.worker(&coordinator, &["--builtin", "process"]);
    for _ in 0..2 {
        let games = left.0.games.len() as f64 / 4.0;
        let done = durable(&coordinator, games);
        assert!(
            done < left.0.games.len() as f64,
            "it was over before the kill"
        );
        coordinator.kill();
        coordinator = world.coordinator("killed", &["--listen", &listen]);
    }
    world.finish_tournament(&id, &url);
    let standings = world.standings(&id, ["--coordinator", &url]);
    let games = world.export(&id, ["--coordinator", &url]);
    same(format, "killed coordinator", left, &games, &standings);
    worker.stop();
    coordinator.stop();
}

fn verdict(standings: &Value) -> Value {
    let verdict = standings["verdict"].clone();
    assert!(verdict["kind"].is_string(), "{standings}");
    verdict
}

#[track_caller]
fn same(format: &str, what: &str, left: (&Games, &Value), games: &Games, standings: &Value) {
    if let Some(difference) = left.0.difference(games) {
        panic!("{format}, {what}: {difference}");
    }
    assert_eq!(left.1.to_string(), verdict(standings).to_string(), "{what}");
}

/// All of them in the long form, else the first.
fn sampled<T, const N: usize>(all: [T; N]) -> impl Iterator<Item = T> {
    all.into_iter().take(if is_long() { N } else { 1 })
}

/// Waits until this many games are durable since the coordinator started.
fn durable(coordinator: &Server, games: f64) -> f64 {
    until("games to be durable", || {
        let done = coordinator.metric("arena_games_total", &[]);
        (done >= games).then_some(done)
    })
}

#[test]
fn gauntlet_is_reproducible() {
    holds(&PAPER_000, 100, "format = \"gauntlet\"");
}

#[test]
fn sprt_is_reproducible() {
    let test = "format = \"sprt\"\n[sprt]\nelo1 = 12\nstep = 100";
    holds(&["aggressive", "defensive"], 1500, test);
}

#[test]
fn sprt_of_three_seats_is_reproducible() {
    let test = "format = \"sprt\"\nseats = 3\n[sprt]\nelo1 = 5\nstep = 50";
    holds(&["aggressive", "defensive"], 600, test);
}

#[test]
fn swiss_is_reproducible() {
    holds(&PAPER_000, 50, "format = \"swiss\"\n[swiss]\nrounds = 4");
}

#[test]
fn knockout_is_reproducible() {
    let double = "format = \"knockout\"\n[knockout]\nelimination = \"double\"";
    holds(&PAPER_000, 60, double);
}

#[test]
fn knockout_of_four_seats_is_reproducible() {
    holds(&PAPER_000, 75, "format = \"knockout\"\nseats = 4");
}

#[test]
fn single_elimination_is_reproducible() {
    holds(&PAPER_000, 80, "format = \"knockout\"");
}

#[test]
fn gauntlet_of_more_seats_is_reproducible() {
    for (seats, blocks) in sampled([(3, 10), (4, 8)]) {
        holds(
            &PAPER_000,
            blocks,
            &format!("format = \"gauntlet\"\nseats = {seats}"),
        );
    }
}

#[test]
fn swiss_of_more_seats_is_reproducible() {
    for (seats, blocks) in sampled([(3, 20), (4, 25)]) {
        holds(
            &PAPER_000,
            blocks,
            &format!("format = \"swiss\"\nseats = {seats}"),
        );
    }
}

#[test]
fn ladder_of_more_seats_is_reproducible() {
    for (seats, blocks) in sampled([(3, 15), (4, 12)]) {
        let ladder = format!("format = \"ladder\"\nseats = {seats}\n[ladder]\nstep = 25");
        holds(&PAPER_000, blocks, &ladder);
    }
}

#[test]
fn ladder_is_reproducible() {
    holds(&PAPER_000, 100, "format = \"ladder\"\n[ladder]\nstep = 30");
}

#[test]
fn fixed_list_is_reproducible() {
    let games = "format = \"fixed\"\n[fixed]\ngames = [[\"random\", \"mixed\"], \
                 [\"mixed\", \"defensive\"], [\"random\", \"mixed\"]]";
    holds(&PAPER_000, 200, games);
}

#[test]
fn plan_gives_up_slow_bots() {
    let world = World::new();
    let bot = |name| {
        format!(
            "[[agent]]\nname = \"{name}\"\nbot = \"mcts\"\n[agent.options]\niterations = 1000000"
        )
    };
    let spec = spec(
        "slow",
        "kalah",
        2,
        &["a", "b"],
        &["a", "b"].map(bot).join("\n"),
    );
    let path = world.write("slow.toml", spec);
    let plan = ["tournament", "plan", &path, "--measure", "0.05"];
    let reported = world.arena(&plan).ok();
    assert!(
        reported.stdout.contains("no block was finished"),
        "{}",
        reported.transcript()
    );
}
