//! Output of an agent process: the end is kept, and everything is counted.

use std::{
    collections::VecDeque,
    fs::File,
    io::Write,
    sync::{Arc, Mutex},
};

use crate::lock;

/// Bytes of output that are kept.
pub const KEPT_BYTES: usize = 64 << 10;
/// Bytes of output that are reported with a fault.
const TAIL_BYTES: usize = 8 << 10;

/// The end of a process's output, stdout and stderr in the order in which they are read.
#[derive(Debug, Default)]
pub struct Output(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    last: VecDeque<u8>,
    total: u64,
    /// A file for all output, if any.
    file: Option<File>,
}

impl Output {
    /// Output that is also written to a file.
    pub(super) fn to_file(file: Option<File>) -> Self {
        Self(Mutex::new(Kept {
            file,
            ..Kept::default()
        }))
    }

    /// Adds output and drops the oldest.
    pub fn push(&self, bytes: &[u8]) {
        let mut kept = lock(&self.0);
        if let Some(file) = &mut kept.file
            && let Err(error) = file.write_all(bytes)
        {
            tracing::warn!(%error, "an agent's output is not written to its file any more");
            kept.file = None;
        }
        kept.total += bytes.len() as u64;
        let bytes = &bytes[bytes.len().saturating_sub(KEPT_BYTES)..];
        let excess = (kept.last.len() + bytes.len()).saturating_sub(KEPT_BYTES);
        kept.last.drain(..excess);
        kept.last.extend(bytes);
    }

    /// Number of bytes written so far.
    #[must_use]
    pub fn total(&self) -> u64 {
        lock(&self.0).total
    }

    /// All kept output as text; the first line may be cut.
    #[must_use]
    pub fn text(&self) -> String {
        self.since(0, KEPT_BYTES)
    }

    /// The last lines, for the report of a fault.
    #[must_use]
    pub fn tail(&self) -> String {
        self.since(0, TAIL_BYTES)
    }

    /// Output after this many bytes, as text; at most the last `most` bytes.
    #[must_use]
    pub fn since(&self, total: u64, most: usize) -> String {
        let kept = lock(&self.0);
        let new = usize::try_from(kept.total - total.min(kept.total)).unwrap_or(usize::MAX);
        let skipped = kept.last.len().saturating_sub(new.min(most));
        let rest = kept.last.iter().skip(skipped).copied();
        // The first character may be cut.
        let bytes: Vec<u8> = rest.skip_while(|byte| byte & 0xC0 == 0x80).collect();
        String::from_utf8_lossy(&bytes).trim_end().to_owned()
    }
}

/// The outputs of all started processes, in the order of their starts. Only for few processes,
/// since nothing is removed.
#[derive(Clone, Debug, Default)]
pub struct Outputs(Arc<Mutex<Vec<Arc<Output>>>>);

impl Outputs {
    pub(super) fn push(&self, output: Arc<Output>) {
        lock(&self.0).push(output);
    }

    /// The outputs of the processes so far.
    #[must_use]
    pub fn processes(&self) -> Vec<Arc<Output>> {
        lock(&self.0).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn end_of_output_is_kept() {
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
    fn output_is_cut_at_known_marks() {
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
