//! Writing the line of JSON: by hand, since its bytes are hashed and every game
//! of every tournament passes here.

use std::fmt::Write;

use arena_engine::{AnyGame, Event, ReplayError};
use sha2::{Digest, Sha256};

use super::{GameRecord, RecordHeader};
use crate::canonical::canonical_json;

impl RecordHeader {
    /// Writes the line, without a newline, and without `"hash"` where `hash`
    /// is none. Appends to `out`.
    ///
    /// # Errors
    /// [`ReplayError`] where the rules do not allow the record's events.
    pub fn write_line(
        &self,
        record: &GameRecord,
        game: &dyn AnyGame,
        hash: Option<&[u8; 32]>,
        out: &mut String,
    ) -> Result<(), ReplayError> {
        let seats: Vec<&str> = record
            .seats
            .iter()
            .map(|&agent| self.agents[usize::from(agent)].as_str())
            .collect();
        write_head(
            out,
            &format!("{}/{}", self.tournament_id, record.index),
            record,
            &self.ruleset,
            self.rules_version,
            &canonical_json(&self.options),
            &seats,
        );
        let mut plies = 0;
        let mut first = true;
        game.replay(&record.events, &mut |described| {
            if !first {
                out.push(',');
            }
            first = false;
            let opening = described.event.is_action() && plies < record.opening_plies;
            plies += u32::from(described.event.is_action());
            write_event(
                out,
                described.event,
                described.seat,
                described.name,
                opening,
            );
        })?;
        write_tail(out, record, hash);
        Ok(())
    }

    /// Computes the record's hash and stores it in the record. `scratch` is
    /// cleared and holds the line afterwards.
    ///
    /// # Errors
    /// As [`RecordHeader::write_line`].
    pub fn seal(
        &self,
        record: &mut GameRecord,
        game: &dyn AnyGame,
        scratch: &mut String,
    ) -> Result<(), ReplayError> {
        scratch.clear();
        self.write_line(record, game, None, scratch)?;
        record.hash = Sha256::digest(scratch.as_bytes()).into();
        Ok(())
    }
}

pub(super) fn write_head(
    out: &mut String,
    game_id: &str,
    record: &GameRecord,
    ruleset: &str,
    rules_version: u32,
    options: &str,
    seats: &[&str],
) {
    let _ = write!(
        out,
        "{{\"game_id\":\"{game_id}\",\"index\":{},\"block\":{},\"ruleset\":\"{ruleset}\",\
         \"rules_version\":{rules_version},\"options\":{options},\"seed\":\"{}\",\"seats\":[",
        record.index, record.block, record.seed,
    );
    for (place, name) in seats.iter().enumerate() {
        let _ = write!(out, "{}\"{name}\"", if place > 0 { "," } else { "" });
    }
    out.push_str("],\"events\":[");
}

pub(super) fn write_event(
    out: &mut String,
    event: Event,
    seat: Option<u8>,
    name: &str,
    opening: bool,
) {
    if event.is_action() {
        let seat = seat.unwrap_or(0);
        let id = event.id();
        let _ = write!(out, "{{\"seat\":{seat},\"action\":{id},\"move\":\"{name}\"");
        out.push_str(if opening { ",\"opening\":true}" } else { "}" });
    } else {
        match seat {
            Some(seat) => {
                let _ = write!(out, "{{\"chance\":\"{name}\",\"seat\":{seat}}}");
            }
            None => {
                let _ = write!(out, "{{\"chance\":\"{name}\",\"seat\":null}}");
            }
        }
    }
}

fn write_list<T: std::fmt::Display>(out: &mut String, items: &[T]) {
    out.push('[');
    for (place, item) in items.iter().enumerate() {
        let _ = write!(out, "{}{item}", if place > 0 { "," } else { "" });
    }
    out.push(']');
}

pub(super) fn write_tail(out: &mut String, record: &GameRecord, hash: Option<&[u8; 32]>) {
    out.push_str("],\"placement\":");
    if record.placement.is_empty() {
        out.push_str("null");
    } else {
        write_list(out, &record.placement);
    }
    out.push_str(",\"scores\":");
    write_list(out, &record.scores);
    let _ = write!(out, ",\"plies\":{},\"decisions\":", record.plies);
    write_list(out, &record.decisions);
    let _ = write!(
        out,
        ",\"termination\":\"{}\",\"fault\":",
        record.termination.name()
    );
    if record.faults.is_empty() {
        out.push_str("null");
    } else {
        out.push('[');
        for (place, fault) in record.faults.iter().enumerate() {
            let _ = write!(
                out,
                "{}{{\"ply\":{},\"seat\":{},\"kind\":\"{}\"}}",
                if place > 0 { "," } else { "" },
                fault.ply,
                fault.seat,
                fault.kind.name()
            );
        }
        out.push(']');
    }
    if let Some(hash) = hash {
        let _ = write!(out, ",\"hash\":\"{}\"", hex::encode(hash));
    }
    out.push('}');
}
