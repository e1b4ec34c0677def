//! The process between a worker and an agent.
//!
//! A worker starts its own executable as a guard, in a new process group. The guard starts the
//! agent and becomes the parent of all orphans of the agent. It ends all of them when the agent
//! ends, when it is asked to, or when its standard input closes, which happens however the
//! worker dies. If the guard is killed, the kernel kills the agent, and the worker ends what the
//! agent had started.
//!
//! Agent and guard share one pipe for the agent's output (the guard's standard error); the
//! guard's standard output carries one [`Report`].

mod exec;
pub(crate) mod tree;

use std::{
    env,
    ffi::OsString,
    io::{self, Read, Write},
    process::{Command, ExitCode, Stdio},
    sync::mpsc::{self, RecvTimeoutError, Sender},
    thread,
    time::{Duration, Instant},
};

use nix::{
    errno::Errno,
    sys::{
        prctl,
        signal::{SigSet, Signal, killpg},
        wait::{WaitStatus, waitpid},
    },
    unistd::{Pid, getpgrp, getpid},
};

/// Time for an agent to end by itself after it is asked to.
const GRACE: Duration = Duration::from_millis(300);
/// Maximum time to wait for killed processes to disappear.
const REAP: Duration = Duration::from_secs(5);
/// Interval at which processes are counted.
const CHECK: Duration = Duration::from_millis(500);

/// How an agent ended, as the guard reports it to the worker in one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Report {
    /// It exited with this code.
    Exited(i32),
    /// A signal ended it.
    Signalled(i32),
    /// It was ended because it had too many processes.
    Processes(usize),
    /// The system refused to start it, with this error number: not the agent's fault.
    Refused(i32),
}

impl Report {
    /// Formats the line.
    #[must_use]
    pub fn to_line(self) -> String {
        match self {
            Self::Exited(code) => format!("exited {code}\n"),
            Self::Signalled(signal) => format!("signalled {signal}\n"),
            Self::Processes(count) => format!("processes {count}\n"),
            Self::Refused(errno) => format!("refused {errno}\n"),
        }
    }

    /// Parses [`Report::to_line`].
    #[must_use]
    pub fn from_line(line: &str) -> Option<Self> {
        let (word, number) = line.trim_end().split_once(' ')?;
        let number: i32 = number.parse().ok()?;
        match word {
            "exited" => Some(Self::Exited(number)),
            "signalled" => Some(Self::Signalled(number)),
            "processes" => Some(Self::Processes(usize::try_from(number).ok()?)),
            "refused" => Some(Self::Refused(number)),
            _ => None,
        }
    }
}

/// Settings of the guard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Orders {
    /// Maximum bytes of writable memory for each process of the agent; 0: no limit.
    memory_bytes: u64,
    /// Maximum number of processes; 0: no limit.
    processes: usize,
    /// The second stage: become the agent, as a child of this process.
    exec_under: Option<i32>,
    command: Vec<OsString>,
}

impl Orders {
    fn parse(args: impl IntoIterator<Item = OsString>) -> Option<Self> {
        let mut orders = Self::default();
        let mut args = args.into_iter();
        loop {
            let arg = args.next()?;
            let arg = arg.to_str()?;
            if arg == "--" {
                break;
            }
            let value = args.next()?;
            let value = value.to_str()?;
            match arg {
                "--memory-bytes" => orders.memory_bytes = value.parse().ok()?,
                "--processes" => orders.processes = value.parse().ok()?,
                "--exec-under" => orders.exec_under = Some(value.parse().ok()?),
                _ => return None,
            }
        }
        orders.command = args.collect();
        (!orders.command.is_empty()).then_some(orders)
    }
}

/// Runs the guard: `[--memory-bytes N] [--processes N] -- BINARY ARGS…`. It must be called before
/// any thread or runtime starts, with the arguments after the subcommand. The executable and the
/// arguments before that are used again for the second stage.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    let Some(orders) = Orders::parse(args.iter().cloned()) else {
        complain("usage: guard [--memory-bytes N] [--processes N] -- BINARY ARGS…");
        return ExitCode::from(2);
    };
    if let Some(parent) = orders.exec_under {
        return exec::become_agent(parent, orders.memory_bytes, &orders.command);
    }
    let all: Vec<OsString> = env::args_os().skip(1).collect();
    let prefix = &all[..all.len().saturating_sub(args.len())];
    match guard(&orders, prefix) {
        Ok(report) => {
            let _ = io::stdout().write_all(report.to_line().as_bytes());
            ExitCode::SUCCESS
        }
        Err(error) => {
            let errno = error.raw_os_error().unwrap_or(0);
            complain(&format!("cannot start a guarded process: {error}"));
            let _ = io::stdout().write_all(Report::Refused(errno).to_line().as_bytes());
            ExitCode::FAILURE
        }
    }
}

fn complain(message: &str) {
    let _ = writeln!(io::stderr(), "arena: {message}");
}

