//! Keeps a coordinator and its workers running, like an operator: a process that ends is restarted
//! with the same folder and port.

use std::{
    fs::{self, File, OpenOptions},
    os::unix::process::ExitStatusExt,
    path::PathBuf,
    process::{Child, Command, ExitStatus},
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::Value;

use crate::{World, program, stress::Broken};

/// A program that is kept running.
pub(super) struct Server {
    /// The name for messages: `coordinator`, `worker 2`.
    pub(super) name: String,
    arguments: Vec<String>,
    stdout: PathBuf,
    stderr: PathBuf,
    child: Option<Child>,
    /// Signals sent to it since its start.
    sent: Vec<Signal>,
    /// When to restart it.
    due: Option<Instant>,
    pub(super) starts: u32,
}

impl Server {
    pub(super) fn new(world: &World, name: &str, arguments: Vec<String>) -> Self {
        let file = |ending: &str| {
            let name = name.replace(' ', "-");
            world.folder().join(format!("{name}.{ending}"))
        };
        Self {
            name: name.to_owned(),
            arguments,
            stdout: file("out"),
            stderr: file("err"),
            child: None,
            sent: Vec::new(),
            due: None,
            starts: 0,
        }
    }

    /// Starts it, and appends its stderr to the previous one.
    pub(super) fn start(&mut self, world: &World) {
        let mut command: Command = world.command(program::arena());
        let log = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.stderr);
        command
            .args(&self.arguments)
            .env("TMPDIR", temp(world))
            .stdout(File::create(&self.stdout).expect("a file"))
            .stderr(log.expect("a file"));
        self.child = Some(command.spawn().expect("arena can be started"));
        self.sent.clear();
        self.due = None;
        self.starts += 1;
    }

    /// Its process id, if it runs.
    pub(super) fn id(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    /// The line with its address, once it listens.
    pub(super) fn listens(&self) -> Option<Value> {
        let text = fs::read_to_string(&self.stdout).ok()?;
        serde_json::from_str(text.split_once('\n')?.0).ok()
    }

    pub(super) fn log(&self) -> String {
        fs::read_to_string(&self.stderr).unwrap_or_default()
    }

    pub(super) fn signal(&mut self, signal: Signal) {
        if let Some(child) = &self.child {
            // The process was not waited for, so its id is still its own.
            kill(Pid::from_raw(child.id() as i32), signal).expect("a child takes signals");
            self.sent.push(signal);
        }
    }

    /// Waits for its end, which one of the sent signals has to explain.
    pub(super) fn end(&mut self) -> Result<(), Broken> {
        if let Some(mut child) = self.child.take() {
            let status = crate::until("a server to end", || child.try_wait().expect("a child"));
            self.explained(status)?;
        }
        Ok(())
    }

    /// Checks whether it has ended.
    pub(super) fn look(&mut self) -> Result<bool, Broken> {
        let Some(child) = &mut self.child else {
            return Ok(false);
        };
        let Some(status) = child.try_wait().expect("a child") else {
            return Ok(false);
        };
        self.child = None;
        self.explained(status)?;
        Ok(true)
    }

    /// Whether it is time to restart it.
    pub(super) fn is_due(&self) -> bool {
        self.child.is_none() && self.due.is_some_and(|due| due <= Instant::now())
    }

    /// Schedules its restart.
    pub(super) fn again(&mut self, after: Duration) {
        self.due = Some(Instant::now() + after);
    }

    /// Whether a signal was sent that ends it.
    pub(super) fn is_to_end(&self) -> bool {
        let ends = |signal| matches!(signal, &Signal::SIGKILL | &Signal::SIGTERM);
        self.sent.iter().any(ends)
    }

    pub(super) fn runs(&self) -> bool {
        self.child.is_some()
    }

    fn explained(&self, status: ExitStatus) -> Result<(), Broken> {
        let asked = self.sent.iter().filter(|it| **it == Signal::SIGTERM);
        let asked = asked.count();
        let explained = match (status.signal(), status.code()) {
            (Some(signal), _) => self.sent.iter().any(|sent| *sent as i32 == signal),
            (None, Some(0)) => asked > 0,
            // The second SIGTERM ends it immediately.
            (None, Some(130)) => asked > 1,
            _ => false,
        };
        if explained {
            return Ok(());
        }
        Err(Broken::new(format_args!(
            "{} ended with {status} after {:?}:\n{}",
            self.name,
            self.sent,
            self.log()
        )))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            // An error means that it has ended.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The folder for temporary files of all processes in a world.
pub(super) fn temp(world: &World) -> PathBuf {
    let temp = world.folder().join("tmp");
    fs::create_dir_all(&temp).expect("a folder");
    temp
}
