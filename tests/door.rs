mod trail;

use std::{
    fs::{self, Permissions},
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    os::unix::fs::PermissionsExt,
    path::Path,
    sync::mpsc,
    thread,
};

use arena_access::Credentials;
use arena_tests::{Output, Server, World, arena, spec, until};
use arena_wire::v1::{self, worker_service_client::WorkerServiceClient};
use nix::unistd::{Uid, setfsuid};

/// Makes certificates in the folder `tls`.
fn certificates(world: &World, more: &[&str]) {
    let _ = world.arena(&[&["tls", "init", "tls"], more].concat()).ok();
}

const TLS: [&str; 6] = [
    "--tls-cert",
    "tls/server.pem",
    "--tls-key",
    "tls/server.key",
    "--tls-client-ca",
    "tls/ca.pem",
];
const CA: [&str; 2] = ["--tls-ca", "tls/ca.pem"];

fn https(coordinator: &Server) -> String {
    format!("https://{}", coordinator.listen())
}

/// The permissions of a file or folder.
fn mode(path: &Path) -> u32 {
    let about = fs::symlink_metadata(path).expect("it is there");
    about.permissions().mode() & 0o777
}

/// Runs a command of another user, who does not find the local token.
fn as_stranger(world: &World, arguments: &[&str]) -> Output {
    let nowhere = world.folder().join("nowhere");
    fs::create_dir_all(&nowhere).expect("a folder");
    let mut command = world.command(arena());
    command.args(arguments).env("XDG_RUNTIME_DIR", nowhere);
    world.run(command)
}

/// The status and body of a request for metrics.
fn metrics(address: &str, token: Option<&str>) -> (String, String) {
    let port = address.rsplit_once(':').expect("a port").1;
    let mut stream = TcpStream::connect(format!("127.0.0.1:{port}")).expect("it listens");
    let header = token.map_or_else(String::new, |token| {
        format!("Authorization: Bearer {token}\r\n")
    });
    let request = format!("GET /metrics HTTP/1.0\r\n{header}\r\n");
    stream.write_all(request.as_bytes()).expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    let (head, body) = answer.split_once("\r\n\r\n").expect("HTTP");
    let status = head.split_whitespace().nth(1).expect("a status");
    (status.to_owned(), body.to_owned())
}

fn create(world: &World, coordinator: &Server, arguments: &[&str]) -> String {
    let url = coordinator.url();
    let create = ["token", "create", "--coordinator", &url];
    let created = world.arena(&[&create, arguments].concat()).ok();
    created.stdout.trim().to_owned()
}

#[test]
fn others_on_the_machine_need_a_token() {
    let world = World::new();
    let coordinator = world.coordinator("data", &[]);
    let url = coordinator.url();
    let list = ["agent", "list", "--coordinator", &url];
    let _ = world.arena(&list).ok();
    as_stranger(&world, &list).fails(1, &["asks for a token", "--token-file"]);
    let data = world.folder().join("data");
    assert_eq!(mode(&data), 0o700);
    assert_eq!(mode(&data.join("admin.token")), 0o600);
    assert_eq!(mode(&data.join("coordinator.sock")), 0o600);
    // The folder's owner needs none: commands go through its socket.
    let _ = as_stranger(&world, &["agent", "list", "--data", "data"]).ok();
    let token = ["--token-file", "data/admin.token"];
    let _ = as_stranger(&world, &[&list[..], &token].concat()).ok();
}

#[test]
fn tokens_are_created_listed_and_revoked() {
    let world = World::new();
    let coordinator = world.coordinator("data", &[]);
    let url = coordinator.url();
    let flags = [
        "--role", "viewer", "--label", "grafana", "--write", "v.token",
    ];
    assert_eq!(create(&world, &coordinator, &flags), "");
    assert_eq!(mode(&world.folder().join("v.token")), 0o600);
    let text = fs::read_to_string(world.folder().join("v.token")).expect("a token");
    let id = text.split('-').nth(1).expect("an id");
    let list = [
        "agent",
        "list",
        "--coordinator",
        &url,
        "--token-file",
        "v.token",
    ];
    let _ = as_stranger(&world, &list).ok();
    let start = ["tournament", "start", "demo.toml", "--coordinator", &url];
    let spec = spec("demo", "kalah", 1, &["random", "greedy"], "");
    let _ = world.write("demo.toml", spec);
    let start = [&start[..], &["--token-file", "v.token"]].concat();
    as_stranger(&world, &start).fails(1, &["role viewer does not allow"]);
    let listed = world.arena(&["token", "list", "--coordinator", &url]).ok();
    assert!(listed.stdout.contains("grafana"), "{}", listed.stdout);
    assert!(!listed.stdout.contains(text.trim()), "{}", listed.stdout);
    let revoke = ["token", "revoke", id, "--coordinator", &url];
    let _ = world.arena(&revoke).ok();
    as_stranger(&world, &list).fails(1, &["was revoked"]);
    let tokens = ["token", "list", "--coordinator", &url];
    let revoked = world.arena(&tokens).ok().stdout;
    let again = ["--role", "viewer", "--write", "v.token"];
    let create = ["token", "create", "--coordinator", &url];
    let again = world.arena(&[&create[..], &again].concat());
    again.fails(1, &["cannot write v.token"]);
    // There is no token that no one has.
    assert_eq!(world.arena(&tokens).ok().stdout, revoked);
}

