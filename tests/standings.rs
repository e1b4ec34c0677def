use arena_tests::{PAPER_000, World, spec};
use serde_json::Value;

fn count(value: &Value) -> u64 {
    value
        .as_u64()
        .unwrap_or_else(|| panic!("{value} is no count"))
}

#[test]
fn standings_add_up_to_games() {
    const BLOCKS: u64 = 30;
    const PAIRINGS: u64 = 15;
    let world = World::new();
    let spec = spec("sums", "cowry", BLOCKS, &PAPER_000, "seats = 2");
    let (_, standings, games) = world.tournament(&spec, "data", &["--workers", "2"]);
    assert_eq!(standings["state"], "finished");
    assert_eq!(count(&standings["games"]), BLOCKS * 2 * PAIRINGS);
    assert_eq!(games.games.len() as u64, BLOCKS * 2 * PAIRINGS);

    let agents = standings["agents"].as_array().expect("agents");
    assert_eq!(agents.len(), PAPER_000.len());
    let mut scores = 0.0;
    let mut last = f64::INFINITY;
    for agent in agents {
        let of = |key: &str| count(&agent[key]);
        assert_eq!(of("games"), BLOCKS * 2 * 5, "{agent}");
        assert_eq!(
            of("wins") + of("draws") + of("losses"),
            of("games"),
            "{agent}"
        );
        assert_eq!(
            (of("voids"), of("faults"), of("blocks")),
            (0, 0, BLOCKS * 5)
        );
        let real = |key: &str| {
            agent[key]
                .as_f64()
                .unwrap_or_else(|| panic!("{key}: {agent}"))
        };
        let score = real("score");
        assert!(
            real("score_low") < score && score < real("score_high"),
            "{agent}"
        );
        assert!(real("win_rate_low") < real("win_rate_high"), "{agent}");
        assert!(score <= last, "not in order of score");
        last = score;
        scores += score;
        // The same figures, computed from the exported games.
        let name = agent["agent"].as_str().expect("a name");
        let played = games.games.iter().filter_map(|game| {
            let seats = game["seats"].as_array()?;
            let seat = seats.iter().position(|one| one == name)?;
            Some((count(&game["placement"][seat]), count(&game["plies"])))
        });
        let played: Vec<(u64, u64)> = played.collect();
        let firsts = played.iter().filter(|(place, _)| *place == 1).count() as u64;
        assert_eq!(firsts, of("wins") + of("draws"), "{agent}");
        let plies: u64 = played.iter().map(|(_, plies)| plies).sum();
        let mean = plies as f64 / played.len() as f64;
        assert!((mean - real("plies_mean")).abs() < 1e-9, "{agent}");
    }
    // Every game of two seats has one point to share.
    assert!((scores - 3.0).abs() < 1e-9, "{scores}");
}

#[test]
fn move_latency_is_shown() {
    let world = World::new();
    let more = "[play]\ntiming = \"strict\"";
    let spec = spec("timed", "cowry", 2, &["random", "aggressive"], more);
    let (_, standings, _) = world.tournament(&spec, "data", &["--builtin", "process"]);
    for agent in standings["agents"].as_array().expect("agents") {
        let p50 = agent["latency_us_p50"].as_f64().expect("a latency");
        let p99 = agent["latency_us_p99"].as_f64().expect("a latency");
        assert!(0.0 < p50 && p50 <= p99, "{agent}");
    }
}

#[test]
fn output_formats_agree() {
    let world = World::new();
    let spec = spec("shown", "kalah", 2, &["random", "kalah-minimax"], "");
    let (id, standings, _) = world.tournament(&spec, "data", &[]);
    let shown = |format: &str| {
        world
            .arena(&["standings", &id, "--data", "data", "--output", format])
            .ok()
    };
    assert_eq!(shown("json").json(), standings);
    let rows = standings["agents"].as_array().expect("agents");
    let best = rows[0]["agent"].as_str().expect("a name");
    assert!(shown("table").stdout.contains(best));
    let csv = shown("csv").stdout;
    assert_eq!(csv.lines().count(), rows.len() + 1);
    assert!(csv.lines().nth(1).expect("a row").contains(best));
    let first = shown("jsonl").stdout;
    let first: Value = serde_json::from_str(first.lines().next().expect("a line")).expect("JSON");
    assert_eq!(first["agent"], best);
}
