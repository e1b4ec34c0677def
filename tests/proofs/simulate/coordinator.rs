//! The coordinator: the real ledger and the real accounting of reports, and
//! around them what the core does, in its order.

mod reports;
mod requests;

use std::{collections::VecDeque, rc::Rc, time::Duration};

use arena_coordinator::ledger::{
    Bitmap, Defects, Ended, Ledger, Patience, ReportId, Reports, Settings, State, TournamentNo,
    WorkerId,
};
use arena_worker::protocol::{CallNo, Refusal, ReportNo, StayNo};

use super::{
    counts::Happening,
    disk::{Commit, Disk, Job},
    games::Spec,
    net::{Down, Event, Known, Lent, Life, MILLI, Net, Played, SECOND, Up, tell},
    users::Request,
};

/// How often leases are looked after.
const TICK: u64 = 100 * MILLI;
/// What may wait while the state waits for the disk.
const INBOX_MAX: usize = 24;

struct Present {
    number: WorkerId,
    who: Life,
    stay: StayNo,
}

struct Parked {
    who: Life,
    worker: WorkerId,
    call: CallNo,
    wanted: usize,
    until: Duration,
}

/// Who waits for a report, and for what.
struct Caller {
    id: ReportId,
    who: Life,
    report: ReportNo,
    attempt: u32,
    tournament: usize,
    games: Rc<[Played]>,
}

/// What is to be done when a document is durable.
enum After {
    Changed(Request, State),
    Answer(Request),
    Finished(usize, Vec<(ReportId, Vec<u64>)>),
}

struct Account {
    number: Option<TournamentNo>,
    state: State,
    /// How often each game was counted.
    tally: Vec<u8>,
}

enum Signal {
    Written(ReportId),
    Left(Life, StayNo),
}

/// A coordinator's process.
pub(super) struct Coordinator<D: Defects> {
    pub(super) boot: u32,
    epoch: u64,
    deadline: u64,
    started: u64,
    pub(super) ahead: i64,
    ledger: Ledger<D>,
    reports: Reports,
    accounts: Vec<Option<Account>>,
    /// Tournaments by their numbers in the ledger.
    numbers: Vec<usize>,
    answers: Vec<u32>,
    present: Vec<Present>,
    parked: Vec<Parked>,
    callers: Vec<Caller>,
    cancels: Vec<Request>,
    blocked: Option<After>,
    inbox: VecDeque<(Option<Life>, Incoming)>,
    signals: VecDeque<Signal>,
    to_finish: Vec<usize>,
    unpark: bool,
    /// When leases are looked after next.
    tick: u64,
    draining: Option<u64>,
}

enum Incoming {
    Up(Up),
    User(Request),
}

/// A promise that did not hold.
pub(super) type Wrong = String;

impl<D: Defects> Coordinator<D> {
    /// Starts on what the disk has.
    pub(super) fn start(
        net: &mut Net,
        disk: &Disk,
        specs: &[Spec],
        settings: Settings,
        boot: u32,
    ) -> Self {
        tell!(net, "the coordinator starts");
        let epoch = net.random.next();
        let mut this = Self {
            boot,
            epoch,
            deadline: settings.lease_deadline.as_micros() as u64,
            started: net.now,
            ahead: 0,
            ledger: Ledger::new(settings, epoch),
            reports: Reports::default(),
            accounts: specs.iter().map(|_| None).collect(),
            numbers: Vec::new(),
            answers: disk.answered.clone(),
            present: Vec::new(),
            parked: Vec::new(),
            callers: Vec::new(),
            cancels: Vec::new(),
            blocked: None,
            inbox: VecDeque::new(),
            signals: VecDeque::new(),
            to_finish: Vec::new(),
            unpark: false,
            tick: 0,
            draining: None,
        };
        for (place, kept) in disk.kept.iter().enumerate() {
            let Some(state) = kept.state else { continue };
            let open = matches!(state, State::Running | State::Paused);
            let done = kept.games.iter().map(|&hash| hash != 0);
            this.accounts[place] = Some(Account {
                number: None,
                state,
                tally: done.map(u8::from).collect(),
            });
            if open {
                this.account(place, &specs[place], &kept.games);
            }
        }
        this
    }

    fn account(&mut self, place: usize, spec: &Spec, games: &[u64]) {
        let Some(account) = &mut self.accounts[place] else {
            return;
        };
        let mut done = Bitmap::new(games.len() as u64);
        for (index, _) in games.iter().enumerate().filter(|(_, hash)| **hash != 0) {
            done.insert(index as u64);
        }
        let patience = Patience {
            first: Duration::from_micros(2 * spec.patience),
            between: Duration::from_micros(spec.patience),
        };
        let number = self.ledger.add(done, account.state, patience);
        account.number = Some(number);
        self.numbers.push(place);
        self.unpark = true;
        let progress = self.ledger.progress(number);
        if progress.is_some_and(|now| now.state == State::Finished) {
            self.to_finish.push(place);
        }
    }

    fn now(&self, net: &Net) -> Duration {
        let since = (net.now - self.started) as i64 + self.ahead;
        Duration::from_micros(since.max(0) as u64)
    }

