//! What the connections of one token use together.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use arena_wire::{
    limits::{self, Limit, UNLIMITED},
    v1::{Role, TokenLimits},
};
use tokio::{sync::Semaphore, time::Instant};

use crate::error::Error;

const SECOND: Duration = Duration::from_secs(1);
/// KiB of standings that the watchers of one token may leave unread, of each stream its last message included.
const UNREAD_KIB_MAX: u32 = 8 << 10;

/// The limits of a token, and what it uses in this process. Agents, tournaments and binaries are
/// counted where they are stored.
#[derive(Debug)]
pub(crate) struct Quota {
    limits: TokenLimits,
    streams: AtomicU64,
    rate: Option<Rate>,
    /// KiB of standings that watchers may leave unread.
    unread: Arc<Semaphore>,
}

impl Quota {
    pub(super) fn new(limits: TokenLimits) -> Arc<Self> {
        Arc::new(Self {
            limits,
            streams: AtomicU64::new(0),
            rate: limits.requests_per_second.and_then(Rate::new),
            unread: Arc::new(Semaphore::new(UNREAD_KIB_MAX as usize)),
        })
    }

    /// Fails if there is no room for `more` in addition to `used`.
    pub(crate) fn check(&self, limit: &'static Limit, used: u64, more: u64) -> Result<(), Error> {
        let maximum = limit.of(&self.limits).unwrap_or(UNLIMITED);
        match used.saturating_add(more) <= maximum {
            true => Ok(()),
            false => Err(Error::Limit {
                limit,
                maximum,
                wait: None,
            }),
        }
    }

    /// Seconds in which an upload has to send its next MiB, if they are limited.
    pub(crate) fn upload_idle(&self) -> Option<u64> {
        limits::UPLOAD_IDLE.of(&self.limits)
    }

    /// Counts a request.
    pub(crate) fn request(&self) -> Result<(), Error> {
        let Some(rate) = &self.rate else {
            return Ok(());
        };
        rate.request(rate.since.elapsed())
            .map_err(|wait| Error::Limit {
                limit: &limits::REQUESTS,
                maximum: self.limits.requests_per_second.unwrap_or(UNLIMITED),
                wait: Some(wait),
            })
    }

    /// Takes room for a message of a stream, until it is dropped. The largest messages take all.
    pub(crate) fn room(&self, bytes: usize) -> (Arc<Semaphore>, u32) {
        let kib = u32::try_from(bytes / 1024 + 1).unwrap_or(UNREAD_KIB_MAX);
        (Arc::clone(&self.unread), kib.min(UNREAD_KIB_MAX))
    }

    /// Takes a place for a stream.
    pub(super) fn stream(self: &Arc<Self>) -> Result<StreamPlace, Error> {
        let room = |open| Some(open + 1).filter(|_| self.check(&limits::STREAMS, open, 1).is_ok());
        match self.streams.fetch_update(Relaxed, Relaxed, room) {
            Ok(_) => Ok(StreamPlace(Arc::clone(self))),
            Err(open) => Err(self
                .check(&limits::STREAMS, open, 1)
                .err()
                .unwrap_or(Error::Defect)),
        }
    }
}

/// Number of quotas from which those that are not in use are forgotten.
const QUOTAS_KEPT: usize = 1024;

/// The quotas of owners with certificates, by role and owner.
#[derive(Default)]
pub(super) struct Quotas(Mutex<HashMap<Holder, Arc<Quota>>>);

type Holder = (Role, Arc<str>);

impl Quotas {
    pub(super) fn of(&self, role: Role, owner: &Arc<str>, limits: TokenLimits) -> Arc<Quota> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (role, Arc::clone(owner));
        if all.len() >= QUOTAS_KEPT && !all.contains_key(&key) {
            all.retain(|_, quota| Arc::strong_count(quota) > 1);
        }
        Arc::clone(all.entry(key).or_insert_with(|| Quota::new(limits)))
    }
}

/// The place of an open stream, free again when it is dropped.
pub(crate) struct StreamPlace(Arc<Quota>);

impl Drop for StreamPlace {
    fn drop(&mut self) {
        self.0.streams.fetch_sub(1, Relaxed);
    }
}

