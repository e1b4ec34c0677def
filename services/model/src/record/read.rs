//! Parses the line of a record and checks it against the rules.

use arena_engine::{
    AnyGame, Choice, Described, Event, FaultKind, SeatFault, Step, Termination, options::Options,
};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::{
    GameRecord, RECORD_VERSION, RecordAgent, RecordHeader, RecordSetup,
    adjudication::LineScore,
    verify_error::VerifyError,
    write::{EVENTS, write_event, write_head, write_setup, write_tail},
};
use crate::{beginning::Beginning, seed::BlockSeed, spec::GamePlay};

/// Text that is no record.
#[derive(Debug, thiserror::Error)]
#[error("not a record: {0}")]
pub struct LineError(#[from] serde_json::Error);

/// A parsed line of JSON.
#[derive(Clone, Debug)]
pub struct ParsedRecord {
    line: Line,
    /// Hash of the text without its hash, if it is a line as exports write it; none if it has
    /// another layout, with spaces or line breaks.
    text_hash: Option<[u8; 32]>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    #[serde(deserialize_with = "plain")]
    game_id: String,
    index: u64,
    block: u64,
    record: Option<u32>,
    ruleset: String,
    rules_version: u32,
    #[serde(default, deserialize_with = "digest")]
    rules_digest: Option<String>,
    options: Options,
    #[serde(deserialize_with = "seed")]
    seed: BlockSeed,
    #[serde(deserialize_with = "all_plain")]
    seats: Vec<String>,
    agents: Option<Vec<RecordAgent>>,
    play: Option<GamePlay>,
    /// None if they are not stored.
    events: Option<Vec<LineEvent>>,
    /// Actions of the opening, if events are not stored.
    opening: Option<Vec<u16>>,
    placement: Option<Vec<u8>>,
    scores: Vec<i64>,
    #[serde(default)]
    luck: Vec<i32>,
    plies: u32,
    decisions: Vec<u32>,
    #[serde(deserialize_with = "termination")]
    termination: Termination,
    fault: Option<Vec<LineFault>>,
    adjudication: Option<Vec<LineScore>>,
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

impl LineEvent {
    /// What the line says of it, and whether it is of the opening.
    fn described(&self) -> (Described<'_>, bool) {
        let (event, seat, name, opening) = match self {
            Self::Chance(it) => (Event::chance(0), it.seat, &it.chance, false),
            Self::Action(it) => {
                let event = Event::action(it.action & 0x7fff);
                (event, Some(it.seat), &it.r#move, it.opening)
            }
        };
        let described = Described {
            event,
            seat,
            name,
            choice: Choice::Unknown,
        };
        (described, opening)
    }
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

/// A seed exactly as records write it: another text for the same number is another record.
fn seed<'de, D: serde::Deserializer<'de>>(from: D) -> Result<BlockSeed, D::Error> {
    let text = String::deserialize(from)?;
    text.parse::<BlockSeed>()
        .ok()
        .filter(|seed| seed.to_string() == text)
        .ok_or_else(|| {
            serde::de::Error::custom(format!(
                "\"{text}\" is not a valid seed of a \
         record"
            ))
        })
}

/// A name as records write it: a name that JSON has to escape would give two records one hash.
fn plain<'de, D: serde::Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let text = String::deserialize(from)?;
    let escaped = |letter: char| letter < ' ' || letter == '"' || letter == '\\';
    if text.contains(escaped) {
        return Err(serde::de::Error::custom(format!(
            "{text:?} is not a valid name of a record"
        )));
    }
    Ok(text)
}

fn all_plain<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    struct Plain(#[serde(deserialize_with = "plain")] String);
    let names = Vec::<Plain>::deserialize(from)?;
    Ok(names.into_iter().map(|Plain(name)| name).collect())
}

/// The digest of a package, in lower-case hexadecimal.
fn digest<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let text = String::deserialize(from)?;
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if text.len() == 64 && text.bytes().all(is_digit) {
        return Ok(Some(text));
    }
    let problem = format!("\"{text}\" is not a digest of rules");
    Err(serde::de::Error::custom(problem))
}

/// SHA-256 of a line without `,"hash":"…"` and `,"timing":…`.
fn text_hash(line: &str) -> Option<[u8; 32]> {
    const KEY: &str = ",\"hash\":\"";
    if !line.starts_with("{\"game_id\":\"") {
        return None;
    }
    let head = &line[..line.rfind(KEY)?];
    let digest = Sha256::new().chain_update(head).chain_update("}");
    Some(digest.finalize().into())
}

fn termination<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Termination, D::Error> {
    named(from, "termination", Termination::ALL, Termination::name)
}

fn fault_kind<'de, D: serde::Deserializer<'de>>(from: D) -> Result<FaultKind, D::Error> {
    named(from, "fault", FaultKind::ALL, FaultKind::name)
}

/// The value of this name.
fn named<'de, D: serde::Deserializer<'de>, T: Copy>(
    from: D,
    what: &str,
    all: &[T],
    name: fn(T) -> &'static str,
) -> Result<T, D::Error> {
    let text = String::deserialize(from)?;
    let found = all.iter().copied().find(|&value| name(value) == text);
    found.ok_or_else(|| serde::de::Error::custom(format!("unknown {what} \"{text}\"")))
}

impl ParsedRecord {
    /// Parses a line.
    ///
    /// # Errors
    /// [`LineError`] if it is no record.
    pub fn parse(text: &str) -> Result<Self, LineError> {
        let line: Line = serde_json::from_str(text)?;
        line.check_version()
            .map_err(<serde_json::Error as serde::de::Error>::custom)?;
        Ok(Self {
            line,
            text_hash: text_hash(text.trim()),
        })
    }

    /// False if a line has `null` instead of its events.
    #[must_use]
    pub fn has_events(&self) -> bool {
        self.line.events.is_some()
    }

    /// Its position in the schedule, the number of its block, and its seed.
    #[must_use]
    pub fn place(&self) -> (u64, u64, BlockSeed) {
        (self.line.index, self.line.block, self.line.seed)
    }

    /// Version of the rules.
    #[must_use]
    pub fn rules_version(&self) -> u32 {
        self.line.rules_version
    }

    /// The digest of the rules, if they are a package.
    #[must_use]
    pub fn rules_digest(&self) -> Option<&str> {
        self.line.rules_digest.as_deref()
    }

    /// Its agents in seat order and the settings of play; none in version 1.
    #[must_use]
    pub fn setup(&self) -> Option<(&[RecordAgent], &GamePlay)> {
        self.line.agents.as_deref().zip(self.line.play.as_ref())
    }

    /// The actions of its opening.
    #[must_use]
    pub fn opening(&self) -> Vec<u16> {
        match &self.line.events {
            Some(events) => {
                let actions = events.iter().filter_map(|event| match event {
                    LineEvent::Action(action) => action.opening.then_some(action.action),
                    LineEvent::Chance(_) => None,
                });
                actions.collect()
            }
            None => self.line.opening.clone().unwrap_or_default(),
        }
    }

    /// The hash that it states.
    #[must_use]
    pub fn stated_hash(&self) -> &str {
        &self.line.hash
    }

    /// The common part of its tournament's lines. Its agents are the seats.
    #[must_use]
    pub fn header(&self) -> RecordHeader {
        let line = &self.line;
        RecordHeader {
            tournament_id: line
                .game_id
                .rsplit_once('/')
                .map_or(line.game_id.as_str(), |(tournament, _)| tournament)
                .to_owned(),
            ruleset: line.ruleset.clone(),
            rules_version: line.rules_version,
            rules_digest: line.rules_digest.clone(),
            options: line.options.clone(),
            agents: line.seats.clone(),
            setup: self
                .setup()
                .map(|(agents, play)| RecordSetup::new(agents, play)),
        }
    }

    /// The result without events, as the line states it.
    #[must_use]
    pub fn stated_result(&self) -> GameRecord {
        self.packed(Vec::new(), [0; 32])
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

    /// Checks hash, events and result against the rules. Returns the header, whose agents are the
    /// seats, and the packed record.
    ///
    /// # Errors
    /// [`VerifyError`] at the first contradiction.
    pub fn verify(&self, game: &dyn AnyGame) -> Result<(RecordHeader, GameRecord), VerifyError> {
        let line = &self.line;
        let Some(events) = &line.events else {
            return Err(VerifyError::NoEvents);
        };
        let computed = self.content_hash();
        for hash in [self.text_hash.unwrap_or(computed), computed] {
            if hex::encode(hash) != line.hash {
                return Err(VerifyError::Hash {
                    stated: line.hash.clone(),
                    computed: hex::encode(hash),
                });
            }
        }
        let header = self.header();
        header.check_version(game)?;
        let steps: Vec<Step> = events
            .iter()
            .map(|event| match event {
                LineEvent::Chance(chance) => Step::Chance(chance.chance.clone()),
                LineEvent::Action(action) => Step::Action(action.action),
            })
            .collect();
        let record = self.packed(game.resolve_steps(&steps)?, computed);
        let game_id = format!("{}/{}", header.tournament_id, record.index);
        if game_id != line.game_id {
            return Err(VerifyError::differs("game_id", &line.game_id, game_id));
        }
        self.check_events(&record, game)?;
        let has_luck = header.setup.is_some() || !record.luck.is_empty();
        record.check_luck(game, has_luck, header.policies())?;
        Ok((header, record))
    }

    fn packed(&self, events: Vec<Event>, hash: [u8; 32]) -> GameRecord {
        let line = &self.line;
        let opening_plies = self.opening().len();
        GameRecord {
            index: line.index,
            block: line.block,
            seed: line.seed,
            seats: (0..line.seats.len() as u16).collect(),
            // It is one of the line's options.
            start: None,
            events,
            opening_plies: opening_plies as u32,
            placement: line.placement.clone().unwrap_or_default(),
            scores: line.scores.clone(),
            luck: line.luck.clone(),
            plies: line.plies,
            decisions: line.decisions.clone(),
            termination: line.termination,
            faults: line.fault.iter().flatten().map(LineFault::packed).collect(),
            adjudication: { line.adjudication.iter().flatten() }
                .map(LineScore::packed)
                .collect(),
            hash,
            course: 0,
            beginning: Beginning::default(),
            transcript: None,
        }
    }

    /// The hash of the line's content in canonical form.
    fn content_hash(&self) -> [u8; 32] {
        let line = &self.line;
        let record = self.packed(Vec::new(), [0; 32]);
        let header = self.header();
        let mut out = String::with_capacity(8192);
        out.push_str("{\"game_id\":\"");
        out.push_str(&line.game_id);
        let names = line.seats.iter().map(String::as_str);
        write_head(&mut out, &record, &header.common(), names);
        if let Some(setup) = &header.setup {
            let agents = setup.agents.iter().map(String::as_str);
            write_setup(&mut out, agents, &setup.play);
        }
        out.push_str(EVENTS);
        for (place, event) in line.events.iter().flatten().enumerate() {
            if place > 0 {
                out.push(',');
            }
            let (described, opening) = event.described();
            write_event(&mut out, described, opening);
        }
        write_tail(&mut out, &record, None);
        Sha256::digest(out.as_bytes()).into()
    }

    /// Checks seats and notations of the events against the rules, and that the opening consists of
    /// the first actions.
    fn check_events(&self, record: &GameRecord, game: &dyn AnyGame) -> Result<(), VerifyError> {
        let describe = |name: &str, seat: Option<u8>, opening| {
            let opening = if opening { " in the opening" } else { "" };
            let by = seat.map_or_else(String::new, |seat| format!(" by seat {seat}"));
            format!("{name}{by}{opening}")
        };
        let mut stated = self.line.events.iter().flatten();
        let mut plies = 0;
        let mut differs = None;
        game.replay(&record.events, &mut |described| {
            let Some(event) = stated.next() else { return };
            let (Described { seat, name, .. }, opening) = event.described();
            let opens = described.event.is_action() && plies < record.opening_plies;
            plies += u32::from(described.event.is_action());
            if differs.is_none()
                && (seat != described.seat || name != described.name || opening != opens)
            {
                differs = Some(VerifyError::differs(
                    "events",
                    describe(name, seat, opening),
                    describe(described.name, described.seat, opens),
                ));
            }
        })?;
        differs.map_or(Ok(()), Err)
    }
}

impl Line {
    /// Checks that a line has exactly the fields of its version.
    fn check_version(&self) -> Result<(), String> {
        let agents = self.agents.as_ref().map(Vec::len);
        match (self.record, agents, &self.play) {
            (None, None, None) => Ok(()),
            (Some(RECORD_VERSION), Some(agents), Some(_)) if agents == self.seats.len() => Ok(()),
            (Some(RECORD_VERSION), ..) => Err(format!(
                "version {RECORD_VERSION} needs \"play\", and one entry in \"agents\" for each \
                 seat"
            )),
            (None, ..) => Err("\"agents\" and \"play\" without \"record\"".to_owned()),
            (Some(version), ..) if version > RECORD_VERSION => Err(format!(
                "\"record\" is {version}, but this program reads versions up to {RECORD_VERSION}: \
                 use a newer arena"
            )),
            (Some(version), ..) => Err(format!(
                "\"record\" is {version}: must be {RECORD_VERSION}, or absent in older records"
            )),
        }?;
        if self.events.is_some() && self.opening.is_some() {
            return Err("both \"events\" and \"opening\"".to_owned());
        }
        Ok(())
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
