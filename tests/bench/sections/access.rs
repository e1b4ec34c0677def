//! What TLS and tokens cost: the same work with and without them, by turns, so that other load meets both.

use std::{
    fs,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context, bail};
use arena_access::{Connection, CredentialFiles, Credentials};
use arena_tests::{
    Server, World,
    fleet::{Book, Fleet, Until, tournament},
};
use arena_wire::v1::{ListWorkersRequest, coordinator_service_client::CoordinatorServiceClient};
use tokio::{runtime, task::JoinSet};

use super::{
    fleet::{GAMES_PER_SECOND, LEASE_GAMES, REPORT_GAMES, SECONDS_MIN, figure},
    store::{WORKERS, cowry},
};
use crate::{
    Settings, note,
    profile::Profile,
    report::{Figure, Measured, median},
    usage::cpu_nanoseconds,
};

/// Pairs of measurements. With an odd number, the median is one of them.
const PAIRS: usize = 15;
const PAIRS_QUICK: usize = 1;
/// Calls of one measurement, and how many of them are open at a time.
const CALLS: usize = 5_000;
const CALLS_OPEN: usize = 16;
/// A limit that counts each request, and that no client reaches.
const REQUESTS: &str = "requests-per-second=1000000000";
/// Pairs of calls with the same two processes. Each start places code and data differently.
const PAIRS_OF_CALLS: usize = 20;

pub(super) fn measure(settings: &Settings, measured: &mut Measured) {
    measured.take("TLS", tls(settings));
    measured.take("tokens", tokens(settings));
}

fn pairs(settings: &Settings) -> usize {
    if settings.quick { PAIRS_QUICK } else { PAIRS }
}

/// Which of two sides is measured first: each of them equally often.
fn order(pair: usize) -> [bool; 2] {
    let first = pair % 2 == 1;
    [first, !first]
}

/// Workers report the same games to coordinators with and without TLS.
fn tls(settings: &Settings) -> anyhow::Result<Vec<Figure>> {
    let world = World::new();
    let seconds = settings.seconds().max(SECONDS_MIN);
    let games = (GAMES_PER_SECOND * (seconds + 0.5)) as u64;
    let coordinator = world.coordinator("started", &[]);
    let url = coordinator.url();
    // More games than the workers report, because the end of a tournament is not measured.
    let id = world.start_tournament("measured", &cowry(10 * games), &url);
    let book = Arc::new(Book::new(&tournament(&url, &id)?)?);
    coordinator.stop();
    book.prepare(games, 2)?;
    let _ = world.arena(&["tls", "init", "tls"]).ok();
    let sides = ["without TLS", "with TLS"].map(|how| {
        format!("cowry results made durable, {REPORT_GAMES} a report, {WORKERS} workers, {how}")
    });
    let mut runs = [Vec::new(), Vec::new()];
    for pair in 0..pairs(settings) {
        note(format!("  TLS, pair {}", pair + 1));
        for is_tls in order(pair) {
            let side = usize::from(is_tls);
            runs[side].push(reports(&world, &book, is_tls, seconds, &sides[side])?);
        }
    }
    let shares = |of: fn(&Figure) -> f64| {
        let pairs = runs[0].iter().zip(&runs[1]);
        Spread::of(pairs.map(|(plain, tls)| of(tls) / of(plain)).collect())
    };
    let rate = shares(|figure| figure.per_second)?;
    let cpu = shares(|figure| figure.cpu_us.unwrap_or(f64::NAN))?;
    let [plain, tls] = runs.map(|runs| median(runs).context("no run"));
    let mut more = rate.named("rate, share of that without TLS");
    more.extend(cpu.named("CPU, multiple of that without TLS"));
    let mut tls = tls?;
    tls.more.extend(more);
    Ok(vec![
        Figure {
            id: "access.plain".to_owned(),
            ..plain?
        },
        Figure {
            id: "access.tls".to_owned(),
            ..tls
        },
    ])
}

/// Reports games for some time, on a copy of the data folder.
fn reports(
    world: &World,
    book: &Arc<Book>,
    is_tls: bool,
    seconds: f64,
    what: &str,
) -> anyhow::Result<Figure> {
    let mut copy = world.command("cp");
    copy.args(["-r", "started", "data"]);
    let _ = world.run(copy).ok();
    let files = [
        "--tls-cert",
        "tls/server.pem",
        "--tls-key",
        "tls/server.key",
    ];
    let coordinator = world.coordinator("data", if is_tls { &files } else { &[] });
    let scheme = if is_tls { "https" } else { "http" };
    let mut fleet = Fleet::new(&format!("{scheme}://{}", coordinator.listen()))
        .workers(WORKERS)
        .lease_games(LEASE_GAMES)
        .report_games(REPORT_GAMES)
        .reports_in_flight(2)
        .process(coordinator.id())
        .book(Arc::clone(book));
    if is_tls {
        fleet = fleet.tls_ca(world.folder().join("tls/ca.pem"));
    }
    let seen = fleet.run(&Until::Elapsed(Duration::from_secs_f64(seconds)))?;
    coordinator.stop();
    fs::remove_dir_all(world.folder().join("data"))?;
    figure(what, &seen, Profile::default())
}

