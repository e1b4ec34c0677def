//! One schedule, from its start to its results.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    path::Path,
    rc::Rc,
    time::Duration,
};

use arena_wire::v1;
use turmoil::Sim;

use super::{
    case::{CLIENT, COORDINATOR, Case, Draws, Trouble},
    client::{self, Export},
    disk::Disk,
    hosts,
    log::Log,
    wire::Sockets,
};

/// The simulated time of a step.
const TICK: Duration = Duration::from_millis(10);
/// The limit for a tournament after the last failure.
const LIMIT: Duration = Duration::from_secs(180);
/// The smallest time of a message.
const LATENCY_LEAST: Duration = Duration::from_millis(1);
/// The share of messages that repair a broken link.
const REPAIRS: f64 = 0.2;
/// The capacity of a connection in segments.
const SEGMENTS: usize = 1024;

/// The result of a schedule.
#[derive(Debug, Default)]
pub(super) struct Ran {
    pub(super) export: Export,
    pub(super) log: Vec<String>,
    /// Elapsed virtual time.
    pub(super) took: Duration,
    /// Games whose durability workers were informed of.
    pub(super) acknowledged: u64,
    /// Failures by name.
    pub(super) troubles: BTreeMap<&'static str, u64>,
}

/// A schedule that broke a promise.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) seen: String,
    pub(super) log: Vec<String>,
}

/// Runs a schedule; `logged` keeps its log.
pub(super) fn run(
    case: &Case,
    native: &v1::DescribeResponse,
    temp: &Path,
    logged: bool,
) -> Result<Ran, Failure> {
    let log = Log::new(logged);
    let ran = tracing::subscriber::with_default(log.clone(), || {
        Trial::new(case, native, temp, log.clone()).run()
    });
    match ran {
        Ok(ran) => Ok(Ran {
            log: log.lines(),
            ..ran
        }),
        Err(seen) => Err(Failure {
            seen,
            log: log.lines(),
        }),
    }
}

struct Trial<'a> {
    case: &'a Case,
    sim: Sim<'a>,
    disk: Disk,
    /// Programs by host.
    sockets: BTreeMap<String, Sockets>,
    log: Log,
    outcome: Rc<RefCell<Option<Result<Export, String>>>>,
    ran: Ran,
}

impl<'a> Trial<'a> {
    fn new(case: &'a Case, native: &v1::DescribeResponse, temp: &Path, log: Log) -> Self {
        let mut sim = turmoil::Builder::new()
            .rng_seed(case.seed)
            .tick_duration(TICK)
            .simulation_duration(case.calm + LIMIT)
            .min_message_latency(LATENCY_LEAST)
            .max_message_latency(case.latency)
            .repair_rate(REPAIRS)
            .tcp_capacity(SEGMENTS)
            .enable_random_order()
            .build();
        let disk = Disk::new(Draws::new(case.seed, 2));
        let hosts = case.hosts().into_iter();
        let sockets: BTreeMap<String, Sockets> =
            hosts.map(|host| (host, Sockets::default())).collect();
        let of = (case.clone(), disk.clone(), native.clone());
        let plugs = sockets[COORDINATOR].clone();
        sim.host(COORDINATOR, move || {
            let (case, disk, native) = of.clone();
            hosts::coordinator(case, disk, native, plugs.clone())
        });
        for number in 0..case.workers {
            let name = super::case::worker(number);
            let of = (case.clone(), temp.to_owned(), sockets[&name].clone());
            let lives = Cell::new(0);
            sim.host(name, move || {
                let (case, temp, sockets) = of.clone();
                lives.set(lives.get() + 1);
                hosts::worker(case, number, lives.get(), temp, sockets)
            });
        }
        let outcome = Rc::new(RefCell::new(None));
        let (of, reported, plugs) = (case.clone(), outcome.clone(), sockets[CLIENT].clone());
        sim.client(CLIENT, async move {
            let left = client::play(&of, &plugs).await;
            reported.replace(Some(left));
            Ok(())
        });
        Self {
            case,
            sim,
            disk,
            sockets,
            log,
            outcome,
            ran: Ran::default(),
        }
    }

