//! The coordinator as a process, and what it uses.

use std::{
    error::Error,
    fs,
    io::{self, BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

/// Clock ticks a second, as Linux counts processor time for programs.
const TICKS: u64 = 100;

pub(crate) struct Coordinator {
    child: Child,
    listen: String,
    metrics: String,
}

/// Parts of a commit, as the coordinator's metrics name them.
const PHASES: [&str; 7] = [
    "wait", "gather", "pack", "apply", "write", "sync", "receipt",
];

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
        let (mut listen, mut metrics) = (String::new(), String::new());
        if let Some(stdout) = child.stdout.take() {
            let mut stdout = BufReader::new(stdout);
            stdout.read_line(&mut listen)?;
            stdout.read_line(&mut metrics)?;
        }
        Ok(Self {
            child,
            listen: listen.trim().to_owned(),
            metrics: metrics.trim().to_owned(),
        })
    }

    /// Where the time of a report goes: what each part of it takes in the mean,
    /// and in how many of a hundred cases it takes at most what.
    pub(crate) fn parts(&self) -> io::Result<Vec<(String, Part)>> {
        let mut stream = TcpStream::connect(&self.metrics)?;
        stream.write_all(b"GET /metrics HTTP/1.0\r\n\r\n")?;
        let mut text = String::new();
        stream.read_to_string(&mut text)?;
        let report = Part::read(&text, "arena_report_duration_seconds", "");
        let mut parts = vec![("whole report".to_owned(), report)];
        for phase in PHASES {
            let label = format!("phase=\"{phase}\"");
            let part = Part::read(&text, "arena_store_commit_phase_seconds", &label);
            parts.push((format!("commit: {phase}"), part));
        }
        Ok(parts)
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

/// What a histogram of the metrics tells.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Part {
    pub(crate) count: f64,
    /// Seconds.
    pub(crate) mean: f64,
    /// Seconds: the bound of the bucket that has the 99th percentile.
    pub(crate) p99_at_most: f64,
}

impl Part {
    fn read(text: &str, name: &str, label: &str) -> Self {
        let values = |suffix: &str| {
            let name = format!("{name}{suffix}");
            let lines = text.lines().filter(move |line| {
                let rest = line.strip_prefix(&*name);
                rest.is_some_and(|rest| rest.starts_with(['{', ' ']) && rest.contains(label))
            });
            lines.filter_map(|line| {
                let (series, value) = line.rsplit_once(' ')?;
                Some((series, value.parse::<f64>().ok()?))
            })
        };
        let first = |suffix: &str| values(suffix).next().map_or(0.0, |(_, value)| value);
        let (sum, count) = (first("_sum"), first("_count"));
        let bound = values("_bucket").find(|(_, below)| *below >= 0.99 * count);
        let bound = bound.and_then(|(series, _)| {
            let bound = series.split("le=\"").nth(1)?.split('"').next()?;
            bound.parse().ok()
        });
        Self {
            count,
            mean: sum / count.max(1.0),
            p99_at_most: bound.unwrap_or(f64::INFINITY),
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
