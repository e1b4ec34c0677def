//! Tests of a served agent through its clients.

mod fixture;
mod listening;

use std::time::Duration;

use arena_sdk::v1::{ChooseMoveRequest, DescribeRequest, GameContext, OptionValue};
use tokio::time::timeout;
use tokio_stream::{StreamExt, iter, wrappers::ReceiverStream};
use tonic::Code;
use tonic_health::pb::health_check_response::ServingStatus;

use fixture::{Gate, Last, PANIC, REFUSE, Served, batch, context, question};

#[tokio::test]
async fn agent_reports_description_and_health() {
    let served = Served::start(Last::default()).await;
    let reported = served
        .agent()
        .describe(DescribeRequest {})
        .await
        .expect("an answer");
    assert_eq!(reported.into_inner().bots[0].options[0].max, "5");
    assert_eq!(served.health().await, ServingStatus::Serving);
}

#[tokio::test]
async fn reflection_lists_services_in_both_versions() {
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
        let reported: Vec<_> = answers
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
            reported,
            [
                (7, vec![(0, 2), (1, 3), (2, 4)]),
                (8, vec![]),
                (9, vec![(0, 2)])
            ],
        );
    }
}

#[tokio::test]
async fn bad_decision_costs_no_other() {
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
        (bad_context, "refers to context 4, but there are 1"),
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
async fn meaningless_questions_are_invalid_arguments() {
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
async fn panic_is_internal_error() {
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
async fn health_is_reported_while_the_agent_thinks() {
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
async fn shutdown_finishes_open_answers() {
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
async fn oversized_messages_are_refused() {
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
