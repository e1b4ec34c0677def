//! Who may change and fetch what another token made.

use arena_access::Token;
use arena_wire::{
    reasons,
    v1::{self, Role, worker_service_client::WorkerServiceClient},
};
use tonic::{Code, Status};

use crate::Options;

use super::{
    super::{
        agents::{binary, parts, sha256},
        fixture::{FakeWorker, SPEC, memory, options, refused, won},
    },
    Guarded,
};

/// The content of the owner's agent, and of its ruleset.
pub(super) const AGENT: &[u8] = b"#!/bin/sh\n";
const RULES: &[u8] = b"#!/bin/false\n";
/// Name of the owner's ruleset.
pub(in crate::tests) const RULESET: &str = "pig";

/// The spec of a tournament with the owner's agent.
pub(in crate::tests) fn spec() -> String {
    SPEC.replace("minimax", "mine")
}

/// A registration of the owner's agent.
pub(super) fn agent(replace: bool) -> v1::RegisterAgentRequest {
    v1::RegisterAgentRequest {
        agent: Some(binary("mine", AGENT, "")),
        replace,
        ..Default::default()
    }
}

/// A registration of a ruleset with these arguments.
pub(in crate::tests) fn ruleset(replace: bool, args: &[&str]) -> v1::RegisterRulesetRequest {
    let description = r#"{"protocol":1,"name":"pig","version":1,"seats":[2,2],"draws":true}"#;
    let package = Some(v1::BinarySource {
        sha256: sha256(RULES),
        file_name: "pig".to_owned(),
        args: args.iter().map(|&arg| arg.to_owned()).collect(),
        limits: None,
    });
    v1::RegisterRulesetRequest {
        ruleset: Some(v1::Ruleset {
            name: RULESET.to_owned(),
            rules: Some(v1::RulesPackage {
                package,
                description: description.to_owned(),
                ..Default::default()
            }),
            ..Default::default()
        }),
        replace,
        ..Default::default()
    }
}

/// Uploads the programs of an agent and a ruleset.
pub(in crate::tests) async fn upload(arena: &Guarded, by: &Token) {
    for bytes in [AGENT, RULES] {
        let parts = parts(&sha256(bytes), bytes);
        arena.user(by).upload_binary(parts).await.expect("ok");
    }
}

/// A submitter with an agent, a ruleset and a tournament. Returns its token and the tournament's id.
pub(super) async fn owner(arena: &Guarded) -> (Token, String) {
    let owner = arena.create(Role::Submitter).await;
    upload(arena, &owner).await;
    let mut user = arena.user(&owner);
    user.register_agent(agent(false)).await.expect("registered");
    let registered = user.register_ruleset(ruleset(false, &[])).await;
    registered.expect("registered");
    let request = v1::StartTournamentRequest {
        spec_toml: spec(),
        ..Default::default()
    };
    let started = user.start_tournament(request).await.expect("started");
    let tournament = started.into_inner().tournament.expect("a tournament");
    (owner, tournament.tournament_id)
}

#[tokio::test]
async fn programs_of_rulesets_are_bounded() {
    let arena = Guarded::new().await;
    let owner = arena.create(Role::Submitter).await;
    upload(&arena, &owner).await;
    let mut user = arena.user(&owner);
    let answer = user.register_ruleset(ruleset(false, &["-x"; 1_001])).await;
    let text = refused(answer, Code::InvalidArgument, reasons::BINARY_INVALID);
    assert!(text.contains("has 1001 arguments: at most 1000"), "{text}");
    let mut large = ruleset(false, &[]);
    let rules = large.ruleset.as_mut().and_then(|it| it.rules.as_mut());
    let package = rules.and_then(|rules| rules.package.as_mut());
    package.expect("a package").limits = Some(v1::AgentLimits {
        memory_bytes: u64::MAX,
        ..Default::default()
    });
    let answer = user.register_ruleset(large).await;
    let text = refused(answer, Code::InvalidArgument, reasons::REQUEST_INVALID);
    assert!(text.contains("MiB of memory"), "{text}");
}

