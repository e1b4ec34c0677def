//! A coordinator or a worker as a child process.

use std::{
    fs,
    path::PathBuf,
    process::{Child, ExitStatus},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::Value;

use crate::{http, wait::until};

/// Lines of a log that a failed test shows.
const LINES_SHOWN: usize = 40;

/// A running coordinator or worker. Killed when dropped.
#[derive(Debug)]
pub struct Server {
    pub(crate) child: Child,
    pub(crate) stdout: PathBuf,
    pub(crate) stderr: PathBuf,
    addresses: Value,
}

impl Server {
    /// Waits for the line with its address.
    pub(crate) fn new(child: Child, stdout: PathBuf, stderr: PathBuf) -> Self {
        let mut server = Self {
            child,
            stdout,
            stderr,
            addresses: Value::Null,
        };
        server.addresses = until("the first line of a server", || {
            if let Ok(Some(status)) = server.child.try_wait() {
                panic!("it ended with {status}: {}", server.log());
            }
            let text = fs::read_to_string(&server.stdout).ok()?;
            let (line, _) = text.split_once('\n')?;
            Some(serde_json::from_str(line).expect("the first line is JSON"))
        });
        server
    }

    /// Its stderr so far.
    #[must_use]
    pub fn log(&self) -> String {
        fs::read_to_string(&self.stderr).unwrap_or_default()
    }

    /// The coordinator's URL.
    ///
    /// # Panics
    /// If it is a worker, which has no address.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.listen())
    }

    /// `HOST:PORT` of the coordinator.
    ///
    /// # Panics
    /// If it is a worker, which has no address.
    #[must_use]
    pub fn listen(&self) -> &str {
        self.addresses["listen"].as_str().expect("a coordinator")
    }

    /// `HOST:PORT` of the metrics.
    ///
    /// # Panics
    /// If it has none.
    #[must_use]
    pub fn metrics_address(&self) -> &str {
        self.addresses["metrics"].as_str().expect("metrics")
    }

    /// `HOST:PORT` of the web pages.
    ///
    /// # Panics
    /// If it has none.
    #[must_use]
    pub fn web_address(&self) -> &str {
        self.addresses["web"].as_str().expect("web pages")
    }

    /// The page of metrics.
    ///
    /// # Panics
    /// If it does not answer.
    #[must_use]
    pub fn metrics(&self) -> String {
        http::get(self.metrics_address(), "/metrics")
            .unwrap_or_else(|| panic!("no metrics: {}", self.log()))
    }

    /// Sum of the samples of a metric whose labels contain all of these.
    #[must_use]
    pub fn metric(&self, name: &str, labels: &[&str]) -> f64 {
        self.metrics()
            .lines()
            .filter(|line| {
                line.strip_prefix(name)
                    .is_some_and(|rest| rest.starts_with(['{', ' ']))
            })
            .filter(|line| labels.iter().all(|label| line.contains(label)))
            .filter_map(|line| line.rsplit_once(' ')?.1.parse::<f64>().ok())
            .sum()
    }

    /// Its process id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal.
    ///
    /// # Panics
    /// If the process has ended.
    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id() as i32), signal).expect("it runs");
    }

    /// Kills it without warning, like a power cut.
    ///
    /// # Panics
    /// If the process cannot be waited for.
    pub fn kill(mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("a child");
    }

    /// Sends it SIGTERM and waits for its end.
    ///
    /// # Panics
    /// If it does not end, or ends with an error.
    pub fn stop(mut self) {
        self.signal(Signal::SIGTERM);
        let status = self.wait();
        assert!(status.success(), "{status}: {}", self.log());
    }

    /// Shows why a test may have failed: the state of the server and the end of its log.
    #[expect(clippy::print_stderr, reason = "nothing else of it is left")]
    fn report(&mut self) {
        let state = match self.child.try_wait() {
            Ok(Some(status)) => format!("ended with {status}"),
            Ok(None) => "runs".to_owned(),
            Err(error) => error.to_string(),
        };
        let log = self.log();
        let lines: Vec<&str> = log.lines().collect();
        let end = lines[lines.len().saturating_sub(LINES_SHOWN)..].join("\n");
        eprintln!(
            "process {} {state}; the end of its log:\n{end}\n",
            self.id()
        );
    }

    /// Waits for its end.
    ///
    /// # Panics
    /// If it does not end.
    pub fn wait(&mut self) -> ExitStatus {
        until("a server to end", || {
            self.child.try_wait().expect("a child")
        })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.report();
        }
        // An error means that it has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
