//! How to write an Arena agent in Rust.
//!
//! An agent is a process that answers one question: which of the legal moves should be
//! played in this position? This is a complete agent:
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
//! [`run`] listens on the address in the environment variable `ARENA_LISTEN` (`unix:PATH`
//! or `HOST:PORT`; without it on any free port of this machine). It prints
//! `{"listen":"…"}` as the first line on standard output. It answers until SIGTERM or
//! SIGINT, and finishes pending answers. Health checks, reflection, single questions and
//! streams of batches are included.
//!
//! # Contents of a question
//!
//! A question has everything that is needed to answer it; an agent need not remember
//! earlier questions. [`Question::legal_moves`] are ids, and [`Question::notations`] their
//! notations. To read the board, decode [`Question::position`] into the ruleset's message,
//! such as [`games::CowryPosition`]. For random numbers use [`Question::random`]: it starts
//! at the seed of the question, so that a game can be replayed.
//!
//! # More features
//!
//! - [`Agent::describe`] names the program, its version, its bots and their options
//!   ([`option`] makes these), and whether it is deterministic.
//! - [`Question::option`] reads an option's value.
//! - [`Choice::score`] and similar methods report statistics of a search.
//! - [`Agent::thinks_long`] returns `false` for agents that answer in microseconds. They
//!   run on the receiving thread, which is many times cheaper. All others run on a thread
//!   of their own, so that health checks are answered meanwhile.
//! - [`Refusal`] is for invalid questions (status `INVALID_ARGUMENT`). In a batch the other
//!   questions are answered first. A panic gets the status `INTERNAL`, and the process
//!   continues.
//! - A process with several bots that prepares each once, not at every question, implements
//!   [`Process`] instead of [`Agent`]. An agent that is part of a larger program calls
//!   [`serve`] instead of [`run`].

mod agent;
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
