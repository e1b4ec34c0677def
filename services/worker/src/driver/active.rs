//! Games in play, by place.

use std::{rc::Rc, sync::Arc};

use arena_engine::{AnyMatch, IllegalAction, Question, Seat, Status};
use arena_wire::v1;
use slab::Slab;

use super::{
    adjudicate::Scores,
    agents::{Asked, SeatedAgents, TournamentAgents},
    leased::LeasedGames,
    outputs::GameOutputs,
};
use crate::{
    agent::{Chosen, FaultReport, Token, question::History},
    clock::micros,
    clock::{Clocks, Spent},
    native::PlyCounter,
    record::{self, Answered, Known, Timed, void_report},
};

/// A game in play.
pub(super) struct Active {
    /// Number of the game among all that were played here.
    number: u32,
    pub(super) lease: Arc<LeasedGames>,
    pub(super) tournament: Rc<TournamentAgents>,
    pub(super) assignment: v1::GameAssignment,
    pub(super) game: Box<dyn AnyMatch>,
    seats: SeatedAgents,
    timed: Timed,
    latencies_us: Vec<u32>,
    searches: Vec<v1::SearchNote>,
    details: Vec<v1::FaultDetail>,
    /// The job of the pool that answers its open question, if any.
    job: Option<Arc<PlyCounter>>,
    answered: Answered,
    outputs: GameOutputs,
    clocks: Option<Clocks>,
    run_queue_us: Vec<u32>,
    scores: Option<Scores>,
}

impl Active {
    pub(super) fn new(
        lease: Arc<LeasedGames>,
        tournament: Rc<TournamentAgents>,
        assignment: v1::GameAssignment,
    ) -> Result<Self, IllegalAction> {
        let context = tournament.context();
        let agents = context.seats(&assignment);
        let game = context.open(tournament.rules(), &assignment)?;
        let seats = SeatedAgents::new(tournament.clone(), agents);
        Ok(Self {
            clocks: context.time_control().clocks(seats.len()),
            run_queue_us: Vec::new(),
            scores: Scores::of(context),
            number: 0,
            lease,
            game,
            outputs: GameOutputs::begin(&tournament, &seats),
            seats,
            assignment,
            timed: Timed::start(),
            latencies_us: Vec::new(),
            searches: Vec::new(),
            details: Vec::new(),
            job: None,
            answered: Answered::default(),
            tournament,
        })
    }

    /// Asks its open question, if there is one and its agent is not given up.
    pub(super) fn ask(&mut self, token: Token) -> Status {
        if let Some(scores) = &mut self.scores {
            scores.adjudicate(&mut *self.game);
        }
        let status = self.game.status();
        let Status::Asks(question) = status else {
            return status;
        };
        let agent = self.seats.agent(question.seat);
        self.job = match self.lease.given_up.get(&agent) {
            Some(fault_report) => {
                self.tournament.charge(token, fault_report.clone());
                None
            }
            None => self.put(agent, token, question, false),
        };
        status
    }

    /// Asks its open question alone.
    pub(super) fn ask_alone(&mut self, token: Token) {
        if let Status::Asks(question) = self.game.status() {
            let agent = self.seats.agent(question.seat);
            self.job = self.put(agent, token, question, true);
        }
    }

    fn put(
        &self,
        agent: u16,
        token: Token,
        question: Question,
        alone: bool,
    ) -> Option<Arc<PlyCounter>> {
        let process = self.seats.process(agent);
        let asked = Asked {
            clocks: self.clocks.as_ref(),
            alone,
            process,
            history: process.map(|_| self.history(question.seat)),
            unwanted: &self.lease.job.unwanted,
        };
        let game = &*self.game;
        self.tournament.ask(agent, token, game, question, asked)
    }

    /// The moves so far, as the sticky agent of a seat gets them: only its own ones if information
    /// is hidden.
    fn history(&self, asked: Seat) -> History {
        let context = self.tournament.context();
        let sees_all = context.has_perfect_information();
        let mut moves = Vec::new();
        let replayed = context.replay(&self.assignment, self.game.events(), &mut |described| {
            if let (true, Some(seat)) = (described.event.is_action(), described.seat)
                && (sees_all || seat == asked)
            {
                moves.push(v1::PastMove {
                    seat: seat.into(),
                    move_id: described.event.id().into(),
                });
            }
        });
        if let Err(error) = replayed {
            tracing::error!(
                game = self.assignment.index,
                "its moves are not legal: {error}"
            );
        }
        History {
            game: context.game_token(self.assignment.index),
            moves,
        }
    }

    /// Progress of whatever works on its open question, for any game; none if nothing does.
    pub(super) fn attended(&self) -> Option<u64> {
        if let Some(job) = &self.job {
            return job.is_at_work().then(|| job.get());
        }
        match self.game.status() {
            Status::Asks(question) => {
                let agent = self.seats.agent(question.seat);
                self.tournament.served(agent, self.seats.process(agent))
            }
            Status::Waits | Status::Over(_) => None,
        }
    }

