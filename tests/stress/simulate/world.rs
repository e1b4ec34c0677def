//! A small world: one coordinator, some workers and users, and failures for some time. Then every
//! tournament has to end correctly.

mod blows;
mod end;
mod life;

use std::time::Duration;

use arena_coordinator::ledger::{LedgerSettings, State};
use arena_wire::ATTEMPTS_MAX;
use arena_worker::protocol::{Ending, Refusal};

use super::{
    coordinator::{Coordinator, HOST_GRACE_PERIOD, Wrong, refused},
    counts::{Counts, Happening},
    disk::{Disk, Job},
    games::{Host, Spec},
    net::{Event, Life, MILLI, Net, SECOND, trace_event},
    random::Random,
    trouble::Trouble,
    users::{Op, User},
    worker::Worker,
};

/// The time to finish after the last failure, in addition to the time of all attempts at all games
/// in sequence.
const END: u64 = 1200 * SECOND;
/// More events than any schedule needs.
const EVENTS_MAX: u64 = 200_000;

struct Place {
    worker: Option<Worker>,
    life: u32,
    capacity: usize,
    host: Host,
}

pub(super) struct World {
    net: Net,
    disk: Disk,
    specs: Vec<Spec>,
    settings: LedgerSettings,
    coordinator: Option<Coordinator>,
    boot: u32,
    places: Vec<Place>,
    users: Vec<User>,
    trouble: Trouble,
    /// When the failures ended.
    calm: Option<u64>,
    events: u64,
    /// Durable games of tournaments whose cancellation was answered.
    cancelled: Vec<Option<usize>>,
    crashed_in_write: bool,
    /// The number of leases until their worker is stopped in order.
    rolling: u64,
}

impl World {
    pub(super) fn new(seed: u64, trace: bool) -> Self {
        let mut random = Random::new(seed);
        let trouble = Trouble::draw(&mut random);
        let mut specs: Vec<Spec> = (0..random.between(1, 2))
            .map(|_| Spec::draw(&mut random))
            .collect();
        let mut users = Vec::new();
        for place in 0..specs.len() {
            let again = random.permille(200).then_some(specs.len());
            if again.is_some() {
                specs.push(specs[place].again(place));
            }
            users.push(User::draw(&mut random, place, again, trouble.until));
        }
        let mut places: Vec<Place> = (0..random.between(1, 4))
            .map(|_| Place {
                worker: None,
                life: 0,
                capacity: random.between(1, 8) as usize,
                host: Host::Good,
            })
            .collect();
        // Results may depend on what a host lacks, but stages must not.
        if !specs.iter().any(Spec::has_stages) && random.permille(400) {
            for place in places.iter_mut().skip(1) {
                if random.permille(600) {
                    place.host = Host::draw(&mut random);
                }
            }
        }
        let settings = LedgerSettings {
            lease_deadline: Duration::from_secs(random.pick(&[2, 5, 10])),
            audit_ppm: random.pick(&[0, 0, 0, 200_000, 1_000_000]),
            doubts_workers: true,
            host_grace_period: HOST_GRACE_PERIOD,
        };
        let disk = Disk::new(specs.iter().map(|spec| spec.games));
        let mut net = Net::new(random, places.len(), trouble.weather, trace);
        net.at(0, Event::StartCoordinator);
        for place in 0..places.len() {
            let wait = net.random.below(SECOND);
            net.at(wait, Event::StartWorker(place));
        }
        for at in 1..=40 {
            net.at(at * 250 * MILLI, Event::Nothing);
        }
        Self {
            cancelled: vec![None; specs.len()],
            net,
            disk,
            specs,
            settings,
            coordinator: None,
            boot: 0,
            places,
            users,
            trouble,
            calm: None,
            events: 0,
            crashed_in_write: false,
            rolling: 0,
        }
    }

