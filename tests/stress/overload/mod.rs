//! More workers and reports than a coordinator can serve, with silent, stalled and oversized
//! connections.

mod acknowledged;
mod calm;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use serde::Deserialize;
use tonic::Code;

use super::{Broken, Figure, Outcome, StressTest};
use crate::{
    Server, World,
    fleet::{self, Book, Fleet, FleetError, Measured, Silent, Until, Usage},
    until,
};
use acknowledged::Acknowledged;
use calm::Calm;

/// The limit for a fleet to play the remaining games.
const CALM_MAX: Duration = Duration::from_secs(600);

/// More reports than a coordinator reads at a time.
const STALLED: usize = 1_100;

/// The bounds of measurements.
#[derive(Deserialize)]
struct Bounds {
    /// The largest memory of the coordinator.
    rss_mib_max: u64,
    /// The coordinator's CPU time per game after the overload, relative to before.
    cpu_per_game_ratio_max: f64,
    /// Games per second after the overload, relative to before: the medians of the periods of
    /// normal load. Short periods only detect a stuck coordinator.
    rate_ratio_min: f64,
    /// From this number of games per period on, the next two bounds hold instead. The rate of a
    /// machine varies by a tenth between seconds, and the store has millions of games more after
    /// the overload.
    steady_games: u64,
    steady_cpu_per_game_ratio_max: f64,
    steady_rate_ratio_min: f64,
    /// Bytes of an oversized message.
    too_large_bytes: usize,
}

/// The size of the overload.
#[derive(Debug, clap::Args)]
pub struct Overload {
    /// Workers that retry immediately, without waiting as asked
    #[arg(long, default_value_t = 500)]
    workers: usize,
    /// Reports that each worker sends at a time
    #[arg(long, default_value_t = 8)]
    reports: usize,
    /// Duration in seconds
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    seconds: u64,
    /// Reported games that may wait in the coordinator; the workers send at least ten times as many
    #[arg(long, default_value_t = 20_000)]
    report_queue: u64,
    /// Silent connections
    #[arg(long, default_value_t = 2_000)]
    silent: usize,
    /// Reports that begin and never end: more than the coordinator reads at a time
    #[arg(long, default_value_t = STALLED)]
    stalled: usize,
    /// Streams that watch the tournament
    #[arg(long, default_value_t = 1_000)]
    watchers: usize,
    /// Games of each period of normal load, three before and three after
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..))]
    calm_games: u64,
}

impl StressTest for Overload {
    const PROMISE: &'static str = "a coordinator with ten times its possible load \
        refuses with RESOURCE_EXHAUSTED and a time to retry, stays within its memory, lets no \
        lease expire, answers requests, loses no acknowledged result, and is as fast again afterwards";

    const MEASURES_RATES: bool = true;

    fn quick() -> Self {
        Self {
            workers: 25,
            reports: 4,
            seconds: 2,
            report_queue: 1_000,
            silent: 200,
            stalled: STALLED,
            watchers: 20,
            calm_games: 5_000,
        }
    }

    fn run(&self) -> Result<Outcome, Broken> {
        let bounds: Bounds = serde_json::from_str(include_str!("../../data/overload.json"))
            .expect("the bounds are well formed");
        let world = World::new();
        let coordinator = self.coordinator(&world);
        let mut acknowledged = Acknowledged::default();
        let mut wrong = Vec::new();

        let before = self.calm(&world, &coordinator, "before", &mut acknowledged)?;
        match fleet::huge_report(&coordinator.url(), bounds.too_large_bytes) {
            Ok(Some(status)) if status.message().contains("too large") => {}
            other => wrong.push(format!("an oversized message: {other:?}")),
        }
        let beside = self.beside_stalled(&world, &coordinator, &mut wrong)?;
        acknowledged.add(&beside);
        let crowd = self.crowd(&world, &coordinator, &before, &mut wrong)?;
        acknowledged.add(&crowd.measured);
        let after = self.after(&coordinator, &crowd.tournament)?;
        acknowledged.add(&after);
        let again = self.calm(&world, &coordinator, "again", &mut acknowledged)?;
        if after.refusals > 0 {
            wrong.push(format!("after: {} calls were refused", after.refusals));
        }
        before.judge(&again, self.calm_games, &bounds, &mut wrong);
        until("silent connections to be closed", || {
            (crowd.silent.open() == 0).then_some(())
        });
        let peak = Usage::of(coordinator.id())
            .map_err(Broken::new)?
            .rss_peak_bytes
            >> 20;
        if peak > bounds.rss_mib_max {
            wrong.push(format!("the coordinator used {peak} MiB"));
        }
        let expired = coordinator.metric("arena_leases_expired_total", &[]);
        if expired > 0.0 {
            wrong.push(format!("{expired} leases expired"));
        }

        let cut = self.cut(&world, coordinator)?;
        acknowledged.add(&cut);
        wrong.extend(acknowledged.missing(&world, "data"));
        if !wrong.is_empty() {
            return Err(Broken::new(wrong.join("\n")));
        }
        Ok(Outcome::Holds(vec![
            Figure::new("games/s before, each spell", before.transcript()),
            Figure::new(
                "games/s while overloaded",
                crowd.measured.games_per_s().round(),
            ),
            Figure::new("games/s after, each spell", again.transcript()),
            Figure::new(
                "rate after in that before",
                format!("{:.2}", again.rate() / before.rate()),
            ),
            Figure::new("reports refused", crowd.measured.refusals),
            Figure::new("reports taken meanwhile", crowd.measured.report.count()),
            Figure::new(
                "heartbeat p99 while overloaded",
                format!("{:?}", crowd.measured.heartbeat.p99()),
            ),
            Figure::new("standings answered while overloaded", crowd.answered),
            Figure::new("standings, slowest", format!("{:?}", crowd.slowest)),
            Figure::new("messages to the slowest watcher", crowd.watched),
            Figure::new("coordinator, MiB at most", peak),
            Figure::new("CPU µs a game before", before.cpu_us()),
            Figure::new("CPU µs a game after", again.cpu_us()),
            Figure::new("acknowledged games found again", acknowledged.count()),
        ]))
    }
}

