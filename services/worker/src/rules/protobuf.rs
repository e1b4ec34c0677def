//! The messages of `arena.v1.RulesService`, as those of the protocol over lines.

use arena_engine::options::Value;
use arena_wire::v1::{
    self, RulesEnding, RulesInformation, RulesNext, rules_option::Type, rules_option_value,
};
use prost::encoding::{DecodeContext, decode_key, skip_field};
use serde_json::{Map, json};

use super::{
    OpenGame,
    messages::{Drawing, EndingName, Next, NodeMessage, Reply},
    probabilities::Probability,
};

/// Maximum number of fields of a message: a decoded field can need a hundred times its bytes.
const FIELDS_MAX: usize = 1024;

/// Counts the fields of an encoded message.
///
/// # Errors
/// What is wrong with the message.
pub(super) fn check_fields(mut bytes: &[u8]) -> Result<(), String> {
    let mut count = 0;
    while !bytes.is_empty() {
        count += 1;
        if count > FIELDS_MAX {
            return Err(format!("has more than {FIELDS_MAX} fields"));
        }
        decode_key(&mut bytes)
            .and_then(|(tag, kind)| skip_field(kind, tag, &mut bytes, DecodeContext::default()))
            .map_err(|error| format!("is not its message: {error}"))?;
    }
    Ok(())
}

/// A description as its JSON, which is checked like that of a process that answers lines.
///
/// # Errors
/// If a value is unknown.
pub(super) fn description(answer: v1::DescribeRulesResponse) -> Result<String, String> {
    let information = match RulesInformation::try_from(answer.information) {
        Ok(RulesInformation::Unspecified | RulesInformation::Perfect) => "perfect",
        Ok(RulesInformation::Hidden) => "hidden",
        Err(_) => return Err(unknown("information", answer.information)),
    };
    let options: Result<Vec<_>, String> = answer.options.into_iter().map(option).collect();
    let returns = answer.returns.iter().map(|bounds| {
        let mut entry = json!({"min": bounds.min, "max": bounds.max});
        if bounds.seats > 0 {
            entry["seats"] = bounds.seats.into();
        }
        if bounds.parts > 0 {
            entry["parts"] = bounds.parts.into();
        }
        entry
    });
    let returns: Vec<_> = returns.collect();
    let presets: Result<Vec<_>, String> = answer.presets.into_iter().map(preset).collect();
    let mut description = json!({
        "protocol": answer.protocol, "name": answer.name, "version": answer.version,
        "summary": answer.summary, "seats": [answer.seats_min, answer.seats_max],
        "options": options?, "presets": presets?, "chance": answer.chance, "values": answer.values,
        "draws": answer.draws, "information": information, "wide_ids": answer.wide_ids,
        "returns": returns,
    });
    for (field, most) in [
        ("events_max", answer.events_max),
        ("state_bytes_max", answer.state_bytes_max),
    ] {
        if most > 0 {
            description[field] = most.into();
        }
    }
    Ok(description.to_string())
}

fn option(option: v1::RulesOption) -> Result<serde_json::Value, String> {
    let v1::RulesOption {
        name,
        summary,
        r#type,
    } = option;
    Ok(match r#type {
        Some(Type::Boolean(it)) => json!({
            "name": name, "summary": summary, "type": "bool", "default": it.default_value,
        }),
        Some(Type::Integer(it)) => json!({
            "name": name, "summary": summary, "type": "integer", "min": it.min, "max": it.max,
            "default": it.default_value,
        }),
        Some(Type::Choice(it)) => json!({
            "name": name, "summary": summary, "type": "choice", "choices": it.choices,
            "default": it.default_value,
        }),
        None => return Err(format!("option {name:?} has no type")),
    })
}

fn preset(preset: v1::RulesPreset) -> Result<serde_json::Value, String> {
    let mut options = Map::new();
    for option in preset.options {
        let v1::RulesOptionValue { name, value } = option;
        let value = match value {
            Some(rules_option_value::Value::Boolean(value)) => value.into(),
            Some(rules_option_value::Value::Integer(value)) => value.into(),
            Some(rules_option_value::Value::Choice(value)) => value.into(),
            None => return Err(format!("option {name:?} of a preset has no value")),
        };
        options.insert(name, value);
    }
    let mut set = json!({"name": preset.name, "summary": preset.summary, "options": options});
    if preset.seats > 0 {
        set["seats"] = preset.seats.into();
    }
    Ok(set)
}

