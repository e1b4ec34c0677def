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
//!
//! The processes between guard and agent run the same executable. In a sandbox with namespaces, the
//! first of them is process 1 there. The last one sets up the rest of the sandbox and becomes the
//! agent. Until then, its standard output leads to the guard, for the layer that it cannot set up.

mod exec;
mod init;
pub(crate) mod tree;

use std::{
    env,
    ffi::{OsStr, OsString},
    io::{self, Read, Write},
    os::fd::AsFd,
    process::{ChildStdout, Command, ExitCode, Stdio},
    time::{Duration, Instant},
};

use arena_sandbox::{
    Layer, Missing, Plan, TreeLimit,
    cgroup::{self, Group},
    usage::{self, Meter},
};
use nix::{
    errno::Errno,
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sys::{
        prctl,
        signal::{SigSet, Signal, killpg},
        signalfd::{SfdFlags, SignalFd},
        wait::{WaitPidFlag, WaitStatus, waitpid},
    },
    unistd::{Pid, getpgrp, getpid},
};

/// Time for an agent to end by itself after SIGTERM.
const GRACE: Duration = Duration::from_millis(300);
/// Maximum time to wait for killed processes to disappear.
const REAP: Duration = Duration::from_secs(5);
/// Interval at which the guard counts the agent's processes.
const CHECK: Duration = Duration::from_millis(500);

/// Maximum bytes that a stage before the agent writes.
const NOTE_BYTES: usize = 4096;

/// The line before the report: the sandbox is set up, and the agent starts.
pub(crate) const STARTS: &str = "starts";

/// How an agent ended, as the guard reports it to the worker in one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Report {
    /// The agent exited with this code.
    Exited(i32),
    /// This signal ended the agent.
    Signalled(i32),
    /// The guard ended the agent because it exceeded this limit, with this value.
    Exceeded(TreeLimit, u64),
    /// The sandbox cannot be set up on this machine. The agent is not at fault.
    Unconfined(Missing),
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
            Self::Exceeded(limit, value) => {
                let limit: &str = limit.into();
                format!("exceeded {limit} {value}\n")
            }
            Self::Unconfined(missing) => format!("unconfined {}\n", missing.to_words()),
            Self::Refused(errno) => format!("refused {errno}\n"),
        }
    }

    /// The report in the standard output of a guard or of a stage before the agent.
    #[must_use]
    pub fn in_output(output: &str) -> Option<Self> {
        output.lines().find_map(Self::from_line)
    }

    /// Parses [`Report::to_line`].
    #[must_use]
    pub fn from_line(line: &str) -> Option<Self> {
        let (word, number) = line.trim_end().split_once(' ')?;
        if word == "unconfined" {
            return Missing::from_words(number).map(Self::Unconfined);
        }
        if word == "exceeded" {
            let (limit, value) = number.split_once(' ')?;
            return Some(Self::Exceeded(limit.parse().ok()?, value.parse().ok()?));
        }
        let number: i32 = number.parse().ok()?;
        match word {
            "exited" => Some(Self::Exited(number)),
            "signalled" => Some(Self::Signalled(number)),
            "refused" => Some(Self::Refused(number)),
            _ => None,
        }
    }
}

/// Arguments of the guard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct GuardArgs {
    /// The sandbox, and the limits of the agent.
    plan: Plan,
    /// True in process 1 of a sandbox with namespaces.
    init: bool,
    /// In the last stage, the process id of the parent: this process then becomes the agent.
    exec_under: Option<i32>,
    /// The agent; empty: only set up the sandbox, to find out whether this machine can.
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
                "--plan" => parsed.plan = serde_json::from_str(value).ok()?,
                "--init" => parsed.init = value.parse().ok()?,
                "--exec-under" => parsed.exec_under = Some(value.parse().ok()?),
                _ => return None,
            }
        }
        parsed.command = args.collect();
        Some(parsed)
    }
}

