use std::{collections::BTreeSet, time::Duration};

use arena_engine::FaultPolicy;

use super::*;
use crate::canonical_json;

const LEAST: &str = "name = \"t\"\nruleset = \"kalah\"\nagents = [\"a\", \"b\"]\n";

#[test]
fn spec_defaults_are_documented() {
    let spec = Spec::parse(LEAST).expect("a spec");
    assert_eq!(spec.seed, None);
    assert_eq!(spec.blocks, 100);
    assert_eq!(spec.seats, None);
    assert_eq!(spec.format, Format::RoundRobin);
    assert!(spec.play.rotate && spec.play.paired && !spec.play.ask_forced);
    assert_eq!(spec.play.move_timeout, Duration::from_secs(2));
    assert_eq!(spec.play.on_fault, FaultPolicy::Forfeit);
    assert_eq!(spec.play.timing, Timing::Throughput);
    assert_eq!(spec.records, Records::Full);
}

#[test]
fn spec_round_trips() {
    let text = format!(
        "{LEAST}seed = 0x5eed\nblocks = 7\nrecords = \"hash\"\n[options]\npits = 4\n\
         [[agent]]\nname = \"b\"\nbot = \"x\"\nfrom = \"p\"\noptions = {{ depth = 3, w = 0.5 }}\n\
         [play]\nmove_timeout = \"250ms\"\non_fault = \"random-move\"\ntiming = \"strict\"\n\
         audit_share = 0.05\n"
    );
    let spec = Spec::parse(&text).expect("a spec");
    assert_eq!(spec.seed.expect("a seed").to_string(), "0x5eed");
    assert_eq!(spec.records, Records::Hash);
    assert_eq!(Spec::parse(&spec.to_toml()).expect("a spec"), spec);
}

#[test]
fn clock_implies_strict_timing() {
    for time in ["clock = \"40/60s\"", "move_time = \"50ms\""] {
        let text = format!("{LEAST}[play]\n{time}\nnodes = 9\ntiming_margin = \"0s\"\n");
        let spec = Spec::parse(&text).expect("a spec");
        assert_eq!(spec.play.timing, Timing::Strict);
        assert_eq!(Spec::parse(&spec.to_toml()).expect("a spec"), spec);
    }
}

#[test]
fn adjudication_round_trips_and_is_part_of_each_game() {
    let text = format!(
        "{LEAST}[play]\nresign = {{ score = 600, moves = 3 }}\n[play.draw]\nscore = 0.05\nmoves = 8\n"
    );
    let spec = Spec::parse(&text).expect("a spec");
    assert_eq!(Spec::parse(&spec.to_toml()).expect("a spec"), spec);
    let play = canonical_json(&GamePlay::from(&spec.play));
    let rules = "\"draw\":{\"after_plies\":0,\"moves\":8,\"score\":0.05}";
    assert!(play.contains(rules), "{play}");
    assert!(
        play.contains("\"resign\":{\"moves\":3,\"score\":600}"),
        "{play}"
    );
    let read: GamePlay = serde_json::from_str(&play).expect("its own JSON");
    assert_eq!(read.adjudication(), spec.play.adjudication());
    assert!(spec.play.check_seats(2).is_ok() && spec.play.check_seats(3).is_err());
    let without = Spec::parse(LEAST).expect("a spec").play;
    assert!(without.check_seats(4).is_ok() && without.adjudication().is_off());
    let play = canonical_json(&GamePlay::from(&without));
    assert!(!play.contains("resign") && !play.contains("draw"), "{play}");
}

#[test]
fn reported_scores_are_rounded_and_limited() {
    let read = |score: f64| score_of(score).map(|score| score.to_string());
    let cases = [
        (0.25, "0.25"),
        (-31_998.0, "-31998"),
        (0.000_4, "0"),
        (-0.000_6, "-0.001"),
        (f64::INFINITY, "1000000000"),
        (f64::MIN, "-1000000000"),
    ];
    for (score, expected) in cases {
        assert_eq!(read(score).as_deref(), Some(expected), "{score}");
    }
    assert_eq!(read(f64::NAN), None);
}

#[test]
fn expectations_round_trip() {
    for written in [
        "expect = [\"a beats b at 95 %\", \"no faults\"]\n",
        "[expect]\nsound = \"no faults\"\nstrong = \"a beats b at 95 %\"\n",
    ] {
        let spec = Spec::parse(&format!("{LEAST}{written}[options]\npits = 4\n"));
        let spec = spec.expect("a spec");
        assert_eq!(spec.expectations().map(|all| all.len()), Ok(2));
        assert_eq!(Spec::parse(&spec.to_toml()).expect("a spec"), spec);
    }
}