/// The question that opens a game.
pub(super) fn start_game(opened: &OpenGame) -> v1::StartGameRequest {
    let value = |(name, value): (&String, &Value)| v1::RulesOptionValue {
        name: name.clone(),
        value: Some(match value {
            Value::Bool(value) => rules_option_value::Value::Boolean(*value),
            Value::Int(value) => rules_option_value::Value::Integer(*value),
            Value::Text(value) => rules_option_value::Value::Choice(value.clone()),
            Value::Real(_) | Value::Numbers(_) => unreachable!("rules have no such options"),
        }),
    };
    v1::StartGameRequest {
        game: opened.number,
        seats: opened.seats as u32,
        options: opened.options.iter().map(value).collect(),
        omit_positions: !opened.positions,
    }
}

/// The first node of a game.
pub(super) fn initial(answer: v1::StartGameResponse) -> Result<Reply, String> {
    let first = answer.node.ok_or("the field \"node\" is missing")?;
    Ok(Reply::Initial(Box::new(node(first)?)))
}

/// Nodes in their order.
pub(super) fn nodes(nodes: Vec<v1::RulesNode>) -> Result<Reply, String> {
    let nodes: Result<Vec<_>, String> = nodes.into_iter().map(node).collect();
    nodes.map(Reply::Nodes)
}

/// Boards in their order.
pub(super) fn drawings(answer: v1::DrawResponse) -> Reply {
    let drawing = |v1::RulesBoard { text, svg }| Drawing { text, svg };
    Reply::Drawings(answer.boards.into_iter().map(drawing).collect())
}

fn node(node: v1::RulesNode) -> Result<NodeMessage, String> {
    let next = match RulesNext::try_from(node.next) {
        Ok(RulesNext::Decision) => Next::Decision,
        Ok(RulesNext::Chance) => Next::Chance,
        Ok(RulesNext::Over) => Next::Over,
        Ok(RulesNext::Unspecified) | Err(_) => return Err(unknown("next", node.next)),
    };
    let ending = match RulesEnding::try_from(node.ending) {
        Ok(RulesEnding::Unspecified | RulesEnding::Normal) => EndingName::Normal,
        Ok(RulesEnding::Deadlock) => EndingName::Deadlock,
        Ok(RulesEnding::Repetition) => EndingName::Repetition,
        Ok(RulesEnding::Cap) => EndingName::Cap,
        Err(_) => return Err(unknown("ending", node.ending)),
    };
    let position = match &*node.position_json {
        "" => serde_json::Value::Null,
        text => serde_json::from_str(text)
            .map_err(|error| format!("the field \"position_json\" is no JSON: {error}"))?,
    };
    Ok(NodeMessage {
        state: node.state,
        next,
        seat: { node.seat.map(|seat| small("seat", seat)) }.transpose()?,
        legal: node.legal,
        moves: node.moves,
        weights: node.weights,
        probabilities: node.probabilities.into_iter().map(Probability).collect(),
        outcomes: node.outcomes,
        ending,
        ranks: { node.ranks.into_iter() }
            .map(|rank| small("ranks", rank))
            .collect::<Result<_, _>>()?,
        scores: node.scores,
        values: node.values,
        position,
    })
}

fn small(field: &str, value: u32) -> Result<u8, String> {
    u8::try_from(value)
        .map_err(|_| format!("the field \"{field}\" has {value}, which is too large"))
}

fn unknown(field: &str, value: i32) -> String {
    format!("the field \"{field}\" is {value}, which is not one of its values")
}

#[cfg(test)]
mod tests {
    use arena_model::rules::RulesDescription;
    use prost::Message;

    use super::*;

    fn over() -> v1::RulesNode {
        v1::RulesNode {
            state: "s".to_owned(),
            next: RulesNext::Over.into(),
            ranks: vec![1, 2],
            ..v1::RulesNode::default()
        }
    }

    #[test]
    fn node_is_that_of_the_same_line() {
        let line = json!({
            "state": "s", "next": "decision", "seat": 1, "legal": [0, 2_000_000_000], "moves": ["a", "b"],
            "scores": [-3, 3], "values": [1, 999_999], "position": {"b": 1, "a": [9_007_199_254_740_993_u64]},
        });
        let message = v1::RulesNode {
            state: "s".to_owned(),
            next: RulesNext::Decision.into(),
            seat: Some(1),
            legal: vec![0, 2_000_000_000],
            moves: vec!["a".to_owned(), "b".to_owned()],
            scores: vec![-3, 3],
            values: vec![1, 999_999],
            position_json: "{\"b\": 1, \"a\": [9007199254740993]}".to_owned(),
            ..v1::RulesNode::default()
        };
        assert_eq!(
            node(message),
            Ok(serde_json::from_value(line).expect("a node"))
        );
        let line = json!({
            "state": "s", "next": "chance", "probabilities": [1.0 / 3.0, 0, 2.0 / 3.0],
            "outcomes": ["a", "b", "c"],
        });
        let message = v1::RulesNode {
            state: "s".to_owned(),
            next: RulesNext::Chance.into(),
            probabilities: vec![1.0 / 3.0, 0.0, 2.0 / 3.0],
            outcomes: ["a", "b", "c"].map(str::to_owned).to_vec(),
            ..v1::RulesNode::default()
        };
        assert_eq!(
            node(message),
            Ok(serde_json::from_value(line).expect("a node"))
        );
        let line = json!({"state": "s", "next": "over", "ranks": [1, 2]});
        assert_eq!(
            node(over()),
            Ok(serde_json::from_value(line).expect("a node"))
        );
    }