#[test]
fn token_file_that_others_can_read_is_named() {
    let world = World::new();
    let coordinator = world.coordinator("data", &[]);
    let url = coordinator.url();
    let flags = ["--role", "admin", "--write", "a.token"];
    assert_eq!(create(&world, &coordinator, &flags), "");
    let list = ["token", "list", "--output", "json", "--coordinator", &url];
    let list = [&list[..], &["--token-file", "a.token"]].concat();
    let path = world.folder().join("a.token");
    let warning = "warning: other users can read the token in a.token: make the file private with \
                   `chmod 600 a.token`\n";
    for (mode, expected) in [(0o600, ""), (0o644, warning), (0o640, warning)] {
        fs::set_permissions(&path, Permissions::from_mode(mode)).expect("it is ours");
        let listed = world.arena(&list).ok();
        assert_eq!(listed.stderr, expected, "{mode:o}");
        assert!(listed.json().is_array(), "{}", listed.stdout);
    }
}

#[test]
fn token_that_ends_at_once_is_refused() {
    let world = World::new();
    for ttl in ["0s", "0ms", "0h 0m"] {
        let create = ["token", "create", "--role", "viewer", "--ttl", ttl];
        world
            .arena(&create)
            .fails(2, &["--ttl", "ends at once", "leave --ttl out"]);
    }
    assert!(!world.folder().join("arena-data").exists());
}

#[test]
fn open_address_needs_a_certificate() {
    let world = World::new();
    let start = [
        "coordinator",
        "--listen",
        "0.0.0.0:0",
        "--metrics",
        "127.0.0.1:0",
    ];
    let refused = world.arena(&start);
    refused.fails(2, &["needs a certificate", "arena tls init", "--insecure"]);
    let metrics = ["worker", "--metrics", "0.0.0.0:0"];
    let refused = world.arena(&metrics);
    refused.fails(2, &["--metrics-token-file", "--metrics-public"]);
    let insecure = world.coordinator("data", &["--insecure"]);
    let list = ["agent", "list", "--coordinator", &insecure.url()];
    let _ = as_stranger(&world, &list).ok();
    assert!(insecure.log().contains("--insecure"), "{}", insecure.log());
    let (_, page) = self::metrics(insecure.metrics_address(), None);
    assert!(page.contains("arena_insecure 1"), "{page}");
}

#[test]
fn tournament_is_played_over_tls() {
    let world = World::new();
    certificates(&world, &["--client", "worker:one"]);
    let coordinator = world.coordinator("data", &TLS);
    let url = https(&coordinator);
    let worker = [
        "worker",
        "--coordinator",
        &url,
        "--metrics",
        "127.0.0.1:0",
        "--tls-cert",
        "tls/worker-one.pem",
        "--tls-key",
        "tls/worker-one.key",
    ];
    let _worker = world.server(&[&worker[..], &CA].concat());
    let spec = spec("secret", "cowry", 5, &["random", "aggressive"], "");
    let _ = world.write("secret.toml", &spec);
    let start = [
        "tournament",
        "start",
        "secret.toml",
        "--coordinator",
        &url,
        "--watch",
    ];
    let _ = world.arena(&[&start[..], &CA].concat()).ok();
    let export = ["export", "secret", "--data", "data"];
    let games = world.arena(&export).ok();
    assert_eq!(games.stdout.lines().count(), 10, "{}", games.stdout);

    // The role is that of the certificate, and no other.
    let list = ["agent", "list", "--coordinator", &url];
    let identity = &worker[5..9];
    let flags = [&list[..], &CA, identity].concat();
    as_stranger(&world, &flags).fails(1, &["role worker does not allow"]);
    as_stranger(&world, &[&list[..], &CA].concat()).fails(1, &["asks for a token"]);
    // Without TLS, with the wrong authority, or for another name, nothing is said at all.
    let plain = ["agent", "list", "--coordinator", &coordinator.url()];
    world.arena(&plain).fails(4, &[]);
    let _ = world
        .arena(&["tls", "init", "other", "--client", "admin:eve"])
        .ok();
    let wrong = [&list[..], &["--tls-ca", "other/ca.pem"]].concat();
    world.arena(&wrong).fails(4, &["certificate"]);
    let eve = [
        "--tls-cert",
        "other/admin-eve.pem",
        "--tls-key",
        "other/admin-eve.key",
    ];
    let eve = as_stranger(&world, &[&list[..], &CA, &eve].concat());
    assert_ne!(eve.code, Some(0), "{}", eve.transcript());
}

