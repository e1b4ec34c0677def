//! Pinned games and perft counts of every ruleset in the list.
//!
//! `ARENA_GOLDEN=write cargo test -p arena-games golden` writes the files of
//! `tests/data/golden` again from the cases that they name. A ruleset without a file gets one
//! with its defaults and presets. If a value of an option changes no game of a file, the command
//! searches random games for one that it changes. Only a new version of a ruleset or a new
//! option is a reason to do so; review the diff.

use std::{fs, path::PathBuf};

use arena_engine::{
    Game,
    options::{Kind, Value},
    perft, replay,
};
use arena_games::{RulesetInfo, Visitor, resolve, rulesets, visit};
use serde::{Deserialize, Serialize};

use crate::support::{data, options, play_at_random, setup};

/// Games with more events than this are pinned by their digest alone.
const EVENTS_SHOWN_MAX: usize = 450;
/// Maximum number of random games tried to find one that an option value changes.
const TRIED_MAX: u64 = 6_000;
/// The same for a value together with the options of another case.
const TRIED_BESIDE_MAX: u64 = 200;
/// Perft depth of positions that such a value affects.
const DEPTH: usize = 7;

#[derive(Clone, Serialize, Deserialize, PartialEq, Debug)]
struct Golden {
    version: u32,
    games: Vec<GoldenGame>,
    perft: Vec<GoldenPerft>,
}

#[derive(Clone, Serialize, Deserialize, PartialEq, Debug, Default)]
struct GoldenGame {
    options: String,
    seats: usize,
    seed: u64,
    #[serde(default)]
    termination: String,
    #[serde(default)]
    placement: Vec<u8>,
    #[serde(default)]
    scores: Vec<i64>,
    #[serde(default)]
    plies: u32,
    #[serde(default)]
    luck: Vec<i32>,
    /// Digest of all events.
    #[serde(default)]
    digest: String,
    /// Digest of the values of all chance outcomes; empty without chance. A change needs a new
    /// version of the rules, because records contain luck.
    #[serde(default)]
    values: String,
    /// Notation of the events, unless there are too many.
    #[serde(default)]
    events: String,
}

