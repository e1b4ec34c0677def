//! Clients that break the rules of TLS, HTTP/2 and gRPC, at the same time as healthy users.

mod attacks;
mod crowds;
mod rates;
mod target;
mod unfinished;

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use super::{Broken, Figure, Outcome, StressTest};
use crate::{World, h2::RawClient, spec, until, within};
use attacks::{Attack, COMPRESSED, ENCODINGS, End, FLOODS, SLOW};
use rates::Rates;
use target::Target;

/// What the memory of a coordinator may grow by during one attack. Answers that wait for their clients
/// have 32 MiB; the pages that are read meanwhile, and what the allocator keeps of them, take about 30
/// more, for any number of connections. Without these limits it is 2 MiB for each of 128 streams of a
/// connection.
const GROWTH_MIB_MAX: u64 = 128;
/// What all attacks together may leave: memory that the allocator keeps for the next requests. The same attacks
/// again, a second and a third time, leave no more.
const KEPT_MIB_MAX: u64 = 320;
/// Maximum time until the coordinator has closed what it has to close; it needs 15 s at most.
const CLOSED_MAX: Duration = Duration::from_secs(60);

/// The size of the attacks.
#[derive(Debug, clap::Args)]
pub struct Abuse {
    /// Connections of each attack
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..))]
    connections: u64,
    /// Frames that each connection of a flood sends
    #[arg(long, default_value_t = 50_000)]
    frames: usize,
    /// Connections at a time that only wait, and are made again when they are closed
    #[arg(long, default_value_t = 10_000)]
    crowd: usize,
    /// New connections of a healthy user during the stalls
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..))]
    connects: u64,
    /// Replacements of the certificate
    #[arg(long, default_value_t = 100)]
    rotations: usize,
    /// Calls before and after all attacks, to measure their rate
    #[arg(long, default_value_t = 2_000)]
    calls: usize,
    /// Seconds for which answers stay unread
    #[arg(long, default_value_t = 20)]
    unread_seconds: u64,
    /// Maximum of the 99th percentile of a healthy connect in ms; 0: none
    #[arg(long, default_value_t = 100)]
    p99_ms_max: u64,
    /// Only attacks whose name contains this
    #[arg(long, default_value = "")]
    only: String,
}

impl StressTest for Abuse {
    const PROMISE: &'static str = "clients that stall, flood, or read nothing, with and without TLS \
        and tokens, fail no call of others; memory and descriptors stay bounded, and calls are as \
        fast again afterwards";

    fn quick() -> Self {
        Self {
            connections: 1,
            frames: 10_000,
            crowd: 500,
            connects: 40,
            rotations: 2,
            calls: 500,
            unread_seconds: 1,
            p99_ms_max: 0,
            only: String::new(),
        }
    }

    fn run(&self) -> Result<Outcome, Broken> {
        crate::fleet::raise_file_limit();
        let world = World::new();
        let spec = spec("pages", "cowry", 600, &["random", "aggressive"], "");
        let (tournament, _, _) = world.tournament(&spec, "plain", &[]);
        let mut copy = world.command("cp");
        copy.args(["-r", "plain", "encrypted"]);
        let _ = world.run(copy).ok();
        let _ = world.arena(&["tls", "init", "tls"]).ok();
        let unread = Duration::from_secs(self.unread_seconds);
        let mut copy = world.command("cp");
        copy.args(["-r", "plain", "control"]);
        let _ = world.run(copy).ok();
        // It is never attacked.
        let control = Target::start(&world, "control", &tournament, false, unread)?;
        let start = |data, is_tls| {
            let target = Target::start(&world, data, &tournament, is_tls, unread)?;
            let before = Rates::before(&target, &control, self.calls)?;
            Ok::<_, Broken>((target, before))
        };
        let targets = [start("plain", false)?, start("encrypted", true)?];
        // Memory and descriptors are counted for each process.
        let found = thread::scope(|scope| {
            let attacks = targets.each_ref().map(|(target, _)| {
                scope.spawn(|| {
                    let (mut figures, mut wrong) = (Vec::new(), Vec::new());
                    self.attack(target, &mut figures, &mut wrong)?;
                    Ok::<_, Broken>((figures, wrong))
                })
            });
            attacks.map(|attack| attack.join().expect("it does not panic"))
        });
        let (mut figures, mut wrong) = (Vec::new(), Vec::new());
        for ((target, before), found) in targets.into_iter().zip(found) {
            let (seen, broken) = found?;
            figures.extend(seen);
            wrong.extend(broken);
            before.after(&target, &control, &mut figures, &mut wrong)?;
            self.crowds(&target, &mut figures, &mut wrong)?;
            if target.tls.is_some() {
                self.rotate(&world, &target, &mut figures)?;
            }
            target.coordinator.stop();
        }
        control.coordinator.stop();
        world.nothing_runs();
        match wrong.is_empty() {
            true => Ok(Outcome::Holds(figures)),
            false => Err(Broken::new(wrong.join("\n"))),
        }
    }
}

