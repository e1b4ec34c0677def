//! Valid messages with hostile values, to every method.

use std::collections::BTreeMap;

use arena_access::Token;
use arena_wire::{DESCRIPTORS, raw::Raw};
use prost::{
    Message,
    encoding::{WireType, encode_key, encode_varint},
};
use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};
use tonic::{
    Code, Request,
    codegen::{Bytes, http::uri::PathAndQuery},
};

use super::fixture::{Fixture, memory, options};
use crate::{Access, Options};

/// Requests of a usual run; `ARENA_HOSTILE_REQUESTS` sets another number.
const REQUESTS: usize = 6_000;
/// Maximum depth of messages in messages.
const DEPTH: usize = 4;

/// Texts that programs have stumbled over, and some that mean something here.
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
    methods: Vec<Method>,
}

#[derive(Clone, PartialEq, Message)]
struct Method {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    input: String,
}

/// Fields of messages by full name.
type Types = BTreeMap<String, Vec<Field>>;

fn add(types: &mut Types, within: &str, message: &Described) {
    let name = format!("{within}.{}", message.name);
    for inner in &message.inner {
        add(types, &name, inner);
    }
    types.insert(name, message.fields.clone());
}

struct Hostile {
    rng: ChaCha8Rng,
    types: Types,
}

impl Hostile {
    fn below(&mut self, bound: usize) -> usize {
        (self.rng.next_u64() % bound as u64) as usize
    }

    fn number(&mut self) -> u64 {
        match self.below(4) {
            0 => self.rng.next_u64(),
            1 => self.rng.next_u64() % 16,
            _ => NUMBERS[self.below(NUMBERS.len())],
        }
    }

    fn bytes(&mut self) -> Vec<u8> {
        match self.below(12) {
            0 => vec![b'x'; self.below(20_000)],
            1 => (0..self.below(64))
                .map(|_| self.rng.next_u64() as u8)
                .collect(),
            _ => TEXTS[self.below(TEXTS.len())].as_bytes().to_vec(),
        }
    }

    fn message(&mut self, name: &str, depth: usize) -> Vec<u8> {
        let mut out = Vec::new();
        for field in self.types.get(name).cloned().unwrap_or_default() {
            let times = match (field.label, self.below(3)) {
                (_, 0) => 0,
                (3, _) => self.below(4),
                _ => 1,
            };
            for _ in 0..times {
                self.field(&field, depth, &mut out);
            }
        }
        out
    }

    /// Appends a field, of the type that its kind has in `descriptor.proto`.
    fn field(&mut self, field: &Field, depth: usize, out: &mut Vec<u8>) {
        match field.kind {
            1 | 6 | 16 => {
                encode_key(field.number, WireType::SixtyFourBit, out);
                out.extend(self.number().to_le_bytes());
            }
            2 | 7 | 15 => {
                encode_key(field.number, WireType::ThirtyTwoBit, out);
                out.extend((self.number() as u32).to_le_bytes());
            }
            9 | 11 | 12 => {
                let content = match field.kind {
                    11 if depth == 0 => return,
                    11 => self.message(&field.type_name, depth - 1),
                    _ => self.bytes(),
                };
                encode_key(field.number, WireType::LengthDelimited, out);
                encode_varint(content.len() as u64, out);
                out.extend(content);
            }
            _ => {
                encode_key(field.number, WireType::Varint, out);
                encode_varint(self.number(), out);
            }
        }
    }
}

#[tokio::test]
async fn hostile_requests_are_refused() {
    // Some requests register endpoints elsewhere, and start tournaments with them.
    if !arena_test_isolation::leave_network("hostile_requests_are_refused") {
        return;
    }
    let requests = std::env::var("ARENA_HOSTILE_REQUESTS").ok();
    let requests = requests.map_or(REQUESTS, |text| text.parse().expect("a number"));
    let files = Files::decode(DESCRIPTORS).expect("our own descriptors");
    let mut types = Types::new();
    let mut methods = Vec::new();
    for file in &files.files {
        let package = format!(".{}", file.package);
        for message in &file.messages {
            add(&mut types, &package, message);
        }
        for service in file.services.iter().filter(|it| it.name != "AgentService") {
            for method in &service.methods {
                let path = format!("/{}.{}/{}", file.package, service.name, method.name);
                methods.push((path, method.input.clone()));
            }
        }
    }
    let admin = Token::draw().expect("random numbers");
    let arena = Fixture::with(Options {
        access: Access::Tokens {
            admin: admin.clone(),
        },
        ..options(memory())
    });
    let arena = arena.await;
    let channel = arena.channel().await;
    let rng = ChaCha8Rng::seed_from_u64(19);
    let mut hostile = Hostile { rng, types };
    let mut codes: BTreeMap<String, usize> = BTreeMap::new();
    for number in 0..requests {
        let (path, input) = methods[number % methods.len()].clone();
        let body = Bytes::from(hostile.message(&input, DEPTH));
        let mut client = tonic::client::Grpc::new(channel.clone());
        client.ready().await.expect("it listens");
        let mut request = Request::new(body.clone());
        let value = format!("Bearer {}", admin.text()).parse().expect("ASCII");
        request.metadata_mut().insert("authorization", value);
        let to: PathAndQuery = path.parse().expect("a path");
        // A request for games waits for them, a stream stays open: what comes first is enough.
        let calling = client.server_streaming(request, to, Raw);
        let limit = std::time::Duration::from_millis(300);
        let code = match tokio::time::timeout(limit, calling).await {
            Ok(Ok(_)) => Code::Ok,
            Ok(Err(status)) => {
                let shown = format!("{path}: {status:?}: {}", hex::encode(&body));
                let is_defect = [Code::Unknown, Code::Internal].contains(&status.code());
                // A text that is no UTF-8 is an error of the message, which the library reports.
                let is_undecoded = status.message().starts_with("failed to decode");
                assert!(!is_defect || is_undecoded, "{shown}");
                assert!(!status.message().is_empty(), "{shown}");
                status.code()
            }
            Err(_) => {
                let waits = ["/Lease", "/Join", "/WatchTournament"];
                assert!(waits.iter().any(|it| path.ends_with(it)), "{path} hangs");
                Code::DeadlineExceeded
            }
        };
        *codes.entry(format!("{code:?}")).or_default() += 1;
    }
    // Some were good enough to change something, and it still serves.
    assert!(codes.len() > 4, "{codes:?}");
    arena.stop().await;
}
