//! Standings that arrive while games run.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Write},
    net::TcpStream,
    time::Duration,
};

use arena_tests::{World, spec, until};

use super::{WEB, local, page};

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