/// The results of the overload.
struct Crowd {
    tournament: String,
    measured: Measured,
    silent: Silent,
    /// How often standings were requested and returned.
    answered: u64,
    slowest: Duration,
    /// Messages to the watcher that received fewest.
    watched: u64,
}

impl Overload {
    fn coordinator(&self, world: &World) -> Server {
        let queue = self.report_queue.to_string();
        world.coordinator("data", &["--audit", "0", "--report-queue", &queue])
    }

    /// A fleet with normal load, several times, each to the end of a tournament.
    fn calm(
        &self,
        world: &World,
        coordinator: &Server,
        name: &'static str,
        acknowledged: &mut Acknowledged,
    ) -> Result<Calm, Broken> {
        let url = coordinator.url();
        let mut calm = Calm::new(name);
        for spell in 1..=calm::SPELLS {
            let (id, book) = start(world, &url, &format!("{name}-{spell}"), self.calm_games)?;
            let fleet = calm_fleet(&url, coordinator).book(book);
            let measured = fleet.run(&to_the_end(id)).map_err(broken)?;
            acknowledged.add(&measured);
            calm.add(measured);
        }
        Ok(calm)
    }

    /// A fleet with normal load, together with stalled reports.
    fn beside_stalled(
        &self,
        world: &World,
        coordinator: &Server,
        wrong: &mut Vec<String>,
    ) -> Result<Measured, Broken> {
        let url = coordinator.url();
        let (id, book) = start(world, &url, "stalled", self.calm_games / 10)?;
        thread::scope(|scope| {
            let stalled = scope.spawn(|| fleet::stalled_reports(&url, self.stalled));
            until("reports that hold all the room", || {
                (coordinator.metric("arena_report_queue_games", &[]) > 0.0 || stalled.is_finished())
                    .then_some(())
            });
            let fleet = calm_fleet(&url, coordinator).book(book);
            let measured = fleet.run(&to_the_end(id)).map_err(broken)?;
            let given_up = joined(stalled).map_err(broken)?;
            let codes = [Code::DeadlineExceeded, Code::ResourceExhausted];
            let fine = given_up
                .iter()
                .filter(|status| codes.contains(&status.code()));
            if fine.count() != self.stalled {
                wrong.push(format!("stalled reports: {given_up:?}"));
            }
            Ok(measured)
        })
    }

    /// Plays the remaining games.
    fn after(&self, coordinator: &Server, tournament: &str) -> Result<Measured, Broken> {
        let url = coordinator.url();
        let fleet = calm_fleet(&url, coordinator);
        fleet
            .run(&to_the_end(tournament.to_owned()))
            .map_err(broken)
    }

    fn rude_fleet(&self, url: &str) -> Fleet {
        Fleet::new(url)
            .workers(self.workers)
            .report_games(100)
            .reports_in_flight(self.reports)
            .remember()
            .rude()
    }

