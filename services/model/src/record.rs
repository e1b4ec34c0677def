//! The record of a finished game: packed, and as the line of JSON that is its
//! public form. The line is a contract; see `arena export`.

mod read;
mod verify;
mod write;

use arena_engine::{Event, Finished, SeatFault, Termination, options::Options};

use crate::{result::GameResult, seed::BlockSeed};

pub use read::{LineError, ParsedRecord};
pub use verify::VerifyError;
pub use write::LineWriter;

/// A finished game, packed: names and notations come from the tournament and
/// the rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameRecord {
    /// Position in the schedule, from 0.
    pub index: u64,
    /// Number of its block.
    pub block: u64,
    /// The seed of the block (of the game, unpaired).
    pub seed: BlockSeed,
    /// Indices into the tournament's agents, in seat order.
    pub seats: Vec<u16>,
    /// Chance outcomes and actions in order.
    pub events: Vec<Event>,
    /// How many of the first actions were the opening.
    pub opening_plies: u32,
    /// 1-based rank of each seat; empty when void.
    pub placement: Vec<u8>,
    /// The ruleset's own score of each seat.
    pub scores: Vec<i64>,
    /// What chance gave to each seat, in millionths of a game's score; empty
    /// where there was no chance, and in records that were made without.
    pub luck: Vec<i32>,
    /// Actions played.
    pub plies: u32,
    /// Actions played by each seat.
    pub decisions: Vec<u32>,
    /// How it ended.
    pub termination: Termination,
    /// What agents did wrong, in order.
    pub faults: Vec<SeatFault>,
    /// SHA-256 of the record's line without its hash.
    pub hash: [u8; 32],
    /// What [`GameRecord::course`] returned of the events, where those are not
    /// kept; else 0.
    pub course: u64,
}

impl GameRecord {
    /// The record of a game, its hash yet to be computed by
    /// [`LineWriter::seal`]. A void game leaves nothing of its play.
    #[must_use]
    pub fn new(index: u64, block: u64, seed: BlockSeed, seats: Vec<u16>, game: Finished) -> Self {
        let void = game.termination == Termination::Void;
        let count = seats.len();
        Self {
            index,
            block,
            seed,
            seats,
            events: if void { Vec::new() } else { game.events },
            opening_plies: if void { 0 } else { game.opening_plies },
            placement: game.placement,
            scores: if void { vec![0; count] } else { game.scores },
            luck: if void { Vec::new() } else { game.luck },
            plies: if void { 0 } else { game.plies },
            decisions: if void { vec![0; count] } else { game.decisions },
            termination: game.termination,
            faults: if void { Vec::new() } else { game.faults },
            hash: [0; 32],
            course: 0,
        }
    }

    /// A number for the events, the same for games that went the same way, and else
    /// nearly always another one: FNV-1a (Fowler, Noll, Vo) of 64 bits. 0 where the
    /// events are not known.
    #[must_use]
    pub fn course(&self) -> u64 {
        if self.events.is_empty() {
            return self.course;
        }
        let bytes = self.events.iter().flat_map(|it| it.to_bits().to_le_bytes());
        bytes.fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        })
    }

    /// Drops the events, and keeps what tells one course of a game from another.
    pub fn drop_events(&mut self) {
        self.course = self.course();
        self.events = Vec::new();
    }

    /// What statistics need of it.
    #[must_use]
    pub fn result(&self) -> GameResult {
        GameResult {
            index: self.index,
            block: self.block,
            seats: self.seats.clone(),
            placement: self.placement.clone(),
            luck: self.luck.clone(),
            plies: self.plies,
            termination: self.termination,
            faults: self.faults.clone(),
            course: self.course(),
        }
    }
}

/// What the lines of one tournament have in common.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordHeader {
    /// Id of the tournament.
    pub tournament_id: String,
    /// Name of the ruleset.
    pub ruleset: String,
    /// Version of the rules.
    pub rules_version: u32,
    /// Resolved options of the ruleset.
    pub options: Options,
    /// Names of the tournament's agents, in the order of the spec.
    pub agents: Vec<String>,
}
