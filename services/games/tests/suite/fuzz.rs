//! Damaged and invented input for every reader: positions, records, packed events, answers. No
//! reader panics, and each refusal has a reason.
//!
//! These are seeded mutations, thousands of them for every ruleset, in every run
//! of the tests. Positions damaged with all options are in `conformance.rs`;
//! `tests/fuzz` goes further from valid input, guided by coverage.

use std::{collections::BTreeMap, sync::Arc};

use arena_engine::{
    AnyGame, Event, Game, Match, Setup, Status, Stream,
    options::{Options, Value},
};
use arena_games::{RulesetInfo, Visitor, build, resolve, rulesets, visit};
use arena_model::{
    BlockSeed, GameRecord, RecordHeader,
    record::{
        LineWriter, ParsedRecord, Program, RECORD_VERSION, RecordAgent, RecordSetup,
        RecordVerifier, VerifyError,
    },
    spec::{GamePlay, Play},
};
use sha2::{Digest, Sha256};

use crate::support::{play_at_random, setup};

/// Mutations of each kind for each ruleset.
const CASES: u32 = 3_000;

/// The ruleset with its defaults and its greatest number of seats.
fn options_of(info: &RulesetInfo) -> (Options, usize) {
    resolve(info.name, &Options::new(), Some(info.seats.1)).expect("defaults fit")
}

/// A finished game at random.
struct PlayOut(BlockSeed);

impl Visitor for PlayOut {
    type Out = arena_engine::Finished;

    fn visit<G: Game>(self, game: G) -> Self::Out {
        let names: Vec<String> = (0..game.seats())
            .map(|seat| format!("agent-{seat}"))
            .collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let keys = self.0.keys(&names);
        play_at_random(&game, Setup { keys, ..setup(0) })
    }
}

/// The line of a game without `,"hash":"…"}`, and its rules. `version` is the version in the
/// line.
fn line(info: &RulesetInfo, version: u32) -> (String, Arc<dyn AnyGame>) {
    let (options, seats) = options_of(info);
    let game = build(info.name, &options, seats).expect("resolved");
    let finished = visit(info.name, &options, seats, PlayOut(BlockSeed(7))).expect("resolved");
    let agent = RecordAgent {
        bot: "greedy".to_owned(),
        options: Options::from([
            ("depth".to_owned(), 3.into()),
            ("x".to_owned(), Value::Real(0.5)),
        ]),
        version: "1.2.3".to_owned(),
        program: Program::Package,
        sha256: "ab".repeat(32),
        args: vec!["a \"quoted\" one".to_owned()],
    };
    let play = GamePlay::from(&Play::default());
    let setup = RecordSetup::new(&vec![agent; seats], &play);
    let header = RecordHeader {
        setup: (version >= RECORD_VERSION).then_some(setup),
        tournament_id: "damaged-0123456789".to_owned(),
        ruleset: info.name.to_owned(),
        rules_version: info.version,
        rules_digest: None,
        options,
        agents: (0..seats).map(|seat| format!("agent-{seat}")).collect(),
    };
    let block = 3 / seats as u64;
    let record = GameRecord::new(
        3,
        block,
        BlockSeed(7),
        (0..seats as u16).collect(),
        finished,
    );
    let mut line = String::new();
    LineWriter::new(&header)
        .write(&record, &*game, None, &mut line)
        .expect("what was played can be written");
    let closed = line.pop();
    assert_eq!(closed, Some('}'), "{line}");
    (line, game)
}

/// The line with the hash of its content.
fn sealed(body: &str) -> String {
    let hash = Sha256::digest(format!("{body}}}"));
    format!("{body},\"hash\":\"{}\"}}", hex::encode(hash))
}

