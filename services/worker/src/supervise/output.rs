//! What an agent writes: the last of it kept, all of it counted.

use std::{collections::VecDeque, sync::Mutex};

/// Bytes kept of what an agent wrote last.
const KEPT: usize = 8 << 10;

/// The end of an agent's output.
#[derive(Debug, Default)]
pub struct Tail(Mutex<VecDeque<u8>>);

impl Tail {
    /// Adds what was written, forgetting what is too long ago.
    pub fn push(&self, bytes: &[u8]) {
        let bytes = &bytes[bytes.len().saturating_sub(KEPT)..];
        let mut kept = self.lock();
        let excess = (kept.len() + bytes.len()).saturating_sub(KEPT);
        kept.drain(..excess);
        kept.extend(bytes);
    }

    /// The last lines, as text; the first may be cut.
    #[must_use]
    pub fn text(&self) -> String {
        let kept: Vec<u8> = self.lock().iter().copied().collect();
        String::from_utf8_lossy(&kept).trim_end().to_owned()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, VecDeque<u8>> {
        self.0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_keeps_the_end_whatever_the_pieces() {
        let tail = Tail::default();
        tail.push(b"first\n");
        tail.push(&vec![b'x'; 3 * KEPT]);
        tail.push(b"\nlast\n");
        let text = tail.text();
        assert!(text.ends_with("xx\nlast"), "{text}");
        assert!(text.len() < KEPT && !text.contains("first"));
    }
}
