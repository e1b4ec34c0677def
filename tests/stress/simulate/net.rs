//! Time and the network: one queue of events.

use std::{
    cmp::Reverse,
    collections::{BTreeSet, BinaryHeap},
    fmt,
    rc::Rc,
};

use arena_coordinator::ledger::{Assigned, LeaseId, WorkerId};
use arena_worker::protocol::{CallNo, Refusal, ReportNo, StayNo};

use super::{
    counts::{Counts, Happening},
    random::Random,
    users::Request,
};

/// One second; all times are microseconds.
pub(super) const SECOND: u64 = 1_000_000;
pub(super) const MILLI: u64 = 1_000;

/// A reported game; the hash 0 means that it could not be played.
pub(super) type Played = (u64, u64);

/// A worker in the coordinator's view, and the coordinator's start.
pub(super) type Known = (WorkerId, u64);

/// The caller: a worker's index and the number of its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Life {
    pub(super) place: usize,
    pub(super) life: u32,
}

impl Life {
    /// The id that a process draws at its start.
    pub(super) fn process(self) -> u64 {
        (self.place as u64 + 1) << 32 | u64::from(self.life)
    }
}

#[derive(Clone, Debug)]
pub(super) enum Up {
    /// With the process's number and its capacity in games.
    Join(StayNo, u64, usize),
    Ask {
        call: CallNo,
        known: Known,
        wanted: usize,
        wait: u64,
    },
    Report {
        report: ReportNo,
        attempt: u32,
        known: Known,
        lease: LeaseId,
        tournament: usize,
        games: Rc<[Played]>,
    },
    Beat {
        stay: StayNo,
        known: Known,
        leases: Rc<[(LeaseId, u64)]>,
        settled: CallNo,
    },
    /// The worker leaves in order.
    Leave(Known),
}

#[derive(Clone, Debug)]
pub(super) enum Down {
    Welcome {
        stay: StayNo,
        known: Known,
        deadline: u64,
    },
    Ended(StayNo, LeaseId),
    Stops(StayNo),
    Leased(CallNo, Option<Leased>),
    NotLeased(CallNo, Refusal),
    Reported(ReportNo, u32),
    NotReported(ReportNo, u32, Refusal),
    Beaten(StayNo, Rc<[LeaseId]>),
    NotBeaten(StayNo, Refusal),
    TookLeave,
    /// A session has ended, or was not opened.
    Parted(StayNo, Refusal),
}

#[derive(Clone, Debug)]
pub(super) struct Leased {
    pub(super) lease: LeaseId,
    pub(super) tournament: usize,
    pub(super) games: Rc<[Assigned]>,
    pub(super) given_up: Rc<[u16]>,
}

#[derive(Clone, Debug)]
pub(super) enum Event {
    Up(Life, Up),
    Down(Life, Down),
    /// A worker wakes up.
    Wake(Life),
    /// A join timed out.
    NotWelcome(Life, StayNo),
    /// A game has ended.
    Over(Life, u64),
    StartWorker(usize),
    /// The connection of a worker broke, and the worker notices.
    Lost(Life),
    /// The coordinator learns that a stream ended.
    Gone(Life, StayNo),
    /// If the link is still cut, both sides notice.
    KeepAlive(usize),
    Tick(u32),
    Committed(u32),
    /// The games of a report are compared with their durable records.
    Compared(u32, u64),
    StartCoordinator,
    CrashCoordinator(u32),
    CrashAtVoid(u32),
    CrashWorker(Life),
    User(Request),
    Answer(u32),
    AskAgain(u32, u32),
    /// Advances the time.
    Nothing,
}

struct Entry {
    at: u64,
    number: u64,
    event: Event,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}

/// The link between the coordinator and one worker.
#[derive(Clone, Copy, Default)]
pub(super) struct Link {
    /// No message reaches the coordinator before this time.
    pub(super) up_cut: u64,
    pub(super) down_cut: u64,
    /// When the last message sent so far arrives.
    latest: u64,
}

/// Failure rates of the network, in thousandths of the messages.
#[derive(Clone, Copy, Default)]
pub(super) struct Weather {
    pub(super) drop: u64,
    pub(super) duplicate: u64,
    pub(super) delay: u64,
}

