//! Plain data shared by all of Arena: names and ids, seeds and derived keys, tournament specs,
//! and records of games.

pub use arena_engine as engine;

mod beginning;
mod canonical;
mod content;
mod error_line;
pub mod expect;
pub mod format;
mod name;
mod printable;
pub mod record;
pub mod result;
mod returns;
pub mod rules;
mod sandbox;
mod season;
pub mod seat;
pub mod seed;
pub mod spec;
pub mod tournament;

pub use beginning::{BEGINNING_PLIES, Beginning};
pub use canonical::canonical_json;
pub use content::{Package, Registration, RulesContent};
pub use error_line::error_line;
pub use name::{AgentName, GameId, NameError, PERSON};
pub use printable::{is_hidden, printable, printable_json, printable_line};
pub use record::{GameRecord, RECORD_VERSION, RecordHeader};
pub use returns::{Returns, ReturnsOfSeats};
pub use sandbox::{SandboxLevel, UnknownLevel};
pub use season::{AgentChange, CHANGES_MAX, ChangeKind, ENTRIES_MAX, EntryState, REASON_MAX};
pub use seed::{BlockSeed, SeedError, TournamentSeed};
pub use tournament::{AgentRef, Openings, Tournament};
