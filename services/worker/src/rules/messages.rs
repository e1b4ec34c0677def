//! The messages of the protocol for rules. `services/games/PROTOCOL.md` describes all fields.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, de::Error};
use serde_json::Value;

use super::{OpenGame, probabilities::Probability};

/// What is asked about a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ask<'a> {
    /// The first node.
    Initial,
    /// The node after an event: the rules' id of an action, or the place of a chance outcome.
    Apply { state: &'a str, event: u32 },
    /// The node of a state.
    Look { state: &'a str },
    /// The board as text and as SVG.
    Draw { state: &'a str },
}

/// Characters of a state that are shown.
const SHOWN: usize = 1000;

/// The question for people, with its state as the rules wrote it.
impl fmt::Display for Ask<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |state: &str| {
            let mut shown: String = state.chars().take(SHOWN).collect();
            if shown.len() < state.len() {
                shown.push('…');
            }
            shown
        };
        match self {
            Self::Initial => f.write_str("the first state"),
            Self::Apply { state, event } => write!(f, "event {event} in state {}", of(state)),
            Self::Look { state } => write!(f, "state {}", of(state)),
            Self::Draw { state } => write!(f, "the drawing of state {}", of(state)),
        }
    }
}

/// A question to a process.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Request<'a> {
    /// Opens a game.
    Game(&'a OpenGame),
    Apply {
        batch: u64,
        game: u32,
        states: Vec<&'a str>,
        events: Vec<u32>,
    },
    Look {
        batch: u64,
        game: u32,
        states: [&'a str; 1],
    },
    Draw {
        batch: u64,
        game: u32,
        states: [&'a str; 1],
    },
}

impl<'a> Request<'a> {
    /// The question about a game; none for the first node, which follows the question that opens it.
    pub(super) fn of(ask: Ask<'a>, batch: u64, game: u32) -> Option<Self> {
        Some(match ask {
            Ask::Initial => return None,
            Ask::Apply { state, event } => Self::apply(batch, game, &[(state, event)]),
            Ask::Look { state } => Self::Look {
                batch,
                game,
                states: [state],
            },
            Ask::Draw { state } => Self::Draw {
                batch,
                game,
                states: [state],
            },
        })
    }

    /// The question for the nodes after events of states.
    pub(super) fn apply(batch: u64, game: u32, events: &[(&'a str, u32)]) -> Self {
        let (states, events) = events.iter().copied().unzip();
        Self::Apply {
            batch,
            game,
            states,
            events,
        }
    }

    /// The question as a line.
    pub(super) fn to_line(&self) -> String {
        let mut line = serde_json::to_string(self).expect("messages are plain data");
        line.push('\n');
        line
    }

    /// The number by which an answer names the question.
    fn batch(&self) -> Option<u64> {
        match *self {
            Self::Game(_) => None,
            Self::Apply { batch, .. } | Self::Look { batch, .. } | Self::Draw { batch, .. } => {
                Some(batch)
            }
        }
    }
}

/// What a process answers to a [`Request`].
#[derive(Debug)]
pub(super) enum Reply {
    /// The first node of a game.
    Initial(Box<NodeMessage>),
    Nodes(Vec<NodeMessage>),
    Drawings(Vec<Drawing>),
}

/// A message of the process.
#[derive(Debug)]
pub(super) enum Response {
    Initial {
        game: u32,
        node: Box<NodeMessage>,
    },
    Nodes {
        batch: u64,
        nodes: Vec<NodeMessage>,
    },
    Drawings {
        batch: u64,
        drawings: Vec<String>,
        svgs: Vec<Option<String>>,
    },
    Error {
        message: String,
    },
    /// A message of a later version.
    Other,
}

/// The fields of all messages. An enum with a tag would be read twice, which doubles the time for
/// nodes.
#[derive(Deserialize)]
struct Fields {
    r#type: String,
    game: Option<u32>,
    node: Option<Box<NodeMessage>>,
    batch: Option<u64>,
    nodes: Option<Vec<NodeMessage>>,
    drawings: Option<Vec<String>>,
    svgs: Option<Vec<Option<String>>>,
    message: Option<String>,
}

impl<'de> Deserialize<'de> for Response {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        fn need<T, E: Error>(field: Option<T>, name: &'static str) -> Result<T, E> {
            field.ok_or_else(|| E::missing_field(name))
        }
        let fields = Fields::deserialize(deserializer)?;
        Ok(match &*fields.r#type {
            "initial" => Self::Initial {
                game: need(fields.game, "game")?,
                node: need(fields.node, "node")?,
            },
            "nodes" => Self::Nodes {
                batch: need(fields.batch, "batch")?,
                nodes: need(fields.nodes, "nodes")?,
            },
            "drawings" => Self::Drawings {
                batch: need(fields.batch, "batch")?,
                drawings: need(fields.drawings, "drawings")?,
                svgs: fields.svgs.unwrap_or_default(),
            },
            "error" => Self::Error {
                message: need(fields.message, "message")?,
            },
            _ => Self::Other,
        })
    }
}

impl Response {
    /// The answer to this question; none if it belongs to another one.
    pub(super) fn into_reply(self, request: &Request<'_>) -> Option<Reply> {
        match (self, request) {
            (Self::Initial { game, node }, Request::Game(opened)) if game == opened.number => {
                Some(Reply::Initial(node))
            }
            (Self::Nodes { batch, nodes }, _) if request.batch() == Some(batch) => {
                Some(Reply::Nodes(nodes))
            }
            (
                Self::Drawings {
                    batch,
                    drawings,
                    svgs,
                },
                _,
            ) if request.batch() == Some(batch) => {
                let mut svgs = svgs.into_iter();
                let drawings = drawings.into_iter().map(|text| Drawing {
                    text,
                    svg: svgs.next().flatten().unwrap_or_default(),
                });
                Some(Reply::Drawings(drawings.collect()))
            }
            _ => None,
        }
    }
}

/// The answer to an [`Ask`].
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Answer {
    Node(Box<NodeMessage>),
    Drawing(Drawing),
}

/// A board as the rules draw it, without any bounds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Drawing {
    pub(crate) text: String,
    /// Empty if they draw none.
    pub(crate) svg: String,
}

/// How a game goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Next {
    Decision,
    Chance,
    Over,
}

/// How the rules end a game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum EndingName {
    #[default]
    Normal,
    Deadlock,
    Repetition,
    Cap,
}

/// A state with everything that Arena needs of it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct NodeMessage {
    pub(crate) state: String,
    pub(crate) next: Next,
    #[serde(default)]
    pub(crate) seat: Option<u8>,
    #[serde(default)]
    pub(crate) legal: Vec<u32>,
    #[serde(default)]
    pub(crate) moves: Vec<String>,
    #[serde(default)]
    pub(crate) weights: Vec<u32>,
    #[serde(default)]
    pub(crate) probabilities: Vec<Probability>,
    #[serde(default)]
    pub(crate) outcomes: Vec<String>,
    #[serde(default)]
    pub(crate) ending: EndingName,
    #[serde(default)]
    pub(crate) ranks: Vec<u8>,
    #[serde(default)]
    pub(crate) scores: Vec<i64>,
    #[serde(default)]
    pub(crate) values: Vec<i64>,
    #[serde(default)]
    pub(crate) position: Value,
}
