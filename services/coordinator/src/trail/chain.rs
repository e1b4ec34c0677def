//! Reads an audit trail and checks its chain.

use std::{
    fs::File,
    io::{self, BufRead, BufReader},
    path::Path,
};

use arena_store::{events_files, first_event};

use super::{Last, Line, anchor};

/// A chain without a gap.
#[derive(Debug, PartialEq, Eq)]
pub struct WholeTrail {
    /// Number of the first event: above 1 if earlier files were removed.
    pub first: u64,
    /// Number of the last event.
    pub last: u64,
    /// Its hash, to be compared with an earlier log.
    pub hash: String,
}

/// Checks the chain of the audit trail in a data folder; `None` if there is none. `anchor` is the
/// document of the store that has its end ([`super::anchor_key`]).
///
/// # Errors
/// The first line that was changed or follows one that was removed, or the end that is missing.
pub fn verify_events(data: &Path, anchor: Option<&[u8]>) -> Result<Option<WholeTrail>, String> {
    let known = anchor.and_then(anchor::decode);
    let (mut first, mut last) = (None, Last::default());
    let mut has_known = known.is_none();
    read(data, End::Whole, |line| {
        first = first.or(Some(line.number));
        last = Last::of(&line);
        has_known |= known.as_ref() == Some(&last);
    })?;
    if let Some(known) = known.filter(|_| !has_known) {
        return Err(lacks(&known));
    }
    Ok(first.map(|first| WholeTrail {
        first,
        last: last.number,
        hash: last.hash,
    }))
}

/// Says that a trail has no event that the store knows.
pub(super) fn lacks(known: &Last) -> String {
    format!(
        "it has no event {} with the hash {}, which the coordinator wrote: lines or files were removed or \
         changed",
        known.number, known.hash
    )
}

/// How the newest file ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// With a whole line.
    Whole,
    /// Perhaps within a line that is being written, which is not read.
    Growing,
}

/// Reads the lines of a trail and checks their chain. Lines after a break are read as well. The oldest
/// files may be missing, but not the beginning of a file.
pub(super) fn read(data: &Path, end: End, mut each: impl FnMut(Line)) -> Result<(), String> {
    let files = events_files(data).map_err(|error| error.to_string())?;
    let begins = files.first().and_then(|(name, _)| first_event(name));
    let mut chain = Chain::new(Some(begins.unwrap_or(1)), end);
    for (name, file) in files {
        chain.read(&name, file, &mut each)?;
    }
    chain.broken.map_or(Ok(()), Err)
}

/// The end of a trail.
pub(super) struct Found {
    pub(super) last: Last,
    /// True if the trail has the event that the store knows, or the store knows none.
    pub(super) has_known: bool,
    /// True if there are no files.
    pub(super) is_empty: bool,
}

/// The last event of a trail, from its newest file with an event. Reads the files before only as far as the
/// event that the store knows.
pub(super) fn last(data: &Path, known: Option<&Last>) -> Result<Found, String> {
    let files = events_files(data).map_err(|error| error.to_string())?;
    let mut found = Found {
        last: Last::default(),
        has_known: known.is_none(),
        is_empty: files.is_empty(),
    };
    for (name, file) in files.into_iter().rev() {
        let mut chain = Chain::new(None, End::Whole);
        let (mut first, mut last) = (None, Last::default());
        chain.read(&name, file, &mut |line| {
            first = first.or(Some(line.number));
            last = Last::of(&line);
            found.has_known |= known == Some(&last);
        })?;
        if let Some(problem) = chain.broken {
            tracing::error!("the audit trail in {}: {problem}", data.display());
        }
        if found.last.number == 0 {
            found.last = last;
        }
        let is_before = |known: &Last| first.is_none_or(|first| known.number < first);
        if found.last.number > 0 && (found.has_known || !known.is_some_and(is_before)) {
            break;
        }
    }
    Ok(found)
}

/// Number of the first event in a file; `None` if there is none.
pub(super) fn first_in(path: &Path) -> io::Result<Option<u64>> {
    if !path.exists() {
        return Ok(None);
    }
    let lines = BufReader::new(File::open(path)?).lines();
    for text in lines {
        if let Ok(line) = serde_json::from_str::<Line>(&text?) {
            return Ok(Some(line.number));
        }
    }
    Ok(None)
}

/// What was read of a chain.
struct Chain {
    end: End,
    /// Number that the first line must have, before it was read.
    first: Option<u64>,
    /// Hash of the line before; `None` if any line may follow.
    previous: Option<String>,
    /// The first break.
    broken: Option<String>,
}

impl Chain {
    fn new(first: Option<u64>, end: End) -> Self {
        Self {
            end,
            first,
            previous: None,
            broken: None,
        }
    }

    /// Reads the next file.
    fn read(&mut self, name: &str, file: File, each: &mut impl FnMut(Line)) -> Result<(), String> {
        let mut file = BufReader::new(file);
        let mut text = Vec::new();
        for place in 1.. {
            text.clear();
            let read = file.read_until(b'\n', &mut text);
            let bytes = read.map_err(|error| format!("{name}: {error}"))?;
            if bytes == 0 {
                break;
            }
            let is_cut = !text.ends_with(b"\n");
            let text = text.trim_ascii_end();
            if text.is_empty() {
                continue;
            }
            let line: Option<Line> = serde_json::from_slice(text).ok();
            if line.is_none() && is_cut && self.end == End::Growing {
                break;
            }
            let is_whole = line.as_ref().is_some_and(|line| {
                let begins = self.first.is_none_or(|first| first == line.number);
                let follows = |previous: &String| *previous == line.previous;
                let begins = begins && (line.number > 1 || line.previous.is_empty());
                begins && self.previous.as_ref().is_none_or(follows) && line.hash == line.computed()
            });
            if !is_whole && self.broken.is_none() {
                self.broken = Some(format!(
                    "line {place} of {name} was changed, or a line before it was removed"
                ));
            }
            self.first = None;
            self.previous = line.as_ref().map(|line| line.hash.clone());
            line.into_iter().for_each(&mut *each);
        }
        Ok(())
    }
}
