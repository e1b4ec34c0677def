//! The agents of a tournament, each reached in its own way from its first question on.
//! question on.

use std::{
    cell::{Cell, OnceCell, RefCell, RefMut},
    rc::Rc,
    sync::Arc,
    time::Duration,
};

use arena_engine::{AnyMatch, Question, options::Options};
use arena_telemetry::WeightedHistogram;
use arena_wire::v1::{self, agent_setup::Source as WireSource};
use tokio::{
    sync::mpsc::UnboundedSender,
    task::{self, JoinError},
    time::Instant,
};

use super::open_games::OpenGames;
use crate::{
    agent::{
        DecisionResult, Event, FaultReport, Token,
        client::{AgentClient, AgentClientSetup},
        connection::Source,
        question::{Writer, context},
    },
    context::TournamentContext,
    environment::{Builtin, Environment},
    native::{NativeClient, NativeGames, NativeRunners, PlyCounter, Pool},
    record::RecordBuilder,
    supervise::Output,
};

enum Reached {
    /// By a connection.
    AgentClient(Rc<AgentClient>),
    /// In the pool.
    Native(RefCell<NativeClient>),
    /// Not at all.
    Nowhere,
}

/// A tournament with its agents. Dropping it ends them.
pub(super) struct TournamentAgents {
    context: Arc<TournamentContext>,
    builder: RefCell<RecordBuilder>,
    players: Arc<NativeGames>,
    agents: Vec<OnceCell<Reached>>,
    environment: Rc<Environment>,
    events: UnboundedSender<Event>,
    overhead: WeightedHistogram,
    used: Cell<Instant>,
    /// Agents that were asked since the last flush, and a flag for each: a flush costs nothing for
    /// the others.
    asked: RefCell<Vec<u16>>,
    is_asked: Vec<Cell<bool>>,
    /// For each agent, the games in play whose questions are asked one after another.
    active: Vec<Cell<usize>>,
    /// Decisions since the last report.
    decisions: Cell<u64>,
    /// For each agent, the games in play with it.
    open: Vec<OpenGames>,
}

/// The agents of a game in play, until it is dropped.
pub(super) struct SeatedAgents {
    tournament: Rc<TournamentAgents>,
    agents: Vec<u16>,
}

impl SeatedAgents {
    pub(super) fn new(tournament: Rc<TournamentAgents>, agents: Vec<u16>) -> Self {
        for &agent in &agents {
            let active = &tournament.active[usize::from(agent)];
            active.set(active.get() + 1);
        }
        Self { tournament, agents }
    }

    pub(super) fn agent(&self, seat: u8) -> u16 {
        self.agents[usize::from(seat)]
    }
}

impl Drop for SeatedAgents {
    fn drop(&mut self) {
        for &agent in &self.agents {
            let active = &self.tournament.active[usize::from(agent)];
            active.set(active.get() - 1);
        }
    }
}

impl TournamentAgents {
    pub(super) fn new(
        context: Arc<TournamentContext>,
        environment: Rc<Environment>,
        events: UnboundedSender<Event>,
    ) -> Self {
        let agents = context.wire().agents.iter();
        Self {
            builder: RefCell::new(RecordBuilder::new(context.clone())),
            players: NativeGames::new(context.clone(), environment.metrics.clone()),
            asked: RefCell::new(Vec::with_capacity(agents.len())),
            is_asked: agents.clone().map(|_| Cell::new(false)).collect(),
            active: agents.clone().map(|_| Cell::new(0)).collect(),
            decisions: Cell::new(0),
            open: agents.clone().map(|_| OpenGames::default()).collect(),
            agents: agents.map(|_| OnceCell::new()).collect(),
            overhead: environment.metrics.overhead(&context.wire().ruleset),
            context,
            environment,
            events,
            used: Cell::new(Instant::now()),
        }
    }

    pub(super) fn context(&self) -> &TournamentContext {
        &self.context
    }

