use arena_tests::{Games, PAPER_000, Server, World, spec, until};

fn paper_spec(blocks: u64) -> String {
    spec("fleet", "cowry", blocks, &PAPER_000, "")
}

/// Fails if two fleets left different records of one tournament.
#[track_caller]
fn same(what: &str, expected: &Games, found: &Games) {
    if let Some(difference) = expected.difference(found) {
        panic!("{what}: {difference}");
    }
}

/// The results of the spec with one worker, in its own world.
fn reference(spec: &str) -> Games {
    World::new().tournament(spec, "one", &[]).2
}

/// Waits until this number of games is durable.
fn durable(coordinator: &Server, games: f64) {
    until("games to be durable", || {
        (coordinator.metric("arena_games_total", &[]) >= games).then_some(())
    });
}

#[test]
fn fleets_leave_same_records() {
    let world = World::new();
    let spec = paper_spec(20);
    let (id, _, one) = world.tournament(&spec, "one", &[]);
    assert_eq!(one.games.len(), 20 * 2 * 15);
    for (data, more) in [
        ("three", &["--workers", "3"][..]),
        ("process", &["--builtin", "process"]),
    ] {
        let (other_id, _, games) = world.tournament(&spec, data, more);
        assert_eq!(other_id, id);
        same(data, &one, &games);
    }
    world.nothing_runs();
}

#[test]
fn killed_worker_changes_no_record() {
    let spec = paper_spec(60);
    let reference = reference(&spec);
    let world = World::new();
    let coordinator = world.coordinator("data", &[]);
    let url = coordinator.url();
    let id = world.start_tournament("fleet", &spec, &url);
    // Agents as processes, so that the run takes some time and has children to end.
    let doomed = world.worker(&coordinator, &["--builtin", "process"]);
    durable(&coordinator, 100.0);
    doomed.kill();
    assert!(
        coordinator.metric("arena_games_total", &[]) < reference.games.len() as f64,
        "the tournament was over before the kill"
    );
    until("the agents of the killed worker to end", || {
        let left = world.processes();
        (left.len() == 1).then_some(())
    });
    let _worker = world.worker(&coordinator, &[]);
    world.finish_tournament(&id, &url);
    same(
        "killed worker",
        &reference,
        &world.export(&id, ["--coordinator", &url]),
    );
}

#[test]
fn drivers_and_replicas_change_no_record() {
    let spec = paper_spec(40);
    let (reference_id, _, reference) = World::new().tournament(&spec, "one", &[]);
    for (drivers, replicas) in [("1", 1), ("1", 3), ("2", 1), ("2", 3)] {
        let of = format!("{drivers} drivers, {replicas} replicas");
        let world = World::new();
        let coordinator = world.coordinator("data", &[]);
        let url = coordinator.url();
        let spec = format!("{spec}[play]\nreplicas = {replicas}\n");
        let id = world.start_tournament("fleet", &spec, &url);
        assert_eq!(id, reference_id, "{of}");
        let flags = ["--builtin", "process", "--drivers", drivers];
        let doomed = world.worker(&coordinator, &flags);
        durable(&coordinator, 50.0);
        doomed.kill();
        let _worker = world.worker(&coordinator, &flags);
        world.finish_tournament(&id, &url);
        let games = world.export(&id, ["--coordinator", &url]);
        same(&of, &reference, &games);
    }
}

#[test]
fn killed_coordinator_changes_no_record() {
    let spec = paper_spec(60);
    let reference = reference(&spec);
    let world = World::new();
    let mut coordinator = world.coordinator("data", &[]);
    let listen = coordinator.listen().to_owned();
    let url = coordinator.url();
    let id = world.start_tournament("fleet", &spec, &url);
    let worker = world.worker(&coordinator, &["--builtin", "process"]);
    for kill_at in [60.0, 60.0] {
        durable(&coordinator, kill_at);
        coordinator.kill();
        coordinator = world.coordinator("data", &["--listen", &listen]);
    }
    world.finish_tournament(&id, &url);
    same(
        "killed coordinator",
        &reference,
        &world.export(&id, ["--coordinator", &url]),
    );
    worker.stop();
    coordinator.stop();
    world.nothing_runs();
}

#[test]
fn different_seed_plays_different_games() {
    let world = World::new();
    let spec = paper_spec(1);
    let (id, _, games) = world.tournament(&spec, "one", &[]);
    let (other_id, _, other) = world.tournament(&spec, "two", &["--seed", "0x5eee"]);
    assert_ne!(id, other_id);
    assert!(games.difference(&other).is_some());
}

