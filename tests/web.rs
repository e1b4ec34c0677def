//! The read-only web pages of a coordinator.

mod access;
mod events;

use std::{
    collections::BTreeMap,
    io::{Read, Write},
    net::TcpStream,
};

use arena_access::Credentials;
use arena_tests::{Server, World, spec};
use arena_wire::v1::{self, coordinator_service_client::CoordinatorServiceClient};
use serde_json::Value;

pub(super) const WEB: [&str; 2] = ["--web", "127.0.0.1:0"];

/// An answer: status, headers in lower case, body.
pub(super) struct Answer {
    pub(super) status: u16,
    headers: BTreeMap<String, String>,
    pub(super) body: String,
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

    pub(super) fn header(&self, name: &str) -> &str {
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

pub(super) fn get(address: &str, path: &str) -> Answer {
    send(address, "GET", path, "Host: localhost")
}

#[track_caller]
pub(super) fn page(address: &str, path: &str) -> String {
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
        // Lines such as "    3  greedy               4  (drew 6)  opening".
        let moves: Vec<String> = shown
            .lines()
            .filter_map(|line| {
                let words: Vec<&str> = line.split_whitespace().skip(1).collect();
                let is_move = ["random", "greedy"].contains(words.first()?);
                (is_move && line.starts_with("   ")).then(|| words.join(" "))
            })
            .map(|said| said.replace(" opening", ", opening"))
            .collect();
        assert!(moves.len() > 10, "{shown}");
        let end = page(web, &format!("/t/{id}/games/1"));
        let mut drawings = std::collections::BTreeSet::new();
        for (ply, said) in moves.iter().enumerate().take(40) {
            let body = page(web, &format!("/t/{id}/games/1?ply={}", ply + 1));
            let expected = format!("Ply {} of {}: {said}.", ply + 1, moves.len());
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

/// Starts a number of tournaments, one after another.
fn start_many(coordinator: &Server, count: usize) {
    let url = coordinator.url();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let credentials = Credentials::found();
        let connection = credentials.connect_lazy(&url).expect("a URL");
        let mut client = CoordinatorServiceClient::new(connection);
        for number in 0..count {
            let name = format!("many-{number:05}");
            let request = v1::StartTournamentRequest {
                request_id: name.clone(),
                spec_toml: spec(&name, "kalah", 1, &["random", "greedy"], ""),
                ..v1::StartTournamentRequest::default()
            };
            client.start_tournament(request).await.expect("a start");
        }
    });
}

#[test]
fn tournaments_are_listed_newest_first() {
    let world = World::new();
    let coordinator = world.coordinator("data", &WEB);
    let web = coordinator.web_address();
    start_many(&coordinator, 230);
    let mut seen = Vec::new();
    for number in 1..=3 {
        let body = page(web, &format!("/?page={number}"));
        assert!(body.contains(&format!("page {number} of 3")), "{body}");
        assert!(body.len() < 100_000, "{} bytes", body.len());
        let list = get(web, &format!("/api/tournaments?page={number}")).json();
        assert_eq!(list["pages"], 3);
        for tournament in list["tournaments"].as_array().expect("a list") {
            let id = tournament["tournament_id"].as_str().expect("an id");
            assert!(body.contains(&format!("href=\"/t/{id}\"")), "{id}");
            seen.push(tournament["name"].as_str().expect("a name").to_owned());
        }
    }
    let expected = (0..230).rev().map(|number| format!("many-{number:05}"));
    assert_eq!(seen, expected.collect::<Vec<_>>());
}