/// Damages a text: changes a byte or a digit, shortens it, or copies a part.
fn damage(text: &mut Vec<u8>, stream: &mut Stream) {
    let length = text.len() as u32;
    let at = stream.below(length) as usize;
    let end = (at + stream.below(40) as usize).min(text.len());
    match stream.below(7) {
        0 => text[at] = stream.word() as u8,
        1 => text[at] ^= 1 << stream.below(8),
        2 => text.truncate(at),
        3 => drop(text.drain(at..end)),
        4 => {
            let part = text[at..end].to_vec();
            let to = stream.below(length) as usize;
            text.splice(to..to, part);
        }
        // A line with another digit is usually still a record.
        _ => {
            let digits = (0..text.len()).filter(|&place| text[place].is_ascii_digit());
            let digits: Vec<usize> = digits.collect();
            let place = digits[stream.below(digits.len() as u32) as usize];
            text[place] = b'0' + stream.below(10) as u8;
        }
    }
}

#[test]
fn damaged_records_are_refused_by_name() {
    let mut outcomes: BTreeMap<&str, u32> = BTreeMap::new();
    for info in rulesets() {
        let (body, game) = line(info, RECORD_VERSION);
        let whole = ParsedRecord::parse(&sealed(&body)).expect("a record");
        whole.verify(&*game).expect("an undamaged record holds");
        let mut stream = Stream::new(&[11; 32]);
        for _ in 0..CASES {
            let mut bytes = body.clone().into_bytes();
            for _ in 0..=stream.below(2) {
                if !bytes.is_empty() {
                    damage(&mut bytes, &mut stream);
                }
            }
            let text = String::from_utf8_lossy(&bytes);
            // Most get a correct hash, so that other errors are found.
            let text = if stream.below(8) == 0 {
                text.into_owned()
            } else {
                sealed(&text)
            };
            let outcome = match ParsedRecord::parse(&text) {
                Err(error) => {
                    assert!(error.to_string().starts_with("not a record: "));
                    "unreadable"
                }
                Ok(record) => match record.verify(&*game) {
                    Ok(_) => "holds",
                    Err(error) => {
                        assert!(!error.to_string().is_empty());
                        match error {
                            VerifyError::Hash { .. } => "hash",
                            VerifyError::Replay(_) => "replay",
                            VerifyError::Dice(_) => "dice",
                            VerifyError::Differs { .. } => "differs",
                            VerifyError::Fault { .. } => "fault",
                            VerifyError::Adjudication(_) => "adjudication",
                            VerifyError::Version { .. } => "version",
                            VerifyError::NoEvents => "no events",
                        }
                    }
                },
            };
            *outcomes.entry(outcome).or_default() += 1;
        }
    }
    // Each kind of error occurred.
    let kinds: Vec<&str> = outcomes.keys().copied().collect();
    let expected = [
        "dice",
        "differs",
        "hash",
        "holds",
        "replay",
        "unreadable",
        "version",
    ];
    assert_eq!(kinds, expected, "{outcomes:?}");
}

#[test]
fn invalid_events_are_refused_without_panic() {
    for info in rulesets() {
        let (options, seats) = options_of(info);
        let game = build(info.name, &options, seats).expect("resolved");
        let played = visit(info.name, &options, seats, PlayOut(BlockSeed(6))).expect("resolved");
        let mut stream = Stream::new(&[12; 32]);
        let mut refused = 0;
        for _ in 0..CASES {
            let mut events = played.events.clone();
            let at = stream.below(events.len() as u32) as usize;
            let any = Event::from_bits(stream.word() as u16);
            let small = Event::from_bits(stream.below(64) as u16);
            match stream.below(5) {
                0 => events[at] = any,
                1 => events[at] = small,
                2 => events.insert(at, small),
                3 => drop(events.remove(at)),
                _ => events.push(small),
            }
            let seen = &mut 0;
            match game.replay(&events, &mut |_| *seen += 1) {
                Ok(outcome) => assert!(outcome.plies as usize <= *seen, "{}", info.name),
                Err(error) => {
                    assert!(error.to_string().starts_with("event "), "{error}");
                    refused += 1;
                }
            }
        }
        assert!(refused > CASES / 4, "{}: {refused}", info.name);
    }
}

