//! Stored sums over results, so that a start does not have to read all games.
//!
//! A checkpoint contains the position in the store's chain of results up to which it sums. It is
//! valid only if the chain has that position, and if its games and those after it are all games
//! of the store. Otherwise, for example after a repair or with another release, all games are
//! read.

use std::collections::BTreeMap;

use arena_store::{Change, Collection, Position, Store, VALUE_BYTES_MAX};
use arena_telemetry::{LatencyHistogram, MoveLatency};
use arena_tournament::{Stages, StagesState, Tally, TallyState, WorkerScores};
use serde::{Deserialize, Serialize};

use crate::{
    info::Info,
    results::{Counts, Results},
};

/// Version of the numbers. It changes whenever an older checkpoint would lead to other
/// standings than reading the games.
const FORMAT: u32 = 12;
/// Only the release that wrote the sums uses them, because another may compute differently.
const RELEASE: &str = env!("CARGO_PKG_VERSION");

/// Default number of games of a tournament after which a new checkpoint is written; tests use
/// few.
pub(crate) const CHECKPOINT_GAMES: u64 = if cfg!(test) { 8 } else { 100_000 };

#[derive(Serialize, Deserialize)]
struct Checkpoint {
    format: u32,
    /// Empty if the release did not state its version.
    #[serde(default)]
    release: String,
    tournament: String,
    packs: u64,
    link: String,
    tally: TallyState,
    stages: StagesState,
    /// Thinking times and waiting times.
    latencies: Vec<[Vec<(u32, u64)>; 2]>,
    counts: Counts,
    workers: Option<WorkerScores>,
}

/// Prefix of the keys.
pub(crate) const PREFIX: &str = "checkpoint/";

/// Key of the document.
pub(crate) fn key(tournament: &str) -> String {
    format!("{PREFIX}{tournament}")
}

/// The change that stores the sums; none if they are too large for a document.
pub(crate) fn write(info: &Info, results: &Results, position: &Position) -> Option<Change> {
    let checkpoint = Checkpoint {
        format: FORMAT,
        release: RELEASE.to_owned(),
        tournament: info.key.to_string(),
        packs: position.packs,
        link: hex::encode(position.link),
        tally: results.tally.state(),
        stages: results.stages.state(),
        latencies: results
            .latencies
            .iter()
            .map(|of| [&of.thinking, &of.waiting].map(|of| of.buckets().collect()))
            .collect(),
        counts: results.counts.clone(),
        workers: results.workers.clone(),
    };
    let document = encode(&checkpoint)?;
    (document.len() <= VALUE_BYTES_MAX).then(|| Change {
        collection: Collection::Meta,
        key: key(&info.key),
        value: Some(document),
    })
}

/// Sums may need more than 64 bits, which `serde_json::Value` cannot hold.
fn encode(checkpoint: &impl Serialize) -> Option<Vec<u8>> {
    serde_json::to_vec(checkpoint)
        .inspect_err(|error| tracing::error!(%error, "cannot store sums of results"))
        .ok()
}

/// The sums of a checkpoint and their position in the chain; none if this release cannot use
/// them. The caller checks that the store's chain has that position.
pub(crate) fn read(info: &Info, store: &dyn Store) -> Option<(Results, Position)> {
    // A checkpoint that cannot be read is no loss, whatever the reason.
    let document = store.get(Collection::Meta, &key(&info.key)).ok()??;
    let checkpoint: Checkpoint = serde_json::from_slice(&document).ok()?;
    let agents = info.agents.len();
    let fits = checkpoint.format == FORMAT
        && checkpoint.release == RELEASE
        && checkpoint.tournament == *info.key
        && checkpoint.latencies.len() == agents
        && checkpoint.counts.unplayed.len() == agents
        && checkpoint.counts.unasked.len() == agents
        && checkpoint.counts.last_faults.len() == agents;
    if !fits {
        return None;
    }
    let mut link = [0; 32];
    hex::decode_to_slice(&checkpoint.link, &mut link).ok()?;
    let latencies = checkpoint.latencies.into_iter();
    let kept = checkpoint.tally.games();
    let stages = Stages::resume(&info.tournament, checkpoint.stages).ok()??;
    let tally = Tally::resume(&info.tournament, stages.schedule(), checkpoint.tally).ok()??;
    let results = Results {
        tally,
        stages,
        ahead: BTreeMap::new(),
        latencies: latencies
            .map(|[thinking, waiting]| {
                Some(MoveLatency {
                    thinking: LatencyHistogram::from_buckets(thinking).ok()?,
                    waiting: LatencyHistogram::from_buckets(waiting).ok()?,
                })
            })
            .collect::<Option<_>>()?,
        counts: checkpoint.counts,
        workers: checkpoint.workers,
        kept,
    };
    let position = Position {
        packs: checkpoint.packs,
        link,
    };
    Some((results, position))
}

#[cfg(test)]
mod tests {
    use arena_model::{engine::Termination, result::GameResult};

    use super::*;

    /// Products of the luck of a single block need more than 64 bits.
    #[test]
    fn checkpoint_keeps_luck_sums_exact() {
        let spec = "name = \"cup\"\nruleset = \"cowry\"\nseed = \"0x5eed\"\n\
                    agents = [\"random\", \"aggressive\"]";
        let agents = crate::agents::Agents::new(
            crate::tests::fixture::native(),
            |_, _, _, _, _| Ok(()),
            Vec::new(),
        );
        let seed = "0x5eed".parse().expect("a seed");
        let plan = crate::plan::Plan::new(
            spec,
            "",
            seed,
            &agents,
            &crate::rulesets::Rulesets::default(),
            &std::sync::atomic::AtomicBool::default(),
        )
        .expect("a plan");
        let mut tally = Tally::new(&plan.tournament).expect("a tally");
        let stages = Stages::new(&plan.tournament).expect("stages");
        for game in stages.schedule().iter().take(60) {
            let luck = 900_000 - 1_000 * game.index as i32;
            tally.add(&GameResult {
                index: game.index,
                block: game.block,
                placement: [vec![1, 2], vec![2, 1], vec![1, 1]][game.index as usize % 3].clone(),
                scores: Vec::new(),
                seats: game.seats,
                luck: vec![luck, -luck],
                plies: 50,
                termination: Termination::Normal,
                faults: Vec::new(),
                course: 1 + game.index,
                beginning: arena_model::Beginning::default(),
            });
        }
        let state = tally.state();
        let bytes = encode(&state).expect("it is kept");
        assert_eq!(
            serde_json::from_slice::<TallyState>(&bytes).expect("read"),
            state
        );
    }
}
