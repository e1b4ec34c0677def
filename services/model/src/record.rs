//! The record of a finished game: packed, and as a line of JSON, which is its public form. The
//! line is a contract; see `arena export`.

mod adjudication;
mod agent;
mod faults;
mod read;
mod verify;
mod verify_error;
mod write;

use arena_engine::{
    AnyGame, Event, Finished, Opening, ReplayError, ReplayProblem, ScoredMove, SeatFault, Setup,
    Termination, Transcript, options::Options,
};

use crate::{
    beginning::{BEGINNING_PLIES, Beginning},
    result::GameResult,
    seed::BlockSeed,
};

pub use agent::{Program, RECORD_VERSION, RecordAgent, RecordSetup};
pub use read::{LineError, ParsedRecord};
pub use verify::RecordVerifier;
pub use verify_error::VerifyError;
pub use write::LineWriter;

/// A finished game, packed: names and notations come from the tournament and the rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameRecord {
    /// Position in the schedule, from 0.
    pub index: u64,
    /// Number of its block.
    pub block: u64,
    /// The seed of the block (of the game if unpaired).
    pub seed: BlockSeed,
    /// Indices into the tournament's agents, in seat order.
    pub seats: Vec<u16>,
    /// The start position, if the opening book has another one than the options of the tournament. In
    /// the record's line it is the value of [`Game::start_option`](arena_engine::Game::start_option).
    pub start: Option<Box<str>>,
    /// Chance outcomes and actions in order.
    pub events: Vec<Event>,
    /// Number of actions in the opening.
    pub opening_plies: u32,
    /// 1-based rank of each seat; empty when void.
    pub placement: Vec<u8>,
    /// The ruleset's own score of each seat.
    pub scores: Vec<i64>,
    /// The effect of chance on each seat, in millionths of a game's score; empty without chance,
    /// and in older records.
    pub luck: Vec<i32>,
    /// Actions played.
    pub plies: u32,
    /// Actions played by each seat.
    pub decisions: Vec<u32>,
    /// How it ended.
    pub termination: Termination,
    /// Faults of agents, in order.
    pub faults: Vec<SeatFault>,
    /// The scores that both agents reported with their last moves, if it ended by adjudication; else
    /// empty.
    pub adjudication: Vec<ScoredMove>,
    /// SHA-256 of the record's line without its hash.
    pub hash: [u8; 32],
    /// The value of [`GameRecord::course`], if events are not stored; else 0.
    pub course: u64,
    /// The value of [`GameRecord::beginning`], if events are not stored and there was a fault; else
    /// empty.
    pub beginning: Beginning,
    /// Seats and notations of the events, if the rules are a package, so that readers without it can
    /// write the record's line.
    pub transcript: Option<Box<Transcript>>,
}

impl GameRecord {
    /// The record of a game; [`LineWriter::seal`] computes its hash. A void game has no moves.
    #[must_use]
    pub fn new(index: u64, block: u64, seed: BlockSeed, seats: Vec<u16>, game: Finished) -> Self {
        let void = game.termination == Termination::Void;
        let count = seats.len();
        Self {
            index,
            block,
            seed,
            seats,
            start: None,
            events: if void { Vec::new() } else { game.events },
            opening_plies: if void { 0 } else { game.opening_plies },
            placement: game.placement,
            scores: if void { vec![0; count] } else { game.scores },
            luck: if void { Vec::new() } else { game.luck },
            plies: if void { 0 } else { game.plies },
            decisions: if void { vec![0; count] } else { game.decisions },
            termination: game.termination,
            faults: if void { Vec::new() } else { game.faults },
            adjudication: game.adjudication,
            hash: [0; 32],
            course: 0,
            beginning: Beginning::default(),
            transcript: game.transcript.filter(|_| !void).map(Box::new),
        }
    }

