//! Valid messages with hostile values, made from the descriptors of the protocol.

use std::collections::BTreeMap;

use arena_wire::DESCRIPTORS;
use prost::{
    Message,
    encoding::{WireType, encode_key, encode_varint},
};
use rand_chacha::{ChaCha8Rng, rand_core::Rng};

/// Maximum depth of messages in messages.
const DEPTH: usize = 4;

/// Texts that programs have stumbled over, and some that have a meaning here.
const TEXTS: [&str; 22] = [
    "",
    "random",
    "mcts",
    "duel",
    "w1",
    "w18446744073709551615",
    "../../etc/passwd",
    "\u{1b}]0;x\u{7}",
    "\u{202e}\u{0}",
    "=HYPERLINK(\"http://x\")",
    "arena-00000000-0",
    "0000000000000000000000000000000000000000000000000000000000000000",
    "http://127.0.0.1:1",
    "http://169.254.169.254:80",
    "unix:/run/docker.sock",
    "1/duel",
    "18446744073709551615/x",
    "duel/18446744073709551615",
    "255.255.255.255/0",
    "name = \"duel\"\nruleset = \"kalah\"\nblocks = 1\nagents = [\"random\", \"greedy\"]\n",
    "name = \"x\"\nruleset = \"cowry\"\nblocks = 18446744073709551615\nagents = [\"random\", \"mcts\"]",
    "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
];
const NUMBERS: [u64; 9] = [
    0,
    1,
    2,
    127,
    65_536,
    u32::MAX as u64,
    i64::MAX as u64,
    i64::MAX as u64 + 1,
    u64::MAX,
];

/// Parts of specs. Books of longer openings take so much memory while they are drawn that they
/// would hide growth; the coordinator's tests have them.
const RULESETS: [&str; 5] = ["chess", "kalah", "cowry", "abapa", "ludo"];
const FORMATS: [&str; 4] = ["round-robin", "swiss", "knockout", "gauntlet"];
const OPENING_PLIES: [u64; 4] = [0, 1, 2, 1_001];
const BLOCKS: [u64; 3] = [1, 1_000, 65_536];

/// A value that a caller knows of a field, such as that of its session.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Bytes(Vec<u8>),
    Number(u64),
}

/// What a caller knows, by the names of fields.
pub(super) type Known = BTreeMap<&'static str, Value>;

#[derive(Clone, PartialEq, Message)]
struct Files {
    #[prost(message, repeated, tag = "1")]
    files: Vec<File>,
}

#[derive(Clone, PartialEq, Message)]
struct File {
    #[prost(string, tag = "2")]
    package: String,
    #[prost(message, repeated, tag = "4")]
    messages: Vec<Described>,
    #[prost(message, repeated, tag = "6")]
    services: Vec<Service>,
}

#[derive(Clone, PartialEq, Message)]
struct Described {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(message, repeated, tag = "2")]
    fields: Vec<Field>,
    #[prost(message, repeated, tag = "3")]
    inner: Vec<Described>,
}

#[derive(Clone, PartialEq, Message)]
struct Field {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(uint32, tag = "3")]
    number: u32,
    /// 3: repeated.
    #[prost(uint32, tag = "4")]
    label: u32,
    #[prost(uint32, tag = "5")]
    kind: u32,
    #[prost(string, tag = "6")]
    type_name: String,
}

#[derive(Clone, PartialEq, Message)]
struct Service {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(message, repeated, tag = "2")]
    methods: Vec<DescribedMethod>,
}

#[derive(Clone, PartialEq, Message)]
struct DescribedMethod {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    input: String,
}

/// A method of a coordinator.
pub(super) struct Method {
    pub(super) path: String,
    /// The full name of its request.
    input: String,
}

/// The methods of a coordinator, and the fields of all messages by full name.
pub(super) struct Protocol {
    pub(super) methods: Vec<Method>,
    types: BTreeMap<String, Vec<Field>>,
}

impl Protocol {
    pub(super) fn new() -> Self {
        let files = Files::decode(DESCRIPTORS).expect("our own descriptors are well formed");
        let mut types = BTreeMap::new();
        let mut methods = Vec::new();
        for file in &files.files {
            let package = format!(".{}", file.package);
            for message in &file.messages {
                add(&mut types, &package, message);
            }
            let of_packages = ["AgentService", "RulesService"];
            let services = file.services.iter();
            for service in services.filter(|it| !of_packages.contains(&&*it.name)) {
                methods.extend(service.methods.iter().map(|method| Method {
                    path: format!("/{}.{}/{}", file.package, service.name, method.name),
                    input: method.input.clone(),
                }));
            }
        }
        Self { methods, types }
    }

