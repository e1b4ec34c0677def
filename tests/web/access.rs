//! Who may read the pages, and what protects them.

use std::{
    fs,
    io::{self, BufRead, BufReader, Write},
    net::TcpStream,
    time::Duration,
};

use arena_access::ClientTls;
use arena_tests::{Server, World, spec, until};

use super::{Answer, WEB, get, local, played, send, started};

#[test]
fn every_answer_has_protecting_headers() {
    let world = World::new();
    let (coordinator, _worker) = started(&world);
    let web = coordinator.web_address();
    let id = played(&world, &coordinator, "kalah", "");
    for path in [
        "/",
        &format!("/t/{id}"),
        &format!("/t/{id}/report"),
        &format!("/t/{id}/games/1"),
        &format!("/t/{id}/badge.svg"),
        "/api/tournaments",
        "/style.css",
        "/live.js",
        "/nothing",
    ] {
        let answer = get(web, path);
        let policy = answer.header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'"), "{path}: {policy}");
        assert!(
            policy.contains("frame-ancestors 'none'"),
            "{path}: {policy}"
        );
        assert!(!policy.contains("unsafe"), "{path}: {policy}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(answer.header("referrer-policy"), "no-referrer", "{path}");
        assert_eq!(answer.header("cache-control"), "no-cache", "{path}");
        let is_page = answer.header("content-type").starts_with("text/html");
        // The report's own style and script are allowed by their hashes.
        if is_page && !path.ends_with("/report") {
            assert!(!answer.body.contains("style="), "{path}");
            assert!(!answer.body.contains("<style"), "{path}");
            assert!(!answer.body.contains("<script>"), "{path}");
        }
    }
    // The policy of the report names the hashes that the page itself names.
    let report = get(web, &format!("/t/{id}/report"));
    let policy = report.header("content-security-policy");
    for hash in policy.split('\'').filter(|it| it.starts_with("sha256-")) {
        assert!(report.body.contains(hash), "{hash}");
    }
    let first = get(web, &format!("/t/{id}"));
    let tag = first.header("etag");
    assert!(!tag.is_empty());
    let known = format!("Host: localhost\nIf-None-Match: {tag}");
    let again = send(web, "GET", &format!("/t/{id}"), &known);
    assert_eq!((again.status, &*again.body), (304, ""));
}

#[test]
fn other_hosts_and_methods_are_refused() {
    let world = World::new();
    let coordinator = world.coordinator("data", &WEB);
    let web = coordinator.web_address();
    for host in [web, "127.0.0.1", "localhost:1", "[::1]:7680", "LOCALHOST"] {
        let answer = send(web, "GET", "/", &format!("Host: {host}"));
        assert_eq!(answer.status, 200, "{host}");
    }
    for host in [
        "Host: evil.example",
        "Host: localhost.evil.example",
        "Host: 192.0.2.1",
        "Host:",
        "Accept: */*",
        "Host: localhost\nHost: evil.example",
    ] {
        for path in ["/", "/api/tournaments", "/style.css"] {
            let answer = send(web, "GET", path, host);
            assert_eq!(answer.status, 421, "{host}");
        }
    }
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"] {
        let answer = send(web, method, "/", "Host: localhost\nContent-Length: 0");
        assert_eq!(answer.status, 405, "{method}");
        assert_eq!(answer.header("allow"), "GET, HEAD", "{method}");
    }
    let long = format!("Host: localhost\nX: {}", "x".repeat(64 << 10));
    assert_eq!(send(web, "GET", "/", &long).status, 431);
}

fn create(world: &World, coordinator: &Server, role: &str) -> String {
    create_with(world, coordinator, role, &[])
}

fn create_with(world: &World, coordinator: &Server, role: &str, more: &[&str]) -> String {
    let url = coordinator.url();
    let create = ["token", "create", "--role", role, "--coordinator", &url];
    let created = world.arena(&[&create, more].concat()).ok();
    created.stdout.trim().to_owned()
}

/// `text` in Base64.
fn base64(text: &str) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in text.as_bytes().chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            let value = (bits >> (18 - 6 * digit)) & 63;
            out.push(match digit <= chunk.len() {
                true => char::from(DIGITS[value as usize]),
                false => '=',
            });
        }
    }
    out
}

