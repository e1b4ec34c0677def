//! The audit trail: who did what to what, when, and with what outcome. Files of JSON lines; each line
//! has the hash of the one before, so that a line that was changed or removed is noticed.

mod chain;

use std::{
    fs::{self, File},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
        mpsc::{Receiver, SyncSender, TrySendError, sync_channel},
    },
    thread::{self, JoinHandle},
    time::{SystemTime, UNIX_EPOCH},
};

use arena_store::{EVENTS_FILE, full_events_file};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use chain::{End, read};
pub use chain::{WholeTrail, verify_events};

/// Maximum number of events that wait for the disk.
const WAITING_MAX: usize = 1024;
/// Size from which a file is full, and the next one begins.
const FULL_BYTES: u64 = 64 << 20;

/// Something that was done, or refused.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Event {
    /// Unix time in microseconds.
    pub(crate) unix_us: u64,
    /// Id of the token, or another owner; empty if the caller is unknown.
    pub(crate) actor: String,
    pub(crate) role: String,
    /// Address and port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) peer: Option<String>,
    pub(crate) method: String,
    /// Name or id of what it was done to; empty if the request named nothing.
    pub(crate) target: String,
    /// What was done to it, if the method does not say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) detail: String,
    /// Name of a status code, or the reason of a refusal.
    pub(crate) outcome: String,
    /// For refusals: number of them since the last event of this kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) times: Option<u64>,
}

/// A line of the file.
#[derive(Serialize, Deserialize)]
struct Line {
    number: u64,
    /// Hash of the line before; empty in the first.
    previous: String,
    #[serde(flatten)]
    event: Event,
    /// SHA-256 of this line with an empty hash.
    hash: String,
}

impl Line {
    fn new(number: u64, previous: &str, event: Event) -> Self {
        let mut line = Self {
            number,
            previous: previous.to_owned(),
            event,
            hash: String::new(),
        };
        line.hash = line.computed();
        line
    }

    fn computed(&self) -> String {
        let unhashed = Self {
            number: self.number,
            previous: self.previous.clone(),
            event: self.event.clone(),
            hash: String::new(),
        };
        hex::encode(Sha256::digest(unhashed.text()))
    }

    fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Writes events.
pub(crate) struct Trail {
    /// The folder with its files.
    data: Option<PathBuf>,
    /// Number of the last line that is in a file.
    written: Arc<AtomicU64>,
    /// Set while it writes.
    sender: Option<SyncSender<Event>>,
    writing: Option<JoinHandle<()>>,
}

impl Trail {
    /// Continues the trail in a data folder; without one, nothing is kept.
    pub(crate) fn open(data: Option<&Path>) -> io::Result<Self> {
        Self::with_full(data, FULL_BYTES)
    }

    /// The same, with the size of a full file.
    fn with_full(data: Option<&Path>, full: u64) -> io::Result<Self> {
        let Some(data) = data else {
            return Ok(Self {
                data: None,
                written: Arc::default(),
                sender: None,
                writing: None,
            });
        };
        let last = chain::last(data).map_err(io::Error::other)?;
        let mut file = Appended::open(data, &last, full)?;
        // Lines that are removed from the end break no chain: the log has the number to compare.
        tracing::info!(events = last.number, hash = last.hash, "audit trail");
        let (sender, events) = sync_channel(WAITING_MAX);
        let written = Arc::new(AtomicU64::new(last.number));
        let count = Arc::clone(&written);
        let append = move |text: &str, next| file.append(text, next);
        let writing = thread::Builder::new()
            .name("trail".to_owned())
            .spawn(move || write(append, last, &events, &count))?;
        Ok(Self {
            data: Some(data.to_owned()),
            written,
            sender: Some(sender),
            writing: Some(writing),
        })
    }

    /// Records an event. It does not wait for the disk.
    pub(crate) fn record(&self, event: Event) {
        let event = Event {
            unix_us: now(),
            ..event
        };
        let Some(sender) = &self.sender else {
            return;
        };
        if let Err(TrySendError::Full(event)) = sender.try_send(event) {
            tracing::error!(?event, "the audit trail is too slow: an event is only here");
        }
    }

