//! The coordinator: the real ledger and the real accounting of reports, with the other work of the
//! core in its order.

mod audits;
mod calls;
mod fault_attribution;
mod reports;
mod requests;
mod ticks;

use std::{collections::VecDeque, rc::Rc, time::Duration};

use arena_coordinator::ledger::{
    AfterGame, Bitmap, Continuation, Ledger, LedgerSettings, ProgressTimeouts, ReportId, Reports,
    State, TournamentNo, WorkerId,
};
use arena_worker::protocol::{CallNo, Refusal, ReportNo, StayNo};

use super::{
    counts::Happening,
    disk::{Commit, Disk, Job, Kept},
    games::Spec,
    net::{Down, Known, Life, Net, Played, SECOND, Up, trace_event},
    users::Request,
};

use audits::Comparison;
use calls::refuse;
pub(super) use calls::refused;
use fault_attribution::FaultAttribution;
pub(super) use fault_attribution::HOST_GRACE_PERIOD;

/// Input that waits while the state waits for the disk.
const INBOX_MAX: usize = 24;

struct Present {
    number: WorkerId,
    who: Life,
    stay: StayNo,
    /// When it joined.
    since: Duration,
}

struct Parked {
    who: Life,
    worker: WorkerId,
    call: CallNo,
    wanted: usize,
    until: Duration,
    process: u64,
}

/// A caller that waits for a report, with the state of the report.
struct Caller {
    id: ReportId,
    who: Life,
    report: ReportNo,
    attempt: u32,
    known: Known,
    tournament: usize,
    games: Rc<[Played]>,
}

/// The action when a document is durable.
enum After {
    Changed(Request, State),
    Answer(Request),
    Finished(usize, Vec<(ReportId, Vec<u64>)>),
    Audited(Caller),
}

struct Account {
    spec: Spec,
    number: Option<TournamentNo>,
    state: State,
    /// How often each game was counted.
    tally: Vec<u8>,
    /// The workers that played each game, as far as this start can know.
    by: Vec<Option<u64>>,
}

impl Account {
    fn new(spec: &Spec, state: State, tally: Vec<u8>) -> Self {
        Self {
            spec: spec.clone(),
            number: None,
            state,
            by: vec![None; tally.len()],
            tally,
        }
    }
}

enum Signal {
    Written(ReportId),
    Left(Life, StayNo),
}

/// A coordinator's process.
pub(super) struct Coordinator {
    pub(super) boot: u32,
    epoch: u64,
    deadline: u64,
    started: u64,
    pub(super) ahead: i64,
    audit_ppm: u32,
    ledger: Ledger,
    reports: Reports,
    comparisons: Vec<Comparison>,
    comparisons_ever: u64,
    accounts: Vec<Option<Account>>,
    /// Tournaments by their numbers in the ledger.
    numbers: Vec<usize>,
    answers: Vec<u32>,
    present: Vec<Present>,
    /// Sessions that ended: their join requests get no answer.
    gone: Vec<(Life, StayNo)>,
    fault_attribution: FaultAttribution,
    parked: Vec<Parked>,
    callers: Vec<Caller>,
    cancels: Vec<Request>,
    blocked: Option<After>,
    inbox: VecDeque<(Option<Life>, Incoming)>,
    signals: VecDeque<Signal>,
    to_finish: Vec<usize>,
    unpark: bool,
    looked_after: Duration,
    /// When it wakes next without an event, and the earliest such event.
    tick: u64,
    tick_event: u64,
    draining: Option<u64>,
}

/// The number of known games of a tournament, given the durable ones.
fn known(spec: &Spec, kept: &Kept) -> (u64, Continuation) {
    // The games after a void game follow from the planned result.
    let result = |index| match kept.games[index as usize] {
        0 => 0,
        _ => spec.result(index),
    };
    match spec.known(result) {
        (known, true) => (known, Continuation::Last),
        (known, false) => (known, Continuation::More),
    }
}

enum Incoming {
    Up(Up),
    User(Request),
    Compared(Comparison),
}

/// A broken promise.
pub(super) type Wrong = String;

impl Coordinator {
    /// Starts with the content of the disk.
    pub(super) fn start(
        net: &mut Net,
        disk: &Disk,
        specs: &[Spec],
        settings: LedgerSettings,
        boot: u32,
    ) -> Self {
        trace_event!(net, "the coordinator starts");
        let epoch = net.random.next();
        let mut this = Self {
            boot,
            epoch,
            deadline: settings.lease_deadline.as_micros() as u64,
            started: net.now,
            ahead: 0,
            audit_ppm: settings.audit_ppm,
            ledger: Ledger::new(settings, epoch),
            reports: Reports::default(),
            comparisons: Vec::new(),
            comparisons_ever: 0,
            accounts: specs.iter().map(|_| None).collect(),
            numbers: Vec::new(),
            answers: disk.answered.clone(),
            present: Vec::new(),
            gone: Vec::new(),
            fault_attribution: FaultAttribution::new(specs),
            parked: Vec::new(),
            callers: Vec::new(),
            cancels: Vec::new(),
            blocked: None,
            inbox: VecDeque::new(),
            signals: VecDeque::new(),
            to_finish: Vec::new(),
            unpark: false,
            looked_after: Duration::ZERO,
            tick: 0,
            tick_event: 0,
            draining: None,
        };
        for (place, kept) in disk.kept.iter().enumerate() {
            let Some(state) = kept.state else { continue };
            let accounted = match state {
                State::Running | State::Paused | State::Held => true,
                State::Finished => this.audit_ppm > 0,
                State::Cancelled => false,
            };
            let done = kept.games.iter().map(|&hash| u8::from(hash != 0));
            this.accounts[place] = Some(Account::new(&specs[place], state, done.collect()));
            if accounted {
                this.account(place, kept);
                this.goes_on(place);
            }
        }
        this
    }

