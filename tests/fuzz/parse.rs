//! Bytes as records. An input is a byte that says whether to add a correct hash, then a line.

use std::sync::Arc;

use arena_engine::{
    AgentRng, AnyGame, FaultKind, FaultPolicy, Setup, Status, Termination,
    options::{Kind, Options, Value},
};
use arena_games::{GamesError, RulesetInfo, build, resolve, rulesets};
use arena_model::{
    BlockSeed, GameRecord, RecordHeader,
    record::{LineWriter, ParsedRecord, VerifyError},
};
use sha2::{Digest, Sha256};

/// Inputs with this first byte are used unchanged.
const AS_IT_IS: u8 = b'!';

const HASH_KEY: &str = ",\"hash\":\"";

/// A line is refused with a reason, or is valid: written again, it is a valid record with the same
/// hash and content.
pub fn check(data: &[u8]) {
    let Some((&how, line)) = data.split_first() else {
        return;
    };
    let line = String::from_utf8_lossy(line);
    if how == AS_IT_IS {
        try_line(&line);
        return;
    }
    // With a correct hash, so that other errors are found; again if the layout of the line gives
    // another hash.
    let sealed = sealed(&line);
    if let Some(VerifyError::Hash { stated, computed }) = try_line(&sealed)
        && !stated.is_empty()
    {
        try_line(&sealed.replace(&stated, &computed));
    }
}

/// The line with the hash of its content.
fn sealed(line: &str) -> String {
    let body = match line.rfind(HASH_KEY) {
        Some(end) => &line[..end],
        None => line.trim_end().strip_suffix('}').unwrap_or(line),
    };
    let hash = Sha256::digest(format!("{}}}", body.trim_start()));
    format!("{body}{HASH_KEY}{}\"}}", hex::encode(hash))
}

/// Reads a line like `arena game replay FILE`. Returns the error of an invalid record.
fn try_line(line: &str) -> Option<VerifyError> {
    let record = match ParsedRecord::parse(line) {
        Ok(record) => record,
        Err(error) => {
            assert!(error.to_string().starts_with("not a record: "), "{error}");
            return None;
        }
    };
    let game = match game_of(record.ruleset(), record.options(), record.seats().len()) {
        Ok(game) => game,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return None;
        }
    };
    match record.verify(&*game) {
        Ok((header, packed)) => {
            check_again(&header, &packed, &*game);
            None
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            Some(error)
        }
    }
}

fn game_of(ruleset: &str, options: &Options, seats: usize) -> Result<Arc<dyn AnyGame>, GamesError> {
    let (options, seats) = resolve(ruleset, options, Some(seats))?;
    build(ruleset, &options, seats)
}

/// A valid record is valid in every form, and agrees with the rules.
fn check_again(header: &RecordHeader, packed: &GameRecord, game: &dyn AnyGame) {
    let outcome = game
        .replay(&packed.events, &mut |_| {})
        .expect("events that hold");
    if packed.termination != Termination::Void {
        assert_eq!(packed.plies, outcome.plies);
        assert_eq!(packed.decisions, outcome.decisions);
        assert_eq!(packed.scores, outcome.scores);
    }
    if !matches!(packed.termination, Termination::Void | Termination::Forfeit) {
        let ending = outcome.ending.map(Termination::from);
        assert_eq!(Some(packed.termination), ending);
        assert_eq!(packed.placement, outcome.placement);
    }
    if let Err(error) = header.verify(packed, game) {
        panic!("the packed record of a line that holds does not: {error}");
    }
    let mut line = String::new();
    LineWriter::new(header)
        .write(packed, game, Some(&packed.hash), &mut line)
        .expect("what holds can be written");
    let again = ParsedRecord::parse(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
    let (other_header, other) = again
        .verify(game)
        .unwrap_or_else(|error| panic!("{error}: {line}"));
    assert_eq!(&other, packed, "{line}");
    assert_eq!(&other_header, header, "{line}");
}

/// Short games of every ruleset: ended by a fault, by a cap or as void, and with faults that cost a
/// move.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for info in rulesets() {
        for seats in info.seats.0..=info.seats.1 {
            for play in PLAYS {
                let line = line(info, seats, &play);
                seeds.push([b"~", line.as_bytes()].concat());
                if play.capped {
                    seeds.push([&[AS_IT_IS], line.as_bytes()].concat());
                }
            }
        }
    }
    seeds
}

/// The plan of a seed's game.
struct Play {
    opening_plies: u32,
    /// Actions before the fault, or before the game is made void.
    actions: usize,
    on_fault: FaultPolicy,
    void: bool,
    /// With the smallest cap above a dozen that the options allow.
    capped: bool,
}

const PLAYS: [Play; 5] = {
    let plain = Play {
        opening_plies: 0,
        actions: 3,
        on_fault: FaultPolicy::Forfeit,
        void: false,
        capped: false,
    };
    [
        Play { ..plain },
        Play {
            opening_plies: 2,
            actions: 0,
            ..plain
        },
        Play {
            void: true,
            ..plain
        },
        Play {
            actions: usize::MAX,
            capped: true,
            ..plain
        },
        Play {
            on_fault: FaultPolicy::RandomMove,
            capped: true,
            ..plain
        },
    ]
};

/// The record of a game, as exports write it.
fn line(info: &RulesetInfo, seats: usize, play: &Play) -> String {
    let mut given = Options::new();
    let caps = info.options.iter().filter(|_| play.capped);
    for spec in caps.filter(|spec| ["max_plies", "max_rolls", "max_throws"].contains(&&*spec.name))
    {
        if let Kind::Int { min, max } = spec.kind {
            given.insert(spec.name.clone(), Value::Int(12.clamp(min, max)));
        }
    }
    let (options, seats) = resolve(info.name, &given, Some(seats)).expect("a cap fits");
    let game = build(info.name, &options, seats).expect("resolved");
    let mut rng = AgentRng::new(3);
    let names: Vec<String> = (0..seats).map(|seat| format!("a{seat}")).collect();
    let keys = BlockSeed(7).keys(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let opening = arena_engine::Opening::Drawn(play.opening_plies);
    let setup = Setup {
        on_fault: play.on_fault,
        ..Setup::new(keys, opening)
    };
    let mut running = game.open(setup).expect("a drawn opening");
    let mut left = play.actions;
    while let Status::Asks(_) = running.status() {
        let action = rng.pick(running.legal());
        match left {
            0 if play.void => running.void(),
            0 => {
                running.fault(FaultKind::Timeout);
                left = play.actions;
            }
            _ => {
                running.answer(action.into()).expect("a legal action");
                left -= 1;
            }
        }
    }
    let header = RecordHeader {
        setup: None,
        tournament_id: "fuzz-0123456789".to_owned(),
        ruleset: info.name.to_owned(),
        rules_version: info.version,
        rules_digest: None,
        options,
        agents: names,
    };
    let agents = (0..seats as u16).collect();
    let mut record = GameRecord::new(3, 1, BlockSeed(7), agents, running.finish());
    let mut writer = LineWriter::new(&header);
    writer.seal(&mut record, &*game).expect("what was played");
    let mut line = String::new();
    writer
        .write(&record, &*game, Some(&record.hash), &mut line)
        .expect("what was played can be written");
    line
}