#[derive(Clone, Serialize, Deserialize, PartialEq, Debug, Default)]
struct GoldenPerft {
    options: String,
    seats: usize,
    /// The seed of the random game that has the first position of the count.
    #[serde(default, skip_serializing_if = "is_zero")]
    seed: u64,
    /// Number of events before that position; 0 is the start.
    #[serde(default, skip_serializing_if = "is_zero")]
    events: u64,
    /// Number of paths of 1, 2, 3, … events from there.
    counts: Vec<u64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Golden {
    /// The cases of a ruleset that has no data yet, without their results.
    fn cases(info: &RulesetInfo) -> Self {
        let (least, most) = info.seats;
        let mut wanted: Vec<(String, usize)> =
            (least..=most).map(|seats| (String::new(), seats)).collect();
        for preset in &info.presets {
            let words = format!("preset={}", preset.name);
            wanted.push((words, preset.seats.unwrap_or(least)));
        }
        let game = |(words, seats): &(String, usize)| GoldenGame {
            options: words.clone(),
            seats: *seats,
            seed: 1,
            ..Default::default()
        };
        let perft = |(words, seats): &(String, usize)| GoldenPerft {
            options: words.clone(),
            seats: *seats,
            counts: vec![0; 4],
            ..Default::default()
        };
        Self {
            version: info.version,
            games: wanted.iter().map(game).collect(),
            perft: wanted.iter().map(perft).collect(),
        }
    }

    /// The same cases with the results of these rules.
    fn played(&self, info: &RulesetInfo) -> Self {
        let games = self.games.iter().map(|case| case.played(info));
        let perft = self.perft.iter().map(|case| {
            let (options, seats) = resolve(info.name, &options(&case.options), Some(case.seats))
                .unwrap_or_else(|error| panic!("{}: {error}", case.options));
            visit(info.name, &options, seats, Count(case)).expect("resolved")
        });
        Self {
            version: info.version,
            games: games.collect(),
            perft: perft.collect(),
        }
    }

    /// Adds a game for each option value that changes none yet. Without chance, also adds perft
    /// counts from a position just before the change.
    fn complete(&mut self, info: &RulesetInfo) {
        for (name, value) in words(info) {
            let word = format!("{name}={value}");
            if self
                .games
                .iter()
                .any(|game| game.is_decided_by(info, &word))
            {
                continue;
            }
            let Some(found) = self.decided_by(info, name, &word) else {
                continue;
            };
            let (with, without) = (found.played(info), found.without(&word).played(info));
            if with.luck.is_empty() {
                let events = with.events.split(' ').zip(without.events.split(' '));
                let same = events.take_while(|(with, without)| with == without);
                self.perft.push(GoldenPerft {
                    options: found.options.clone(),
                    seats: found.seats,
                    seed: found.seed,
                    events: (same.count() as u64).saturating_sub(3),
                    counts: vec![0; DEPTH],
                });
            }
            self.games.push(found);
        }
    }

    /// A game that an option value changes, alone or with the options of another case.
    fn decided_by(&self, info: &RulesetInfo, name: &str, word: &str) -> Option<GoldenGame> {
        let mut beside = vec![(String::new(), info.seats.0)];
        for case in &self.games {
            let mut words = case.options.split(' ');
            let kind = (case.options.clone(), case.seats);
            if words.all(|word| !word.starts_with(&format!("{name}="))) && !beside.contains(&kind) {
                beside.push(kind);
            }
        }
        beside.into_iter().find_map(|(others, seats)| {
            let case = |seed| GoldenGame {
                options: format!("{others} {word}").trim_start().to_owned(),
                seats,
                seed,
                ..Default::default()
            };
            let options = options(&case(1).options);
            resolve(info.name, &options, Some(seats)).ok()?;
            let most = match others.as_str() {
                "" => TRIED_MAX,
                _ => TRIED_BESIDE_MAX,
            };
            (1..=most)
                .map(case)
                .find(|case| case.is_decided_by(info, word))
        })
    }
}

/// All options with their values except the default.
fn words(info: &RulesetInfo) -> Vec<(&str, String)> {
    let words = info.options.iter().flat_map(|option| {
        let words = match &option.kind {
            Kind::Bool => vec![Value::Bool(true), Value::Bool(false)],
            Kind::Choice(words) => words.iter().cloned().map(Value::Text).collect(),
            _ => Vec::new(),
        };
        let others = words.into_iter().filter(|word| *word != option.default);
        others.map(|word| (option.name.as_str(), word.to_string()))
    });
    words.collect()
}

impl GoldenGame {
    /// The game with its results.
    fn played(&self, info: &RulesetInfo) -> Self {
        let (options, seats) = resolve(info.name, &options(&self.options), Some(self.seats))
            .unwrap_or_else(|error| panic!("{}: {error}", self.options));
        visit(info.name, &options, seats, Play(self)).expect("resolved")
    }

    /// The same case without one of its option values.
    fn without(&self, word: &str) -> Self {
        let words = self.options.split(' ').filter(|given| *given != word);
        Self {
            options: words.collect::<Vec<_>>().join(" "),
            ..self.clone()
        }
    }

    /// Whether the case has this option value and its game differs without it.
    fn is_decided_by(&self, info: &RulesetInfo, word: &str) -> bool {
        let has = self.options.split(' ').any(|given| given == word);
        has && {
            let without = Self {
                options: self.options.clone(),
                ..self.without(word).played(info)
            };
            self.played(info) != without
        }
    }
}

struct Play<'a>(&'a GoldenGame);