    /// Plays the schedule, and returns the counts of its events.
    pub(super) fn run(mut self) -> Result<Counts, Wrong> {
        while !(self.calm.is_some() && self.is_over()) {
            if self.calm.is_none() && (self.events >= self.trouble.until || self.is_over()) {
                self.clear_up();
            }
            while let Some(blow) = self.trouble.strike(self.events) {
                self.strike(blow)?;
            }
            for user in &mut self.users {
                user.go_on(&mut self.net, self.events, self.calm.is_some());
            }
            let Some(event) = self.net.next() else {
                return Err(format!("no event is left: {}", self.transcript()));
            };
            // Most ticks have nothing to do.
            self.events += u64::from(!matches!(event, Event::Tick(_)));
            self.handle(event)?;
            if let Some(wrong) = self.disk.wrong.take() {
                return Err(wrong);
            }
            let since = self.calm.map_or(u64::MAX, |since| since + END);
            let late = self.net.now > since && self.net.now > since + self.all_attempts();
            if late || self.events > EVENTS_MAX {
                return Err(format!("it does not end: {}", self.transcript()));
            }
        }
        self.check()?;
        let coordinator = self.coordinator.as_ref();
        let audited = |place| coordinator.and_then(|it| it.audited(place));
        let given_up = (0..self.specs.len()).filter_map(audited);
        let given_up: u64 = given_up.map(|reported| reported.given_up).sum();
        let mut counts = self.net.counts;
        counts.of[Happening::AuditGivenUp as usize] += given_up;
        counts.schedules = 1;
        counts.events = self.events;
        counts.games = self.specs.iter().map(|spec| spec.games as u64).sum();
        counts.virtual_us = self.net.now;
        counts.crashed_in_write = u64::from(self.crashed_in_write);
        Ok(counts)
    }

    /// Ends all failures.
    fn clear_up(&mut self) {
        trace_event!(self.net, "the trouble is over");
        self.calm = Some(self.net.now);
        while self.trouble.strike(u64::MAX).is_some() {}
        self.net.weather = super::net::Weather::default();
        for link in &mut self.net.links {
            (link.up_cut, link.down_cut) = (0, 0);
        }
        self.disk.failure = None;
        self.disk.crash_in_write = false;
        self.disk.slow = false;
        self.net.crash_in_comparison = false;
    }

    /// The time of all attempts at all games.
    fn all_attempts(&self) -> u64 {
        let of = |spec: &Spec| {
            (0..spec.games as u64)
                .map(|index| spec.takes(index))
                .sum::<u64>()
        };
        u64::from(ATTEMPTS_MAX) * self.specs.iter().map(of).sum::<u64>()
    }

    /// Whether each player has another worker to audit it. A host that lacks something is tried
    /// less and less often, which would take long.
    fn can_audit(&self) -> bool {
        let places = self.places.iter().enumerate();
        let able = |&(place, it): &(usize, &Place)| {
            it.host == Host::Good && self.specs.iter().all(|spec| spec.suits(place))
        };
        places.filter(able).count() > 1
    }

    fn is_over(&self) -> bool {
        // Every tournament was started, and its start was answered.
        let ended = |state| matches!(state, Some(State::Finished | State::Cancelled));
        // A worker does not audit itself.
        let audits = |coordinator: &Coordinator| self.can_audit() && coordinator.audits_wait();
        self.users.iter().all(User::is_done)
            && self.disk.kept.iter().all(|kept| ended(kept.state))
            && (self.coordinator.as_ref()).is_some_and(|it| it.is_quiet() && !audits(it))
            && self
                .places
                .iter()
                .all(|place| place.worker.as_ref().is_some_and(Worker::is_quiet))
    }

    /// Describes the progress of everything.
    fn transcript(&self) -> String {
        let tournaments = self.disk.kept.iter().map(|kept| {
            let done = kept.games.iter().filter(|hash| **hash != 0).count();
            format!("{:?} with {done} of {} games", kept.state, kept.games.len())
        });
        let quiet = |place: &Place| match &place.worker {
            Some(worker) if worker.is_quiet() => "idle",
            Some(_) => "busy",
            None => "gone",
        };
        format!(
            "tournaments {:?}, coordinator here: {}, workers {:?}, {} events",
            tournaments.collect::<Vec<_>>(),
            self.coordinator.is_some(),
            self.places.iter().map(quiet).collect::<Vec<_>>(),
            self.events
        )
    }

