//! Large answers that wait for their clients to read them. Their memory is limited.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use axum::body::Bytes;

/// Answers up to this size are not counted; larger ones are sent in parts of this size.
pub const PART_BYTES: usize = 16 << 10;
/// Maximum bytes of all large answers. If there are more, the oldest is given up.
pub const UNREAD_BYTES_MAX: usize = 32 << 20;

/// The large answers that are not sent yet.
#[derive(Debug, Default)]
pub struct UnreadAnswers(Mutex<Unread>);

#[derive(Debug, Default)]
struct Unread {
    last: u64,
    bytes: usize,
    answers: BTreeMap<u64, Bytes>,
}

impl UnreadAnswers {
    fn lock(&self) -> MutexGuard<'_, Unread> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an answer, and gives up the oldest ones if all together are too large.
    pub fn add(self: &Arc<Self>, data: Bytes) -> UnreadAnswer {
        let mut unread = self.lock();
        unread.last += 1;
        let number = unread.last;
        unread.bytes += data.len();
        unread.answers.insert(number, data);
        while unread.bytes > UNREAD_BYTES_MAX && unread.answers.len() > 1 {
            if let Some((_, oldest)) = unread.answers.pop_first() {
                unread.bytes -= oldest.len();
            }
        }
        UnreadAnswer {
            answers: Arc::clone(self),
            number,
            sent: 0,
        }
    }

    /// Number of the answers and of their bytes.
    #[must_use]
    pub fn size(&self) -> (usize, usize) {
        let unread = self.lock();
        (unread.answers.len(), unread.bytes)
    }
}

/// An answer among those that are not sent yet, until it is dropped.
#[derive(Debug)]
pub struct UnreadAnswer {
    answers: Arc<UnreadAnswers>,
    number: u64,
    sent: usize,
}

impl UnreadAnswer {
    /// The next part, and whether it is the last one. None if the answer was given up.
    pub fn next_part(&mut self) -> Option<(Bytes, bool)> {
        let unread = self.answers.lock();
        let data = unread.answers.get(&self.number)?;
        let end = data.len().min(self.sent + PART_BYTES);
        // A copy, because a part that is not sent must not hold the whole.
        let part = Bytes::copy_from_slice(&data[self.sent..end]);
        self.sent = end;
        Some((part, end == data.len()))
    }
}

impl Drop for UnreadAnswer {
    fn drop(&mut self) {
        let mut unread = self.answers.lock();
        if let Some(data) = unread.answers.remove(&self.number) {
            unread.bytes -= data.len();
        }
    }
}