impl Visitor for Play<'_> {
    type Out = GoldenGame;

    fn visit<G: Game>(self, game: G) -> GoldenGame {
        let finished = play_at_random(&game, setup(self.0.seed));
        let mut digest = Digest::new();
        for event in &finished.events {
            digest.add(&event.to_bits().to_le_bytes());
        }
        let mut events = Vec::new();
        let mut chances = Digest::new();
        let mut values = Vec::new();
        replay(&game, &finished.events, |state, described| {
            events.push(described.name.to_owned());
            if !described.event.is_action() {
                values.clear();
                game.chance_values(state, &mut values);
                // The digests are of four seats, of which some may be empty.
                for values in values.chunks_exact(game.seats()) {
                    let empty = std::iter::repeat_n(&0, 4 - values.len());
                    for value in values.iter().chain(empty) {
                        chances.add(&value.to_le_bytes());
                    }
                }
            }
        })
        .expect("what was played can be replayed");
        let no_chance = finished.luck.is_empty();
        if events.len() > EVENTS_SHOWN_MAX {
            events.clear();
        }
        GoldenGame {
            options: self.0.options.clone(),
            seats: self.0.seats,
            seed: self.0.seed,
            termination: finished.termination.name().to_owned(),
            placement: finished.placement,
            scores: finished.scores,
            plies: finished.plies,
            luck: finished.luck,
            digest: digest.text(),
            values: if no_chance {
                String::new()
            } else {
                chances.text()
            },
            events: events.join(" "),
        }
    }
}

/// FNV-1a.
struct Digest(u64);

impl Digest {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn text(&self) -> String {
        format!("{:016x}", self.0)
    }
}

struct Count<'a>(&'a GoldenPerft);

impl Visitor for Count<'_> {
    type Out = GoldenPerft;

    fn visit<G: Game>(self, game: G) -> GoldenPerft {
        let case = self.0;
        let mut state = game.initial();
        if case.events > 0 {
            let events = play_at_random(&game, setup(case.seed)).events;
            let mut place = 0;
            replay(&game, &events, |before, _| {
                if place == case.events {
                    state = before.clone();
                }
                place += 1;
            })
            .expect("what was played can be replayed");
            assert!(place > case.events, "{case:?} is beyond the game's end");
        }
        let depths = 1..=case.counts.len() as u32;
        GoldenPerft {
            counts: depths.map(|depth| perft(&game, &state, depth)).collect(),
            ..case.clone()
        }
    }
}

fn path(info: &RulesetInfo) -> PathBuf {
    data(&format!("golden/{}.json", info.name))
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the test that writes the files is enabled by the environment"
)]
fn golden_games_and_counts_are_unchanged() {
    let writes = std::env::var("ARENA_GOLDEN").is_ok_and(|mode| mode == "write");
    for info in rulesets() {
        let path = path(info);
        let stored = fs::read_to_string(&path);
        let cases = match &stored {
            Ok(text) => serde_json::from_str(text)
                .unwrap_or_else(|error| panic!("{}: {error}", path.display())),
            Err(_) if writes => Golden::cases(info),
            Err(error) => panic!(
                "{} has no golden data, {}: {error}; the head of golden.rs says how to make them",
                info.name,
                path.display(),
            ),
        };
        let mut cases: Golden = cases;
        if writes {
            cases.complete(info);
        }
        let found = cases.played(info);
        if writes {
            let text = serde_json::to_string_pretty(&found).expect("plain data");
            fs::write(&path, text + "\n").expect("the data folder can be written");
            continue;
        }
        assert_eq!(found.version, cases.version, "{}", info.name);
        for (found, pinned) in found.games.iter().zip(&cases.games) {
            assert_eq!(found, pinned, "{}", info.name);
        }
        for (found, pinned) in found.perft.iter().zip(&cases.perft) {
            assert_eq!(found, pinned, "{}", info.name);
        }
        assert!(
            !cases.games.is_empty() && !cases.perft.is_empty(),
            "{}",
            info.name
        );
    }
}

/// Option values that change no random game. The tests of cowry cover deadlocks.
const UNDECIDED: &[(&str, &str)] = &[("cowry", "deadlock=progress")];

#[test]
fn golden_games_cover_every_option() {
    let mut missing = Vec::new();
    for info in rulesets() {
        let text = fs::read_to_string(path(info)).expect("golden data");
        let golden: Golden = serde_json::from_str(&text).expect("golden data");
        for (name, value) in words(info) {
            let word = format!("{name}={value}");
            let excused = UNDECIDED.contains(&(info.name, &word));
            let decides = |game: &GoldenGame| game.is_decided_by(info, &word);
            if golden.games.iter().any(decides) == excused {
                missing.push(format!("{}: {word}", info.name));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}
