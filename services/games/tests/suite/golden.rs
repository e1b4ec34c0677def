//! Games and perft counts that are pinned for ever, for every ruleset of the
//! list.
//!
//! `ARENA_GOLDEN=write cargo test -p arena-games golden` writes the files of
//! `tests/data/golden` anew from the cases they name; a ruleset without a file
//! gets one with its defaults and presets. Only a change of a ruleset's version
//! is a reason to do so, and the difference is to be read.

use std::{fs, path::PathBuf};

use arena_engine::{AnyGame, Game, replay};
use arena_games::{RulesetInfo, Visitor, resolve, rulesets, visit};
use serde::{Deserialize, Serialize};

use crate::support::{data, options, play_at_random, setup};

/// Games with more events than this are pinned by their digest alone.
const EVENTS_SHOWN_MAX: usize = 450;

#[derive(Serialize, Deserialize, PartialEq, Debug)]
struct Golden {
    version: u32,
    games: Vec<GoldenGame>,
    perft: Vec<GoldenPerft>,
}

#[derive(Serialize, Deserialize, PartialEq, Debug)]
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
    /// Of all events.
    #[serde(default)]
    digest: String,
    /// Of what every outcome of every chance node was worth; empty where there
    /// was none. Another number needs another version of the rules: luck is in
    /// records.
    #[serde(default)]
    values: String,
    /// Notation of the events, where they are few enough.
    #[serde(default)]
    events: String,
}

#[derive(Serialize, Deserialize, PartialEq, Debug)]
struct GoldenPerft {
    options: String,
    seats: usize,
    /// Paths of 1, 2, 3, … events from the start.
    counts: Vec<u64>,
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
            termination: String::new(),
            placement: Vec::new(),
            scores: Vec::new(),
            plies: 0,
            luck: Vec::new(),
            digest: String::new(),
            values: String::new(),
            events: String::new(),
        };
        let perft = |(words, seats): &(String, usize)| GoldenPerft {
            options: words.clone(),
            seats: *seats,
            counts: vec![0; 4],
        };
        Self {
            version: info.version,
            games: wanted.iter().map(game).collect(),
            perft: wanted.iter().map(perft).collect(),
        }
    }

    /// The same cases with the results of these rules.
    fn played(&self, info: &RulesetInfo) -> Self {
        let games = self.games.iter().map(|case| {
            let (options, seats) = resolve(info.name, &options(&case.options), Some(case.seats))
                .unwrap_or_else(|error| panic!("{}: {error}", case.options));
            visit(info.name, &options, seats, Play(case)).expect("resolved")
        });
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
                for value in values.iter().flatten() {
                    chances.add(&value.to_le_bytes());
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
        let depths = 1..=self.0.counts.len() as u32;
        GoldenPerft {
            options: self.0.options.clone(),
            seats: self.0.seats,
            counts: depths.map(|depth| AnyGame::perft(&game, depth)).collect(),
        }
    }
}

fn path(info: &RulesetInfo) -> PathBuf {
    data(&format!("golden/{}.json", info.name))
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the test that writes the files is told so by the environment"
)]
fn golden_games_and_counts_stand() {
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
