//! Many simulated workers with one coordinator.

use std::{sync::Arc, time::Duration};

use anyhow::{Context, bail};
use arena_tests::{
    World,
    fleet::{Book, Fleet, Latencies, Measured as Seen, Until, cheap_spec, tournament},
};

use crate::{
    Settings, note,
    profile::Profile,
    report::{Figure, Measured, median},
    usage::megabytes,
};

/// Games that are played in advance for each second of a measurement: more than the workers can
/// report.
pub(super) const GAMES_PER_SECOND: f64 = 90_000.0;

/// The shortest measurement, because a fleet needs some time to start.
pub(super) const SECONDS_MIN: f64 = 2.0;

/// Games of one report, and of a lease.
pub(super) const REPORT_GAMES: usize = 100;
pub(super) const LEASE_GAMES: u32 = 5 * REPORT_GAMES as u32;

/// The load of one measurement.
pub(super) struct Load {
    pub(super) workers: usize,
    pub(super) reports_in_flight: usize,
    /// Reports per second of all workers together; none: as fast as they are answered.
    pub(super) reports_per_second: Option<f64>,
    pub(super) seconds: f64,
    pub(super) spec: fn(u64) -> String,
}

/// Measures increasing numbers of workers.
pub(super) fn measure(settings: &Settings, measured: &mut Measured) {
    let all = [10, 100, 1_000];
    let sizes = if settings.quick { &all[..2] } else { &all };
    for &workers in sizes {
        let what = format!("{workers} workers that report as fast as they are answered");
        let load = Load {
            workers,
            reports_in_flight: 1,
            reports_per_second: None,
            seconds: settings.seconds().max(SECONDS_MIN),
            spec: |blocks| cheap_spec("fleet", blocks),
        };
        let figure = run(settings, &what, &load).map(|(figure, seen)| {
            let mut figure = Figure {
                id: format!("fleet.workers-{workers}"),
                ..figure
            };
            figure.latency_ms = latency(&seen.lease);
            let more = [
                ("leases/s", seen.leases_per_s()),
                ("report p99 ms", ms(seen.report.p99())),
                ("refusals", seen.refusals as f64),
            ];
            let more = more.map(|(name, value)| (name.to_owned(), value));
            figure.more.extend(more);
            figure.note = Some("small games of Kalah; latency: of a lease".to_owned());
            vec![figure]
        });
        measured.take(&what, figure);
    }
}

pub(super) fn run(settings: &Settings, what: &str, load: &Load) -> anyhow::Result<(Figure, Seen)> {
    note(format!("  {what}"));
    let mut runs = Vec::new();
    for _ in 0..settings.runs() {
        runs.push(once(what, load)?);
    }
    let figures = runs.iter().map(|(figure, _)| figure.clone()).collect();
    let middle = median(figures).context("no run")?;
    let found = runs
        .into_iter()
        .find(|(figure, _)| figure.per_second.total_cmp(&middle.per_second).is_eq());
    found.context("no run")
}

pub(super) fn once(what: &str, load: &Load) -> anyhow::Result<(Figure, Seen)> {
    let world = World::new();
    let coordinator = world.coordinator("data", &[]);
    let url = coordinator.url();
    let paced = load.reports_per_second;
    let rate = paced.map_or(GAMES_PER_SECOND, |reports| reports * REPORT_GAMES as f64);
    let games = (rate * (load.seconds + 0.5)) as u64;
    // More games than the workers report, because the end of a tournament is not measured.
    let blocks = if paced.is_some() { games } else { 10 * games };
    let id = world.start_tournament("measured", &(load.spec)(blocks), &url);
    let book = Arc::new(Book::new(&tournament(&url, &id)?)?);
    book.prepare(games, 2)?;
    let mut fleet = Fleet::new(&url)
        .workers(load.workers)
        .lease_games(LEASE_GAMES)
        .report_games(REPORT_GAMES)
        .reports_in_flight(load.reports_in_flight)
        .process(coordinator.id())
        .book(book);
    if let Some(reports) = paced {
        fleet = fleet.reports_per_second(reports / load.workers as f64);
    }
    let before = Profile::read(&coordinator.metrics());
    let seen = fleet.run(&Until::Elapsed(Duration::from_secs_f64(load.seconds)))?;
    let profile = Profile::read(&coordinator.metrics()).since(&before);
    coordinator.stop();
    let figure = figure(what, &seen, profile)?;
    Ok((figure, seen))
}

/// The results of a fleet that measured its coordinator.
pub(super) fn figure(what: &str, seen: &Seen, profile: Profile) -> anyhow::Result<Figure> {
    if seen.games == 0 || !seen.rejected.is_empty() {
        bail!("{} results, refused: {:?}", seen.games, seen.rejected);
    }
    let process = seen.process.as_ref().context("the coordinator's process")?;
    let per_game = |cpu: Duration| cpu.as_secs_f64() * 1e6 / seen.games as f64;
    Ok(Figure {
        what: what.to_owned(),
        unit: "results",
        per_second: seen.games_per_s(),
        cpu_us: Some(per_game(process.cpu() + seen.own_cpu)),
        memory_mb: [("coordinator", megabytes(process.rss_bytes_max()))].into(),
        more: [(
            "CPU µs of the coordinator alone".to_owned(),
            per_game(process.cpu()),
        )]
        .into(),
        profile,
        ..Figure::default()
    })
}

pub(super) fn latency(times: &Latencies) -> std::collections::BTreeMap<&'static str, f64> {
    [("p50", ms(times.p50())), ("p99", ms(times.p99()))].into()
}

pub(super) fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
