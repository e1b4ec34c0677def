//! The schedule of a seed: a fleet, a network and its failures.

use std::time::Duration;

use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};

/// Random draws for one purpose.
#[derive(Clone, Debug)]
pub(super) struct Draws(ChaCha8Rng);

impl Draws {
    /// The draws of a seed for a purpose.
    pub(super) fn new(seed: u64, purpose: u64) -> Self {
        let mut draws = ChaCha8Rng::seed_from_u64(seed);
        draws.set_stream(purpose);
        Self(draws)
    }

    /// Returns a number from 0 to `bound` − 1.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.0.next_u64() % bound
    }

    /// Returns a number of milliseconds, including both ends.
    pub(super) fn millis(&mut self, from: u64, to: u64) -> Duration {
        Duration::from_millis(from + self.below(to - from + 1))
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}

/// A spec of Kalah with a name, a seed and a number of blocks.
macro_rules! kalah {
    ($name:literal, $seed:literal, $blocks:literal) => {
        concat!(
            "name = \"",
            $name,
            "\"\nseed = \"",
            $seed,
            "\"\nblocks = ",
            $blocks,
            r#"
ruleset = "kalah"
agents = ["random", "shallow"]
[[agent]]
name = "shallow"
bot = "kalah-minimax"
options = { depth = 1 }
"#
        )
    };
}

/// The tournaments of the schedules.
pub(super) const SPECS: [&str; 3] = [
    kalah!("pits", "0x5eed", 12),
    r#"
name = "shells"
ruleset = "cowry"
seed = "0xc0ffee"
blocks = 4
agents = ["random", "aggressive", "defensive"]
"#,
    kalah!("long", "0x10e6", 24),
];

/// A failure of hosts or of links between them.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Trouble {
    /// The host's program ends immediately.
    Crash(String),
    /// The program starts, after it has ended if it still runs.
    Start(String),
    /// The link drops everything in both directions.
    Part(String, String),
    /// The link drops everything from the first host to the second.
    PartOneWay(String, String),
    /// The link works again; dropped messages stay lost.
    Repair(String, String),
    /// Messages on the link wait.
    Hold(String, String),
    /// Waiting messages continue.
    Release(String, String),
    /// The largest time of a message.
    Slow(Duration),
    /// The share of messages that break their link for some time.
    Lossy(f64),
}

/// A schedule.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) seed: u64,
    /// The index in [`SPECS`].
    pub(super) spec: usize,
    pub(super) workers: usize,
    pub(super) lease_deadline: Duration,
    pub(super) connect_timeout: Duration,
    pub(super) audit_share: f64,
    /// The shortest and the longest thinking time of slow games.
    pub(super) thinking: (u64, u64),
    pub(super) latency: Duration,
    /// When the user pauses the tournament, and for how long.
    pub(super) paused: Option<(Duration, Duration)>,
    /// Failures by virtual time since the start.
    pub(super) troubles: Vec<(Duration, Trouble)>,
    /// When all failures end.
    pub(super) calm: Duration,
}

pub(super) const COORDINATOR: &str = "coordinator";
pub(super) const CLIENT: &str = "client";

/// The name of a worker's host.
pub(super) fn worker(number: usize) -> String {
    format!("worker-{number}")
}

impl Case {
    /// A schedule without failures.
    pub(super) fn undisturbed(spec: usize) -> Self {
        Self {
            seed: 0,
            spec,
            workers: 2,
            lease_deadline: Duration::from_secs(10),
            connect_timeout: Duration::from_secs(30),
            audit_share: 0.0,
            thinking: (10, 10),
            latency: Duration::from_millis(10),
            paused: None,
            troubles: Vec::new(),
            calm: Duration::ZERO,
        }
    }

