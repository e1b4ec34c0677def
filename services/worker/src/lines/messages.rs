//! The messages of the line protocol. `agents/PROTOCOL.md` describes all fields.

use std::{borrow::Cow, collections::BTreeMap};

use arena_wire::{json::Position, v1};
use serde::{Deserialize, Deserializer, Serialize, de::Error};
use serde_json::{Value, json};

use super::hello::{self, fields};

/// A message to an agent.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Request<'a> {
    Hello {
        protocol: u32,
        arena: &'a str,
    },
    Game {
        context: u32,
        ruleset: &'a str,
        rules_version: u32,
        seats: u32,
        options: BTreeMap<&'a str, &'a str>,
        bot: &'a str,
        bot_options: BTreeMap<&'a str, &'a str>,
        nodes: String,
    },
    Ask {
        batch: u64,
        time_budget_us: u64,
        decisions: Vec<AskedDecision>,
    },
}

impl<'a> Request<'a> {
    pub(super) fn game(number: u32, context: &'a v1::GameContext) -> Self {
        let values = |options: &'a [v1::OptionValue]| {
            let values = options.iter();
            values
                .map(|it| (it.name.as_str(), it.value.as_str()))
                .collect()
        };
        Self::Game {
            context: number,
            ruleset: &context.ruleset,
            rules_version: context.rules_version,
            seats: context.seats,
            options: values(&context.options),
            bot: &context.bot,
            bot_options: values(&context.bot_options),
            nodes: context.nodes.to_string(),
        }
    }

    /// The message as a line.
    pub(super) fn to_line(&self) -> Vec<u8> {
        let mut line = serde_json::to_vec(self).expect("messages are plain data");
        line.push(b'\n');
        line
    }

    /// The same with fields that no version has, in other places, after a message of an unknown
    /// type.
    pub(super) fn to_line_with_unknown_fields(&self) -> Vec<u8> {
        let mut message = serde_json::to_value(self).expect("messages are plain data");
        add_unknown_fields(&mut message);
        format!("{{\"type\": \"later\", \"batch\": 0}}\n {message} \n").into_bytes()
    }
}

/// Adds a field to each object with fields whose names are fixed.
fn add_unknown_fields(message: &mut Value) {
    match message {
        Value::Object(fields) => {
            for (name, value) in fields.iter_mut() {
                // Names of options are those of a ruleset or a bot.
                if !name.ends_with("options") {
                    add_unknown_fields(value);
                }
            }
            fields.insert(
                "a_later_field".to_owned(),
                json!({ "type": ["ask"], "batch": null }),
            );
        }
        Value::Array(items) => items.iter_mut().for_each(add_unknown_fields),
        _ => {}
    }
}

/// A decision of an `ask`.
#[derive(Debug, Serialize)]
pub(super) struct AskedDecision {
    slot: u32,
    context: u32,
    seat: u32,
    number: u32,
    seed: String,
    legal_moves: Vec<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notations: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    clock: Option<Clock>,
    #[serde(skip_serializing_if = "Option::is_none")]
    game: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    moves: Option<Vec<[u32; 2]>>,
    position: AskedPosition,
}

/// A position as JSON.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum AskedPosition {
    BuiltIn(Position),
    /// What an added ruleset writes is JSON.
    Json(Value),
    /// What an added ruleset writes is not.
    Bytes {
        hex: String,
    },
}

impl AskedPosition {
    fn decode(ruleset: &str, bytes: &[u8]) -> Result<Self, String> {
        match Position::decode(ruleset, bytes) {
            Some(Ok(position)) => Ok(Self::BuiltIn(position)),
            Some(Err(error)) => Err(format!("a position of {ruleset}: {error}")),
            None => Ok(match serde_json::from_slice(bytes) {
                Ok(value) => Self::Json(value),
                Err(_) => Self::Bytes {
                    hex: hex::encode(bytes),
                },
            }),
        }
    }
}

#[derive(Debug, Serialize)]
struct Clock {
    left_us: u64,
    increment_us: u64,
    moves_to_go: u32,
    seats_left_us: Vec<u64>,
}

