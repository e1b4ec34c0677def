//! Signals by a seed: to which process, and when. Their effect depends on the state of the process
//! at that moment.

use std::{
    collections::BTreeMap,
    fmt, fs,
    thread::sleep,
    time::{Duration, Instant},
};

use arena_wire::AgentRng;
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

use super::{Fleet, operator::Server};
use crate::{
    World,
    stress::{Broken, Figure},
};

/// The target of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Target {
    Coordinator,
    Opening,
    Worker,
    Guard,
    Agent,
}

impl fmt::Display for Target {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Coordinator => "coordinator",
            Self::Opening => "coordinator before it listens",
            Self::Worker => "worker",
            Self::Guard => "guard",
            Self::Agent => "agent",
        })
    }
}

/// Weights of targets.
const TARGETS: [Target; 12] = [
    Target::Coordinator,
    Target::Coordinator,
    Target::Coordinator,
    Target::Worker,
    Target::Worker,
    Target::Worker,
    Target::Guard,
    Target::Guard,
    Target::Agent,
    Target::Agent,
    Target::Agent,
    Target::Agent,
];
/// Weights of signals. SIGSTOP is followed by SIGCONT.
const SIGNALS: [Signal; 4] = [
    Signal::SIGKILL,
    Signal::SIGKILL,
    Signal::SIGTERM,
    Signal::SIGSTOP,
];
/// The longest stop, in milliseconds.
const STOPPED_MS_MAX: u32 = 1500;
/// The longest time until an ended process is restarted, in milliseconds.
const DEAD_MS_MAX: u32 = 150;
/// The same for a coordinator that was killed while it opened the store.
const DEAD_OPENING_MS_MAX: u32 = 20;
/// The least duration that is assumed for opening the store.
const OPENING_MIN: Duration = Duration::from_millis(1);
/// The share of signals that kill a coordinator that opens the store: one in this many.
const OPENING_SHARE: u32 = 3;
/// If the share is this many behind, the coordinator is killed out of turn.
const BEHIND: u32 = 4;

pub(super) struct Disturber {
    /// Draws of targets, signals and times.
    rng: AgentRng,
    /// Draws of restart times and of the moment within an opening. They are separate, because their
    /// number depends on more than the seed.
    delays: AgentRng,
    gap_ms: u32,
    counts: BTreeMap<(Target, Signal), u32>,
    next: Instant,
    /// When stopped processes continue.
    stopped: Vec<(Instant, Pid)>,
    /// How long opening the store takes after locking the folder, from the last undisturbed opening
    /// and from the progress of killed ones.
    opening: Duration,
    /// Coordinators that were ended while they listened, or before.
    ended: u32,
    ended_opening: u32,
    /// How many of them had locked the folder, and were opening the store.
    ended_locked: u32,
}

impl Disturber {
    pub(super) fn new(seed: u64, gap_ms: u32) -> Self {
        Self {
            rng: AgentRng::new(seed),
            delays: AgentRng::new(!seed),
            gap_ms,
            counts: BTreeMap::new(),
            next: Instant::now(),
            stopped: Vec::new(),
            opening: Duration::from_millis(50),
            ended: 0,
            ended_opening: 0,
            ended_locked: 0,
        }
    }

    /// Signals sent so far; a stop and its continuation count once.
    pub(super) fn sent(&self) -> u32 {
        self.counts.values().sum()
    }

    /// Openings of the store that still have to be hit.
    fn behind(&self) -> u32 {
        let due = self.sent().div_ceil(OPENING_SHARE);
        due.saturating_sub(self.ended_locked)
    }

    /// Whether all `signals` were sent and enough openings were hit. It continues until they are,
    /// because the number of misses depends on how busy the machine is. There is a limit, in case
    /// they never are.
    pub(super) fn is_done(&self, signals: u32) -> bool {
        let sent = self.sent();
        sent >= signals && (self.behind() == 0 || sent >= 10 * signals)
    }

    /// Checks that a third of the signals arrived while the store was opened.
    pub(super) fn shares(&self) -> Result<(), Broken> {
        if self.behind() == 0 {
            return Ok(());
        }
        Err(Broken::new(format_args!(
            "only {} of {} signals came while a coordinator opened the store, not one of {OPENING_SHARE}",
            self.ended_locked,
            self.sent()
        )))
    }

    /// Does what is due, and waits briefly.
    pub(super) fn step(&mut self, world: &World, fleet: &mut Fleet) -> Result<(), Broken> {
        let now = Instant::now();
        self.stopped.retain(|(until, id)| {
            let over = *until <= now;
            if over {
                go_on(*id);
            }
            !over
        });
        for worker in &mut fleet.workers {
            if worker.look()? {
                worker.again(self.dead());
            }
            if worker.is_due() {
                worker.start(world);
            }
        }
        if fleet.coordinator.look()? {
            fleet.coordinator.again(self.dead());
            self.ended += 1;
        }
        if fleet.coordinator.is_due() {
            if self.behind() > 0 {
                self.kill_opening(world, &mut fleet.coordinator)?;
            } else {
                self.open(world, &mut fleet.coordinator)?;
            }
        }
        if now >= self.next {
            self.disturb(world, fleet);
            self.next = now + moment(&mut self.rng, self.gap_ms);
        }
        sleep(Duration::from_millis(2));
        Ok(())
    }

