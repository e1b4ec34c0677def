//! The agents of the papers, as plain Rust values and served over gRPC.
//!
//! [`bots`] lists them, [`bot`] makes one that plays a game of a certain type, and
//! [`Bot::choose`] asks it. A bot is a pure function of its options and of the
//! [`Decision`]: the same position and seed get the same move, in process or through a
//! server.
//!
//! With the feature `serve` (on by default) [`serve`](mod@serve) offers all of them as
//! `arena.v1.AgentService`; the binary `arena-agents` does the same.

mod baseline;
mod bot;
mod catalogue;
mod chowka;
mod cowry;
mod kalah;
pub mod ludo;
mod make;
pub mod oware;
mod random;
mod read;
#[cfg(feature = "serve")]
pub mod serve;
#[cfg(test)]
mod tests;

pub use bot::{Bot, Chosen, Decision, Stop, play_out};
pub use catalogue::{BotError, BotInfo, CheckError, VERSION, add_game, bot, bot_info, bots, check};
