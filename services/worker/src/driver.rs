//! Plays many games at once. Each game is a state machine that waits while its agent is asked.
//!
//! The rest of the worker gives leases to [`Drivers`] and gets results from it. One or more
//! [`Driver`]s play the games. Each is a task with its own agents, queues and connections, and takes
//! games from common queues. The tasks of agents and the pool answer a driver through one channel. A
//! driver first handles all answers that are there, then sends the new questions together.

mod active;
mod adjudicate;
mod agents;
mod drivers;
mod events;
mod lease;
mod leased;
mod outputs;
mod playing;
mod shared;
mod sticky;
#[cfg(test)]
mod tests;
mod waiting;

use std::{
    any::Any,
    collections::BTreeMap,
    rc::Rc,
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use arena_engine::{FaultKind, Status};
use arena_telemetry::WorkerMetrics;
use arena_wire::{ATTEMPTS_MAX, v1};
use tokio::{
    sync::mpsc::{self, UnboundedReceiver, UnboundedSender},
    time,
};

use crate::{
    agent::{Chosen, DecisionResult, Event, FaultReport, Token},
    clock::Spent,
    environment::Environment,
    native::Pool,
    record::{self, void_report},
};
use active::{Active, Games};
use agents::TournamentAgents;
pub(crate) use drivers::{Drivers, RulesStarter};
pub(crate) use leased::GivenUp;
use leased::{LeasedGames, SharedTournament};
use shared::Shared;
use waiting::Waiting;

/// Maximum number of answers that a driver handles before it sends questions.
const EVENTS_MAX: usize = 64;
/// Maximum time that closing waits for agents to end.
const CLOSE: Duration = Duration::from_secs(8);
/// Maximum number of games of built-in agents that are passed to the pool together.
const POOLED: usize = 64;

/// A finished game.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) lease: u64,
    pub(crate) report: v1::GameReport,
}

/// A command to a driver.
#[derive(Clone, Debug)]
enum Command {
    /// Start games that wait.
    Start,
    /// Drop the games of a lease.
    EndLease(u64),
    /// End the agents of a tournament.
    Forget(u64),
    /// Record the progress of open questions.
    Look,
    /// End all agents.
    Close,
}

/// A message of a driver.
enum Update {
    /// Games are over. Those that were not dropped have results.
    Over(Vec<Over>),
    /// A defect of Arena: a driver has ended.
    Panicked(Box<dyn Any + Send>),
}

/// Games of a lease that are over. Dropped games have no reports.
struct Over {
    lease: u64,
    games: usize,
    reports: Vec<v1::GameReport>,
}

/// Plays games on one thread.
struct Driver {
    /// The number of this driver.
    index: usize,
    shared: Arc<Shared>,
    environment: Rc<Environment>,
    pool: Arc<Pool>,
    tournaments: BTreeMap<u64, Rc<TournamentAgents>>,
    games: Games,
    events: UnboundedReceiver<Event>,
    sender: UnboundedSender<Event>,
    commands: UnboundedReceiver<Command>,
    updates: UnboundedSender<Update>,
    over: Vec<Over>,
    /// Games that wait for their rules.
    waiting: Vec<Token>,
    /// The leases whose progress was last recorded.
    looked: Vec<Arc<LeasedGames>>,
    /// True if the thread of this driver runs on the worker's own cores only.
    is_confined: bool,
}

impl Driver {
    fn new(
        index: usize,
        shared: Arc<Shared>,
        environment: Environment,
        pool: Arc<Pool>,
        commands: UnboundedReceiver<Command>,
        updates: UnboundedSender<Update>,
    ) -> Self {
        let (sender, events) = mpsc::unbounded_channel();
        Self {
            index,
            shared,
            environment: Rc::new(environment),
            pool,
            tournaments: BTreeMap::new(),
            games: Games::default(),
            events,
            sender,
            commands,
            updates,
            over: Vec::new(),
            waiting: Vec::new(),
            looked: Vec::new(),
            is_confined: false,
        }
    }