#[test]
fn certificate_is_replaced_under_load() {
    let world = World::new();
    certificates(&world, &[]);
    let mut command = world.command(arena());
    command
        .args(["coordinator", "--data", "data", "--listen", "127.0.0.1:0"])
        .args(["--metrics", "127.0.0.1:0"])
        .args(TLS)
        .env("ARENA_LOG", "info");
    let coordinator = world.serve(command);
    let url = https(&coordinator);
    let worker = ["worker", "--coordinator", &url, "--metrics", "127.0.0.1:0"];
    let token = ["--token-file", "data/admin.token"];
    let _worker = world.server(&[&worker[..], &CA, &token].concat());
    let list = [&["agent", "list", "--coordinator", &url][..], &CA].concat();
    for round in 1..=3 {
        certificates(&world, &[]);
        until("the new certificate", || {
            // No call fails meanwhile: the authority is the same.
            let _ = world.arena(&list).ok();
            let replaced = coordinator.log().matches("was replaced").count();
            (replaced >= round).then_some(())
        });
    }
    // Files that are of no use change nothing.
    fs::write(world.folder().join("tls/server.pem"), "").expect("a file");
    until("the error", || {
        coordinator.log().contains("stays as it is").then_some(())
    });
    let _ = world.arena(&list).ok();
}

#[test]
fn socket_needs_no_token() {
    let world = World::new();
    let path = world.folder().join("arena.sock");
    let listen = format!("unix:{}", path.display());
    let coordinator = world.coordinator("data", &["--listen", &listen]);
    assert_eq!(coordinator.listen(), listen);
    assert_eq!(mode(&path), 0o600);
    let _ = as_stranger(&world, &["agent", "list", "--coordinator", &listen]).ok();
    let worker = [
        "worker",
        "--coordinator",
        &listen,
        "--metrics",
        "127.0.0.1:0",
    ];
    let _worker = world.server(&worker);
    let spec = spec("local", "cowry", 2, &["random", "aggressive"], "");
    let _ = world.write("local.toml", &spec);
    let start = [
        "tournament",
        "start",
        "local.toml",
        "--coordinator",
        &listen,
        "--watch",
    ];
    let _ = world.arena(&start).ok();
    // A second coordinator does not take the socket away, and one that was killed leaves no lock.
    let second = ["coordinator", "--data", "other", "--listen", &listen];
    let second = [&second[..], &["--metrics", "127.0.0.1:0"]].concat();
    world.arena(&second).fails(1, &["cannot listen on"]);
    coordinator.kill();
    assert!(path.exists());
    let _again = world.coordinator("data", &["--listen", &listen]);
}

#[test]
fn open_metrics_need_a_viewer() {
    let world = World::new();
    let coordinator = world.coordinator("data", &["--metrics", "0.0.0.0:0"]);
    let address = coordinator.metrics_address();
    let log = coordinator.log();
    assert!(log.contains("tokens travel in plain text"), "{log}");
    let viewer = create(&world, &coordinator, &["--role", "viewer"]);
    let worker = create(&world, &coordinator, &["--role", "worker"]);
    for wrong in [None, Some("arena-1-2"), Some(&*worker)] {
        assert_eq!(metrics(address, wrong).0, "401", "{wrong:?}");
    }
    let (status, page) = metrics(address, Some(&viewer));
    assert_eq!(status, "200");
    assert!(page.contains("arena_workers 0"), "{page}");
    for reason in ["TOKEN_MISSING", "TOKEN_INVALID", "ROLE_INSUFFICIENT"] {
        let refused = format!("arena_scrapes_refused_total{{reason=\"{reason}\"}} 1\n");
        assert!(page.contains(&refused), "{page}");
    }
    let _ = world
        .arena(&["health", &address.replace("0.0.0.0", "127.0.0.1")])
        .ok();

    let write = ["--role", "viewer", "--write", "m.token"];
    create(&world, &coordinator, &write);
    let open = ["--metrics", "0.0.0.0:0", "--metrics-token-file", "m.token"];
    let url = coordinator.url();
    let worker = world.server(&[&["worker", "--coordinator", &url], &open[..]].concat());
    let text = fs::read_to_string(world.folder().join("m.token")).expect("a token");
    let log = worker.log();
    assert!(log.contains("token travels in plain text"), "{log}");
    assert_eq!(metrics(worker.metrics_address(), None).0, "401");
    assert_eq!(
        metrics(worker.metrics_address(), Some(text.trim())).0,
        "200"
    );
}

