//! Registering agents and their binaries.

use arena_wire::{
    networks::AgentNetworks,
    reasons,
    v1::{self, agent::Source, upload_binary_request::Part},
};
use sha2::{Digest, Sha256};
use tonic::{Code, Status};

use crate::Options;

use super::fixture::{Fixture, SPEC, memory, native, options as options_of, refused};

pub(super) fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

pub(super) async fn upload(
    arena: &mut Fixture,
    sha256: &str,
    bytes: &[u8],
) -> Result<v1::UploadBinaryResponse, Status> {
    let answer = arena
        .coordinator
        .upload_binary(parts(sha256, bytes))
        .await?;
    Ok(answer.into_inner())
}

/// The messages of an upload.
pub(super) fn parts(
    sha256: &str,
    bytes: &[u8],
) -> impl tokio_stream::Stream<Item = v1::UploadBinaryRequest> + use<> {
    let header = v1::BinaryHeader {
        sha256: sha256.to_owned(),
        size_bytes: bytes.len() as u64,
    };
    let mut parts = vec![Part::Header(header)];
    parts.extend(bytes.chunks(1000).map(|chunk| Part::Chunk(chunk.to_vec())));
    let parts = parts.into_iter();
    tokio_stream::iter(parts.map(|part| v1::UploadBinaryRequest { part: Some(part) }))
}

pub(super) fn binary(name: &str, bytes: &[u8], version: &str) -> v1::Agent {
    v1::Agent {
        name: name.to_owned(),
        version: version.to_owned(),
        source: Some(Source::Binary(v1::BinarySource {
            sha256: sha256(bytes),
            file_name: "agent".to_owned(),
            args: vec!["--serve".to_owned()],
            limits: None,
        })),
        ..Default::default()
    }
}

pub(super) fn endpoint(name: &str, url: &str) -> v1::Agent {
    v1::Agent {
        name: name.to_owned(),
        source: Some(Source::Endpoint(v1::EndpointSource {
            url: url.to_owned(),
            ..v1::EndpointSource::default()
        })),
        ..Default::default()
    }
}

pub(super) async fn register(
    arena: &mut Fixture,
    agent: v1::Agent,
    replace: bool,
) -> Result<v1::Agent, Status> {
    let request = v1::RegisterAgentRequest {
        request_id: String::new(),
        agent: Some(agent),
        replace,
    };
    let answer = arena.coordinator.register_agent(request).await?;
    Ok(answer.into_inner().agent.expect("an agent"))
}

#[tokio::test]
async fn binary_is_uploaded_registered_fetched() {
    let mut arena = Fixture::new().await;
    let bytes: Vec<u8> = (0..700_000u32).map(|n| n as u8).collect();
    let answer = register(&mut arena, binary("mine", &bytes, ""), false).await;
    refused(answer, Code::InvalidArgument, reasons::BINARY_INVALID);
    let name = sha256(&bytes);
    assert!(
        !upload(&mut arena, &name, &bytes)
            .await
            .expect("taken")
            .known
    );
    assert!(
        upload(&mut arena, &name, &bytes)
            .await
            .expect("taken")
            .known
    );
    let agent = register(&mut arena, binary("mine", &bytes, ""), false).await;
    let agent = agent.expect("registered");
    assert_eq!((agent.content.len(), agent.version.len()), (64, 12));
    assert!(agent.content.starts_with(&agent.version));
    let mut worker = arena.join("one").await;
    let request = v1::FetchBinaryRequest {
        sha256: name,
        ..Default::default()
    };
    let mut chunks = worker
        .client
        .fetch_binary(request)
        .await
        .expect("known")
        .into_inner();
    let mut fetched = Vec::new();
    while let Some(chunk) = chunks.message().await.expect("sent") {
        fetched.extend(chunk.chunk);
    }
    assert_eq!(fetched, bytes);
    let request = v1::FetchBinaryRequest {
        sha256: "0".repeat(64),
        ..Default::default()
    };
    let answer = worker.client.fetch_binary(request).await;
    refused(answer.map(|_| ()), Code::NotFound, reasons::UNKNOWN_BINARY);
}