#[tokio::test]
async fn rulesets_are_changed_by_their_owner_and_administrators() {
    let arena = Guarded::new().await;
    let (owner, _) = owner(&arena).await;
    let other = arena.create(Role::Submitter).await;
    // It is refused although it has the program, too.
    upload(&arena, &other).await;
    let change = async |by: &Token, args: &[&str]| {
        let request = ruleset(true, args);
        let answer = arena.user(by).register_ruleset(request).await?;
        let changed = answer.into_inner().ruleset.expect("a ruleset");
        let package = changed.rules.and_then(|rules| rules.package);
        Ok::<_, Status>((changed.owner, package.expect("a package").args))
    };
    let remove = async |by: &Token| {
        let request = v1::RemoveRulesetRequest {
            name: RULESET.to_owned(),
            ..Default::default()
        };
        arena.user(by).remove_ruleset(request).await.map(drop)
    };
    let replaced = change(&other, &["-x"]).await;
    refused(replaced, Code::PermissionDenied, reasons::NOT_OWNER);
    // Not even the same content: a registration would make it the owner.
    let repeated = change(&other, &[]).await;
    refused(repeated, Code::PermissionDenied, reasons::NOT_OWNER);
    let removed = remove(&other).await;
    refused(removed, Code::PermissionDenied, reasons::NOT_OWNER);
    let mut viewer = arena.user(&arena.create(Role::Viewer).await);
    let listed = viewer.list_rulesets(v1::ListRulesetsRequest::default());
    let [listed] = &listed.await.expect("a list").into_inner().rulesets[..] else {
        panic!("one ruleset");
    };
    assert_eq!(listed.owner, owner.id());
    let rules = listed.rules.as_ref().expect("rules");
    assert_eq!(rules.package.as_ref().expect("a package").args, [""; 0]);

    let changed = |args: &[&str]| {
        let args = args.iter().map(|&arg| arg.to_owned());
        (owner.id(), args.collect::<Vec<_>>())
    };
    let own = change(&owner, &["-y"]).await.expect("its own");
    assert_eq!(own, changed(&["-y"]));
    // The owner stays.
    let by_admin = change(&arena.admin, &["-z"]).await.expect("an admin");
    assert_eq!(by_admin, changed(&["-z"]));
    remove(&owner).await.expect("its own");
    change(&owner, &[]).await.expect("a new one");
    remove(&arena.admin).await.expect("an admin");
}

#[tokio::test]
async fn binaries_are_fetched_by_those_who_need_them() {
    let arena = Guarded::new().await;
    let token = arena.create(Role::Worker).await;
    let mut worker = FakeWorker::join_with(arena.connection(&token), "one", 1).await;
    let sha256 = sha256(AGENT);
    let fetch_as = async |token: &Token, request: v1::FetchBinaryRequest| {
        let mut client = WorkerServiceClient::new(arena.connection(token));
        let request = v1::FetchBinaryRequest {
            sha256: sha256.clone(),
            ..request
        };
        let mut chunks = client.fetch_binary(request).await?.into_inner();
        let mut fetched = Vec::new();
        while let Some(chunk) = chunks.message().await? {
            fetched.extend(chunk.chunk);
        }
        Ok::<_, Status>(fetched)
    };
    let fetch = async |token: &Token| fetch_as(token, Default::default()).await;
    let joined = v1::FetchBinaryRequest {
        worker_id: worker.id.clone(),
        boot_epoch: worker.boot_epoch,
        session: worker.session.clone(),
        ..Default::default()
    };
    let needless = |answer| refused(answer, Code::PermissionDenied, reasons::NOT_OWNER);

    // A lease of another tournament shows no need.
    let request = v1::StartTournamentRequest {
        spec_toml: SPEC.to_owned(),
        ..Default::default()
    };
    let mut admin = arena.user(&arena.admin);
    admin.start_tournament(request).await.expect("started");
    let lease = worker.lease().await;
    let (owner, tournament) = owner(&arena).await;
    needless(fetch_as(&token, joined.clone()).await);
    worker.play(&lease).await;
    needless(fetch_as(&token, joined.clone()).await);

    // Which games come first depends on whose openings are drawn first.
    let mut lease = worker.lease().await;
    while lease.tournament_id != tournament {
        worker.play(&lease).await;
        lease = worker.lease().await;
    }
    let fetched = fetch_as(&token, joined.clone()).await;
    assert_eq!(fetched.expect("it needs it"), AGENT);
    let invented = v1::FetchBinaryRequest {
        session: vec![0; 32],
        ..joined.clone()
    };
    let invented = fetch_as(&token, invented).await;
    refused(invented, Code::FailedPrecondition, reasons::UNKNOWN_WORKER);
    let unjoined = fetch(&arena.create(Role::Worker).await).await;
    refused(unjoined, Code::FailedPrecondition, reasons::UNKNOWN_WORKER);
    worker.play(&lease).await;
    needless(fetch_as(&token, joined).await);

    assert_eq!(fetch(&owner).await.expect("its own"), AGENT);
    assert_eq!(fetch(&arena.admin).await.expect("an admin"), AGENT);
    needless(fetch(&arena.create(Role::Submitter).await).await);
    let viewer = fetch(&arena.create(Role::Viewer).await).await;
    refused(viewer, Code::PermissionDenied, reasons::ROLE_INSUFFICIENT);
}

