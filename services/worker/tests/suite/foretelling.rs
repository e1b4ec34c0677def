//! An agent that knows all its decisions and how Arena draws, but not the seed of the tournament,
//! must not know the dice.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use arena_engine::{
    AgentRng, Event, Game, GameKeys, Seat, Stream, StreamOf, options::Options, replay,
};
use arena_games::{Visitor, visit};
use arena_model::{BlockSeed, GameRecord, TournamentSeed};
use arena_sdk::{Agent, Choice, Listen, Listener, Question, Refusal, serve};
use arena_wire::{networks::AgentNetworks, v1};
use arena_worker::{AgentOptions, Builtin, play_games};

use crate::common::{Fixture, agents, endpoint, setup};

/// What the coordinator would have drawn.
const SEED: [u8; 32] = *b"a seed that is known to no agent";
const NONCE: [u8; 32] = *b"a nonce that commits to the seed";
/// Games of each ruleset, and how many chance events of them are examined.
const GAMES: u64 = 24;
const THROWS: usize = 600;
/// Maximum probability that this test fails although nothing can be foretold. Only the tokens of games
/// differ between two runs.
const CHANCE: f64 = 1e-10;
const NAMES: [&str; 2] = ["one", "two"];

/// An agent that remembers each decision, with its move.
#[derive(Clone, Default)]
struct Spy(Arc<Mutex<Vec<(v1::Decision, u32)>>>);

impl Agent for Spy {
    fn thinks_long(&self) -> bool {
        false
    }

    fn choose(&mut self, question: &Question<'_>) -> Result<Choice, Refusal> {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let chosen = question.random().pick(question.legal_moves());
        seen.push((question.decision().clone(), chosen));
        Ok(chosen.into())
    }
}

/// Decisions by the number of the game, the seat and the number of the decision.
type Decisions = BTreeMap<(u64, u32, u32), v1::Decision>;

/// Plays games, each with a block of its own. Returns the records by game, and all decisions.
async fn played(ruleset: &str, seed: TournamentSeed) -> (Vec<GameRecord>, Decisions) {
    let spy = Spy::default();
    let address: Listen = "127.0.0.1:0".parse().expect("an address");
    let listener = Listener::bind(&address).await.expect("a port");
    let url = format!("http://{}", listener.address());
    tokio::spawn(serve(spy.clone(), listener, std::future::pending()));
    let agent = |name| v1::AgentSetup {
        sticky: true,
        ..endpoint(name, &url)
    };
    let games = (0..GAMES).map(|index| v1::GameAssignment {
        index,
        block: index,
        seed: seed.block(index).0,
        seats: vec![0, 1],
        ..Default::default()
    });
    let options = AgentOptions {
        networks: AgentNetworks::of_user(),
        ..agents(Builtin::InProcess)
    };
    let mut setup = setup(ruleset, NAMES.map(agent).to_vec());
    // The agents see as many seeds as they can.
    setup.play.get_or_insert_default().ask_forced = true;
    let reports = play_games(setup, games.collect(), 8, Arc::new(Fixture), options).await;
    let records = reports.expect("games").into_iter().map(|report| {
        assert_eq!(report.fault_details, []);
        GameRecord::try_from(&report.record.expect("a record")).expect("a record")
    });
    let mut records: Vec<GameRecord> = records.collect();
    records.sort_by_key(|record| record.index);
    let seen = spy.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let mut games: BTreeMap<Vec<u8>, Vec<(v1::Decision, u32)>> = BTreeMap::new();
    for decision in seen {
        let game = decision.0.game.clone();
        games.entry(game).or_default().push(decision);
    }
    assert_eq!(games.len() as u64, GAMES, "one token for each game");
    let moves: Vec<_> = records.iter().map(|it| moves(ruleset, it)).collect();
    let mut decisions = BTreeMap::new();
    for seen in games.into_values() {
        let is_played = |moves: &[Vec<u32>; 2]| {
            let mut seen = seen.iter();
            seen.all(|(it, chosen)| moves[it.seat as usize].get(it.number as usize) == Some(chosen))
        };
        let index = moves.iter().position(is_played).expect("its game") as u64;
        let seen = seen.into_iter();
        decisions.extend(seen.map(|(it, _)| ((index, it.seat, it.number), it)));
    }
    (records, decisions)
}

/// The moves of each seat.
fn moves(ruleset: &str, record: &GameRecord) -> [Vec<u32>; 2] {
    let (options, seats) = resolved(ruleset);
    let game = arena_games::build(ruleset, &options, seats).expect("a game");
    let mut moves = [Vec::new(), Vec::new()];
    let replayed = game.replay(&record.events, &mut |it| {
        if it.event.is_action() {
            moves[usize::from(it.seat.expect("a seat"))].push(it.event.id().into());
        }
    });
    replayed.expect("a record of these rules");
    moves
}