    /// A request of a method.
    pub(super) fn request(&self, method: &Method, known: &Known, rng: ChaCha8Rng) -> Vec<u8> {
        Writer {
            protocol: self,
            known,
            rng,
        }
        .message(&method.input, DEPTH)
    }
}

fn add(types: &mut BTreeMap<String, Vec<Field>>, within: &str, message: &Described) {
    let name = format!("{within}.{}", message.name);
    for inner in &message.inner {
        add(types, &name, inner);
    }
    types.insert(name, message.fields.clone());
}

/// Writes one message.
struct Writer<'a> {
    protocol: &'a Protocol,
    known: &'a Known,
    rng: ChaCha8Rng,
}

impl Writer<'_> {
    fn below(&mut self, bound: usize) -> usize {
        (self.rng.next_u64() % bound as u64) as usize
    }

    /// The known value of a field, in seven of eight cases: a session has three of them, all of
    /// which have to be right.
    fn known(&mut self, field: &Field) -> Option<Value> {
        let value = self.known.get(&*field.name)?;
        (self.below(8) > 0).then(|| value.clone())
    }

    fn number(&mut self, field: &Field) -> u64 {
        if let Some(Value::Number(number)) = self.known(field) {
            return number;
        }
        match self.below(4) {
            0 => self.rng.next_u64(),
            1 => self.rng.next_u64() % 16,
            _ => NUMBERS[self.below(NUMBERS.len())],
        }
    }

    fn bytes(&mut self, field: &Field) -> Vec<u8> {
        if let Some(Value::Bytes(bytes)) = self.known(field) {
            return bytes;
        }
        if field.name == "spec_toml" && self.below(3) > 0 {
            return self.spec().into_bytes();
        }
        match self.below(12) {
            0 => vec![b'x'; self.below(20_000)],
            // Most of them are no UTF-8.
            1 => (0..self.below(64))
                .map(|_| self.rng.next_u64() as u8)
                .collect(),
            _ => TEXTS[self.below(TEXTS.len())].as_bytes().to_vec(),
        }
    }

    /// A spec of some ruleset and format.
    fn spec(&mut self) -> String {
        let ruleset = RULESETS[self.below(RULESETS.len())];
        let format = FORMATS[self.below(FORMATS.len())];
        let blocks = BLOCKS[self.below(BLOCKS.len())];
        let plies = OPENING_PLIES[self.below(OPENING_PLIES.len())];
        format!(
            "name = \"hostile\"\nruleset = \"{ruleset}\"\nformat = \"{format}\"\nblocks = {blocks}\n\
             agents = [\"random\", \"greedy\"]\n[play]\nopening_plies = {plies}\n"
        )
    }

    fn message(&mut self, name: &str, depth: usize) -> Vec<u8> {
        let protocol = self.protocol;
        let mut out = Vec::new();
        for field in protocol.types.get(name).into_iter().flatten() {
            let times = match (field.label, self.below(3)) {
                _ if self.known.contains_key(&*field.name) && field.label != 3 => 1,
                (_, 0) => 0,
                (3, _) => self.below(4),
                _ => 1,
            };
            for _ in 0..times {
                self.field(field, depth, &mut out);
            }
        }
        out
    }

    /// Appends a field, of the type that its kind has in `descriptor.proto`.
    fn field(&mut self, field: &Field, depth: usize, out: &mut Vec<u8>) {
        match field.kind {
            1 | 6 | 16 => {
                encode_key(field.number, WireType::SixtyFourBit, out);
                out.extend(self.number(field).to_le_bytes());
            }
            2 | 7 | 15 => {
                encode_key(field.number, WireType::ThirtyTwoBit, out);
                out.extend((self.number(field) as u32).to_le_bytes());
            }
            9 | 11 | 12 => {
                let content = match field.kind {
                    11 if depth == 0 => return,
                    11 => self.message(&field.type_name, depth - 1),
                    _ => self.bytes(field),
                };
                encode_key(field.number, WireType::LengthDelimited, out);
                encode_varint(content.len() as u64, out);
                out.extend(content);
            }
            _ => {
                encode_key(field.number, WireType::Varint, out);
                encode_varint(self.number(field), out);
            }
        }
    }
}