    /// The game of this record, if it is not that of its tournament: because it has another start
    /// position, or because the rules are not part of this program and the record states it.
    ///
    /// # Errors
    /// [`ReplayError`] if the start position is invalid.
    pub fn own_game(&self, game: &dyn AnyGame) -> Result<Option<Box<dyn AnyGame>>, ReplayError> {
        if let Some(start) = &self.start {
            let game = game.with_start(start);
            return game.map(Some).map_err(|problem| ReplayError {
                index: 0,
                problem: ReplayProblem::Start(problem),
            });
        }
        let transcript = self.transcript.as_deref();
        Ok(transcript.and_then(|transcript| game.stated(transcript, &self.scores)))
    }

    /// True if it starts with the opening that its seed draws, and marks it as its opening.
    ///
    /// # Errors
    /// Why the rules failed, if they are not part of this program.
    pub fn has_drawn_opening(&self, game: &dyn AnyGame, plies: u32) -> Result<bool, String> {
        let (drawn, events) = match plies {
            0 => (0, Vec::new()),
            plies => {
                // The seeds of agents are not used.
                let setup = Setup::new(self.seed.chance_keys(), Opening::Drawn(plies));
                let Ok(mut begun) = game.open(setup) else {
                    return Ok(false);
                };
                if let Some(failure) = begun.failure() {
                    return Err(failure);
                }
                begun.void();
                let begun = begun.finish();
                let actions = begun.events.iter().map(|event| event.is_action());
                let events = opening_events(begun.opening_plies, actions);
                (begun.opening_plies, begun.events[..events].to_vec())
            }
        };
        Ok(self.opening_plies == drawn && self.events.starts_with(&events))
    }

    /// A fingerprint of the events: the same for games with the same events, and almost always
    /// another one otherwise. FNV-1a (Fowler, Noll, Vo) of 64 bits; 0 if the events are unknown.
    #[must_use]
    pub fn course(&self) -> u64 {
        if self.events.is_empty() || !self.is_whole() {
            return self.course;
        }
        self.played().fold(self.basis(), fnv)
    }

    /// The hash of no event: games with the same moves from different start positions differ.
    fn basis(&self) -> u64 {
        self.start
            .iter()
            .flat_map(|it| it.bytes())
            .fold(FNV_BASIS, fnv_byte)
    }

    /// The events without a drawn starter, which only exchanges the seats: a chance event at the start
    /// that is the only one. Dealt cards and dice are several.
    fn played(&self) -> impl Iterator<Item = &Event> {
        let chance = self.events.iter().filter(|event| !event.is_action());
        let starter = chance.take(2).count() == 1;
        let events = self.events.iter();
        events.skip_while(move |event| starter && !event.is_action())
    }

    /// The fingerprint of its first moves, up to its first fault; empty if the events are unknown.
    #[must_use]
    pub fn beginning(&self) -> Beginning {
        if self.events.is_empty() || !self.is_whole() {
            return self.beginning;
        }
        let faults = self.faults.iter().map(|fault| fault.ply);
        let clean = faults.min().unwrap_or(u32::MAX);
        let mut hash = self.basis();
        let mut plies = 0;
        let numbers = self.played().filter_map(|event| {
            hash = fnv(hash, event);
            plies += u32::from(event.is_action());
            let is_compared = event.is_action() && plies <= clean;
            // Both halves contribute.
            (is_compared && BEGINNING_PLIES.contains(&plies)).then_some((hash ^ hash >> 32) as u32)
        });
        Beginning::new(numbers)
    }