/// Runs the guard, with the arguments after the subcommand:
/// `[--plan JSON] -- [BINARY ARGS…]`. Call it before any thread or runtime starts. For further
/// stages, the guard starts its own executable again, with the same subcommand.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    let Some(parsed) = GuardArgs::parse(args.iter().cloned()) else {
        print_error("usage: guard [--plan JSON] -- [BINARY ARGS…]");
        return ExitCode::from(2);
    };
    if let Some(parent) = parsed.exec_under {
        return exec::become_agent(parent, &parsed.plan, &parsed.command);
    }
    let all: Vec<OsString> = env::args_os().skip(1).collect();
    let subcommand = &all[..all.len().saturating_sub(args.len())];
    if parsed.init {
        return init::main(&parsed, subcommand);
    }
    match guard(parsed, subcommand) {
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

impl GuardArgs {
    /// The next stage, as a command of this program.
    fn next_stage(&self, program: &OsStr, subcommand: &[OsString], stage: [&str; 2]) -> Command {
        let plan = serde_json::to_string(&self.plan).expect("a plan is plain data");
        let mut command = Command::new(program);
        command
            .args(subcommand)
            .args(["--plan", &plan])
            .args(stage)
            .arg("--")
            .args(&self.command);
        command
    }
}

fn guard(mut args: GuardArgs, subcommand: &[OsString]) -> io::Result<Report> {
    let signals = [
        Signal::SIGTERM,
        Signal::SIGINT,
        Signal::SIGHUP,
        Signal::SIGCHLD,
    ];
    let signals = SigSet::from_iter(signals);
    signals.thread_block()?;
    prctl::set_child_subreaper(true)?;

    if let Err(missing) = arena_sandbox::before_start(&mut args.plan) {
        return Ok(Report::Unconfined(missing));
    }
    let has_init = args.plan.has_namespaces();
    let group = match cgroup::group(&args.plan, &getpid().to_string()) {
        Ok(group) => group,
        Err(error) => return Ok(Report::Unconfined(no_group(&error))),
    };
    let me = getpid().to_string();
    let stage = match has_init {
        true => ["--init", "true"],
        false => ["--exec-under", &me],
    };
    let program = env::current_exe()?;
    let mut agent = args
        .next_stage(program.as_os_str(), subcommand, stage)
        .stdin(if has_init {
            Stdio::piped()
        } else {
            Stdio::null()
        })
        .stdout(Stdio::piped())
        .spawn()?;
    let notes = agent.stdout.take();
    // Process 1 of a sandbox ends when this is closed.
    let mut input = agent.stdin.take();
    let agent = Pid::from_raw(agent.id() as i32);
    if let Some(group) = &group
        && let Err(error) = group.add(agent.as_raw() as u32)
    {
        return Ok(Report::Unconfined(no_group(&error)));
    }
    if let Some(input) = &mut input {
        // From now on, all that process 1 starts is in the group.
        input.write_all(b"\n")?;
    }
    let limit_of_group = || {
        let limits = args.plan.limits;
        let limit = group.as_ref().and_then(Group::enforced)?;
        Some(match limit {
            TreeLimit::Memory => (limit, limits.memory_bytes),
            _ => (limit, limits.processes),
        })
    };

    let mut events = Events {
        signals: SignalFd::with_flags(&signals, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?,
        agent,
        notes: notes.map(Notes::new),
        is_input_open: true,
    };
    let mut report = None;
    let mut grace = GRACE;
    let mut meter = Meter::new(&args.plan);
    let interval = match args.plan.layers.is_empty() {
        true => CHECK,
        false => usage::INTERVAL,
    };
    loop {
        match events.next(interval)? {
            Some(Happened::Over) => break,
            Some(Happened::Agent(how)) => {
                report = Some(how);
                grace = Duration::ZERO;
                break;
            }
            Some(Happened::Alone) => return Ok(report.unwrap_or(Report::Exited(0))),
            None => {
                let mut processes: Vec<i32> = tree::descendants(getpid()).into_iter().collect();
                if has_init {
                    processes.retain(|&pid| pid != agent.as_raw());
                }
                let exceeded = meter.measure(agent.as_raw(), &processes);
                if let Some((limit, value)) = exceeded.or_else(limit_of_group) {
                    report = Some(Report::Exceeded(limit, value));
                    grace = Duration::ZERO;
                    break;
                }
            }
        }
    }
    if !matches!(report, Some(Report::Exceeded(..)))
        && let Some((limit, value)) = limit_of_group()
    {
        report = Some(Report::Exceeded(limit, value));
    }
    let ended = end_all(&mut events, grace)?;
    Ok(report.or(ended).unwrap_or(Report::Signalled(9)))
}

fn no_group(error: &io::Error) -> Missing {
    Missing {
        layer: Layer::Cgroup,
        errno: error.raw_os_error().unwrap_or(0),
    }
}

/// Ends every descendant: with SIGTERM first, unless `grace` is zero, then with SIGKILL. Returns
/// how the agent ended, if it ended only now.
fn end_all(events: &mut Events, grace: Duration) -> io::Result<Option<Report>> {
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
        match events.next(wait)? {
            Some(Happened::Agent(how)) => report = Some(how),
            Some(Happened::Alone) => break,
            Some(Happened::Over) | None => {}
        }
    }
    Ok(report)
}

/// What the guard waits for, without threads: after it has made a pid namespace, it cannot start
/// any.
struct Events {
    signals: SignalFd,
    agent: Pid,
    notes: Option<Notes>,
    is_input_open: bool,
}

/// What the stages before the agent write: [`STARTS`], or why they ended.
struct Notes {
    pipe: ChildStdout,
    text: String,
    has_started: bool,
}

impl Notes {
    fn new(pipe: ChildStdout) -> Self {
        Self {
            pipe,
            text: String::new(),
            has_started: false,
        }
    }

    /// Reads once; the first line that says that the agent starts is passed on. False at the end.
    fn read(&mut self) -> bool {
        let mut buffer = [0; 256];
        let count = self.pipe.read(&mut buffer).unwrap_or(0);
        self.text
            .push_str(&String::from_utf8_lossy(&buffer[..count]));
        if !self.has_started && self.text.lines().any(|line| line == STARTS) {
            self.has_started = true;
            let _ = writeln!(io::stdout(), "{STARTS}");
        }
        count > 0 && self.text.len() < NOTE_BYTES
    }
}

impl Events {
    /// The next event; none if there is none within this time.
    fn next(&mut self, within: Duration) -> io::Result<Option<Happened>> {
        let until = Instant::now() + within;
        loop {
            if let Some(happened) = self.reap() {
                return Ok(Some(happened));
            }
            let left = until.saturating_duration_since(Instant::now());
            // Rounded up, so that it does not spin at the end.
            let left = PollTimeout::try_from(left.as_millis() as u64 + u64::from(!left.is_zero()));
            let input = io::stdin();
            let mut waited = vec![PollFd::new(self.signals.as_fd(), PollFlags::POLLIN)];
            if self.is_input_open {
                waited.push(PollFd::new(input.as_fd(), PollFlags::POLLIN));
            }
            let notes = self.notes.as_ref().filter(|notes| !notes.has_started);
            let notes_at = notes.map(|notes| {
                waited.push(PollFd::new(notes.pipe.as_fd(), PollFlags::POLLIN));
                waited.len() - 1
            });
            let ready = match poll(&mut waited, left.unwrap_or(PollTimeout::MAX)) {
                Err(Errno::EINTR) => continue,
                ready => ready?,
            };
            if ready == 0 {
                return Ok(None);
            }
            let is_ready = |at: usize| waited[at].any().unwrap_or(true);
            let has_input = self.is_input_open && is_ready(1);
            if notes_at.is_some_and(is_ready)
                && let Some(notes) = &mut self.notes
                && !notes.read()
            {
                // Nothing follows: the agent has replaced the last stage, or all have ended.
                notes.has_started = true;
            }
            while let Some(signal) = self.signals.read_signal()? {
                if signal.ssi_signo != Signal::SIGCHLD as u32 {
                    return Ok(Some(Happened::Over));
                }
            }
            if has_input
                && !matches!(nix::unistd::read(&input, &mut [0; 64]), Ok(count) if count > 0)
            {
                self.is_input_open = false;
                return Ok(Some(Happened::Over));
            }
        }
    }

    /// Takes note of children that have ended.
    fn reap(&mut self) -> Option<Happened> {
        loop {
            let report = match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::StillAlive) => return None,
                Ok(WaitStatus::Exited(pid, code)) if pid == self.agent => Report::Exited(code),
                Ok(WaitStatus::Signaled(pid, signal, _)) if pid == self.agent => {
                    Report::Signalled(signal as i32)
                }
                Ok(_) | Err(Errno::EINTR) => continue,
                Err(_) => return Some(Happened::Alone),
            };
            // A stage before the agent knows more: which layer is missing, how process 2 ended.
            let noted = self.notes.take().and_then(|mut notes| {
                while notes.read() {}
                Report::in_output(&notes.text)
            });
            return Some(Happened::Agent(noted.unwrap_or(report)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guard_options_end_at_dashes() {
        let args = ["--exec-under", "4", "--", "prog", "--init", "--"];
        let parsed = GuardArgs::parse(args.map(OsString::from)).expect("arguments");
        assert_eq!(parsed.exec_under, Some(4));
        assert_eq!(parsed.command, ["prog", "--init", "--"]);
        for wrong in [&["prog"][..], &["--plan", "x", "--", "prog"]] {
            assert_eq!(GuardArgs::parse(wrong.iter().map(OsString::from)), None);
        }
    }

    #[test]
    fn guard_reports_round_trip() {
        for report in [
            Report::Exited(3),
            Report::Signalled(11),
            Report::Exceeded(TreeLimit::Memory, 1 << 40),
            Report::Unconfined(Missing {
                layer: Layer::UserNamespace,
                errno: 1,
            }),
            Report::Refused(12),
        ] {
            assert_eq!(Report::from_line(&report.to_line()), Some(report));
        }
        assert_eq!(Report::from_line("signalled"), None);
    }
}
