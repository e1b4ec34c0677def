use arena_engine::{
    AgentRng, Game, Node, Stream,
    options::{Options, Value},
};
use arena_sdk::{
    v1::{
        ChooseMoveRequest, ChooseMovesRequest, Decision as Asked, DescribeRequest, GameContext,
        agent_service_client::AgentServiceClient,
    },
    wire::convert::options_to_wire,
};
use tokio_stream::{StreamExt, iter};
use tonic::{
    Code,
    transport::{Channel, Endpoint},
};

use super::*;
use crate::tests::{options, plays, quick, seed};

/// Questions along random games, with the bot's choices in process.
struct Ask<'a> {
    bot: &'a str,
    bot_options: &'a Options,
    games: u64,
}

impl Visitor for Ask<'_> {
    type Out = Vec<(Asked, u32)>;

    fn visit<G: Game>(self, game: G) -> Self::Out {
        let mut bot = bot(self.bot, self.bot_options, &game).expect("a bot");
        let mut asked = Vec::new();
        for number in 0..self.games {
            let mut chance = Stream::new(&[number as u8; 32]);
            let mut moves = AgentRng::new(number);
            let mut state = game.initial();
            let mut legal = Vec::new();
            loop {
                match game.node(&state) {
                    Node::Over(_) => break,
                    Node::Chance(_) => {
                        let outcome = chance.weighted(game.weights(&state)) as u16;
                        game.apply_outcome(&mut state, outcome);
                    }
                    Node::Decision(seat) => {
                        game.legal(&state, &mut legal);
                        let decision = Decision {
                            game: &game,
                            state: &state,
                            seat,
                            number: asked.len() as u32,
                            seed: seed(number, seat, asked.len() as u32),
                            legal: &legal,
                            stop: Stop::NEVER,
                        };
                        let chosen = bot.choose(&decision).action;
                        let mut position = Vec::new();
                        // With and without details, which no bot may require.
                        game.encode(&state, asked.len() % 2 == 0, &mut position);
                        let question = Asked {
                            slot: asked.len() as u32,
                            context: 0,
                            seat: u32::from(seat),
                            number: decision.number,
                            seed: decision.seed,
                            position,
                            legal_moves: legal.iter().map(|&action| u32::from(action)).collect(),
                            notations: Vec::new(),
                            clock: None,
                            game: Vec::new(),
                            moves: Vec::new(),
                        };
                        asked.push((question, u32::from(chosen)));
                        game.apply(&mut state, moves.pick(&legal));
                    }
                }
            }
        }
        asked
    }
}

async fn start() -> AgentServiceClient<Channel> {
    let listener = Listener::bind(&Listen::default()).await.expect("a port");
    let address = format!("http://{}", listener.address());
    let bots = NativeBots::new(&[]).expect("all bots");
    tokio::spawn(arena_sdk::serve(bots, listener, std::future::pending()));
    let endpoint = Endpoint::from_shared(address).expect("an address");
    AgentServiceClient::new(endpoint.connect().await.expect("a connection"))
}

fn context(ruleset: &str, given: &str, bot: &str, bot_options: &Options) -> GameContext {
    let (options, seats) =
        arena_games::resolve(ruleset, &options(given), None).expect("options that fit");
    GameContext {
        ruleset: ruleset.to_owned(),
        rules_version: arena_games::ruleset(ruleset).expect("a ruleset").version,
        options: options_to_wire(&options),
        seats: seats as u32,
        bot: bot.to_owned(),
        bot_options: options_to_wire(bot_options),
        nodes: 0,
    }
}

fn ask(context: &GameContext, bot_options: &Options, games: u64) -> Vec<(Asked, u32)> {
    let ruleset = arena_games::ruleset(&context.ruleset).expect("a ruleset");
    let given = options_from_wire(&context.options);
    let seats = Some(context.seats as usize);
    let (options, seats) =
        arena_games::resolve(ruleset.name, &given, seats).expect("resolved options");
    let ask = Ask {
        bot: &context.bot,
        bot_options,
        games,
    };
    arena_games::visit(ruleset.name, &options, seats, ask).expect("a game")
}