    /// Calls `each` with the lines since a time, oldest first, until it returns false. Returns
    /// what is wrong with the file.
    pub(crate) fn list(
        &self,
        since_unix_us: u64,
        mut each: impl FnMut(String) -> bool,
    ) -> Result<(), String> {
        let Some(data) = &self.data else {
            return Ok(());
        };
        let written = self.written.load(Relaxed);
        let (mut wanted, mut last) = (true, 0);
        read(data, End::Growing, |line| {
            last = line.number;
            wanted = wanted && (line.event.unix_us < since_unix_us || each(line.text()));
        })?;
        match last >= written {
            true => Ok(()),
            false => Err(format!(
                "it ends with event {last}, but this coordinator wrote {written} events: lines \
                 were removed from its end"
            )),
        }
    }
}

impl Drop for Trail {
    fn drop(&mut self) {
        self.sender = None;
        if let Some(writing) = self.writing.take() {
            // A writer that failed has said so.
            let _ = writing.join();
        }
    }
}

/// The end of the chain.
#[derive(Default)]
struct Last {
    number: u64,
    hash: String,
}

impl Last {
    fn of(line: &Line) -> Self {
        Self {
            number: line.number,
            hash: line.hash.clone(),
        }
    }
}

/// The file of a trail that grows.
struct Appended {
    data: PathBuf,
    file: File,
    bytes: u64,
    /// Number of its first event.
    first: u64,
    full: u64,
}

impl Appended {
    /// Continues the file after a last event, or begins one.
    fn open(data: &Path, last: &Last, full: u64) -> io::Result<Self> {
        let path = data.join(EVENTS_FILE);
        let first = chain::first_in(&path)?.unwrap_or(last.number + 1);
        let mut file = create(&path)?;
        if !ends_with_newline(&path)? {
            // A write that a crash cut short.
            file.write_all(b"\n")?;
        }
        let bytes = file.metadata()?.len();
        Ok(Self {
            data: data.to_owned(),
            file,
            bytes,
            first,
            full,
        })
    }

    /// Appends lines, of which the first has the number `next`.
    fn append(&mut self, text: &str, next: u64) -> io::Result<()> {
        if self.bytes >= self.full
            && let Err(error) = self.begin(next)
        {
            tracing::error!("cannot begin a file of the audit trail: {error}");
        }
        self.file.write_all(text.as_bytes())?;
        self.bytes += text.len() as u64;
        self.file.sync_data()
    }

    /// Begins a file.
    fn begin(&mut self, first: u64) -> io::Result<()> {
        let path = self.data.join(EVENTS_FILE);
        fs::rename(&path, self.data.join(full_events_file(self.first)))?;
        self.file = create(&path)?;
        (self.bytes, self.first) = (0, first);
        File::open(&self.data)?.sync_all()
    }
}

fn create(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.append(true).create(true).mode(0o600).open(path)
}

/// Appends events until there are no more senders; `count` is the number of the last one written.
fn write(
    mut append: impl FnMut(&str, u64) -> io::Result<()>,
    mut last: Last,
    events: &Receiver<Event>,
    count: &AtomicU64,
) {
    // Whether the file may end within a line.
    let mut is_cut = false;
    while let Ok(first) = events.recv() {
        let mut text = String::new();
        let next = last.number + 1;
        if is_cut {
            text.push('\n');
        }
        for event in std::iter::once(first).chain(events.try_iter()) {
            let line = Line::new(last.number + 1, &last.hash, event);
            text += &line.text();
            text.push('\n');
            last = Last::of(&line);
        }
        let written = append(&text, next);
        is_cut = written.is_err();
        match written {
            Ok(()) => count.store(last.number, Relaxed),
            Err(error) => tracing::error!(text, "cannot write the audit trail: {error}"),
        }
    }
}

fn ends_with_newline(path: &Path) -> io::Result<bool> {
    use std::io::{Read, Seek, SeekFrom};
    let mut file = File::open(path)?;
    if file.metadata()?.len() == 0 {
        return Ok(true);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default().as_micros() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(target: &str) -> Event {
        Event {
            method: "CancelTournament".to_owned(),
            target: target.to_owned(),
            ..Event::default()
        }
    }

    fn targets(data: &Path) -> (Vec<String>, Result<(), String>) {
        let mut targets = Vec::new();
        let read = read(data, End::Whole, |line| targets.push(line.event.target));
        (targets, read)
    }

    #[test]
    fn trail_continues_after_restart() {
        let folder = tempfile::tempdir().expect("a folder");
        for target in ["one", "two", "three"] {
            Trail::open(Some(folder.path()))
                .expect("a file")
                .record(event(target));
        }
        let expected = ["one", "two", "three"].map(str::to_owned).to_vec();
        assert_eq!(targets(folder.path()), (expected, Ok(())));
    }

    #[test]
    fn full_file_is_followed_by_another() {
        let folder = tempfile::tempdir().expect("a folder");
        let data = folder.path();
        let expected: Vec<String> = (0..9).map(|number| number.to_string()).collect();
        for target in &expected {
            let trail = Trail::with_full(Some(data), 500).expect("a file");
            trail.record(event(target));
        }
        assert_eq!(targets(data), (expected.clone(), Ok(())));
        let files = || {
            let files = arena_store::events_files(data).expect("files");
            files.into_iter().map(|(name, _)| data.join(name))
        };
        let [oldest, middle, .., newest] = &files().collect::<Vec<_>>()[..] else {
            panic!("few files");
        };
        assert_eq!(*newest, data.join(EVENTS_FILE));
        let first = |data| verify_events(data).map(|whole| whole.expect("events").first);
        // An operator moves the oldest away.
        assert_eq!(first(data), Ok(1));
        fs::remove_file(oldest).expect("a file");
        let kept = expected.len() as u64 - first(data).expect("whole") + 1;
        assert_eq!(targets(data).0.len() as u64, kept);
        // Its lines, and files between others, are noticed.
        let whole = fs::read_to_string(middle).expect("lines");
        let (_, rest) = whole.split_once('\n').expect("lines");
        fs::write(middle, rest).expect("a file");
        assert!(first(data).is_err(), "a line is missing");
        fs::write(middle, whole).expect("a file");
        assert!(first(data).is_ok());
        let between = files().nth(1).expect("a file");
        fs::remove_file(between).expect("a file");
        assert!(first(data).is_err(), "a file is missing");
    }

    #[test]
    fn cut_end_is_noticed() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(EVENTS_FILE);
        let trail = Trail::open(Some(folder.path())).expect("a file");
        for target in ["one", "two", "three"] {
            trail.record(event(target));
        }
        while trail.written.load(Relaxed) < 3 {
            thread::yield_now();
        }
        assert_eq!(trail.list(0, |_| true), Ok(()));
        let whole = std::fs::read_to_string(&path).expect("lines");
        let lines: Vec<&str> = whole.lines().take(2).collect();
        std::fs::write(&path, lines.join("\n")).expect("a file");
        let problem = trail.list(0, |_| true).expect_err("a line is missing");
        assert!(problem.contains("ends with event 2, but"), "{problem}");
    }

    #[test]
    fn event_after_a_full_disk_is_readable() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(EVENTS_FILE);
        let (sender, events) = sync_channel(1);
        let failed = Arc::new(std::sync::Barrier::new(2));
        let has_failed = Arc::clone(&failed);
        let sending = thread::spawn(move || {
            sender.send(event("one")).expect("a writer");
            has_failed.wait();
            sender.send(event("two")).expect("a writer");
        });
        let mut file = File::create(&path).expect("a file");
        let mut is_full = true;
        let append = |text: &str, _| match std::mem::take(&mut is_full) {
            true => {
                file.write_all(&text.as_bytes()[..10])?;
                failed.wait();
                Err(io::ErrorKind::StorageFull.into())
            }
            false => file.write_all(text.as_bytes()),
        };
        write(append, Last::default(), &events, &AtomicU64::new(0));
        sending.join().expect("a sender");
        let (found, read) = targets(folder.path());
        assert_eq!(found, ["two"]);
        assert!(read.is_err(), "an event is missing");
    }

