use std::time::Duration;

use arena_tests::{Server, World, until};

/// Runs a command with the files of two authorities, `tls` and `other`.
#[track_caller]
fn fails(world: &World, command: &str, url: &str, expected: &[&str]) {
    let command = command.replace("URL", url);
    let words: Vec<&str> = command.split(' ').collect();
    world.arena(&words).fails(4, expected);
}

fn authorities() -> World {
    let world = World::new();
    for folder in ["tls", "other"] {
        let init = ["tls", "init", folder, "--client", "worker:eve"];
        let _ = world.arena(&init).ok();
    }
    world
}

/// A coordinator with TLS, and its URL.
fn encrypted(world: &World) -> (Server, String) {
    let flags = "--tls-cert tls/server.pem --tls-key tls/server.key --tls-client-ca tls/ca.pem";
    let flags: Vec<&str> = flags.split(' ').collect();
    let coordinator = world.coordinator("data", &flags);
    let url = format!("https://{}", coordinator.listen());
    (coordinator, url)
}

const WORKER: &str = "worker --coordinator URL --metrics 127.0.0.1:0 --connect-timeout 1";
const FOREIGN: &str =
    "--tls-ca tls/ca.pem --tls-cert other/worker-eve.pem --tls-key other/worker-eve.key";

#[test]
fn certificate_of_another_authority_is_named() {
    let world = authorities();
    let (_coordinator, url) = encrypted(&world);
    let authority = "another authority signed its certificate";
    for command in ["agent list --coordinator URL", WORKER] {
        let command = format!("{command} --tls-ca other/ca.pem");
        fails(&world, &command, &url, &[authority, "--tls-ca"]);
    }
    let refused = ["--tls-client-ca", "signed"];
    for command in ["agent list --coordinator URL", WORKER] {
        fails(&world, &format!("{command} {FOREIGN}"), &url, &refused);
    }
}

#[test]
fn wrong_scheme_is_named() {
    let world = authorities();
    let (coordinator, url) = encrypted(&world);
    let plain = url.replace("https", "http");
    for command in ["agent list --coordinator URL", WORKER] {
        fails(&world, command, &plain, &["https://"]);
    }
    let port = coordinator.metrics_address();
    world.arena(&["health", port]).fails(1, &["https://"]);
    coordinator.stop();

    let coordinator = world.coordinator("data", &[]);
    let url = format!("https://{}", coordinator.listen());
    for command in ["agent list --coordinator URL", WORKER] {
        let command = format!("{command} --tls-ca tls/ca.pem");
        fails(&world, &command, &url, &["does not use TLS", "http://"]);
    }
    let port = format!("https://{}", coordinator.metrics_address());
    let health = ["health", &port, "--tls-ca", "tls/ca.pem"];
    world.arena(&health).fails(4, &["does not use TLS"]);
}

/// A thief may learn that the address is wrong, but not which one is right.
#[test]
fn refused_token_says_what_is_needed() {
    let world = World::new();
    let coordinator = world.coordinator("data", &[]);
    let url = coordinator.url();
    let create = |flags: &str, file: &str| {
        let create = format!("token create --coordinator {url} --write {file} {flags}");
        let words: Vec<&str> = create.split(' ').collect();
        let _ = world.arena(&words).ok();
    };
    create("--role viewer --from 10.77.0.0/16", "away.token");
    create("--role viewer", "viewer.token");
    let list = ["agent", "list", "--coordinator", &url];
    let refused = world.arena(&[&list[..], &["--token-file", "away.token"]].concat());
    let refused = refused.fails(1, &["127.0.0.1, the address that the coordinator sees"]);
    assert!(!refused.stderr.contains("10.77"), "{}", refused.stderr);
    let remove = ["agent", "remove", "x", "--coordinator", &url];
    let refused = world.arena(&[&remove[..], &["--token-file", "viewer.token"]].concat());
    refused.fails(
        1,
        &["the role viewer does not allow this, which needs the role submitter or admin"],
    );
}

#[test]
fn tokens_that_agents_could_read_are_named() {
    let world = World::new();
    let coordinator = world.coordinator("data", &[]);
    let path = world.folder().join("data");
    let url = coordinator.url();
    let shown = path.display().to_string();
    let flags = ["--sandbox", "kernel", "--agent-path", &shown];
    let worker = [
        &["worker", "--coordinator", &url, "--metrics", "127.0.0.1:0"][..],
        &flags,
    ]
    .concat();
    let worker = world.server(&worker);
    let file = path.join("admin.token").display().to_string();
    until("a warning", || {
        let warns = worker
            .log()
            .contains(&format!("agents can read the token in {file}"));
        std::thread::sleep(Duration::from_millis(50));
        warns.then_some(())
    });
    let mut doctor = world.command(arena_tests::arena());
    doctor
        .args(["doctor", "--json"])
        .env("ARENA_AGENT_PATH", &path);
    let doctor = world.run(doctor).ok();
    assert!(
        doctor.stdout.contains(&format!("agents can read {file}")),
        "{}",
        doctor.stdout
    );
}
