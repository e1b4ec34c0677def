//! Requests that wait for more of their bodies. Their memory is limited.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::Waker,
};

/// What a request takes besides the bytes of its messages: its stream, task and headers.
pub(super) const REQUEST_BYTES: u64 = 16 << 10;

/// The requests that wait. If they take too much memory, the oldest one of the caller that takes most is given
/// up: requests that do not end leave room for those that do, and for other callers.
pub(super) struct Waiting {
    bytes_max: u64,
    requests: Mutex<Requests>,
}

#[derive(Default)]
struct Requests {
    last: u64,
    bytes: u64,
    open: BTreeMap<u64, Request>,
    callers: HashMap<Arc<str>, u64>,
}

struct Request {
    caller: Arc<str>,
    bytes: u64,
    waker: Waker,
}

impl Waiting {
    /// Limit for the bytes of all of them.
    pub(super) fn new(bytes_max: u64) -> Arc<Self> {
        Arc::new(Self {
            bytes_max,
            requests: Mutex::default(),
        })
    }

    /// A place for a request of a caller. Its task is woken when it is given up.
    pub(super) fn enter(self: &Arc<Self>, caller: Arc<str>, waker: &Waker) -> Place {
        let mut requests = self.lock();
        requests.last += 1;
        let number = requests.last;
        let request = Request {
            caller,
            bytes: 0,
            waker: waker.clone(),
        };
        requests.open.insert(number, request);
        Place {
            waiting: Arc::clone(self),
            number,
        }
    }

    /// True if a caller takes more than half of the room.
    pub(super) fn is_crowded_by(&self, caller: &str) -> bool {
        let taken = self.lock().callers.get(caller).copied();
        taken.is_some_and(|bytes| bytes > self.bytes_max / 2)
    }

    fn lock(&self) -> MutexGuard<'_, Requests> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    pub(super) fn bytes(&self) -> u64 {
        let requests = self.lock();
        let callers: u64 = requests.callers.values().sum();
        let open: u64 = requests.open.values().map(|it| it.bytes).sum();
        assert_eq!([callers, open], [requests.bytes; 2]);
        open
    }
}

impl Requests {
    fn remove(&mut self, number: u64) -> Option<Request> {
        let request = self.open.remove(&number)?;
        self.bytes -= request.bytes;
        if let Some(bytes) = self.callers.get_mut(&request.caller) {
            *bytes -= request.bytes;
            if *bytes == 0 {
                self.callers.remove(&request.caller);
            }
        }
        Some(request)
    }

    /// The oldest request of the caller that takes most.
    fn victim(&self) -> Option<u64> {
        let (caller, _) = self.callers.iter().max_by_key(|(_, bytes)| **bytes)?;
        let mut open = self.open.iter();
        open.find_map(|(number, it)| (it.caller == *caller).then_some(*number))
    }
}

/// The place of a request that waits.
pub(super) struct Place {
    waiting: Arc<Waiting>,
    number: u64,
}

impl Place {
    /// Changes whom to wake. Returns false if the request was given up.
    pub(super) fn wait(&self, waker: &Waker) -> bool {
        let mut requests = self.waiting.lock();
        let request = requests.open.get_mut(&self.number);
        request.is_some_and(|request| {
            request.waker.clone_from(waker);
            true
        })
    }

    /// Takes more room. Returns false if the request was given up.
    pub(super) fn take(&self, bytes: u64) -> bool {
        let mut all = self.waiting.lock();
        let requests = &mut *all;
        let Some(request) = requests.open.get_mut(&self.number) else {
            return false;
        };
        request.bytes += bytes;
        requests.bytes += bytes;
        *requests
            .callers
            .entry(Arc::clone(&request.caller))
            .or_default() += bytes;
        let mut given_up = Vec::new();
        while requests.bytes > self.waiting.bytes_max
            && let Some(request) = requests.victim().and_then(|it| requests.remove(it))
        {
            given_up.push(request.waker);
        }
        let is_open = requests.open.contains_key(&self.number);
        drop(all);
        given_up.into_iter().for_each(Waker::wake);
        is_open
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let request = self.waiting.lock().remove(self.number);
        // Its waker is dropped after the lock.
        drop(request);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oldest_request_of_largest_caller_is_given_up() {
        let waiting = Waiting::new(10);
        let enter = |caller: &str| waiting.enter(caller.into(), Waker::noop());
        let [small, first, second] = ["small", "large", "large"].map(enter);
        assert!(small.take(3));
        assert!(first.take(4));
        assert!(second.take(3));
        assert!(small.take(1), "the largest caller makes room");
        assert!(!first.wait(Waker::noop()));
        assert!(!first.take(1));
        assert!(second.wait(Waker::noop()));
        let third = enter("large");
        assert!(third.take(3), "it is there");
        assert_eq!(waiting.bytes(), 10);
        assert!(!enter("new").take(11), "more than all room");
        assert_eq!(waiting.bytes(), 10);
        drop((small, first, second, third));
        assert_eq!(waiting.bytes(), 0);
    }
}
