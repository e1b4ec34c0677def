//! Processes that fill a store and check its content. The store is on a disk that loses its power;
//! the acknowledgements are kept outside of it.

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
/// Games of one batch.
const BATCH: u64 = 10;
/// Batches between two changes of the document.
const DOCUMENT_EVERY: u64 = 20;

/// A process that a stress test starts.
#[derive(Debug, clap::Subcommand)]
pub enum Appender {
    /// Appends games until the store fails, and prints a line for each acknowledgement
    Append {
        /// The data folder
        data: PathBuf,
        /// Free bytes on the disk below which nothing is written
        #[arg(long, default_value_t = RESERVE_BYTES)]
        reserve: u64,
    },
    /// Prints what a store contains
    Read {
        /// The data folder
        data: PathBuf,
    },
}

/// The content of a store.
#[derive(Debug, Serialize, Deserialize)]
struct Holding {
    /// The number of games, from the first on.
    games: u64,
    /// Indices of games that differ from what was appended, or are missing before the last one.
    wrong: Vec<u64>,
    /// The document: a number that only increases.
    document: u64,
}

/// What was acknowledged, which is kept outside of the store.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    /// Acknowledged games: all with a smaller index.
    pub(super) games: u64,
    /// The last acknowledged value of the document.
    pub(super) document: u64,
}

impl Known {
    /// Reads the acknowledgements of an appending process, and returns the number of games in them.
    pub(super) fn remember(&mut self, output: &Output) -> Result<u64, Broken> {
        let mut acknowledged = 0;
        // A kill may have cut the last line.
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

    /// Checks that a store opens and contains everything that was acknowledged. It may also contain
    /// data that was written without an acknowledgement.
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

/// Starts this program as the appending process.
pub(super) fn append_to(world: &World, data: &str, more: &[&str]) -> Started {
    world.start_own(&[&["store-process", "append", data][..], more].concat())
}

/// Checks that no process panicked.
pub(super) fn quiet(output: &Output) -> Result<(), Broken> {
    match output.stderr.contains("panicked") {
        true => Err(Broken::new(output.transcript())),
        false => Ok(()),
    }
}

impl Appender {
    /// Runs the process.
    ///
    /// # Errors
    /// The error of the store.
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
                // The printing thread lives longer than the store.
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
    // The thread ends with its channel.
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

/// A game that differs from every other; part of it cannot be compressed.
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

/// Prints a line to stdout immediately. The reader may have gone.
fn say(line: &str) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(format!("{line}\n").as_bytes());
    let _ = out.flush();
}
