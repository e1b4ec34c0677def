//! Games as the store keeps them: the record, and the rest of the report beside it.

use std::sync::Arc;

use arena_model::{Beginning, GameRecord, engine::FaultKind, result::GameResult};
use arena_store::StoredGame;
use arena_tournament::Schedule;
use arena_wire::v1;
use prost::{
    Message,
    encoding::{DecodeContext, decode_key, skip_field},
};

use crate::{error::Error, info::Info};

/// Maximum bytes of a message for people, and of the output of an agent in a report. Workers send no more.
const MESSAGE_BYTES_MAX: usize = 4 << 10;
const OUTPUT_BYTES_MAX: usize = 8 << 10;
/// Maximum number of faults, outputs and answers in the report of a game: more than it can have seats.
const LIST_MAX: usize = 256;

/// Cuts what is too long in a report, before anything of it is kept: the end of messages, and the beginning of
/// outputs.
pub(crate) fn cut(report: &mut v1::GameReport) {
    let message = |text: &mut String| text.truncate(text.floor_char_boundary(MESSAGE_BYTES_MAX));
    let output = |text: &mut String| {
        let excess = text.len().saturating_sub(OUTPUT_BYTES_MAX);
        text.drain(..text.ceil_char_boundary(excess));
        text.shrink_to_fit();
    };
    message(&mut report.void_reason);
    report.fault_details.truncate(LIST_MAX);
    for detail in &mut report.fault_details {
        message(&mut detail.message);
        output(&mut detail.stderr_tail);
    }
    if let Some(unready) = &mut report.unready {
        message(&mut unready.message);
        output(&mut unready.stderr_tail);
    }
    report.outputs.truncate(LIST_MAX);
    for of in &mut report.outputs {
        output(&mut of.text);
    }
    report.answered.truncate(LIST_MAX);
    if let Some(timing) = &mut report.timing {
        timing.searches.truncate(timing.latencies_us.len());
    }
}

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
    info.check_opening(&record, schedule)?;
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
    let mut record = v1::GameRecord::default();
    read_into(&mut record, game)?;
    Ok(record)
}

/// Reads the record of a stored game into a message, whose memory is used again.
pub(crate) fn read_into(record: &mut v1::GameRecord, game: &StoredGame) -> Result<(), Error> {
    record.clear();
    let read = record.merge(game.record.as_slice());
    read.map_err(|error| {
        Error::damaged(format!("game {}/{}", game.tournament, game.index), error)
    })?;
    if record.hash.is_empty() {
        record.hash.extend_from_slice(&game.hash);
    }
    Ok(())
}

/// Removes what happened in a game from its record, without decoding that. A record that cannot be read
/// stays as it is.
pub(crate) fn forget_events(game: &mut StoredGame) {
    /// Numbers of `events` and `transcript`.
    const EVENTS: [u32; 2] = [5, 20];
    let mut short = Vec::new();
    let mut rest = game.record.as_slice();
    while !rest.is_empty() {
        let field = rest;
        let Ok((tag, kind)) = decode_key(&mut rest) else {
            return;
        };
        if skip_field(kind, tag, &mut rest, DecodeContext::default()).is_err() {
            return;
        }
        if !EVENTS.contains(&tag) {
            short.extend_from_slice(&field[..field.len() - rest.len()]);
        }
    }
    game.record = short;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forgotten_events_leave_the_rest_of_a_record() {
        let record = v1::GameRecord {
            index: 300,
            block: 150,
            seed: u64::MAX,
            seats: vec![1, 0],
            events: (0..1000).collect(),
            scores: vec![-5, 5],
            plies: 1000,
            faults: vec![v1::Fault::default()],
            luck: vec![-1, 1],
            course: 7,
            beginning: vec![1, 2],
            transcript: Some(v1::Transcript {
                names: vec!["a".to_owned()],
                ..Default::default()
            }),
            ..Default::default()
        };
        let of = |record: Vec<u8>| StoredGame {
            tournament: "cup".into(),
            index: 300,
            hash: [1; 32],
            record,
            side: Vec::new(),
        };
        let mut game = of(record.encode_to_vec());
        forget_events(&mut game);
        let expected = v1::GameRecord {
            events: Vec::new(),
            transcript: None,
            hash: vec![1; 32],
            ..record
        };
        assert_eq!(read_message(&game).expect("a record"), expected);
        let mut damaged = of(vec![0x2a, 0xff]);
        forget_events(&mut damaged);
        assert_eq!(damaged.record, [0x2a, 0xff]);
    }

    #[test]
    fn long_texts_of_a_report_are_cut() {
        let long = "ä".repeat(1 << 20) + "end";
        let detail = v1::FaultDetail {
            message: long.clone(),
            stderr_tail: long.clone(),
            ..Default::default()
        };
        let mut report = v1::GameReport {
            void_reason: long.clone(),
            fault_details: vec![detail; 2],
            unready: Some(v1::UnreadyAgent {
                message: long.clone(),
                stderr_tail: long.clone(),
                ..Default::default()
            }),
            outputs: vec![
                v1::AgentOutput {
                    text: long,
                    ..Default::default()
                };
                1000
            ],
            answered: vec![0; 1000],
            ..Default::default()
        };
        cut(&mut report);
        assert!(report.encoded_len() < 3 << 20, "{}", report.encoded_len());
        assert_eq!(report.void_reason.len(), MESSAGE_BYTES_MAX);
        assert_eq!(report.outputs.len(), LIST_MAX);
        let unready = report.unready.expect("an agent");
        assert!(unready.stderr_tail.ends_with("end"));
        assert!(unready.stderr_tail.len() <= OUTPUT_BYTES_MAX);
        let short = v1::GameReport {
            void_reason: "a reason".to_owned(),
            answered: vec![1],
            ..Default::default()
        };
        let mut same = short.clone();
        cut(&mut same);
        assert_eq!(same, short);
    }
}