#[test]
fn invalid_spec_is_named() {
    let cases = [
        (
            "blcoks = 3",
            "unknown key \"blcoks\", did you mean \"blocks\"?",
        ),
        (
            "[play]\nrotat = true",
            "unknown key \"rotat\" in [play], did you mean \"rotate\"?",
        ),
        (
            "[[agent]]\nname = \"b\"\nbot = \"x\"\nform = \"p\"",
            "unknown key \"form\" in [[agent]], did you mean \"from\"?",
        ),
        (
            "opening_plies = 3",
            "\"opening_plies\" is a key of [play]: move it below a line [play]",
        ),
        ("blocks = 0", "blocks = 0: must be from 1 to 1000000000"),
        ("blocks = \"many\"", "expected a whole number, at least 1"),
        ("blocks = -4", "`-4`, expected a whole number, at least 1"),
        ("blocks = 2.5", "`2.5`, expected a whole number, at least 1"),
        ("seats = -1", "expected a whole number, at least 2"),
        (
            "[play]\nopening_plies = -1",
            "expected a whole number, at least 0",
        ),
        (
            "format = \"swiss\"\n[swiss]\nrounds = -1",
            "`-1`, expected a whole number, at least 1",
        ),
        (
            "format = \"ladder\"\n[ladder]\nstep = -1",
            "`-1`, expected a whole number, at least 1",
        ),
        ("seed = \"five\"", "\"five\" is not a seed"),
        ("seed = -1", "a seed must be text"),
        (
            "format = \"swizz\"",
            "unknown value format = \"swizz\": did you mean \"swiss\"?",
        ),
        (
            "records = \"hahs\"",
            "unknown value records = \"hahs\": did you mean \"hash\"?",
        ),
        ("records = \"none\"", "use \"full\" or \"hash\""),
        (
            "record = \"hash\"",
            "unknown key \"record\", did you mean \"records\"?",
        ),
        ("[play]\nmove_timeout = \"2\"", "\"2\" is not a duration"),
        ("[play]\nmove_timeout = \"0s\"", "move_timeout must be from"),
        ("[play]\nclock = \"soon\"", "\"soon\" is not a clock"),
        (
            "[play]\nclock = 10",
            "10 is a number; expected a clock in quotes, such as \"10s+0.1s\"",
        ),
        (
            "[play]\nmove_timeout = 2",
            "2 is a number; expected a duration in quotes, such as \"2s\"",
        ),
        (
            "[play]\nmove_time = 0.5",
            "0.5 is a number; expected a duration in quotes, such as \"2s\"",
        ),
        (
            "[play]\ntiming_margin = 20",
            "20 is a number; expected a duration in quotes, such as \"2s\"",
        ),
        (
            "[play]\nmove_timeout = true",
            "expected a duration in quotes, such as \"2s\"",
        ),
        (
            "[play]\nclock = \"1s\"\nmove_time = \"1s\"",
            "clock and move_time exclude each other",
        ),
        (
            "[play]\nclock = \"1s\"\nmove_timeout = \"1s\"",
            "move_timeout has no effect with clock",
        ),
        (
            "[play]\nclock = \"1s\"\ntiming = \"throughput\"",
            "need timing = \"strict\"",
        ),
        ("[play]\nmove_time = \"0s\"", "move_time must be from"),
        (
            "[play]\ntiming_margin = \"1s\"",
            "timing_margin needs clock",
        ),
        ("[play]\nscale_clocks = true", "scale_clocks needs clock"),
        ("[play]\nnodes = 0", "nodes"),
        ("[play]\nreplicas = 0", "replicas"),
        (
            "[play]\nreplicas = 1025",
            "replicas = 1025: must be from 1 to 1024",
        ),
        (
            "[play]\non_fault = \"shrug\"",
            "unknown value on_fault = \"shrug\"",
        ),
        ("[play]\nopening_plies = 1001", "must be from 0 to 1000"),
        (
            "[play]\nresign = 600",
            "expected a table such as { score = 600, moves = 3 }",
        ),
        ("[play]\nresign = { score = 600 }", "missing field `moves`"),
        (
            "[play]\ndraw = { score = 5, moves = 3, after_ply = 40 }",
            "unknown key \"after_ply\" in draw of [play], did you mean \"after_plies\"?",
        ),
        (
            "[play]\nresign = { score = 600, moves = 101 }",
            "resign: moves = 101: must be from 1 to 100",
        ),
        (
            "[play]\nresign = { score = -600, moves = 3 }",
            "resign: score = -600: must be above 0",
        ),
        (
            "[play]\ndraw = { score = -1, moves = 3 }",
            "draw: score = -1: must be at least 0",
        ),
        (
            "[play]\ndraw = { score = 0.0001, moves = 3 }",
            "with at most three decimals",
        ),
        (
            "[play]\ndraw = { score = nan, moves = 3 }",
            "with at most three decimals",
        ),
        (
            "[play]\nresign = { score = 5, moves = 3 }\ndraw = { score = 5, moves = 3 }",
            "the score of resign, 5, must be above that of draw, 5",
        ),
        (
            "[play]\naudit_share = 1.5",
            "audit_share = 1.5: must be from 0 to 1",
        ),
        (
            "[[agent]]\nname = \"c\"\nbot = \"x\"",
            "defined but not listed",
        ),
        (
            "[options]\npits = nan",
            "option \"pits\" must be a finite number",
        ),
        (
            "[[agent]]\nname = \"a\"\nbot = \"x\"\noptions = { w = [1, inf] }",
            "option \"w\" of agent \"a\" must be a finite number",
        ),
        (
            "[[agent]]\nname = \"a\"\nbot = \"x\"\noptions = { w = [\"b\"] }",
            "an option is true or false, a number, a text or a list of numbers",
        ),
        (
            "expect = [\"a beats c by 5 elo\"]",
            "expect \"a beats c by 5 elo\": agents has no \"c\"",
        ),
        ("[expect]\nstrong = \"a bets b\"", "did you mean \"beats\"?"),
        ("[expect]\nstrong = 5", "a list of sentences, or a table"),
        (
            "expect = [\"a passes\"]",
            "expect \"a passes\": format \"round-robin\" is not a test",
        ),
        (
            "format = \"sprt\"\nexpect = [\"b passes\"]",
            "the test is about the first agent, a",
        ),
    ];
    for (line, expected) in cases {
        let error = Spec::parse(&format!("{LEAST}{line}\n")).expect_err(line);
        assert!(error.to_string().contains(expected), "{line}: {error}");
    }
    let twice = LEAST.replace("\"b\"", "\"a\"");
    let error = Spec::parse(&twice).expect_err("one name twice");
    assert!(error.to_string().contains("listed twice"), "{error}");
}