fn resolved(ruleset: &str) -> (Options, usize) {
    arena_games::resolve(ruleset, &Options::new(), Some(2)).expect("a ruleset")
}

/// A chance event.
struct Throw {
    /// The seat to which it belongs.
    owner: Option<Seat>,
    /// Number of earlier events of this owner.
    place: usize,
    weights: Vec<u32>,
    outcome: usize,
    /// Number of actions of each seat before it.
    decisions: [u32; 2],
}

/// Finds the chance events of a game.
struct Throws<'a>(&'a [Event]);

impl Visitor for Throws<'_> {
    type Out = Vec<Throw>;

    fn visit<G: Game>(self, game: G) -> Vec<Throw> {
        let mut throws: Vec<Throw> = Vec::new();
        let mut decisions = [0; 2];
        let replayed = replay(&game, self.0, |state, described| {
            if described.event.is_action() {
                let seat = described.seat.expect("the seat of an action");
                decisions[usize::from(seat)] += 1;
                return;
            }
            let earlier = throws.iter().filter(|it| it.owner == described.seat);
            throws.push(Throw {
                owner: described.seat,
                place: earlier.count(),
                weights: game.weights(state).to_vec(),
                outcome: described.event.id().into(),
                decisions,
            });
        });
        replayed.expect("a record of these rules");
        throws
    }
}

/// The words of a stream, up to this one.
fn words(mut stream: Stream, last: usize) -> Vec<u64> {
    (0..=last).map(|_| stream.word()).collect()
}

/// The beginnings of all streams that some number gives, if it is used as the seed or as the key of
/// something. `own` is the stream of the next throw.
fn streams(number: u64, game: u64, own: StreamOf, last: usize) -> Vec<(String, Vec<u64>)> {
    let mut found = Vec::new();
    let chance = [
        ("own dice", own),
        ("dice of seat 0", StreamOf::Dice(0)),
        ("dice of seat 1", StreamOf::Dice(1)),
        ("table", StreamOf::Table),
    ];
    let others = [
        ("opening", StreamOf::Opening),
        ("substitute 0", StreamOf::Substitute(0)),
        ("substitute 1", StreamOf::Substitute(1)),
        ("agent 0", StreamOf::Agent(0)),
        ("agent 1", StreamOf::Agent(1)),
    ];
    let add_all = |found: &mut Vec<_>, name: &str, keys: &GameKeys, of: &[(&str, StreamOf)]| {
        let named = of.iter().map(|(stream, of)| {
            let name = format!("{name}: {stream}");
            (name, words(keys.stream(*of), last))
        });
        found.extend(named);
    };
    let keys = BlockSeed(number).keys(&NAMES);
    add_all(&mut found, "seed of the block", &keys, &chance);
    add_all(&mut found, "seed of the block", &keys, &others);
    for rotation in 0..2 {
        let keys = BlockSeed(number).rotation(rotation).chance_keys();
        add_all(
            &mut found,
            &format!("seed of rotation {rotation}"),
            &keys,
            &chance[..1],
        );
    }
    let mut padded = [[0; 32]; 4];
    padded[0][24..].copy_from_slice(&number.to_be_bytes());
    padded[1][..8].copy_from_slice(&number.to_le_bytes());
    padded[2] = std::array::from_fn(|at| number.to_be_bytes()[at % 8]);
    padded[3] = std::array::from_fn(|at| number.to_le_bytes()[at % 8]);
    for (way, bytes) in padded.into_iter().enumerate() {
        let keys = TournamentSeed::from_bytes(bytes).block(game).chance_keys();
        add_all(
            &mut found,
            &format!("seed {way} of the tournament"),
            &keys,
            &chance[..1],
        );
        found.push((format!("key {way}"), words(Stream::new(&bytes), last)));
    }
    let mut split = AgentRng::new(number);
    let split = (0..=last).map(|_| split.word()).collect();
    found.push(("SplitMix64".to_owned(), split));
    found.push(("itself".to_owned(), vec![number; last + 1]));
    found
}

/// The outcome on which a word falls.
fn outcome(word: u64, weights: &[u32]) -> usize {
    let sum: u32 = weights.iter().sum();
    let mut point = ((u128::from(word) * u128::from(sum)) >> 64) as u32;
    let fits = weights.iter().position(|&weight| {
        let fits = point < weight;
        point = point.saturating_sub(weight);
        fits
    });
    fits.expect("it is below the sum")
}

