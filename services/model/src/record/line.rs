//! The line of JSON: written by hand, since its bytes are hashed and every
//! game of every tournament passes here; read with serde.

use std::fmt::Write;

use arena_engine::{
    AnyGame, Event, FaultKind, ReplayError, SeatFault, Step, Termination, options::Options,
};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::{GameRecord, RecordHeader};
use crate::{canonical::canonical_json, seed::BlockSeed};

/// Text that is not a record.
#[derive(Debug, thiserror::Error)]
#[error("not a record: {0}")]
pub struct LineError(#[from] serde_json::Error);

/// A record that does not hold.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// The content was changed.
    #[error("the record does not hash to {stated} as it says, but to {computed}")]
    Hash {
        /// What the record says.
        stated: String,
        /// What its content gives.
        computed: String,
    },
    /// The rules do not allow these events.
    #[error("{0}")]
    Replay(#[from] ReplayError),
    /// The rules give another result.
    #[error("{key} is {stated} in the record, but the rules give {computed}")]
    Differs {
        /// Key of the record.
        key: &'static str,
        /// What the record says.
        stated: String,
        /// What the rules give.
        computed: String,
    },
    /// Played by rules of another version.
    #[error("the record is of {ruleset} rules version {stated}, this program has version {known}")]
    Version {
        /// Name of the ruleset.
        ruleset: String,
        /// The record's version.
        stated: u32,
        /// This program's.
        known: u32,
    },
}

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

fn write_head(
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

fn write_event(out: &mut String, event: Event, seat: Option<u8>, name: &str, opening: bool) {
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

fn write_tail(out: &mut String, record: &GameRecord, hash: Option<&[u8; 32]>) {
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

/// A line of JSON, read back.
#[derive(Clone, Debug)]
pub struct ParsedRecord {
    line: Line,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    game_id: String,
    index: u64,
    block: u64,
    ruleset: String,
    rules_version: u32,
    options: Options,
    seed: BlockSeed,
    seats: Vec<String>,
    events: Vec<LineEvent>,
    placement: Option<Vec<u8>>,
    scores: Vec<i64>,
    plies: u32,
    decisions: Vec<u32>,
    #[serde(deserialize_with = "termination")]
    termination: Termination,
    fault: Option<Vec<LineFault>>,
    hash: String,
    #[expect(dead_code, reason = "allowed, and outside the hash")]
    timing: Option<serde_json::Value>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum LineEvent {
    Chance(LineChance),
    Action(LineAction),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LineChance {
    chance: String,
    seat: Option<u8>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LineAction {
    seat: u8,
    action: u16,
    r#move: String,
    #[serde(default)]
    opening: bool,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LineFault {
    ply: u32,
    seat: u8,
    #[serde(deserialize_with = "fault_kind")]
    kind: FaultKind,
}

fn termination<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Termination, D::Error> {
    let text = String::deserialize(from)?;
    [
        Termination::Normal,
        Termination::Forfeit,
        Termination::Void,
        Termination::Deadlock,
        Termination::Repetition,
        Termination::Cap,
    ]
    .into_iter()
    .find(|value| value.name() == text)
    .ok_or_else(|| serde::de::Error::custom(format!("unknown termination \"{text}\"")))
}

fn fault_kind<'de, D: serde::Deserializer<'de>>(from: D) -> Result<FaultKind, D::Error> {
    let text = String::deserialize(from)?;
    FaultKind::ALL
        .into_iter()
        .find(|kind| kind.name() == text)
        .ok_or_else(|| serde::de::Error::custom(format!("unknown fault \"{text}\"")))
}

impl ParsedRecord {
    /// Reads a line.
    ///
    /// # Errors
    /// [`LineError`] where it is not a record.
    pub fn parse(text: &str) -> Result<Self, LineError> {
        Ok(Self {
            line: serde_json::from_str(text)?,
        })
    }

    /// Id of the game.
    #[must_use]
    pub fn game_id(&self) -> &str {
        &self.line.game_id
    }

    /// Name of the ruleset.
    #[must_use]
    pub fn ruleset(&self) -> &str {
        &self.line.ruleset
    }

    /// Resolved options of the ruleset.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.line.options
    }

    /// Names of the agents, in seat order.
    #[must_use]
    pub fn seats(&self) -> &[String] {
        &self.line.seats
    }

    /// Checks hash, events and result against the rules, and gives the header
    /// and the packed record. In the header the agents are the seats.
    ///
    /// # Errors
    /// [`VerifyError`] at the first thing that does not hold.
    pub fn verify(&self, game: &dyn AnyGame) -> Result<(RecordHeader, GameRecord), VerifyError> {
        let line = &self.line;
        let computed = self.content_hash();
        if hex::encode(computed) != line.hash {
            return Err(VerifyError::Hash {
                stated: line.hash.clone(),
                computed: hex::encode(computed),
            });
        }
        if line.rules_version != game.version() {
            return Err(VerifyError::Version {
                ruleset: line.ruleset.clone(),
                stated: line.rules_version,
                known: game.version(),
            });
        }
        let steps: Vec<Step> = line
            .events
            .iter()
            .map(|event| match event {
                LineEvent::Chance(chance) => Step::Chance(chance.chance.clone()),
                LineEvent::Action(action) => Step::Action(action.action),
            })
            .collect();
        let record = self.packed(game.resolve_steps(&steps)?, computed);
        let header = RecordHeader {
            tournament_id: line
                .game_id
                .rsplit_once('/')
                .map_or(line.game_id.as_str(), |(tournament, _)| tournament)
                .to_owned(),
            ruleset: line.ruleset.clone(),
            rules_version: line.rules_version,
            options: line.options.clone(),
            agents: line.seats.clone(),
        };
        self.check_events(&record, game)?;
        check_result(&record, game)?;
        Ok((header, record))
    }

    fn packed(&self, events: Vec<Event>, hash: [u8; 32]) -> GameRecord {
        let line = &self.line;
        let opening_plies = line
            .events
            .iter()
            .filter(|event| matches!(event, LineEvent::Action(action) if action.opening))
            .count();
        GameRecord {
            index: line.index,
            block: line.block,
            seed: line.seed,
            seats: (0..line.seats.len() as u16).collect(),
            events,
            opening_plies: opening_plies as u32,
            placement: line.placement.clone().unwrap_or_default(),
            scores: line.scores.clone(),
            plies: line.plies,
            decisions: line.decisions.clone(),
            termination: line.termination,
            faults: line.fault.iter().flatten().map(LineFault::packed).collect(),
            hash,
        }
    }

    /// The hash of what the line says, in canonical form.
    fn content_hash(&self) -> [u8; 32] {
        let line = &self.line;
        let record = self.packed(Vec::new(), [0; 32]);
        let seats: Vec<&str> = line.seats.iter().map(String::as_str).collect();
        let mut out = String::with_capacity(8192);
        write_head(
            &mut out,
            &line.game_id,
            &record,
            &line.ruleset,
            line.rules_version,
            &canonical_json(&line.options),
            &seats,
        );
        for (place, event) in line.events.iter().enumerate() {
            if place > 0 {
                out.push(',');
            }
            match event {
                LineEvent::Chance(chance) => {
                    write_event(
                        &mut out,
                        Event::chance(0),
                        chance.seat,
                        &chance.chance,
                        false,
                    );
                }
                LineEvent::Action(action) => write_event(
                    &mut out,
                    Event::action(action.action & 0x7fff),
                    Some(action.seat),
                    &action.r#move,
                    action.opening,
                ),
            }
        }
        write_tail(&mut out, &record, None);
        Sha256::digest(out.as_bytes()).into()
    }

    /// Seats and notations of the events, as the rules give them.
    fn check_events(&self, record: &GameRecord, game: &dyn AnyGame) -> Result<(), VerifyError> {
        let mut stated = self.line.events.iter();
        let mut differs = None;
        game.replay(&record.events, &mut |described| {
            let Some(event) = stated.next() else { return };
            let (seat, name) = match event {
                LineEvent::Chance(chance) => (chance.seat, &chance.chance),
                LineEvent::Action(action) => (Some(action.seat), &action.r#move),
            };
            if differs.is_none() && (seat != described.seat || name != described.name) {
                differs = Some(VerifyError::Differs {
                    key: "events",
                    stated: format!("{name} by seat {seat:?}"),
                    computed: format!("{} by seat {:?}", described.name, described.seat),
                });
            }
        })?;
        differs.map_or(Ok(()), Err)
    }
}

impl LineFault {
    fn packed(&self) -> SeatFault {
        SeatFault {
            ply: self.ply,
            seat: self.seat,
            kind: self.kind,
        }
    }
}

/// Holds a record's result against the rules.
fn check_result(record: &GameRecord, game: &dyn AnyGame) -> Result<(), VerifyError> {
    let outcome = game.replay(&record.events, &mut |_| {})?;
    let differs = |key, stated: String, computed: String| {
        if stated == computed {
            Ok(())
        } else {
            Err(VerifyError::Differs {
                key,
                stated,
                computed,
            })
        }
    };
    if record.termination == Termination::Void {
        return differs("plies", record.plies.to_string(), "0".to_owned());
    }
    differs("plies", record.plies.to_string(), outcome.plies.to_string())?;
    differs(
        "decisions",
        format!("{:?}", record.decisions),
        format!("{:?}", outcome.decisions),
    )?;
    differs(
        "scores",
        format!("{:?}", record.scores),
        format!("{:?}", outcome.scores),
    )?;
    if record.termination == Termination::Forfeit {
        return Ok(());
    }
    let computed = outcome.ending.map(Termination::from);
    differs(
        "termination",
        record.termination.name().to_owned(),
        computed.map_or("unfinished", Termination::name).to_owned(),
    )?;
    differs(
        "placement",
        format!("{:?}", record.placement),
        format!("{:?}", outcome.placement),
    )
}

impl RecordHeader {
    /// Applies a packed record's events again and checks result and hash.
    ///
    /// # Errors
    /// [`VerifyError`] at the first thing that does not hold.
    pub fn verify(&self, record: &GameRecord, game: &dyn AnyGame) -> Result<(), VerifyError> {
        if self.rules_version != game.version() {
            return Err(VerifyError::Version {
                ruleset: self.ruleset.clone(),
                stated: self.rules_version,
                known: game.version(),
            });
        }
        let mut copy = record.clone();
        self.seal(&mut copy, game, &mut String::new())?;
        if copy.hash != record.hash {
            return Err(VerifyError::Hash {
                stated: hex::encode(record.hash),
                computed: hex::encode(copy.hash),
            });
        }
        check_result(record, game)
    }
}