#[test]
fn schema_is_current_and_has_every_key() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/data/spec.schema.json");
    let schema = schemars::schema_for!(Spec);
    let schema = serde_json::to_value(&schema).expect("JSON");
    let text = serde_json::to_string_pretty(&schema).expect("JSON") + "\n";
    if std::env::var_os("ARENA_UPDATE").is_some() {
        std::fs::write(path, &text).expect("the schema can be written");
    }
    let known = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        known == text,
        "{path} is not current: run this test with ARENA_UPDATE=1"
    );
    let keys = |of: &serde_json::Value| -> BTreeSet<String> {
        let properties = of["properties"].as_object().expect("properties");
        properties.keys().cloned().collect()
    };
    let listed = |keys: &[&str]| keys.iter().map(|&key| key.to_owned()).collect();
    assert_eq!(keys(&schema), listed(KEYS));
    assert_eq!(keys(&schema["$defs"]["Play"]), listed(PLAY_KEYS));
    assert_eq!(keys(&schema["$defs"]["Variant"]), listed(VARIANT_KEYS));
    for reference in format::REFERENCE
        .iter()
        .filter(|it| !it.settings.is_empty())
    {
        let settings: Vec<&str> = reference.settings.iter().map(|it| &*it.key).collect();
        let definition = schema["$defs"].as_object().expect("definitions").iter();
        let name = reference.format.name();
        let (_, definition) = definition
            .clone()
            .find(|(key, _)| key.to_lowercase() == name)
            .expect(name);
        assert_eq!(keys(definition), listed(&settings), "{name}");
    }
}

#[test]
fn number_of_processes_may_be_left_to_the_worker() {
    let spec = |replicas: &str| {
        Spec::parse(&format!(
            "name = \"a\"\nruleset = \"kalah\"\nagents = [\"a\", \"b\"]\n[play]\nreplicas = {replicas}"
        ))
    };
    let automatic = spec("\"auto\"").expect("a spec");
    assert_eq!(automatic.play.replicas, None);
    assert_eq!(spec("4").expect("a spec").play.replicas, Some(4));
    let wrong = spec("\"many\"").expect_err("not a number").to_string();
    assert!(
        wrong.contains("a whole number, at least 1, or \"auto\""),
        "{wrong}"
    );
}