/// The bots that play a ruleset, on a variant that they all support.
fn everybody(ruleset: &str) -> String {
    let plays =
        |bot: &&arena_agents::BotInfo| bot.rulesets.is_empty() || bot.rulesets.contains(&ruleset);
    let bots = arena_agents::bots().iter().filter(plays);
    let names: Vec<&str> = bots.map(|bot| bot.name).collect();
    assert!(names.len() > 3, "{ruleset}: {names:?}");
    let variant = match ruleset {
        "cowry" => "[options]\npreset = \"cb2012\"",
        _ => "",
    };
    spec("everybody", ruleset, 1, &names, variant)
}

/// Bots with their options.
type Bots = &'static [(&'static str, &'static str)];

/// Options that make a bot draw, search or evaluate differently from its defaults, with the rules
/// for each.
const OTHERWISE: &[(&str, &str, Bots)] = &[
    (
        "cowry",
        "preset = \"cb2012\"",
        &[
            (
                "chowka-expectiminimax",
                "search = \"code\", heuristic = \"h4\"",
            ),
            (
                "chowka-expectiminimax",
                "h = \"text\", weights = \"true-dice\"",
            ),
            ("chowka-naive", "h = \"text\", heuristic = \"h3\""),
            ("mixed", "form = \"prob\", weights = [1, 2, 3, 0, 0.5]"),
            ("aggressive", "tie = \"first\""),
            ("mcts", "iterations = 20, rollout = \"random\""),
        ],
    ),
    (
        "cowry",
        "preset = \"doubles\"",
        &[
            ("chowka-expectiminimax", "heuristic = \"h2\""),
            ("chowka-naive", "heuristic = \"h4\""),
            ("chowka-random-dup", ""),
            ("chowka-random-dup", "twice = \"lands\""),
        ],
    ),
    (
        "chinese-ludo",
        "",
        &[
            ("ludo-threat", "plies = 2, reply_weight = \"thirty-sixth\""),
            ("ludo-threat", "plies = 3"),
            (
                "ludo-threat",
                "table = \"realtime\", hit_in_threat = \"literal\"",
            ),
            ("ludo-threat", "threat = \"formula\""),
            (
                "mcts",
                "iterations = 20, rollout = \"plies\", rollout_plies = 3",
            ),
        ],
    ),
    (
        "oware-abapa",
        "preset = \"paper002\"",
        &[
            (
                "oware-minimax",
                "depth = 2, weights = [0.5, -1, 0, 0, 0, 0.25, 0, 0, -1, 1, 0, 1e-3]",
            ),
            ("oware-minimax", "depth = 4, terminal = \"eval\""),
            ("expectimax", "nodes = 50"),
        ],
    ),
    (
        "oware-anan-anan",
        "preset = \"paper002\"",
        &[
            (
                "oware-minimax",
                "depth = 2, weights = [-1, 1, 0, 0, 0, 0, 0, 0, 0.5, 0, 0, 0, 0, 0.1]",
            ),
            (
                "oware-minimax",
                "depth = 3, weights = \"ainooson-anan-anan-d5\"",
            ),
            ("mcts", "iterations = 20, exploration = 1.5"),
        ],
    ),
    (
        "kalah",
        "",
        &[
            ("kalah-alphabeta", "depth = 4, h_flag = 3, explore = 0.3"),
            ("kalah-minimax", "depth = 3, h_flag = 0, explore = 0.05"),
            ("mcts", "iterations = 20, rollout = \"plies\""),
        ],
    ),
];

#[test]
fn bot_options_play_same_over_grpc() {
    for (ruleset, options, bots) in OTHERWISE {
        let names: Vec<String> = (0..bots.len()).map(|place| format!("b{place}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut more = format!("seats = 2\n[options]\n{options}\n");
        for (name, (bot, options)) in names.iter().zip(*bots) {
            more += &format!(
                "[[agent]]\nname = \"{name}\"\nbot = \"{bot}\"\noptions = {{ {options} }}\n"
            );
        }
        let spec = spec("otherwise", ruleset, 1, &names, &more);
        let world = World::new();
        let (id, _, one) = world.tournament(&spec, "one", &[]);
        let process = ["--builtin", "process"];
        let (other_id, _, games) = world.tournament(&spec, "process", &process);
        assert_eq!(other_id, id);
        same(&format!("{ruleset} {options}"), &one, &games);
    }
}

#[test]
fn every_bot_plays_same_in_both_modes() {
    for info in arena_games::rulesets() {
        let spec = everybody(info.name);
        let world = World::new();
        let (id, _, one) = world.tournament(&spec, "one", &[]);
        for (data, more) in [
            ("three", &["--workers", "3"][..]),
            ("process", &["--builtin", "process"]),
        ] {
            let (other_id, _, games) = world.tournament(&spec, data, more);
            assert_eq!(other_id, id);
            same(&format!("{} {data}", info.name), &one, &games);
        }
    }
}
