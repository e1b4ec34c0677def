//! Many games at once, each a state machine that waits while its agent is asked.
//!
//! One task owns everything here. Tasks of agents and the pool answer through one channel.
//! Questions that arise while answers are handled are sent together afterwards.

mod active;
mod agents;
mod events;
mod lease;
mod outputs;
mod playing;
#[cfg(test)]
mod tests;
mod waiting;

use std::{
    collections::BTreeMap,
    panic::resume_unwind,
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use arena_engine::FaultKind;
use arena_telemetry::WorkerMetrics;
use arena_wire::{ATTEMPTS_MAX, v1};
use tokio::{
    sync::mpsc::{self, UnboundedReceiver, UnboundedSender},
    time,
};

use crate::{
    agent::{DecisionResult, Event, FaultReport, Token},
    clock::Spent,
    context::{SetupError, TournamentContext},
    environment::Environment,
    native::{Pool, PoolJob},
    protocol::{Playing, Progress},
    record::void_report,
};
pub(crate) use active::GivenUp;
use active::{Active, Games};
use agents::TournamentAgents;
use lease::Lease;
use waiting::{Waiting, WaitingGames};

/// Maximum answers handled before questions are sent.
const EVENTS_MAX: usize = 64;
/// Maximum games of built-in agents passed to the pool at once.
const POOLED: usize = 64;
/// Maximum time for agents to end.
const CLOSE: Duration = Duration::from_secs(8);

/// A finished game.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) lease: u64,
    pub(crate) report: v1::GameReport,
}

/// Plays games.
pub(crate) struct Driver {
    environment: Rc<Environment>,
    pool: Pool,
    capacity: usize,
    tournaments: BTreeMap<String, Rc<TournamentAgents>>,
    leases: BTreeMap<u64, Lease>,
    waiting: WaitingGames,
    games: Games,
    /// Games in the pool.
    pooled: usize,
    events: UnboundedReceiver<Event>,
    sender: UnboundedSender<Event>,
    done: Vec<Done>,
    held: bool,
    /// True if no other worker is connected on which an agent may start.
    alone: bool,
}

impl Driver {
    pub(crate) fn new(environment: Environment, pool: Pool, capacity: usize) -> Self {
        let (sender, events) = mpsc::unbounded_channel();
        Self {
            environment: Rc::new(environment),
            pool,
            capacity: capacity.max(1),
            tournaments: BTreeMap::new(),
            leases: BTreeMap::new(),
            waiting: WaitingGames::default(),
            games: Games::default(),
            pooled: 0,
            events,
            sender,
            done: Vec::new(),
            held: false,
            alone: false,
        }
    }

    /// Sets whether no games may start for now.
    pub(crate) fn hold(&mut self, hold: bool) {
        self.held = hold;
    }

    /// No other worker plays: an agent that does not start here is charged.
    pub(crate) fn set_alone(&mut self) {
        self.alone = true;
    }

    /// Latencies of a tournament's agents that were not reported yet.
    pub(crate) fn latencies(&self, tournament: &str) -> Vec<v1::AgentLatency> {
        let tournament = self.tournaments.get(tournament);
        tournament.map_or_else(Vec::new, |it| it.context().latencies().take())
    }

    /// Adds a tournament.
    pub(crate) fn add_tournament(&mut self, setup: v1::TournamentSetup) -> Result<(), SetupError> {
        if !self.tournaments.contains_key(&setup.tournament_id) {
            let id = setup.tournament_id.clone();
            let context = Arc::new(TournamentContext::new(setup)?);
            let tournament =
                TournamentAgents::new(context, self.environment.clone(), self.sender.clone());
            self.tournaments.insert(id, Rc::new(tournament));
        }
        Ok(())
    }

    pub(crate) fn knows(&self, tournament: &str) -> bool {
        self.tournaments.contains_key(tournament)
    }

    /// Ends a tournament's agents if none of its games is left.
    pub(crate) fn forget_idle(&mut self, idle: Duration) {
        for lease in self.leases.values() {
            lease.tournament.touch();
        }
        self.tournaments
            .retain(|_, tournament| tournament.idle() < idle);
    }

    /// Adds games. Returns false if their tournament is unknown.
    pub(crate) fn add_lease(
        &mut self,
        tournament: &str,
        lease: u64,
        games: Vec<v1::GameAssignment>,
        given_up: GivenUp,
    ) -> bool {
        let Some(tournament) = self.tournaments.get(tournament).cloned() else {
            return false;
        };
        let job = PoolJob {
            lease,
            plies: Arc::default(),
            unwanted: Arc::new(AtomicBool::new(false)),
        };
        let leased = Lease::new(tournament.clone(), games.len(), job, given_up);
        self.leases.insert(lease, leased);
        let waiting = |game| Waiting {
            lease,
            tournament: tournament.clone(),
            game,
        };
        self.waiting
            .add(&tournament, games.into_iter().map(waiting));
        true
    }

    /// Drops the games of a lease, also those in play.
    pub(crate) fn end_lease(&mut self, lease: u64) {
        if let Some(ended) = self.leases.remove(&lease) {
            ended.job.unwanted.store(true, Ordering::Relaxed);
            self.waiting.remove_lease(lease);
            self.games.remove_lease(lease);
        }
    }