    #[test]
    fn changed_and_removed_lines_are_noticed() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(EVENTS_FILE);
        let trail = Trail::open(Some(folder.path())).expect("a file");
        for target in ["one", "two", "three"] {
            trail.record(event(target));
        }
        drop(trail);
        let whole = std::fs::read_to_string(&path).expect("lines");
        let lines: Vec<&str> = whole.lines().collect();
        let changed = whole.replace("two", "owt");
        let removed = [lines[0], lines[2]].join("\n");
        let garbled = [lines[0], "{", lines[2]].join("\n");
        for wrong in [changed, removed, garbled] {
            std::fs::write(&path, wrong).expect("a file");
            let (_, read) = targets(folder.path());
            assert!(
                read.expect_err("broken")
                    .starts_with("line 2 of events.jsonl was changed")
            );
        }
        // A line that a crash cut short does not spoil those after it.
        std::fs::write(&path, &whole[..whole.len() - 10]).expect("a file");
        Trail::open(Some(folder.path()))
            .expect("a file")
            .record(event("four"));
        let (found, read) = targets(folder.path());
        assert_eq!(found, ["one", "two", "four"]);
        assert!(read.is_err());
    }

    #[test]
    fn line_that_is_being_written_breaks_no_chain() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(EVENTS_FILE);
        Trail::open(Some(folder.path()))
            .expect("a file")
            .record(event("one"));
        let trail = Trail::open(Some(folder.path())).expect("a file");
        let last = chain::last(folder.path()).expect("a line");
        let next = Line::new(last.number + 1, &last.hash, event("é")).text();
        let whole = std::fs::read(&path).expect("lines");
        for bytes in 1..next.len() {
            let cut = [&whole, &next.as_bytes()[..bytes]].concat();
            std::fs::write(&path, cut).expect("a file");
            let mut lines = 0;
            let listed = trail.list(0, |_| {
                lines += 1;
                true
            });
            assert_eq!((listed, lines), (Ok(()), 1), "{bytes}");
            // Later, it is a line that was cut.
            assert!(targets(folder.path()).1.is_err(), "{bytes}");
        }
    }
}