    fn run(mut self) -> Result<Ran, String> {
        let mut troubles = self.case.troubles.iter().peekable();
        let mut calm = false;
        loop {
            let now = self.sim.elapsed();
            self.log.now(now.as_millis());
            while let Some((_, trouble)) = troubles.next_if(|(at, _)| *at <= now) {
                self.make(trouble);
            }
            if !calm && now >= self.case.calm {
                calm = true;
                self.calm();
            }
            let over = self.sim.step().map_err(|error| error.to_string())?;
            self.check_acknowledged()?;
            if over {
                break;
            }
        }
        self.ran.took = self.sim.elapsed();
        let outcome = self.outcome.take();
        self.ran.export = outcome.ok_or("the user ended without a result")??;
        let twice = self.disk.twice();
        if !twice.is_empty() {
            return Err(format!("games were stored twice: {twice:?}"));
        }
        Ok(self.ran)
    }

    fn make(&mut self, trouble: &Trouble) {
        self.log.say(format_args!("{trouble:?}"));
        *self.ran.troubles.entry(trouble.name()).or_default() += 1;
        let sim = &mut self.sim;
        match trouble {
            Trouble::Crash(host) => self.end(host),
            Trouble::Start(host) => {
                self.end(host);
                self.sim.bounce(host.as_str());
            }
            Trouble::Part(one, other) => sim.partition(one.as_str(), other.as_str()),
            Trouble::PartOneWay(from, to) => sim.partition_oneway(from.as_str(), to.as_str()),
            Trouble::Repair(one, other) => sim.repair(one.as_str(), other.as_str()),
            Trouble::Hold(one, other) => sim.hold(one.as_str(), other.as_str()),
            Trouble::Release(one, other) => sim.release(one.as_str(), other.as_str()),
            Trouble::Slow(most) => sim.set_max_message_latency(*most),
            Trouble::Lossy(share) => sim.set_fail_rate(*share),
        }
    }

    /// Ends a host's program immediately.
    fn end(&mut self, host: &str) {
        self.sockets[host].end(true);
        self.sim.crash(host);
        self.sockets[host].end(false);
        if host == COORDINATOR {
            self.disk.crash();
        }
    }

    /// Ends all failures.
    fn calm(&mut self) {
        self.log.say("calm");
        let sim = &mut self.sim;
        sim.set_fail_rate(0.0);
        sim.set_max_message_latency(self.case.latency);
        let hosts = self.case.hosts();
        for (place, host) in hosts.iter().enumerate() {
            for other in &hosts[place + 1..] {
                sim.release(host.as_str(), other.as_str());
            }
        }
        for host in hosts.iter().filter(|host| *host != CLIENT) {
            if !sim.is_host_running(host.as_str()) {
                sim.bounce(host.as_str());
            }
        }
    }

    /// Checks that everything acknowledged is on the disk, now and later.
    fn check_acknowledged(&mut self) -> Result<(), String> {
        for acknowledged in self.log.acknowledged() {
            self.ran.acknowledged += acknowledged.games.len() as u64;
            for game in acknowledged.games {
                let tournament = &acknowledged.tournament;
                if !self.disk.has(tournament, game) {
                    return Err(format!(
                        "game {tournament}/{game} was acknowledged, but is not durable"
                    ));
                }
            }
        }
        Ok(())
    }
}

/// Kinds of failures, as [`Trouble::name`] names them.
pub(super) const TROUBLES: usize = 6;

impl Trouble {
    fn name(&self) -> &'static str {
        match self {
            Self::Crash(host) if host == COORDINATOR => "crashes of the coordinator",
            Self::Crash(_) => "crashes of a worker",
            Self::Part(..) | Self::PartOneWay(..) => "partitions",
            Self::Hold(..) => "holds",
            Self::Slow(_) | Self::Lossy(_) => "changes of latency and loss",
            Self::Start(_) | Self::Repair(..) | Self::Release(..) => "ends of troubles",
        }
    }
}
