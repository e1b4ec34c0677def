//! Positions and options as JSON. Positions are read by the descriptors of their messages, so that a
//! new ruleset needs no code here, and errors name the field.

use std::{collections::BTreeMap, sync::LazyLock};

use arena_engine::options::{Options, Value as OptionValue};
use arena_wire::{DESCRIPTORS, json::Position};
use prost::{
    Message as _,
    encoding::{WireType, encode_key, encode_varint},
};
use prost_types::{
    DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorSet,
    field_descriptor_proto::{Label, Type},
};
use serde_json::{Map, Number, Value};

use crate::RulesError;

/// The package of positions.
const PACKAGE: &str = "arena.games.v1";

/// The messages of all rulesets by name, without the package.
static MESSAGES: LazyLock<BTreeMap<String, Vec<Field>>> = LazyLock::new(messages);

/// A field of a message.
struct Field {
    name: String,
    tag: u32,
    kind: Kind,
    repeated: bool,
}

/// The type of a field's values.
enum Kind {
    Bool,
    Unsigned,
    /// Signed numbers, with the sign in the last bit.
    ZigZag,
    Bytes,
    Text,
    /// A word for each number.
    Words(Vec<(u64, String)>),
    /// Details of moves, which rules do not read.
    Message,
}

fn messages() -> BTreeMap<String, Vec<Field>> {
    let set = FileDescriptorSet::decode(DESCRIPTORS).expect("the build wrote the descriptors");
    let mut enums = BTreeMap::new();
    let mut messages: Vec<DescriptorProto> = Vec::new();
    for file in set.file {
        if file.package.as_deref() == Some(PACKAGE) {
            enums.extend(
                file.enum_type
                    .into_iter()
                    .map(|one| (one.name().to_owned(), one)),
            );
            messages.extend(file.message_type);
        }
    }
    let fields = |message: &DescriptorProto| {
        let fields = message.field.iter();
        fields.map(|field| Field::of(field, &enums)).collect()
    };
    let named = messages.iter();
    named
        .map(|message| (message.name().to_owned(), fields(message)))
        .collect()
}

impl Field {
    fn of(field: &FieldDescriptorProto, enums: &BTreeMap<String, EnumDescriptorProto>) -> Self {
        let type_name = field.type_name().rsplit('.').next().unwrap_or_default();
        let kind = match field.r#type() {
            Type::Bool => Kind::Bool,
            Type::Uint32 | Type::Uint64 => Kind::Unsigned,
            Type::Sint32 | Type::Sint64 => Kind::ZigZag,
            Type::Bytes => Kind::Bytes,
            Type::String => Kind::Text,
            Type::Enum => Kind::Words(words(&enums[type_name])),
            Type::Message => Kind::Message,
            other => unreachable!("{}: positions have no {other:?}", field.name()),
        };
        Self {
            name: field.name().to_owned(),
            tag: u32::try_from(field.number()).expect("numbers of fields are positive"),
            kind,
            repeated: field.label() == Label::Repeated,
        }
    }
}

/// The words of an enumeration: its names without their common prefix, in lower case.
fn words(of: &EnumDescriptorProto) -> Vec<(u64, String)> {
    let zero = of.value.first().map_or("", |value| value.name());
    let prefix = zero.strip_suffix("UNSPECIFIED").unwrap_or_default();
    let word = |name: &str| name.strip_prefix(prefix).unwrap_or(name).to_lowercase();
    let values = of.value.iter();
    values
        .map(|value| (value.number() as u64, word(value.name())))
        .collect()
}

/// The message of a ruleset's positions: `ChineseLudoPosition` for `chinese-ludo`.
fn message_of(ruleset: &str) -> String {
    let word = |word: &str| word[..1].to_uppercase() + &word[1..];
    let words: String = ruleset.split('-').map(word).collect();
    words + "Position"
}

fn fields_of(message: &str) -> Result<&'static [Field], String> {
    let fields = MESSAGES.get(message);
    Ok(fields.ok_or_else(|| format!("there is no message {message}"))?)
}

/// Encodes a position as its message, without the details of moves.
pub(crate) fn to_message(ruleset: &str, text: &str) -> Result<Vec<u8>, String> {
    let object: Map<String, Value> =
        serde_json::from_str(text).map_err(|error| format!("no JSON object: {error}"))?;
    let mut out = Vec::with_capacity(64);
    for field in fields_of(&message_of(ruleset))? {
        match object.get(&field.name) {
            None | Some(Value::Null) => {}
            Some(value) => field.write(value, &mut out)?,
        }
    }
    Ok(out)
}

