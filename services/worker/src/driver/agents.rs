//! The agents of a tournament, each reached in its own way from its first question on.

use std::{
    cell::{Cell, OnceCell, RefCell, RefMut},
    rc::Rc,
    sync::Arc,
    time::Duration,
};

use arena_engine::{AnyMatch, Question};
use arena_telemetry::WeightedHistogram;
use arena_wire::v1::{self, agent_setup::Source as WireSource};
use tokio::{
    sync::mpsc::UnboundedSender,
    task::{self, JoinError},
    time::Instant,
};

use crate::{
    agent::{
        DecisionResult, Event, FaultReport, Token,
        client::{AgentClient, AgentClientSetup},
        connection::Source,
        question::{Asking, Writer, context},
    },
    clock::{Clocks, Spent},
    context::TournamentContext,
    environment::{Builtin, Environment},
    native::{NativeClient, NativeRunner, PlyCounter, Pool},
    record::RecordBuilder,
    supervise::Output,
};

enum Reached {
    /// By a connection.
    Connected(Rc<AgentClient>),
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
    fn client(&self) -> Option<&Rc<AgentClient>> {
        match self.reached.get() {
            Some(Reached::Connected(client)) => Some(client),
            _ => None,
        }
    }

    /// Output of its process, if it has one.
    pub(super) fn output(&self) -> Option<Arc<Output>> {
        self.client()?.output()
    }
}

/// A tournament with its agents. Dropping it ends them.
pub(super) struct TournamentAgents {
    context: Arc<TournamentContext>,
    builder: RefCell<RecordBuilder>,
    runner: Arc<NativeRunner>,
    agents: Vec<TournamentAgent>,
    environment: Rc<Environment>,
    events: UnboundedSender<Event>,
    overhead: WeightedHistogram,
    used: Cell<Instant>,
    /// Games in play whose questions are asked one after another.
    playing: Cell<usize>,
    /// Agents that were asked since the last flush: a flush costs nothing for the others.
    asked: RefCell<Vec<u16>>,
    /// Decisions since the last report.
    decisions: Cell<u64>,
}

/// The agents of a game in play, until it is dropped.
pub(super) struct SeatedAgents {
    tournament: Rc<TournamentAgents>,
    agents: Vec<u16>,
}

impl SeatedAgents {
    pub(super) fn new(tournament: Rc<TournamentAgents>, agents: Vec<u16>) -> Self {
        for &agent in &agents {
            tournament.agent(agent).active.update(|seats| seats + 1);
        }
        tournament.playing.update(|games| games + 1);
        Self { tournament, agents }
    }

    pub(super) fn agent(&self, seat: u8) -> u16 {
        self.agents[usize::from(seat)]
    }
}

impl Drop for SeatedAgents {
    fn drop(&mut self) {
        self.tournament.playing.update(|games| games - 1);
        for &agent in &self.agents {
            let active = &self.tournament.agent(agent).active;
            active.update(|seats| seats - 1);
        }
    }
}

impl TournamentAgents {
    pub(super) fn new(
        context: Arc<TournamentContext>,
        environment: Rc<Environment>,
        events: UnboundedSender<Event>,
    ) -> Self {
        let agents = context.wire().agents.len();
        Self {
            builder: RefCell::new(RecordBuilder::new(context.clone())),
            runner: NativeRunner::new(context.clone(), environment.metrics.clone()),
            agents: (0..agents).map(|_| TournamentAgent::default()).collect(),
            overhead: environment.metrics.overhead(&context.wire().ruleset),
            context,
            environment,
            events,
            used: Cell::new(Instant::now()),
            playing: Cell::new(0),
            asked: RefCell::new(Vec::with_capacity(agents)),
            decisions: Cell::new(0),
        }
    }

    pub(super) fn context(&self) -> &TournamentContext {
        &self.context
    }

