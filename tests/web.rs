//! The read-only web pages of a coordinator.

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    time::Duration,
};

use arena_access::ClientTls;
use arena_tests::{Server, World, spec, until};
use serde_json::Value;

const WEB: [&str; 2] = ["--web", "127.0.0.1:0"];

/// An answer: status, headers in lower case, body.
struct Answer {
    status: u16,
    headers: BTreeMap<String, String>,
    body: String,
}

impl Answer {
    fn of(mut stream: impl Read) -> Self {
        let mut text = Vec::new();
        // Closing without a farewell of TLS is an error, after the answer.
        let _ = stream.read_to_end(&mut text);
        let text = String::from_utf8(text).expect("text");
        let (head, body) = text.split_once("\r\n\r\n").expect("HTTP");
        let mut lines = head.lines();
        let status = lines.next().and_then(|line| line.split(' ').nth(1));
        let header = |line: &str| {
            let (name, value) = line.split_once(": ").expect("a header");
            (name.to_lowercase(), value.to_owned())
        };
        Self {
            status: status.and_then(|it| it.parse().ok()).expect("a status"),
            headers: lines.map(header).collect(),
            body: body.to_owned(),
        }
    }

    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    #[track_caller]
    fn json(&self) -> Value {
        assert_eq!(self.status, 200, "{}", self.body);
        assert_eq!(self.header("content-type"), "application/json");
        serde_json::from_str(&self.body).expect("JSON")
    }
}

/// The port of an address, on loopback.
fn local(address: &str) -> String {
    let port = address.rsplit_once(':').expect("a port").1;
    format!("127.0.0.1:{port}")
}