impl AskedDecision {
    /// A decision at this place of its batch, in the context of this number.
    pub(super) fn new(
        place: usize,
        context: u32,
        ruleset: &str,
        decision: v1::Decision,
    ) -> Result<Self, String> {
        let position = AskedPosition::decode(ruleset, &decision.position)?;
        let is_sticky = !decision.game.is_empty();
        let moves = decision.moves.iter().map(|it| [it.seat, it.move_id]);
        Ok(Self {
            slot: place as u32,
            context,
            seat: decision.seat,
            number: decision.number,
            seed: decision.seed.to_string(),
            position,
            moves: is_sticky.then(|| moves.collect()),
            game: is_sticky.then(|| hex::encode(&decision.game)),
            legal_moves: decision.legal_moves,
            notations: decision.notations,
            clock: decision.clock.map(|clock| Clock {
                left_us: clock.left_us,
                increment_us: clock.increment_us,
                moves_to_go: clock.moves_to_go,
                seats_left_us: clock.seats_left_us,
            }),
        })
    }
}

/// A message of an agent.
#[derive(Debug)]
pub(super) enum Response {
    Hello(Box<v1::DescribeResponse>),
    Answer(Answer),
    Error { batch: u64, message: String },
}

/// What a line of an agent is.
#[derive(Debug)]
pub(super) enum Line {
    Message(Response),
    /// It has the type of a message, but is none: the batch that it names, and the problem.
    Garbled(Option<u64>, String),
    /// Output for people.
    Log,
}

/// An answer to decisions of a batch.
#[derive(Debug, Deserialize)]
pub(super) struct Answer {
    pub(super) batch: u64,
    pub(super) moves: Vec<u32>,
    pub(super) slots: Option<Vec<u32>>,
    pub(super) thinking_us: Option<u64>,
    #[serde(default)]
    pub(super) info: Vec<Info>,
}

/// What the search for a move found.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Info {
    score: Option<f64>,
    depth: Option<u32>,
    nodes: Option<Large>,
    #[serde(default)]
    variation: Vec<Step>,
    thinking_us: Option<u64>,
}

/// A number of 64 bits, as text or as a number.
#[derive(Debug)]
struct Large(u64);

impl<'de> Deserialize<'de> for Large {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Step::deserialize(deserializer)? {
            Step::Number(number) => Ok(Self(number)),
            Step::Text(text) => text.parse().map(Self).map_err(D::Error::custom),
        }
    }
}

/// A move of a variation: an id or a notation.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Step {
    Number(u64),
    Text(String),
}

impl From<Info> for v1::SearchInfo {
    fn from(info: Info) -> Self {
        let step = |step| match step {
            Step::Number(number) => number.to_string(),
            Step::Text(text) => text,
        };
        Self {
            score: info.score,
            depth: info.depth,
            nodes: info.nodes.map(|nodes| nodes.0),
            variation: info.variation.into_iter().map(step).collect(),
            thinking_us: info.thinking_us,
        }
    }
}

#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Named {
    batch: u64,
}

#[derive(Deserialize)]
struct AgentError {
    batch: u64,
    #[serde(default)]
    message: String,
}

const KINDS: [&str; 3] = ["hello", "answer", "error"];

impl Line {
    /// Reads a line without its end.
    pub(super) fn parse(line: &[u8]) -> Self {
        let kind = match serde_json::from_slice::<Head<'_>>(line) {
            Ok(head) => head.kind,
            Err(error) if begins_as_message(line) => {
                return Self::Garbled(None, format!("{error} in {}", shown(line)));
            }
            Err(_) => return Self::Log,
        };
        let read = match &*kind {
            "hello" => hello::read(line).map(|hello| Response::Hello(Box::new(hello))),
            "answer" => fields(line).map(Response::Answer),
            "error" => fields(line).map(|error: AgentError| Response::Error {
                batch: error.batch,
                message: error.message,
            }),
            _ => return Self::Log,
        };
        match read {
            Ok(message) => Self::Message(message),
            Err(error) => {
                let named = serde_json::from_slice::<Named>(line).ok();
                let problem = format!("{error} in {}", shown(line));
                Self::Garbled(named.map(|named| named.batch), problem)
            }
        }
    }
}