    /// Builds records; not to be stored.
    pub(super) fn builder(&self) -> RefMut<'_, RecordBuilder> {
        self.builder.borrow_mut()
    }

    /// Plays whole games among its built-in agents.
    pub(super) fn runner(&self) -> &Arc<NativeRunner> {
        &self.runner
    }

    pub(super) fn agent(&self, index: u16) -> &TournamentAgent {
        &self.agents[usize::from(index)]
    }

    /// Seconds that a move costs outside of the agents.
    pub(super) fn overhead(&self) -> &WeightedHistogram {
        &self.overhead
    }

    pub(super) fn touch(&self) {
        self.used.set(Instant::now());
    }

    pub(super) fn idle(&self) -> Duration {
        self.used.get().elapsed()
    }

    /// True if a game may start: none of its agents is fully occupied.
    pub(super) fn has_room(&self, game: &v1::GameAssignment) -> bool {
        let agents = game.seats.iter();
        let mut agents = agents.filter_map(|&it| self.agents.get(it as usize));
        agents.all(|agent| match agent.reached.get() {
            Some(Reached::Connected(client)) => client.has_room(agent.active.get()),
            Some(Reached::Native(client)) => client.borrow().has_room(agent.active.get()),
            Some(Reached::Nowhere) | None => true,
        })
    }

    /// True if an agent of the game is reached by a connection, and never answered here.
    pub(super) fn is_untried(&self, game: &v1::GameAssignment) -> bool {
        let mut agents = game.seats.iter();
        agents.any(|&agent| match self.agents.get(agent as usize) {
            Some(TournamentAgent { reached, .. }) => match reached.get() {
                Some(Reached::Connected(client)) => client.event_count() == 0,
                Some(Reached::Native(_) | Reached::Nowhere) => false,
                None => !self.is_in_process(agent as u16),
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

    /// Decisions since the last call.
    pub(super) fn take_decisions(&self) -> u64 {
        self.decisions.take()
    }

    /// True if all seats are played in the pool.
    pub(super) fn is_native(&self, game: &v1::GameAssignment) -> bool {
        let mut seats = game.seats.iter();
        seats.all(|&agent| self.is_in_process(agent as u16))
    }

    fn is_in_process(&self, agent: u16) -> bool {
        self.environment.agents.builtin == Builtin::InProcess && self.context.is_native(agent)
    }

    /// Asks an agent, in its next batch or while no other question is open. If the pool answers,
    /// returns the progress of the job.
    pub(super) fn ask(
        &self,
        index: u16,
        token: Token,
        game: &dyn AnyMatch,
        question: Question,
        clocks: Option<&Clocks>,
        alone: bool,
    ) -> Option<Arc<PlyCounter>> {
        let agent = self.agent(index);
        if !agent.is_asked.replace(true) {
            self.asked.borrow_mut().push(index);
        }
        let time_control = self.context.time_control();
        let allowance = time_control.allowance(clocks, question.seat);
        match agent.reached.get_or_init(|| self.reach(index)) {
            Reached::Connected(client) => {
                let clock = clocks.map(|clocks| clocks.show(question.seat));
                let how = Asking {
                    alone: alone || self.context.strict(),
                    allowance,
                    clock,
                };
                client.ask(token, game, question, how);
                None
            }
            Reached::Native(client) => {
                let mut client = client.borrow_mut();
                Some(client.ask(token, game, question, allowance))
            }
            Reached::Nowhere => {
                let name = self.context.agent_name(index);
                let why = format!("the setup does not state the source of agent {name}");
                self.answer(token, DecisionResult::Void(why));
                None
            }
        }
    }

    #[cfg(test)]
    pub(super) fn line(&self, agent: u16) -> &AgentClient {
        self.agent(agent).client().expect("a connection")
    }

    /// How much an agent was served so far, if it is reached by a connection.
    pub(super) fn served(&self, agent: u16) -> Option<u64> {
        Some(self.agent(agent).client()?.event_count())
    }

    /// Sends the questions.
    pub(super) fn flush(&self, pool: &Pool, events: &UnboundedSender<Event>) {
        for index in self.asked.borrow_mut().drain(..) {
            let agent = self.agent(index);
            agent.is_asked.set(false);
            match agent.reached.get() {
                Some(Reached::Connected(client)) => client.flush(),
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

    fn reach(&self, index: u16) -> Reached {
        let agent = self.context.agent(index);
        let native = self.context.is_native(index);
        let source = match &agent.source {
            None => return Reached::Nowhere,
            Some(WireSource::Native(_))
                if self.environment.agents.builtin == Builtin::InProcess =>
            {
                let client = NativeClient::new(index, self.runner.clone());
                return Reached::Native(RefCell::new(client));
            }
            Some(source) => Source::of(source.clone(), &self.environment),
        };
        let context = context(self.context.wire(), agent);
        let setup = AgentClientSetup {
            name: agent.name.clone(),
            label: self.context.agent_label(index).to_owned(),
            meter: self.context.meter(&self.environment.metrics, index),
            source,
            batch_size: agent.batch_size as usize,
            time_control: *self.context.time_control(),
        };
        // The papers' agents need only ids.
        let writer = Writer::new(&context, !(agent.omit_move_details || native));
        let events = self.events.clone();
        let (client, task) = AgentClient::open(setup, writer, self.environment.clone(), events);
        let task = task::spawn_local(task);
        let events = self.events.clone();
        task::spawn_local(async move {
            let ended = task.await.map_err(JoinError::try_into_panic);
            if let Err(Ok(panic)) = ended {
                let _ = events.send(Event::Panicked(panic));
            }
        });
        Reached::Connected(client)
    }
}

impl Drop for TournamentAgents {
    fn drop(&mut self) {
        for client in self.agents.iter().filter_map(TournamentAgent::client) {
            client.close();
        }
    }
}
