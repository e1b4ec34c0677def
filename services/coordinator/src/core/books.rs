//! Draws the opening books of tournaments, on other threads: the core never waits for one.
//!
//! A tournament is not leased until its book is there. A book is drawn when a worker could play the
//! tournament, so after a restart as well.

use std::{
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use arena_wire::v1::TournamentState;
use tokio::sync::mpsc;

use super::{Command, Core};
use crate::{info::Info, messages::at_once};

/// Books that are drawn at a time.
const DRAWN_MAX: usize = 2;
/// Time for which any request for games waits while a book is drawn.
pub(super) const BOOK_WAIT: Duration = Duration::from_secs(5);

/// The books that are to be drawn.
#[derive(Clone)]
pub(super) struct Books {
    queue: Arc<Mutex<Queue>>,
    /// False if the core may wait, which only a simulated store allows.
    on_threads: bool,
    signals: mpsc::UnboundedSender<Command>,
}

#[derive(Default)]
struct Queue {
    /// By size, so that no small book waits for all large ones.
    waiting: BTreeMap<(u64, Arc<str>), Arc<Info>>,
    drawn: Vec<Arc<str>>,
}

impl Books {
    pub(super) fn new(on_threads: bool, signals: mpsc::UnboundedSender<Command>) -> Self {
        Self {
            queue: Arc::default(),
            on_threads,
            signals,
        }
    }

    /// True if the openings of a tournament can be read; else its book will be drawn.
    pub(super) fn has(&self, info: &Arc<Info>) -> bool {
        if info.has_openings() {
            return true;
        }
        if !self.on_threads {
            info.book.draw(&info.tournament);
            return true;
        }
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        if queue.drawn.contains(&info.key) {
            return false;
        }
        let plies = info.tournament.play.opening_plies.unwrap_or(0);
        let size = info.tournament.openings.map_or(0, |it| it.size);
        let size = size.saturating_mul(plies.into());
        queue
            .waiting
            .insert((size, Arc::clone(&info.key)), Arc::clone(info));
        if queue.drawn.len() < DRAWN_MAX {
            self.draw_next(&mut queue);
        }
        false
    }

    /// True while a book is drawn.
    pub(super) fn are_drawn(&self) -> bool {
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        !queue.drawn.is_empty()
    }

    /// Frees the book of a tournament that does not run any more.
    pub(super) fn forget(&self, info: &Info) {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.waiting.retain(|(_, key), _| *key != info.key);
        drop(queue);
        info.book.forget();
    }

    fn draw_next(&self, queue: &mut Queue) {
        let Some(((_, key), info)) = queue.waiting.pop_first() else {
            return;
        };
        queue.drawn.push(key);
        let books = self.clone();
        tokio::task::spawn_blocking(move || {
            // A defect leaves the tournament without openings, and the place free.
            let draw = AssertUnwindSafe(|| drop(info.book.draw(&info.tournament)));
            if catch_unwind(draw).is_err() {
                tracing::error!(tournament = &*info.id, "cannot draw the opening book");
            }
            // Until the core knows it, the book counts as being drawn: requests wait for it.
            let drew = move |core: &mut Core| core.drew_book(&info);
            // Without a receiver the coordinator is gone as well.
            let _ = books.signals.send(at_once(drew));
        });
    }

    fn drew(&self, info: &Info) {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.drawn.retain(|key| *key != info.key);
        self.draw_next(&mut queue);
    }
}

impl Core {
    /// Serves waiting requests, unless the tournament was ended while its book was drawn.
    fn drew_book(&mut self, info: &Arc<Info>) {
        self.books.drew(info);
        let entry = self.tournaments.get(&*info.id);
        let needed = entry.filter(|entry| Arc::ptr_eq(&entry.info, info));
        match needed.map(|entry| entry.document.state()) {
            Some(TournamentState::Running | TournamentState::Finished) => {}
            _ => self.books.forget(info),
        }
        self.unpark = true;
    }

    /// Frees the books of tournaments that lease no more games: audits and late reports may have
    /// drawn them after the last game.
    pub(super) fn free_books(&self) {
        for entry in self.tournaments.values() {
            let audits = entry.number.and_then(|number| self.ledger.audited(number));
            let is_leased = match entry.document.state() {
                TournamentState::Running => true,
                TournamentState::Finished => audits.is_some_and(|it| it.waiting() > 0),
                _ => false,
            };
            if !is_leased {
                self.books.forget(&entry.info);
            }
        }
    }
}