    pub(super) fn waits_for_disk(&self) -> bool {
        self.blocked.is_some()
    }

    pub(super) fn is_quiet(&self) -> bool {
        self.blocked.is_none() && self.inbox.is_empty() && self.callers.is_empty()
    }

    pub(super) fn tally(&self, place: usize) -> Option<&[u8]> {
        self.accounts[place].as_ref().map(|account| &*account.tally)
    }

    /// Games done as the ledger has them; none where the tournament was over
    /// before this start.
    pub(super) fn done(&self, place: usize) -> Option<u64> {
        let number = self.accounts[place].as_ref()?.number?;
        self.ledger.progress(number).map(|progress| progress.done)
    }

    pub(super) fn drain(&mut self, net: &mut Net) {
        self.draining = Some(net.now + 5 * SECOND);
        for parked in std::mem::take(&mut self.parked) {
            net.down(parked.who, Down::Lent(parked.call, None));
        }
        for present in &self.present {
            net.down(present.who, Down::Stops(present.stay));
        }
    }

    /// Whether an orderly stop has nothing to wait for.
    pub(super) fn has_drained(&self, net: &Net) -> bool {
        let idle = self.callers.is_empty() && self.ledger.leases() == 0;
        self.draining.is_some_and(|limit| idle || net.now >= limit)
    }

    pub(super) fn hear(&mut self, net: &mut Net, who: Life, message: Up) {
        if self.inbox.len() < INBOX_MAX {
            self.inbox.push_back((Some(who), Incoming::Up(message)));
            return;
        }
        net.counts.add(Happening::Busy);
        let after = net.random.permille(500).then_some(Duration::from_secs(1));
        refuse(net, who, &message, Refusal::Busy { after });
    }

    pub(super) fn hear_user(&mut self, request: Request) {
        self.inbox.push_back((None, Incoming::User(request)));
    }

    pub(super) fn gone(&mut self, who: Life, stay: StayNo) {
        self.signals.push_back(Signal::Left(who, stay));
    }

    /// The disk is done with a commit; false where that ends the coordinator.
    pub(super) fn committed(&mut self, net: &mut Net, commit: Commit) -> bool {
        let Ok(jobs) = commit else {
            for caller in std::mem::take(&mut self.callers) {
                let failed = Down::NotReported(caller.report, caller.attempt, Refusal::Failed);
                net.down(caller.who, failed);
            }
            return false;
        };
        for job in jobs {
            if let Job::Games { report, .. } = job {
                self.signals.push_back(Signal::Written(report));
            }
        }
        true
    }

    /// What waited for a document that is durable now.
    pub(super) fn unblock(
        &mut self,
        net: &mut Net,
        disk: &Disk,
        specs: &[Spec],
    ) -> Result<(), Wrong> {
        match self.blocked.take() {
            Some(After::Changed(request, state)) => {
                self.change(net, &request, state, specs, disk);
                self.answer(net, request);
            }
            Some(After::Answer(request)) => self.answer(net, request),
            Some(After::Finished(place, acknowledged)) => {
                if let Some(account) = &mut self.accounts[place] {
                    account.state = State::Finished;
                }
                self.acknowledge(net, disk, acknowledged)?;
            }
            None => {}
        }
        Ok(())
    }

    /// Handles what waits, signals first, until the disk has to be waited for.
    pub(super) fn go_on(&mut self, net: &mut Net, disk: &mut Disk) -> Result<(), Wrong> {
        while self.blocked.is_none() {
            if let Some(place) = self.to_finish.pop() {
                self.finish(net, disk, place, Vec::new());
            } else if let Some(signal) = self.signals.pop_front() {
                match signal {
                    Signal::Written(id) => self.written(net, disk, id)?,
                    Signal::Left(who, stay) => self.left(who, stay),
                }
            } else if let Some((who, incoming)) = self.inbox.pop_front() {
                match (who, incoming) {
                    (Some(who), Incoming::Up(message)) => {
                        self.command(net, disk, who, message)?;
                    }
                    (_, Incoming::User(request)) => self.request(net, disk, &request),
                    (None, Incoming::Up(_)) => {}
                }
            } else {
                break;
            }
        }
        if std::mem::take(&mut self.unpark) {
            self.serve_parked(net);
        }
        self.schedule(net);
        Ok(())
    }

    /// Leases are looked after now and then while there are any.
    fn schedule(&mut self, net: &mut Net) {
        let now = self.now(net);
        let due = self.ledger.next_due(now);
        let parked = self.parked.iter().map(|parked| parked.until).min();
        if let Some(due) = due.into_iter().chain(parked).min() {
            let wait = due.saturating_sub(now).as_micros() as u64;
            let tick = net.now + wait.next_multiple_of(TICK).max(TICK);
            if tick < self.tick || self.tick <= net.now {
                self.tick = tick;
                net.at(tick, Event::Tick(self.boot));
            }
        }
    }

    pub(super) fn is_due(&self, now: u64) -> bool {
        self.tick == now
    }

