//! What an agent process writes: the last of it kept, all of it counted.

use std::{
    collections::VecDeque,
    fs::File,
    io::Write,
    sync::{Arc, Mutex, PoisonError},
};

/// Bytes kept of what a process wrote last.
pub const KEPT_BYTES: usize = 64 << 10;
/// Bytes of it that are reported with a fault.
const TAIL_BYTES: usize = 8 << 10;

/// The end of what a process wrote to stdout and stderr, in the order in which it came.
#[derive(Debug, Default)]
pub struct Output(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    last: VecDeque<u8>,
    total: u64,
    /// Where all of it is written to as well.
    file: Option<File>,
}

impl Output {
    /// One that is also written to a file.
    pub(super) fn to_file(file: Option<File>) -> Self {
        Self(Mutex::new(Kept {
            file,
            ..Kept::default()
        }))
    }

    /// Adds what was written, forgetting what is too long ago.
    pub fn push(&self, bytes: &[u8]) {
        let mut kept = self.lock();
        if let Some(file) = &mut kept.file
            && let Err(error) = file.write_all(bytes)
        {
            tracing::warn!(%error, "what an agent prints is not written to its file any more");
            kept.file = None;
        }
        kept.total += bytes.len() as u64;
        let bytes = &bytes[bytes.len().saturating_sub(KEPT_BYTES)..];
        let excess = (kept.last.len() + bytes.len()).saturating_sub(KEPT_BYTES);
        kept.last.drain(..excess);
        kept.last.extend(bytes);
    }

    /// How many bytes were written so far.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.lock().total
    }

    /// All that is kept, as text; the first line may be cut.
    #[must_use]
    pub fn text(&self) -> String {
        self.since(0, KEPT_BYTES)
    }

    /// The last lines, as they are reported with a fault.
    #[must_use]
    pub fn tail(&self) -> String {
        self.since(0, TAIL_BYTES)
    }

    /// What was written after so many bytes, as text; no more than the last `most` bytes.
    #[must_use]
    pub fn since(&self, total: u64, most: usize) -> String {
        let kept = self.lock();
        let new = usize::try_from(kept.total - total.min(kept.total)).unwrap_or(usize::MAX);
        let skipped = kept.last.len().saturating_sub(new.min(most));
        let rest = kept.last.iter().skip(skipped).copied();
        // The first character may be cut.
        let bytes: Vec<u8> = rest.skip_while(|byte| byte & 0xC0 == 0x80).collect();
        String::from_utf8_lossy(&bytes).trim_end().to_owned()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The outputs of all processes that were started, in the order of their starts. For
/// few processes only: what is in it stays.
#[derive(Clone, Debug, Default)]
pub struct Outputs(Arc<Mutex<Vec<Arc<Output>>>>);

impl Outputs {
    pub(super) fn push(&self, output: Arc<Output>) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(output);
    }

    /// Those of the processes so far.
    #[must_use]
    pub fn processes(&self) -> Vec<Arc<Output>> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn end_of_the_output_is_kept_whatever_the_pieces() {
        let output = Output::default();
        output.push(b"first\n");
        output.push(&vec![b'x'; 3 * KEPT_BYTES]);
        output.push(b"\nlast\n");
        let text = output.text();
        assert!(text.ends_with("xx\nlast"), "{text}");
        assert!(text.len() < KEPT_BYTES && !text.contains("first"));
        assert_eq!(output.tail(), text[text.len() + 1 - TAIL_BYTES..]);
        assert_eq!(output.total(), 3 * KEPT_BYTES as u64 + 12);
    }

    #[test]
    fn output_is_distinguished_by_what_came_before() {
        let output = Output::default();
        output.push(b"one\n");
        let mark = output.total();
        assert_eq!(output.since(mark, 100), "");
        output.push("zwölf\n".as_bytes());
        assert_eq!(output.since(mark, 100), "zwölf");
        assert_eq!(output.since(mark, 4), "lf");
        assert_eq!(output.since(0, 100), "one\nzwölf");
    }
}