    fn handle(&mut self, event: Event) -> Result<(), Wrong> {
        match event {
            Event::Up(who, message) => {
                if let Some(coordinator) = &mut self.coordinator {
                    let join = matches!(message, super::net::Up::Join(..));
                    coordinator.hear(&mut self.net, who, message.clone());
                    self.coordinate()?;
                    if join {
                        self.check_presence(who, &message);
                    }
                } else {
                    let answer = refused(&message, Refusal::Failed);
                    self.net.down(who, answer);
                }
            }
            Event::Down(who, message) => {
                let leased = matches!(message, super::net::Down::Leased(_, Some(_)));
                self.work(who, |worker, net| {
                    worker.hear(net, message);
                });
                if leased && self.rolling > 0 {
                    self.rolling -= 1;
                    self.work(who, |worker, net| worker.drain(net));
                }
            }
            Event::NotWelcome(who, stay) => {
                self.work(who, |worker, net| worker.not_welcome(net, stay));
            }
            Event::Wake(who) => {
                let now = self.net.now;
                let awake = |worker: &Worker| worker.who == who && worker.is_due(now);
                if self.places[who.place].worker.as_ref().is_some_and(awake) {
                    self.work(who, |_, _| {});
                }
            }
            Event::Over(who, token) => self.over(who, token),
            Event::StartWorker(place) => {
                let Place { worker, life, .. } = &mut self.places[place];
                if worker.is_none() {
                    *life += 1;
                    let who = Life { place, life: *life };
                    let Place { capacity, host, .. } = self.places[place];
                    match host {
                        Host::Good => {}
                        Host::Bad => self.net.counts.add(Happening::BadHost),
                        Host::Lacks(_) => self.net.counts.add(Happening::LackingHost),
                    }
                    let worker = Worker::start(&mut self.net, who, capacity, host);
                    self.places[place].worker = Some(worker);
                }
            }
            Event::Lost(who) => self.work(who, |worker, net| worker.lost(net)),
            Event::Gone(who, stay) => {
                if let Some(coordinator) = &mut self.coordinator {
                    coordinator.gone(who, stay);
                    self.coordinate()?;
                }
            }
            Event::KeepAlive(place) => self.keep_alive(place)?,
            Event::Tick(boot) => {
                let net = &mut self.net;
                if let Some(coordinator) = self.coordinator.as_mut().filter(|it| it.boot == boot)
                    && coordinator.take_due(net)
                {
                    self.coordinate()?;
                }
            }
            Event::Compared(boot, number) => {
                if let Some(coordinator) = self.coordinator.as_mut().filter(|it| it.boot == boot) {
                    coordinator.compared(number);
                    self.coordinate()?;
                }
            }
            Event::Committed(boot) => {
                if self.this_boot(boot).is_some() {
                    self.committed(boot)?;
                }
            }
            Event::StartCoordinator => {
                if self.coordinator.is_none() {
                    self.boot += 1;
                    let (net, disk) = (&mut self.net, &self.disk);
                    let started =
                        Coordinator::start(net, disk, &self.specs, self.settings, self.boot);
                    self.coordinator = Some(started);
                    self.coordinate()?;
                }
            }
            Event::CrashCoordinator(boot) => {
                if self.this_boot(boot).is_some() && self.calm.is_none() {
                    self.crash_coordinator();
                }
            }
            Event::CrashAtVoid(boot) => {
                if self.this_boot(boot).is_some() {
                    self.crash_coordinator();
                }
            }
            Event::CrashWorker(who) => {
                let worker = self.places[who.place].worker.as_ref();
                if worker.is_some_and(|worker| worker.who == who) && self.calm.is_none() {
                    self.net.counts.add(Happening::WorkerCrash);
                    self.end_worker(who.place);
                }
            }
            Event::User(request) => {
                if let Some(coordinator) = &mut self.coordinator {
                    coordinator.hear_user(request);
                    self.coordinate()?;
                }
            }
            Event::Answer(id) => {
                let answered = self.users.iter_mut().find_map(|user| user.answered(id));
                if let Some(request) = answered {
                    self.note(request.op, request.tournament)?;
                }
            }
            Event::AskAgain(id, tries) => {
                for user in &mut self.users {
                    user.ask_again(&mut self.net, id, tries);
                }
            }
            Event::Nothing => {}
        }
        Ok(())
    }