#[test]
fn pages_for_others_need_a_token() {
    let world = World::new();
    let open = [
        "coordinator",
        "--listen",
        "127.0.0.1:0",
        "--web",
        "0.0.0.0:0",
    ];
    let refused = world.arena(&open);
    refused.fails(2, &["needs a certificate", "--tls-cert", "--web-public"]);

    let hosts = ["--web-host", "arena.example,other.example"];
    let coordinator = world.coordinator("data", &[&WEB[..], &hosts].concat());
    let web = coordinator.web_address();
    let [viewer, worker] = ["viewer", "worker"].map(|role| create(&world, &coordinator, role));
    let ask =
        |path: &str, more: &str| send(web, "GET", path, &format!("Host: arena.example{more}"));
    for path in [
        "/",
        "/api/tournaments",
        "/openapi.json",
        "/style.css",
        "/nothing",
    ] {
        for wrong in [
            String::new(),
            "\nAuthorization: Bearer arena-1-2".to_owned(),
            format!("\nAuthorization: Bearer {worker}"),
            format!("\nAuthorization: Basic {}", base64(&format!("me:{worker}"))),
            format!("\nCookie: token={viewer}"),
        ] {
            let answer = ask(path, &wrong);
            assert_eq!(answer.status, 401, "{path}{wrong}");
            assert_eq!(answer.header("cache-control"), "no-store");
        }
    }
    let asked = ask("/", "");
    assert!(asked.body.contains("token of a viewer"), "{}", asked.body);
    for right in [
        format!("\nAuthorization: Bearer {viewer}"),
        format!("\nAuthorization: Basic {}", base64(&format!("me:{viewer}"))),
    ] {
        let answer = ask("/", &right);
        assert_eq!(answer.status, 200, "{right}");
        assert_eq!(answer.header("cache-control"), "no-store");
        assert_eq!(answer.header("etag"), "");
    }
    let bearer = format!("Host: evil.example\nAuthorization: Bearer {viewer}");
    assert_eq!(send(web, "GET", "/", &bearer).status, 421);
    let refused = coordinator.metric("arena_requests_refused_total", &["TOKEN_MISSING"]);
    assert!(refused >= 5.0, "{refused}");
    coordinator.stop();

    let public = ["--web", "0.0.0.0:0", "--web-public"];
    let coordinator = world.coordinator("data", &public);
    let answer = send(coordinator.web_address(), "GET", "/", "Host: 192.0.2.1");
    assert_eq!(answer.status, 200);
}

