//! Which leases show progress.

use std::{sync::mpsc, thread, time::Duration};

use arena_telemetry::{Registry, WorkerMetrics};
use arena_wire::v1::agent_setup::Source;
use tokio::{task::LocalSet, time};

use super::{lease::STILL_MAX, *};
use crate::{
    AgentOptions, NoBinaries,
    native::Job,
    protocol::{Playing, Progress},
};

const MOVE_TIMEOUT: Duration = Duration::from_secs(30);

/// Agents of a tournament of Kalah: one that searches until it is stopped, and one that is
/// never asked.
const SEARCHES: u32 = 0;
const FAR: u32 = 1;

fn setup(id: &str, agents: usize) -> v1::TournamentSetup {
    let (options, _) = arena_games::resolve("kalah", &Default::default(), None).expect("kalah");
    let depth = [("depth".to_owned(), 20i64.into())].into();
    let searches = v1::AgentSetup {
        name: "searches".into(),
        bot: "kalah-minimax".into(),
        options: arena_wire::convert::options_to_wire(&depth),
        source: Some(Source::Native(v1::NativeSource {})),
        ..Default::default()
    };
    let far = v1::AgentSetup {
        name: "far".into(),
        source: Some(Source::Endpoint(v1::EndpointSource {
            url: "http://127.0.0.1:9".into(),
            ..v1::EndpointSource::default()
        })),
        ..Default::default()
    };
    v1::TournamentSetup {
        tournament_id: id.into(),
        ruleset: "kalah".into(),
        rules_version: arena_games::ruleset("kalah").expect("kalah").version,
        options: arena_wire::convert::options_to_wire(&options),
        seats: 2,
        agents: [searches].into_iter().chain(vec![far; agents]).collect(),
        play: Some(v1::PlaySettings {
            move_timeout_us: MOVE_TIMEOUT.as_micros() as u64,
            ..Default::default()
        }),
        ..Default::default()
    }
}

/// A worker with one driver, whose jobs run only when the test runs them.
struct Worker {
    drivers: Drivers,
    driver: Driver,
    jobs: mpsc::Receiver<Job>,
    started: time::Instant,
}

impl Worker {
    fn new() -> Self {
        let (think, jobs) = mpsc::channel();
        let pool = Pool::given(move |job| {
            let _ = think.send(job);
        });
        let metrics = WorkerMetrics::new(&Registry::new(), ["kalah"]).expect("metrics");
        let options = AgentOptions::of_executable("/no/such/program".into());
        let environment = Environment::new(options, Arc::new(NoBinaries), Arc::new(metrics));
        let (mut drivers, setups) = Drivers::new(environment, pool, 64, 1);
        let mut setups = setups.into_iter();
        let driver = setups.next().expect("one driver").make();
        drivers
            .add_tournament(setup("cup", 1), None)
            .expect("a tournament");
        Self {
            drivers,
            driver,
            jobs,
            started: time::Instant::now(),
        }
    }

    /// Carries out the commands of the driver.
    fn obey(&mut self) {
        while let Ok(command) = self.driver.commands.try_recv() {
            self.driver.obey(command);
        }
    }

    fn lease(&mut self, tournament: &str, lease: u64, games: Vec<v1::GameAssignment>) {
        let known = self
            .drivers
            .add_lease(tournament, lease, games, GivenUp::default());
        assert!(known, "the tournament is known");
        self.obey();
    }

    fn in_flight(&self) -> usize {
        self.drivers.in_flight()
    }

    fn progress_at(&mut self, now: time::Instant) -> Vec<Progress> {
        self.driver.look();
        self.drivers.progress_at(now)
    }

    /// Adds a lease of one game and asks its first question; returns the job for the pool.
    fn assign(&mut self, lease: u64, seats: [u32; 2]) -> Option<Job> {
        let game = v1::GameAssignment {
            index: lease,
            block: lease,
            seed: lease,
            seats: seats.to_vec(),
            attempts: 0,
            opening: Vec::new(),
            start: String::new(),
        };
        self.lease("cup", lease, vec![game]);
        self.jobs.try_recv().ok()
    }

    /// Runs a job on a thread; it does not end during the test.
    fn think(&mut self, lease: u64, job: Job) {
        thread::spawn(job);
        while self.waits(lease) {
            thread::yield_now();
        }
    }

    fn waits(&mut self, lease: u64) -> bool {
        let progress = self.progress_at(self.started);
        let of_lease = progress.iter().find(|it| it.lease == lease);
        of_lease.expect("a lease").waits
    }

    /// The leases that report progress after this time.
    fn alive(&mut self, after: Duration) -> Vec<u64> {
        let now = self.started + after;
        let before = self.progress_at(now);
        let after = self.progress_at(now);
        let both = before.iter().zip(&after);
        let grows = both.filter(|(before, after)| after.reported > before.reported);
        grows.map(|(_, after)| after.lease).collect()
    }

    fn play(&mut self, lease: u64) {
        self.drivers.leases[&lease].games.count_ply(0);
    }
}

/// After this time, a stuck lease reports no progress.
const LIMIT: Duration = STILL_MAX.saturating_add(MOVE_TIMEOUT);
const SECOND: Duration = Duration::from_secs(1);

