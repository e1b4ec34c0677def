//! The coordinator as a process, and what it uses.

use std::{
    error::Error,
    fs,
    io::{self, BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

/// Clock ticks a second, as Linux counts processor time for programs.
const TICKS: u64 = 100;

pub(crate) struct Coordinator {
    child: Child,
    listen: String,
}

/// What a process has used so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Usage {
    pub(crate) user: Duration,
    pub(crate) system: Duration,
    pub(crate) peak_bytes: u64,
}

impl Coordinator {
    /// Starts this program as a coordinator and waits until it listens.
    pub(crate) fn start(folder: &Path) -> Result<Self, Box<dyn Error>> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg("serve")
            .arg(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut listen = String::new();
        if let Some(stdout) = child.stdout.take() {
            BufReader::new(stdout).read_line(&mut listen)?;
        }
        Ok(Self {
            child,
            listen: listen.trim().to_owned(),
        })
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.listen)
    }

    /// Lets it drain and end.
    pub(crate) fn stop(mut self) -> io::Result<()> {
        drop(self.child.stdin.take());
        self.child.wait().map(drop)
    }

    pub(crate) fn usage(&self) -> Usage {
        let read = |name: &str| {
            let path = format!("/proc/{}/{name}", self.child.id());
            fs::read_to_string(path).unwrap_or_default()
        };
        let stat = read("stat");
        // After the name in brackets: state, then numbers; 12th and 13th are
        // the times in user and system mode.
        let fields = stat.rsplit(')').next().unwrap_or_default();
        let ticks = |place: usize| {
            let field = fields.split_whitespace().nth(place);
            let ticks: u64 = field.and_then(|text| text.parse().ok()).unwrap_or(0);
            Duration::from_millis(ticks * 1000 / TICKS)
        };
        let status = read("status");
        let peak = status
            .lines()
            .find_map(|line| line.strip_prefix("VmHWM:")?.split_whitespace().next());
        let peak_kib: u64 = peak.and_then(|text| text.parse().ok()).unwrap_or(0);
        Usage {
            user: ticks(11),
            system: ticks(12),
            peak_bytes: peak_kib << 10,
        }
    }
}

impl Drop for Coordinator {
    fn drop(&mut self) {
        // Ended by itself where it was stopped.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Ends when stdin does.
pub(crate) async fn stdin_ends() {
    let wait = tokio::task::spawn_blocking(|| io::copy(&mut io::stdin().lock(), &mut io::sink()));
    // However it ended.
    let _ = wait.await;
}

/// Bytes that the files below a folder take.
pub(crate) fn bytes(folder: &Path) -> io::Result<u64> {
    use std::os::unix::fs::MetadataExt;
    let mut total = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        total += match entry.file_type()?.is_dir() {
            true => bytes(&entry.path())?,
            false => entry.metadata()?.blocks() * 512,
        };
    }
    Ok(total)
}
