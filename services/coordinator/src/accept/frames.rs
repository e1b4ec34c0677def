//! Slows down clients that send frames which carry nothing. h2 bounds floods of PING, SETTINGS, RST_STREAM, CONTINUATION
//! and empty DATA itself, but handles any number of PRIORITY, WINDOW_UPDATE and unknown frames (RFC 9113, 10.5).

use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use tokio::time::{Instant, Sleep, sleep_until};

/// Bytes that a client sends before its first frame.
const PREFACE_BYTES: u64 = 24;
/// Types of frames that carry something.
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const CONTINUATION: u8 = 9;

/// Frames without content that a client may send: at first and at most; a second; for each request; and
/// for each KiB that it is sent, since it allows further ones by WINDOW_UPDATE.
const BURST: u64 = 2_000;
const PER_SECOND: u64 = 200;
const PER_REQUEST: u64 = 8;
const SENT_BYTES: u64 = 1 << 10;

/// What a connection may still send.
#[derive(Debug)]
pub(super) struct Frames {
    scanner: Scanner,
    left: u64,
    /// Bytes sent to the client for which it got no frame yet.
    sent: u64,
    /// Since then, seconds give frames.
    since: Instant,
    /// No further bytes are read before its end.
    pause: Option<Pin<Box<Sleep>>>,
}

impl Frames {
    pub(super) fn new() -> Self {
        Self {
            scanner: Scanner::default(),
            left: BURST,
            sent: 0,
            since: Instant::now(),
            pause: None,
        }
    }

    /// Ready if bytes may be read.
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let Some(pause) = &mut self.pause else {
            return Poll::Ready(());
        };
        let polled = pause.as_mut().poll(context);
        if polled.is_ready() {
            self.pause = None;
        }
        polled
    }

    /// Counts bytes that the client was sent.
    pub(super) fn sent(&mut self, bytes: usize) {
        self.sent += bytes as u64;
    }

    /// Counts bytes that were read.
    pub(super) fn read(&mut self, bytes: &[u8]) {
        let (requests, empty) = self.scanner.scan(bytes);
        if empty == 0 && requests == 0 {
            return;
        }
        if let Some(end) = self.count(requests, empty, Instant::now()) {
            self.pause = Some(Box::pin(sleep_until(end)));
        }
    }

    /// Counts frames. Returns when further ones may be read, if not now.
    fn count(&mut self, requests: u64, empty: u64, now: Instant) -> Option<Instant> {
        let elapsed = now.saturating_duration_since(self.since);
        let by_time = elapsed.as_millis() as u64 * PER_SECOND / 1_000;
        if by_time > 0 {
            self.since = now;
        }
        let by_bytes = self.sent / SENT_BYTES;
        self.sent %= SENT_BYTES;
        let left = self.left + by_time + by_bytes + requests * PER_REQUEST;
        match left.checked_sub(empty) {
            Some(left) => {
                self.left = left.min(BURST);
                None
            }
            None => {
                let missing = empty - left;
                self.left = 0;
                // The time of the pause pays for them.
                self.since = now + Duration::from_millis(missing * 1_000 / PER_SECOND);
                Some(self.since)
            }
        }
    }
}

/// Finds frames in the bytes of a client.
#[derive(Debug, Default)]
struct Scanner {
    /// Bytes so far, up to the length of the preface.
    preface: u64,
    head: [u8; 9],
    head_bytes: usize,
    /// Bytes of the payload that are still to come.
    payload: usize,
}

impl Scanner {
    /// The numbers of requests and of frames without content that begin in these bytes.
    fn scan(&mut self, mut bytes: &[u8]) -> (u64, u64) {
        let (mut requests, mut empty) = (0, 0);
        let preface = (PREFACE_BYTES - self.preface).min(bytes.len() as u64);
        self.preface += preface;
        bytes = &bytes[preface as usize..];
        while !bytes.is_empty() {
            let skipped = self.payload.min(bytes.len());
            self.payload -= skipped;
            bytes = &bytes[skipped..];
            let taken = (self.head.len() - self.head_bytes).min(bytes.len());
            self.head[self.head_bytes..][..taken].copy_from_slice(&bytes[..taken]);
            self.head_bytes += taken;
            bytes = &bytes[taken..];
            if self.head_bytes == self.head.len() {
                self.head_bytes = 0;
                let [a, b, c, kind, ..] = self.head;
                self.payload = u32::from_be_bytes([0, a, b, c]) as usize;
                match kind {
                    HEADERS => requests += 1,
                    DATA | CONTINUATION => {}
                    _ => empty += 1,
                }
            }
        }
        (requests, empty)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRIORITY: u8 = 2;
    const WINDOW_UPDATE: u8 = 8;

    fn frame(kind: u8, payload: usize) -> Vec<u8> {
        let length = (payload as u32).to_be_bytes();
        let mut bytes = vec![length[1], length[2], length[3], kind, 0, 0, 0, 0, 1];
        bytes.resize(9 + payload, 0x77);
        bytes
    }

    fn total(counts: impl Iterator<Item = (u64, u64)>) -> (u64, u64) {
        counts.fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1))
    }

    #[test]
    fn frames_are_found_however_they_are_split() {
        let mut bytes = vec![b'P'; PREFACE_BYTES as usize];
        for part in [
            frame(HEADERS, 300),
            frame(DATA, 20_000),
            frame(PRIORITY, 5),
            frame(CONTINUATION, 0),
            frame(0xbe, 0),
            frame(WINDOW_UPDATE, 4),
            frame(DATA, 0),
        ] {
            bytes.extend(part);
        }
        for size in [1, 2, 7, 9, 24, 1_000, bytes.len()] {
            let mut scanner = Scanner::default();
            let found = total(bytes.chunks(size).map(|part| scanner.scan(part)));
            assert_eq!(found, (1, 3), "{size} bytes at once");
            assert_eq!((scanner.payload, scanner.head_bytes), (0, 0));
        }
    }

    #[test]
    fn frames_without_content_are_read_at_a_bounded_rate() {
        let mut frames = Frames::new();
        let start = frames.since;
        assert_eq!(frames.count(0, BURST, start), None);
        let after = start + Duration::from_secs(5);
        assert_eq!(frames.count(0, 1_000, start), Some(after));
        // The pause has paid for the thousand, and for nothing else.
        assert!(frames.count(0, 1, after).is_some());
        let later = after + Duration::from_secs(2);
        assert_eq!(frames.count(0, 2 * PER_SECOND - 1, later), None);
        // However long a connection waits.
        let much_later = later + Duration::from_secs(86_400);
        assert_eq!(frames.count(0, 0, much_later), None);
        assert_eq!(frames.count(0, BURST, much_later), None);
        assert!(frames.count(0, 1, much_later).is_some());
    }

    #[test]
    fn requests_and_answers_allow_more_frames() {
        let mut frames = Frames::new();
        let now = frames.since;
        for _ in 0..100_000 {
            assert_eq!(frames.count(1, PER_REQUEST, now), None);
        }
        for _ in 0..100_000 {
            frames.sent(16 << 10);
            assert_eq!(frames.count(0, 16, now), None);
        }
        assert_eq!(frames.count(0, BURST, now), None);
        assert!(frames.count(0, 1, now).is_some());
    }
}
