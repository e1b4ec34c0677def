//! A served agent, and a client of it.

use std::sync::{Arc, Mutex, mpsc};

use arena_sdk::{
    Agent, Choice, Listen, Listener, Question, Refusal, ServeError, option, serve,
    v1::{
        Bot, ChooseMoveRequest, ChooseMovesRequest, Decision, DescribeResponse, GameContext,
        agent_service_client::AgentServiceClient,
    },
};
use tokio::{
    sync::{
        mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
        oneshot,
    },
    task::JoinHandle,
};
use tonic::transport::{Channel, Endpoint};
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};

/// A server in this process and a connection to it.
pub(crate) struct Served {
    pub(crate) channel: Channel,
    pub(crate) stop: oneshot::Sender<()>,
    pub(crate) server: JoinHandle<Result<(), ServeError>>,
}

impl Served {
    pub(crate) async fn start(agent: impl Agent) -> Self {
        let listener = Listener::bind(&Listen::default()).await.expect("a port");
        Self::start_on(agent, listener).await
    }

    pub(crate) async fn start_on(agent: impl Agent, listener: Listener) -> Self {
        let address = match listener.address() {
            Listen::Tcp(address) => format!("http://{address}"),
            Listen::Unix(path) => format!("unix://{}", path.display()),
        };
        let (stop, stopped) = oneshot::channel::<()>();
        let server = tokio::spawn(serve(agent, listener, async {
            // A dropped sender stops the server, too.
            let _ = stopped.await;
        }));
        let endpoint = Endpoint::from_shared(address).expect("an address");
        let channel = endpoint.connect().await.expect("a connection");
        Self {
            channel,
            stop,
            server,
        }
    }

    pub(crate) fn agent(&self) -> AgentServiceClient<Channel> {
        AgentServiceClient::new(self.channel.clone())
    }

    pub(crate) async fn health(&self) -> ServingStatus {
        let mut health = HealthClient::new(self.channel.clone());
        let answer = health.check(HealthCheckRequest::default()).await;
        answer.expect("an answer").into_inner().status()
    }
}

/// Plays the last legal move. Some seeds make it refuse or panic.
#[derive(Clone, Default)]
pub(crate) struct Last {
    pub(crate) quick: bool,
    pub(crate) gate: Option<Gate>,
    /// Stays true after a panic, like any state that is half changed.
    pub(crate) half_done: bool,
}

/// Stops the agent while it thinks.
#[derive(Clone)]
pub(crate) struct Gate {
    entered: UnboundedSender<()>,
    open: Arc<Mutex<mpsc::Receiver<()>>>,
}

impl Gate {
    /// The gate, a channel that reports each arrival of the agent, and a sender that opens it.
    pub(crate) fn new() -> (Self, UnboundedReceiver<()>, mpsc::Sender<()>) {
        let (entered, arrived) = unbounded_channel();
        let (key, open) = mpsc::channel();
        let open = Arc::new(Mutex::new(open));
        (Self { entered, open }, arrived, key)
    }

    fn pass(&self) {
        self.entered.send(()).expect("the test listens");
        let open = self.open.lock().expect("no thread panicked");
        open.recv().expect("the test opens the gate");
    }
}

pub(crate) const REFUSE: u64 = 1;
pub(crate) const PANIC: u64 = 2;

impl Agent for Last {
    fn describe(&self) -> DescribeResponse {
        DescribeResponse {
            name: "last".to_owned(),
            bots: vec![Bot {
                name: "last".to_owned(),
                rulesets: vec!["kalah".to_owned()],
                options: vec![option::integer("back", 0, 0..=5, "how far from the last")],
                ..Bot::default()
            }],
            ..DescribeResponse::default()
        }
    }

    fn thinks_long(&self) -> bool {
        !self.quick
    }

    fn choose(&mut self, question: &Question<'_>) -> Result<Choice, Refusal> {
        match question.decision().seed {
            REFUSE => return Err(Refusal::new("no such position")),
            PANIC => {
                self.half_done = true;
                panic!("out of ideas");
            }
            _ if self.half_done => panic!("played on after a panic"),
            _ => {}
        }
        if let Some(gate) = &self.gate {
            gate.pass();
        }
        let back: usize = question.option_or("back", 0)?;
        let legal = question.legal_moves();
        Ok(Choice::from(legal[legal.len() - 1 - back]).depth(1))
    }
}

pub(crate) fn context() -> GameContext {
    GameContext {
        ruleset: "kalah".to_owned(),
        rules_version: 1,
        seats: 2,
        ..GameContext::default()
    }
}

pub(crate) fn decision(slot: u32, seed: u64) -> Decision {
    Decision {
        slot,
        seed,
        legal_moves: vec![0, 1, slot + 2],
        ..Decision::default()
    }
}

pub(crate) fn question(seed: u64) -> ChooseMoveRequest {
    ChooseMoveRequest {
        context: Some(context()),
        decision: Some(decision(0, seed)),
        time_budget_us: 0,
    }
}

pub(crate) fn batch(number: u64, seeds: &[u64]) -> ChooseMovesRequest {
    ChooseMovesRequest {
        contexts: vec![context()],
        decisions: (0..)
            .zip(seeds)
            .map(|(slot, &seed)| decision(slot, seed))
            .collect(),
        time_budget_us: 0,
        batch: number,
    }
}