#[tokio::test]
async fn session_counts_only_with_the_token_that_joined() {
    let arena = Guarded::new().await;
    let request = v1::StartTournamentRequest {
        spec_toml: SPEC.to_owned(),
        ..Default::default()
    };
    let mut admin = arena.user(&arena.admin);
    admin.start_tournament(request).await.expect("started");
    let tokens = [
        arena.create(Role::Worker).await,
        arena.create(Role::Worker).await,
        arena.admin.clone(),
    ];
    let mut victim = FakeWorker::join_with(arena.connection(&tokens[0]), "one", 1).await;
    let lease = victim.lease().await;
    let (worker_id, boot_epoch, session) =
        (victim.id.clone(), victim.boot_epoch, victim.session.clone());
    let unknown = |answer| {
        refused::<()>(answer, Code::FailedPrecondition, reasons::UNKNOWN_WORKER);
    };
    macro_rules! unknown {
        ($client:ident.$method:ident($request:ident)) => {
            let request = v1::$request {
                worker_id: worker_id.clone(),
                boot_epoch,
                session: session.clone(),
                ..Default::default()
            };
            unknown($client.$method(request).await.map(drop));
        };
    }
    // The second one knows the session, and has a token of its own.
    for token in &tokens[1..] {
        let mut thief = WorkerServiceClient::new(arena.connection(token));
        unknown!(thief.lease(LeaseRequest));
        unknown!(thief.heartbeat(HeartbeatRequest));
        unknown!(thief.replay(ReplayRequest));
        let leave = v1::LeaveRequest {
            worker_id: worker_id.clone(),
            boot_epoch,
            session: session.clone(),
        };
        unknown(thief.leave(leave).await.map(drop));
    }
    let mut thief = WorkerServiceClient::new(arena.connection(&tokens[1]));
    let fetch = v1::FetchBinaryRequest {
        sha256: sha256(AGENT),
        worker_id: worker_id.clone(),
        boot_epoch,
        session: session.clone(),
    };
    unknown(thief.fetch_binary(fetch).await.map(drop));
    assert!(victim.beat(&lease, 1).await.is_empty(), "the lease ended");
    victim.play(&lease).await;
}

/// A worker with a viewer's token would see whether the game that it just reported is drawn.
#[tokio::test]
async fn open_audits_are_shown_to_the_owner() {
    let options = Options {
        audit_share: 1.0,
        ..options(memory())
    };
    let arena = Guarded::with(options, Token::draw().expect("random numbers")).await;
    let tokens = [Role::Submitter, Role::Submitter, Role::Viewer, Role::Worker];
    let mut made = Vec::new();
    for role in tokens {
        made.push(arena.create(role).await);
    }
    let [owner, submitter, viewer, token] = &made[..] else {
        unreachable!("four tokens");
    };
    let request = v1::StartTournamentRequest {
        spec_toml: SPEC.to_owned(),
        ..v1::StartTournamentRequest::default()
    };
    let started = arena.user(owner).start_tournament(request).await;
    let id = started.expect("started").into_inner().tournament;
    let id = id.expect("a tournament").tournament_id;
    let mut worker = FakeWorker::join_with(arena.connection(token), "one", 1).await;
    let lease = worker.lease().await;
    let game = lease.games[0].clone();
    let game = won(&game, 0);
    worker.report(&lease, vec![game]).await.expect("taken");
    for (token, due) in [(owner, 1), (&arena.admin, 1), (submitter, 0), (viewer, 0)] {
        let mut user = arena.user(token);
        let of = v1::GetTournamentRequest {
            tournament_id: id.clone(),
        };
        let answer = user.get_tournament(of).await.expect("answered");
        let tournament = answer.into_inner().tournament.expect("a tournament");
        let list = v1::ListTournamentsRequest::default();
        let answer = user.list_tournaments(list).await.expect("answered");
        let listed = answer.into_inner().tournaments.remove(0);
        let of = v1::GetStandingsRequest {
            tournament_id: id.clone(),
            ..v1::GetStandingsRequest::default()
        };
        let answer = user.get_standings(of).await.expect("answered");
        let standings = answer.into_inner().standings.expect("standings");
        let of = v1::WatchTournamentRequest {
            tournament_id: id.clone(),
        };
        let watch = user.watch_tournament(of).await.expect("answered");
        let first = watch.into_inner().message().await.expect("a message");
        let watched = first.and_then(|it| it.standings).expect("standings");
        let shown = [
            tournament.audits,
            listed.audits,
            standings.audits,
            watched.audits,
        ];
        let shown = shown.map(|audits| audits.map_or(0, |audits| audits.due));
        assert_eq!(shown, [due; 4]);
    }
    // Once it is over, there is nothing left to choose.
    worker.play(&lease).await;
    worker.play_all().await;
    let of = v1::GetStandingsRequest {
        tournament_id: id.clone(),
        ..v1::GetStandingsRequest::default()
    };
    let answer = arena.user(viewer).get_standings(of).await;
    let standings = answer.expect("answered").into_inner().standings;
    let audits = standings.expect("standings").audits.expect("audits");
    assert_eq!(audits.due, 40);
}
