//! What a decision costs: in process, and through a served process.
//!
//! `cargo bench -p arena-agents` prints one line for each measurement.
#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use std::{
    hint::black_box,
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use arena_agents::{Bot, Decision, Stop, bot, bots};
use arena_engine::{AgentRng, Game, Node, Stream, options::Options};
use arena_games::{ChineseLudo, Cowry, Kalah, Ruleset};
use arena_sdk::{
    v1::{
        ChooseMoveRequest, ChooseMovesRequest, Decision as Asked, GameContext,
        agent_service_client::AgentServiceClient,
    },
    wire::convert::options_to_wire,
};
use tokio_stream::{StreamExt, wrappers::ReceiverStream};
use tonic::transport::{Channel, Endpoint};

/// How long each measurement runs.
const SPAN: Duration = Duration::from_secs(2);
/// Unary questions on their way at a time.
const OUTSTANDING: usize = 64;
/// Decisions of a batch, and batches on their way at a time.
const BATCH: usize = 256;
const BATCHES: usize = 4;

fn main() {
    println!("{:<44} {:>14}", "in process", "ns/decision");
    for info in bots() {
        if info.rulesets.is_empty() || info.rulesets.contains(&Cowry::NAME) {
            in_process::<Cowry>(info.name);
        }
        if info.rulesets.is_empty() || info.rulesets.contains(&ChineseLudo::NAME) {
            in_process::<ChineseLudo>(info.name);
        }
        if info.rulesets.is_empty() || info.rulesets.contains(&Kalah::NAME) {
            in_process::<Kalah>(info.name);
        }
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    println!(
        "{:<44} {:>14}",
        "one process, cowry, 2 seats", "decisions/s"
    );
    runtime.block_on(served());
}

fn new_game<G: Ruleset>() -> G {
    let (options, seats) =
        arena_games::resolve(G::NAME, &Options::new(), None).expect("defaults go together");
    G::with_options(&options, seats).expect("defaults go together")
}

/// Positions along a game of random moves.
fn positions<G: Game>(game: &G, number: u8) -> Vec<(G::State, u8, Vec<u16>)> {
    let mut chance = Stream::new(&[number; 32]);
    let mut moves = AgentRng::new(number.into());
    let mut state = game.initial();
    let mut legal = Vec::new();
    let mut positions = Vec::new();
    loop {
        match game.node(&state) {
            Node::Over(_) => return positions,
            Node::Chance(_) => {
                let outcome = chance.weighted(game.weights(&state)) as u16;
                game.apply_outcome(&mut state, outcome);
            }
            Node::Decision(seat) => {
                game.legal(&state, &mut legal);
                if legal.len() > 1 {
                    positions.push((state.clone(), seat, legal.clone()));
                }
                game.apply(&mut state, moves.pick(&legal));
            }
        }
    }
}

fn in_process<G: Ruleset>(name: &str) {
    let game: G = new_game();
    let mut bot: Box<dyn Bot<G>> = bot(name, &Options::new(), &game).expect("a bot");
    let positions: Vec<_> = (0..4).flat_map(|number| positions(&game, number)).collect();
    let started = Instant::now();
    let mut decisions = 0u32;
    while started.elapsed() < SPAN / 4 {
        for (state, seat, legal) in &positions {
            black_box(bot.choose(&Decision {
                game: &game,
                state,
                seat: *seat,
                number: decisions,
                seed: u64::from(decisions),
                legal,
                stop: Stop::NEVER,
            }));
            decisions += 1;
        }
    }
    let each = started.elapsed().as_nanos() / u128::from(decisions);
    println!("  {:<42} {each:>14}", format!("{name}, {}", game.name()));
}

/// A served process that is ended with the benchmark.
struct Served(Child);

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

async fn served() {
    let game: Cowry = new_game();
    let (options, seats) =
        arena_games::resolve(Cowry::NAME, &Options::new(), None).expect("defaults go together");
    let context = |bot: &str| GameContext {
        ruleset: Cowry::NAME.to_owned(),
        rules_version: Cowry::VERSION,
        options: options_to_wire(&options),
        seats: seats as u32,
        bot: bot.to_owned(),
        bot_options: Vec::new(),
        nodes: 0,
    };
    let asked: Vec<Asked> = (0..8)
        .flat_map(|number| positions(&game, number))
        .zip(0..)
        .take(BATCH)
        .map(|((state, seat, legal), slot)| {
            let mut position = Vec::new();
            game.encode(&state, false, &mut position);
            Asked {
                slot,
                seat: seat.into(),
                seed: slot.into(),
                position,
                legal_moves: legal.into_iter().map(u32::from).collect(),
                ..Asked::default()
            }
        })
        .collect();
    let socket = std::env::temp_dir().join(format!("arena-bench-{}.sock", std::process::id()));
    let unix = format!("unix:{}", socket.display());
    for listen in ["127.0.0.1:0", &unix] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_arena-agents"))
            .args(["--listen", listen])
            .stdout(Stdio::piped())
            .spawn()
            .expect("a process");
        let stdout = child.stdout.take().expect("a pipe");
        let _served = Served(child);
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line).expect("a line");
        let found: serde_json::Value = serde_json::from_str(&line).expect("JSON");
        let address = found["listen"].as_str().expect("an address");
        let uri = match address.strip_prefix("unix:") {
            Some(path) => format!("unix://{path}"),
            None => format!("http://{address}"),
        };
        let endpoint = Endpoint::from_shared(uri).expect("an address");
        let channel = endpoint.connect().await.expect("a connection");
        let kind = if listen == unix {
            "unix socket"
        } else {
            "loopback"
        };
        for bot in ["random", "defensive"] {
            let rate = unary(&channel, &context(bot), &asked).await;
            println!(
                "  {:<42} {rate:>14}",
                format!("{bot}, {kind}, unary, {OUTSTANDING} at a time")
            );
            let rate = batched(&channel, &context(bot), &asked).await;
            println!(
                "  {:<42} {rate:>14}",
                format!("{bot}, {kind}, {BATCHES} batches of {BATCH}")
            );
        }
    }
    // The process was killed and could not remove it.
    let _ = std::fs::remove_file(socket);
}