/// True if the line begins as a message that an agent can send.
fn begins_as_message(line: &[u8]) -> bool {
    let start = line.iter().filter(|byte| !byte.is_ascii_whitespace());
    let start: Vec<u8> = start.take(20).copied().collect();
    let begins = |kind: &str| start.starts_with(format!("{{\"type\":\"{kind}\"").as_bytes());
    KINDS.into_iter().any(begins)
}

/// Maximum characters of a line in an error.
const SHOWN: usize = 80;

fn shown(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    match text.char_indices().nth(SHOWN) {
        None => text.into_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_no_messages_are_the_log() {
        for line in [
            "",
            "thinking …",
            "{",
            "{}",
            "{'type': 'answer'}",
            "{\"type\": 7}",
            "{\"type\":\"ask\"}",
            "{\"type\":\"report\",\"batch\":1}",
            "[1]",
        ] {
            assert!(matches!(Line::parse(line.as_bytes()), Line::Log), "{line}");
        }
        assert!(matches!(Line::parse(b"\xff\xfe"), Line::Log));
    }

    #[test]
    fn garbled_messages_name_batch_and_problem() {
        for (line, batch, problem) in [
            (
                "{\"type\":\"answer\",\"batch\":4}",
                Some(4),
                "missing field `moves`",
            ),
            (
                "{\"type\":\"answer\",\"batch\":4,\"moves\":[-1]}",
                Some(4),
                "invalid value: integer `-1`",
            ),
            (
                "{\"type\":\"answer\",\"moves\":[1]}",
                None,
                "missing field `batch`",
            ),
            (
                "{ \"type\": \"answer\", \"batch\":",
                None,
                "EOF while parsing",
            ),
            ("{\"type\":\"hello\"}", None, "missing field `protocol`"),
            (
                "{\"type\":\"answer\",\"batch\":4,\"moves\":[0,1.0]}",
                Some(4),
                "moves[1]: invalid type: floating point `1.0`",
            ),
            (
                "{\"type\":\"hello\",\"protocol\":1,\"bots\":[{\"name\":\"a\",\"uses_seed\":true}]}",
                None,
                "bots[0].uses_seed: invalid type: boolean `true`, expected a string",
            ),
            (
                "{\"type\":\"hello\",\"protocol\":1,\"bots\":[{\"name\":\"a\",\"uses_seed\":\"maybe\"}]}",
                None,
                "bots[0].uses_seed: \"maybe\" is neither",
            ),
            (
                "{\"type\":\"hello\",\"protocol\":9}",
                None,
                "protocol 9 is unknown",
            ),
        ] {
            let Line::Garbled(named, found) = Line::parse(line.as_bytes()) else {
                panic!("{line} should be garbled");
            };
            assert_eq!(named, batch, "{line}");
            assert!(found.contains(problem), "{line}: {found}");
        }
    }

    #[test]
    fn fields_come_in_any_order_and_unknown_ones_are_ignored() {
        let line = r#" { "later" : [{}], "moves" : [3, 70000], "batch":7, "typ\u0065":"answer" }"#;
        let Line::Message(Response::Answer(answer)) = Line::parse(line.as_bytes()) else {
            panic!("{line} should be an answer");
        };
        assert_eq!((answer.batch, answer.moves), (7, vec![3, 70_000]));
    }

    #[test]
    fn hello_describes_bots_and_options() {
        let line = r#"{"type":"hello","protocol":1,"name":"mine","bots":[{"name":"a","uses_seed":"no",
            "options":[{"name":"depth","type":"integer","default_value":"3","max":"9"}],
            "required_options":{"kalah":{"pits":"4"}},"perfect_information":true}]}"#;
        let Line::Message(Response::Hello(found)) = Line::parse(line.as_bytes()) else {
            panic!("{line} should be a hello");
        };
        let bot = &found.bots[0];
        assert_eq!((found.name.as_str(), bot.name.as_str()), ("mine", "a"));
        assert_eq!(bot.uses_seed(), v1::SeedUse::No);
        assert_eq!(bot.options[0].r#type(), v1::OptionType::Integer);
        assert_eq!(bot.options[0].max, "9");
        let required = v1::RequiredOption {
            ruleset: "kalah".to_owned(),
            name: "pits".to_owned(),
            value: "4".to_owned(),
        };
        assert_eq!(bot.required_options, [required]);
        assert!(bot.perfect_information);
    }
}
