use arena_access::Credentials;
use arena_tests::{World, fleet::Usage, spec};
use arena_wire::v1::{self, agent::Source, coordinator_service_client::CoordinatorServiceClient};
use prost::Message;

#[test]
fn tokens_have_limits() {
    let world = World::new();
    let wrong = ["--limit", "submitter.agent=1"];
    let wrong = world.arena(&[&["coordinator", "--data", "data"][..], &wrong].concat());
    wrong.fails(2, &["unknown limit", "agents, tournaments"]);
    let limit = ["--limit", "submitter.agents=1,worker.streams=9"];
    let coordinator = world.coordinator("data", &limit);
    let url = coordinator.url();
    let new = ["token", "create", "--coordinator", &url, "--role"];
    for (role, limit, expected) in [
        ("submitter", "agent=1", "unknown limit \"agent\""),
        (
            "submitter",
            "agents=x",
            "expected a number from 0, or unlimited",
        ),
        (
            "viewer",
            "agents=1",
            "only the limits streams and requests-per-second",
        ),
    ] {
        let flags = [&new[..], &[role, "--limit", limit]].concat();
        world.arena(&flags).fails(2, &[expected]);
    }
    for (file, role, limits) in [
        (
            "a.token",
            "submitter",
            &["--limit", "requests-per-second=5"][..],
        ),
        (
            "b.token",
            "submitter",
            &["--limit", "agents=2", "--limit", "games=10"],
        ),
        ("w.token", "worker", &["--limit", "requests-per-second=5"]),
    ] {
        let flags = [&["--role", role, "--write", file][..], limits].concat();
        let create = ["token", "create", "--coordinator", &url];
        let _ = world.arena(&[&create[..], &flags].concat()).ok();
    }
    let listed = ["token", "list", "--coordinator", &url];
    let table = world.arena(&listed).ok().stdout;
    assert!(table.contains("agents=2 games=10"), "{table}");
    let json = world
        .arena(&[&listed[..], &["--output", "json"]].concat())
        .ok();
    assert!(json.stdout.contains("\"agents\": 2"), "{}", json.stdout);
    let register = |token, name| {
        let of = ["--coordinator", &url, "--token-file", token];
        let flags = ["agent", "register", name, "--bot", "random"];
        world.arena(&[&flags[..], &of].concat())
    };
    for (token, names) in [
        ("a.token", &["a1", "a2"][..]),
        ("b.token", &["b1", "b2", "b3"]),
    ] {
        let (last, first) = names.split_last().expect("names");
        first
            .iter()
            .for_each(|name| drop(register(token, name).ok()));
        let expected = match first.len() {
            1 => "at most 1 registered agent (agents)".to_owned(),
            several => format!("at most {several} registered agents (agents)"),
        };
        register(token, last).fails(1, &[&expected, "arena agent remove"]);
    }
    // Commands and workers with too many requests wait.
    let of = ["--coordinator", &url, "--token-file"];
    let worker = [
        &["worker", "--metrics", "127.0.0.1:0"],
        &of[..],
        &["w.token"],
    ]
    .concat();
    let _worker = world.server(&worker);
    let _ = world.write("cup.toml", spec("cup", "cowry", 10, &["a1", "random"], ""));
    let start = ["tournament", "start", "cup.toml", "--watch"];
    let excess = world.arena(&[&start[..], &of, &["b.token"]].concat());
    excess.fails(1, &["at most 10 games of running tournaments"]);
    let _ = world.arena(&[&start[..], &of, &["a.token"]].concat()).ok();
}

/// Registrations, and the maximum bytes of each.
const REGISTRATIONS: usize = 400;
const REGISTRATION_BYTES: usize = 128 << 10;
/// Maximum number of bots, options, rulesets, choices and arguments of a registration.
const PARTS: usize = 1_000;
/// Resident memory that a coordinator needs at most to start with them.
const START_MIB_MAX: u64 = 400;

/// Registers agents with this description, and restarts the coordinator.
async fn check_restart(bots: Vec<v1::Bot>) {
    let world = World::new();
    let coordinator = world.coordinator("data", &[]);
    let connect = |url: &str| {
        let connection = Credentials::found().connect_lazy(url);
        CoordinatorServiceClient::new(connection.expect("a URL"))
    };
    let mut user = connect(&coordinator.url());
    let agent = v1::Agent {
        source: Some(Source::Endpoint(v1::EndpointSource {
            url: "http://127.0.0.1:9".to_owned(),
            ..v1::EndpointSource::default()
        })),
        description: Some(v1::DescribeResponse {
            bots,
            ..v1::DescribeResponse::default()
        }),
        ..v1::Agent::default()
    };
    let bytes = agent.encoded_len() + "agent-000".len() + 2;
    assert!(bytes <= REGISTRATION_BYTES && bytes > REGISTRATION_BYTES * 9 / 10);
    for number in 0..REGISTRATIONS {
        let request = v1::RegisterAgentRequest {
            agent: Some(v1::Agent {
                name: format!("agent-{number}"),
                ..agent.clone()
            }),
            ..v1::RegisterAgentRequest::default()
        };
        user.register_agent(request).await.expect("it fits");
    }
    coordinator.stop();
    let coordinator = world.coordinator("data", &[]);
    let peak = Usage::of(coordinator.id()).expect("it runs").rss_peak_bytes >> 20;
    assert!(peak < START_MIB_MAX, "{peak} MiB");
    let mut user = connect(&coordinator.url());
    let last = v1::GetAgentRequest {
        name: format!("agent-{}", REGISTRATIONS - 1),
    };
    let kept = user.get_agent(last).await.expect("registered").into_inner();
    let kept = kept.agent.expect("an agent").description;
    assert_eq!(kept.map(|it| it.bots), agent.description.map(|it| it.bots));
    coordinator.stop();
}

#[tokio::test]
async fn restart_with_large_registrations_is_bounded() {
    check_restart(vec![v1::Bot {
        name: "large".to_owned(),
        summary: "x".repeat(REGISTRATION_BYTES - 100),
        ..v1::Bot::default()
    }])
    .await;
}

#[tokio::test]
async fn restart_with_registrations_of_many_options_is_bounded() {
    // Each takes more memory than any other part of a description.
    let option = |number| v1::BotOption {
        name: format!("option-{number:04}"),
        summary: "x".repeat(94),
        r#type: v1::OptionType::Integer.into(),
        default_value: "1".to_owned(),
        min: "0".to_owned(),
        max: "9".to_owned(),
        ..v1::BotOption::default()
    };
    check_restart(vec![v1::Bot {
        name: "many".to_owned(),
        options: (1..PARTS).map(option).collect(),
        ..v1::Bot::default()
    }])
    .await;
}
