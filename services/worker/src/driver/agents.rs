//! The agents of a tournament, each reached in its own way from its first question on.

mod reach;
mod seated;

use std::{
    cell::{Cell, OnceCell, RefCell},
    rc::Rc,
    sync::{Arc, atomic::AtomicBool},
};

use arena_engine::{AnyGame, AnyMatch, Question};
use arena_telemetry::WeightedHistogram;
use arena_wire::v1;
use tokio::sync::mpsc::UnboundedSender;

use super::{leased::SharedTournament, sticky::StickyClients};
use crate::{
    agent::{
        DecisionResult, Event, FaultReport, Token,
        client::AgentClient,
        question::{Asking, History},
    },
    clock::{Clocks, Spent},
    context::TournamentContext,
    environment::{Builtin, Environment},
    native::{NativeClient, PlyCounter, Pool},
    supervise::Output,
};

pub(super) use seated::SeatedAgents;

enum Reached {
    /// By connections that are asked about any game.
    Connected(Rc<AgentClient>),
    /// By one process for each game.
    Sticky(StickyClients),
    /// In the pool.
    Native(RefCell<NativeClient>),
    /// Not at all.
    Nowhere,
}

/// An agent of a tournament.
#[derive(Default)]
pub(super) struct TournamentAgent {
    reached: OnceCell<Reached>,
    /// True if it was asked since the last flush.
    is_asked: Cell<bool>,
    /// Its seats in games whose questions are asked one after another.
    active: Cell<usize>,
    /// Its open games, and the number of games that began while another one was open.
    pub(super) open: Cell<u32>,
    pub(super) overlaps: Cell<u64>,
    /// Bytes of output reported.
    pub(super) reported: Cell<usize>,
}

impl TournamentAgent {
    /// Its clients: one for each game if it is sticky, else at most one.
    fn clients(&self) -> &[Rc<AgentClient>] {
        match self.reached.get() {
            Some(Reached::Connected(client)) => std::slice::from_ref(client),
            Some(Reached::Sticky(sticky)) => sticky.clients(),
            Some(Reached::Native(_) | Reached::Nowhere) | None => &[],
        }
    }

    /// The client that is asked about a game.
    fn client(&self, process: Option<usize>) -> Option<&Rc<AgentClient>> {
        self.clients().get(process.unwrap_or_default())
    }

    /// Output of the process that plays a game, if there is one and it is known.
    pub(super) fn output(&self, process: Option<usize>) -> Option<Arc<Output>> {
        self.client(process)?.output()
    }

    /// Number of games at a time for which there are cores, if it is known to need them.
    fn games_by_cores(&self) -> Option<usize> {
        let limits = self.clients().iter();
        limits.filter_map(|client| client.games_by_cores()).min()
    }

    fn has_answered(&self) -> bool {
        self.clients().iter().any(|client| client.event_count() > 0)
    }
}

/// A tournament with its agents on one driver. Dropping it ends them.
pub(super) struct TournamentAgents {
    shared: Arc<SharedTournament>,
    /// The number of the driver.
    driver: usize,
    /// The rules, for the games of this driver.
    rules: Box<dyn AnyGame>,
    agents: Vec<TournamentAgent>,
    environment: Rc<Environment>,
    events: UnboundedSender<Event>,
    overhead: WeightedHistogram,
    /// Games in play whose questions are asked one after another.
    playing: Cell<usize>,
    /// Agents that were asked since the last flush: a flush costs nothing for the others.
    asked: RefCell<Vec<u16>>,
    /// Decisions since the last report.
    decisions: Cell<u64>,
    /// True from the moment on at which every agent had answered.
    tried: Cell<bool>,
    /// Games in play of agents that need cores for their games.
    thinking: Cell<usize>,
}

