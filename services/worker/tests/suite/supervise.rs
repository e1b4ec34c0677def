//! The supervisor and its guard, with real processes.

use std::{
    env, fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

use crate::common::{fixture, guard};
use arena_worker::supervise::{Exit, Launch, Limits, Listen, Process, StartError, Supervisor};

fn launch(program: &Path, args: &[&str]) -> Launch {
    Launch {
        name: "agent".to_owned(),
        program: program.to_owned(),
        args: args.iter().map(Into::into).collect(),
        limits: Limits::default(),
        listen: Listen::default(),
        cores: None,
        is_trusted: false,
    }
}

fn agent(mode: &str) -> Launch {
    launch(&fixture(), &["fake", "--mode", mode])
}

fn shell(script: &str) -> Launch {
    launch(Path::new("/bin/sh"), &["-c", script])
}

async fn start(launch: &Launch) -> Result<Process, (StartError, String)> {
    Supervisor::new(guard(), env::temp_dir())
        .start(launch)
        .await
}

fn alive(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')')
        .is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

/// Waits until the file holds a process id.
fn pid_in(path: &Path) -> i32 {
    loop {
        if let Some(pid) = fs::read_to_string(path)
            .ok()
            .and_then(|text| text.trim().parse().ok())
        {
            return pid;
        }
        thread::sleep(Duration::from_millis(2));
    }
}

fn gone(pid: i32) {
    while alive(pid) {
        thread::sleep(Duration::from_millis(2));
    }
}

#[tokio::test]
async fn agent_starts_and_stops_on_socket_and_port() {
    for listen in [Listen::Unix, Listen::Tcp] {
        let launch = Launch {
            listen,
            ..agent("good")
        };
        let process = start(&launch).await.expect("an agent");
        assert_eq!(process.exit(), None);
        process.stop().await;
    }
}

#[tokio::test]
async fn start_crash_is_reported_with_output() {
    let (error, tail) = start(&shell("echo out; echo boom >&2; exit 3"))
        .await
        .expect_err("3");
    assert!(
        matches!(
            error,
            StartError::Exited {
                exit: Exit::Code(3),
                ..
            }
        ),
        "{error}"
    );
    // Standard output and error are two pipes: which one is read first is not certain.
    let mut lines: Vec<&str> = tail.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["boom", "out"]);
    let (error, _) = start(&shell("kill -SEGV $$")).await.expect_err("a signal");
    assert!(error.to_string().contains("SIGSEGV"), "{error}");
}

#[tokio::test]
async fn agents_start_in_empty_folders_of_their_own() {
    let launch = shell("ls -A; test \"$PWD\" = \"$(pwd)\" && pwd; touch left; exit 3");
    let mut folders = Vec::new();
    for _ in 0..2 {
        let (_, tail) = start(&launch).await.expect_err("3");
        assert!(tail.starts_with('/') && !tail.contains('\n'), "{tail}");
        assert!(!Path::new(&tail).exists(), "{tail} is left");
        folders.push(tail);
    }
    assert_ne!(folders[0], folders[1]);
}

#[tokio::test]
async fn unrunnable_file_is_named() {
    let (error, tail) = start(&launch(Path::new("/no/such/agent"), &[]))
        .await
        .expect_err("no file");
    assert!(
        matches!(
            error,
            StartError::Exited {
                exit: Exit::Code(127),
                ..
            }
        ),
        "{error}"
    );
    assert!(tail.contains("cannot run /no/such/agent"), "{tail}");
}

#[tokio::test]
async fn silent_agent_is_given_up() {
    for mut launch in [shell("sleep 1000"), agent("never-ready")] {
        launch.limits.start = Duration::from_millis(400);
        let (error, _) = start(&launch).await.expect_err("not ready");
        assert!(matches!(error, StartError::Slow { .. }), "{error}");
    }
}