/// A token bucket that holds the requests of one second.
#[derive(Debug)]
struct Rate {
    since: Instant,
    /// Nanoseconds for one request.
    each: u64,
    /// Nanoseconds for all requests that fit the bucket.
    full: u64,
    /// When the bucket is full again.
    full_at: AtomicU64,
}

impl Rate {
    /// None for more than one request a nanosecond.
    fn new(per_second: u64) -> Option<Self> {
        let each = (SECOND.as_nanos() as u64).checked_div(per_second)?;
        (each > 0).then(|| Self {
            since: Instant::now(),
            each,
            full: each * per_second,
            full_at: AtomicU64::new(0),
        })
    }

    /// Counts a request at a time, or returns the time until it can be counted.
    fn request(&self, now: Duration) -> Result<(), Duration> {
        let now = u64::try_from(now.as_nanos()).unwrap_or(u64::MAX);
        let after = |full_at: u64| full_at.max(now).saturating_add(self.each);
        let room = |full_at: u64| {
            let full_at = after(full_at);
            (full_at.saturating_sub(now) <= self.full).then_some(full_at)
        };
        let counted = self.full_at.fetch_update(Relaxed, Relaxed, room);
        counted.map(drop).map_err(|full_at| {
            let excess = after(full_at).saturating_sub(now) - self.full;
            Duration::from_nanos(excess)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Number of requests that are counted at a time.
    fn counted(rate: &Rate, now: Duration) -> u64 {
        std::iter::from_fn(|| rate.request(now).ok()).count() as u64
    }

    #[test]
    fn bucket_holds_requests_of_one_second() {
        for per_second in [1, 2, 3, 7, 500, 1_000, 20_000] {
            let rate = Rate::new(per_second).expect("a rate");
            let start = Duration::from_secs(100);
            assert_eq!(counted(&rate, start), per_second);
            let wait = rate.request(start).expect_err("empty");
            assert!(wait <= SECOND / per_second as u32, "{wait:?}");
            assert!(rate.request(start + wait / 2).is_err());
            assert_eq!(counted(&rate, start + wait), 1);
            assert_eq!(counted(&rate, start + wait + SECOND), per_second);
            // Idle time does not add up.
            assert_eq!(counted(&rate, start + 100 * SECOND), per_second);
        }
        assert!(Rate::new(UNLIMITED).is_none());
    }

    #[test]
    fn steady_requests_pass() {
        let rate = Rate::new(1_000).expect("a rate");
        for millisecond in 0..10_000 {
            let now = Duration::from_millis(millisecond);
            assert_eq!(rate.request(now), Ok(()), "{millisecond}");
        }
    }

    #[test]
    fn concurrent_requests_count_once() {
        let rate = Rate::new(1_000).expect("a rate");
        let counted: u64 = std::thread::scope(|scope| {
            let threads: Vec<_> = { 0..4 }
                .map(|_| scope.spawn(|| counted(&rate, SECOND)))
                .collect();
            let counts = threads.into_iter().map(|it| it.join().expect("no panic"));
            counts.sum()
        });
        assert_eq!(counted, 1_000);
    }

    #[test]
    fn certificates_of_one_name_share_a_quota() {
        let quotas = Quotas::default();
        let of = |role, owner: &str| quotas.of(role, &owner.into(), TokenLimits::default());
        let first = of(Role::Worker, "one");
        assert!(Arc::ptr_eq(&first, &of(Role::Worker, "one")));
        assert!(!Arc::ptr_eq(&first, &of(Role::Viewer, "one")));
        for number in 0..3 * QUOTAS_KEPT {
            of(Role::Worker, &number.to_string());
        }
        assert!(Arc::ptr_eq(&first, &of(Role::Worker, "one")), "in use");
        assert!(quotas.0.lock().expect("no panic").len() <= QUOTAS_KEPT);
    }

    #[test]
    fn streams_are_counted_while_open() {
        let quota = Quota::new(TokenLimits {
            streams: Some(2),
            ..TokenLimits::default()
        });
        let first = quota.stream().expect("a place");
        let _second = quota.stream().expect("a place");
        assert!(quota.stream().is_err());
        assert!(quota.stream().is_err(), "a refused one takes no place");
        drop(first);
        let _third = quota.stream().expect("a place again");
    }
}