#[tokio::test]
async fn upload_is_checked_by_digest_and_size() {
    let mut arena = Fixture::new().await;
    let wrong = upload(&mut arena, &sha256(b"other"), b"bytes").await;
    refused(wrong, Code::InvalidArgument, reasons::BINARY_INVALID);
    let wrong = upload(&mut arena, "not hex", b"bytes").await;
    refused(wrong, Code::InvalidArgument, reasons::BINARY_INVALID);
    let short = v1::BinaryHeader {
        sha256: sha256(b"bytes"),
        size_bytes: 6,
    };
    let parts = [Part::Header(short), Part::Chunk(b"bytes".to_vec())]
        .map(|part| v1::UploadBinaryRequest { part: Some(part) });
    let answer = arena
        .coordinator
        .upload_binary(tokio_stream::iter(parts))
        .await;
    refused(answer, Code::InvalidArgument, reasons::BINARY_INVALID);
    let answer = register(&mut arena, binary("mine", b"bytes", ""), false).await;
    refused(answer, Code::InvalidArgument, reasons::BINARY_INVALID);
}

#[tokio::test]
async fn name_keeps_content_unless_replaced() {
    let mut arena = Fixture::new().await;
    for bytes in [b"first", b"other"] {
        upload(&mut arena, &sha256(bytes), bytes)
            .await
            .expect("taken");
    }
    let first = binary("mine", b"first", "1");
    let registered = register(&mut arena, first.clone(), false)
        .await
        .expect("new");
    let again = register(&mut arena, first, false).await.expect("the same");
    assert_eq!(again, registered);
    // An agent of another name and with other bytes may have the same version.
    let other = register(&mut arena, binary("other", b"other", "1"), false)
        .await
        .expect("another agent");
    let answer = register(&mut arena, binary("mine", b"other", "1"), false).await;
    let message = refused(answer, Code::InvalidArgument, reasons::AGENT_CONFLICT);
    for named in [&registered.content[..12], &other.content[..12], "--replace"] {
        assert!(message.contains(named), "{message}");
    }
    let answer = register(&mut arena, binary("mine", b"other", "2"), false).await;
    refused(answer, Code::InvalidArgument, reasons::AGENT_CONFLICT);
    let replaced = register(&mut arena, binary("mine", b"other", "1"), true)
        .await
        .expect("replaced");
    assert_eq!(replaced.content, other.content);
    // The version label may change if the content stays.
    let label = register(&mut arena, binary("mine", b"other", "3"), false).await;
    assert_eq!(label.expect("the same content").version, "3");
}

#[tokio::test]
async fn reregistered_endpoint_has_later_time() {
    let mut arena = Fixture::new().await;
    let mut before = 0;
    for _ in 0..3 {
        let agent = register(&mut arena, endpoint("far", "unix:/run/far"), false).await;
        let at = agent.expect("registered").registered_unix_us;
        assert!(at > before);
        before = at;
    }
    let answer = register(&mut arena, endpoint("far", "unix:/run/other"), false).await;
    refused(answer, Code::InvalidArgument, reasons::AGENT_CONFLICT);
}

#[tokio::test]
async fn names_and_sources_are_checked() {
    let mut arena = Fixture::new().await;
    for (agent, reason) in [
        (
            endpoint("Mine!", "http://127.0.0.1:1"),
            reasons::NAME_INVALID,
        ),
        (
            endpoint("random", "http://127.0.0.1:1"),
            reasons::AGENT_CONFLICT,
        ),
        (endpoint("mine", "127.0.0.1:1"), reasons::REQUEST_INVALID),
        (endpoint("mine", "unix:relative"), reasons::REQUEST_INVALID),
        (
            v1::Agent {
                name: "mine".to_owned(),
                ..Default::default()
            },
            reasons::REQUEST_INVALID,
        ),
        (
            v1::Agent {
                description: Some(v1::DescribeResponse {
                    bots: vec![native().bots.remove(0); 1_001],
                    ..native()
                }),
                ..endpoint("mine", "http://127.0.0.1:1")
            },
            reasons::REQUEST_INVALID,
        ),
        (
            v1::Agent {
                bot: "x".repeat(129 << 10),
                ..endpoint("mine", "http://127.0.0.1:1")
            },
            reasons::REQUEST_INVALID,
        ),
    ] {
        let answer = register(&mut arena, agent, true).await;
        refused(answer, Code::InvalidArgument, reason);
    }
    for url in ["http://127.0.0.1:1", "http://host:50051", "unix:/run/agent"] {
        register(&mut arena, endpoint("mine", url), true)
            .await
            .expect(url);
    }
}