pub(super) struct Net {
    pub(super) now: u64,
    pub(super) random: Random,
    pub(super) counts: Counts,
    pub(super) weather: Weather,
    /// One link for each worker; the last one is for users.
    pub(super) links: Vec<Link>,
    pub(super) trace: bool,
    /// Agents that a start of the coordinator charged with not starting, and their tournaments:
    /// such results may be reported later.
    pub(super) charged: BTreeSet<(usize, u16)>,
    /// Whether the coordinator ends once it has informed a worker of a void game, even after other
    /// failures; most games fail until then.
    pub(super) crash_at_void: bool,
    /// Whether the next worker whose audits are compared ends during the comparison.
    pub(super) crash_in_comparison: bool,
    queue: BinaryHeap<Reverse<Entry>>,
    numbers: u64,
}

/// Prints an event, if tracing is on.
macro_rules! trace_event {
    ($net:expr, $($what:tt)+) => {
        if $net.trace {
            $net.print(&format_args!($($what)+));
        }
    };
}
pub(super) use trace_event;

impl Net {
    pub(super) fn new(random: Random, workers: usize, weather: Weather, trace: bool) -> Self {
        Self {
            now: 0,
            random,
            counts: Counts::default(),
            weather,
            links: vec![Link::default(); workers + 1],
            trace,
            charged: BTreeSet::new(),
            crash_at_void: false,
            crash_in_comparison: false,
            queue: BinaryHeap::with_capacity(64),
            numbers: 0,
        }
    }

    #[expect(clippy::print_stderr, reason = "asked for")]
    pub(super) fn print(&self, what: &fmt::Arguments<'_>) {
        eprintln!("{:>13.6} s  {what}", self.now as f64 / 1e6);
    }

    pub(super) fn at(&mut self, at: u64, event: Event) {
        self.numbers += 1;
        self.queue.push(Reverse(Entry {
            at: at.max(self.now),
            number: self.numbers,
            event,
        }));
    }

    pub(super) fn after(&mut self, wait: u64, event: Event) {
        self.at(self.now + wait, event);
    }

    pub(super) fn next(&mut self) -> Option<Event> {
        let Reverse(entry) = self.queue.pop()?;
        self.now = entry.at;
        Some(entry.event)
    }

    pub(super) fn up(&mut self, from: Life, message: Up) {
        trace_event!(self, "worker {} -> {message:?}", from.place);
        let cut = self.links[from.place].up_cut;
        self.send(from.place, cut, Event::Up(from, message));
    }

    pub(super) fn down(&mut self, to: Life, message: Down) {
        trace_event!(self, "coordinator -> worker {} {message:?}", to.place);
        let cut = self.links[to.place].down_cut;
        self.send(to.place, cut, Event::Down(to, message));
    }

    /// The link between a user and the coordinator.
    pub(super) fn user(&mut self, event: Event) {
        let link = self.links.len() - 1;
        self.send(link, 0, event);
    }

    /// Sends a message over a good or a bad network.
    fn send(&mut self, link: usize, cut: u64, event: Event) {
        let Weather {
            drop,
            duplicate,
            delay,
        } = self.weather;
        if self.now < cut || self.random.permille(drop) {
            self.counts.add(Happening::Drop);
            trace_event!(self, "  that is lost");
            return;
        }
        if self.random.permille(duplicate) {
            self.counts.add(Happening::Duplicate);
            self.deliver(link, delay, event.clone());
        }
        self.deliver(link, delay, event);
    }

    fn deliver(&mut self, link: usize, delay: u64, event: Event) {
        let wait = if self.random.permille(delay) {
            self.counts.add(Happening::Delay);
            self.random.between(SECOND / 2, 20 * SECOND)
        } else {
            self.random.between(MILLI / 10, 3 * MILLI)
        };
        let at = self.now + wait;
        let link = &mut self.links[link];
        if at < link.latest {
            self.counts.add(Happening::Reorder);
        }
        link.latest = link.latest.max(at);
        self.at(at, event);
    }
}
