//! The drivers of a worker, as the rest of the worker sees them.

use std::{
    any::Any,
    collections::{BTreeMap, BTreeSet},
    future::Future,
    io,
    panic::resume_unwind,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use arena_wire::v1;
use tokio::{
    sync::mpsc::{self, UnboundedReceiver, UnboundedSender},
    task::{self, JoinError, JoinHandle},
    time::{self, Instant},
};

use super::{
    CLOSE, Command, Done, Driver, Over, Update,
    lease::Lease,
    leased::{GivenUp, LeasedGames, SharedTournament},
    shared::{DRIVERS_MAX, Shared},
};
use crate::{
    context::{SetupError, TournamentContext},
    environment::Environment,
    native::Pool,
    rules::{RulesHost, RulesService, RulesSource},
    runtime::on_own_thread,
    supervise::{Listen, Supervisor},
};

/// A tournament, and the time at which a game of it was last there.
struct Tournament {
    shared: Arc<SharedTournament>,
    used: Instant,
}

/// Plays games on one or more threads.
pub(crate) struct Drivers {
    environment: Environment,
    pub(super) shared: Arc<Shared>,
    pool: Arc<Pool>,
    tournaments: BTreeMap<String, Tournament>,
    /// Tournaments that have more agents since, while games of earlier leases go on.
    earlier: Vec<Arc<SharedTournament>>,
    /// Number of tournaments so far.
    count: u64,
    pub(super) leases: BTreeMap<u64, Lease>,
    updates: UnboundedReceiver<Update>,
    done: Vec<Done>,
    tasks: Vec<JoinHandle<()>>,
}

/// What is needed to make a driver on its thread.
pub(super) struct DriverSetup {
    index: usize,
    shared: Arc<Shared>,
    environment: Environment,
    pool: Arc<Pool>,
    commands: UnboundedReceiver<Command>,
    updates: UnboundedSender<Update>,
}

impl DriverSetup {
    pub(super) fn make(self) -> Driver {
        let Self {
            index,
            shared,
            environment,
            pool,
            commands,
            updates,
        } = self;
        Driver::new(index, shared, environment, pool, commands, updates)
    }
}

/// Starts hosts of rules whose processes end with the agents.
#[derive(Clone)]
pub(crate) struct RulesStarter {
    supervisor: Supervisor,
    listen: Listen,
    cores: usize,
}

impl RulesStarter {
    pub(crate) fn start(&self, name: &str, source: RulesSource) -> io::Result<Arc<RulesHost>> {
        RulesHost::within(
            name,
            source,
            self.supervisor.clone(),
            self.listen,
            self.cores,
        )
    }
}

impl Drivers {
    /// Drivers on threads of their own; a single one needs none. The caller is in a
    /// [`LocalSet`](task::LocalSet).
    pub(crate) fn on_threads(
        environment: Environment,
        pool: Pool,
        capacity: usize,
        drivers: usize,
    ) -> Self {
        // More drivers than games would have nothing to do.
        let drivers = drivers.min(capacity);
        let (mut this, setups) = Self::new(environment, pool, capacity, drivers);
        if drivers <= 1 {
            this.spawn_here(setups);
            return this;
        }
        for setup in setups {
            let (name, updates) = (format!("driver-{}", setup.index), setup.updates.clone());
            this.spawn(updates, async move {
                let work = move || setup.make().run();
                match on_own_thread(&name, work).await {
                    Ok(()) => Ok(()),
                    Err(error) => Err(Box::new(error.to_string()) as Box<dyn Any + Send>),
                }
            });
        }
        this
    }

    /// Drivers on the caller's thread, which is in a [`LocalSet`](task::LocalSet).
    pub(crate) fn here(
        environment: Environment,
        pool: Pool,
        capacity: usize,
        drivers: usize,
    ) -> Self {
        let (mut this, setups) = Self::new(environment, pool, capacity, drivers);
        this.spawn_here(setups);
        this
    }

    fn spawn_here(&mut self, setups: Vec<DriverSetup>) {
        for setup in setups {
            let updates = setup.updates.clone();
            let task = task::spawn_local(setup.make().run());
            self.spawn(updates, async {
                match task.await.map_err(JoinError::try_into_panic) {
                    Err(Ok(panic)) => Err(panic),
                    Ok(()) | Err(Err(_)) => Ok(()),
                }
            });
        }
    }

    fn spawn(
        &mut self,
        updates: UnboundedSender<Update>,
        driver: impl Future<Output = Result<(), Box<dyn Any + Send>>> + 'static,
    ) {
        self.tasks.push(task::spawn_local(async move {
            if let Err(panic) = driver.await {
                let _ = updates.send(Update::Panicked(panic));
            }
        }));
    }

    pub(super) fn new(
        environment: Environment,
        pool: Pool,
        capacity: usize,
        drivers: usize,
    ) -> (Self, Vec<DriverSetup>) {
        let drivers = drivers.clamp(1, DRIVERS_MAX);
        let (senders, receivers): (Vec<_>, Vec<_>) =
            (0..drivers).map(|_| mpsc::unbounded_channel()).unzip();
        let shared = Arc::new(Shared::new(capacity, senders));
        let pool = Arc::new(pool);
        let (sender, updates) = mpsc::unbounded_channel();
        let setup = |(index, commands)| DriverSetup {
            index,
            shared: shared.clone(),
            environment: environment.clone(),
            pool: pool.clone(),
            commands,
            updates: sender.clone(),
        };
        let setups = receivers.into_iter().enumerate().map(setup).collect();
        let this = Self {
            environment,
            shared,
            pool,
            tournaments: BTreeMap::new(),
            earlier: Vec::new(),
            count: 0,
            leases: BTreeMap::new(),
            updates,
            done: Vec::new(),
            tasks: Vec::new(),
        };
        (this, setups)
    }

    /// A host of rules whose processes end with the agents.
    pub(crate) fn rules_host(&self, name: &str, source: RulesSource) -> io::Result<Arc<RulesHost>> {
        self.rules_starter().start(name, source)
    }

    /// Starts hosts of rules like [`Self::rules_host`].
    pub(crate) fn rules_starter(&self) -> RulesStarter {
        let Environment {
            agents, supervisor, ..
        } = &self.environment;
        RulesStarter {
            supervisor: supervisor.clone(),
            listen: agents.listen,
            cores: agents.machine.core_count(),
        }
    }

    /// Sets whether no games may start for now.
    pub(crate) fn hold(&self, hold: bool) {
        if self.shared.held.swap(hold, Ordering::Relaxed) && !hold {
            self.shared.send_all(&Command::Start);
        }
    }

    /// No other worker plays: an agent that does not start here is charged.
    pub(crate) fn set_alone(&self) {
        self.shared.alone.store(true, Ordering::Relaxed);
    }

    /// Latencies of a tournament's agents that were not reported yet.
    pub(crate) fn latencies(&self, tournament: &str) -> Vec<v1::AgentLatency> {
        let earlier = self.earlier.iter();
        let earlier = earlier.filter(|it| it.context().tournament_id() == tournament);
        let now = self.tournaments.get(tournament).map(|it| &it.shared);
        let all = earlier.chain(now);
        all.flat_map(|it| it.context().latencies().take()).collect()
    }

    /// Adds a tournament, or a known one that has more agents since, or whose rules failed: games of earlier
    /// leases go on with their agents, which end with the last of them.
    pub(crate) fn add_tournament(
        &mut self,
        setup: v1::TournamentSetup,
        rules: Option<Arc<dyn RulesService>>,
    ) -> Result<(), SetupError> {
        let id = setup.tournament_id.clone();
        let known = self.tournaments.get(&id).filter(|_| self.knows(&id));
        let count = |known: &Tournament| known.shared.context().wire().agents.len();
        if known.is_none_or(|known| count(known) < setup.agents.len()) {
            let context = TournamentContext::new(setup, rules)?;
            // Each tournament begins on another driver.
            let first = self.count as usize;
            let drivers = self.shared.drivers();
            let order = (0..drivers).map(|it| (first + it) % drivers);
            let agents = &self.environment.agents;
            let most = match context.strict() {
                // They share the worker's own cores.
                true => agents.machine.own_cores().len().max(1),
                false => drivers,
            };
            let most = most.min(context.replicas_min(agents));
            let order = order.take(most).collect();
            let metrics = &self.environment.metrics;
            let shared = SharedTournament::new(self.count, context, metrics, order);
            self.count += 1;
            let tournament = Tournament {
                shared: Arc::new(shared),
                used: Instant::now(),
            };
            let earlier = self.tournaments.insert(id, tournament);
            self.earlier.extend(earlier.map(|it| it.shared));
        }
        Ok(())
    }

    /// True if games of a tournament can be added. Rules that failed have to start again first.
    pub(crate) fn knows(&self, tournament: &str) -> bool {
        let known = self.tournaments.get(tournament);
        known.is_some_and(|it| it.shared.context().rules_failure().is_none())
    }

    /// Ends the agents of tournaments of which no game was left for this time, or whose rules failed: for
    /// further games, these start again.
    pub(crate) fn forget_idle(&mut self, idle: Duration) {
        let now = Instant::now();
        let mut leased = BTreeSet::new();
        for lease in self.leases.values() {
            let id = lease.games.tournament.context().tournament_id();
            if let Some(tournament) = self.tournaments.get_mut(id) {
                tournament.used = now;
                leased.insert(id);
            }
        }
        let shared = &self.shared;
        let leases = &self.leases;
        self.earlier.retain(|tournament| {
            let number = tournament.number;
            let has_games = leases
                .values()
                .any(|it| it.games.tournament.number == number);
            if !has_games {
                shared.send_all(&Command::Forget(number));
            }
            has_games
        });
        self.tournaments.retain(|id, tournament| {
            let is_recent = now.saturating_duration_since(tournament.used) < idle;
            let has_failed = || tournament.shared.context().rules_failure().is_some();
            let is_used = is_recent && (leased.contains(&**id) || !has_failed());
            if !is_used {
                shared.send_all(&Command::Forget(tournament.shared.number));
            }
            is_used
        });
    }

    /// Adds games. Returns false if their tournament is unknown.
    pub(crate) fn add_lease(
        &mut self,
        tournament: &str,
        lease: u64,
        games: Vec<v1::GameAssignment>,
        given_up: GivenUp,
    ) -> bool {
        let Some(tournament) = self.tournaments.get_mut(tournament) else {
            return false;
        };
        tournament.used = Instant::now();
        let shared = tournament.shared.clone();
        let leased = LeasedGames::new(lease, shared, self.shared.drivers(), given_up);
        let leased = Arc::new(leased);
        self.leases
            .insert(lease, Lease::new(leased.clone(), games.len()));
        self.shared.waiting().add(&leased, games);
        self.shared.send_all(&Command::Start);
        true
    }

    /// Drops the games of a lease, also those in play.
    pub(crate) fn end_lease(&mut self, lease: u64) {
        if let Some(ended) = self.leases.remove(&lease) {
            ended.games.end();
            self.shared.waiting().remove_lease(lease);
            self.shared.send_all(&Command::EndLease(lease));
        }
    }

    /// Drops games that did not start.
    pub(crate) fn drop_waiting(&mut self) {
        let dropped = self.shared.waiting().drain();
        for game in dropped {
            self.settle(game.lease.number, 1);
        }
    }

    /// Started games.
    pub(crate) fn in_flight(&self) -> usize {
        self.shared.in_flight()
    }

    /// Decisions of each tournament since the last call.
    pub(crate) fn take_decisions(&self) -> Vec<v1::TournamentDecisions> {
        let take = |(id, tournament): (&String, &Tournament)| v1::TournamentDecisions {
            tournament_id: id.clone(),
            decisions: tournament.shared.take_decisions(),
        };
        let earlier = self.earlier.iter().map(|it| v1::TournamentDecisions {
            tournament_id: it.context().tournament_id().to_owned(),
            decisions: it.take_decisions(),
        });
        let taken = self.tournaments.iter().map(take).chain(earlier);
        taken.filter(|taken| taken.decisions > 0).collect()
    }

    /// Tournaments whose agents have no time for more games, or whose jobs in the pool are stuck.
    pub(crate) fn sated_tournaments(&self) -> Vec<String> {
        let mut sated = self.shared.waiting().sated_tournaments();
        for stuck in self.stuck() {
            let id = stuck.context().tournament_id();
            if !sated.iter().any(|it| it == id) {
                sated.push(id.to_owned());
            }
        }
        sated
    }

    /// Tournaments whose jobs in the pool do not end, while many wait.
    pub(super) fn stuck(&self) -> Vec<&Arc<SharedTournament>> {
        let tournaments = self.tournaments.values().map(|it| &it.shared);
        tournaments
            .filter(|it| self.pool.is_stuck(it.number))
            .collect()
    }

    /// Waits for results and takes those that are there. The future may be dropped.
    pub(crate) async fn work(&mut self) {
        let Some(update) = self.updates.recv().await else {
            // All drivers have ended, which only a defect can cause.
            return std::future::pending().await;
        };
        self.take_update(update);
        while let Ok(update) = self.updates.try_recv() {
            self.take_update(update);
        }
    }

    fn take_update(&mut self, update: Update) {
        match update {
            Update::Over(over) => {
                for Over {
                    lease,
                    games,
                    reports,
                } in over
                {
                    if self.leases.contains_key(&lease) {
                        let done = |report| Done { lease, report };
                        self.done.extend(reports.into_iter().map(done));
                    }
                    self.settle(lease, games);
                }
            }
            // Games would wait forever; the coordinator leases them to other workers.
            Update::Panicked(panic) => resume_unwind(panic),
        }
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

    /// Results of games since the last call.
    pub(crate) fn take_done(&mut self) -> Vec<Done> {
        std::mem::take(&mut self.done)
    }

    /// Ends all agents and waits until they are gone.
    pub(crate) async fn close(mut self) {
        for lease in self.leases.values() {
            lease.games.end();
        }
        let tasks = std::mem::take(&mut self.tasks);
        let environment = self.environment.clone();
        drop(self);
        let gone = async {
            for task in tasks {
                let _ = task.await;
            }
            environment.supervisor.all_gone().await;
        };
        let _ = time::timeout(CLOSE, gone).await;
    }
}

impl Drop for Drivers {
    fn drop(&mut self) {
        self.shared.send_all(&Command::Close);
    }
}