/// How often a way to foretell was right.
#[derive(Clone, Copy, Debug, Default)]
struct Foretold {
    throws: usize,
    right: usize,
    /// How often it would be right on average, if the dice did not depend on it.
    expected: f64,
}

/// The numbers that agents know before a throw, with names.
fn known(
    throw: &Throw,
    game: u64,
    decisions: &Decisions,
    commitment: [u8; 32],
) -> Vec<(&'static str, u64)> {
    let first = |bytes: &[u8]| u64::from_be_bytes(bytes[..8].try_into().expect("8 bytes"));
    let of_commitment = TournamentSeed::from_bytes(commitment).block(game);
    let mut known = vec![
        ("index", game),
        ("commitment", first(&commitment)),
        ("block of the commitment", of_commitment.0),
    ];
    let owner = u32::from(throw.owner.unwrap_or(0));
    let names = [
        ["own last seed", "own next", "own mixed", "own first seed"],
        ["last seed", "next", "mixed", "first seed"],
    ];
    for (seat, [last, next, mixed, first_seed]) in [owner, 1 - owner].into_iter().zip(names) {
        let before = (game, seat, 0)..(game, seat, throw.decisions[seat as usize]);
        let mut before = decisions.range(before).map(|(_, decision)| decision);
        let Some(first_one) = before.next() else {
            continue;
        };
        let last_one = before.next_back().unwrap_or(first_one);
        known.extend([
            (last, last_one.seed),
            (next, AgentRng::new(last_one.seed).word()),
            (mixed, last_one.seed ^ u64::from(last_one.number)),
            (first_seed, first_one.seed),
            ("token", first(&last_one.game)),
            ("token reversed", first(&last_one.game).swap_bytes()),
            ("token and seed", first(&last_one.game) ^ last_one.seed),
        ]);
    }
    known.sort_unstable_by_key(|&(name, _)| name);
    known.dedup_by_key(|(name, _)| *name);
    known
}

async fn check(ruleset: &str) {
    let seed = TournamentSeed::from_bytes(SEED);
    let (records, decisions) = played(ruleset, seed).await;
    let (options, seats) = resolved(ruleset);
    let mut ways: BTreeMap<String, Foretold> = BTreeMap::new();
    let throws = records.iter().flat_map(|record| {
        let throws = Throws(&record.events);
        let throws = visit(ruleset, &options, seats, throws).expect("a ruleset");
        throws.into_iter().map(move |throw| (record, throw))
    });
    let throws: Vec<_> = throws.take(THROWS).collect();
    assert_eq!(throws.len(), THROWS);
    for (record, throw) in throws {
        let mut known = known(&throw, record.index, &decisions, seed.commitment(&NONCE));
        known.push(("the secret", record.seed.0));
        let asked = throw
            .owner
            .map_or(0, |seat| throw.decisions[usize::from(seat)]);
        let used = [
            ("first", 0),
            ("same", throw.place),
            ("asked", asked as usize),
        ];
        let last = used.iter().map(|&(_, word)| word).max().unwrap_or(0);
        let own = throw.owner.map_or(StreamOf::Table, StreamOf::Dice);
        let sum = f64::from(throw.weights.iter().sum::<u32>());
        for (number, value) in known {
            for (stream, words) in streams(value, record.index, own, last) {
                for &(which, word) in &used {
                    let guess = outcome(words[word], &throw.weights);
                    let way = format!("{number} as {stream}, {which} word");
                    let way = ways.entry(way).or_default();
                    way.throws += 1;
                    way.right += usize::from(guess == throw.outcome);
                    way.expected += f64::from(throw.weights[guess]) / sum;
                }
            }
        }
    }
    let dice = ways["the secret as seed of the block: own dice, same word"];
    assert_eq!(dice.right, THROWS, "{ruleset}: the seed foretells all");
    ways.retain(|name, _| !name.starts_with("the secret"));
    assert!(ways.len() > 800, "{}", ways.len());
    for (name, way) in &ways {
        // Hoeffding's inequality, for both sides of each way.
        let tests = 2.0 * ways.len() as f64;
        let most = (way.throws as f64 * (tests / CHANCE).ln() / 2.0).sqrt();
        let far = (way.right as f64 - way.expected).abs();
        assert!(far <= most, "{ruleset}: {name}: {way:?}");
        let enough = way.throws * 2 > THROWS;
        assert!(enough, "{ruleset}: {name}: {way:?}");
    }
}

#[tokio::test]
async fn decisions_foretell_no_dice() {
    for ruleset in ["chinese-ludo", "cowry"] {
        check(ruleset).await;
    }
}
