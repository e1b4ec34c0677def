//! What it costs to decide on a request:
//!
//! `cargo test --release -p arena-coordinator admission_cost -- --ignored --nocapture`
#![expect(clippy::print_stderr, reason = "a benchmark prints what it measured")]

use std::{
    hint::black_box,
    sync::Arc,
    time::{Duration, Instant},
};

use arena_access::Token;
use arena_store::{MemoryStore, Store};
use arena_wire::v1::{CreateTokenRequest, Role, TokenInfo};
use tonic::codegen::http::{Request, header::AUTHORIZATION};

use super::{Access, Door};
use crate::limits::RoleLimits;

/// Stored tokens, all of which are used.
const TOKENS: usize = 1_000;
/// Calls of a measurement, and measurements. The fastest one counts: others were interrupted.
const CALLS: usize = 100_000;
const ROUNDS: usize = 20;

fn measure(name: &str, mut call: impl FnMut(usize)) {
    let rounds = { 0..ROUNDS }.map(|_| {
        let start = Instant::now();
        for number in 0..CALLS {
            call(number);
        }
        start.elapsed()
    });
    let fastest = rounds.min().unwrap_or(Duration::ZERO);
    let each = fastest.as_nanos() as f64 / CALLS as f64;
    eprintln!("{name:<40} {each:>6.0} ns/call");
}

#[tokio::test]
#[ignore = "a benchmark"]
async fn admission_cost() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new().expect("a memory store"));
    let admin = Token::draw().expect("random numbers");
    let access = Access::Tokens { admin };
    let mut limits = RoleLimits::default();
    limits
        .set("worker.requests-per-second=1000000000")
        .expect("a limit");
    let door = Door::load(&access, &limits, &store).expect("an empty store");
    let tokens = door.tokens.as_ref().expect("tokens");
    let mut requests = Vec::new();
    let mut texts = Vec::new();
    for _ in 0..TOKENS {
        let request = CreateTokenRequest {
            token: Some(TokenInfo {
                role: Role::Worker.into(),
                ..TokenInfo::default()
            }),
            ttl_seconds: 3600,
        };
        let text = tokens.create(request).await.expect("created").text;
        let request = Request::builder()
            .uri("http://arena/arena.v1.WorkerService/Report")
            .header(AUTHORIZATION, format!("Bearer {text}"));
        requests.push(request.body(()).expect("a request"));
        texts.push(text);
    }
    measure("admit a request with a token", |number| {
        let admission = door.admit(&requests[number % TOKENS], None);
        assert!(black_box(admission).is_ok());
    });
    measure("  of it: parse and hash the token", |number| {
        let token: Token = texts[number % TOKENS].parse().expect("a token");
        black_box(token.hash());
    });
    let parsed: Vec<Token> = texts
        .iter()
        .map(|it| it.parse().expect("a token"))
        .collect();
    measure("  of it: hash the token", |number| {
        black_box(parsed[number % TOKENS].hash());
    });
    let admission = door.admit(&requests[0], None).ok().expect("admitted");
    measure("  of it: check the rate", |_| {
        assert!(black_box(admission.principal.request()).is_ok());
    });
}