    /// The schedule of a seed.
    pub(super) fn new(seed: u64) -> Self {
        let mut draws = Draws::new(seed, 0);
        let workers = 2 + draws.below(2) as usize;
        let calm = draws.millis(2_000, 9_000);
        let slowest = draws.pick(&[150, 600, 2_000]);
        let mut case = Self {
            seed,
            spec: draws.below(SPECS.len() as u64) as usize,
            workers,
            lease_deadline: draws.millis(500, 5_000),
            connect_timeout: draws.pick(&[Duration::from_secs(3), Duration::from_secs(600)]),
            audit_share: draws.pick(&[0.0, 0.0, 0.3]),
            thinking: (20, slowest),
            latency: draws.pick(&[10, 60, 300]).ms(),
            paused: (draws.below(4) == 0)
                .then(|| (draws.millis(100, 5_000), draws.millis(0, 3_000))),
            troubles: Vec::new(),
            calm,
        };
        for _ in 0..1 + draws.below(8) {
            case.trouble(&mut draws);
        }
        case.troubles.retain(|(at, _)| *at < calm);
        // Failures at the same time keep their order.
        case.troubles.sort_by_key(|(at, _)| *at);
        case
    }

    /// Adds one failure, and in most cases its end.
    fn trouble(&mut self, draws: &mut Draws) {
        let at = draws.millis(0, self.calm.as_millis() as u64);
        let lasting = draws.pick(&[100, 1_000, 8_000]);
        let end = at + draws.millis(10, lasting);
        let worker = worker(draws.below(self.workers as u64) as usize);
        let coordinator = || COORDINATOR.to_owned();
        let peer = match draws.below(5) {
            0 => CLIENT.to_owned(),
            _ => worker.clone(),
        };
        match draws.below(8) {
            0 | 1 => {
                self.add(at, Trouble::Crash(coordinator()));
                self.add(end, Trouble::Start(coordinator()));
            }
            2 => {
                self.add(at, Trouble::Crash(worker.clone()));
                self.add(end, Trouble::Start(worker));
            }
            // Without closing connections, as in a power cut.
            3 => {
                let dying = draws.pick(&[true, false]);
                let dying = if dying { coordinator() } else { worker };
                let others: Vec<String> = self.others(&dying);
                for other in &others {
                    self.add(at, Trouble::Part(dying.clone(), other.clone()));
                }
                self.add(at, Trouble::Crash(dying.clone()));
                for other in others {
                    self.add(end, Trouble::Repair(dying.clone(), other));
                }
                self.add(end, Trouble::Start(dying));
            }
            4 => {
                self.add(at, Trouble::Part(coordinator(), peer.clone()));
                self.add(end, Trouble::Repair(coordinator(), peer));
            }
            5 => {
                let ends = [(coordinator(), peer.clone()), (peer.clone(), coordinator())];
                let (from, to) = ends[draws.below(2) as usize].clone();
                self.add(at, Trouble::PartOneWay(from, to));
                self.add(end, Trouble::Repair(coordinator(), peer));
            }
            6 => {
                self.add(at, Trouble::Hold(coordinator(), peer.clone()));
                self.add(end, Trouble::Release(coordinator(), peer));
            }
            _ => {
                if draws.below(2) == 0 {
                    self.add(at, Trouble::Lossy(draws.pick(&[0.001, 0.01, 0.05])));
                    self.add(end, Trouble::Lossy(0.0));
                } else {
                    self.add(at, Trouble::Slow(draws.millis(100, 1_500)));
                    self.add(end, Trouble::Slow(self.latency));
                }
            }
        }
    }

    fn add(&mut self, at: Duration, trouble: Trouble) {
        self.troubles.push((at, trouble));
    }

    /// All hosts.
    pub(super) fn hosts(&self) -> Vec<String> {
        let workers = (0..self.workers).map(worker);
        [COORDINATOR.to_owned(), CLIENT.to_owned()]
            .into_iter()
            .chain(workers)
            .collect()
    }

    /// The hosts that a host is connected to.
    pub(super) fn others(&self, host: &str) -> Vec<String> {
        let mut hosts = self.hosts();
        hosts.retain(|other| other != host);
        hosts
    }
}

/// Formats milliseconds.
trait Millis {
    fn ms(self) -> Duration;
}

impl Millis for u64 {
    fn ms(self) -> Duration {
        Duration::from_millis(self)
    }
}
