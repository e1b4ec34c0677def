//! Systems that start a referee for each match. The referee declares a winner immediately, so that
//! the rest is the system's own work.

use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    path::PathBuf,
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use anyhow::{Context, bail};
use arena_tests::{DEADLINE, World, fleet::Usage, repository};
use serde_json::{Value, json};

use crate::{
    Settings, note,
    report::{Absent, Figure},
    usage::{cpu_seconds_with_children, megabytes},
};

/// Matches before the measurement.
const WARM_UP: u64 = 10;

/// The shortest measurement: these systems play tens of matches per second, in steps.
const SECONDS_MIN: f64 = 2.0;

pub(super) fn cgarena(settings: &Settings, what: &str) -> anyhow::Result<Vec<Figure>> {
    let program = installed(settings, "cgarena/bin/cgarena")?;
    note(format!("  {what}"));
    let world = World::new();
    for file in ["cgarena_config.toml", "referee.sh"] {
        place(&world, file)?;
    }
    let mut command = world.command(&program);
    command.args(["run", "."]);
    let (league, log) = League::start(&world, command)?;
    let port = wait("cgarena's address", || {
        let text = fs::read_to_string(&log).ok()?;
        let (_, rest) = text.split_once("http://localhost:")?;
        rest.split_once('/')?.0.parse::<u16>().ok()
    })?;
    for name in ["one", "two"] {
        let bot = json!({"name": name, "source_code": "none", "language": "none"});
        http(port, "POST", "/api/bots", &bot.to_string())?;
    }
    let figure = league.measure(settings, || {
        let status: Value = serde_json::from_str(&http(port, "GET", "/api/status", "")?)?;
        let matches = status["leaderboards"][0]["total_matches"].as_u64();
        matches.context("the number of matches in cgarena's status")
    })?;
    Ok(vec![Figure {
        id: "peers.cgarena".to_owned(),
        what: what.to_owned(),
        note: Some(
            "two at a time, each a process of sh that starts no bot; it looks for finished \
             matches every 50 ms"
                .to_owned(),
        ),
        ..figure
    }])
}

pub(super) fn psyleague(settings: &Settings, what: &str) -> anyhow::Result<Vec<Figure>> {
    let program = installed(settings, "peers/python/bin/psyleague")?;
    note(format!("  {what}"));
    let world = World::new();
    for file in ["psyleague.cfg", "referee.sh"] {
        place(&world, file)?;
    }
    for name in ["one", "two"] {
        let mut command = world.command(&program);
        command.args(["bot", "add", name]);
        let output = world.run(command);
        if output.code != Some(0) {
            bail!("{}", output.transcript());
        }
    }
    let mut command = world.command(&program);
    command.args(["run", "--silent"]);
    let (league, _) = League::start(&world, command)?;
    let games = world.folder().join("psyleague.games");
    let figure = league.measure(settings, || {
        // The file exists after the first game.
        let text = fs::read_to_string(&games).unwrap_or_default();
        Ok(text.lines().count() as u64)
    })?;
    Ok(vec![Figure {
        id: "peers.psyleague".to_owned(),
        what: what.to_owned(),
        note: Some(
            "two at a time, each a process of sh that starts no bot; it looks for finished \
             matches every 100 ms"
                .to_owned(),
        ),
        ..figure
    }])
}

fn installed(settings: &Settings, path: &str) -> anyhow::Result<PathBuf> {
    let program = std::path::absolute(settings.tools.join(path))?;
    if !program.is_file() {
        bail!(Absent(format!(
            "there is no {}: tests/bench/run installs it where it can",
            program.display()
        )));
    }
    Ok(program)
}

/// Copies a file of `tests/bench/peers`.
fn place(world: &World, file: &str) -> anyhow::Result<()> {
    let source = repository().join("tests/bench/peers").join(file);
    fs::copy(source, world.folder().join(file))?;
    Ok(())
}

fn wait<T>(what: &str, mut ready: impl FnMut() -> Option<T>) -> anyhow::Result<T> {
    let started = Instant::now();
    loop {
        if let Some(value) = ready() {
            return Ok(value);
        }
        if started.elapsed() > DEADLINE {
            bail!("waited {} s for {what}", DEADLINE.as_secs());
        }
        sleep(Duration::from_millis(20));
    }
}

/// A running system, which is killed when dropped.
struct League(Child);

impl League {
    fn start(world: &World, mut command: Command) -> anyhow::Result<(Self, PathBuf)> {
        let log = world.folder().join("league.out");
        let child = command
            .stdout(fs::File::create(&log)?)
            .stderr(Stdio::null())
            .spawn()?;
        Ok((Self(child), log))
    }

    /// Measures matches from now on; `count` returns the number so far.
    fn measure(
        mut self,
        settings: &Settings,
        count: impl Fn() -> anyhow::Result<u64>,
    ) -> anyhow::Result<Figure> {
        let mut problem = None;
        wait("the first matches", || {
            if let Ok(Some(status)) = self.0.try_wait() {
                problem = Some(status);
                return Some(());
            }
            (count().ok()? >= WARM_UP).then_some(())
        })?;
        if let Some(status) = problem {
            bail!("it ended with {status}");
        }
        let id = self.0.id();
        let (cpu, matches, started) = (cpu_seconds_with_children(id), count()?, Instant::now());
        let seconds = settings.seconds() * settings.runs() as f64;
        sleep(Duration::from_secs_f64(seconds.max(SECONDS_MIN)));
        let matches = count()? - matches;
        let cpu = cpu_seconds_with_children(id) - cpu;
        if matches == 0 {
            bail!("it played no match");
        }
        Ok(Figure {
            unit: "games",
            group: "matches",
            per_second: matches as f64 / started.elapsed().as_secs_f64(),
            cpu_us: Some(cpu * 1e6 / matches as f64),
            memory_mb: [("process", megabytes(Usage::of(id)?.rss_peak_bytes))].into(),
            ..Figure::default()
        })
    }
}

impl Drop for League {
    fn drop(&mut self) {
        // An error means that it has already ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Sends one request and returns the body of the answer.
fn http(port: u16, method: &str, path: &str, body: &str) -> anyhow::Result<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    // HTTP/1.0: the answer ends when the connection closes.
    write!(
        stream,
        "{method} {path} HTTP/1.0\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let (head, body) = answer.split_once("\r\n\r\n").context("an HTTP answer")?;
    if !head.lines().next().unwrap_or_default().contains(" 200 ") {
        bail!("{method} {path}: {head} {body}");
    }
    Ok(body.to_owned())
}