#[tokio::test]
async fn special_endpoints_are_refused() {
    let mut arena = Fixture::with(Options {
        agent_networks: AgentNetworks::default(),
        ..options_of(memory())
    })
    .await;
    for (url, kind) in [
        ("http://169.254.169.254:80", "a link-local address"),
        ("http://[fd00:ec2::254]:80", "a metadata service's address"),
        ("http://[::ffff:169.254.169.254]:80", "a link-local address"),
        ("http://224.0.0.1:80", "a multicast address"),
        ("http://0.0.0.0:80", "an unspecified address"),
        ("unix:/run/docker.sock", "--allow-endpoint unix"),
    ] {
        let answer = register(&mut arena, endpoint("mine", url), true).await;
        let status = answer.expect_err(url);
        assert!(status.message().contains(kind), "{status:?}");
        refused(
            Err::<(), _>(status),
            Code::InvalidArgument,
            reasons::REQUEST_INVALID,
        );
    }
    for url in ["http://127.0.0.1:1", "http://[::1]:1", "http://host:1"] {
        let answer = register(&mut arena, endpoint("mine", url), true).await;
        assert!(answer.is_ok(), "{url}: {answer:?}");
    }
}

#[tokio::test]
async fn native_bots_are_always_listed() {
    let mut arena = Fixture::new().await;
    register(&mut arena, endpoint("zed", "unix:/run/zed"), false)
        .await
        .expect("new");
    let mut names = Vec::new();
    let mut request = v1::ListAgentsRequest {
        page_size: 3,
        ..Default::default()
    };
    loop {
        let page = arena.coordinator.list_agents(request.clone()).await;
        let page = page.expect("answered").into_inner();
        names.extend(page.agents.into_iter().map(|agent| agent.name));
        request.page_token = page.next_page_token;
        if request.page_token.is_empty() {
            break;
        }
    }
    assert_eq!(names, ["aggressive", "mcts", "minimax", "random", "zed"]);
    let remove = |name: &str| v1::RemoveAgentRequest {
        request_id: String::new(),
        name: name.to_owned(),
    };
    arena
        .coordinator
        .remove_agent(remove("zed"))
        .await
        .expect("removed");
    let gone = arena.coordinator.remove_agent(remove("zed")).await;
    refused(gone, Code::NotFound, reasons::UNKNOWN_AGENT);
    let native = arena.coordinator.remove_agent(remove("random")).await;
    refused(native, Code::InvalidArgument, reasons::AGENT_CONFLICT);
}

#[tokio::test]
async fn tournament_keeps_its_agents() {
    let mut arena = Fixture::new().await;
    register(&mut arena, endpoint("mine", "unix:/run/first"), false)
        .await
        .expect("new");
    let spec = SPEC.replace("minimax", "mine");
    arena.start(&spec).await;
    register(&mut arena, endpoint("mine", "unix:/run/second"), true)
        .await
        .expect("replaced");
    let lease = arena.join("one").await.lease().await;
    let mine = &lease.setup.expect("sent").agents[1];
    let Some(v1::agent_setup::Source::Endpoint(endpoint)) = &mine.source else {
        panic!("{mine:?}");
    };
    assert_eq!(endpoint.url, "unix:/run/first");
}

#[tokio::test]
async fn agent_without_description_has_no_options() {
    let mut arena = Fixture::new().await;
    register(&mut arena, endpoint("mine", "unix:/run/mine"), false)
        .await
        .expect("new");
    let variant = |options: &str| {
        let listed = SPEC.replace("minimax", "variant");
        format!("{listed}[[agent]]\nname = \"variant\"\nbot = \"any\"\nfrom = \"mine\"\n{options}")
    };
    let answer = arena
        .try_start(&variant("options = { depth = 3 }"), false)
        .await;
    refused(answer, Code::InvalidArgument, reasons::OPTION_INVALID);
    arena.start(&variant("")).await;
}

/// A process with one bot that has a depth and weights, and plays any ruleset.
fn described(name: &str) -> v1::Agent {
    let option = |name: &str, kind: v1::OptionType, default: &str| v1::BotOption {
        name: name.to_owned(),
        r#type: kind.into(),
        default_value: default.to_owned(),
        length: if kind == v1::OptionType::Numbers {
            2
        } else {
            0
        },
        ..Default::default()
    };
    v1::Agent {
        description: Some(v1::DescribeResponse {
            name: "program".to_owned(),
            bots: vec![v1::Bot {
                name: "deep".to_owned(),
                options: vec![
                    option("depth", v1::OptionType::Integer, "1"),
                    option("weights", v1::OptionType::Numbers, "[0.0, 0.0]"),
                ],
                ..Default::default()
            }],
            ..Default::default()
        }),
        ..endpoint(name, "unix:/run/deep")
    }
}