/// How the question of a game is asked.
pub(super) struct Asked<'a> {
    pub(super) clocks: Option<&'a Clocks>,
    /// While no other question is open.
    pub(super) alone: bool,
    /// The process of a sticky agent, and what it is sent.
    pub(super) process: Option<usize>,
    pub(super) history: Option<History>,
    /// True if the answer is not wanted any more.
    pub(super) unwanted: &'a Arc<AtomicBool>,
}

impl TournamentAgents {
    pub(super) fn new(
        driver: usize,
        shared: Arc<SharedTournament>,
        environment: Rc<Environment>,
        events: UnboundedSender<Event>,
    ) -> Self {
        let context = shared.context();
        let agents = context.wire().agents.len();
        Self {
            agents: (0..agents).map(|_| TournamentAgent::default()).collect(),
            overhead: environment.metrics.overhead(&context.wire().ruleset),
            rules: context.game().deferring(),
            driver,
            shared,
            environment,
            events,
            playing: Cell::new(0),
            asked: RefCell::new(Vec::with_capacity(agents)),
            decisions: Cell::new(0),
            tried: Cell::new(false),
            thinking: Cell::new(0),
        }
    }

    pub(super) fn context(&self) -> &TournamentContext {
        self.shared.context()
    }

    pub(super) fn rules(&self) -> &dyn AnyGame {
        &*self.rules
    }

    pub(super) fn shared(&self) -> &SharedTournament {
        &self.shared
    }

    pub(super) fn agent(&self, index: u16) -> &TournamentAgent {
        &self.agents[usize::from(index)]
    }

    /// Seconds that a move costs outside of the agents.
    pub(super) fn overhead(&self) -> &WeightedHistogram {
        &self.overhead
    }

    /// True if a game may start: none of its agents is fully occupied.
    pub(super) fn has_room(&self, game: &v1::GameAssignment) -> bool {
        let agents = game.seats.iter();
        let mut agents = agents.filter_map(|&it| self.agents.get(it as usize));
        let limits = agents.clone().filter_map(TournamentAgent::games_by_cores);
        if limits.min().is_some_and(|most| self.thinking.get() >= most) {
            return false;
        }
        agents.all(|agent| match agent.reached.get() {
            Some(Reached::Connected(client)) => client.has_room(agent.active.get()),
            Some(Reached::Sticky(sticky)) => sticky.has_room(),
            Some(Reached::Native(client)) => client.borrow().has_room(agent.active.get()),
            Some(Reached::Nowhere) | None => true,
        })
    }

    /// True if an agent of the game is reached by a connection, and never answered here.
    pub(super) fn is_untried(&self, game: &v1::GameAssignment) -> bool {
        let mut agents = game.seats.iter();
        agents.any(|&index| match self.agents.get(index as usize) {
            Some(agent) => match agent.reached.get() {
                Some(Reached::Connected(_) | Reached::Sticky(_)) => !agent.has_answered(),
                Some(Reached::Native(_) | Reached::Nowhere) => false,
                None => !self.is_in_process(index as u16),
            },
            None => false,
        })
    }

    /// Number of games in play whose questions are asked one after another.
    pub(super) fn playing(&self) -> usize {
        self.playing.get()
    }

    /// This many decisions were made.
    pub(super) fn count_decisions(&self, count: u64) {
        self.decisions.update(|decisions| decisions + count);
    }

    /// Adds its decisions to those of all drivers.
    pub(super) fn report_decisions(&self) {
        self.shared.count_decisions(self.decisions.take());
    }

    /// True if every agent has answered here, or needs no connection.
    pub(super) fn is_tried(&self) -> bool {
        if !self.tried.get() {
            let agents = 0..self.agents.len() as u16;
            let tried = |agent| self.agent(agent).has_answered() || self.is_in_process(agent);
            self.tried.set(agents.into_iter().all(tried));
        }
        self.tried.get()
    }

    /// True if all agents that were asked have answered.
    pub(super) fn is_served(&self) -> bool {
        let mut asked = self.agents.iter().filter(|it| !it.clients().is_empty());
        asked.all(TournamentAgent::has_answered)
    }