    /// Plays until it is closed, and waits until all agents are gone. Dropping the future ends the
    /// agents, too.
    async fn run(mut self) {
        loop {
            tokio::select! {
                biased;
                command = self.commands.recv() => match command {
                    None | Some(Command::Close) => break,
                    Some(command) => self.obey(command),
                },
                Some(event) = self.events.recv() => self.handle_all(event),
            }
            self.report();
        }
        let environment = self.environment.clone();
        drop(self);
        // The tasks of its agents end them meanwhile.
        let _ = time::timeout(CLOSE, environment.supervisor.all_gone()).await;
    }

    fn obey(&mut self, command: Command) {
        match command {
            Command::Start => self.start(),
            Command::EndLease(lease) => {
                let dropped = self.games.remove_lease(lease);
                self.shared.count_ended(dropped);
                self.start();
            }
            Command::Forget(tournament) => self.remove_agents(tournament),
            Command::Look => self.look(),
            // The end of the loop.
            Command::Close => {}
        }
    }

    /// Handles this answer and those that have arrived since, then sends questions.
    fn handle_all(&mut self, event: Event) {
        self.handle(event);
        for _ in 0..EVENTS_MAX {
            let Ok(event) = self.events.try_recv() else {
                break;
            };
            self.handle(event);
        }
        self.start();
    }

    /// Starts as many games as possible, and sends their questions.
    fn start(&mut self) {
        let shared = self.shared.clone();
        let mut queues = shared.waiting();
        queues.unblock(self.index);
        for tournament in queues.tournaments_of(self.index) {
            self.add_agents(tournament);
        }
        drop(queues);
        // Agents that never answer must not take all places.
        let all_tried = self.tournaments.values().all(|agents| agents.is_tried());
        let mut untried = match all_tried {
            true => 0,
            false => self.games.untried(),
        };
        let untried_max = self.shared.capacity.div_ceil(2 * self.shared.drivers());
        loop {
            while !self.shared.held.load(Ordering::Relaxed) {
                let has_place = untried < untried_max;
                let Some(waiting) = self.take(has_place) else {
                    break;
                };
                let number = waiting.lease.tournament.number;
                let Some(agents) = self.tournaments.get(&number).cloned() else {
                    self.settle(waiting.lease.number, 1, Vec::new());
                    continue;
                };
                untried += usize::from(agents.is_untried(&waiting.game));
                self.begin(agents, waiting);
            }
            if self.waiting.is_empty() {
                break;
            }
            self.ask_rules();
            // Games that ended have made room for others.
            shared.waiting().unblock(self.index);
        }
        self.add_drivers();
        self.flush();
        let games = i64::try_from(self.shared.in_flight()).unwrap_or(i64::MAX);
        self.environment.metrics.games_in_flight.set(games);
    }

    /// Takes a waiting game that may start. If all places of the worker are taken, a game of built-in agents
    /// may still start if its tournament has less than its share of the places: slow games of others must not
    /// keep them all. A game with an agent that never answered here needs `untried`.
    fn take(&mut self, untried: bool) -> Option<Waiting> {
        let shared = self.shared.clone();
        let mut queues = shared.waiting();
        let has_place = shared.in_flight() < shared.capacity;
        let taken = queues.take(self.index, has_place, |waiting, count| {
            let Waiting { lease, game } = waiting;
            let tournament = &lease.tournament;
            let Some(agents) = self.tournaments.get(&tournament.number) else {
                return false;
            };
            if !has_place {
                return self.has_share(agents.shared().pooled()) && agents.is_native(game);
            }
            game.attempts >= ATTEMPTS_MAX
                || agents.is_native(game)
                || agents.playing() < share(tournament, count, shared.capacity)
                    && agents.has_room(game)
                    && (untried || !agents.is_untried(game))
        })?;
        // While the queues are locked, so that no game is missing in the sum of both.
        shared.count_started(1);
        Some(taken)
    }

