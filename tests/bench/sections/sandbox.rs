//! What each level of the sandbox costs: the start of an agent, and its decisions.

use std::{
    env,
    fs::{self, Permissions},
    io::Read,
    os::unix::{fs::PermissionsExt, process::CommandExt},
    process::{Command, Stdio},
    time::Instant,
};

use anyhow::{Context, bail};
use arena_model::SandboxLevel;
use arena_sandbox::{Plan, RUN, SCRATCH, TreeLimits};
use arena_tests::{World, arena};
use arena_worker::guard::Report;

use crate::{
    Settings,
    arena::{Line, one_with},
    note,
    report::{Absent, Figure, Measured},
};

const LEVELS: [SandboxLevel; 3] = [
    SandboxLevel::None,
    SandboxLevel::Kernel,
    SandboxLevel::Strict,
];
/// Starts at each level.
const STARTS: usize = 300;
const STARTS_QUICK: usize = 10;
/// The limits of agents by default.
const LIMITS: TreeLimits = TreeLimits {
    memory_bytes: 8 << 30,
    processes: 256,
    disk_bytes: 1 << 30,
    cpu_ms: 0,
    cpus: 1,
};

pub(super) fn measure(settings: &Settings, measured: &mut Measured) {
    note("  starts");
    measured.take("starts of an agent", starts(settings));
    for (route, what) in [("batched", "in batches"), ("unary", "in single calls")] {
        measured.take(what, rates(settings, route, what));
    }
}

/// Starts at all levels by turns, so that other load meets each of them.
fn starts(settings: &Settings) -> anyhow::Result<Vec<Figure>> {
    let count = if settings.quick { STARTS_QUICK } else { STARTS };
    let mut times = [Vec::new(), Vec::new(), Vec::new()];
    for _ in 0..count {
        for (level, times) in LEVELS.into_iter().zip(&mut times) {
            times.push(start_ms(level)?);
        }
    }
    let mut without = None;
    let figures = LEVELS.into_iter().zip(&mut times).map(|(level, times)| {
        times.sort_by(f64::total_cmp);
        let (p50, p99) = (times[count / 2], times[count * 99 / 100]);
        let first = *without.get_or_insert(p50);
        let name = level.name();
        Figure {
            id: format!("sandbox.start-{name}"),
            what: format!("start of an agent until its first output, {name}"),
            unit: "starts",
            per_second: 1e3 / p50,
            group: "starts",
            latency_ms: [("p50", p50), ("p99", p99)].into(),
            more: [("ms more than none (p50)".to_owned(), p50 - first)].into(),
            ..Figure::default()
        }
    });
    Ok(figures.collect())
}

/// Milliseconds from the start of a guard to the first byte that its agent prints.
fn start_ms(level: SandboxLevel) -> anyhow::Result<f64> {
    let folder = tempfile::tempdir()?;
    for name in [RUN, SCRATCH] {
        fs::create_dir(folder.path().join(name))?;
    }
    let mut plan = Plan {
        folder: folder.path().to_owned(),
        limits: LIMITS,
        ..Plan::default()
    };
    plan.set_level(level);
    let scratch = plan.scratch();
    let mut guard = Command::new(arena());
    guard
        .args(["agent", "guard", "--plan", &serde_json::to_string(&plan)?])
        .args(["--", "/bin/echo", "ready"])
        .env_clear()
        .env("PATH", env::var_os("PATH").unwrap_or_default())
        .env("PWD", &scratch)
        .current_dir(&scratch)
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let started = Instant::now();
    let mut guard = guard.spawn()?;
    let input = guard.stdin.take();
    let mut output = guard.stderr.take().context("a pipe")?;
    let mut text = vec![0];
    let first = output.read(&mut text)?;
    let ms = started.elapsed().as_secs_f64() * 1e3;
    text.truncate(first);
    output.read_to_end(&mut text)?;
    let ended = guard.wait_with_output()?;
    drop(input);
    match Report::in_output(&String::from_utf8_lossy(&ended.stdout)) {
        Some(Report::Exited(0)) if text.starts_with(b"ready") => Ok(ms),
        Some(Report::Unconfined(missing)) => Err(Absent(missing.to_string()).into()),
        report => bail!("{level}: {report:?} {}", String::from_utf8_lossy(&text)),
    }
}

/// A tournament of cowry with agents in Rust as registered binaries, at each level.
fn rates(settings: &Settings, route: &str, what: &str) -> anyhow::Result<Vec<Figure>> {
    let world = World::new();
    let arena = arena();
    let script = format!("#!/bin/sh\nexec '{}' agent serve\n", arena.display());
    let agent = world.write("agent.sh", script);
    fs::set_permissions(&agent, Permissions::from_mode(0o755))?;
    let mut lines = [Vec::new(), Vec::new(), Vec::new()];
    // By turns, as above.
    for run in 1..=settings.runs() {
        for (level, lines) in LEVELS.into_iter().zip(&mut lines) {
            note(format!("  {what}, {level}, run {run}"));
            let variable = ("ARENA_WORKER_SANDBOX", level.name());
            lines.push(one_with(
                &world,
                &[route, "--agent", &agent],
                settings.seconds(),
                variable,
            )?);
        }
    }
    let mut without = None;
    let figures = LEVELS.into_iter().zip(lines).map(|(level, lines)| {
        let name = level.name();
        let line = crate::arena::middle(lines).context("no run")?;
        let what = format!("agents in Rust {what}, {name}");
        let mut figure = Line::decisions(&line, &format!("sandbox.{route}-{name}"), &what);
        let first = *without.get_or_insert(figure.per_second);
        let percent = 100.0 * figure.per_second / first;
        figure.group = if route == "unary" { "unary" } else { "batched" };
        figure.more = [("% of the rate of none".to_owned(), percent)].into();
        Ok(figure)
    });
    figures.collect()
}