/// Answers every question with illegal ids first.
struct AnswerWrongly;

impl Visitor for AnswerWrongly {
    type Out = u32;

    fn visit<G: Game>(self, game: G) -> u32 {
        let mut play = Match::new(game, setup(8));
        let mut stream = Stream::new(&[13; 32]);
        let mut refused = 0;
        while let Status::Asks(question) = play.status() {
            let (state, legal) = (play.state().clone(), play.legal().to_vec());
            let events = play.events().len();
            let few = (0..150).chain([0x7fff, 0x8000, 0xffff, 0x1_0000, u32::MAX]);
            // An id above 16 bits is illegal, even if its low bits are a legal id.
            let beyond = legal.iter().map(|&id| u32::from(id) | 0x1_0000);
            for action in few.chain(beyond).chain([stream.word() as u32]) {
                if legal.iter().any(|&id| u32::from(id) == action) {
                    continue;
                }
                let error = play.answer(action).expect_err("not legal");
                assert_eq!((error.action, error.seat), (action, question.seat));
                assert_eq!(play.state(), &state, "an illegal action changes nothing");
                assert_eq!(play.legal(), legal);
                assert_eq!(play.events().len(), events);
                assert_eq!(play.status(), Status::Asks(question));
                refused += 1;
            }
            let action = legal[stream.below(legal.len() as u32) as usize];
            play.answer(action.into()).expect("a legal action");
        }
        refused
    }
}

#[test]
fn illegal_answer_leaves_the_match_unchanged() {
    for info in rulesets() {
        let (options, seats) = options_of(info);
        let refused = visit(info.name, &options, seats, AnswerWrongly).expect("resolved");
        assert!(refused > 1_000, "{}: {refused}", info.name);
    }
}

/// Reads invented bytes as positions.
struct ReadNoise;

impl Visitor for ReadNoise {
    type Out = ();

    fn visit<G: Game>(self, game: G) {
        let mut stream = Stream::new(&[14; 32]);
        let mut bytes = Vec::new();
        game.encode(&game.initial(), true, &mut bytes);
        let whole = bytes.clone();
        for _ in 0..CASES {
            let length = stream.below(64);
            let mut noise: Vec<u8> = (0..length).map(|_| stream.word() as u8).collect();
            match stream.below(3) {
                0 => {}
                // Repeated fields with other values: the last value counts.
                1 => noise.splice(0..0, whole.iter().copied()).for_each(drop),
                _ => {
                    noise = whole.clone();
                    let key = (1 + stream.below(16) as u8) << 3;
                    noise.extend([key, stream.word() as u8 & 0x7f]);
                }
            }
            match game.decode(&noise) {
                Ok(state) => {
                    let mut again = Vec::new();
                    game.encode(&state, false, &mut again);
                    assert_eq!(game.decode(&again), Ok(state));
                }
                Err(error) => assert_eq!(error.ruleset, game.name()),
            }
        }
    }
}

#[test]
fn invalid_positions_are_refused_or_read() {
    for info in rulesets() {
        let (options, seats) = options_of(info);
        visit(info.name, &options, seats, ReadNoise).expect("resolved");
    }
}

#[test]
fn completed_record_equals_the_sealed_one() {
    for info in rulesets() {
        let (body, game) = line(info, RECORD_VERSION);
        let whole = ParsedRecord::parse(&sealed(&body)).expect("a record");
        let (header, whole) = whole.verify(&*game).expect("an undamaged record holds");
        let verifier = RecordVerifier::new(&header, &*game).expect("this version");
        let reported = GameRecord {
            luck: Vec::new(),
            hash: [0; 32],
            ..whole.clone()
        };
        let mut complete = reported.clone();
        let completed = verifier.complete(&mut complete, &*game, true, &mut String::new());
        completed.expect("it was played");
        assert_eq!(complete, whole, "{}", info.name);

        let mut forged = reported;
        forged.scores[0] += 1;
        let refused = verifier.complete(&mut forged, &*game, true, &mut String::new());
        assert!(
            matches!(refused, Err(VerifyError::Differs { key: "scores", .. })),
            "{refused:?}"
        );
    }
}

