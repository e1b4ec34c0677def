//! Games as the store keeps them: the record, and the rest of the report beside it.

use std::sync::Arc;

use arena_model::{Beginning, GameRecord, engine::FaultKind, result::GameResult};
use arena_store::StoredGame;
use arena_tournament::Schedule;
use arena_wire::v1;
use prost::Message;

use crate::{error::Error, info::Info};

/// The record of a message of a tournament's schedule.
pub(crate) fn checked(
    info: &Info,
    schedule: &Schedule,
    message: &v1::GameRecord,
) -> Result<GameRecord, Error> {
    let mut record = GameRecord::try_from(message)?;
    // Fingerprints follow from the events.
    record.course = 0;
    record.beginning = Beginning::default();
    info.check(&record, schedule)?;
    Ok(record)
}

/// The stored form of a game: its record, and the rest of its report. The hash is stored
/// once. A tournament that keeps only hashes stores what results and standings need.
pub(crate) fn stored(info: &Info, record: &GameRecord, side: &mut v1::GameReport) -> StoredGame {
    let mut message = match info.hash_only() {
        true => {
            let mut short = record.clone();
            short.forget_moves();
            side.outputs = Vec::new();
            side.timing = { side.timing.take() }
                .filter(|timing| !timing.latency.is_empty())
                .map(|timing| v1::GameTiming {
                    latency: timing.latency,
                    ..v1::GameTiming::default()
                });
            v1::GameRecord::from(&short)
        }
        false => record.into(),
    };
    message.hash = Vec::new();
    StoredGame {
        tournament: Arc::clone(&info.key),
        index: record.index,
        hash: record.hash,
        record: message.encode_to_vec(),
        side: side.encode_to_vec(),
    }
}

/// Seats of a game whose agents failed before their first answer in it.
pub(crate) fn unplayed(result: &GameResult, answered: &[u32]) -> Vec<u32> {
    use FaultKind::{Crash, Disconnected, NotReady};
    let fails = result.faults.iter();
    let fails = fails.filter(|it| matches!(it.kind, NotReady | Crash | Disconnected));
    let mut seats: Vec<u32> = fails.map(|it| it.seat.into()).collect();
    seats.retain(|seat| !answered.contains(seat));
    seats.dedup();
    seats
}

/// Seats that were never asked, since another agent's fault ended the game before.
pub(crate) fn unasked(result: &GameResult, answered: &[u32]) -> Vec<u32> {
    if result.faults.is_empty() {
        // Seats that never had a choice are not asked in games that are played out.
        return Vec::new();
    }
    (0..result.seats.len() as u32)
        .filter(|seat| !answered.contains(seat))
        .filter(|&seat| result.faults_of(seat as usize).next().is_none())
        .collect()
}

/// The record of a stored game, as a message.
pub(crate) fn read_message(game: &StoredGame) -> Result<v1::GameRecord, Error> {
    let record = v1::GameRecord::decode(game.record.as_slice());
    let mut record = record.map_err(|error| {
        Error::damaged(format!("game {}/{}", game.tournament, game.index), error)
    })?;
    if record.hash.is_empty() {
        record.hash = game.hash.to_vec();
    }
    Ok(record)
}

/// The record of a stored game.
pub(crate) fn read_record(game: &StoredGame) -> Result<GameRecord, Error> {
    Ok(GameRecord::try_from(&read_message(game)?)?)
}

/// The report stored beside the record; empty if it cannot be read, since it is only
/// informative.
pub(crate) fn read_side(game: &StoredGame) -> v1::GameReport {
    v1::GameReport::decode(game.side.as_slice()).unwrap_or_default()
}
