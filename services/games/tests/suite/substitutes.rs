//! Moves in place of a faulty agent's, in games of every ruleset: those that the seed draws.

use arena_engine::{
    AnyGame, FaultKind, FaultPolicy, Finished, GameKeys, Opening, Setup, Status, Stream, StreamOf,
    options::Options,
};
use arena_games::{build, resolve, rulesets};
use arena_model::{
    BlockSeed, GameRecord, RecordHeader,
    record::{RecordSetup, RecordVerifier},
    spec::{GamePlay, Play, Spec},
};

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

/// Plays a game with faults. The same questions get the same answers and faults.
fn finished(game: &dyn AnyGame, on_fault: FaultPolicy, keys: GameKeys) -> Finished {
    let mut stream = Stream::new(&[7; 32]);
    let setup = Setup {
        on_fault,
        ..Setup::new(keys, Opening::Drawn(2))
    };
    let mut played = game.open(setup).expect("a drawn opening is legal");
    while let Status::Asks(_) = played.status() {
        let legal = played.legal();
        let action = legal[stream.below(legal.len() as u32) as usize];
        match stream.below(8) {
            0 => played.fault(FaultKind::Crash),
            _ => played.answer(action.into()).expect("legal"),
        }
    }
    played.finish()
}

fn setup(play: &Play, seats: usize) -> RecordSetup {
    let agent = r#"{"bot":"","options":{},"program":"native","version":"1"}"#;
    RecordSetup {
        agents: vec![agent.to_owned(); seats],
        ..RecordSetup::new(&[], &GamePlay::from(play))
    }
}

#[test]
fn moves_that_the_seed_does_not_draw_are_refused() {
    for (policy, on_fault) in [
        ("forfeit", FaultPolicy::Forfeit),
        ("random-move", FaultPolicy::RandomMove),
    ] {
        let spec = format!(
            "name = \"t\"\nruleset = \"kalah\"\nagents = [\"a\", \"b\"]\n\
             [play]\nopening_plies = 2\non_fault = \"{policy}\"\n"
        );
        let play = Spec::parse(&spec).expect("a spec").play;
        let mut refused = 0;
        for info in rulesets() {
            let most = Some(info.seats.1.min(NAMES.len()));
            let (options, seats) = resolve(info.name, &Options::new(), most).expect("defaults");
            let game = build(info.name, &options, seats).expect("resolved");
            let header = RecordHeader {
                setup: Some(setup(&play, seats)),
                tournament_id: "faults-0123456789".to_owned(),
                ruleset: info.name.to_owned(),
                rules_version: info.version,
                rules_digest: None,
                options,
                agents: NAMES[..seats].iter().map(|&name| name.into()).collect(),
            };
            let verifier = RecordVerifier::new(&header, &*game).expect("this version");
            for number in 0..20 {
                let seed = BlockSeed(number);
                let keys = seed.keys(&NAMES[..seats]);
                let other = BlockSeed(number + 1000).chance_keys();
                let forged = keys.clone();
                let forged = GameKeys::new(move |of| match of {
                    StreamOf::Substitute(_) => other.key(of),
                    _ => forged.key(of),
                });
                let check = |finished: Finished| {
                    let index = number * seats as u64;
                    let seats = (0..seats as u16).collect();
                    let mut record = GameRecord::new(index, number, seed, seats, finished);
                    verifier.complete(&mut record, &*game, true, &mut String::new())
                };
                let honest = finished(&*game, on_fault, keys);
                let lie = finished(&*game, on_fault, forged);
                let differs = honest.events != lie.events;
                let name = info.name;
                check(honest).unwrap_or_else(|error| panic!("{name} {number}: {error}"));
                let answer = check(lie);
                assert_eq!(answer.is_err(), differs, "{name} {number}: {answer:?}");
                if let Err(error) = answer {
                    let text = error.to_string();
                    assert!(
                        text.contains("the seed draws another random move"),
                        "{text}"
                    );
                    refused += 1;
                }
            }
        }
        // With forfeits, only games of three seats and more go on.
        assert!(refused >= 20, "{policy}: {refused}");
    }
}

#[test]
fn fault_without_a_question_is_refused() {
    let (options, seats) = resolve("chinese-ludo", &Options::new(), None).expect("defaults");
    let game = build("chinese-ludo", &options, seats).expect("resolved");
    let spec = "name = \"t\"\nruleset = \"kalah\"\nagents = [\"a\", \"b\"]\n\
                [play]\non_fault = \"random-move\"\n";
    let play = Spec::parse(spec).expect("a spec").play;
    let header = RecordHeader {
        setup: Some(setup(&play, seats)),
        tournament_id: "faults-0123456789".to_owned(),
        ruleset: "chinese-ludo".to_owned(),
        rules_version: game.version(),
        rules_digest: None,
        options,
        agents: NAMES[..seats].iter().map(|&name| name.into()).collect(),
    };
    let verifier = RecordVerifier::new(&header, &*game).expect("this version");
    let seed = BlockSeed(1);
    let setup = Setup {
        on_fault: FaultPolicy::RandomMove,
        ask_forced: true,
        ..Setup::new(seed.keys(&NAMES[..seats]), Opening::NONE)
    };
    let mut played = game.open(setup).expect("no opening");
    while let Status::Asks(_) = played.status() {
        match *played.legal() {
            [_] => played.fault(FaultKind::Crash),
            [first, ..] => played.answer(first.into()).expect("legal"),
            [] => unreachable!("a question has an answer"),
        }
    }
    let finished = played.finish();
    assert!(!finished.faults.is_empty(), "a question with one answer");
    let index_seats = (0..seats as u16).collect();
    let mut record = GameRecord::new(0, 0, seed, index_seats, finished);
    let answer = verifier.complete(&mut record, &*game, true, &mut String::new());
    let text = answer.expect_err("not asked").to_string();
    assert!(text.contains("no agent is asked"), "{text}");
}
