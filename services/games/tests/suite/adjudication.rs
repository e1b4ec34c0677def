//! Games of every ruleset that end by adjudication, with scores drawn at random.

use arena_engine::{
    Adjudication, Adjudicator, AnyGame, FaultKind, FaultPolicy, Finished, Opening, ScoredMove,
    Setup, Status, Stream, Termination, options::Options,
};
use arena_games::{RulesetInfo, build, resolve, rulesets};
use arena_model::{
    BlockSeed, GameRecord, RecordHeader,
    record::{ParsedRecord, RecordSetup, RecordVerifier},
    spec::{GamePlay, Play, Spec, score_of},
};

/// Settings with faults that end no game.
fn play(ask_forced: bool) -> Play {
    let text = format!(
        "name = \"t\"\nruleset = \"kalah\"\nagents = [\"a\", \"b\"]\n[play]\n\
         ask_forced = {ask_forced}\non_fault = \"random-move\"\n\
         resign = {{ score = 2.5, moves = 3 }}\n\
         draw = {{ score = 0.5, moves = 2, after_plies = 9 }}\n"
    );
    Spec::parse(&text).expect("a spec").play
}

/// Plays a game, with scores that often agree.
fn finished(game: &dyn AnyGame, play: &Play, seed: BlockSeed, stream: &mut Stream) -> Finished {
    let setup = Setup {
        ask_forced: play.ask_forced,
        on_fault: FaultPolicy::RandomMove,
        ..Setup::new(seed.keys(&["a", "b"]), Opening::Drawn(3))
    };
    let mut played = game.open(setup).expect("a drawn opening is legal");
    let mut adjudicator = Adjudicator::new(play.adjudication());
    while let Status::Asks(question) = played.status() {
        let (ply, seat) = (played.plies(), question.seat);
        let sign = if seat == 0 { 1.0 } else { -1.0 };
        let size = [0.0, 0.25, 0.5, 2.5, 2.5, 3.0][stream.below(6) as usize];
        let mut score = (stream.below(8) > 0).then_some(sign * size);
        if stream.below(16) == 0 {
            score = None;
            played.fault(FaultKind::IllegalMove);
        } else {
            let legal = played.legal();
            let action = legal[stream.below(legal.len() as u32) as usize];
            played.answer(action.into()).expect("legal");
        }
        let score = score.and_then(score_of);
        let verdict = adjudicator.add(ScoredMove { ply, seat, score });
        if let (Some(verdict), Status::Asks(_)) = (verdict, played.status()) {
            let evidence = adjudicator.evidence(verdict);
            played.adjudicate(Adjudication { verdict, evidence });
        }
    }
    played.finish()
}

fn header(info: &RulesetInfo, options: Options, play: &Play) -> RecordHeader {
    RecordHeader {
        setup: Some(RecordSetup::new(&[], &GamePlay::from(play))),
        tournament_id: "early-0123456789".to_owned(),
        ruleset: info.name.to_owned(),
        rules_version: info.version,
        rules_digest: None,
        options,
        agents: vec!["a".to_owned(), "b".to_owned()],
    }
}

#[test]
fn adjudicated_games_hold_and_their_forgeries_do_not() {
    let mut stream = Stream::new(&[21; 32]);
    for info in rulesets().iter().filter(|info| info.seats.0 == 2) {
        let (options, seats) = resolve(info.name, &Options::new(), Some(2)).expect("two seats");
        let game = build(info.name, &options, seats).expect("resolved");
        let mut early = 0;
        for number in 0..200 {
            let play = play(number % 2 == 0);
            let mut header = header(info, options.clone(), &play);
            let agent = r#"{"bot":"","options":{},"program":"native","version":"1"}"#;
            if let Some(setup) = &mut header.setup {
                setup.agents = vec![agent.to_owned(); 2];
            }
            let verifier = RecordVerifier::new(&header, &*game).expect("this version");
            let seed = BlockSeed(number);
            let finished = finished(&*game, &play, seed, &mut stream);
            let mut record = GameRecord::new(2 * number, number, seed, vec![0, 1], finished);
            let mut line = String::new();
            let held = verifier.complete(&mut record, &*game, true, &mut line);
            held.unwrap_or_else(|error| panic!("{} {number}: {error}", info.name));
            let mut text = String::new();
            let lines = arena_model::record::LineWriter::new(&header);
            let written = lines.write(&record, &*game, Some(&record.hash), &mut text);
            written.expect("it holds");
            let parsed = ParsedRecord::parse(&text).expect("a record");
            let (_, read) = parsed.verify(&*game).expect("it holds");
            assert_eq!(read.adjudication, record.adjudication, "{text}");
            if record.termination != Termination::Adjudication {
                continue;
            }
            early += 1;
            let forgeries: [fn(&mut GameRecord); 6] = [
                |it| it.placement = [[1, 2], [2, 1]][usize::from(it.placement == [1, 2])].to_vec(),
                |it| {
                    let _ = it.adjudication.remove(0);
                },
                |it| {
                    let _ = it.adjudication.pop();
                },
                |it| it.adjudication.iter_mut().for_each(|it| it.score = None),
                |it| it.adjudication.last_mut().expect("evidence").ply += 1,
                |it| it.termination = Termination::Normal,
            ];
            for (place, forge) in forgeries.into_iter().enumerate() {
                let mut forged = record.clone();
                forge(&mut forged);
                let refused = verifier.complete(&mut forged, &*game, true, &mut line);
                assert!(refused.is_err(), "{} {number}: forgery {place}", info.name);
            }
        }
        assert!(early > 5, "{}: {early}", info.name);
    }
}