fn options(pairs: &[(&str, &str)]) -> Vec<v1::OptionValue> {
    let pairs = pairs.iter();
    pairs
        .map(|(name, value)| v1::OptionValue {
            name: (*name).to_owned(),
            value: (*value).to_owned(),
        })
        .collect()
}

#[tokio::test]
async fn registered_options_keep_their_types() {
    let mut arena = Fixture::new().await;
    let given = |pairs: &[(&str, &str)]| v1::Agent {
        options: options(pairs),
        ..described("mine")
    };
    let kept = options(&[("depth", "2"), ("weights", "[0.5, -1.2435865769793337]")]);
    for pairs in [
        [("depth", "02"), ("weights", ".5, -1.2435865769793337")],
        [("weights", "[0.5,-1.2435865769793337]"), ("depth", "2")],
    ] {
        let agent = register(&mut arena, given(&pairs), false).await;
        assert_eq!(agent.expect("the same").options, kept);
    }
    for pairs in [
        &[("depth", "2"), ("depth", "3")][..],
        &[("depth", "deep")],
        &[("width", "2")],
        &[("weights", "1, 2, 3")],
    ] {
        let answer = register(&mut arena, given(pairs), true).await;
        assert_eq!(
            answer.expect_err("not possible").code(),
            Code::InvalidArgument
        );
    }
}

#[tokio::test]
async fn variant_inherits_registered_options() {
    let mut arena = Fixture::new().await;
    let agent = v1::Agent {
        options: options(&[("depth", "4"), ("weights", "[1, 2]")]),
        ..described("mine")
    };
    register(&mut arena, agent, false).await.expect("new");
    let spec = |more: &str| {
        let listed = SPEC.replace("minimax", "variant");
        format!("{listed}[[agent]]\nname = \"variant\"\n{more}")
    };
    arena
        .start(&spec(
            "bot = \"deep\"\nfrom = \"mine\"\noptions = { depth = 3 }\n",
        ))
        .await;
    let lease = arena.join("one").await.lease().await;
    let variant = &lease.setup.expect("sent").agents[1];
    let resolved = options(&[("depth", "3"), ("weights", "[1.0, 2.0]")]);
    assert_eq!(
        (variant.bot.as_str(), &variant.options),
        ("deep", &resolved)
    );
    let answer = arena.try_start(&spec("bot = \"mine\"\n"), false).await;
    refused(answer, Code::InvalidArgument, reasons::UNKNOWN_BOT);
}

#[tokio::test]
async fn audits_skip_reregistered_endpoints() {
    let mut arena = Fixture::with(crate::Options {
        audit_share: 1.0,
        ..options_of(memory())
    })
    .await;
    let far = || endpoint("far", "unix:/run/far");
    register(&mut arena, far(), false).await.expect("new");
    arena.start(&SPEC.replace("minimax", "far")).await;
    assert_eq!(arena.join("player").await.play_all().await, 40);
    let mut auditor = arena.join("auditor").await;
    let lease = auditor.lease().await;
    auditor.play(&lease).await;
    register(&mut arena, far(), false).await.expect("again");
    let lease = auditor.try_lease(0).await.expect("answered");
    assert_eq!(lease, None, "another agent answers there now");
}

#[tokio::test]
async fn number_of_processes_is_no_part_of_the_identity() {
    let mut arena = Fixture::new().await;
    let far = v1::Agent {
        replicas: 5,
        cpus: 3,
        ..endpoint("far", "unix:/run/far")
    };
    register(&mut arena, far, false).await.expect("new");
    let spec = SPEC.replace("minimax", "far");
    let with = |replicas: u32| format!("{spec}[play]\nreplicas = {replicas}\n");
    let first = arena.start(&with(2)).await;
    let setup = first.setup.expect("a setup");
    assert_eq!(setup.play.map(|play| play.replicas), Some(2));
    let declared = setup.agents.iter().find(|agent| agent.name == "far");
    let declared = declared.map(|agent| (agent.replicas, agent.cpus));
    assert_eq!(declared, Some((5, 3)));
    let again = arena.start(&with(4)).await;
    assert_eq!(again.tournament_id, first.tournament_id);
    let play = again.setup.and_then(|setup| setup.play);
    assert_eq!(
        play.map(|play| play.replicas),
        Some(4),
        "it counts from now on"
    );
}