#[test]
fn stated_luck_is_checked() {
    let mut dice = Vec::new();
    for info in rulesets() {
        let (body, game) = line(info, 1);
        let Some(start) = body.find(",\"luck\":[") else {
            continue;
        };
        dice.push(info.name);
        let end = start + body[start..].find(']').expect("a list") + 1;
        assert!(body[end..].starts_with(",\"plies\":"), "{body}");
        let before = body[..start].rfind(",\"scores\":").expect("scores");
        assert_eq!(body[before..start].matches("\":").count(), 1, "{body}");

        let luck = &body[start..end];
        let other = luck.replacen('[', "[1,", 1);
        let other = &other[..other.rfind(',').expect("several seats")];
        let changed = body.replacen(luck, &format!("{other}]"), 1);
        let record = ParsedRecord::parse(&sealed(&changed)).expect("a record");
        let refused = record.verify(&*game);
        assert!(
            matches!(refused, Err(VerifyError::Differs { key: "luck", .. })),
            "{refused:?}"
        );

        let old = body.replacen(luck, "", 1);
        let record = ParsedRecord::parse(&sealed(&old)).expect("a record");
        let (header, packed) = record.verify(&*game).expect("a record without luck holds");
        let mut again = String::new();
        LineWriter::new(&header)
            .write(&packed, &*game, Some(&packed.hash), &mut again)
            .expect("it can be written");
        assert_eq!(packed.luck, Vec::<i32>::new());
        assert!(!again.contains("luck"), "{again}");
    }
    assert_eq!(dice, ["chinese-ludo", "cowry"]);
}

/// Verifies the line in another JSON layout, with the hash of its content.
fn holds_laid_out_anew(body: &str, game: &dyn AnyGame) -> Result<(), String> {
    let line = |hash: &str| format!("{{ {},\"hash\":\"{hash}\"}}", &body[1..]);
    let parse = |text: &str| ParsedRecord::parse(text).map_err(|error| error.to_string());
    let unsealed = parse(&line("none"))?.verify(game);
    let Err(VerifyError::Hash { computed, .. }) = unsealed else {
        panic!("a record without its hash: {unsealed:?}");
    };
    let verified = parse(&line(&computed))?.verify(game);
    verified.map(drop).map_err(|error| error.to_string())
}

#[test]
fn non_canonical_record_is_refused() {
    for info in rulesets() {
        let (body, game) = line(info, 1);
        assert_eq!(holds_laid_out_anew(&body, &*game), Ok(()), "{}", info.name);
        for (from, to, reason) in [
            // The index of the game.
            ("/3\",", "/4\",", "game_id is "),
            // Names that would have to be escaped.
            ("-0\"", "\\\"0\"", "not a record: "),
            ("damaged-", "damaged\\n", "not a record: "),
        ] {
            let changed = body.replacen(from, to, 1);
            assert_ne!(changed, body, "{from}");
            let refused = holds_laid_out_anew(&changed, &*game).expect_err(to);
            assert!(refused.starts_with(reason), "{refused}");
        }
        // An opening that is not the beginning of the game.
        let (first, last) = (body.find("\"move\""), body.rfind("\"move\""));
        assert_ne!(first, last);
        let end = last.and_then(|at| Some(at + body[at..].find('}')?));
        let end = end.expect("an action ends");
        let changed = format!("{},\"opening\":true{}", &body[..end], &body[end..]);
        let refused = holds_laid_out_anew(&changed, &*game).expect_err("an opening later");
        assert!(refused.starts_with("events is "), "{refused}");
    }
}