    pub(super) fn tick(&mut self, net: &mut Net) {
        if self.blocked.is_some() {
            return;
        }
        let now = self.now(net);
        let ended = self.ledger.expire(now);
        for _ in &ended {
            net.counts.add(Happening::Expired);
        }
        self.tell_ended(net, &ended);
        self.unpark = true;
    }

    fn tell_ended(&self, net: &mut Net, ended: &[Ended]) {
        for Ended { worker, lease } in ended {
            tell!(net, "the coordinator takes lease {lease} back");
            let to = self.present.iter().find(|to| to.number == *worker);
            if let Some(to) = to {
                net.down(to.who, Down::Ended(to.stay, *lease));
            }
        }
    }

    fn left(&mut self, who: Life, stay: StayNo) {
        let Self {
            present,
            ledger,
            parked,
            unpark,
            ..
        } = self;
        present.retain(|present| {
            let gone = present.who == who && present.stay == stay;
            if gone {
                ledger.leave(present.number);
                parked.retain(|parked| parked.worker != present.number);
                *unpark = true;
            }
            !gone
        });
    }

    /// The worker that calls. One of another start is nobody here: its leases
    /// ended with that.
    fn find(&self, (worker, epoch): Known) -> Result<Option<WorkerId>, Wrong> {
        let found = self.ledger.present(worker, epoch);
        if found.is_some() && epoch != self.epoch {
            return Err("a worker of another start was taken for one of this".to_owned());
        }
        Ok(found)
    }

    fn command(
        &mut self,
        net: &mut Net,
        disk: &mut Disk,
        who: Life,
        message: Up,
    ) -> Result<(), Wrong> {
        match message {
            Up::Join(..) if self.draining.is_some() => {
                refuse(net, who, &message, Refusal::Failed);
            }
            Up::Join(stay, capacity) => {
                let number = self.ledger.join(capacity);
                self.present.push(Present { number, who, stay });
                let welcome = Down::Welcome {
                    stay,
                    known: (number, self.epoch),
                    deadline: self.deadline,
                };
                net.down(who, welcome);
            }
            Up::Ask {
                call,
                known,
                wanted,
                wait,
            } => {
                let Some(worker) = self.find(known)? else {
                    refuse(net, who, &message, Refusal::UnknownWorker);
                    return Ok(());
                };
                if self.draining.is_some() {
                    net.down(who, Down::Lent(call, None));
                    return Ok(());
                }
                let before = self.parked.iter().position(|other| other.worker == worker);
                if let Some(place) = before {
                    let parked = self.parked.swap_remove(place);
                    net.down(parked.who, Down::Lent(parked.call, None));
                }
                let parked = Parked {
                    who,
                    worker,
                    call,
                    wanted,
                    until: self.now(net) + Duration::from_micros(wait),
                };
                if let Some(parked) = self.try_grant(net, parked) {
                    self.parked.push(parked);
                }
            }
            Up::Beat {
                stay,
                known,
                ref leases,
            } => {
                let Some(worker) = self.find(known)? else {
                    refuse(net, who, &message, Refusal::UnknownWorker);
                    return Ok(());
                };
                let now = self.now(net);
                let ended = leases
                    .iter()
                    .filter(|&&(lease, plies)| !self.ledger.advance(now, worker, lease, plies));
                let ended: Rc<[u64]> = ended.map(|(lease, _)| *lease).collect();
                net.down(who, Down::Beaten(stay, ended));
            }
            Up::Report { .. } => self.report(net, disk, who, message)?,
        }
        Ok(())
    }

    fn try_grant(&mut self, net: &mut Net, parked: Parked) -> Option<Parked> {
        let now = self.now(net);
        let grant = self
            .ledger
            .grant(now, parked.worker, parked.wanted, |_| true);
        let Some(grant) = grant else {
            return Some(parked);
        };
        if grant.audit {
            net.counts.add(Happening::Audit);
        }
        let lent = Lent {
            lease: grant.lease,
            tournament: self.numbers[grant.tournament as usize],
            games: grant.games.into(),
        };
        net.down(parked.who, Down::Lent(parked.call, Some(lent)));
        None
    }

    fn serve_parked(&mut self, net: &mut Net) {
        let now = self.now(net);
        for parked in std::mem::take(&mut self.parked) {
            if let Some(parked) = self.try_grant(net, parked) {
                if now >= parked.until {
                    net.down(parked.who, Down::Lent(parked.call, None));
                } else {
                    self.parked.push(parked);
                }
            }
        }
    }
}

fn refuse(net: &mut Net, who: Life, message: &Up, refusal: Refusal) {
    net.down(who, refused(message, refusal));
}

/// The answer to a call that is refused.
pub(super) fn refused(message: &Up, refusal: Refusal) -> Down {
    match *message {
        Up::Join(stay, _) => Down::Parted(stay, refusal),
        Up::Ask { call, .. } => Down::NotLent(call, refusal),
        Up::Report {
            report, attempt, ..
        } => Down::NotReported(report, attempt, refusal),
        Up::Beat { stay, .. } => Down::NotBeaten(stay, refusal),
    }
}
