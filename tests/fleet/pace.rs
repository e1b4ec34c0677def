//! The schedule of a worker that keeps a pace.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeSet,
    time::{Duration, Instant},
};

/// When reports are due. The times do not depend on earlier reports, so that a stalled coordinator
/// delays every report that is due during the stall.
#[derive(Debug)]
pub(super) struct Pace {
    every: Duration,
    /// The first turn that is not taken.
    next: Cell<Instant>,
    /// Turns that are taken and not answered.
    open: RefCell<BTreeSet<Instant>>,
}

impl Pace {
    pub(super) fn new(first: Instant, every: Duration) -> Self {
        Self {
            every,
            next: Cell::new(first),
            open: RefCell::default(),
        }
    }

    /// Takes the next turn, which may be long past.
    pub(super) fn take(&self) -> Instant {
        let turn = self.next.get();
        self.next.set(turn + self.every);
        self.open.borrow_mut().insert(turn);
        turn
    }

    pub(super) fn answered(&self, turn: Instant) {
        self.open.borrow_mut().remove(&turn);
    }

    /// How long unanswered reports have been due.
    pub(super) fn overdue(&self, now: Instant) -> Vec<Duration> {
        let open = self.open.borrow();
        let not_begun =
            std::iter::successors(Some(self.next.get()), |turn| turn.checked_add(self.every));
        let due = |turn: &Instant| *turn <= now;
        let turns = open.iter().copied().filter(due);
        turns
            .chain(not_begun.take_while(due))
            .map(|turn| now - turn)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overdue_reports_count() {
        let (first, every) = (Instant::now(), Duration::from_millis(10));
        let pace = Pace::new(first, every);
        let (answered, open) = (pace.take(), pace.take());
        assert_eq!((answered, open), (first, first + every));
        pace.answered(answered);
        assert!(pace.overdue(first).is_empty());
        let late: Vec<_> = pace.overdue(first + every * 3);
        assert_eq!(late, [every * 2, every, Duration::ZERO]);
    }
}
