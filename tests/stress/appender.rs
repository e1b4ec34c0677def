//! A process that fills a store and tells what was acknowledged, and one that
//! tells what a store holds: what is on trial is on a disk that loses its
//! power, what is remembered is not.

use std::{
    io::{self, Write},
    path::PathBuf,
    sync::{Arc, mpsc},
    thread,
};

use arena_store::{Collection, Options, RESERVE_BYTES, SledStore, Store, StoreError, StoredGame};
use serde::{Deserialize, Serialize};

use super::Broken;
use crate::{Output, Started, World};

const TOURNAMENT: &str = "power-0123456789";
const DOCUMENT: &str = "written";
/// Games handed over at once.
const BATCH: u64 = 10;
/// Batches between two changes of the document.
const DOCUMENT_EVERY: u64 = 20;

/// What a proof starts as a process of its own.
#[derive(Debug, clap::Subcommand)]
pub enum Appender {
    /// Appends games until the store fails; a line for all that is acknowledged
    Append {
        /// The data folder
        data: PathBuf,
        /// Free bytes on the disk below which nothing is written
        #[arg(long, default_value_t = RESERVE_BYTES)]
        reserve: u64,
    },
    /// Tells what a store holds
    Read {
        /// The data folder
        data: PathBuf,
    },
}

/// What a store holds.
#[derive(Debug, Serialize, Deserialize)]
struct Holding {
    /// Games, from the first on.
    games: u64,
    /// Indices of games that are not as they were handed over, or missing
    /// before the last.
    wrong: Vec<u64>,
    /// The document: a number that only grows.
    document: u64,
}

/// What is known of a store outside of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    /// Games acknowledged: all below this.
    pub(super) games: u64,
    /// The document's value that was acknowledged last.
    pub(super) document: u64,
}

impl Known {
    /// Takes in what a process that appended was reported; tells of how many games
    /// that was.
    pub(super) fn remember(&mut self, output: &Output) -> Result<u64, Broken> {
        let mut acknowledged = 0;
        // The last line may be torn by a kill.
        let whole = output.stdout.rsplit_once('\n');
        for line in whole.map_or("", |(whole, _)| whole).lines() {
            let number = |text: &str| text.parse::<u64>().map_err(Broken::new);
            if let Some(start) = line.strip_prefix("acknowledged ") {
                self.games = self.games.max(number(start)? + BATCH);
                acknowledged += BATCH;
            } else if let Some(value) = line.strip_prefix("document ") {
                self.document = self.document.max(number(value)?);
            }
        }
        Ok(acknowledged)
    }

    /// Whether a store opens and holds all that was acknowledged. What was
    /// written and not acknowledged may be there, and stays.
    pub(super) fn held(&mut self, world: &World, data: &str) -> Result<(), Broken> {
        let read = world.start_own(&["store-process", "read", data]);
        let output = read.output();
        quiet(&output)?;
        let holding: Holding = serde_json::from_str(&output.stdout)
            .map_err(|error| Broken::new(format_args!("{error} in {}", output.transcript())))?;
        if holding.games < self.games
            || !holding.wrong.is_empty()
            || holding.document < self.document
        {
            return Err(Broken::new(format_args!(
                "{} games and document {} were acknowledged, the store has {holding:?}",
                self.games, self.document
            )));
        }
        self.games = holding.games;
        Ok(())
    }
}

/// Starts this very program as the process that appends.
pub(super) fn append_to(world: &World, data: &str, more: &[&str]) -> Started {
    world.start_own(&[&["store-process", "append", data][..], more].concat())
}

/// Nothing may panic.
pub(super) fn quiet(output: &Output) -> Result<(), Broken> {
    match output.stderr.contains("panicked") {
        true => Err(Broken::new(output.transcript())),
        false => Ok(()),
    }
}

impl Appender {
    /// Does it.
    ///
    /// # Errors
    /// What the store said.
    pub fn run(&self) -> Result<(), StoreError> {
        match self {
            Self::Append { data, reserve } => {
                let options = Options {
                    reserve_bytes: *reserve,
                    ..Options::default()
                };
                append(&SledStore::open(data, &options)?)
            }
            Self::Read { data } => {
                let options = Options {
                    create: false,
                    ..Options::default()
                };
                let holding = read(&SledStore::open(data, &options)?)?;
                say(&serde_json::to_string(&holding).expect("plain data"));
                Ok(())
            }
        }
    }
}

fn append(store: &SledStore) -> Result<(), StoreError> {
    say("opened");
    let (sender, receiver) = mpsc::channel();
    let teller = thread::spawn(move || {
        for start in receiver {
            say(&format!("acknowledged {start}"));
        }
    });
    let first = store.count(TOURNAMENT);
    for start in (first..).step_by(BATCH as usize) {
        let batch: Vec<_> = (start..start + BATCH).map(game).collect();
        let sender = sender.clone();
        let done = Box::new(move |result: Result<(), StoreError>| {
            if result.is_ok() {
                // The teller outlives the store.
                let _ = sender.send(start);
            }
        });
        match store.append(batch.clone(), done) {
            Ok(()) => {}
            Err(StoreError::Busy { .. }) => {
                store.append_and_wait(batch)?;
                say(&format!("acknowledged {start}"));
            }
            Err(error) => return Err(error),
        }
        if (start / BATCH).is_multiple_of(DOCUMENT_EVERY) {
            store.put(Collection::Meta, DOCUMENT, start.to_string().as_bytes())?;
            say(&format!("document {start}"));
        }
    }
    drop(sender);
    // It ends with its channel.
    let _ = teller.join();
    Ok(())
}

fn read(store: &SledStore) -> Result<Holding, StoreError> {
    let found = store.games(TOURNAMENT, 0, usize::MAX)?;
    let wrong = (0..)
        .zip(&found)
        .filter(|(index, found)| **found != game(*index))
        .map(|(index, _)| index);
    let document = store.get(Collection::Meta, DOCUMENT)?;
    Ok(Holding {
        games: found.len() as u64,
        wrong: wrong.take(20).collect(),
        document: document
            .and_then(|bytes| String::from_utf8(bytes).ok()?.parse().ok())
            .unwrap_or(0),
    })
}

/// A game that nobody can mistake for another: part of it does not compress.
fn game(index: u64) -> StoredGame {
    let mut rng = arena_wire::AgentRng::new(index);
    let bytes = (0..64 + rng.below(300)).map(|_| rng.below(7) as u8);
    StoredGame {
        tournament: Arc::from(TOURNAMENT),
        index,
        hash: [index as u8; 32],
        record: bytes.collect(),
        side: index.to_le_bytes().to_vec(),
    }
}

/// A line on stdout, at once. Who reads it may be gone.
fn say(line: &str) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(format!("{line}\n").as_bytes());
    let _ = out.flush();
}