enum Happened {
    /// The worker is gone or wants the agent to end.
    Over,
    /// The agent ended.
    Agent(Report),
    /// No child is left.
    Alone,
}

fn guard(orders: &Orders, prefix: &[OsString]) -> io::Result<Report> {
    let signals = SigSet::from_iter([Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP]);
    signals.thread_block()?;
    prctl::set_child_subreaper(true)?;

    let agent = Command::new(env::current_exe()?)
        .args(prefix)
        .args(["--memory-bytes", &orders.memory_bytes.to_string()])
        .args(["--exec-under", &getpid().to_string()])
        .arg("--")
        .args(&orders.command)
        .stdin(Stdio::null())
        .stdout(io::stderr())
        .spawn()?;
    let agent = Pid::from_raw(agent.id() as i32);

    let (happened, events) = mpsc::channel();
    let (on_input, on_signal) = (happened.clone(), happened.clone());
    spawn(move || watch_input(&on_input))?;
    spawn(move || while signals.wait().is_ok() && on_signal.send(Happened::Over).is_ok() {})?;
    spawn(move || watch_children(agent, &happened))?;

    let mut report = None;
    let mut grace = GRACE;
    loop {
        match events.recv_timeout(CHECK) {
            Ok(Happened::Over) | Err(RecvTimeoutError::Disconnected) => break,
            Ok(Happened::Agent(how)) => {
                report = Some(how);
                grace = Duration::ZERO;
                break;
            }
            Ok(Happened::Alone) => return Ok(report.unwrap_or(Report::Exited(0))),
            Err(RecvTimeoutError::Timeout) => {
                let count = tree::descendants(getpid()).len();
                if orders.processes > 0 && count > orders.processes {
                    report = Some(Report::Processes(count));
                    grace = Duration::ZERO;
                    break;
                }
            }
        }
    }
    let ended = end_all(&events, grace);
    Ok(report.or(ended).unwrap_or(Report::Signalled(9)))
}

/// Ends every descendant, with SIGTERM first if there is time. Returns how the agent ended, if it
/// had not ended before.
fn end_all(events: &mpsc::Receiver<Happened>, grace: Duration) -> Option<Report> {
    let mut report = None;
    if !grace.is_zero() {
        // The guard is in the group, too, but blocks the signal.
        let _ = killpg(getpgrp(), Signal::SIGTERM);
        tree::signal(getpid(), Signal::SIGTERM);
    }
    let start = Instant::now();
    while start.elapsed() < grace + REAP {
        let wait = if start.elapsed() < grace {
            grace - start.elapsed()
        } else {
            // A process may start others while the list is read, so repeat until none is left.
            tree::signal(getpid(), Signal::SIGKILL);
            Duration::from_millis(5)
        };
        match events.recv_timeout(wait) {
            Ok(Happened::Agent(how)) => report = Some(how),
            Ok(Happened::Alone) | Err(RecvTimeoutError::Disconnected) => break,
            Ok(Happened::Over) | Err(RecvTimeoutError::Timeout) => {}
        }
    }
    report
}

/// Runs work on a thread that is never joined.
fn spawn(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().spawn(work).map(drop)
}

fn watch_input(happened: &Sender<Happened>) {
    let mut input = io::stdin();
    let mut buffer = [0; 64];
    while matches!(input.read(&mut buffer), Ok(count) if count > 0) {}
    let _ = happened.send(Happened::Over);
}

fn watch_children(agent: Pid, happened: &Sender<Happened>) {
    loop {
        let report = match waitpid(None, None) {
            Ok(WaitStatus::Exited(pid, code)) if pid == agent => Report::Exited(code),
            Ok(WaitStatus::Signaled(pid, signal, _)) if pid == agent => {
                Report::Signalled(signal as i32)
            }
            Ok(_) | Err(Errno::EINTR) => continue,
            Err(_) => {
                let _ = happened.send(Happened::Alone);
                return;
            }
        };
        let _ = happened.send(Happened::Agent(report));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guard_options_end_at_dashes() {
        let args = ["--processes", "4", "--", "prog", "--processes", "--"];
        let orders = Orders::parse(args.map(OsString::from)).expect("orders");
        assert_eq!(orders.processes, 4);
        assert_eq!(orders.command, ["prog", "--processes", "--"]);
        for wrong in [&["--"][..], &["prog"], &["--processes", "x", "--", "prog"]] {
            assert_eq!(Orders::parse(wrong.iter().map(OsString::from)), None);
        }
    }

    #[test]
    fn reports_are_read_as_they_were_written() {
        for report in [
            Report::Exited(3),
            Report::Signalled(11),
            Report::Processes(70),
            Report::Refused(12),
        ] {
            assert_eq!(Report::from_line(&report.to_line()), Some(report));
        }
        assert_eq!(Report::from_line("signalled"), None);
    }
}