/// Sends a request with these headers, one to a line.
fn send(address: &str, method: &str, path: &str, headers: &str) -> Answer {
    let mut stream = TcpStream::connect(local(address)).expect("it listens");
    let headers = headers.replace('\n', "\r\n");
    // With HTTP/1.0, the answer ends when the connection closes.
    let request = format!("{method} {path} HTTP/1.0\r\n{headers}\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("it reads");
    Answer::of(stream)
}

fn get(address: &str, path: &str) -> Answer {
    send(address, "GET", path, "Host: localhost")
}

#[track_caller]
fn page(address: &str, path: &str) -> String {
    let answer = get(address, path);
    assert_eq!(answer.status, 200, "{path}: {}", answer.body);
    answer.body
}

/// A coordinator with pages, and a worker.
fn started(world: &World) -> (Server, Server) {
    let coordinator = world.coordinator("data", &WEB);
    let worker = world.worker(&coordinator, &[]);
    (coordinator, worker)
}

fn played(world: &World, coordinator: &Server, ruleset: &str, more: &str) -> String {
    let spec = spec(ruleset, ruleset, 4, &["random", "greedy"], more);
    let id = world.start_tournament(ruleset, &spec, &coordinator.url());
    world.finish_tournament(&id, &coordinator.url());
    id
}

/// Text of a page without its elements.
fn plain(html: &str) -> String {
    let mut text = String::new();
    let mut is_text = true;
    for c in html.chars() {
        match c {
            '<' => is_text = false,
            '>' => is_text = true,
            c if is_text => text.push(c),
            _ => {}
        }
    }
    text
}

#[test]
fn pages_and_json_agree_with_commands() {
    let world = World::new();
    let (coordinator, _worker) = started(&world);
    let (url, web) = (coordinator.url(), coordinator.web_address());
    let id = played(&world, &coordinator, "kalah", "");
    let run = |arguments: &[&str]| {
        let of = ["--coordinator", &url, "--output", "json"];
        world.arena(&[arguments, &of].concat()).ok().json()
    };

    let api = get(web, &format!("/api/tournaments/{id}")).json();
    let mut shown = api["standings"].clone();
    let mut expected = run(&["standings", &id]);
    // Audits go on after the last game.
    shown["audits"] = Value::Null;
    expected["audits"] = Value::Null;
    assert_eq!(shown, expected);
    let list = get(web, "/api/tournaments").json();
    assert_eq!(list["tournaments"][0]["tournament_id"], *id);
    assert_eq!(list["tournaments"][0]["state"], "finished");
    let games = get(web, &format!("/api/tournaments/{id}/games")).json();
    let games = games["games"].as_array().expect("games");
    assert_eq!(games.len(), 8);
    for game in games {
        let game_id = game["game_id"].as_str().expect("an id");
        let index = game["index"].as_u64().expect("an index");
        let record = get(web, &format!("/api/tournaments/{id}/games/{index}")).json();
        assert_eq!(record, run(&["game", "show", game_id]));
        assert_eq!(record["hash"], game["hash"]);
    }
    assert_eq!(get(web, "/api/workers").json()["games_waiting"], 0);
    let agents = get(web, "/api/agents").json();
    assert!(agents["agents"].is_array());

    for (path, texts) in [
        ("/", vec![&*id, "finished"]),
        (&*format!("/t/{id}"), vec!["greedy", "Head to head"]),
        (&format!("/t/{id}/games"), vec!["1. greedy", "normal"]),
        (
            &format!("/t/{id}/games/0"),
            vec!["Game 0", "The game is over"],
        ),
        (&format!("/t/{id}/report"), vec!["First-move advantage"]),
        (&format!("/t/{id}/badge.svg"), vec!["finished", "greedy"]),
        ("/workers", vec!["games leased"]),
        ("/agents", vec!["Agents"]),
        ("/style.css", vec!["--paper"]),
        ("/live.js", vec!["EventSource"]),
        ("/openapi.json", vec!["/api/tournaments/{tournament}/games"]),
    ] {
        let body = page(web, path);
        for text in texts {
            assert!(body.contains(text), "{path} lacks {text}:\n{body}");
        }
        let head = send(web, "HEAD", path, "Host: localhost");
        assert_eq!((head.status, &*head.body), (200, ""), "{path}");
    }
    for path in [
        "/nothing",
        "/t/nothing-0123456789",
        "/t/nothing-0123456789/events",
        "/t/%2e%2e/games",
        &format!("/t/{id}/games/8"),
        &format!("/t/{id}/games/x"),
        &format!("/t/{id}/games/0?ply=100000"),
        &format!("/t/{id}/games?page=2"),
        "/?page=0",
        "/?page=2",
    ] {
        let answer = get(web, path);
        assert_eq!(answer.status, 404, "{path}: {}", answer.body);
        assert!(answer.body.contains("<h1>Not Found</h1>"), "{path}");
    }
    assert_eq!(get(web, "/?page=x").status, 400);
    let missing = get(web, "/api/tournaments/nothing-0123456789");
    assert_eq!(missing.status, 404);
    assert!(missing.body.starts_with("{\"error\":"), "{}", missing.body);
}

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
    let url = coordinator.url();
    let create = ["token", "create", "--role", role, "--coordinator", &url];
    world.arena(&create).ok().stdout.trim().to_owned()
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
fn stepping_shows_the_moves_of_the_command() {
    let world = World::new();
    let (coordinator, _worker) = started(&world);
    let web = coordinator.web_address();
    for ruleset in ["kalah", "chinese-ludo", "chess"] {
        let more = match ruleset {
            "chess" => "[play]\nopening_plies = 2",
            _ => "",
        };
        let id = played(&world, &coordinator, ruleset, more);
        let game = format!("{id}/1");
        let show = ["game", "show", &game, "--coordinator", &coordinator.url()];
        let shown = world.arena(&show).ok().stdout;
        // Lines such as "    3  greedy               4  (drew 6)".
        let moves: Vec<String> = shown
            .lines()
            .filter(|line| {
                line.starts_with("   ") && line.trim_start().starts_with(char::is_numeric)
            })
            .map(|line| {
                line.split_whitespace()
                    .skip(1)
                    .collect::<Vec<_>>()
                    .join(" ")
            })
            .collect();
        assert!(moves.len() > 10, "{shown}");
        let end = page(web, &format!("/t/{id}/games/1"));
        let mut drawings = std::collections::BTreeSet::new();
        for (ply, said) in moves.iter().enumerate().take(40) {
            let body = page(web, &format!("/t/{id}/games/1?ply={}", ply + 1));
            let expected = said.replace("  opening", ", opening");
            let expected = expected
                .strip_suffix(" opening")
                .map_or(expected.clone(), |it| format!("{it}, opening"));
            let expected = format!("Ply {} of {}: {expected}.", ply + 1, moves.len());
            assert!(plain(&body).contains(&expected), "{expected}:\n{body}");
            let from = body.find("id=\"stage\"").expect("a board");
            let to = body[from..].find("</div>").expect("its end");
            drawings.insert(body[from..from + to].to_owned());
            assert!(body.contains(&format!("href=\"?ply={ply}\" rel=\"prev\"")));
        }
        assert!(drawings.len() > 5, "the board of {ruleset} never changes");
        assert!(!end.contains("rel=\"next\""), "{end}");
        let start = page(web, &format!("/t/{id}/games/1?ply=0"));
        assert!(start.contains("rel=\"next\"") && !start.contains("rel=\"prev\""));
    }
}

#[test]
fn hash_records_explain_how_to_see_games() {
    let world = World::new();
    let (coordinator, _worker) = started(&world);
    let id = played(&world, &coordinator, "kalah", "records = \"hash\"");
    let body = page(coordinator.web_address(), &format!("/t/{id}/games/0"));
    assert!(body.contains("arena game rerun"), "{body}");
    let path = format!("/api/tournaments/{id}/games/0");
    let record = get(coordinator.web_address(), &path).json();
    assert_eq!(record["events"], Value::Null);
}

/// The next event: its name, id and data.
fn event(events: &mut impl BufRead) -> Option<(String, String, String)> {
    let mut fields = BTreeMap::new();
    loop {
        let mut line = String::new();
        if events.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end() {
            "" if fields.contains_key("data") => break,
            line => {
                let (name, value) = line.split_once(": ").unwrap_or_default();
                fields.insert(name.to_owned(), value.to_owned());
            }
        }
    }
    let mut field = |name| fields.remove(name).expect("a field");
    Some((field("event"), field("id"), field("data")))
}

/// Follows a tournament; `known` is the event that was seen last.
fn follow(address: &str, id: &str, known: &str) -> BufReader<TcpStream> {
    let mut stream = TcpStream::connect(local(address)).expect("it listens");
    let timeout = Some(Duration::from_secs(60));
    stream.set_read_timeout(timeout).expect("a timeout");
    let request =
        format!("GET /t/{id}/events HTTP/1.0\r\nHost: localhost\r\nLast-Event-ID: {known}\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("it reads");
    BufReader::new(stream)
}

#[test]
fn events_show_changes_while_games_run() {
    let world = World::new();
    let coordinator = world.coordinator("data", &WEB);
    let web = coordinator.web_address();
    let spec = spec("live", "kalah", 20, &["random", "greedy"], "");
    let id = world.start_tournament("live", &spec, &coordinator.url());
    let mut events = follow(web, &id, "");
    let (name, version, data) = event(&mut events).expect("an event");
    assert_eq!(name, "standings");
    let html: String = serde_json::from_str(&data).expect("a string");
    assert!(html.contains("running: <b>0</b> of 40"), "{html}");
    let _worker = world.worker(&coordinator, &[]);
    let mut last = (name, version.clone(), html);
    while last.0 != "end" {
        let (name, version, data) = event(&mut events).expect("the end");
        assert_ne!(version, last.1, "an event without a change");
        last = (
            name,
            version,
            serde_json::from_str(&data).expect("a string"),
        );
    }
    assert!(last.2.contains("finished: <b>40</b> games"), "{}", last.2);
    let shown = page(web, &format!("/t/{id}"));
    assert!(
        shown.contains(&last.2),
        "the page has what the last event has"
    );
    // A reader that comes back gets only what is new.
    let (name, _, _) = event(&mut follow(web, &id, &version)).expect("an event");
    assert_eq!(name, "end");
    let mut known = follow(web, &id, &last.1);
    let short = Some(Duration::from_millis(1500));
    known.get_ref().set_read_timeout(short).expect("a timeout");
    assert_eq!(event(&mut known), None, "nothing is new");
}

#[test]
fn readers_share_one_computation() {
    let world = World::new();
    let coordinator = world.coordinator("data", &WEB);
    let web = coordinator.web_address();
    let spec = spec("crowd", "kalah", 1, &["random", "greedy"], "");
    let id = world.start_tournament("crowd", &spec, &coordinator.url());
    let calls = || coordinator.metric("arena_grpc_requests_total", &["GetStandings"]);
    let mut readers: Vec<_> = (0..200).map(|_| follow(web, &id, "")).collect();
    for reader in &mut readers {
        assert!(event(reader).is_some());
    }
    let computed = until("the metric", || Some(calls()).filter(|it| *it > 0.0));
    // Nothing changes, so the standings are computed once for all.
    assert!(computed <= 1.0, "{computed} computations for 200 readers");
}