    fn account(&mut self, place: usize, kept: &Kept) {
        let Some(account) = &mut self.accounts[place] else {
            return;
        };
        let spec = &account.spec;
        let (known, continuation) = known(spec, kept);
        let mut done = Bitmap::new(known);
        for (index, _) in kept
            .games
            .iter()
            .enumerate()
            .filter(|(_, hash)| **hash != 0)
        {
            done.insert(index as u64);
        }
        let timeouts = ProgressTimeouts {
            first: Duration::from_micros(2 * spec.progress_timeout),
            between: Duration::from_micros(spec.progress_timeout),
        };
        let number = self.ledger.add(done, account.state, continuation, timeouts);
        account.number = Some(number);
        self.numbers.push(place);
        self.unpark = true;
        let progress = self.ledger.progress(number);
        if account.state != State::Finished
            && progress.is_some_and(|now| now.state == State::Finished)
        {
            self.to_finish.push(place);
        }
        self.restore_audits(number, place, kept);
    }

    fn goes_on(&mut self, place: usize) {
        let account = self.accounts[place].as_ref();
        if let Some(number) = account.and_then(|it| it.number) {
            self.ledger.goes_on(number);
            self.fault_attribution.goes_on(place);
        }
    }

    /// Reports to the ledger what follows when all known games of a tournament are durable. Returns
    /// whether that finished it.
    fn came(&mut self, net: &mut Net, disk: &Disk, place: usize, came: AfterGame) -> bool {
        let account = self.accounts[place].as_ref();
        match (came, account.and_then(|it| Some((it, it.number?)))) {
            (AfterGame::Due, Some((account, number))) => {
                let (known, continuation) = known(&account.spec, &disk.kept[place]);
                trace_event!(
                    net,
                    "tournament {place} has {known} games now, {continuation:?}"
                );
                net.counts.add(Happening::Stage);
                self.unpark = true;
                self.ledger.extend(number, known, continuation)
            }
            (came, _) => came == AfterGame::Finished,
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
        self.blocked.is_none()
            && self.inbox.is_empty()
            && self.callers.is_empty()
            && self.comparisons.is_empty()
    }

    pub(super) fn tally(&self, place: usize) -> Option<&[u8]> {
        self.accounts[place].as_ref().map(|account| &*account.tally)
    }

    /// Finished games in the ledger; `None` if the tournament had finished before this start.
    pub(super) fn done(&self, place: usize) -> Option<u64> {
        let number = self.accounts[place].as_ref()?.number?;
        self.ledger.progress(number).map(|progress| progress.done)
    }

    pub(super) fn drain(&mut self, net: &mut Net) {
        self.draining = Some(net.now + 5 * SECOND);
        for parked in std::mem::take(&mut self.parked) {
            net.down(parked.who, Down::Leased(parked.call, None));
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

    /// The disk has ended a commit. Returns false if that ends the coordinator.
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

    /// Continues what waited for a document that is now durable.
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
            Some(After::Audited(caller)) => reports::acknowledge(net, disk, &caller)?,
            None => {}
        }
        Ok(())
    }

    /// Handles waiting input, signals first, until it has to wait for the disk.
    pub(super) fn go_on(&mut self, net: &mut Net, disk: &mut Disk) -> Result<(), Wrong> {
        while self.blocked.is_none() {
            if let Some(place) = self.to_finish.pop() {
                self.finish(net, disk, place, Vec::new());
            } else if let Some(signal) = self.signals.pop_front() {
                match signal {
                    Signal::Written(id) => self.written(net, disk, id)?,
                    Signal::Left(who, stay) => self.left(net, who, stay),
                }
            } else if let Some((who, incoming)) = self.inbox.pop_front() {
                match (who, incoming) {
                    (Some(who), Incoming::Up(message)) => {
                        self.command(net, disk, who, message)?;
                    }
                    (_, Incoming::User(request)) => self.request(net, disk, &request),
                    (_, Incoming::Compared(it)) => self.settle(net, disk, it)?,
                    (None, Incoming::Up(_)) => {}
                }
            } else {
                break;
            }
        }
        if self.blocked.is_none() {
            self.look_after(net)?;
        }
        self.schedule(net);
        Ok(())
    }
}
