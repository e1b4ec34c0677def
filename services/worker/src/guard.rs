//! The guard: a process between a worker and an agent.
//!
//! A worker starts its own executable as a guard, in a new process group. The guard starts the
//! agent and becomes the parent of all orphans of the agent. It ends all these processes when the
//! agent ends, when the guard gets a signal, or when its standard input closes. The input closes
//! whenever the worker ends, even if the worker is killed. If the guard is killed, the kernel kills
//! the agent, and the worker ends the other processes of the agent.
//!
//! Agent and guard share one pipe for the agent's output: the guard's standard error. On its
//! standard output, the guard writes one [`Report`].

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

/// Time for an agent to end by itself after SIGTERM.
const GRACE: Duration = Duration::from_millis(300);
/// Maximum time to wait for killed processes to disappear.
const REAP: Duration = Duration::from_secs(5);
/// Interval at which the guard counts the agent's processes.
const CHECK: Duration = Duration::from_millis(500);

/// How an agent ended, as the guard reports it to the worker in one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Report {
    /// The agent exited with this code.
    Exited(i32),
    /// This signal ended the agent.
    Signalled(i32),
    /// The guard ended the agent because it had this many processes, which is too many.
    Processes(usize),
    /// The system could not start the agent, with this error number. The agent is not at fault.
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

/// Arguments of the guard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct GuardArgs {
    /// Maximum bytes of writable memory for each process of the agent; 0: no limit.
    memory_bytes: u64,
    /// Maximum number of processes; 0: no limit.
    processes: usize,
    /// In the second stage, the process id of the guard: this process then becomes the agent.
    exec_under: Option<i32>,
    command: Vec<OsString>,
}

impl GuardArgs {
    fn parse(args: impl IntoIterator<Item = OsString>) -> Option<Self> {
        let mut parsed = Self::default();
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
                "--memory-bytes" => parsed.memory_bytes = value.parse().ok()?,
                "--processes" => parsed.processes = value.parse().ok()?,
                "--exec-under" => parsed.exec_under = Some(value.parse().ok()?),
                _ => return None,
            }
        }
        parsed.command = args.collect();
        (!parsed.command.is_empty()).then_some(parsed)
    }
}

/// Runs the guard, with the arguments after the subcommand:
/// `[--memory-bytes N] [--processes N] -- BINARY ARGS…`. Call it before any thread or runtime
/// starts. For the second stage, the guard starts its own executable again, with the same
/// subcommand.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    let Some(parsed) = GuardArgs::parse(args.iter().cloned()) else {
        print_error("usage: guard [--memory-bytes N] [--processes N] -- BINARY ARGS…");
        return ExitCode::from(2);
    };
    if let Some(parent) = parsed.exec_under {
        return exec::become_agent(parent, parsed.memory_bytes, &parsed.command);
    }
    let all: Vec<OsString> = env::args_os().skip(1).collect();
    let subcommand = &all[..all.len().saturating_sub(args.len())];
    match guard(&parsed, subcommand) {
        Ok(report) => {
            let _ = io::stdout().write_all(report.to_line().as_bytes());
            ExitCode::SUCCESS
        }
        Err(error) => {
            let errno = error.raw_os_error().unwrap_or(0);
            print_error(&format!("cannot start a guarded process: {error}"));
            let _ = io::stdout().write_all(Report::Refused(errno).to_line().as_bytes());
            ExitCode::FAILURE
        }
    }
}

fn print_error(message: &str) {
    let _ = writeln!(io::stderr(), "arena: {message}");
}

/// An event that the guard waits for.
enum Happened {
    /// The worker ended, or the guard got a signal: the agent has to end.
    Over,
    /// The agent ended.
    Agent(Report),
    /// The guard has no child any more.
    Alone,
}

fn guard(args: &GuardArgs, subcommand: &[OsString]) -> io::Result<Report> {
    let signals = SigSet::from_iter([Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP]);
    signals.thread_block()?;
    prctl::set_child_subreaper(true)?;

    let agent = Command::new(env::current_exe()?)
        .args(subcommand)
        .args(["--memory-bytes", &args.memory_bytes.to_string()])
        .args(["--exec-under", &getpid().to_string()])
        .arg("--")
        .args(&args.command)
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
                if args.processes > 0 && count > args.processes {
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

/// Ends every descendant: with SIGTERM first, unless `grace` is zero, then with SIGKILL. Returns
/// how the agent ended, if it ended only now.
fn end_all(events: &mpsc::Receiver<Happened>, grace: Duration) -> Option<Report> {
    let mut report = None;
    if !grace.is_zero() {
        // The guard is in the same group, but blocks this signal.
        let _ = killpg(getpgrp(), Signal::SIGTERM);
        tree::signal(getpid(), Signal::SIGTERM);
    }
    let start = Instant::now();
    while start.elapsed() < grace + REAP {
        let wait = if start.elapsed() < grace {
            grace - start.elapsed()
        } else {
            // A process can start others while the list is read, so this is repeated until no
            // descendant is left.
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
        let parsed = GuardArgs::parse(args.map(OsString::from)).expect("arguments");
        assert_eq!(parsed.processes, 4);
        assert_eq!(parsed.command, ["prog", "--processes", "--"]);
        for wrong in [&["--"][..], &["prog"], &["--processes", "x", "--", "prog"]] {
            assert_eq!(GuardArgs::parse(wrong.iter().map(OsString::from)), None);
        }
    }

    #[test]
    fn guard_reports_round_trip() {
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