fn check_thought(seats: [u32; 2]) {
    let mut worker = Worker::new();
    let hangs = worker.assign(1, seats).expect("a job");
    let _waits = worker.assign(2, seats).expect("a job");
    worker.think(1, hangs);
    assert!(worker.waits(2), "no thread is at it");
    assert_eq!(worker.alive(LIMIT - SECOND), [1, 2], "a long decision");
    assert_eq!(worker.alive(LIMIT + SECOND), [0; 0], "no agent moves");
    let plays = worker.assign(3, seats).expect("a job");
    worker.think(3, plays);
    worker.play(3);
    let alive = worker.alive(LIMIT + SECOND);
    assert_eq!(alive, [2, 3], "one hangs, one plays, one waits behind it");
}

#[tokio::test]
async fn hanging_lease_is_not_kept_by_others() {
    let local = LocalSet::new();
    let _local = local.enter();
    // Jobs of whole games, and of questions of games with other agents.
    check_thought([SEARCHES, SEARCHES]);
    check_thought([SEARCHES, FAR]);
}

#[tokio::test]
async fn waiting_lease_is_kept_while_agent_answers() {
    let local = LocalSet::new();
    let _local = local.enter();
    let mut worker = Worker::new();
    assert!(
        worker.assign(1, [FAR, SEARCHES]).is_none(),
        "nothing to think"
    );
    assert!(!worker.waits(1), "its question is asked");
    assert_eq!(worker.alive(LIMIT - SECOND), [1]);
    assert_eq!(worker.alive(LIMIT + SECOND), [0; 0]);
    let cup = worker.driver.tournaments.values().next();
    cup.expect("the tournament").line(FAR as u16).count_event();
    assert_eq!(worker.alive(LIMIT + SECOND), [1]);
}

#[tokio::test]
async fn new_agent_starts_few_games() {
    let local = LocalSet::new();
    let _local = local.enter();
    let mut worker = Worker::new();
    worker.lease("cup", 1, games([FAR, SEARCHES], 40));
    assert_eq!(worker.in_flight(), 3, "of room for 64");
    assert_eq!(worker.drivers.sated(), 37);
    // These games do not delay games of other agents.
    worker.lease("cup", 2, games([SEARCHES, SEARCHES], 4));
    assert_eq!(worker.in_flight(), 7);
    worker.drivers.end_lease(1);
    worker.obey();
    assert_eq!(worker.drivers.sated(), 0);
    worker.lease("cup", 3, games([FAR, SEARCHES], 40));
    assert_eq!(
        worker.drivers.unfinished() - worker.in_flight(),
        40,
        "it was asked"
    );
}

#[tokio::test]
async fn dropped_game_ends_the_search_of_its_bot() {
    let local = LocalSet::new();
    let _local = local.enter();
    let mut worker = Worker::new();
    for seats in [[SEARCHES, SEARCHES], [SEARCHES, FAR]] {
        let searches = worker.assign(1, seats).expect("a job");
        worker.drivers.end_lease(1);
        worker.obey();
        // Otherwise, it searches for as long as a move may take.
        searches();
        let is_dropped = match worker.driver.events.try_recv().expect("an event") {
            Event::Games { reports, .. } => reports.is_empty(),
            Event::Answers(answers) => matches!(answers[..], [(_, DecisionResult::Void(_))]),
            _ => false,
        };
        assert!(is_dropped, "{seats:?}");
    }
}

#[tokio::test]
async fn slow_bots_take_no_places_of_other_tournaments() {
    let local = LocalSet::new();
    let _local = local.enter();
    let mut worker = Worker::new();
    let other = worker.drivers.add_tournament(setup("other", 1), None);
    other.expect("a tournament");
    worker.lease("cup", 1, games([SEARCHES, SEARCHES], 100));
    assert_eq!(worker.in_flight(), 64, "all places");
    worker.lease("other", 2, games([SEARCHES, SEARCHES], 40));
    assert_eq!(worker.in_flight(), 64 + 32, "its share");
    assert_eq!(worker.drivers.sated(), 0, "they may have time");
}

/// Games of these seats.
fn games(seats: [u32; 2], count: u64) -> Vec<v1::GameAssignment> {
    let game = |index| v1::GameAssignment {
        index,
        seats: seats.to_vec(),
        ..Default::default()
    };
    (0..count).map(game).collect()
}

#[tokio::test]
async fn silent_agent_delays_no_other_tournament() {
    let local = LocalSet::new();
    let _local = local.enter();
    let mut worker = Worker::new();
    let other = worker.drivers.add_tournament(setup("other", 1), None);
    other.expect("a tournament");
    worker.lease("cup", 1, games([FAR, SEARCHES], 512));
    assert_eq!(worker.drivers.sated_tournaments(), ["cup"]);
    worker.lease("other", 2, games([SEARCHES, SEARCHES], 5));
    assert_eq!(worker.in_flight(), 3 + 5);
}

#[tokio::test]
async fn silent_agents_leave_half_of_the_places() {
    let local = LocalSet::new();
    let _local = local.enter();
    let mut worker = Worker::new();
    let many = worker.drivers.add_tournament(setup("many", 60), None);
    many.expect("a tournament");
    let all = (FAR..60).flat_map(|agent| games([agent, agent + 1], 2));
    worker.lease("many", 1, all.collect());
    assert_eq!(worker.in_flight(), 32, "of 64");
    worker.lease("cup", 2, games([SEARCHES, SEARCHES], 64));
    assert_eq!(worker.in_flight(), 64);
}