    #[test]
    fn wrong_fields_of_a_node_are_named() {
        for (change, problem) in [
            (
                v1::RulesNode { next: 0, ..over() },
                "the field \"next\" is 0, which is not one of its values",
            ),
            (
                v1::RulesNode {
                    ending: 9,
                    ..over()
                },
                "the field \"ending\" is 9, which is not one of its values",
            ),
            (
                v1::RulesNode {
                    seat: Some(256),
                    ..over()
                },
                "the field \"seat\" has 256, which is too large",
            ),
            (
                v1::RulesNode {
                    ranks: vec![1, 256],
                    ..over()
                },
                "the field \"ranks\" has 256, which is too large",
            ),
            (
                v1::RulesNode {
                    position_json: "{".to_owned(),
                    ..over()
                },
                "the field \"position_json\" is no JSON: ",
            ),
        ] {
            let found = node(change).expect_err(problem);
            assert!(found.starts_with(problem), "{found}");
        }
        let none = initial(v1::StartGameResponse::default()).expect_err("no node");
        assert_eq!(none, "the field \"node\" is missing");
    }

    #[test]
    fn description_is_that_of_the_same_line() {
        let line = json!({
            "type": "description", "protocol": 1, "name": "pig", "version": 2, "summary": "s",
            "seats": [2, 4], "chance": true, "draws": true, "information": "hidden",
            "wide_ids": true,
            "options": [
                {"name": "target", "type": "integer", "min": -1, "max": 200, "default": 100},
                {"name": "board", "type": "choice", "choices": ["small"], "default": "small"},
                {"name": "fast", "type": "bool", "default": true, "summary": "f"},
            ],
            "presets": [{"name": "short", "options": {"target": 50, "fast": false}, "seats": 3}],
            "returns": [{"min": -13, "max": 39, "parts": 2}],
        });
        let named = |name: &str, kind| v1::RulesOption {
            name: name.to_owned(),
            summary: if name == "fast" {
                "f".to_owned()
            } else {
                String::new()
            },
            r#type: Some(kind),
        };
        let value = |name: &str, value| v1::RulesOptionValue {
            name: name.to_owned(),
            value: Some(value),
        };
        let message = v1::DescribeRulesResponse {
            protocol: 1,
            name: "pig".to_owned(),
            version: 2,
            summary: "s".to_owned(),
            seats_min: 2,
            seats_max: 4,
            chance: true,
            draws: true,
            information: RulesInformation::Hidden.into(),
            wide_ids: true,
            options: vec![
                named(
                    "target",
                    Type::Integer(v1::RulesInteger {
                        min: -1,
                        max: 200,
                        default_value: 100,
                    }),
                ),
                named(
                    "board",
                    Type::Choice(v1::RulesChoice {
                        choices: vec!["small".to_owned()],
                        default_value: "small".to_owned(),
                    }),
                ),
                named(
                    "fast",
                    Type::Boolean(v1::RulesBoolean {
                        default_value: true,
                    }),
                ),
            ],
            presets: vec![v1::RulesPreset {
                name: "short".to_owned(),
                options: vec![
                    value("target", rules_option_value::Value::Integer(50)),
                    value("fast", rules_option_value::Value::Boolean(false)),
                ],
                seats: 3,
                ..v1::RulesPreset::default()
            }],
            returns: vec![v1::RulesReturns {
                min: -13,
                max: 39,
                parts: 2,
                seats: 0,
            }],
            ..v1::DescribeRulesResponse::default()
        };
        let expected = RulesDescription::parse(&line.to_string()).expect("a description");
        let text = description(message).expect("a description");
        assert_eq!(RulesDescription::parse(&text), Ok(expected));
    }

    #[test]
    fn messages_of_very_many_fields_are_not_decoded() {
        let many = |count| {
            v1::ApplyResponse {
                nodes: vec![v1::RulesNode::default(); count],
            }
            .encode_to_vec()
        };
        assert_eq!(check_fields(&many(FIELDS_MAX)), Ok(()));
        let found = check_fields(&many(FIELDS_MAX + 1));
        assert_eq!(found, Err("has more than 1024 fields".to_owned()));
        for garbage in [&b"\x08"[..], b"\xff\xff\xff", b"\x0a\xff\x01"] {
            assert!(check_fields(garbage).is_err());
        }
    }
}
