//! Writes the line of a record, without a JSON library, because its bytes are hashed and every
//! game of every tournament passes here.

use std::fmt::Write;

use arena_engine::{AnyGame, Described, ReplayError, options::Value};
use sha2::{Digest, Sha256};

use super::{GameRecord, RECORD_VERSION, RecordHeader};
use crate::canonical::canonical_json;

/// Writes the lines of one tournament: the common part is built once, and buffers are reused.
#[derive(Clone, Debug)]
pub struct LineWriter {
    /// The text before the game's number.
    opening: String,
    /// See [`RecordHeader::common`].
    common: String,
    header: RecordHeader,
    line: String,
}

impl LineWriter {
    /// A writer for the records of a tournament.
    #[must_use]
    pub fn new(header: &RecordHeader) -> Self {
        Self {
            opening: format!("{{\"game_id\":\"{}/", header.tournament_id),
            common: header.common(),
            header: header.clone(),
            line: String::with_capacity(16 << 10),
        }
    }

    /// Appends the line to `out`, without a newline, and without `"hash"` if `hash` is none.
    ///
    /// # Errors
    /// [`ReplayError`] if the rules do not allow the record's events.
    pub fn write(
        &self,
        record: &GameRecord,
        game: &dyn AnyGame,
        hash: Option<&[u8; 32]>,
        out: &mut String,
    ) -> Result<(), ReplayError> {
        let own = record.own_game(game)?;
        let game = own.as_deref().unwrap_or(game);
        let replay = |visit: &mut dyn FnMut(Described<'_>)| game.replay(&record.events, visit);
        self.write_to_events(record, game, out, replay)?;
        write_tail(out, record, hash);
        Ok(())
    }

    /// Appends the line up to its events, which `replay` passes on; [`write_tail`] has the rest.
    pub(super) fn write_to_events<T, E>(
        &self,
        record: &GameRecord,
        game: &dyn AnyGame,
        out: &mut String,
        replay: impl FnOnce(&mut dyn FnMut(Described<'_>)) -> Result<T, E>,
    ) -> Result<T, E> {
        out.push_str(&self.opening);
        write_number(out, record.index);
        let seats = record.seats.iter();
        let names = seats.map(|&agent| self.header.agents[usize::from(agent)].as_str());
        match (&record.start, game.start_option()) {
            (Some(start), Some(option)) => {
                let mut header = self.header.clone();
                let start = Value::Text(start.to_string());
                header.options.insert(option.to_owned(), start);
                write_head(out, record, &header.common(), names);
            }
            _ => write_head(out, record, &self.common, names),
        }
        if let Some(setup) = &self.header.setup {
            let seats = record.seats.iter();
            let agents = seats.map(|&agent| setup.agents[usize::from(agent)].as_str());
            write_setup(out, agents, &setup.play);
        }
        out.push_str(EVENTS);
        let mut plies = 0;
        let mut first = true;
        replay(&mut |described| {
            if !std::mem::take(&mut first) {
                out.push(',');
            }
            let opening = described.event.is_action() && plies < record.opening_plies;
            plies += u32::from(described.event.is_action());
            write_event(out, described, opening);
        })
    }

    /// Computes the record's hash and stores it in the record.
    ///
    /// # Errors
    /// As [`LineWriter::write`].
    pub fn seal(&mut self, record: &mut GameRecord, game: &dyn AnyGame) -> Result<(), ReplayError> {
        let mut line = std::mem::take(&mut self.line);
        line.clear();
        let written = self.write(record, game, None, &mut line);
        if written.is_ok() {
            record.hash = Sha256::digest(line.as_bytes()).into();
        }
        self.line = line;
        written
    }
}

impl RecordHeader {
    /// The common part of all lines between a game's block and its seed.
    pub(super) fn common(&self) -> String {
        let version = match self.setup {
            Some(_) => format!(",\"record\":{RECORD_VERSION}"),
            None => String::new(),
        };
        let digest = self.rules_digest.as_ref();
        let digest = digest.map(|digest| format!(",\"rules_digest\":\"{digest}\""));
        format!(
            "{version},\"ruleset\":\"{}\",\"rules_version\":{}{},\"options\":{},\"seed\":\"",
            self.ruleset,
            self.rules_version,
            digest.unwrap_or_default(),
            canonical_json(&self.options)
        )
    }
}

/// The start of the events.
pub(super) const EVENTS: &str = ",\"events\":[";

/// Descriptions of agents in seat order, and of play.
pub(super) fn write_setup<'a>(out: &mut String, agents: impl Iterator<Item = &'a str>, play: &str) {
    for (place, agent) in agents.enumerate() {
        out.push_str(if place > 0 { "," } else { ",\"agents\":[" });
        out.push_str(agent);
    }
    out.push_str("],\"play\":");
    out.push_str(play);
}

/// The part after the game's id, up to the names of the seats.
pub(super) fn write_head<'a>(
    out: &mut String,
    record: &GameRecord,
    common: &str,
    names: impl Iterator<Item = &'a str>,
) {
    out.push_str("\",\"index\":");
    write_number(out, record.index);
    out.push_str(",\"block\":");
    write_number(out, record.block);
    out.push_str(common);
    let _ = write!(out, "{}", record.seed);
    out.push_str("\",\"seats\":[");
    for (place, name) in names.enumerate() {
        out.push_str(if place > 0 { ",\"" } else { "\"" });
        out.push_str(name);
        out.push('"');
    }
    out.push(']');
}

pub(super) fn write_event(out: &mut String, described: Described<'_>, opening: bool) {
    let Described {
        event, seat, name, ..
    } = described;
    if event.is_action() {
        out.push_str("{\"seat\":");
        write_number(out, seat.unwrap_or(0));
        out.push_str(",\"action\":");
        write_number(out, event.id());
        out.push_str(",\"move\":\"");
        out.push_str(name);
        out.push_str(if opening {
            "\",\"opening\":true}"
        } else {
            "\"}"
        });
    } else {
        out.push_str("{\"chance\":\"");
        out.push_str(name);
        out.push_str("\",\"seat\":");
        match seat {
            Some(seat) => write_number(out, seat),
            None => out.push_str("null"),
        }
        out.push('}');
    }
}

fn write_number(out: &mut String, number: impl itoa::Integer) {
    out.push_str(itoa::Buffer::new().format(number));
}

fn write_list(out: &mut String, items: &[impl itoa::Integer + Copy]) {
    out.push('[');
    for (place, &item) in items.iter().enumerate() {
        if place > 0 {
            out.push(',');
        }
        write_number(out, item);
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
    if !record.luck.is_empty() {
        out.push_str(",\"luck\":");
        write_list(out, &record.luck);
    }
    out.push_str(",\"plies\":");
    write_number(out, record.plies);
    out.push_str(",\"decisions\":");
    write_list(out, &record.decisions);
    out.push_str(",\"termination\":\"");
    out.push_str(record.termination.name());
    out.push_str("\",\"fault\":");
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
    for (place, scored) in record.adjudication.iter().enumerate() {
        out.push_str(if place > 0 {
            ","
        } else {
            ",\"adjudication\":["
        });
        let _ = write!(
            out,
            "{{\"ply\":{},\"seat\":{},\"score\":",
            scored.ply, scored.seat
        );
        let _ = match scored.score {
            Some(score) => write!(out, "{score}}}"),
            None => write!(out, "null}}"),
        };
    }
    if !record.adjudication.is_empty() {
        out.push(']');
    }
    if let Some(hash) = hash {
        out.push_str(",\"hash\":\"");
        out.push_str(&hex::encode(hash));
        out.push('"');
    }
    out.push('}');
}
