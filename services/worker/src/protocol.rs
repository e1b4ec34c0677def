//! What a worker sends to its coordinator, and when: joining, requesting games, reporting them
//! and their progress. It has no IO, clock, thread or randomness of its own.
//!
//! Time enters as the duration since the start, and events enter through the methods.
//! [`Protocol::next`] returns actions until there is nothing to do before [`Protocol::wake`]. The
//! same calls give the same answers, so tests can play whole histories of losses, duplicates and
//! restarts.

mod backoff;
mod defects;
mod presence;
mod reports;
mod stale;
mod terms;
#[cfg(test)]
mod tests;

use defects::is_injected;
use std::{
    collections::{BTreeMap, VecDeque},
    rc::Rc,
    time::Duration,
};

pub use defects::Defect;
#[cfg(feature = "defects")]
pub use defects::inject;
pub use terms::{
    Action, CallNo, Ending, Lease, LeaseNo, Playing, Progress, ProtocolSettings, Refusal,
    RefusedReport, ReportNo, Stay, StayNo,
};

use arena_engine::AgentRng;
use backoff::Backoff;
use presence::Presence;
use reports::Reports;
use stale::Stale;

/// Minimum and maximum games of a request.
const LEASE_GAMES: (usize, usize) = (8, 512);
/// Maximum time that a request for games waits at the coordinator.
const LEASE_WAIT: Duration = Duration::from_secs(2);
/// The same while agents of some tournament have no time: they may have time soon.
const SATED_WAIT: Duration = Duration::from_millis(250);
/// Additional timeout of its answer.
const LEASE_SLACK: Duration = Duration::from_secs(5);
/// First pause after a failed request for games.
const LEASE_PAUSE: Duration = Duration::from_millis(200);
/// Unanswered results per place above which no game starts.
const BACKLOG: usize = 16;
/// Unanswered bytes above which no game starts: a worker has to do with 150 MB in all.
const BACKLOG_BYTES: usize = 32 << 20;
/// Maximum time that an orderly stop waits for the coordinator to be informed.
const LEAVE: Duration = Duration::from_secs(1);
/// Minimum and maximum interval of progress reports.
const HEARTBEAT: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(1));

/// A lease with games that are not over or not acknowledged.
#[derive(Debug)]
struct Held {
    lease: Rc<Lease>,
    /// Plies that the coordinator was last informed of.
    reported: u64,
    /// Signs of life while the coordinator postpones results.
    excuses: u64,
}

/// A worker's side of the protocol. `R` is the report of a game.
#[derive(Debug)]
pub struct Protocol<R> {
    settings: ProtocolSettings,
    /// Source of the jitter of pauses.
    jitter: AgentRng,
    presence: Presence,
    /// Time of the last progress report.
    beat: Duration,
    /// The open request for games.
    asking: Option<CallNo>,
    calls: CallNo,
    ask_backoff: Backoff,
    ask_from: Duration,
    leases: BTreeMap<LeaseNo, Held>,
    leases_ever: LeaseNo,
    /// Leases of earlier stays.
    stale: Stale,
    reports: Reports<R>,
    /// Actions that are due.
    actions: VecDeque<Action<R>>,
    /// Deadline of the drain.
    drain: Option<Duration>,
    /// Deadline for the answer to leaving.
    leave: Option<Duration>,
}

impl<R> Protocol<R> {
    /// A worker that has not joined yet.
    #[must_use]
    pub fn new(settings: ProtocolSettings) -> Self {
        Self {
            settings,
            jitter: AgentRng::new(settings.seed),
            presence: Presence::new(settings.connect_timeout),
            beat: Duration::ZERO,
            asking: None,
            calls: 0,
            ask_backoff: Backoff::new(LEASE_PAUSE),
            ask_from: Duration::ZERO,
            leases: BTreeMap::new(),
            leases_ever: 0,
            stale: Stale::default(),
            reports: Reports::new(),
            actions: VecDeque::new(),
            drain: None,
            leave: None,
        }
    }

    /// True if the worker is joined.
    #[must_use]
    pub fn joined(&self) -> bool {
        self.presence.joined()
    }

    /// True if it is leaving, and ends once the coordinator knows.
    #[must_use]
    pub fn takes_leave(&self) -> bool {
        self.leave.is_some()
    }

