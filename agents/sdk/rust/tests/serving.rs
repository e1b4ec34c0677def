//! What a served agent promises to whoever asks it.

use std::{
    fs,
    os::unix::net::UnixListener,
    sync::{Arc, Mutex, mpsc},
    time::Duration,
};

use arena_sdk::{
    Agent, Choice, Listen, ListenError, Listener, Question, Refusal, ServeError, option, serve,
    v1::{
        Bot, ChooseMoveRequest, ChooseMovesRequest, Decision, DescribeRequest, DescribeResponse,
        GameContext, OptionValue, agent_service_client::AgentServiceClient,
    },
};
use tokio::{
    sync::{
        mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
        oneshot,
    },
    task::JoinHandle,
    time::timeout,
};
use tokio_stream::{StreamExt, iter, wrappers::ReceiverStream};
use tonic::{
    Code,
    transport::{Channel, Endpoint},
};
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};

/// A server in this process and a connection to it.
struct Served {
    channel: Channel,
    stop: oneshot::Sender<()>,
    server: JoinHandle<Result<(), ServeError>>,
}

impl Served {
    async fn start(agent: impl Agent) -> Self {
        let listener = Listener::bind(&Listen::default()).await.expect("a port");
        Self::start_on(agent, listener).await
    }

    async fn start_on(agent: impl Agent, listener: Listener) -> Self {
        let address = match listener.address() {
            Listen::Tcp(address) => format!("http://{address}"),
            Listen::Unix(path) => format!("unix://{}", path.display()),
        };
        let (stop, stopped) = oneshot::channel::<()>();
        let server = tokio::spawn(serve(agent, listener, async {
            // A dropped sender means the same.
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

    fn agent(&self) -> AgentServiceClient<Channel> {
        AgentServiceClient::new(self.channel.clone())
    }

    async fn health(&self) -> ServingStatus {
        let mut health = HealthClient::new(self.channel.clone());
        let answer = health.check(HealthCheckRequest::default()).await;
        answer.expect("an answer").into_inner().status()
    }
}

/// Plays the last legal move; does odd things at odd seeds.
#[derive(Clone, Default)]
struct Last {
    quick: bool,
    gate: Option<Gate>,
    /// A panic leaves it true, as it might leave anything half done.
    half_done: bool,
}

/// Holds the agent while it thinks.
#[derive(Clone)]
struct Gate {
    entered: UnboundedSender<()>,
    open: Arc<Mutex<mpsc::Receiver<()>>>,
}

impl Gate {
    /// The gate, word that the agent came to it, and the key to it.
    fn new() -> (Self, UnboundedReceiver<()>, mpsc::Sender<()>) {
        let (entered, arrived) = unbounded_channel();
        let (key, open) = mpsc::channel();
        let open = Arc::new(Mutex::new(open));
        (Self { entered, open }, arrived, key)
    }

    fn pass(&self) {
        self.entered.send(()).expect("the test listens");
        let open = self.open.lock().expect("nobody panicked");
        open.recv().expect("the test opens the gate");
    }
}

const REFUSE: u64 = 1;
const PANIC: u64 = 2;

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

fn context() -> GameContext {
    GameContext {
        ruleset: "kalah".to_owned(),
        rules_version: 1,
        seats: 2,
        ..GameContext::default()
    }
}

fn decision(slot: u32, seed: u64) -> Decision {
    Decision {
        slot,
        seed,
        legal_moves: vec![0, 1, slot + 2],
        ..Decision::default()
    }
}

fn question(seed: u64) -> ChooseMoveRequest {
    ChooseMoveRequest {
        context: Some(context()),
        decision: Some(decision(0, seed)),
        time_budget_us: 0,
    }
}

fn batch(number: u64, seeds: &[u64]) -> ChooseMovesRequest {
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

#[tokio::test]
async fn an_agent_tells_of_itself_and_of_its_health() {
    let served = Served::start(Last::default()).await;
    let told = served
        .agent()
        .describe(DescribeRequest {})
        .await
        .expect("an answer");
    assert_eq!(told.into_inner().bots[0].options[0].max, "5");
    assert_eq!(served.health().await, ServingStatus::Serving);
}

#[tokio::test]
async fn reflection_lists_the_services_in_both_versions() {
    macro_rules! services {
        ($version:ident, $channel:expr) => {{
            use tonic_reflection::pb::$version::{
                ServerReflectionRequest, server_reflection_client::ServerReflectionClient,
                server_reflection_request::MessageRequest,
                server_reflection_response::MessageResponse,
            };
            let ask = |request| ServerReflectionRequest {
                host: String::new(),
                message_request: Some(request),
            };
            let asked = [
                ask(MessageRequest::ListServices(String::new())),
                ask(MessageRequest::FileContainingSymbol(
                    "grpc.health.v1.Health".to_owned(),
                )),
                ask(MessageRequest::FileContainingSymbol(
                    "arena.v1.AgentService".to_owned(),
                )),
            ];
            let mut client = ServerReflectionClient::new($channel);
            let answers = client.server_reflection_info(iter(asked)).await;
            let answers = answers.expect("an answer").into_inner();
            let mut names = Vec::new();
            let mut files = 0;
            for answer in answers.collect::<Vec<_>>().await {
                match answer.expect("an answer").message_response {
                    Some(MessageResponse::ListServicesResponse(list)) => {
                        names.extend(list.service.into_iter().map(|service| service.name));
                    }
                    Some(MessageResponse::FileDescriptorResponse(_)) => files += 1,
                    other => panic!("{other:?}"),
                }
            }
            assert_eq!(files, 2);
            names.sort();
            names
        }};
    }
    let served = Served::start(Last::default()).await;
    let expected = [
        "arena.v1.AgentService",
        "grpc.health.v1.Health",
        "grpc.reflection.v1.ServerReflection",
        "grpc.reflection.v1alpha.ServerReflection",
    ];
    assert_eq!(services!(v1, served.channel.clone()), expected);
    assert_eq!(services!(v1alpha, served.channel.clone()), expected);
}

#[tokio::test]
async fn questions_are_answered_alone_and_in_batches() {
    for quick in [true, false] {
        let served = Served::start(Last {
            quick,
            ..Last::default()
        })
        .await;
        let alone = served
            .agent()
            .choose_move(question(0))
            .await
            .expect("an answer");
        assert_eq!(alone.get_ref().move_id, 2);
        let info = alone.into_inner().info.expect("info");
        assert_eq!(info.depth, Some(1));
        assert!(info.thinking_us.is_some());

        let batches = iter([batch(7, &[0, 0, 0]), batch(8, &[]), batch(9, &[0])]);
        let answers = served
            .agent()
            .choose_moves(batches)
            .await
            .expect("a stream");
        let answers: Vec<_> = answers.into_inner().collect::<Vec<_>>().await;
        let told: Vec<_> = answers
            .into_iter()
            .map(|answer| {
                let answer = answer.expect("an answer");
                let choices = answer.choices.iter();
                let chosen: Vec<_> = choices
                    .map(|choice| (choice.slot, choice.move_id))
                    .collect();
                (answer.batch, chosen)
            })
            .collect();
        assert_eq!(
            told,
            [
                (7, vec![(0, 2), (1, 3), (2, 4)]),
                (8, vec![]),
                (9, vec![(0, 2)])
            ],
        );
    }
}

#[tokio::test]
async fn a_bad_decision_in_a_batch_costs_the_others_nothing() {
    let mut bad_context = batch(1, &[0, 0, 0]);
    bad_context.decisions[1].context = 4;
    let mut no_moves = batch(1, &[0, 0, 0]);
    no_moves.decisions[1].legal_moves.clear();
    let mut unknown_bot = batch(1, &[0, 0, 0]);
    unknown_bot.contexts.push(GameContext {
        bot: "lats".to_owned(),
        ..context()
    });
    unknown_bot.decisions[1].context = 1;
    for (request, reason) in [
        (batch(1, &[0, REFUSE, 0]), "no such position"),
        (bad_context, "names context 4 of 1"),
        (no_moves, "no legal moves"),
        (unknown_bot, "unknown bot \"lats\"; there are last"),
    ] {
        let served = Served::start(Last::default()).await;
        let answers = served
            .agent()
            .choose_moves(iter([request]))
            .await
            .expect("a stream");
        let mut answers = answers.into_inner();
        let answer = answers.next().await.expect("a message").expect("an answer");
        let slots: Vec<_> = answer.choices.iter().map(|choice| choice.slot).collect();
        assert_eq!(slots, [0, 2], "{reason}");
        let status = answers
            .next()
            .await
            .expect("a message")
            .expect_err("a status");
        assert_eq!(status.code(), Code::InvalidArgument, "{reason}");
        assert!(status.message().contains(reason), "{status}");
    }
}

#[tokio::test]
async fn questions_that_make_no_sense_are_invalid_arguments() {
    let mut nothing = question(0);
    nothing.context = None;
    let ruleset = |ruleset: &str| ChooseMoveRequest {
        context: Some(GameContext {
            ruleset: ruleset.to_owned(),
            ..context()
        }),
        ..question(0)
    };
    let with_option = |name: &str, value: &str| ChooseMoveRequest {
        context: Some(GameContext {
            bot_options: vec![OptionValue {
                name: name.to_owned(),
                value: value.to_owned(),
            }],
            ..context()
        }),
        ..question(0)
    };
    let served = Served::start(Last::default()).await;
    for (request, reason) in [
        (nothing, "needs a context and a decision"),
        (question(REFUSE), "no such position"),
        (
            ruleset("cowry"),
            "bot last does not play cowry; it plays kalah",
        ),
        (
            with_option("bakc", "1"),
            "has no option \"bakc\"; it has back",
        ),
        (
            with_option("back", "x"),
            "option \"back\": cannot read \"x\"",
        ),
    ] {
        let status = served
            .agent()
            .choose_move(request)
            .await
            .expect_err("a status");
        assert_eq!(status.code(), Code::InvalidArgument, "{reason}");
        assert!(status.message().contains(reason), "{status}");
    }
    let fine = served.agent().choose_move(with_option("back", "1")).await;
    assert_eq!(fine.expect("an answer").into_inner().move_id, 1);
}

#[tokio::test]
async fn a_panic_is_an_internal_error_and_the_process_goes_on() {
    for quick in [true, false] {
        let served = Served::start(Last {
            quick,
            ..Last::default()
        })
        .await;
        let status = served
            .agent()
            .choose_move(question(PANIC))
            .await
            .expect_err("a status");
        assert_eq!(status.code(), Code::Internal);
        assert!(status.message().contains("out of ideas"), "{status}");
        let batches = iter([batch(1, &[0, PANIC, 0])]);
        let answers = served
            .agent()
            .choose_moves(batches)
            .await
            .expect("a stream");
        let mut answers = answers.into_inner();
        let answer = answers.next().await.expect("a message").expect("an answer");
        assert_eq!(answer.choices[0].slot, 0);
        let status = answers
            .next()
            .await
            .expect("a message")
            .expect_err("a status");
        assert_eq!(status.code(), Code::Internal);
        let again = served
            .agent()
            .choose_move(question(0))
            .await
            .expect("an answer");
        assert_eq!(again.into_inner().move_id, 2);
    }
}

#[tokio::test]
async fn health_is_told_while_the_agent_thinks() {
    let (gate, mut arrived, key) = Gate::new();
    let served = Served::start(Last {
        gate: Some(gate),
        ..Last::default()
    })
    .await;
    let mut agent = served.agent();
    let thinking = tokio::spawn(async move { agent.choose_move(question(0)).await });
    arrived.recv().await.expect("the agent thinks");
    assert_eq!(served.health().await, ServingStatus::Serving);
    assert!(!thinking.is_finished());
    key.send(()).expect("the agent waits");
    let answer = thinking.await.expect("no panic").expect("an answer");
    assert_eq!(answer.into_inner().move_id, 2);
}

#[tokio::test]
async fn an_end_finishes_what_is_thought_about_and_closes_streams() {
    let (gate, mut arrived, key) = Gate::new();
    let served = Served::start(Last {
        gate: Some(gate),
        ..Last::default()
    })
    .await;
    let (send, receive) = tokio::sync::mpsc::channel(4);
    send.send(batch(1, &[0])).await.expect("room");
    let answers = served
        .agent()
        .choose_moves(ReceiverStream::new(receive))
        .await;
    let mut answers = answers.expect("a stream").into_inner();
    arrived.recv().await.expect("the agent thinks");
    served.stop.send(()).expect("the server runs");
    key.send(()).expect("the agent waits");
    let answer = answers.next().await.expect("a message").expect("an answer");
    assert_eq!(answer.choices[0].move_id, 2);
    let next = timeout(Duration::from_secs(60), answers.next()).await;
    assert!(next.expect("the stream ends").is_none());
    served.server.await.expect("no panic").expect("a clean end");
}

#[tokio::test]
async fn messages_beyond_the_bound_are_refused() {
    let served = Served::start(Last::default()).await;
    let mut request = question(0);
    if let Some(decision) = &mut request.decision {
        decision.position = vec![0; 5 << 20];
    }
    let status = served
        .agent()
        .choose_move(request)
        .await
        .expect_err("a status");
    assert_eq!(status.code(), Code::OutOfRange, "{status}");
}

#[tokio::test]
async fn a_socket_left_behind_is_taken_over_and_one_in_use_is_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("agent.sock");
    let listen = Listen::Unix(path.clone());
    // A listener that is closed leaves its file.
    drop(UnixListener::bind(&path).expect("a socket"));
    assert!(path.exists());

    let listener = Listener::bind(&listen)
        .await
        .expect("the stale socket is removed");
    let second = Listener::bind(&listen).await.expect_err("it is in use");
    assert!(matches!(second, ListenError::Taken(_)), "{second}");
    let served = Served::start_on(Last::default(), listener).await;
    assert_eq!(served.health().await, ServingStatus::Serving);
    served.stop.send(()).expect("the server runs");
    served.server.await.expect("no panic").expect("a clean end");
    assert!(!path.exists(), "the socket's file is removed");

    fs::write(&path, "notes").expect("a file");
    let third = Listener::bind(&listen)
        .await
        .expect_err("a file is in the way");
    assert!(matches!(third, ListenError::File(_)), "{third}");
    assert_eq!(fs::read_to_string(&path).expect("the file"), "notes");
}

#[tokio::test]
async fn a_port_in_use_is_named() {
    let first = Listener::bind(&Listen::default()).await.expect("a port");
    let error = Listener::bind(first.address())
        .await
        .expect_err("it is in use");
    let expected = format!("cannot listen on {}: another process does", first.address());
    assert_eq!(error.to_string(), expected);
}

#[test]
fn addresses_are_read_and_written_alike() {
    for text in [
        "127.0.0.1:0",
        "[::1]:7100",
        "localhost:80",
        "unix:/tmp/a b.sock",
    ] {
        let listen: Listen = text.parse().expect("an address");
        assert_eq!(listen.to_string(), text);
    }
    for text in [
        "",
        "unix:",
        "7100",
        ":7100",
        "127.0.0.1:",
        "127.0.0.1:70000",
        "host:x",
    ] {
        let error = text.parse::<Listen>().expect_err("no address");
        assert!(
            error.to_string().contains("unix:PATH or HOST:PORT"),
            "{error}"
        );
    }
}