impl Field {
    fn write(&self, value: &Value, out: &mut Vec<u8>) -> Result<(), String> {
        let name = &self.name;
        match (&self.kind, value) {
            (Kind::Message, _) => Ok(()),
            (Kind::Bytes, Value::Array(items)) => {
                let byte = |item: &Value| item.as_u64().and_then(|byte| u8::try_from(byte).ok());
                let bytes: Option<Vec<u8>> = items.iter().map(byte).collect();
                let bytes = bytes.ok_or_else(|| format!("{name}: not a list of bytes"))?;
                self.write_bytes(&bytes, out);
                Ok(())
            }
            (Kind::Bytes, _) => Err(format!("{name}: not a list of bytes")),
            (Kind::Text, Value::Array(items)) if self.repeated => {
                let texts: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
                let texts = texts.ok_or_else(|| format!("{name}: not a list of texts"))?;
                for text in texts {
                    self.write_bytes(text.as_bytes(), out);
                }
                Ok(())
            }
            (Kind::Text, Value::String(text)) if !self.repeated => {
                self.write_bytes(text.as_bytes(), out);
                Ok(())
            }
            (Kind::Text, _) if !self.repeated => Err(format!("{name}: not a text")),
            (_, Value::Array(items)) if self.repeated => {
                let mut packed = Vec::with_capacity(items.len());
                for item in items {
                    encode_varint(self.number(item)?, &mut packed);
                }
                self.write_bytes(&packed, out);
                Ok(())
            }
            _ if self.repeated => Err(format!("{name}: not a list")),
            _ => {
                let number = self.number(value)?;
                encode_key(self.tag, WireType::Varint, out);
                encode_varint(number, out);
                Ok(())
            }
        }
    }

    fn write_bytes(&self, bytes: &[u8], out: &mut Vec<u8>) {
        encode_key(self.tag, WireType::LengthDelimited, out);
        encode_varint(bytes.len() as u64, out);
        out.extend_from_slice(bytes);
    }

    /// A value as the number that its message has.
    fn number(&self, value: &Value) -> Result<u64, String> {
        let number = match &self.kind {
            Kind::Bool => value.as_bool().map(u64::from),
            Kind::Unsigned => value.as_u64().filter(|&number| number <= u32::MAX.into()),
            Kind::ZigZag => {
                let number = value.as_i64().and_then(|number| i32::try_from(number).ok());
                number.map(|number| u64::from(((number << 1) ^ (number >> 31)) as u32))
            }
            Kind::Words(words) => {
                let found = words.iter().find(|(_, word)| value == word.as_str());
                found.map(|(number, _)| *number)
            }
            Kind::Bytes | Kind::Text | Kind::Message => None,
        };
        number.ok_or_else(|| {
            let expected = match &self.kind {
                Kind::Bool => "true or false".to_owned(),
                Kind::Unsigned => "a whole number from 0 to 4294967295".to_owned(),
                Kind::ZigZag => "a whole number of 32 bits".to_owned(),
                Kind::Words(words) => {
                    let words: Vec<&str> = words[1..].iter().map(|(_, word)| &**word).collect();
                    format!("one of {}", words.join(", "))
                }
                Kind::Bytes | Kind::Text | Kind::Message => "a number".to_owned(),
            };
            let mut shown = value.to_string();
            if shown.len() > 40 {
                shown = shown.chars().take(40).chain(['…']).collect();
            }
            format!("{}: {shown} is not {expected}", self.name)
        })
    }
}

/// The message of a position, which the rules wrote, as JSON: as a worker sends it to agents.
pub(crate) fn of_message(ruleset: &str, bytes: &[u8]) -> String {
    let position = Position::decode(ruleset, bytes).expect("every ruleset has a message");
    let position = position.expect("the rules write valid messages");
    serde_json::to_string(&position).expect("positions are plain data")
}

/// Options from a JSON object of texts, numbers and booleans.
pub(crate) fn options(text: &str) -> Result<Options, RulesError> {
    if text.trim().is_empty() {
        return Ok(Options::new());
    }
    let object: Map<String, Value> = serde_json::from_str(text)
        .map_err(|error| RulesError::Options(format!("no JSON object: {error}")))?;
    let value = |name: String, value: Value| match value {
        Value::Bool(value) => Ok((name, OptionValue::Bool(value))),
        Value::Number(number) => Ok((name, number_option(&number))),
        Value::String(text) => Ok((name, OptionValue::Text(text))),
        other => Err(RulesError::Options(format!(
            "{name}: {other} is not true or false, a number or a text"
        ))),
    };
    let given = object.into_iter();
    given.map(|(name, given)| value(name, given)).collect()
}

fn number_option(number: &Number) -> OptionValue {
    match number.as_i64() {
        Some(number) => OptionValue::Int(number),
        None => OptionValue::Text(number.to_string()),
    }
}