#[expect(clippy::print_stderr, reason = "progress")]
fn progress(target: &Target, attack: &Attack, grown: u64) {
    let sent = target.take_count() >> 10;
    eprintln!(
        "{}: {}: {sent} KiB sent, memory grew by {grown} MiB",
        target.name, attack.name
    );
}

impl Abuse {
    /// Runs all attacks on one coordinator.
    fn attack(
        &self,
        target: &Target,
        figures: &mut Vec<Figure>,
        wrong: &mut Vec<String>,
    ) -> Result<(), Broken> {
        let files = target.baseline();
        let memory = target.memory()?.rss_bytes;
        let chosen = |attack: &&Attack| attack.name.contains(&self.only);
        let mut largest = (0, "");
        thread::scope(|scope| {
            let slow: Vec<_> = SLOW
                .iter()
                .filter(chosen)
                .flat_map(|attack| (0..self.connections).map(move |_| attack))
                .map(|attack| (attack, scope.spawn(|| attack.run(target, self.frames))))
                .collect();
            let mut held = Vec::new();
            for attack in FLOODS.iter().filter(chosen) {
                let (peers, grown) = self.flood(target, attack)?;
                progress(target, attack, grown);
                largest = largest.max((grown, attack.name));
                if grown > GROWTH_MIB_MAX {
                    wrong.push(format!(
                        "{}: {}: memory grew by {grown} MiB, more than {GROWTH_MIB_MAX}",
                        target.name, attack.name
                    ));
                }
                if attack.name == COMPRESSED && target.tls.is_none() {
                    let refused = ["method=\"other\"", "code=\"UNIMPLEMENTED\""];
                    let refused = target
                        .coordinator
                        .metric("arena_grpc_requests_total", &refused);
                    let sent = self.connections as usize * ENCODINGS.len();
                    if refused < sent as f64 {
                        wrong.push(format!("{refused} of {sent} compressed messages refused"));
                    }
                }
                if attack.end == End::Server {
                    held.extend(peers);
                }
            }
            // Threads keep their connections until they end, and these here are kept, too.
            let started = Instant::now();
            for (attack, thread) in slow {
                let left = CLOSED_MAX.saturating_sub(started.elapsed());
                let stays = attack.end == End::Server
                    && within(left, || thread.is_finished().then_some(())).is_none();
                if stays {
                    wrong.push(format!("{}: {}: it stays open", target.name, attack.name));
                }
                let peer = thread.join().expect("an attack does not panic");
                if attack.end == End::Server {
                    held.extend(peer);
                }
            }
            let left = CLOSED_MAX.saturating_sub(started.elapsed());
            if within(left, || (target.files() <= files).then_some(())).is_none() {
                wrong.push(format!(
                    "{}: {} of {} connections stay open",
                    target.name,
                    target.files().saturating_sub(files),
                    held.len()
                ));
            }
            Ok::<_, Broken>(())
        })?;
        until("the descriptors of the attacks", || {
            (target.files() <= files).then_some(())
        });
        let name = target.name;
        let kept = target.memory()?.rss_bytes.saturating_sub(memory) >> 20;
        if kept > KEPT_MIB_MAX {
            wrong.push(format!(
                "{name}: after all attacks, memory is {kept} MiB larger, more than {KEPT_MIB_MAX}"
            ));
        }
        figures.extend([
            Figure::new(&format!("{name}: largest growth, MiB"), largest.0),
            Figure::new(&format!("{name}: caused by"), largest.1),
            Figure::new(&format!("{name}: growth by all attacks, MiB"), kept),
        ]);
        Ok(())
    }

    /// Runs an attack while a healthy user makes calls. Returns the connections that are still open, and the
    /// growth of the coordinator's memory in MiB.
    fn flood(&self, target: &Target, attack: &Attack) -> Result<(Vec<RawClient>, u64), Broken> {
        target.forget_peak()?;
        let before = target.memory()?.rss_bytes;
        let mut user = target.user()?;
        let ended = AtomicBool::new(false);
        let peers = thread::scope(|scope| {
            let calling = scope.spawn(|| {
                while !ended.load(Ordering::Relaxed) {
                    user.call()?;
                    user.connect_and_call()?;
                    user.check_health()?;
                    if attack.needs_large_calls {
                        user.large_call()?;
                    }
                }
                Ok::<_, Broken>(())
            });
            let attacks: Vec<_> = (0..self.connections)
                .map(|_| scope.spawn(|| attack.run(target, self.frames)))
                .collect();
            let peers = attacks
                .into_iter()
                .filter_map(|thread| thread.join().expect("an attack does not panic"))
                .collect();
            ended.store(true, Ordering::Relaxed);
            let called = calling.join().expect("a user does not panic");
            called.map(|()| peers)
        });
        let peers = peers.map_err(|broken| broken.of(attack.name).of(target.name))?;
        let peak = target.memory()?.rss_peak_bytes;
        Ok((peers, peak.saturating_sub(before) >> 20))
    }
}