    fn dead(&mut self) -> Duration {
        moment(&mut self.delays, DEAD_MS_MAX)
    }

    fn disturb(&mut self, world: &World, fleet: &mut Fleet) {
        let mut target = self.rng.pick(&TARGETS);
        let mut signal = self.rng.pick(&SIGNALS);
        if self.behind() >= BEHIND {
            (target, signal) = (Target::Coordinator, Signal::SIGKILL);
        }
        let stopped = moment(&mut self.rng, STOPPED_MS_MAX);
        let id = match target {
            Target::Coordinator | Target::Opening => {
                let server = &mut fleet.coordinator;
                server.signal(signal);
                server.id()
            }
            Target::Worker => {
                let number = self.rng.below(fleet.workers.len() as u32);
                let server = &mut fleet.workers[number as usize];
                server.signal(signal);
                server.id()
            }
            Target::Guard | Target::Agent => {
                let found = below(world, target);
                let id = (!found.is_empty()).then(|| self.rng.pick(&found));
                // An error means that it has just ended.
                id.filter(|id| kill(Pid::from_raw(*id), signal).is_ok())
                    .map(|id| id as u32)
            }
        };
        let Some(id) = id else { return };
        *self.counts.entry((target, signal)).or_default() += 1;
        if signal == Signal::SIGSTOP {
            let id = Pid::from_raw(id as i32);
            self.stopped.push((Instant::now() + stopped, id));
        }
    }

    /// Starts the coordinator and kills it while it opens the store.
    fn kill_opening(&mut self, world: &World, server: &mut Server) -> Result<(), Broken> {
        server.start(world);
        let id = server.id();
        let started = Instant::now();
        while holder(world) != id && started.elapsed() < Duration::from_secs(1) {
            sleep(Duration::from_micros(200));
        }
        let opening = self.opening.as_millis() as u32;
        sleep(moment(&mut self.delays, opening.max(1)));
        let locked = holder(world) == id;
        server.signal(Signal::SIGKILL);
        server.end()?;
        server.again(moment(&mut self.delays, DEAD_OPENING_MS_MAX));
        let target = if server.listens().is_none() {
            self.ended_opening += 1;
            self.ended_locked += u32::from(locked);
            // The next opening may get further.
            self.opening += self.opening / 8;
            Target::Opening
        } else {
            self.ended += 1;
            // Openings have become shorter.
            self.opening = (self.opening / 2).max(OPENING_MIN);
            Target::Coordinator
        };
        *self.counts.entry((target, Signal::SIGKILL)).or_default() += 1;
        Ok(())
    }

    /// Starts the coordinator, and measures how long it opens the store.
    fn open(&mut self, world: &World, server: &mut Server) -> Result<(), Broken> {
        server.start(world);
        let id = server.id();
        let mut locked = None;
        while server.listens().is_none() {
            if locked.is_none() && holder(world) == id {
                locked = Some(Instant::now());
            }
            if server.look()? {
                return Err(Broken::new(server.log()));
            }
            sleep(Duration::from_micros(500));
        }
        if let Some(locked) = locked {
            self.opening = locked.elapsed();
        }
        Ok(())
    }

    /// Continues everything that is stopped, and restarts everything that has ended.
    pub(super) fn calm(&mut self, world: &World, fleet: &mut Fleet) -> Result<(), Broken> {
        for (_, id) in self.stopped.drain(..) {
            go_on(id);
        }
        for server in fleet.servers() {
            if server.is_to_end() {
                server.end()?;
            }
            if !server.runs() {
                server.start(world);
            }
        }
        fleet.listening()
    }

    pub(super) fn figures(&self, fleet: &mut Fleet) -> Vec<Figure> {
        let mut figures = vec![Figure::new("signals", self.sent())];
        for ((target, signal), count) in &self.counts {
            figures.push(Figure::new(&format!("{signal} to {target}"), *count));
        }
        let ended = self.ended + self.ended_opening;
        figures.push(Figure::new(
            "ends of a coordinator, of them before it listened",
            format!("{ended}, {}", self.ended_opening),
        ));
        figures.push(Figure::new(
            "of those, with the folder's lock taken",
            self.ended_locked,
        ));
        let starts = fleet.servers().map(|server| server.starts.to_string());
        let starts: Vec<_> = starts.collect();
        figures.push(Figure::new(
            "starts of the coordinator and each worker",
            starts.join(", "),
        ));
        figures
    }
}

fn moment(rng: &mut AgentRng, ms_max: u32) -> Duration {
    Duration::from_micros(u64::from(rng.below(ms_max * 1000)))
}

fn go_on(id: Pid) {
    // An error means that it has ended.
    let _ = kill(id, Signal::SIGCONT);
}

/// The process that locks the data folder, or the last one that did.
fn holder(world: &World) -> Option<u32> {
    let text = fs::read_to_string(world.folder().join("data/lock")).ok()?;
    text.trim().parse().ok()
}

/// Running guards or agents.
fn below(world: &World, target: Target) -> Vec<i32> {
    let processes = world.processes().into_iter();
    processes
        .filter(|(_, line)| {
            let guard = line.contains(" agent guard ");
            let agent = line.contains(" agent serve") || line.contains("greedy");
            match target {
                // The second stage of a guard is about to become the agent.
                Target::Guard => guard && !line.contains("--exec-under"),
                _ => agent && !guard,
            }
        })
        .map(|(id, _)| id)
        .collect()
}