    fn crowd(
        &self,
        world: &World,
        coordinator: &Server,
        calm: &Calm,
        wrong: &mut Vec<String>,
    ) -> Result<Crowd, Broken> {
        let sent = self.workers as u64 * self.reports as u64 * 100;
        if sent < 10 * self.report_queue {
            return Err(Broken::new(format!(
                "{sent} games at a time are less than ten times what may wait"
            )));
        }
        let url = coordinator.url();
        // More games than the fleet can play in the time.
        let games = (calm.rate() * self.seconds as f64 * 1.5) as u64 + 2 * sent;
        let (tournament, book) = start(world, &url, "crowd", games)?;
        let silent = Silent::connect(coordinator.listen(), self.silent).map_err(broken)?;
        let worker = world.worker(coordinator, &["--capacity", "64"]);
        let end = Arc::new(AtomicBool::new(false));
        let fleet = self.rude_fleet(&url).book(book).process(coordinator.id());
        let (fleets, watched, answered, slowest) = thread::scope(|scope| {
            let watching = scope.spawn(|| fleet::watch(&url, &tournament, self.watchers, &end));
            let reported = Until::Flagged(end.clone());
            let working = scope.spawn(move || fleet.run(&reported));
            let started = Instant::now();
            let (mut answered, mut slowest) = (0_u64, Duration::ZERO);
            while started.elapsed() < Duration::from_secs(self.seconds) && !working.is_finished() {
                let asked = Instant::now();
                let standings = ["standings", &tournament, "--coordinator", &url];
                let output = world.arena(&standings);
                if output.code == Some(0) {
                    answered += 1;
                    slowest = slowest.max(asked.elapsed());
                } else {
                    wrong.push(format!("overloaded: {}", output.transcript()));
                    break;
                }
            }
            end.store(true, Ordering::Relaxed);
            (joined(working), joined(watching), answered, slowest)
        });
        worker.stop();
        let measured = fleets.map_err(broken)?;
        judge_crowd(&measured, wrong);
        Ok(Crowd {
            tournament,
            measured,
            silent,
            answered,
            slowest,
            watched: watched.map_err(broken)?,
        })
    }

    /// Kills the coordinator during another overload, and restarts it.
    fn cut(&self, world: &World, coordinator: Server) -> Result<Measured, Broken> {
        let url = coordinator.url();
        let games = self.workers as u64 * self.reports as u64 * 100 * 3;
        let (_, book) = start(world, &url, "cut", games)?;
        let end = Arc::new(AtomicBool::new(false));
        let reported = Until::Flagged(end.clone());
        let fleet = self.rude_fleet(&url).book(book);
        let measured = thread::scope(|scope| {
            let working = scope.spawn(move || fleet.run(&reported));
            let done = || coordinator.metric("arena_reports_total", &["new"]);
            let before = done();
            until("games of the last crowd", || {
                (done() > before + 500.0 || working.is_finished()).then_some(())
            });
            coordinator.kill();
            end.store(true, Ordering::Relaxed);
            joined(working)
        });
        measured.map_err(broken)
    }
}

fn broken(error: FleetError) -> Broken {
    Broken::new(error)
}

fn joined<T>(thread: thread::ScopedJoinHandle<'_, T>) -> T {
    thread
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn to_the_end(tournament: String) -> Until {
    Until::Finished {
        tournament,
        limit: CALM_MAX,
    }
}

fn calm_fleet(url: &str, coordinator: &Server) -> Fleet {
    Fleet::new(url)
        .workers(5)
        .report_games(100)
        .remember()
        .process(coordinator.id())
}

/// Starts a tournament with at least this many games, and plays them in advance.
fn start(world: &World, url: &str, name: &str, games: u64) -> Result<(String, Arc<Book>), Broken> {
    let spec = fleet::cheap_spec(name, games.div_ceil(2));
    let id = world.start_tournament(name, &spec, url);
    let book = fleet::tournament(url, &id).and_then(|found| Book::new(&found));
    let book = Arc::new(book.map_err(broken)?);
    book.prepare(games, 2).map_err(broken)?;
    Ok((id, book))
}

fn judge_crowd(crowd: &Measured, wrong: &mut Vec<String>) {
    if crowd.refusals == 0 {
        wrong.push("nothing was refused: the coordinator was not overloaded".to_owned());
    }
    if crowd.refusals_with_hint < crowd.refusals {
        wrong.push(format!(
            "only {} of {} refusals had a time to retry",
            crowd.refusals_with_hint, crowd.refusals
        ));
    }
    let lost = (crowd.leases_ended, crowd.rejoins, crowd.retries);
    if lost != (0, 0, 0) || !crowd.rejected.is_empty() {
        wrong.push(format!(
            "overloaded: {} leases were revoked, {} connections lost, {} calls failed \
             otherwise, refused permanently: {:?}",
            lost.0, lost.1, lost.2, crowd.rejected
        ));
    }
    if crowd.games == 0 || crowd.heartbeat.count() == 0 {
        wrong.push("overloaded: nothing was acknowledged".to_owned());
    }
}
