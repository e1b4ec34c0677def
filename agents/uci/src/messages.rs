//! The messages of the line protocol, with the fields that an engine needs.

use serde::{Deserialize, Serialize};

use crate::{
    engine::Found,
    game::Game,
    options::{BotOption, EngineOptions},
    search::Report,
};

/// A message of Arena.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Request {
    Hello,
    Game(Game),
    Ask(Ask),
    /// Of a later version.
    #[serde(other)]
    Later,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Ask {
    pub(crate) batch: u64,
    pub(crate) time_budget_us: u64,
    pub(crate) decisions: Vec<Decision>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Decision {
    pub(crate) context: u32,
    pub(crate) clock: Option<Clock>,
    pub(crate) game: Option<String>,
    pub(crate) position: Position,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct Clock {
    pub(crate) left_us: u64,
    pub(crate) increment_us: u64,
    pub(crate) moves_to_go: u32,
    pub(crate) seats_left_us: Vec<u64>,
}

/// A position of chess.
#[derive(Debug, Deserialize)]
pub(crate) struct Position {
    pub(crate) base_fen: String,
    pub(crate) played: Vec<String>,
}

/// A message to Arena.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Response {
    Hello(Hello),
    Answer(Answer),
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Hello {
    protocol: u32,
    name: String,
    author: String,
    bots: Vec<Bot>,
    batch_size: u32,
    omit_move_details: bool,
    sticky: bool,
}

#[derive(Clone, Debug, Serialize)]
struct Bot {
    name: &'static str,
    summary: String,
    rulesets: [&'static str; 1],
    options: Vec<BotOption>,
}

impl Hello {
    pub(crate) fn new(found: Found, options: &EngineOptions) -> Self {
        Self {
            protocol: 1,
            bots: vec![Bot {
                name: "uci",
                summary: format!("{} (UCI)", found.name),
                rulesets: ["chess"],
                options: options.of_bot(),
            }],
            name: found.name,
            author: found.author,
            batch_size: 1,
            omit_move_details: true,
            sticky: true,
        }
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct Answer {
    pub(crate) batch: u64,
    pub(crate) moves: Vec<u32>,
    pub(crate) thinking_us: u64,
    pub(crate) info: Vec<Report>,
}