    /// True if the events are those of the whole game.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        let actions = self.events.iter().filter(|event| event.is_action());
        actions.count() == self.plies as usize
    }

    /// The actions of the opening, as far as events are stored.
    #[must_use]
    pub fn opening(&self) -> Vec<u16> {
        let actions = self.events.iter().filter(|event| event.is_action());
        let opening = actions.take(self.opening_plies as usize);
        opening.map(|event| event.id()).collect()
    }

    /// Removes all events after the opening, which is needed to replay the game, and keeps the
    /// fingerprints.
    pub fn forget_moves(&mut self) {
        self.course = self.course();
        if !self.faults.is_empty() {
            self.beginning = self.beginning();
        }
        self.events.truncate(opening_events(
            self.opening_plies,
            self.events.iter().map(|event| event.is_action()),
        ));
    }

    /// The part that statistics need.
    #[must_use]
    pub fn result(&self) -> GameResult {
        GameResult {
            index: self.index,
            block: self.block,
            seats: self.seats.clone(),
            placement: self.placement.clone(),
            scores: self.scores.clone(),
            luck: self.luck.clone(),
            plies: self.plies,
            termination: self.termination,
            faults: self.faults.clone(),
            course: self.course(),
            beginning: self.beginning(),
        }
    }
}

const FNV_BASIS: u64 = 0xcbf2_9ce4_8422_2325;

/// Adds an event to a hash (FNV-1a).
fn fnv(hash: u64, event: &Event) -> u64 {
    let bytes = event.to_bits().to_le_bytes();
    bytes.into_iter().fold(hash, fnv_byte)
}

fn fnv_byte(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
}

/// Number of events up to the last action of the opening; `is_action` selects the actions.
#[must_use]
pub fn opening_events(opening_plies: u32, actions: impl Iterator<Item = bool>) -> usize {
    let places = actions.enumerate().filter(|(_, is_action)| *is_action);
    let last = places.take(opening_plies as usize).last();
    last.map_or(0, |(place, _)| place + 1)
}

/// The common part of one tournament's lines.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordHeader {
    /// Id of the tournament.
    pub tournament_id: String,
    /// Name of the ruleset.
    pub ruleset: String,
    /// Version of the rules.
    pub rules_version: u32,
    /// The digest of the rules, if they are a package.
    pub rules_digest: Option<String>,
    /// Resolved options of the ruleset.
    pub options: Options,
    /// Names of the tournament's agents, in the order of the spec.
    pub agents: Vec<String>,
    /// Descriptions of agents and settings of play; none in lines of version 1.
    pub setup: Option<RecordSetup>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprints_depend_on_the_start() {
        let finished = Finished {
            events: vec![Event::action(1); 3],
            opening_plies: 0,
            placement: vec![1, 2],
            scores: vec![0; 2],
            luck: Vec::new(),
            plies: 3,
            decisions: vec![2, 1],
            termination: Termination::Normal,
            faults: Vec::new(),
            adjudication: Vec::new(),
            transcript: None,
        };
        let standard = GameRecord::new(0, 0, BlockSeed(1), vec![0, 1], finished);
        let of = |start: &str| GameRecord {
            start: Some(start.into()),
            ..standard.clone()
        };
        let (one, two) = (of("one"), of("two"));
        assert_eq!(one.course(), of("one").course());
        let courses = [&standard, &one, &two].map(GameRecord::course);
        assert!(courses[0] != courses[1] && courses[1] != courses[2]);
        assert!(one.beginning().differs(&two.beginning()));
    }

    #[test]
    fn fingerprints_have_dealt_cards_but_no_drawn_starter() {
        let of = |events: &[Event]| {
            let finished = Finished {
                events: events.to_vec(),
                opening_plies: 0,
                placement: vec![1, 2],
                scores: vec![0; 2],
                luck: Vec::new(),
                plies: 1,
                decisions: vec![1, 0],
                termination: Termination::Normal,
                faults: Vec::new(),
                adjudication: Vec::new(),
                transcript: None,
            };
            GameRecord::new(0, 0, BlockSeed(1), vec![0, 1], finished).course()
        };
        let (heads, tails, move_) = (Event::chance(0), Event::chance(1), Event::action(1));
        assert_eq!(of(&[heads, move_]), of(&[tails, move_]));
        assert_ne!(of(&[heads, heads, move_]), of(&[heads, tails, move_]));
        assert_ne!(of(&[heads, move_, heads]), of(&[tails, move_, heads]));
    }
}