    /// True if a tournament with this many games in the pool has less than its share of the places.
    fn has_share(&self, pooled: usize) -> bool {
        let tournaments = self.tournaments.len();
        tournaments > 1 && pooled < (self.shared.capacity / tournaments).max(1)
    }

    /// Makes the agents of a tournament on this driver. None of them starts before it is asked.
    fn add_agents(&mut self, tournament: &Arc<SharedTournament>) {
        if self.tournaments.contains_key(&tournament.number) {
            return;
        }
        let agents = TournamentAgents::new(
            self.index,
            tournament.clone(),
            self.environment.clone(),
            self.sender.clone(),
        );
        self.tournaments.insert(tournament.number, Rc::new(agents));
        self.set_cores();
    }

    fn remove_agents(&mut self, tournament: u64) {
        if self.tournaments.remove(&tournament).is_some() {
            self.set_cores();
        }
    }

    /// Leaves cores to the agents while there is a tournament with strict timing.
    fn set_cores(&mut self) {
        let mut tournaments = self.tournaments.values();
        let strict = tournaments.any(|tournament| tournament.context().strict());
        if strict != self.is_confined {
            self.is_confined = strict;
            self.environment.agents.machine.confine_thread(strict);
        }
    }

    /// Lets another driver play tournaments whose games wait here, once the agents answer.
    fn add_drivers(&self) {
        if self.shared.drivers() == 1 {
            return;
        }
        let queues = self.shared.waiting();
        let blocked: Vec<Arc<SharedTournament>> = queues.blocked(self.index).cloned().collect();
        drop(queues);
        for tournament in blocked {
            let agents = self.tournaments.get(&tournament.number);
            if agents.is_some_and(|agents| agents.is_served())
                && let Some(next) = tournament.add_driver()
            {
                self.shared.send(next, Command::Start);
            }
        }
    }

    fn begin(&mut self, tournament: Rc<TournamentAgents>, waiting: Waiting) {
        let Waiting { lease, game } = waiting;
        if game.attempts >= ATTEMPTS_MAX {
            let report = record::given_up(tournament.context(), &game);
            return self.finish(lease.number, report);
        }
        if let Err(error) = tournament.context().check(&game) {
            return self.finish(lease.number, void_report(game.index, error.to_string()));
        }
        if lease.is_unwanted() {
            return self.settle(lease.number, 1, Vec::new());
        }
        if tournament.is_native(&game) {
            return self.begin_pooled(&tournament, &lease, game);
        }
        let opened = Active::new(lease.clone(), tournament.clone(), game.clone());
        let active = match opened {
            Ok(active) => active,
            Err(error) => {
                let why = format!("its opening: {error}");
                return self.finish(lease.number, void_report(game.index, why));
            }
        };
        let token = self.games.insert(active);
        self.go_on(token);
    }

    /// Puts a game of built-in agents into the pool, together with the games that follow it.
    fn begin_pooled(
        &mut self,
        tournament: &TournamentAgents,
        lease: &Arc<LeasedGames>,
        game: v1::GameAssignment,
    ) {
        let mut games = vec![game];
        let mut queues = self.shared.waiting();
        let pooled = tournament.shared().pooled();
        while (self.shared.in_flight() < self.shared.capacity
            || self.has_share(pooled + games.len()))
            && games.len() < POOLED
            && let Some(next) = queues.take_another(|next| {
                Arc::ptr_eq(&next.lease, lease)
                    && next.game.attempts < ATTEMPTS_MAX
                    && tournament.context().check(&next.game).is_ok()
                    && tournament.is_native(&next.game)
            })
        {
            self.shared.count_started(1);
            games.push(next.game);
        }
        drop(queues);
        let runner = tournament.shared().runner();
        lease.add_pooled(runner.start(&self.pool, &self.sender, &lease.job, games));
    }

