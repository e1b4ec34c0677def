//! How to write an Arena agent in Rust.
//!
//! An agent is a process that answers one question: here is a position, here
//! are the legal moves, which one? This is a whole one:
//!
//! ```no_run
//! use arena_sdk::{Agent, Choice, Question, Refusal};
//!
//! #[derive(Clone)]
//! struct First;
//!
//! impl Agent for First {
//!     fn choose(&mut self, question: &Question<'_>) -> Result<Choice, Refusal> {
//!         Ok(question.legal_moves()[0].into())
//!     }
//! }
//!
//! fn main() -> std::process::ExitCode {
//!     arena_sdk::run(First)
//! }
//! ```
//!
//! [`run`] listens where the environment variable `ARENA_LISTEN` says
//! (`unix:PATH` or `HOST:PORT`; without it on any free port of this machine),
//! prints `{"listen":"…"}` as the first line on standard output, answers until
//! SIGTERM or SIGINT, and finishes what it is thinking about. Health checks,
//! reflection, single questions and streams of batches come with it.
//!
//! # What a question carries
//!
//! Everything that is needed to answer it; nothing has to be remembered from
//! one question to the next. [`Question::legal_moves`] are ids, and
//! [`Question::notations`] what they are called. Who wants to look at the board
//! reads [`Question::position`] into the ruleset's message, such as
//! [`games::CowryPosition`]. Who wants chance takes [`Question::random`]: it
//! starts at the seed of the question, so that a game can be played again.
//!
//! # Telling more
//!
//! - [`Agent::describe`] names the program, its version, its bots and their
//!   options ([`option`] makes these), and whether it is deterministic.
//! - [`Question::option`] reads an option's value.
//! - [`Choice::score`] and its neighbours tell of a search.
//! - [`Agent::thinks_long`] says `false` for agents that answer in
//!   microseconds: they are asked on the thread that receives, which is many
//!   times cheaper. All others think on a thread of their own, so that health
//!   checks are answered meanwhile.
//! - [`Refusal`] is for questions that make no sense (status
//!   `INVALID_ARGUMENT`). In a batch the other questions are answered first.
//!   A panic gets the status `INTERNAL`, and the process goes on.
//! - A process with several bots that wants to prepare each once, not at every
//!   question, implements [`Process`] instead of [`Agent`]; one that is part
//!   of a greater program calls [`serve`] instead of [`run`].

mod agent;
mod answers;
mod chooser;
mod choosers;
mod listen;
pub mod option;
mod server;
mod service;

pub use agent::{Agent, Choice, Player, Process, Question, Refusal};
/// The messages, and their conversions from and to plain data.
pub use arena_wire as wire;
/// Randomness of agents: SplitMix64, started at the seed of a question.
pub use arena_wire::AgentRng as Random;
pub use arena_wire::{games, v1};
pub use listen::{LISTEN_VARIABLE, Listen, ListenError, Listener};
pub use server::{ServeError, announce, run, serve, stop_signal};
