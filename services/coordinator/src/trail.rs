//! The audit trail: who did what to what, when, and with what outcome. Files of JSON lines; each line
//! has the hash of the one before, so that a line that was changed or removed is noticed.

mod anchor;
mod chain;

use std::{
    fs::{self, File},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
        mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel},
    },
    thread::{self, JoinHandle},
    time::{SystemTime, UNIX_EPOCH},
};

use arena_store::{EVENTS_FILE, Store, full_events_file};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::StartError;
use anchor::Anchor;
pub use anchor::anchor_key;
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
    /// Name of a status code, or the reason of a refusal at the door. `code` and `reason` have both.
    pub(crate) outcome: String,
    /// Name of the status code, as metrics have it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) code: String,
    /// Reason of a failure.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) reason: String,
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
        hex::encode(Sha256::digest(unhashed.json()))
    }

    fn json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The line, without characters that a terminal hides or obeys. It reads as the same value.
    fn text(&self) -> String {
        arena_model::printable_json(&self.json()).into_owned()
    }
}

/// Writes events.
pub(crate) struct Trail {
    /// The folder with its files.
    data: Option<PathBuf>,
    /// Number of the last line that is in a file.
    written: Arc<AtomicU64>,
    /// None before the first event can be written, and after the last one.
    writer: Mutex<Option<Writer>>,
}

struct Writer {
    events: SyncSender<Event>,
    writing: JoinHandle<()>,
}

impl Trail {
    /// Continues the trail in a data folder; without one, nothing is kept. The store has its end.
    pub(crate) fn open(data: Option<&Path>, store: &Arc<dyn Store>) -> Result<Self, StartError> {
        let anchor = data.and_then(|data| Anchor::of(data, store));
        Self::with_full(data, FULL_BYTES, anchor)
    }

    /// The same, with the size of a full file.
    fn with_full(
        data: Option<&Path>,
        full: u64,
        anchor: Option<Anchor>,
    ) -> Result<Self, StartError> {
        let Some(data) = data else {
            return Ok(Self {
                data: None,
                written: Arc::default(),
                writer: Mutex::default(),
            });
        };
        let known = anchor.as_ref().map(Anchor::read).transpose()?.flatten();
        let found = chain::last(data, known.as_ref()).map_err(io::Error::other)?;
        let last = match known.filter(|_| !found.has_known) {
            None => found.last,
            Some(known) => {
                tracing::error!(
                    "the audit trail in {} is not whole: {}; compare it with a backup",
                    data.display(),
                    chain::lacks(&known)
                );
                // The next event follows the missing one, so that the gap stays visible.
                Last {
                    number: known.number.max(found.last.number),
                    hash: known.hash,
                }
            }
        };
        let mut file = Appended::open(data, &last, found.is_empty, full)?;
        tracing::info!(events = last.number, hash = last.hash, "audit trail");
        let (sender, events) = sync_channel(WAITING_MAX);
        let written = Arc::new(AtomicU64::new(last.number));
        let count = Arc::clone(&written);
        let append = move |text: &str, next| file.append(text, next);
        let writing = thread::Builder::new()
            .name("trail".to_owned())
            .spawn(move || write(append, last, &events, &count, anchor))?;
        Ok(Self {
            data: Some(data.to_owned()),
            written,
            writer: Mutex::new(Some(Writer {
                events: sender,
                writing,
            })),
        })
    }

    /// Records an event. It does not wait for the disk.
    pub(crate) fn record(&self, event: Event) {
        let event = Event {
            unix_us: now(),
            ..event
        };
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(writer) = &*writer else {
            return;
        };
        if let Err(TrySendError::Full(event)) = writer.events.try_send(event) {
            tracing::error!(?event, "the audit trail is too slow: an event is only here");
        }
    }

    /// Writes what waits for the disk, and the end of the trail into the store. Later events are not kept.
    pub(crate) fn finish(&self) {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(Writer { events, writing }) = writer.take() {
            drop(events);
            // A writer that failed has said so.
            let _ = writing.join();
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
        self.finish();
    }
}

/// The end of the chain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
    /// Continues the file after a last event, or begins one. If there is no other file, it has to begin
    /// with event 1.
    fn open(data: &Path, last: &Last, is_only: bool, full: u64) -> io::Result<Self> {
        let path = data.join(EVENTS_FILE);
        let next = if is_only { 1 } else { last.number + 1 };
        let first = chain::first_in(&path)?.unwrap_or(next);
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
    mut anchor: Option<Anchor>,
) {
    // Whether the file may end within a line.
    let mut is_cut = false;
    loop {
        let first = match anchor.as_ref().and_then(Anchor::due) {
            None => events.recv().map_err(RecvTimeoutError::from),
            Some(due) => events.recv_timeout(due),
        };
        let first = match first {
            Ok(first) => first,
            Err(ended) => {
                anchor.iter_mut().for_each(Anchor::put);
                match ended {
                    RecvTimeoutError::Timeout => continue,
                    RecvTimeoutError::Disconnected => return,
                }
            }
        };
        let mut text = String::new();
        let mut lines = Vec::new();
        let next = last.number + 1;
        if is_cut {
            text.push('\n');
        }
        for event in std::iter::once(first).chain(events.try_iter()) {
            let line = Line::new(last.number + 1, &last.hash, event);
            lines.push(line.text());
            last = Last::of(&line);
        }
        for line in &lines {
            text += line;
            text.push('\n');
        }
        let written = append(&text, next);
        is_cut = written.is_err();
        match written {
            Ok(()) => {
                // A log on another machine shows later changes of the trail.
                for line in lines {
                    tracing::info!(line, "audit trail");
                }
                count.store(last.number, Relaxed);
                if let Some(anchor) = &mut anchor {
                    anchor.set(&last);
                }
            }
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
mod tests;