/// People have the whole token at hand when they revoke it.
#[test]
fn secret_of_revoked_token_is_kept_nowhere() {
    let world = World::new();
    let coordinator = world.coordinator("data", &[]);
    let url = coordinator.url();
    create(
        &world,
        &coordinator,
        &["--role", "viewer", "--write", "v.token"],
    );
    let text = fs::read_to_string(world.folder().join("v.token")).expect("a token");
    let text = text.trim();
    let (id, secret) = text.rsplit_once('-').expect("a secret");
    let revoke = |text: &str| world.arena(&["token", "revoke", text, "--coordinator", &url]);
    // Of another coordinator.
    let unknown = format!("arena-01234567-{secret}");
    let refused = revoke(&unknown).fails(2, &["no token \"01234567\""]);
    let typed = format!("{unknown}x");
    let mistyped = revoke(&typed).fails(2, &["no token \"arena-01234567-…x\""]);
    let revoked = revoke(text).ok();
    let list = ["agent", "list", "--coordinator", &url, "--token-file"];
    world
        .arena(&[&list[..], &["v.token"]].concat())
        .fails(1, &["revoked"]);
    let lines = until("the events", || {
        let lines = fs::read_to_string(world.folder().join("data/events.jsonl")).ok()?;
        (lines.matches("RevokeToken").count() >= 2).then_some(lines)
    });
    assert!(lines.contains(id.trim_start_matches("arena-")), "{lines}");
    let outputs = [refused, mistyped, revoked].map(|it| it.stdout + &it.stderr);
    for kept in outputs.iter().chain([&lines, &coordinator.log()]) {
        assert!(!kept.contains(secret), "{kept}");
    }
}

/// A program of another user listens at the port of an ended coordinator of this user.
#[test]
#[expect(clippy::print_stdout, reason = "tests are reported there")]
fn listener_of_another_user_gets_no_token() {
    if !Uid::effective().is_root() {
        println!("skipped: only root can open sockets of another user");
        return;
    }
    let world = World::new();
    let coordinator = world.coordinator("data", &[]);
    let (send, ports) = mpsc::channel();
    let reader = thread::spawn(move || {
        // Sockets of this thread belong to that user.
        setfsuid(Uid::from_raw(65534));
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let address = listener.local_addr().expect("an address");
        send.send(address.port()).expect("it waits");
        let (mut connection, _) = listener.accept().expect("a connection");
        let mut read = Vec::new();
        let _ = connection.read_to_end(&mut read);
        read
    });
    let port = ports.recv().expect("it listens");
    let folder = world.folder().join("run/arena");
    fs::create_dir_all(&folder).expect("a folder");
    let token = folder.join(format!("{port}.token"));
    fs::copy(world.folder().join("data/admin.token"), &token).expect("a token");
    for (path, mode) in [(&folder, 0o700), (&token, 0o600)] {
        fs::set_permissions(path, Permissions::from_mode(mode)).expect("it is ours");
    }
    let mut command = world.command(arena());
    let url = format!("http://127.0.0.1:{port}");
    command.args(["agent", "list", "--coordinator", &url]);
    command.env("XDG_RUNTIME_DIR", world.folder().join("run"));
    let words = ["another user's", &format!("{port}.token")];
    let _ = world.run(command).fails(4, &words);
    assert_eq!(reader.join().expect("it reads"), b"");
    coordinator.stop();
}

#[tokio::test]
async fn forged_calls_of_workers_are_in_the_trail() {
    let world = World::new();
    let coordinator = world.coordinator("data", &[]);
    let url = coordinator.url();
    let connection = Credentials::found().connect_lazy(&url);
    let mut client = WorkerServiceClient::new(connection.expect("a URL"));
    for _ in 0..50 {
        let forged = v1::LeaveRequest {
            worker_id: "w1".to_owned(),
            ..Default::default()
        };
        client.leave(forged).await.expect_err("no session");
    }
    let spec = spec("cup", "kalah", 1, &["random", "greedy"], "");
    let report = v1::ReportRequest {
        worker_id: "w2".to_owned(),
        tournament_id: world.start_tournament("cup", &spec, &url),
        ..Default::default()
    };
    client.report(report).await.expect_err("no ticket");
    let list = ["events", "list", "--since", "1h", "--coordinator", &url];
    let calls = [
        "\"Leave\",\"target\":\"w1\"",
        "\"Report\",\"target\":\"w2\"",
    ];
    let events = until("an event of each", || {
        let listed = world.arena(&list).ok().stdout;
        let events = calls.map(|call| {
            let call = format!("\"method\":{call}");
            listed.lines().filter(|line| line.contains(&call)).count()
        });
        events.iter().all(|events| *events > 0).then_some(events)
    });
    assert_eq!(events, [1, 1], "the others are counted");
    coordinator.stop();
}
