use arena_tests::{World, repository, spec};

#[test]
fn python_agent_plays_four_seats() {
    let world = World::with_python();
    let coordinator = world.coordinator("data", &[]);
    let url = coordinator.url();
    let agent = repository().join("agents/sdk/python/examples/greedy.py");
    let agent = agent.to_str().expect("UTF-8");
    let _ = world
        .arena(&[
            "agent",
            "register",
            "my-greedy",
            "--binary",
            agent,
            "--coordinator",
            &url,
        ])
        .ok();
    let workers = [
        world.worker(&coordinator, &[]),
        world.worker(&coordinator, &["--builtin", "process"]),
    ];
    let spec = spec(
        "table",
        "cowry",
        6,
        &["random", "aggressive", "defensive", "my-greedy"],
        "seats = 4",
    );
    let id = world.start_tournament("table", &spec, &url);
    world.finish_tournament(&id, &url);
    let standings = world
        .arena(&["standings", &id, "--coordinator", &url, "--output", "json"])
        .ok()
        .json();
    let agents = standings["agents"].as_array().expect("agents");
    assert_eq!(agents.len(), 4);
    for agent in agents {
        assert_eq!(agent["games"], 24, "{agent}");
        assert_eq!(agent["faults"], 0, "{agent}");
        assert_eq!(agent["voids"], 0, "{agent}");
    }
    let games = world.export(&id, ["--coordinator", &url]);
    assert!(games.games.iter().all(|game| game["fault"].is_null()));
    for worker in workers {
        worker.stop();
    }
    coordinator.stop();
    world.nothing_runs();
}

#[test]
fn python_agent_is_reproducible() {
    let world = World::with_python();
    let agent = repository().join("agents/sdk/python/examples/greedy.py");
    let agent = agent.to_str().expect("UTF-8");
    let spec = spec(
        "sowing",
        "kalah",
        3,
        &["my-greedy", "random"],
        "[play]\nopening_plies = 3",
    );
    let play = |data: &str, workers: &str| {
        let _ = world
            .arena(&[
                "agent",
                "register",
                "my-greedy",
                "--binary",
                agent,
                "--data",
                data,
            ])
            .ok();
        world.tournament(&spec, data, &["--workers", workers]).2
    };
    let one = play("one", "1");
    assert_eq!(one.difference(&play("three", "3")), None);
    world.nothing_runs();
}