    /// Handles an answer to a user.
    fn note(&mut self, op: Op, tournament: usize) -> Result<(), Wrong> {
        let kept = &self.disk.kept[tournament];
        if op == Op::Start && kept.state.is_none() {
            return Err(format!("the start of tournament {tournament} was lost"));
        }
        if op == Op::Cancel && kept.state == Some(State::Cancelled) {
            let durable = kept.games.iter().filter(|hash| **hash != 0).count();
            self.cancelled[tournament].get_or_insert(durable);
        }
        if op == Op::Start && self.specs[tournament].again_of.is_some() {
            self.net.counts.add(Happening::Again);
        }
        Ok(())
    }

    fn this_boot(&self, boot: u32) -> Option<&Coordinator> {
        self.coordinator.as_ref().filter(|it| it.boot == boot)
    }

    /// Lets the coordinator do its pending work.
    fn coordinate(&mut self) -> Result<(), Wrong> {
        let Some(coordinator) = &mut self.coordinator else {
            return Ok(());
        };
        coordinator.go_on(&mut self.net, &mut self.disk)?;
        if coordinator.has_drained(&self.net) {
            self.net.counts.add(Happening::CoordinatorStop);
            self.end_coordinator();
        }
        Ok(())
    }

    fn committed(&mut self, boot: u32) -> Result<(), Wrong> {
        let Some(coordinator) = &mut self.coordinator else {
            return Ok(());
        };
        let commit = self.disk.committed(&mut self.net, boot);
        let document = commit
            .as_ref()
            .is_ok_and(|jobs| jobs.iter().any(Job::is_document));
        if !coordinator.committed(&mut self.net, commit) {
            self.end_coordinator();
            return Ok(());
        }
        if document {
            coordinator.unblock(&mut self.net, &self.disk, &self.specs)?;
        }
        self.coordinate()
    }

    /// The stream of a join without a client ends by itself.
    fn check_presence(&mut self, who: Life, message: &super::net::Up) {
        let super::net::Up::Join(stay, ..) = *message else {
            return;
        };
        let worker = self.places[who.place].worker.as_ref();
        let waits = worker.is_some_and(|it| it.who == who && it.stay() == Some(stay));
        if !waits {
            let wait = self.net.random.between(SECOND, 10 * SECOND);
            self.net.after(wait, Event::Gone(who, stay));
        }
    }

    /// Gives an event to a worker, and continues its work.
    fn work(&mut self, who: Life, hear: impl FnOnce(&mut Worker, &mut Net)) {
        let worker = self.places[who.place].worker.as_mut();
        let Some(worker) = worker.filter(|worker| worker.who == who) else {
            return;
        };
        hear(worker, &mut self.net);
        self.go_on(who.place);
    }

    fn go_on(&mut self, place: usize) {
        let Some(worker) = &mut self.places[place].worker else {
            return;
        };
        if let Some(ending) = worker.go_on(&mut self.net, &self.specs) {
            let happening = match ending {
                Ending::Drained => Happening::WorkerDrain,
                Ending::Unreachable { .. } | Ending::NoAccess { .. } => Happening::WorkerGaveUp,
            };
            self.net.counts.add(happening);
            self.end_worker(place);
        }
    }

    fn over(&mut self, who: Life, token: u64) {
        let worker = self.places[who.place].worker.as_mut();
        let Some(worker) = worker.filter(|worker| worker.who == who) else {
            return;
        };
        if worker.over(&mut self.net, &self.specs, token) {
            self.net.counts.add(Happening::Poisoned);
            self.end_worker(who.place);
        } else {
            self.go_on(who.place);
        }
    }

    /// A worker's process has ended, and is restarted.
    fn end_worker(&mut self, place: usize) {
        let Some(worker) = self.places[place].worker.take() else {
            return;
        };
        trace_event!(self.net, "worker {place} ended");
        if let Some(stay) = worker.stay() {
            // Its connections end with it. A cut link delays the notice.
            let cut = self.net.now < self.net.links[place].up_cut;
            let wait = if cut { 10 * SECOND } else { 5 * MILLI };
            let wait = self.net.random.between(MILLI / 10, wait);
            self.net.after(wait, Event::Gone(worker.who, stay));
        }
        let wait = self.net.random.between(10 * MILLI, 2 * SECOND);
        self.net.after(wait, Event::StartWorker(place));
    }
}
