//! The audit trail.

use std::fs;

use arena_tests::{World, spec, until};

use super::{as_stranger, create, mode};

#[test]
fn audit_trail_shows_who_did_what() {
    let world = World::new();
    let coordinator = world.coordinator("data", &[]);
    let url = coordinator.url();
    create(
        &world,
        &coordinator,
        &["--role", "submitter", "--write", "s.token"],
    );
    let text = fs::read_to_string(world.folder().join("s.token")).expect("a token");
    let id = text.split('-').nth(1).expect("an id");
    let of = ["--coordinator", &url, "--token-file", "s.token"];
    let register = ["agent", "register", "mine", "--bot", "random"];
    let _ = world.arena(&[&register[..], &of].concat()).ok();
    let replace = ["agent", "register", "mine", "--bot", "greedy", "--replace"];
    let _ = world.arena(&[&replace[..], &of].concat()).ok();
    let spec = spec("mine", "kalah", 1, &["random", "greedy"], "");
    let tournament = world.start_tournament("mine", &spec, &url);
    let cancel = ["tournament", "cancel", &tournament];
    // Only the first one is an event of its own.
    for _ in 0..3 {
        world
            .arena(&[&cancel[..], &of].concat())
            .fails(1, &["belongs to another token"]);
    }
    let read = ["agent", "list", "--coordinator", &url];
    for _ in 0..3 {
        as_stranger(&world, &read).fails(1, &["asks for a token"]);
    }
    let tokens = ["token", "list"];
    world
        .arena(&[&tokens[..], &of].concat())
        .fails(1, &["role submitter does not allow"]);
    let list = ["events", "list", "--since", "1h", "--coordinator", &url];
    let events = until("all events", || {
        let listed = world.arena(&list).ok().stdout;
        let lines = listed
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"));
        // Reading the trail is recorded too.
        let events: Vec<serde_json::Value> = lines
            .filter(|event| text_of(event, "method") != "ListEvents")
            .collect();
        (events.len() >= 7).then_some(events)
    });
    let seen: Vec<[&str; 4]> = events
        .iter()
        .map(|event| ["actor", "method", "target", "outcome"].map(|key| text_of(event, key)))
        .collect();
    assert_eq!(
        seen,
        [
            ["admin.token", "CreateToken", id, "Ok"],
            [id, "RegisterAgent", "mine", "Ok"],
            [id, "RegisterAgent", "mine", "Ok"],
            ["admin.token", "StartTournament", "mine", "Ok"],
            [id, "CancelTournament", &tournament, "PermissionDenied"],
            // The others are counted.
            ["", "ListAgents", "", "TOKEN_MISSING"],
            [id, "ListTokens", "", "ROLE_INSUFFICIENT"],
        ]
    );
    let seen = events.iter().map(|event| {
        let reason = event["reason"].as_str().unwrap_or_default();
        (text_of(event, "code"), reason)
    });
    assert_eq!(
        seen.skip(3).collect::<Vec<_>>(),
        [
            ("OK", ""),
            ("PERMISSION_DENIED", "NOT_OWNER"),
            ("UNAUTHENTICATED", "TOKEN_MISSING"),
            ("PERMISSION_DENIED", "ROLE_INSUFFICIENT"),
        ]
    );
    let details = events.iter().map(|event| event["detail"].as_str());
    assert_eq!(
        details.collect::<Vec<_>>()[..4],
        [
            Some("role submitter"),
            Some("registered bot random"),
            Some("replaced bot random with bot greedy"),
            Some(&*format!("created {tournament}")),
        ]
    );
    // A change of the file is noticed.
    let file = world.folder().join("data/events.jsonl");
    assert_eq!(mode(&file), 0o600);
    let text = fs::read_to_string(&file).expect("lines");
    fs::write(&file, text.replace("RegisterAgent", "RemoveAgent")).expect("a file");
    world
        .arena(&list)
        .fails(3, &["line 2 of events.jsonl was changed"]);
}

fn text_of<'a>(event: &'a serde_json::Value, key: &str) -> &'a str {
    event[key].as_str().expect("text")
}

#[test]
fn trail_that_was_cut_between_two_starts_is_noticed() {
    let world = World::new();
    let list = ["events", "list", "--data", "data"];
    let verify = ["store", "verify", "--data", "data"];
    let file = world.folder().join("data/events.jsonl");
    let coordinator = world.coordinator("data", &[]);
    for _ in 0..3 {
        create(&world, &coordinator, &["--role", "viewer"]);
    }
    coordinator.stop();
    let whole = fs::read_to_string(&file).expect("lines");
    assert_eq!(whole.lines().count(), 3, "{whole}");
    let _ = world.arena(&verify).ok();

    let (first, _) = whole.split_once('\n').expect("lines");
    fs::write(&file, format!("{first}\n")).expect("a file");
    world.arena(&verify).fails(3, &["it has no event 3"]);
    fs::remove_file(&file).expect("a file");
    world.arena(&verify).fails(3, &["it has no event 3"]);
    let coordinator = world.coordinator("data", &[]);
    let log = coordinator.log();
    assert!(log.contains("it has no event 3"), "{log}");
    let read = ["events", "list", "--coordinator", &coordinator.url()];
    // Before and after its first event, the reason is another one.
    world.arena(&read).fails(3, &["the audit trail"]);
    create(&world, &coordinator, &["--role", "viewer"]);
    coordinator.stop();
    // The gap stays.
    world.arena(&list).fails(3, &["line 1 of events.jsonl"]);
    world.arena(&verify).fails(3, &["line 1 of events.jsonl"]);
}