/// Clients make the same calls to coordinators that check a submitter's token and count its requests, and that are
/// open to all.
fn tokens(settings: &Settings) -> anyhow::Result<Vec<Figure>> {
    let world = World::new();
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let mut runs = [Vec::new(), Vec::new()];
    for start in 0..settings.runs() {
        note(format!("  tokens, start {}", start + 1));
        let _inside = runtime.enter();
        let open = Caller::start(&world, &format!("open-{start}"), &["--insecure"])?;
        let checked = Caller::start(&world, &format!("checked-{start}"), &[])?;
        let checked = checked.with_token(&world, &format!("{start}.token"))?;
        let callers = [open, checked];
        for caller in &callers {
            // Connections are made, and caches filled.
            runtime.block_on(caller.call(CALLS))?;
        }
        let pairs = if settings.quick { 2 } else { PAIRS_OF_CALLS };
        for pair in 0..pairs {
            for is_checked in order(pair) {
                let side = usize::from(is_checked);
                runs[side].push(runtime.block_on(callers[side].call(CALLS))?);
            }
        }
        callers
            .into_iter()
            .for_each(|caller| caller.coordinator.stop());
    }
    let differences = runs[0].iter().zip(&runs[1]);
    let more = Spread::of(
        differences
            .map(|(open, checked)| checked.cpu_us.unwrap_or(f64::NAN) - open.cpu_us.unwrap_or(0.0))
            .collect(),
    )?;
    let [open, checked] = runs.map(|runs| median(runs).context("no run"));
    Ok(vec![
        Figure {
            id: "access.open".to_owned(),
            what: "small calls, open to all (--insecure)".to_owned(),
            ..open?
        },
        Figure {
            id: "access.tokens".to_owned(),
            what: "small calls, with a submitter's token".to_owned(),
            more: more
                .named("CPU µs a call more than without a token")
                .into_iter()
                .collect(),
            ..checked?
        },
    ])
}

/// A coordinator, and a connection to it.
struct Caller {
    coordinator: Server,
    connection: Connection,
}

impl Caller {
    fn start(world: &World, data: &str, more: &[&str]) -> anyhow::Result<Self> {
        let coordinator = world.coordinator(data, more);
        let url = coordinator.url();
        let connection = Credentials::found().connect_lazy(&url)?;
        Ok(Self {
            coordinator,
            connection,
        })
    }

    /// The same coordinator, called with a new token whose requests are counted, unlike those of the local
    /// administrator. The limit is never reached.
    fn with_token(self, world: &World, file: &str) -> anyhow::Result<Self> {
        let url = self.coordinator.url();
        let of = ["token", "create", "--coordinator", &url, "--write", file];
        let limited = ["--role", "submitter", "--limit", REQUESTS];
        let _ = world.arena(&[&of[..], &limited].concat()).ok();
        let files = CredentialFiles {
            token: Some(world.folder().join(file)),
            ..CredentialFiles::default()
        };
        let connection = Credentials::of_files(&files)?.connect_lazy(&url)?;
        Ok(Self { connection, ..self })
    }

    /// Makes calls. The CPU is that of the coordinator.
    async fn call(&self, calls: usize) -> anyhow::Result<Figure> {
        let process = self.coordinator.id();
        let before = cpu_nanoseconds(process);
        let started = Instant::now();
        let mut open = JoinSet::new();
        for _ in 0..CALLS_OPEN {
            let mut client = CoordinatorServiceClient::new(self.connection.clone());
            open.spawn(async move {
                for _ in 0..calls / CALLS_OPEN {
                    client.list_workers(ListWorkersRequest::default()).await?;
                }
                Ok::<_, tonic::Status>(calls / CALLS_OPEN)
            });
        }
        let mut made = 0;
        while let Some(ended) = open.join_next().await {
            made += ended??;
        }
        let seconds = started.elapsed().as_secs_f64();
        let cpu = cpu_nanoseconds(process).saturating_sub(before);
        Ok(Figure {
            unit: "calls",
            group: "calls",
            per_second: made as f64 / seconds,
            cpu_us: Some(cpu as f64 / 1e3 / made as f64),
            ..Figure::default()
        })
    }
}

/// The median of paired measurements, and how far they are apart.
struct Spread {
    median: f64,
    lowest: f64,
    highest: f64,
    standard_error: Option<f64>,
}

impl Spread {
    fn of(mut values: Vec<f64>) -> anyhow::Result<Self> {
        values.sort_by(f64::total_cmp);
        let count = values.len() as f64;
        let (Some(&lowest), Some(&highest)) = (values.first(), values.last()) else {
            bail!("no pair was measured");
        };
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Ok(Self {
            median: values[values.len() / 2],
            lowest,
            highest,
            standard_error: (values.len() > 1).then(|| (squares / (count - 1.0) / count).sqrt()),
        })
    }

    /// The values with names that begin with this one.
    fn named(&self, name: &str) -> Vec<(String, f64)> {
        let mut values = vec![
            (name.to_owned(), self.median),
            (format!("{name}, lowest pair"), self.lowest),
            (format!("{name}, highest pair"), self.highest),
        ];
        if let Some(error) = self.standard_error {
            values.push((format!("{name}, standard error"), error));
        }
        values
    }
}
