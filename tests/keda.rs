//! KEDA's external scaler with a real client of its interface, over TLS, and real workers.
#![expect(clippy::print_stderr, reason = "what is measured is printed")]

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::{Duration, Instant},
};

use arena_tests::{Server, World, python, repository, spec, within};
use serde_json::Value;

/// Maximum time until an answer. Usually it takes milliseconds.
const LIMIT: Duration = Duration::from_secs(30);

/// Maximum time until the first games are done.
const FIRST_MAX: Duration = Duration::from_secs(120);
/// Time over which the games of a worker are counted.
const MEASURED: Duration = Duration::from_secs(4);

/// A client that does what KEDA does.
struct Keda {
    process: Child,
    input: ChildStdin,
    lines: Receiver<Value>,
}

/// What KEDA reads at each poll.
struct Reading {
    /// Estimated seconds of work.
    work: f64,
    is_active: bool,
    /// Workers that KEDA asks for.
    workers: f64,
}

impl Keda {
    fn start(world: &World, coordinator: &Server, per_worker: u32) -> Self {
        let mut command = world.command(python().expect("run tests/setup"));
        let mut process = command
            .arg(repository().join("tests/keda/client.py"))
            .arg(coordinator.listen())
            .args(["tls/ca.pem", "tls/viewer-keda.pem", "tls/viewer-keda.key"])
            .arg(per_worker.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("Python starts");
        let output = BufReader::new(process.stdout.take().expect("piped"));
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let line = serde_json::from_str(&line).expect("JSON");
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Self {
            input: process.stdin.take().expect("piped"),
            process,
            lines,
        }
    }

    fn next(&self) -> Value {
        let line = self.lines.recv_timeout(LIMIT);
        line.expect("the client prints a line in time")
    }

    /// The next change, which nothing else precedes.
    fn change(&self) -> bool {
        let line = self.next();
        line["change"].as_bool().unwrap_or_else(|| panic!("{line}"))
    }

    fn read(&mut self) -> Reading {
        writeln!(self.input, "metrics").expect("it reads");
        let line = self.next();
        let number = |name: &str| line[name].as_f64().unwrap_or_else(|| panic!("{line}"));
        let (work, target) = (number("value"), number("target"));
        assert_eq!(line["metric"], "arena-work-seconds");
        assert_eq!(number("rounded"), work.ceil());
        Reading {
            work,
            is_active: line["active"].as_bool().expect("a boolean"),
            workers: (work / target).ceil(),
        }
    }
}

impl Drop for Keda {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

/// A coordinator with TLS.
fn coordinator(world: &World) -> Server {
    let init = ["tls", "init", "tls", "--client", "viewer:keda"];
    let _ = world.arena(&init).ok();
    let tls = [
        "--tls-cert",
        "tls/server.pem",
        "--tls-key",
        "tls/server.key",
    ];
    world.coordinator(
        "data",
        &[&tls[..], &["--tls-client-ca", "tls/ca.pem"]].concat(),
    )
}

fn worker(world: &World, coordinator: &Server) -> Server {
    let url = format!("https://{}", coordinator.listen());
    world.server(&[
        "worker",
        "--coordinator",
        &url,
        "--tls-ca",
        "tls/ca.pem",
        "--token-file",
        "data/admin.token",
        "--metrics",
        "127.0.0.1:0",
    ])
}

fn start(world: &World, spec: &str) -> String {
    let spec = world.write("spec.toml", spec);
    let start = [
        "tournament",
        "start",
        &spec,
        "--data",
        "data",
        "--output",
        "json",
    ];
    world.arena(&start).ok().tournament_id()
}

#[test]
fn keda_starts_and_ends_workers() {
    let world = World::new();
    let coordinator = coordinator(&world);
    let mut keda = Keda::start(&world, &coordinator, 60);
    assert!(!keda.change());
    let idle = keda.read();
    assert_eq!((idle.is_active, idle.workers), (false, 0.0));

    let id = start(&world, &spec("cup", "kalah", 20, &["random", "greedy"], ""));
    let started = Instant::now();
    assert!(keda.change());
    eprintln!(
        "active {:?} after the answer to the start",
        started.elapsed()
    );
    let first = keda.read();
    assert_eq!((first.is_active, first.workers), (true, 1.0));

    let _worker = worker(&world, &coordinator);
    assert!(!keda.change());
    let end = keda.read();
    assert_eq!((end.is_active, end.workers), (false, 0.0));
    let shown = world.arena(&[
        "tournament",
        "show",
        &id,
        "--data",
        "data",
        "--output",
        "json",
    ]);
    assert!(shown.ok().stdout.contains("finished"));
    coordinator.stop();
    assert_eq!(
        keda.next()["end"],
        "OK",
        "the stream ends with the coordinator"
    );
}

/// Games that are done, and all games.
fn progress(world: &World, id: &str) -> [f64; 2] {
    let show = [
        "tournament",
        "show",
        id,
        "--data",
        "data",
        "--output",
        "json",
    ];
    let shown = world.arena(&show).ok().json();
    ["games", "games_total"].map(|name| shown[name].as_f64().unwrap_or_else(|| panic!("{shown}")))
}

#[test]
fn estimated_work_is_what_a_worker_needs() {
    let slow = "[[agent]]\nname = \"mcts\"\nbot = \"mcts\"\noptions = { iterations = 300 }\n";
    let mut seconds = Vec::new();
    // The first games of a worker are finished late, because it plays many at once.
    for (agents, more, first) in [
        (["random", "greedy"], "", 10_000.0),
        (["random", "mcts"], slow, 1_500.0),
    ] {
        let world = World::new();
        let coordinator = coordinator(&world);
        // No game takes as long as this limit.
        let mut keda = Keda::start(&world, &coordinator, 86_400);
        assert!(!keda.change());
        let _worker = worker(&world, &coordinator);
        let id = start(&world, &spec("cup", "kalah", 500_000, &agents, more));
        assert!(keda.change());
        let done = || Some(progress(&world, &id)[0]).filter(|done| *done >= first);
        let before = within(FIRST_MAX, done).expect("games are played");
        let since = Instant::now();
        thread::sleep(MEASURED);
        let [done, total] = progress(&world, &id);
        let rate = (done - before) / since.elapsed().as_secs_f64();
        let game = keda.read().work / (total - done);
        eprintln!("{agents:?}: {rate:.1} games/s, estimated {:.1}", 1.0 / game);
        // Other tests share the machine, and the estimate is of other seconds than the rate.
        assert!(
            (0.4..2.5).contains(&(game * rate)),
            "{game} s, {rate} games/s"
        );
        seconds.push(game);
        let cancel = ["tournament", "cancel", &id, "--data", "data"];
        let _ = world.arena(&cancel).ok();
        assert!(!keda.change());
        assert_eq!(keda.read().workers, 0.0);
    }
    assert!(
        seconds[1] > 3.0 * seconds[0],
        "slow games need more: {seconds:?}"
    );
}
