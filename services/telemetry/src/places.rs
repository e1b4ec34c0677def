//! Places for connections.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::{Notify, OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

/// Maximum time for a connection that is asked to leave; it leaves as soon as its task runs.
const LEAVING_MAX: Duration = Duration::from_secs(1);
/// The number of a seat that is busy.
const BUSY: u64 = 0;

/// A number of places. If all are taken, a new connection gets the place of the one that has been
/// idle for longest, so that connections that do nothing keep no other out.
#[derive(Debug)]
pub struct Places {
    free: Arc<Semaphore>,
    idle: Mutex<Idle>,
}

#[derive(Debug, Default)]
struct Idle {
    last: u64,
    seats: BTreeMap<u64, Arc<Seat>>,
}

/// What the requests of a connection know of its place.
#[derive(Debug)]
pub struct Seat {
    places: Arc<Places>,
    /// Its key among the idle seats.
    number: AtomicU64,
    leave: Notify,
}

/// A place of a connection, which is free again when it is dropped.
#[derive(Debug)]
pub struct Place {
    /// The part that requests may keep.
    pub seat: Arc<Seat>,
    _permit: OwnedSemaphorePermit,
}

impl Places {
    /// Places for a number of connections.
    #[must_use]
    pub fn new(places: usize) -> Arc<Self> {
        Arc::new(Self {
            free: Arc::new(Semaphore::new(places.clamp(1, Semaphore::MAX_PERMITS))),
            idle: Mutex::default(),
        })
    }

    fn idle(&self) -> MutexGuard<'_, Idle> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a place, which is idle until [`Seat::busy`]. Returns none if all places are busy.
    pub async fn take(self: Arc<Self>) -> Option<Place> {
        let permit = match Arc::clone(&self.free).try_acquire_owned() {
            Ok(permit) => permit,
            Err(_) => {
                let (_, oldest) = self.idle().seats.pop_first()?;
                oldest.leave.notify_one();
                let left = timeout(LEAVING_MAX, Arc::clone(&self.free).acquire_owned());
                left.await.ok()?.ok()?
            }
        };
        let seat = Arc::new(Seat {
            places: self,
            number: AtomicU64::new(BUSY),
            leave: Notify::new(),
        });
        seat.idle();
        Some(Place {
            seat,
            _permit: permit,
        })
    }
}

impl Seat {
    /// From now on the connection keeps its place.
    pub fn busy(&self) {
        if self.number.load(Ordering::Relaxed) != BUSY {
            let mut idle = self.places.idle();
            idle.seats
                .remove(&self.number.swap(BUSY, Ordering::Relaxed));
        }
    }

    /// From now on the connection may lose its place; those that were idle before lose theirs first.
    pub fn idle(self: &Arc<Self>) {
        let mut idle = self.places.idle();
        idle.last += 1;
        let last = idle.last;
        idle.seats
            .remove(&self.number.swap(last, Ordering::Relaxed));
        idle.seats.insert(last, Arc::clone(self));
    }

    /// Completes when the connection has lost its place and has to end.
    pub async fn lost(&self) {
        self.leave.notified().await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.seat.busy();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn take(places: &Arc<Places>) -> Option<Place> {
        Arc::clone(places).take().await
    }

    #[tokio::test]
    async fn oldest_idle_place_is_given_away() {
        let places = Places::new(3);
        let [oldest, busy, used] = [(); 3].map(|()| take(&places));
        let (oldest, busy, used) = (oldest.await, busy.await, used.await);
        let (oldest, busy, used) = (
            oldest.expect("a place"),
            busy.expect("a place"),
            used.expect("a place"),
        );
        busy.seat.busy();
        oldest.seat.busy();
        oldest.seat.idle();
        // Now `used` is the oldest one.
        let leaving = tokio::spawn(async move {
            used.seat.lost().await;
        });
        let second = take(&places).await.expect("its place");
        leaving.await.expect("it left");
        second.seat.busy();
        oldest.seat.busy();
        assert!(take(&places).await.is_none(), "all are busy");
        drop(oldest);
        assert!(take(&places).await.is_some());
    }
}