#[tokio::test]
async fn cpu_time_of_an_agent_that_is_not_ready_is_named() {
    let mut launch = shell("while :; do :; done");
    launch.limits.start = Duration::from_secs(1);
    let (error, _) = start(&launch).await.expect_err("not ready");
    assert!(error.to_string().ends_with(" of CPU time"), "{error}");
    assert!(
        matches!(error, StartError::Slow { used, .. } if !used.is_zero()),
        "{error}"
    );
}

#[tokio::test]
async fn output_and_process_limits_hold() {
    let (error, tail) = start(&shell("yes")).await.expect_err("a flood");
    assert!(
        matches!(
            error,
            StartError::Exited {
                exit: Exit::OutputLimit(_),
                ..
            }
        ),
        "{error}"
    );
    assert!(tail.ends_with('y'));
    // A process that ended by itself meanwhile.
    let (error, _) = start(&shell("head -c 17000000 /dev/zero"))
        .await
        .expect_err("a flood");
    assert!(
        matches!(
            error,
            StartError::Exited {
                exit: Exit::OutputLimit(_),
                ..
            }
        ),
        "{error}"
    );
    let mut launch = shell("for i in 1 2 3 4 5 6; do sleep 1000 & done; sleep 1000");
    launch.limits.processes = 4;
    let (error, _) = start(&launch).await.expect_err("processes");
    assert!(
        matches!(
            error,
            StartError::Exited {
                exit: Exit::Exceeded(..),
                ..
            }
        ),
        "{error}"
    );
}

#[tokio::test]
async fn memory_is_bounded() {
    let mut launch = shell("exec tail /dev/zero");
    launch.limits.memory_bytes = 64 << 20;
    let (error, tail) = start(&launch).await.expect_err("memory");
    assert!(matches!(error, StartError::Exited { .. }), "{error}");
    assert!(tail.contains("memory exhausted"), "{tail}");
}

#[tokio::test]
async fn stop_ends_escaped_children() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("pid");
    let mut launch = agent("good");
    launch
        .args
        .extend(["--descendant".into(), file.clone().into()]);
    let process = start(&launch).await.expect("an agent");
    let pid = pid_in(&file);
    assert!(alive(pid));
    process.stop().await;
    assert!(!alive(pid));
}

#[tokio::test]
async fn killed_guard_leaves_nothing() {
    let dir = tempfile::tempdir().expect("a folder");
    let [group, session, guard] = ["group", "session", "guard"].map(|name| dir.path().join(name));
    let started = shell(&format!(
        "sleep 1000 & echo $! > {}; setsid sleep 1000 & echo $! > {}; echo $PPID > {}; wait",
        group.display(),
        session.display(),
        guard.display(),
    ));
    let starting = tokio::spawn(async move { start(&started).await });
    let pids = tokio::task::spawn_blocking(move || [group, session, guard].map(|at| pid_in(&at)));
    let [group, session, guard] = pids.await.expect("they are written");
    assert!(alive(group) && alive(session));
    kill(Pid::from_raw(guard), Signal::SIGKILL).expect("a guard");
    let (error, _) = starting.await.expect("no panic").expect_err("it is gone");
    assert!(error.to_string().contains("SIGKILL"), "{error}");
    assert!(!alive(group), "in the guard's group");
    assert!(!alive(session), "with a session of its own");
}

#[test]
fn killed_worker_leaves_nothing() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("pid");
    let mut worker = Command::new(fixture())
        .arg("hold")
        .arg(fixture())
        .args(["fake", "--mode", "good", "--descendant"])
        .arg(&file)
        .stdout(Stdio::piped())
        .spawn()
        .expect("a worker");
    let mut line = String::new();
    BufReader::new(worker.stdout.take().expect("stdout"))
        .read_line(&mut line)
        .expect("a line");
    assert_eq!(line, "ready\n");
    let pid = pid_in(&file);
    assert!(alive(pid));
    worker.kill().expect("SIGKILL");
    worker.wait().expect("its end");
    gone(pid);
}
