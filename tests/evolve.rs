use arena_tests::{World, until};
use nix::sys::signal::Signal;

const SPEC: &str = "\
name = \"small\"
ruleset = \"oware-anan-anan\"
seed = \"0x5eed\"

[player]
bot = \"oware-minimax\"
options = { depth = 1 }

[evolution]
population = 6
elites = 2
generations = 40
";

/// Lines of the generations so far.
fn generations(stdout: &str) -> usize {
    stdout.matches("\"tournament_id\":\"small-g").count()
}

#[test]
fn killed_evolution_finds_same_champion() {
    let world = World::new();
    let spec = world.write("small.toml", SPEC);
    let run = |data: &str, more: &[&str]| {
        let arguments = ["evolve", &spec, "--data", data, "--output", "jsonl"];
        world.arena(&[&arguments, more].concat()).ok()
    };
    let first = run("whole", &[]);
    let text = |number| {
        first
            .stderr
            .contains(&format!("generation {number}/40: best"))
    };
    assert!((1..=40).all(text), "{}", first.transcript());
    let whole = first.stdout;
    // 40 generations, and the champion with the last tournament.
    assert_eq!(generations(&whole), 41, "{whole}");
    for lines in [2, 9] {
        let data = format!("killed-{lines}");
        let arguments = ["evolve", &spec, "--data", &data, "--output", "jsonl"];
        let killed = world.start(&arguments);
        until("some generations", || {
            (generations(&killed.stdout()) >= lines).then_some(())
        });
        killed.signal(Signal::SIGKILL);
        let killed = killed.output();
        assert_eq!(killed.code, None, "it was killed: {}", killed.transcript());
        assert!(whole.starts_with(&killed.stdout), "{}", killed.transcript());
        world.nothing_runs();
        assert_eq!(run(&data, &["--workers", "2"]).stdout, whole);
    }
    // Finished tournaments are not played again.
    assert_eq!(run("whole", &["--workers", "0"]).stdout, whole);
    world.nothing_runs();
}

#[test]
fn champion_plays_in_the_spec_of_a_tournament() {
    let world = World::new();
    let spec = world.write("small.toml", SPEC);
    let evolve = ["evolve", &spec, "--data", "data", "--generations", "3"];
    let evolved = world.arena(&[&evolve[..], &["--champion", "champion.toml"]].concat());
    let champion = evolved.ok().stdout;
    let written = std::fs::read_to_string(world.folder().join("champion.toml"));
    assert_eq!(written.expect("a file"), champion);
    let nowhere = ["--champion", "nowhere/champion.toml"];
    let nowhere = world.arena(&[&evolve[..], &nowhere].concat());
    let _ = nowhere.fails(2, &["nowhere/champion.toml", "there is no folder nowhere"]);
    let text = format!(
        "name = \"cup\"\nruleset = \"oware-anan-anan\"\nblocks = 2\n\
         agents = [\"small\", \"random\"]\n{champion}"
    );
    let (_, standings, games) = world.tournament(&text, "data", &[]);
    assert_eq!(games.games.len(), 4, "{standings}");
}

