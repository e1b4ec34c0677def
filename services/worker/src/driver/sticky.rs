//! The processes of an agent that has to see all decisions of a game: each plays one game at a
//! time.

use std::{cell::Cell, rc::Rc};

use crate::agent::client::AgentClient;

/// The clients of an agent, one for each process.
pub(super) struct StickyClients {
    clients: Vec<Rc<AgentClient>>,
    /// True for each process that plays a game.
    taken: Vec<Cell<bool>>,
}

impl StickyClients {
    pub(super) fn new(clients: Vec<Rc<AgentClient>>) -> Self {
        Self {
            taken: clients.iter().map(|_| Cell::new(false)).collect(),
            clients,
        }
    }

    pub(super) fn clients(&self) -> &[Rc<AgentClient>] {
        &self.clients
    }

    /// True if a process plays no game.
    pub(super) fn has_room(&self) -> bool {
        self.taken.iter().any(|taken| !taken.get())
    }

    /// Takes a process for a game: the first free one, so that no more start than are needed. If
    /// all play, the game shares the first process.
    pub(super) fn take(&self) -> usize {
        let free = self.taken.iter().position(|taken| !taken.get());
        let process = free.unwrap_or_default();
        self.taken[process].set(true);
        process
    }

    /// The game of a process is over.
    pub(super) fn give_back(&self, process: usize) {
        self.taken[process].set(false);
    }

    pub(super) fn flush(&self) {
        for client in &self.clients {
            client.flush();
        }
    }
}
