//! Places of computations that take long: plans, and comparisons of agents.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use arena_wire::v1::Role;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

use crate::{
    error::Error,
    principal::Principal,
    shares::{Share, Shares},
};

/// Maximum number of computations at a time; others wait.
pub(crate) const COMPUTATIONS_MAX: usize = 2;
/// Those of one owner at a time: one place is left for others.
const OWN_MAX: usize = 1;
/// Those of one owner that wait or have a place.
pub(crate) const OWN_WAITING_MAX: usize = 16;
/// Maximum time that a computation waits for a place.
const PLACE_WAIT: Duration = Duration::from_secs(10);
/// Suggested delay after that.
const PLACE_RETRY: Duration = Duration::from_secs(5);

/// The places, and those who wait for them. One owner has at most one place, and at most one
/// computation in the queue of all owners: so owners take turns.
#[derive(Clone, Debug)]
pub(crate) struct Computations {
    all: Arc<Semaphore>,
    /// Of each owner with a computation.
    own: Arc<Mutex<HashMap<Arc<str>, Arc<Semaphore>>>>,
    waiting: Shares,
    place_wait: Duration,
}

/// A place of a computation, free again when it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    _all: OwnedSemaphorePermit,
    _own: Option<OwnedSemaphorePermit>,
    _waiting: Share,
}

impl Computations {
    pub(crate) fn new() -> Self {
        Self {
            all: Arc::new(Semaphore::new(COMPUTATIONS_MAX)),
            own: Arc::default(),
            waiting: Shares::new(OWN_WAITING_MAX),
            place_wait: PLACE_WAIT,
        }
    }

    /// Waits for a place, but not long.
    pub(crate) async fn place(&self, by: &Principal) -> Result<Place, Error> {
        let waiting = self.waiting.take(by)?;
        let places = async {
            let own = match by.role {
                Role::Admin => None,
                _ => Some(self.own(by).acquire_owned().await?),
            };
            Ok((Arc::clone(&self.all).acquire_owned().await?, own))
        };
        match timeout(self.place_wait, places).await {
            Ok(Ok((all, own))) => Ok(Place {
                _all: all,
                _own: own,
                _waiting: waiting,
            }),
            Ok(Err(tokio::sync::AcquireError { .. })) => Err(Error::Draining),
            Err(_) => Err(Error::Overloaded { wait: PLACE_RETRY }),
        }
    }

    /// The places of an owner.
    fn own(&self, by: &Principal) -> Arc<Semaphore> {
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        // A place in use, and a caller that waits for one, refer to it.
        own.retain(|_, places| Arc::strong_count(places) > 1);
        let places = own.entry(Arc::clone(&by.owner));
        Arc::clone(places.or_insert_with(|| Arc::new(Semaphore::new(OWN_MAX))))
    }
}

/// Stops a computation when it is dropped: its caller has left.
#[derive(Debug, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Set once the computation is to stop.
    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }
}

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by(owner: &str) -> Principal {
        let mut principal = Principal::local();
        (principal.role, principal.owner) = (Role::Submitter, owner.into());
        principal
    }

    fn impatient() -> Computations {
        Computations {
            place_wait: Duration::from_millis(20),
            ..Computations::new()
        }
    }

    #[tokio::test]
    async fn one_owner_leaves_a_place_for_others() {
        let computations = impatient();
        let first = computations.place(&by("one")).await.expect("a place");
        for _ in 0..3 {
            let second = computations.place(&by("one")).await;
            assert!(
                matches!(second, Err(Error::Overloaded { .. })),
                "{second:?}"
            );
        }
        let other = computations.place(&by("two")).await.expect("a place");
        let third = computations.place(&by("three")).await;
        assert!(matches!(third, Err(Error::Overloaded { .. })), "{third:?}");
        drop(first);
        let second = computations.place(&by("one")).await.expect("free again");
        drop((second, other));
        let _last = computations.place(&by("two")).await.expect("free again");
        assert_eq!(computations.own.lock().expect("no panic").len(), 1);
    }

    #[tokio::test]
    async fn few_computations_of_an_owner_wait() {
        let computations = Computations::new();
        let place = computations.place(&by("one")).await.expect("a place");
        let mut waiting = tokio::task::JoinSet::new();
        for _ in 1..OWN_WAITING_MAX {
            let computations = computations.clone();
            waiting.spawn(async move { computations.place(&by("one")).await.is_ok() });
        }
        // Each of them takes its share when it first runs.
        tokio::task::yield_now().await;
        let refused = computations.place(&by("one")).await;
        assert!(
            matches!(refused, Err(Error::Overloaded { .. })),
            "{refused:?}"
        );
        drop(place);
        assert!(waiting.join_all().await.into_iter().all(|it| it));
    }
}