    /// True if all seats are played in the pool.
    pub(super) fn is_native(&self, game: &v1::GameAssignment) -> bool {
        let mut seats = game.seats.iter();
        seats.all(|&agent| self.is_in_process(agent as u16))
    }

    /// True if built-in bots run in this process, which alone can ask a package of rules.
    fn runs_bots(&self) -> bool {
        self.environment.agents.builtin == Builtin::InProcess || self.context().has_package()
    }

    fn is_in_process(&self, agent: u16) -> bool {
        self.runs_bots() && self.context().is_native(agent)
    }

    /// Asks an agent, in its next batch or while no other question is open. If the pool answers,
    /// returns the progress of the job.
    pub(super) fn ask(
        &self,
        index: u16,
        token: Token,
        game: &dyn AnyMatch,
        question: Question,
        asked: Asked<'_>,
    ) -> Option<Arc<PlyCounter>> {
        let Asked {
            clocks,
            alone,
            process,
            history,
            unwanted,
        } = asked;
        let agent = self.agent(index);
        if !agent.is_asked.replace(true) {
            self.asked.borrow_mut().push(index);
        }
        let time_control = self.context().time_control();
        let allowance = time_control.allowance(clocks, question.seat);
        match agent.reached.get_or_init(|| self.reach(index)) {
            Reached::Connected(_) | Reached::Sticky(_) => {
                let clock = clocks.map(|clocks| clocks.show(question.seat));
                let how = Asking {
                    alone: alone || self.context().strict(),
                    allowance,
                    clock,
                    history,
                };
                if let Some(client) = agent.client(process) {
                    client.ask(token, game, question, how);
                }
                None
            }
            Reached::Native(client) => {
                let mut client = client.borrow_mut();
                Some(client.ask(token, game, question, allowance, unwanted.clone()))
            }
            Reached::Nowhere => {
                let name = self.context().agent_name(index);
                let why = format!("the setup does not state the source of agent {name}");
                self.answer(token, DecisionResult::Void(why));
                None
            }
        }
    }

    #[cfg(test)]
    pub(super) fn line(&self, agent: u16) -> &AgentClient {
        self.agent(agent).client(None).expect("a connection")
    }

    /// How much an agent was served so far, if it is reached by a connection.
    pub(super) fn served(&self, agent: u16, process: Option<usize>) -> Option<u64> {
        Some(self.agent(agent).client(process)?.event_count())
    }

    /// The processes of a sticky agent.
    fn sticky(&self, index: u16) -> Option<&StickyClients> {
        if !self.context().agent(index).sticky {
            return None;
        }
        let reached = &self.agent(index).reached;
        match reached.get_or_init(|| self.reach(index)) {
            Reached::Sticky(sticky) => Some(sticky),
            _ => None,
        }
    }

    /// Sends the questions.
    pub(super) fn flush(&self, pool: &Pool, events: &UnboundedSender<Event>) {
        for index in self.asked.borrow_mut().drain(..) {
            let agent = self.agent(index);
            agent.is_asked.set(false);
            match agent.reached.get() {
                Some(Reached::Connected(client)) => client.flush(),
                Some(Reached::Sticky(sticky)) => sticky.flush(),
                Some(Reached::Native(client)) => client.borrow_mut().flush(pool, events),
                Some(Reached::Nowhere) | None => {}
            }
        }
    }

    /// Answers for an agent that is given up.
    pub(super) fn charge(&self, token: Token, fault_report: FaultReport) {
        self.answer(token, DecisionResult::Fault(fault_report, Spent::default()));
    }

    fn answer(&self, token: Token, result: DecisionResult) {
        let _ = self.events.send(Event::Answers(vec![(token, result)]));
    }
}

impl Drop for TournamentAgents {
    fn drop(&mut self) {
        for client in self.agents.iter().flat_map(TournamentAgent::clients) {
            client.close();
        }
    }
}
