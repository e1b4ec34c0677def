//! What the drivers of a worker share: the games that wait, and the state of their tournaments.

use std::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use tokio::sync::mpsc::UnboundedSender;

use super::{Command, waiting::WaitingGames};
use crate::lock;

/// Maximum number of drivers.
pub(crate) const DRIVERS_MAX: usize = 64;

/// What all drivers share.
pub(super) struct Shared {
    waiting: Mutex<WaitingGames>,
    /// Started games.
    in_flight: AtomicUsize,
    pub(super) capacity: usize,
    /// True if no game may start for now.
    pub(super) held: AtomicBool,
    /// True if no other worker is connected on which an agent may start.
    pub(super) alone: AtomicBool,
    commands: Vec<UnboundedSender<Command>>,
}

impl Shared {
    pub(super) fn new(capacity: usize, commands: Vec<UnboundedSender<Command>>) -> Self {
        Self {
            waiting: Mutex::default(),
            in_flight: AtomicUsize::new(0),
            capacity: capacity.max(1),
            held: AtomicBool::new(false),
            alone: AtomicBool::new(false),
            commands,
        }
    }

    pub(super) fn waiting(&self) -> MutexGuard<'_, WaitingGames> {
        lock(&self.waiting)
    }

    pub(super) fn drivers(&self) -> usize {
        self.commands.len()
    }

    pub(super) fn in_flight(&self) -> usize {
        self.in_flight.load(Ordering::Relaxed)
    }

    /// This many games started.
    pub(super) fn count_started(&self, games: usize) {
        self.in_flight.fetch_add(games, Ordering::Relaxed);
    }

    /// This many started games are over or dropped.
    pub(super) fn count_ended(&self, games: usize) {
        self.in_flight.fetch_sub(games, Ordering::Relaxed);
    }

    pub(super) fn send(&self, driver: usize, command: Command) {
        if let Some(commands) = self.commands.get(driver) {
            // A driver that has ended is noticed by its task.
            let _ = commands.send(command);
        }
    }

    pub(super) fn send_all(&self, command: &Command) {
        for driver in 0..self.drivers() {
            self.send(driver, command.clone());
        }
    }
}