#[test]
fn registered_champion_plays_as_in_spec() {
    let world = World::new();
    let spec = world.write("small.toml", SPEC);
    let evolve = ["evolve", &spec, "--data", "data", "--generations", "2"];
    let evolved = world.arena(&[&evolve[..], &["--champion", "champion.toml"]].concat());
    let fragment = evolved.ok().stdout;
    let register = ["agent", "register", "--fragment", "champion.toml"];
    let register = [&register[..], &["--data", "data"]].concat();
    for _ in 0..2 {
        let registered = world.arena(&register).ok();
        assert!(registered.stdout.contains("plays as oware-minimax with"));
    }
    // With another name if one is given; missing after it is removed.
    let _ = world
        .arena(&[&register[..], &["other", "--replace"]].concat())
        .ok();
    let spec = |agents: &str| {
        format!(
            "name = \"cup\"\nruleset = \"oware-anan-anan\"\nseed = \"0x5\"\nblocks = 4\n\
             agents = [\"small\", \"random\"]\n{agents}[play]\nopening_plies = 3\n"
        )
    };
    let (_, _, by_name) = world.tournament(&spec(""), "data", &[]);
    let (_, _, by_fragment) = world.tournament(&spec(&fragment), "elsewhere", &[]);
    assert_eq!(by_name.games.len(), 8);
    assert_eq!(by_name.difference(&by_fragment), None);
    let _ = world
        .arena(&["agent", "remove", "small", "--data", "data"])
        .ok();
    let wrong = world.write(
        "kalah.toml",
        "name = \"k\"\nruleset = \"kalah\"\nagents = [\"other\", \"random\"]\n",
    );
    let _ = world
        .arena(&["run", &wrong, "--data", "data"])
        .fails(2, &["other", "kalah", "oware-anan-anan"]);
    let gone = world.write("gone.toml", spec(""));
    let _ = world
        .arena(&["run", &gone, "--data", "data"])
        .fails(2, &["unknown agent \"small\""]);
}

#[test]
fn impossible_evolution_leaves_nothing() {
    let world = World::new();
    let cases: [(&str, &str, &[&str]); 11] = [
        (
            "population = 6",
            "populatoin = 6",
            &["populatoin", "population"],
        ),
        (
            "population = 6",
            "population = 3",
            &["elites = 2", "from 0 to 1"],
        ),
        (
            "generations = 40",
            "generations = 0",
            &["generations", "from 1"],
        ),
        ("[player]", "[plaier]", &["plaier", "player"]),
        (
            "oware-minimax",
            "oware-minmax",
            &["oware-minmax", "oware-minimax"],
        ),
        ("oware-minimax", "random", &["random", "no numeric option"]),
        ("depth = 1", "depht = 1", &["depht", "depth"]),
        (
            "depth = 1",
            "depth = 99",
            &["[player]", "99", "from 1 to 15"],
        ),
        (
            "depth = 1",
            "depth = 1, weights = \"score\"",
            &["weights", "evolve"],
        ),
        (
            "[player]",
            "[player]\nevolve = \"depth\"",
            &["depth", "in evolve"],
        ),
        ("oware-anan-anan", "kalah", &["oware-minimax", "kalah"]),
    ];
    for (replace, by, words) in cases {
        let spec = world.write("wrong.toml", SPEC.replace(replace, by));
        let output = world
            .arena(&["evolve", &spec, "--data", "data"])
            .fails(2, words);
        assert!(output.stdout.is_empty(), "{}", output.transcript());
        assert!(!world.folder().join("data").exists(), "{by}");
    }
    world.nothing_runs();
}

#[test]
fn unsuitable_weights_are_refused_early() {
    let world = World::new();
    let spec = |ruleset: &str, weights: &str| {
        format!(
            "name = \"cup\"\nruleset = \"{ruleset}\"\nagents = [\"random\", \"w\"]\n[[agent]]\n\
             name = \"w\"\nbot = \"oware-minimax\"\noptions = {{ weights = {weights} }}\n"
        )
    };
    for (ruleset, weights, words) in [
        ("oware-abapa", "[1, 2]", ["2 numbers", "12 numbers"]),
        ("oware-anan-anan", "[1, 2]", ["2 numbers", "14 numbers"]),
        (
            "oware-abapa",
            "\"ainooson-abapa-d4\"",
            ["ainooson-abapa-d4", "ainooson-abapa-d3"],
        ),
        (
            "oware-anan-anan",
            "\"ainooson-abapa-d3\"",
            ["ainooson-abapa-d3", "ainooson-anan-anan-d3"],
        ),
        ("cowry", "\"score\"", ["oware-abapa", "cowry"]),
    ] {
        let spec = world.write("wrong.toml", spec(ruleset, weights));
        let output = world
            .arena(&["run", &spec, "--data", "data"])
            .fails(2, &words);
        assert!(output.stdout.is_empty(), "{}", output.transcript());
    }
}
