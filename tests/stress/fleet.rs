//! Increasing numbers of workers with one coordinator.

use std::{sync::Arc, time::Duration};

use super::{Broken, Figure, Outcome, StressTest};
use crate::{
    World,
    fleet::{self, Book, Fleet, FleetError, Measured, Until},
};

/// Games that are played in advance for each second of a fleet. Further games are played when they
/// are leased, which slows the fleet down.
const GAMES_PER_SECOND: u64 = 60_000;

/// The fleets.
#[derive(Debug, clap::Args)]
pub struct Scale {
    /// Numbers of workers, one fleet after another
    #[arg(long, value_delimiter = ',', default_values_t = [10, 100, 1_000])]
    workers: Vec<usize>,
    /// Seconds that each fleet works
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    seconds: u64,
    /// Games in a report
    #[arg(long, default_value_t = 100)]
    report_games: usize,
    /// Games of a lease, 8 to 512
    #[arg(long, default_value_t = 512)]
    lease_games: u32,
    /// Simulated time to play a lease, in milliseconds; 0 requests as much as the coordinator can
    /// grant
    #[arg(long, default_value_t = 0)]
    play_ms: u64,
    /// The largest accepted memory of the coordinator, in MiB
    #[arg(long, default_value_t = 350)]
    rss_mib_max: u64,
}

impl StressTest for Scale {
    const PROMISE: &'static str = "a coordinator serves a thousand workers that lease and report as \
        fast as it answers: none loses a lease or its connection, no report is refused permanently";

    const MEASURES_RATES: bool = true;

    fn quick() -> Self {
        Self {
            workers: vec![10, 50],
            seconds: 2,
            report_games: 100,
            lease_games: 512,
            play_ms: 0,
            rss_mib_max: 350,
        }
    }

    fn run(&self) -> Result<Outcome, Broken> {
        let mut figures = Vec::new();
        for &workers in &self.workers {
            let measured = self.measure(workers)?;
            self.check(&measured)?;
            let mut show = |name: &str, value: String| {
                figures.push(Figure::new(&format!("{workers} workers: {name}"), value));
            };
            for (name, value) in named_figures(&measured) {
                show(name, value);
            }
        }
        Ok(Outcome::Holds(figures))
    }
}

impl Scale {
    fn measure(&self, workers: usize) -> Result<Measured, Broken> {
        let broken = |error: FleetError| Broken::new(format!("{workers} workers: {error}"));
        let world = World::new();
        let coordinator = world.coordinator("data", &[]);
        let url = coordinator.url();
        let games = GAMES_PER_SECOND * (self.seconds + 1);
        // More games than are played, because the end of a tournament is not measured.
        let spec = fleet::cheap_spec("fleet", 2 * games);
        let id = world.start_tournament("fleet", &spec, &url);
        let book = fleet::tournament(&url, &id).map_err(broken)?;
        let book = Arc::new(Book::new(&book).map_err(broken)?);
        book.prepare(games, 2).map_err(broken)?;
        let measured = Fleet::new(&url)
            .workers(workers)
            .lease_games(self.lease_games)
            .report_games(self.report_games)
            .play_time(Duration::from_millis(self.play_ms))
            .process(coordinator.id())
            .book(book)
            .run(&Until::Elapsed(Duration::from_secs(self.seconds)))
            .map_err(broken)?;
        coordinator.stop();
        Ok(measured)
    }

    fn check(&self, measured: &Measured) -> Result<(), Broken> {
        let rss = measured
            .process
            .as_ref()
            .map_or(0, |one| one.rss_bytes_max());
        let lost = measured.leases_ended + measured.rejoins;
        let wrong = if measured.games == 0 {
            "nothing was reported".to_owned()
        } else if lost > 0 || !measured.rejected.is_empty() {
            format!(
                "{} leases were revoked, {} connections lost, refused permanently: {:?}",
                measured.leases_ended, measured.rejoins, measured.rejected
            )
        } else if rss > self.rss_mib_max << 20 {
            format!("the coordinator used {} MiB", rss >> 20)
        } else {
            return Ok(());
        };
        Err(Broken::new(format!(
            "{} workers: {wrong}",
            measured.workers
        )))
    }
}

/// The figures of a fleet.
fn named_figures(measured: &Measured) -> Vec<(&'static str, String)> {
    let per = |things: u64| {
        let cpu = measured.cpu_us_per(things).unwrap_or_default();
        format!("{cpu:.1}")
    };
    let process = measured.process.as_ref();
    let mib = |bytes: u64| format!("{:.1}", bytes as f64 / f64::from(1 << 20));
    let cpu = process.map(|one| one.cpu()).unwrap_or_default();
    vec![
        ("games/s", format!("{:.0}", measured.games_per_s())),
        ("reports/s", format!("{:.0}", measured.reports_per_s())),
        ("leases/s", format!("{:.0}", measured.leases_per_s())),
        ("lease p50", format!("{:?}", measured.lease.p50())),
        ("lease p99", format!("{:?}", measured.lease.p99())),
        ("lease max", format!("{:?}", measured.lease.max())),
        ("report p50", format!("{:?}", measured.report.p50())),
        ("report p99", format!("{:?}", measured.report.p99())),
        ("heartbeat p99", format!("{:?}", measured.heartbeat.p99())),
        ("refusals", measured.refusals.to_string()),
        (
            "coordinator, CPU cores",
            format!("{:.2}", cpu.as_secs_f64() / measured.seconds),
        ),
        (
            "fleet, CPU cores",
            format!("{:.2}", measured.own_cpu.as_secs_f64() / measured.seconds),
        ),
        ("coordinator, CPU µs a game", per(measured.games)),
        ("coordinator, CPU µs a report", per(measured.report.count())),
        (
            "coordinator, MiB when all had joined",
            mib(process.map_or(0, |one| one.rss_bytes_joined())),
        ),
        (
            "coordinator, MiB at most",
            mib(process.map_or(0, |one| one.rss_bytes_max())),
        ),
    ]
}