    /// True if one of its agents never answered here.
    fn is_untried(&self) -> bool {
        self.tournament.is_untried(&self.assignment)
    }

    /// Applies the answer to its open question.
    pub(super) fn answer(&mut self, chosen: Chosen) -> Result<(), IllegalAction> {
        let (asked, ply) = (self.game.status(), self.game.plies());
        self.game.answer(chosen.move_id)?;
        if let Status::Asks(question) = asked {
            self.answered.add(question.seat);
            if let Some(scores) = &mut self.scores {
                scores.add(ply, question.seat, chosen.score);
            }
        }
        Ok(())
    }

    /// Stores the time of the answer to its open question, and what the agent reported of its search, if
    /// timing is strict, and presses the clock.
    pub(super) fn time(&mut self, spent: Spent, search: v1::SearchNote) {
        let context = self.tournament.context();
        if context.strict() {
            self.latencies_us.push(micros(spent.took));
            self.searches.push(search);
        }
        if context.time_control().is_timed() {
            self.run_queue_us.push(micros(spent.queued));
        }
        if let (Some(clocks), Status::Asks(question)) = (&mut self.clocks, self.game.status()) {
            clocks.press(question.seat, spent);
        }
    }

    /// Charges the seat that was asked.
    pub(super) fn fault(&mut self, fault_report: FaultReport) {
        let Status::Asks(question) = self.game.status() else {
            return;
        };
        let agent = self.seats.agent(question.seat);
        tracing::info!(
            tournament = self.tournament.context().tournament_id(),
            game = self.assignment.index,
            agent = self.tournament.context().agent_name(agent),
            fault = fault_report.kind.name(),
            "{}",
            fault_report.message
        );
        let mut tail = fault_report.tail;
        if tail.is_empty()
            && let Some(output) = { self.tournament.agent(agent) }.output(self.seats.process(agent))
        {
            tail = output.tail();
        }
        self.details.push(v1::FaultDetail {
            seat: question.seat.into(),
            message: fault_report.message,
            stderr_tail: tail,
        });
        if let Some(scores) = &mut self.scores {
            scores.add(self.game.plies(), question.seat, None);
        }
        self.game.fault(fault_report.kind);
    }

    /// The report of a game that could not be played because the asked agent does not start here.
    pub(super) fn unready(&self, fault_report: FaultReport) -> v1::GameReport {
        let index = self.assignment.index;
        let Status::Asks(question) = self.game.status() else {
            return void_report(index, fault_report.message);
        };
        let agent = self.seats.agent(question.seat);
        let name = self.tournament.context().agent_name(agent);
        let why = format!("{name} does not start here: {}", fault_report.message);
        v1::GameReport {
            unready: Some(v1::UnreadyAgent {
                agent: agent.into(),
                kind: v1::FaultKind::from(fault_report.kind).into(),
                message: fault_report.message,
                stderr_tail: fault_report.tail,
            }),
            ..void_report(index, why)
        }
    }

    /// The report of a game that could not be played although no agent is at fault.
    pub(super) fn unplayed(&self, why: String) -> v1::GameReport {
        record::unplayed(self.tournament.context(), self.assignment.index, why)
    }

    /// The report of a finished game.
    pub(super) fn report(mut self) -> v1::GameReport {
        let known = Known {
            timed: self.timed,
            latencies_us: self.latencies_us,
            searches: self.searches,
            run_queue_us: self.run_queue_us,
            details: self.details,
            answered: self.answered,
            outputs: self.outputs.take(),
        };
        let context = self.tournament.context();
        record::report(context, &self.assignment, self.game.finish(), known)
    }
}

/// All games in play. A token names a place and the number of its game, so that a late answer
/// finds nothing.
#[derive(Default)]
pub(super) struct Games {
    places: Slab<Active>,
    /// Number of the newest game.
    newest: u32,
}

impl Games {
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Active> {
        self.places.iter().map(|(_, active)| active)
    }

    /// Number of games with an agent that never answered here.
    pub(super) fn untried(&self) -> usize {
        self.iter().filter(|active| active.is_untried()).count()
    }

    pub(super) fn insert(&mut self, mut active: Active) -> Token {
        self.newest = self.newest.wrapping_add(1);
        active.number = self.newest;
        Token {
            number: self.newest,
            place: self.places.insert(active) as u32,
        }
    }

    pub(super) fn get_mut(&mut self, token: Token) -> Option<&mut Active> {
        let active = self.places.get_mut(token.place as usize)?;
        (active.number == token.number).then_some(active)
    }

    pub(super) fn remove(&mut self, token: Token) -> Option<Active> {
        self.get_mut(token)?;
        self.places.try_remove(token.place as usize)
    }

    /// Drops the games of a lease. Returns their number.
    pub(super) fn remove_lease(&mut self, lease: u64) -> usize {
        let before = self.len();
        self.places.retain(|_, active| active.lease.number != lease);
        before - self.len()
    }
}
