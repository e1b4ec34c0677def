use arena_tests::{Games, Server, World, spec, until};
use serde_json::Value;

/// 30 stages of 100 blocks.
fn season() -> String {
    let open = "format = \"ladder\"\n[ladder]\nopen = true\nblocks_total = 3000\nstep = 100\n";
    let agents = ["random", "aggressive", "defensive", "move-first", "mine"];
    spec("season", "cowry", 1, &agents, open)
}

/// Registers what `mine` plays from now on.
fn register(world: &World, bot: &str, more: &[&str]) {
    let mut arguments = vec!["agent", "register", "mine", "--bot", bot];
    arguments.extend(more);
    let _ = world.arena(&arguments).ok();
}

fn change(world: &World, arguments: &[&str], id: &str, at: &str, access: [&str; 2]) -> String {
    let mut all = vec!["tournament", "agents", arguments[0], id];
    all.extend(&arguments[1..]);
    all.extend(["--at-blocks", at, "--output", "json"]);
    all.extend(access);
    let changed = world.arena(&all).ok().json();
    assert_eq!(changed["at_blocks"].to_string(), at, "{changed}");
    changed["agent"].as_str().expect("a name").to_owned()
}

/// The changes of the first and of the second half.
fn changes(world: &World, half: usize, id: &str, url: &str) {
    let access = ["--coordinator", url];
    let make = |arguments: &[&str], at| change(world, arguments, id, at, access);
    let register = |bot| register(world, bot, &["--replace", access[0], access[1]]);
    if half == 0 {
        assert_eq!(make(&["add", "move-last"], "200"), "move-last");
        assert_eq!(make(&["bench", "random"], "300"), "random");
        return;
    }
    register("mixed");
    assert_eq!(make(&["replace", "mine"], "2000"), "mine-v2");
    let ban = ["ban", "defensive", "--reason", "plays by hand"];
    assert_eq!(make(&ban, "2100"), "defensive");
    assert_eq!(make(&["add", "random"], "2200"), "random");
    let with = ["replace", "aggressive", "--with", "greedy"];
    assert_eq!(make(&with, "2300"), "greedy");
}

fn finish(world: &World, id: &str, coordinator: &Server) -> (Games, Value) {
    let url = coordinator.url();
    world.finish_tournament(id, &url);
    let access = ["--coordinator", &*url];
    (world.export(id, access), world.standings(id, access))
}

#[test]
fn season_is_the_same_for_any_fleet_and_kills() {
    let world = World::new();
    // One worker, and all changes before the first game.
    let coordinator = world.coordinator("one", &[]);
    let url = coordinator.url();
    register(&world, "random", &["--coordinator", &url]);
    let id = world.start_tournament("one", &season(), &url);
    changes(&world, 0, &id, &url);
    changes(&world, 1, &id, &url);
    let _worker = world.worker(&coordinator, &[]);
    let (expected, standings) = finish(&world, &id, &coordinator);
    coordinator.stop();

    // Three workers, a coordinator that is killed, and changes while games are played.
    let mut coordinator = world.coordinator("three", &[]);
    let listen = coordinator.listen().to_owned();
    let url = coordinator.url();
    register(&world, "random", &["--coordinator", &url]);
    assert_eq!(world.start_tournament("three", &season(), &url), id);
    changes(&world, 0, &id, &url);
    let _workers = [0, 1, 2].map(|_| world.worker(&coordinator, &[]));
    until("a game to be durable", || {
        (coordinator.metric("arena_games_total", &[]) > 0.0).then_some(())
    });
    let access = ["--coordinator", &*url];
    for what in ["pause", "resume"] {
        let _ = world
            .arena(&["tournament", what, &id, access[0], access[1]])
            .ok();
        if what == "pause" {
            changes(&world, 1, &id, &url);
        }
        coordinator.kill();
        coordinator = world.coordinator("three", &["--listen", &listen]);
    }
    let (games, found) = finish(&world, &id, &coordinator);
    assert_eq!(expected.games.len(), 6000);
    assert_eq!(expected.difference(&games), None);
    assert_eq!(standings, found);

    let season = found["season"].as_array().expect("agents of a season");
    let of = |name: &str| {
        let agent = season.iter().find(|it| it["agent"] == name);
        agent.unwrap_or_else(|| panic!("no {name} in {season:?}"))
    };
    assert_eq!(of("mine")["state"], "replaced");
    assert_eq!(of("mine")["successor"], "mine-v2");
    assert_eq!(of("mine-v2")["state"], "active");
    assert_eq!(of("defensive")["reason"], "plays by hand");
    assert_eq!(of("random")["state"], "active");
    assert_eq!(of("greedy")["predecessor"], "aggressive");
    let list = ["tournament", "agents", "list", &id, access[0], access[1]];
    let list = world.arena(&list).ok().stdout;
    for word in ["mine-v2", "banned", "plays by hand", "replaced"] {
        assert!(list.contains(word), "{word}: {list}");
    }
    // Games of another version are those of another agent.
    let of_version = |name: &str| {
        let seats = |game: &&Value| {
            game["seats"]
                .as_array()
                .is_some_and(|it| it.contains(&name.into()))
        };
        let blocks = games
            .games
            .iter()
            .filter(seats)
            .map(|game| game["block"].as_u64());
        blocks.flatten().collect::<Vec<u64>>()
    };
    let [old, new] = ["mine", "mine-v2"].map(of_version);
    assert!(old.iter().all(|block| *block < 2000), "{old:?}");
    assert!(
        !new.is_empty() && new.iter().all(|block| *block >= 2000),
        "{new:?}"
    );
}