    /// Asks the question of a game, or finishes it.
    fn go_on(&mut self, token: Token) {
        if let Some(active) = self.games.get_mut(token) {
            let status = active.ask(token);
            self.follow(token, status);
        }
    }

    /// Finishes a game that is over, and notes one that waits for its rules.
    fn follow(&mut self, token: Token, status: Status) {
        match status {
            Status::Asks(_) => {}
            Status::Waits => self.waiting.push(token),
            Status::Over(_) => self.end(token),
        }
    }

    /// Asks the rules of all games that wait for them, until each has a question or is over.
    fn ask_rules(&mut self) {
        while !self.waiting.is_empty() {
            for tournament in self.tournaments.values() {
                tournament.rules().find_pending();
            }
            for token in std::mem::take(&mut self.waiting) {
                let resumed = self.games.get_mut(token).map(|it| it.game.resume());
                match resumed {
                    None => {}
                    Some(Ok(())) => self.go_on(token),
                    Some(Err(error)) => self.remove(token, |_, active| {
                        let why = format!("its opening: {error}");
                        void_report(active.assignment.index, why)
                    }),
                }
            }
        }
    }

    fn end(&mut self, token: Token) {
        self.remove(token, |metrics, active| {
            if let Some(why) = active.game.failure() {
                return active.unplayed(why);
            }
            metrics.games_played(&active.tournament.context().wire().ruleset, 1);
            active.report()
        });
    }

    /// Ends a game with this report.
    fn remove(
        &mut self,
        token: Token,
        report: impl FnOnce(&WorkerMetrics, Active) -> v1::GameReport,
    ) {
        if let Some(active) = self.games.remove(token) {
            let lease = active.lease.number;
            let report = report(&self.environment.metrics, active);
            self.finish(lease, report);
        }
    }

    fn finish(&mut self, lease: u64, report: v1::GameReport) {
        self.settle(lease, 1, vec![report]);
    }

    /// Records that so many games of a lease are over.
    fn settle(&mut self, lease: u64, games: usize, reports: Vec<v1::GameReport>) {
        self.shared.count_ended(games);
        match self.over.last_mut().filter(|over| over.lease == lease) {
            Some(over) => {
                over.games += games;
                over.reports.extend(reports);
            }
            None => self.over.push(Over {
                lease,
                games,
                reports,
            }),
        }
    }

    /// Reports the games that are over.
    fn report(&mut self) {
        for tournament in self.tournaments.values() {
            tournament.report_decisions();
        }
        if !self.over.is_empty() {
            // Without a receiver, nothing waits for the results.
            let over = std::mem::take(&mut self.over);
            let _ = self.updates.send(Update::Over(over));
        }
    }

    fn flush(&self) {
        for tournament in self.tournaments.values() {
            tournament.flush(&self.pool, &self.sender);
        }
    }

    /// Records the progress of open questions, by lease.
    fn look(&mut self) {
        let mut attended: BTreeMap<u64, (Arc<LeasedGames>, Option<u64>)> = BTreeMap::new();
        for active in self.games.iter() {
            let lease = &active.lease;
            let entry = attended.entry(lease.number);
            let (_, sum) = entry.or_insert_with(|| (lease.clone(), None));
            if let Some(done) = active.attended() {
                *sum = Some(sum.unwrap_or_default().wrapping_add(done));
            }
        }
        for lease in self.looked.drain(..) {
            lease.set_attended(self.index, None);
        }
        for (lease, sum) in attended.into_values() {
            lease.set_attended(self.index, sum);
            self.looked.push(lease);
        }
    }
}

/// Maximum number of games of a tournament that one driver plays at once, if `waiting` games wait. All
/// drivers of the tournament get equal shares, so that no driver is idle while another has many games.
fn share(tournament: &SharedTournament, waiting: usize, capacity: usize) -> usize {
    let drivers = tournament.active_count().max(1);
    let games = waiting + tournament.playing();
    games.min(capacity).div_ceil(drivers)
}
