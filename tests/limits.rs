use arena_tests::{World, spec};

#[test]
fn tokens_have_limits() {
    let world = World::new();
    let wrong = ["--limit", "submitter.agent=1"];
    let wrong = world.arena(&[&["coordinator", "--data", "data"][..], &wrong].concat());
    wrong.fails(2, &["unknown limit", "agents, tournaments"]);
    let limit = ["--limit", "submitter.agents=1,worker.streams=9"];
    let coordinator = world.coordinator("data", &limit);
    let url = coordinator.url();
    let new = ["token", "create", "--coordinator", &url, "--role"];
    for (role, limit, expected) in [
        ("submitter", "agent=1", "unknown limit \"agent\""),
        (
            "submitter",
            "agents=x",
            "expected a number from 0, or unlimited",
        ),
        (
            "viewer",
            "agents=1",
            "only the limits streams and requests-per-second",
        ),
    ] {
        let flags = [&new[..], &[role, "--limit", limit]].concat();
        world.arena(&flags).fails(2, &[expected]);
    }
    for (file, role, limits) in [
        (
            "a.token",
            "submitter",
            &["--limit", "requests-per-second=5"][..],
        ),
        (
            "b.token",
            "submitter",
            &["--limit", "agents=2", "--limit", "games=10"],
        ),
        ("w.token", "worker", &["--limit", "requests-per-second=5"]),
    ] {
        let flags = [&["--role", role, "--write", file][..], limits].concat();
        let create = ["token", "create", "--coordinator", &url];
        let _ = world.arena(&[&create[..], &flags].concat()).ok();
    }
    let listed = ["token", "list", "--coordinator", &url];
    let table = world.arena(&listed).ok().stdout;
    assert!(table.contains("agents=2 games=10"), "{table}");
    let json = world
        .arena(&[&listed[..], &["--output", "json"]].concat())
        .ok();
    assert!(json.stdout.contains("\"agents\": 2"), "{}", json.stdout);
    let register = |token, name| {
        let of = ["--coordinator", &url, "--token-file", token];
        let flags = ["agent", "register", name, "--bot", "random"];
        world.arena(&[&flags[..], &of].concat())
    };
    for (token, names) in [
        ("a.token", &["a1", "a2"][..]),
        ("b.token", &["b1", "b2", "b3"]),
    ] {
        let (last, first) = names.split_last().expect("names");
        first
            .iter()
            .for_each(|name| drop(register(token, name).ok()));
        let expected = format!("at most {} registered agents (agents)", first.len());
        register(token, last).fails(1, &[&expected, "arena agent remove"]);
    }
    // Commands and workers with too many requests wait.
    let of = ["--coordinator", &url, "--token-file"];
    let worker = [
        &["worker", "--metrics", "127.0.0.1:0"],
        &of[..],
        &["w.token"],
    ]
    .concat();
    let _worker = world.server(&worker);
    let _ = world.write("cup.toml", spec("cup", "cowry", 10, &["a1", "random"], ""));
    let start = ["tournament", "start", "cup.toml", "--watch"];
    let excess = world.arena(&[&start[..], &of, &["b.token"]].concat());
    excess.fails(1, &["at most 10 games of running tournaments"]);
    let _ = world.arena(&[&start[..], &of, &["a.token"]].concat()).ok();
}