#[tokio::test]
async fn served_bots_choose_as_in_process() {
    let mut agent = start().await;
    // The same batches contain contexts of all bots.
    let (mut contexts, mut decisions, mut expected) = (Vec::new(), Vec::new(), Vec::new());
    for info in bots() {
        let mut bot_options = quick(info);
        if info.options.iter().any(|spec| spec.name == "explore") {
            bot_options.insert("explore".to_owned(), Value::Real(0.1));
        }
        let claimed = arena_games::rulesets()
            .iter()
            .filter(|ruleset| info.rulesets.is_empty() || info.rulesets.contains(&ruleset.name));
        let variants = claimed.flat_map(|ruleset| {
            let presets = ruleset.presets.iter();
            let presets = presets.map(|preset| format!("preset={}", preset.name));
            let all = presets.chain(["-".to_owned()]);
            all.map(|given| (ruleset.name, given))
        });
        for (ruleset, given) in variants {
            let resolved = arena_games::resolve(ruleset, &options(&given), None);
            let (resolved, seats) = resolved.expect("a preset");
            if !plays(info, &bot_options, (ruleset, &resolved, seats)) {
                continue;
            }
            let context = context(ruleset, &given, info.name, &bot_options);
            for (number, (mut question, choice)) in
                ask(&context, &bot_options, 1).into_iter().enumerate()
            {
                if number % 10 == 0 {
                    let alone = agent
                        .choose_move(ChooseMoveRequest {
                            context: Some(context.clone()),
                            decision: Some(question.clone()),
                            time_budget_us: 0,
                        })
                        .await
                        .expect("an answer");
                    assert_eq!(
                        alone.into_inner().move_id,
                        choice,
                        "{context:?} {question:?}"
                    );
                }
                question.context = contexts.len() as u32;
                question.slot = decisions.len() as u32;
                decisions.push(question);
                expected.push(choice);
            }
            contexts.push(context);
        }
    }
    assert!(expected.len() > 5_000, "{}", expected.len());
    let batches: Vec<_> = decisions
        .chunks(256)
        .map(|decisions| ChooseMovesRequest {
            contexts: contexts.clone(),
            decisions: decisions.to_vec(),
            ..ChooseMovesRequest::default()
        })
        .collect();
    let answers = agent.choose_moves(iter(batches)).await.expect("a stream");
    let mut answers = answers.into_inner();
    let mut chosen = vec![None; expected.len()];
    while let Some(answer) = answers.next().await {
        for choice in answer.expect("an answer").choices {
            chosen[choice.slot as usize] = Some(choice.move_id);
        }
    }
    let expected: Vec<_> = expected.into_iter().map(Some).collect();
    assert_eq!(chosen, expected);
}

#[tokio::test]
async fn invalid_requests_are_refused_with_reason() {
    let mut agent = start().await;
    let none = Options::new();
    let right = context("kalah", "-", "random", &none);
    let (question, _) = ask(&right, &none, 1).swap_remove(3);
    let with = |change: &dyn Fn(&mut GameContext, &mut Asked)| {
        let (mut context, mut decision) = (right.clone(), question.clone());
        change(&mut context, &mut decision);
        ChooseMoveRequest {
            context: Some(context),
            decision: Some(decision),
            time_budget_us: 0,
        }
    };
    for (request, reason) in [
        (
            with(&|context, _| context.ruleset = "kala".to_owned()),
            "did you mean \"kalah\"?",
        ),
        (
            with(&|context, _| context.bot = "randm".to_owned()),
            "did you mean \"random\"?",
        ),
        (
            with(&|context, _| context.bot = "mixed".to_owned()),
            "bot mixed does not play kalah",
        ),
        (
            with(&|context, _| context.rules_version = 9),
            "kalah version 9 is not available",
        ),
        (
            with(&|context, _| context.seats = 3),
            "kalah is for 2 seats, not 3",
        ),
        (
            with(&|context, _| context.options[0].value = "perhaps".to_owned()),
            "perhaps",
        ),
        (
            with(&|context, _| {
                context.bot_options = options_to_wire(&options("depth=3"));
            }),
            "unknown option \"depth\"",
        ),
        (
            with(&|_, asked| asked.position = vec![0xff; 9]),
            "not a position of kalah",
        ),
        (with(&|_, asked| asked.seat = 1 - asked.seat), "is to move"),
        (
            with(&|_, asked| asked.legal_moves = vec![77]),
            "has the legal moves [77]",
        ),
        (
            with(&|_, asked| asked.legal_moves.clear()),
            "no legal moves",
        ),
    ] {
        let status = agent.choose_move(request).await.expect_err("a status");
        assert_eq!(status.code(), Code::InvalidArgument, "{reason}: {status}");
        assert!(status.message().contains(reason), "{reason}: {status}");
    }
    agent
        .choose_move(with(&|_, _| {}))
        .await
        .expect("an answer");
}

#[tokio::test]
async fn process_describes_all_bots() {
    let reported = start()
        .await
        .describe(DescribeRequest {})
        .await
        .expect("an answer")
        .into_inner();
    assert_eq!(reported, describe());
    let names: Vec<_> = reported.bots.iter().map(|bot| bot.name.as_str()).collect();
    let catalogue: Vec<_> = bots().iter().map(|info| info.name).collect();
    assert_eq!(names, catalogue);
    assert!(reported.omit_move_details);
    for (bot, info) in reported.bots.iter().zip(bots()) {
        let specs: Vec<_> = bot
            .options
            .iter()
            .map(arena_sdk::wire::convert::option_spec_from_wire)
            .collect::<Result<_, _>>()
            .expect("options that can be read");
        assert_eq!(specs, info.options);
    }
}

#[test]
fn process_offers_named_bots_only() {
    let some = NativeBots::new(&["mixed".to_owned(), "random".to_owned()]).expect("bots");
    let names: Vec<_> = some
        .describe()
        .bots
        .into_iter()
        .map(|bot| bot.name)
        .collect();
    assert_eq!(names, ["mixed", "random"]);
    let none = Options::new();
    assert!(some.player(&context("cowry", "-", "", &none)).is_ok());
    let refused = some.player(&context("cowry", "-", "aggressive", &none));
    assert_eq!(
        refused.err().expect("a refusal").to_string(),
        "unknown bot aggressive; this process offers mixed, random",
    );
    assert!(NativeBots::new(&["mixd".to_owned()]).is_err());
}