    /// True if no game may start for now.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.drain.is_some() || self.backlogged()
    }

    /// Games whose results are not acknowledged.
    #[must_use]
    pub fn unanswered(&self) -> usize {
        self.reports.unanswered()
    }

    fn backlogged(&self) -> bool {
        let (games, bytes) = (self.reports.unanswered(), self.reports.unanswered_bytes());
        games > BACKLOG * self.settings.capacity || bytes > BACKLOG_BYTES
    }

    /// The coordinator accepted the worker.
    pub fn welcomed(
        &mut self,
        number: StayNo,
        worker_id: String,
        boot_epoch: u64,
        session: Vec<u8>,
        lease_deadline: Duration,
    ) {
        let (often, seldom) = HEARTBEAT;
        let stay = Stay {
            number,
            worker_id,
            boot_epoch,
            session,
            heartbeat: (lease_deadline / 5).clamp(often, seldom),
        };
        self.presence.welcome(stay);
    }

    /// The coordinator of a stay stops: games that did not start are dropped.
    pub fn coordinator_stops(&mut self, number: StayNo) {
        if self.presence.is_current(number) {
            self.presence.stops();
            self.forget_what_waits();
        }
    }

    /// A stay ended, or the attempt to join failed.
    pub fn parted(&mut self, now: Duration, number: StayNo, refusal: Refusal, problem: &str) {
        if !self.presence.is_current(number) {
            return;
        }
        // Started games continue: the first report of a game counts.
        self.forget_what_waits();
        let end = self.presence.part(now, refusal, problem, &mut self.jitter);
        self.actions.extend(end.map(Action::End));
    }

    fn forget_what_waits(&mut self) {
        self.actions.push_back(Action::DropWaiting);
        if self.asking.take().is_some() {
            self.actions.push_back(Action::AskNoMore);
        }
    }

    /// The coordinator does not know the worker of a stay any more.
    fn forgotten(&mut self, now: Duration, number: StayNo) {
        if self.presence.is_current(number) {
            self.actions.push_back(Action::Leave(number));
            let problem = "it does not know this worker any more";
            self.parted(now, number, Refusal::UnknownWorker, problem);
        }
    }

    /// The coordinator does not have these leases of a stay any more.
    pub fn leases_ended(&mut self, number: StayNo, ended: &[u64]) {
        let ended = self.leases.iter().filter(|(_, Held { lease, .. })| {
            lease.stay.number == number && ended.contains(&lease.lease_id)
        });
        self.actions
            .extend(ended.map(|(&number, _)| Action::Drop(number)));
    }

    /// A progress report failed.
    pub fn not_beaten(&mut self, now: Duration, number: StayNo, refusal: Refusal) {
        // A lost report is repeated with the next one.
        if refusal == Refusal::UnknownWorker {
            self.forgotten(now, number);
        }
    }

    /// A lease arrived. Returns the number under which its games are played; none if it is not
    /// wanted any more.
    pub fn leased(
        &mut self,
        call: CallNo,
        lease_id: u64,
        tournament: &str,
        ticket: Vec<u8>,
    ) -> Option<LeaseNo> {
        if !self.answered(call) {
            return None;
        }
        let stay = self.presence.stay()?.clone();
        self.ask_backoff.reset();
        self.leases_ever += 1;
        let lease = Lease {
            stay,
            lease_id,
            tournament: tournament.to_owned(),
            ticket,
        };
        let held = Held {
            lease: Rc::new(lease),
            reported: 0,
            excuses: 0,
        };
        self.leases.insert(self.leases_ever, held);
        Some(self.leases_ever)
    }

    /// There was nothing to play.
    pub fn nothing_leased(&mut self, call: CallNo) {
        if self.answered(call) {
            self.ask_backoff.reset();
        }
    }

    /// A request for games failed.
    pub fn not_leased(&mut self, now: Duration, call: CallNo, refusal: Refusal) {
        if is_injected(Defect::WaitsForEver) || !self.answered(call) {
            return;
        }
        self.pause(now, refusal);
        if refusal == Refusal::UnknownWorker
            && let Some(stay) = self.presence.stay()
        {
            self.forgotten(now, stay.number);
        }
    }

    /// Games arrived that cannot be played here: none are requested for a while.
    pub fn pause(&mut self, now: Duration, refusal: Refusal) {
        self.ask_from = now + self.ask_backoff.next(&mut self.jitter, refusal);
    }

    fn answered(&mut self, call: CallNo) -> bool {
        let current = self.asking == Some(call);
        if current {
            self.asking = None;
        }
        current
    }

    /// A game of a lease is over; `bytes` is the size of its result in a report.
    pub fn finished(&mut self, now: Duration, number: LeaseNo, result: R, bytes: usize) {
        if let Some(held) = self.leases.get(&number) {
            self.reports.add(now, (number, &held.lease), result, bytes);
        }
    }

    /// A report is durable at the coordinator.
    pub fn reported(&mut self, report: ReportNo) {
        self.reports.settle(report);
    }

    /// A report was refused. Returns what happens to it.
    pub fn not_reported(
        &mut self,
        now: Duration,
        report: ReportNo,
        refusal: Refusal,
    ) -> RefusedReport {
        self.reports.failed(now, report, refusal, &mut self.jitter)
    }

    /// Starts no more games, finishes started ones, then stops.
    pub fn drain(&mut self, now: Duration) {
        self.drain = Some(now + self.settings.drain_limit);
        self.forget_what_waits();
    }

    /// The next action; none if there is nothing to do before [`Self::wake`] or the next event.
    pub fn next(&mut self, now: Duration, games: &mut impl Playing) -> Option<Action<R>> {
        if let Some(action) = self.actions.pop_front() {
            return Some(action);
        }
        let all = self.drain.is_some() || games.unfinished() == 0;
        // Before the progress report, which removes finished leases.
        if let Some(report) = self.reports.due(now, all) {
            return Some(report);
        }
        if let Some(limit) = self.drain {
            let over = games.is_done() && self.reports.unanswered() == 0;
            // After leaving, the worker ends, even if its clock was set back.
            if over || !self.presence.joined() || now >= limit || self.leave.is_some() {
                return self.end(now);
            }
        }
        if let Some((stay, timeout)) = self.presence.join(now) {
            return Some(Action::Join { stay, timeout });
        }
        self.beat(now, games).or_else(|| self.ask(now, games))
    }

    /// The end of an orderly stop, once the coordinator knows of it.
    fn end(&mut self, now: Duration) -> Option<Action<R>> {
        match (self.leave, self.presence.stay()) {
            (None, Some(stay)) => {
                self.leave = Some(now + LEAVE);
                Some(Action::TakeLeave {
                    stay: stay.clone(),
                    timeout: LEAVE,
                })
            }
            (Some(until), Some(_)) if now < until => None,
            _ => Some(Action::End(Ending::Drained)),
        }
    }

    /// The coordinator knows that the worker leaves, or does not answer.
    pub fn took_leave(&mut self, now: Duration) {
        self.leave = Some(now);
    }

    fn beat(&mut self, now: Duration, games: &mut impl Playing) -> Option<Action<R>> {
        let stay = self.presence.stay()?.clone();
        if now.saturating_sub(self.beat) < stay.heartbeat {
            return None;
        }
        let put_off = self.reports.put_off() > self.beat;
        self.beat = now;
        let progress = games.progress();
        let live: BTreeMap<LeaseNo, &Progress> =
            progress.iter().map(|live| (live.lease, live)).collect();
        let reports = &self.reports;
        self.leases.retain(|number, held| {
            let unanswered = reports.holds(*number);
            let live = live.get(number);
            // A lease must not end because the coordinator postpones its results, or results that
            // its games wait for.
            let behind = unanswered || live.is_some_and(|live| live.waits);
            held.excuses += u64::from(put_off && behind);
            if let Some(live) = live {
                held.reported = live.reported;
            }
            unanswered || live.is_some()
        });
        let is_current = |lease: &Lease| lease.stay.number == stay.number;
        let earlier = progress.iter().filter(|live| {
            let held = self.leases.get(&live.lease);
            held.is_some_and(|held| !is_current(&held.lease))
        });
        let hung = self.stale.hung(now, earlier);
        if !is_injected(Defect::KeepsStale) {
            self.actions.extend(hung.into_iter().map(Action::Drop));
        }
        let leases = self.leases.values().filter(|held| is_current(&held.lease));
        let leases = leases.map(|held| (held.lease.lease_id, held.reported + held.excuses));
        Some(Action::Beat {
            leases: leases.collect(),
            settled: self.asking.map_or(self.calls, |call| call - 1),
            timeout: stay.heartbeat * 10,
            stay,
        })
    }

    /// A request for games, if there is room for some.
    fn ask(&mut self, now: Duration, games: &impl Playing) -> Option<Action<R>> {
        let stay = self.presence.stay()?.clone();
        if self.asking.is_some() || self.drain.is_some() || now < self.ask_from {
            return None;
        }
        // One lease is played while the next is fetched.
        let target = 2 * self.settings.capacity;
        // Games that wait for a slow agent do not keep out those of other tournaments.
        let sated = games.sated();
        // Drivers go on between both counts.
        let unsated = games.unfinished().saturating_sub(sated);
        let room = target.saturating_sub(unsated);
        let (least, most) = LEASE_GAMES;
        if room < least.min(target / 2) || self.backlogged() {
            return None;
        }
        let wait = match sated {
            0 => LEASE_WAIT,
            _ => SATED_WAIT,
        };
        self.calls += 1;
        self.asking = Some(self.calls);
        Some(Action::Ask {
            call: self.calls,
            stay,
            games: room.clamp(least, most),
            wait,
            timeout: wait + LEASE_SLACK,
        })
    }

    /// Time of the next action if nothing happens, once [`Self::next`] returns none.
    #[must_use]
    pub fn wake(&self, now: Duration) -> Option<Duration> {
        if let Some(leave) = self.leave {
            return Some(self.reports.wake().map_or(leave, |due| due.min(leave)));
        }
        let stay = self.presence.stay();
        let beat = stay.map(|stay| self.beat + stay.heartbeat);
        let may_ask = stay.is_some() && self.asking.is_none() && self.drain.is_none();
        // From then on it waits for room.
        let ask = Some(self.ask_from).filter(|from| may_ask && *from > now);
        let (join, report) = (self.presence.wake(), self.reports.wake());
        let all = [beat, ask, join, report, self.drain];
        all.into_iter().flatten().min()
    }
}
