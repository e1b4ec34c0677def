//! Games that are played, by place.

use std::{rc::Rc, sync::Arc, time::Duration};

use arena_engine::{AnyMatch, Status};
use arena_wire::v1;

use super::seats::Table;
use crate::{
    agent::{Blame, Token},
    native::Plies,
    report::{Timed, micros},
};

/// A game that is played.
pub(super) struct Active {
    pub(super) lease: u64,
    pub(super) table: Rc<Table>,
    pub(super) assignment: v1::GameAssignment,
    pub(super) game: Box<dyn AnyMatch>,
    /// Agents in seat order.
    pub(super) seats: Vec<u16>,
    /// Plies of its lease.
    pub(super) plies: Arc<Plies>,
    timed: Timed,
    latencies_us: Vec<u32>,
    details: Vec<v1::FaultDetail>,
}

impl Active {
    pub(super) fn new(
        lease: u64,
        plies: Arc<Plies>,
        table: Rc<Table>,
        assignment: v1::GameAssignment,
    ) -> Self {
        let rules = table.rules();
        Self {
            lease,
            game: rules.game().start(rules.setup(&assignment)),
            seats: rules.seats(&assignment),
            plies,
            assignment,
            timed: Timed::start(),
            latencies_us: Vec::new(),
            details: Vec::new(),
            table,
        }
    }

    /// Asks its open question; false where it is over.
    pub(super) fn ask(&self, token: Token) -> bool {
        let Status::Asks(question) = self.game.status() else {
            return false;
        };
        let agent = self.seats[usize::from(question.seat)];
        self.table.ask(agent, token, &*self.game, question);
        true
    }

    /// Keeps the time of a move, where timing is strict.
    pub(super) fn time(&mut self, took: Duration) {
        if self.table.rules().strict() {
            self.latencies_us.push(micros(took));
        }
    }

    /// Charges the seat that was asked.
    pub(super) fn fault(&mut self, blame: Blame) {
        let Status::Asks(question) = self.game.status() else {
            return;
        };
        let agent = self.seats[usize::from(question.seat)];
        tracing::info!(
            tournament = self.table.rules().tournament_id(),
            game = self.assignment.index,
            agent = self.table.rules().agent_name(agent),
            fault = blame.kind.name(),
            "{}",
            blame.message
        );
        self.details.push(v1::FaultDetail {
            seat: question.seat.into(),
            message: blame.message,
            stderr_tail: blame.tail,
        });
        self.game.fault(blame.kind);
    }

    /// The report of a game that is over.
    pub(super) fn seal(self) -> v1::GameReport {
        self.table.sealer().seal(
            &self.assignment,
            self.game.finish(),
            self.timed,
            self.latencies_us,
            self.details,
        )
    }
}

#[derive(Default)]
struct Place {
    turn: u32,
    active: Option<Active>,
}

/// All games that are played. A token names a place and how often it was
/// used, so that a late answer finds nothing.
#[derive(Default)]
pub(super) struct Games {
    places: Vec<Place>,
    free: Vec<u32>,
}

impl Games {
    pub(super) fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    pub(super) fn insert(&mut self, active: Active) -> Token {
        let place = self.free.pop().unwrap_or_else(|| {
            self.places.push(Place::default());
            self.places.len() as u32 - 1
        });
        let entry = &mut self.places[place as usize];
        entry.active = Some(active);
        Token {
            place,
            turn: entry.turn,
        }
    }

    pub(super) fn get_mut(&mut self, token: Token) -> Option<&mut Active> {
        let entry = &mut self.places[token.place as usize];
        entry.active.as_mut().filter(|_| entry.turn == token.turn)
    }

    pub(super) fn remove(&mut self, token: Token) -> Option<Active> {
        let entry = &mut self.places[token.place as usize];
        if entry.turn != token.turn {
            return None;
        }
        let active = entry.active.take()?;
        entry.turn = entry.turn.wrapping_add(1);
        self.free.push(token.place);
        Some(active)
    }

    pub(super) fn remove_lease(&mut self, lease: u64) {
        for place in 0..self.places.len() as u32 {
            let entry = &self.places[place as usize];
            let of_lease = |active: &Active| active.lease == lease;
            if entry.active.as_ref().is_some_and(of_lease) {
                let turn = entry.turn;
                self.remove(Token { place, turn });
            }
        }
    }
}