#[test]
fn events_end_with_the_permission_to_read() {
    let world = World::new();
    let hosts = ["--web-host", "arena.example"];
    let coordinator = world.coordinator("data", &[&WEB[..], &hosts].concat());
    let url = coordinator.url();
    let spec = spec("live", "kalah", 20, &["random", "greedy"], "");
    let id = world.start_tournament("live", &spec, &url);
    let token = create(&world, &coordinator, "viewer");
    let mut stream = TcpStream::connect(local(coordinator.web_address())).expect("it listens");
    // Half of the time after which each answer ends.
    let timeout = Some(Duration::from_secs(30));
    stream.set_read_timeout(timeout).expect("a timeout");
    let request = format!(
        "GET /t/{id}/events HTTP/1.0\r\nHost: arena.example\r\nAuthorization: Bearer {token}\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).expect("it reads");
    let mut lines = BufReader::new(stream).lines();
    let is_event = |line: io::Result<String>| line.expect("a line").starts_with("data: ");
    assert!(lines.any(is_event), "the first event");
    let number = token.split('-').nth(1).expect("an id");
    let revoke = ["token", "revoke", number, "--coordinator", &url];
    let _ = world.arena(&revoke).ok();
    assert!(lines.all(|line| line.is_ok()), "it ends");
}

#[test]
fn limits_of_tokens_hold_for_pages() {
    let world = World::new();
    let hosts = ["--web-host", "arena.example"];
    let coordinator = world.coordinator("data", &[&WEB[..], &hosts].concat());
    let (url, web) = (coordinator.url(), coordinator.web_address());
    let create = |more: &[&str]| create_with(&world, &coordinator, "viewer", more);
    let headers = |token: &str| format!("Host: arena.example\nAuthorization: Bearer {token}");

    // A page is several requests: none of them is a use.
    let token = create(&["--uses", "1"]);
    for _ in 0..3 {
        let refused = send(web, "GET", "/", &headers(&token));
        assert_eq!(refused.status, 401);
        assert!(refused.body.contains("--uses"), "{}", refused.body);
    }
    let _ = world.write("u.token", &token);
    let list = format!("agent list --coordinator {url} --token-file u.token");
    let list: Vec<&str> = list.split(' ').collect();
    let _ = world.arena(&list).ok();
    world.arena(&list).fails(1, &["used as often"]);

    let token = create(&["--limit", "requests-per-second=1"]);
    let answers: Vec<Answer> = { 0..5 }
        .map(|_| send(web, "GET", "/api/tournaments", &headers(&token)))
        .collect();
    let refused = answers.iter().find(|answer| answer.status != 200);
    let refused = refused.expect("too many requests");
    assert_eq!(refused.status, 429, "{}", refused.body);
    assert_eq!(refused.header("retry-after"), "1");
    assert_eq!(refused.header("www-authenticate"), "");
    assert!(
        refused.body.contains("requests-per-second"),
        "{}",
        refused.body
    );

    let spec = spec("live", "kalah", 20, &["random", "greedy"], "");
    let id = world.start_tournament("live", &spec, &url);
    let token = create(&["--limit", "streams=1"]);
    let path = format!("/t/{id}/events");
    let mut first = TcpStream::connect(local(web)).expect("it listens");
    let head = headers(&token).replace('\n', "\r\n");
    write!(first, "GET {path} HTTP/1.0\r\n{head}\r\n\r\n").expect("it reads");
    let mut lines = BufReader::new(first).lines();
    assert!(lines.any(|line| line.expect("a line").starts_with("data: ")));
    let second = send(web, "GET", &path, &headers(&token));
    assert_eq!(second.status, 429, "{}", second.body);
    assert!(!second.header("retry-after").is_empty());
    assert_eq!(
        send(web, "GET", "/", &headers(&token)).status,
        200,
        "a page"
    );
    drop(lines);
    let open = || {
        let mut stream = TcpStream::connect(local(web)).expect("it listens");
        write!(stream, "GET {path} HTTP/1.0\r\n{head}\r\n\r\n").expect("it reads");
        let status = BufReader::new(stream).lines().next()?.ok()?;
        status.contains(" 200 ").then_some(())
    };
    until("a free place", open);
}

#[test]
fn pages_are_encrypted_with_the_certificate() {
    let world = World::new();
    let _ = world.arena(&["tls", "init", "tls"]).ok();
    let flags = [
        "--web",
        "0.0.0.0:0",
        "--tls-cert",
        "tls/server.pem",
        "--tls-key",
        "tls/server.key",
    ];
    let coordinator = world.coordinator("data", &flags);
    let tls = ClientTls::load(&world.folder().join("tls/ca.pem")).expect("an authority");
    let token = fs::read_to_string(world.folder().join("data/admin.token")).expect("a token");
    let ask = |more: &str| {
        let stream = TcpStream::connect(local(coordinator.web_address())).expect("it listens");
        let mut stream = tls.connect("127.0.0.1", stream).expect("TLS");
        let request = format!("GET / HTTP/1.0\r\nHost: 127.0.0.1\r\n{more}\r\n");
        stream.write_all(request.as_bytes()).expect("it reads");
        Answer::of(stream)
    };
    assert_eq!(ask("").status, 401);
    let bearer = format!("Authorization: Bearer {}\r\n", token.trim());
    assert_eq!(ask(&bearer).status, 200);
}

#[test]
fn sealed_seed_and_games_stay_hidden() {
    let world = World::new();
    let (coordinator, worker) = started(&world);
    let (url, web) = (coordinator.url(), coordinator.web_address());
    let spec = spec("sealed", "kalah", 100_000, &["random", "greedy"], "");
    let spec = spec.replace("seed = \"0x5eed\"\n", "");
    let id = world.start_tournament("sealed", &spec, &url);
    until("some games", || {
        let api = get(web, &format!("/api/tournaments/{id}")).json();
        (api["games"].as_u64() > Some(50)).then_some(())
    });
    // Without its worker, the tournament stays as it is.
    worker.kill();
    let list = ["game", "list", &id, "--limit", "100", "--output", "jsonl"];
    let listed = world.arena(&[&list[..], &["--coordinator", &url]].concat());
    let expected = listed.ok().stdout;
    let expected = expected.lines().map(|line| {
        let game: serde_json::Value = serde_json::from_str(line).expect("JSON");
        game["game_id"].as_str().expect("an id").to_owned()
    });
    let games = get(web, &format!("/api/tournaments/{id}/games")).json();
    let games = games["games"].as_array().expect("games");
    let shown = games
        .iter()
        .map(|game| game["game_id"].as_str().expect("an id").to_owned());
    let shown: Vec<String> = shown.collect();
    let expected: Vec<String> = expected
        .filter(|id| {
            id.rsplit('/')
                .next()
                .and_then(|it| it.parse().ok())
                .is_some_and(|it: u64| it < 100)
        })
        .collect();
    assert_eq!(shown, expected);
    assert!(!shown.is_empty());
    let report = get(web, &format!("/t/{id}/report")).body;
    assert!(report.contains("sealed: "), "{report}");
}