async fn unary(channel: &Channel, context: &GameContext, asked: &[Asked]) -> u64 {
    let started = Instant::now();
    let mut tasks = tokio::task::JoinSet::new();
    for first in 0..OUTSTANDING {
        let mut agent = AgentServiceClient::new(channel.clone());
        let (context, asked) = (context.clone(), asked.to_vec());
        tasks.spawn(async move {
            let mut answered = 0u64;
            for question in asked.iter().cycle().skip(first) {
                let request = ChooseMoveRequest {
                    context: Some(context.clone()),
                    decision: Some(question.clone()),
                    time_budget_us: 0,
                };
                agent.choose_move(request).await.expect("an answer");
                answered += 1;
                if started.elapsed() > SPAN {
                    break;
                }
            }
            answered
        });
    }
    let answered: u64 = tasks.join_all().await.into_iter().sum();
    rate(answered, started)
}

async fn batched(channel: &Channel, context: &GameContext, asked: &[Asked]) -> u64 {
    let batch = ChooseMovesRequest {
        contexts: vec![context.clone()],
        decisions: asked.to_vec(),
        ..ChooseMovesRequest::default()
    };
    let (send, receive) = tokio::sync::mpsc::channel(BATCHES);
    for _ in 0..BATCHES {
        send.send(batch.clone()).await.expect("room");
    }
    let mut agent = AgentServiceClient::new(channel.clone());
    let answers = agent.choose_moves(ReceiverStream::new(receive)).await;
    let mut answers = answers.expect("a stream").into_inner();
    let started = Instant::now();
    let mut answered = 0;
    while started.elapsed() < SPAN {
        let answer = answers.next().await.expect("a message").expect("an answer");
        answered += answer.choices.len() as u64;
        send.send(batch.clone()).await.expect("room");
    }
    rate(answered, started)
}

fn rate(answered: u64, started: Instant) -> u64 {
    let micros = started.elapsed().as_micros().max(1);
    u64::try_from(u128::from(answered) * 1_000_000 / micros).unwrap_or(u64::MAX)
}
