//! Many simulated workers at one coordinator, and how fast their results
//! become durable.

use std::{sync::Arc, time::Duration};

use anyhow::{Context, bail};
use arena_tests::{
    World,
    fleet::{Book, Fleet, Latencies, Measured as Seen, Until, cheap_spec, tournament},
    spec,
};

use crate::{
    Settings, note,
    report::{Figure, Measured, median},
    usage::megabytes,
};

/// Games played beforehand for each second of a measurement: more than can be
/// reported.
const GAMES_PER_SECOND: f64 = 90_000.0;

/// A fleet is not under way within a quick measurement.
const SECONDS_MIN: f64 = 2.0;

/// Games of one report, and of a lease.
const REPORT_GAMES: usize = 100;
const LEASE_GAMES: u32 = 5 * REPORT_GAMES as u32;

/// Reports in a second that a paced fleet sends: 55,000 results, a tenth more
/// than the bar.
const PACED_REPORTS: f64 = 550.0;

/// Workers of a fleet whose results become durable.
const REPORTERS: usize = 8;

/// How much is asked of one coordinator.
struct Load {
    workers: usize,
    reports_in_flight: usize,
    /// Of all together; none: as fast as they are answered.
    reports_per_second: Option<f64>,
    spec: fn(u64) -> String,
}

/// Results that become durable: a few workers report real games of cowry, as
/// fast as they are answered, and at a pace.
pub(super) fn durable(settings: &Settings, measured: &mut Measured) {
    let loads = [
        ("store.durable", "as fast as they are answered", None),
        (
            "store.paced",
            "paced to 55,000 a second",
            Some(PACED_REPORTS),
        ),
    ];
    for (id, how, reports_per_second) in loads {
        let what = format!(
            "cowry results made durable, {REPORT_GAMES} a report, {REPORTERS} workers over gRPC, \
             {how}"
        );
        let load = Load {
            workers: REPORTERS,
            reports_in_flight: 2,
            reports_per_second,
            spec: |blocks| {
                let players = "[[agent]]\nname = \"a\"\nbot = \"random\"\n\
                               [[agent]]\nname = \"b\"\nbot = \"random\"";
                spec("durable", "cowry", blocks, &["a", "b"], players)
            },
        };
        let figure = run(settings, &what, &load).map(|(figure, seen)| {
            let mut figure = Figure {
                id: id.to_owned(),
                ..figure
            };
            figure.latency_ms = latency(&seen.report);
            figure.note =
                Some("latency: from a report to its acknowledgement after fdatasync".into());
            vec![figure]
        });
        measured.take(&what, figure);
    }
}

/// Ever more workers.
pub(super) fn measure(settings: &Settings, measured: &mut Measured) {
    let all = [10, 100, 1_000];
    let sizes = if settings.quick { &all[..2] } else { &all };
    for &workers in sizes {
        let what = format!("{workers} workers that report as fast as they are answered");
        let load = Load {
            workers,
            reports_in_flight: 1,
            reports_per_second: None,
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

fn run(settings: &Settings, what: &str, load: &Load) -> anyhow::Result<(Figure, Seen)> {
    note(format!("  {what}"));
    let mut runs = Vec::new();
    for _ in 0..settings.runs() {
        runs.push(once(settings, what, load)?);
    }
    let figures = runs.iter().map(|(figure, _)| figure.clone()).collect();
    let middle = median(figures).context("no run")?;
    let found = runs
        .into_iter()
        .find(|(figure, _)| figure.per_second.total_cmp(&middle.per_second).is_eq());
    found.context("no run")
}

fn once(settings: &Settings, what: &str, load: &Load) -> anyhow::Result<(Figure, Seen)> {
    let world = World::new();
    let coordinator = world.coordinator("data", &["--audit-share", "0"]);
    let url = coordinator.url();
    let seconds = settings.seconds().max(SECONDS_MIN);
    let games = (GAMES_PER_SECOND * (seconds + 0.5)) as u64;
    // More than are reported: the end of a tournament is not what is measured.
    let id = world.start_tournament("measured", &(load.spec)(10 * games), &url);
    let book = Arc::new(Book::new(&tournament(&url, &id)?)?);
    book.prepare(games, 2)?;
    let mut fleet = Fleet::new(&url)
        .workers(load.workers)
        .lease_games(LEASE_GAMES)
        .report_games(REPORT_GAMES)
        .reports_in_flight(load.reports_in_flight)
        .process(coordinator.id())
        .book(book);
    if let Some(reports) = load.reports_per_second {
        fleet = fleet.reports_per_second(reports / load.workers as f64);
    }
    let seen = fleet.run(&Until::Elapsed(Duration::from_secs_f64(seconds)))?;
    coordinator.stop();
    if seen.games == 0 || !seen.rejected.is_empty() {
        bail!("{} results, refused: {:?}", seen.games, seen.rejected);
    }
    let process = seen.process.as_ref().context("the coordinator's process")?;
    let per_game = |cpu: Duration| cpu.as_secs_f64() * 1e6 / seen.games as f64;
    let figure = Figure {
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
        ..Figure::default()
    };
    Ok((figure, seen))
}

fn latency(times: &Latencies) -> std::collections::BTreeMap<&'static str, f64> {
    [("p50", ms(times.p50())), ("p99", ms(times.p99()))].into()
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