    /// Builds records; not to be stored.
    pub(super) fn builder(&self) -> RefMut<'_, RecordBuilder> {
        self.builder.borrow_mut()
    }

    pub(super) fn players(&self) -> &Arc<NativeGames> {
        &self.players
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
        game.seats.iter().all(|&agent| {
            let agent = agent as usize;
            let active = self.active.get(agent).map_or(0, Cell::get);
            match self.agents.get(agent).and_then(OnceCell::get) {
                Some(Reached::AgentClient(line)) => line.has_room(active),
                Some(Reached::Native(player)) => player.borrow().has_room(active),
                Some(Reached::Nowhere) | None => true,
            }
        })
    }

    /// This many decisions were made.
    pub(super) fn count_decisions(&self, count: u64) {
        self.decisions.set(self.decisions.get() + count);
    }

    /// Decisions since the last call.
    pub(super) fn take_decisions(&self) -> u64 {
        self.decisions.take()
    }

    /// True if all seats are played in the pool.
    pub(super) fn is_native(&self, game: &v1::GameAssignment) -> bool {
        self.environment.builtin == Builtin::InProcess
            && game
                .seats
                .iter()
                .all(|&agent| self.context.is_native(agent as u16))
    }

    /// Asks an agent. If the pool answers, returns the progress of the job.
    pub(super) fn ask(
        &self,
        agent: u16,
        token: Token,
        game: &dyn AnyMatch,
        question: Question,
    ) -> Option<Arc<PlyCounter>> {
        match self.agent(agent) {
            Reached::AgentClient(line) if !self.context.strict() => {
                line.ask(token, game, question);
                self.note(agent);
                None
            }
            _ => self.ask_alone(agent, token, game, question),
        }
    }

    pub(super) fn ask_alone(
        &self,
        agent: u16,
        token: Token,
        game: &dyn AnyMatch,
        question: Question,
    ) -> Option<Arc<PlyCounter>> {
        let mut job = None;
        match self.agent(agent) {
            Reached::AgentClient(line) => line.ask_alone(token, game, question),
            Reached::Native(player) => {
                job = Some(player.borrow_mut().ask(token, game, question));
            }
            Reached::Nowhere => self.nowhere(agent, token),
        }
        self.note(agent);
        job
    }

    #[cfg(test)]
    pub(super) fn line(&self, agent: u16) -> Rc<AgentClient> {
        match self.agent(agent) {
            Reached::AgentClient(line) => line.clone(),
            _ => panic!("agent {agent} is not reached by a connection"),
        }
    }

    /// How much an agent was served so far, if it is reached by a connection.
    pub(super) fn served(&self, agent: u16) -> Option<u64> {
        match self.agents[usize::from(agent)].get() {
            Some(Reached::AgentClient(line)) => Some(line.event_count()),
            _ => None,
        }
    }

    /// Output of an agent's process, if it has one.
    pub(super) fn output(&self, agent: u16) -> Option<Arc<Output>> {
        match self.agents[usize::from(agent)].get() {
            Some(Reached::AgentClient(line)) => line.output(),
            _ => None,
        }
    }

    /// The games in play with an agent.
    pub(super) fn open_games(&self, agent: u16) -> &OpenGames {
        &self.open[usize::from(agent)]
    }

    /// Marks an agent for the next flush.
    fn note(&self, agent: u16) {
        if !self.is_asked[usize::from(agent)].replace(true) {
            self.asked.borrow_mut().push(agent);
        }
    }

    /// Sends the questions.
    pub(super) fn flush(&self, pool: &Pool, events: &UnboundedSender<Event>) {
        for agent in self.asked.borrow_mut().drain(..) {
            self.is_asked[usize::from(agent)].set(false);
            match self.agent(agent) {
                Reached::AgentClient(line) => line.flush(),
                Reached::Native(player) => player.borrow_mut().flush(pool, events),
                Reached::Nowhere => {}
            }
        }
    }

    /// Answers for an agent that is given up.
    pub(super) fn charge(&self, token: Token, fault_report: FaultReport) {
        let verdict = DecisionResult::Fault(fault_report, Duration::ZERO);
        let _ = self.events.send(Event::Alone(token, verdict));
    }

    fn nowhere(&self, agent: u16, token: Token) {
        let name = self.context.agent_name(agent);
        let why = format!("the setup does not tell how agent {name} is reached");
        let _ = self
            .events
            .send(Event::Alone(token, DecisionResult::Void(why)));
    }

    fn agent(&self, index: u16) -> &Reached {
        self.agents[usize::from(index)].get_or_init(|| self.reach(index))
    }

    fn reach(&self, index: u16) -> Reached {
        let agent = self.context.agent(index);
        let source = match &agent.source {
            None => return Reached::Nowhere,
            Some(WireSource::Native(_)) if self.environment.builtin == Builtin::InProcess => {
                let options: Options = arena_wire::convert::options_from_wire(&agent.options);
                return Reached::Native(RefCell::new(NativeClient::new(NativeRunners::new(
                    index,
                    options,
                    self.context.clone(),
                    self.environment.metrics.clone(),
                ))));
            }
            Some(source) => Source::of(source.clone(), &self.environment),
        };
        let context = context(self.context.wire(), agent);
        // The papers' agents need only ids.
        let native = matches!(agent.source, Some(WireSource::Native(_)));
        let setup = AgentClientSetup {
            name: agent.name.clone(),
            label: self.context.agent_label(index).to_owned(),
            meter: self.context.meter(&self.environment.metrics, index),
            source,
            writer: Writer::new(&context, !(agent.omit_move_details || native)),
            batch_size: agent.batch_size as usize,
            move_timeout: self.context.move_timeout(),
        };
        let (line, task) = AgentClient::open(setup, self.environment.clone(), self.events.clone());
        let looking_after = task::spawn_local(task);
        let events = self.events.clone();
        task::spawn_local(async move {
            let ended = looking_after.await.map_err(JoinError::try_into_panic);
            if let Err(Ok(panic)) = ended {
                let _ = events.send(Event::Panicked(panic));
            }
        });
        Reached::AgentClient(line)
    }
}

impl Drop for TournamentAgents {
    fn drop(&mut self) {
        for agent in self.agents.iter().filter_map(OnceCell::get) {
            if let Reached::AgentClient(line) = agent {
                line.close();
            }
        }
    }
}