    /// Drops games that did not start.
    pub(crate) fn drop_waiting(&mut self) {
        for game in self.waiting.drain() {
            self.settle(game.lease, 1);
        }
    }

    /// Started games.
    pub(crate) fn in_flight(&self) -> usize {
        self.games.len() + self.pooled
    }

    /// Decisions of each tournament since the last call.
    pub(crate) fn take_decisions(&self) -> Vec<v1::TournamentDecisions> {
        let take = |(id, tournament): (&String, &Rc<TournamentAgents>)| v1::TournamentDecisions {
            tournament_id: id.clone(),
            decisions: tournament.take_decisions(),
        };
        let taken = self.tournaments.iter().map(take);
        taken.filter(|taken| taken.decisions > 0).collect()
    }

    /// Starts as many games as possible, and sends their questions.
    pub(crate) fn start(&mut self) {
        self.waiting.unblock();
        // Agents that never answer must not take all places.
        let mut untried = self.games.untried();
        while !self.held && self.in_flight() < self.capacity {
            let has_place = untried < self.capacity.div_ceil(2);
            let Some(waiting) = self.waiting.take(has_place) else {
                break;
            };
            untried += usize::from(waiting.tournament.is_untried(&waiting.game));
            self.begin(waiting);
        }
        self.flush();
        let games = i64::try_from(self.in_flight()).unwrap_or(i64::MAX);
        self.environment.metrics.games_in_flight.set(games);
    }

    /// Waits for answers and handles those that are there. The future may be dropped.
    pub(crate) async fn work(&mut self) {
        let Some(event) = self.events.recv().await else {
            return;
        };
        self.handle(event);
        for _ in 0..EVENTS_MAX {
            let Ok(event) = self.events.try_recv() else {
                break;
            };
            self.handle(event);
        }
        self.start();
    }

    /// Results of games since the last call.
    pub(crate) fn take_done(&mut self) -> Vec<Done> {
        std::mem::take(&mut self.done)
    }

    /// Ends all agents and waits until they are gone.
    pub(crate) async fn close(self) {
        for lease in self.leases.values() {
            lease.job.unwanted.store(true, Ordering::Relaxed);
        }
        let environment = self.environment.clone();
        drop(self);
        let _ = time::timeout(CLOSE, environment.supervisor.all_gone()).await;
    }

    fn begin(&mut self, waiting: Waiting) {
        let Waiting {
            lease,
            tournament,
            game,
        } = waiting;
        tournament.touch();
        if game.attempts >= ATTEMPTS_MAX {
            let report = tournament.builder().give_up(&game);
            return self.finish(lease, report);
        }
        if let Err(error) = tournament.context().check(&game) {
            return self.finish(lease, void_report(game.index, error.to_string()));
        }
        let Some(Lease { job, given_up, .. }) = self.leases.get(&lease) else {
            return;
        };
        let (job, given_up) = (job.clone(), given_up.clone());
        if tournament.is_native(&game) {
            // As many games as are put into the pool together.
            let mut games = vec![game];
            while self.in_flight() + games.len() < self.capacity
                && games.len() < POOLED
                && let Some(next) = self.waiting.take_another(|next| {
                    next.lease == lease
                        && next.game.attempts < ATTEMPTS_MAX
                        && tournament.context().check(&next.game).is_ok()
                        && tournament.is_native(&next.game)
                })
            {
                games.push(next.game);
            }
            self.pooled += games.len();
            let runner = tournament.runner();
            let counts = runner.start(&self.pool, &self.sender, &job, &games);
            if let Some(lease) = self.leases.get_mut(&lease) {
                lease.pooled.extend(counts);
            }
            return;
        }
        let opened = Active::new(lease, job.plies, tournament.clone(), game.clone(), given_up);
        let active = match opened {
            Ok(active) => active,
            Err(error) => {
                let why = format!("its opening: {error}");
                return self.finish(lease, void_report(game.index, why));
            }
        };
        let token = self.games.insert(active);
        self.go_on(token);
    }

    /// Asks the question of a game, or finishes it.
    fn go_on(&mut self, token: Token) {
        if let Some(active) = self.games.get_mut(token)
            && !active.ask(token)
        {
            self.end(token);
        }
    }

    fn end(&mut self, token: Token) {
        self.remove(token, |metrics, active| {
            metrics.games_played(&active.tournament.context().wire().ruleset, 1);
            active.seal()
        });
    }

    /// Ends a game with this report.
    fn remove(
        &mut self,
        token: Token,
        report: impl FnOnce(&WorkerMetrics, Active) -> v1::GameReport,
    ) {
        if let Some(active) = self.games.remove(token) {
            let lease = active.lease;
            let report = report(&self.environment.metrics, active);
            self.finish(lease, report);
        }
    }

    fn finish(&mut self, lease: u64, report: v1::GameReport) {
        self.done.push(Done { lease, report });
        self.settle(lease, 1);
    }

    /// This many games of a lease are over.
    fn settle(&mut self, lease: u64, games: usize) {
        if let Some(entry) = self.leases.get_mut(&lease) {
            entry.settle(games);
            if entry.left == 0 {
                self.leases.remove(&lease);
            }
        }
    }

    fn flush(&self) {
        for tournament in self.tournaments.values() {
            tournament.flush(&self.pool, &self.sender);
        }
    }
}
