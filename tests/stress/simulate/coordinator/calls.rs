//! Calls of workers, and their leases.

use std::{rc::Rc, time::Duration};

use arena_coordinator::ledger::{Ask, TournamentNo, WorkerId, WorkerProcess};
use arena_wire::ATTEMPTS_MAX;
use arena_worker::protocol::{CallNo, Refusal, StayNo};

use super::{
    super::{
        counts::Happening,
        disk::Disk,
        net::{Down, Event, Known, Leased, Life, MILLI, Net, Up, trace_event},
    },
    Coordinator, Parked, Present, Wrong,
};

impl Coordinator {
    pub(super) fn left(&mut self, net: &mut Net, who: Life, stay: StayNo) {
        for comparison in &self.comparisons {
            if comparison.is_of(who) {
                net.counts.add(Happening::AuditAgain);
            }
        }
        let Self {
            present,
            ledger,
            fault_attribution,
            gone,
            parked,
            unpark,
            ..
        } = self;
        let is_it = |present: &Present| present.who == who && present.stay == stay;
        // Its join request may arrive later, or again.
        gone.push((who, stay));
        // A duplicate join creates two sessions.
        while let Some(place) = present.iter().position(is_it) {
            let left = present.remove(place);
            ledger.leave(left.number);
            fault_attribution.left(present, (ledger.now(), who.process()), false);
            parked.retain(|parked| parked.worker != left.number);
            *unpark = true;
        }
    }

    /// A worker leaves in order.
    fn take_leave(&mut self, net: &mut Net, worker: WorkerId) {
        let Some(place) = self.present.iter().position(|it| it.number == worker) else {
            return;
        };
        let gone = self.present.remove(place);
        self.ledger.take_leave(worker);
        let left = (self.ledger.now(), gone.who.process());
        if self.fault_attribution.left(&self.present, left, true) {
            net.counts.add(Happening::Leave);
        }
        self.parked.retain(|parked| parked.worker != worker);
        self.unpark = true;
    }

    /// The worker that calls. A worker of an earlier start is unknown: its leases ended with that
    /// start.
    pub(super) fn find(&self, (worker, epoch): Known) -> Result<Option<WorkerId>, Wrong> {
        let found = self.ledger.present(worker, epoch);
        if found.is_some() && epoch != self.epoch {
            return Err("a worker of another start was accepted as one of this start".to_owned());
        }
        Ok(found)
    }

    pub(super) fn command(
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
            // The client has given up, so the stream is never opened.
            Up::Join(stay, ..) if self.gone.contains(&(who, stay)) => {}
            Up::Join(stay, process, capacity) => {
                let number = self
                    .ledger
                    .join_as(WorkerProcess::Process(process), capacity);
                let before = self.present.iter().find(|it| it.who == who);
                let since = before.map_or(self.ledger.now(), |it| it.since);
                self.present.push(Present {
                    number,
                    who,
                    stay,
                    since,
                });
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
                    net.down(who, Down::Leased(call, None));
                    return Ok(());
                }
                let before = self.parked.iter().position(|other| other.worker == worker);
                if let Some(place) = before {
                    let parked = self.parked.swap_remove(place);
                    net.down(parked.who, Down::Leased(parked.call, None));
                }
                let parked = Parked {
                    who,
                    worker,
                    call,
                    wanted,
                    until: self.now(net) + Duration::from_micros(wait),
                    process: who.process(),
                };
                if let Some(parked) = self.try_grant(net, parked)? {
                    self.parked.push(parked);
                }
            }
            Up::Beat {
                stay,
                known,
                ref leases,
                settled,
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
                self.take_missing(net, worker, who, settled, leases)?;
                net.down(who, Down::Beaten(stay, ended));
            }
            Up::Leave(known) => {
                if let Some(worker) = self.find(known)? {
                    self.take_leave(net, worker);
                }
                net.down(who, Down::TookLeave);
            }
            Up::Report { .. } => self.report(net, disk, who, message)?,
        }
        Ok(())
    }

    /// Revokes leases that a worker does not have.
    fn take_missing(
        &mut self,
        net: &mut Net,
        worker: WorkerId,
        who: Life,
        settled: CallNo,
        leases: &[(u64, u64)],
    ) -> Result<(), Wrong> {
        let held: Vec<u64> = leases.iter().map(|(lease, _)| *lease).collect();
        for ended in self.ledger.holds(worker, settled, &held) {
            trace_event!(net, "lease {} is nowhere", ended.lease);
            net.counts.add(Happening::Missing);
            self.unpark = true;
        }
        for lease in self
            .fault_attribution
            .missing(who.process(), settled, leases)
        {
            if self.ledger.own(Some(worker), lease) == lease {
                return Err(format!("lease {lease} is kept, but no worker has it"));
            }
        }
        Ok(())
    }

    fn try_grant(&mut self, net: &mut Net, parked: Parked) -> Result<Option<Parked>, Wrong> {
        let now = self.now(net);
        let ask = Ask {
            worker: parked.worker,
            wanted: parked.wanted,
            call: parked.call,
            sated: Vec::new(),
        };
        let Self {
            accounts,
            numbers,
            present,
            ledger,
            ..
        } = self;
        let suits = |worker, number: TournamentNo| {
            let of = present.iter().find(|it| it.number == worker);
            let account = accounts[numbers[number as usize]].as_ref();
            of.zip(account)
                .is_some_and(|(of, account)| account.spec.suits(of.who.place))
        };
        let Some(grant) = ledger.grant(now, ask, suits) else {
            return Ok(Some(parked));
        };
        let place = numbers[grant.tournament as usize];
        let account = accounts[place].as_ref();
        if !account.is_some_and(|it| it.spec.suits(parked.who.place)) {
            return Err(format!(
                "{:?} is leased games of tournament {place}, which it cannot play",
                parked.who
            ));
        }
        if present.iter().any(|it| !suits(it.number, grant.tournament)) {
            net.counts.add(Happening::BesideUnsuited);
        }
        self.fault_attribution.leased(
            &self.present,
            (now, parked.process),
            place,
            &grant,
            parked.call,
        )?;
        if grant.audit {
            net.counts.add(Happening::Audit);
        }
        let void = grant.games.iter().any(|it| it.attempts >= ATTEMPTS_MAX);
        if void && std::mem::take(&mut net.crash_at_void) {
            let wait = net.random.below(4 * MILLI);
            net.after(wait, Event::CrashAtVoid(self.boot));
        }
        let charged = grant.given_up.iter().map(|&agent| (place, agent));
        net.charged.extend(charged);
        let leased = Leased {
            lease: grant.lease,
            tournament: self.numbers[grant.tournament as usize],
            games: grant.games.into(),
            given_up: grant.given_up.into(),
        };
        net.down(parked.who, Down::Leased(parked.call, Some(leased)));
        Ok(None)
    }

    pub(super) fn serve_parked(&mut self, net: &mut Net) -> Result<(), Wrong> {
        let now = self.now(net);
        for parked in std::mem::take(&mut self.parked) {
            if let Some(parked) = self.try_grant(net, parked)? {
                if now >= parked.until {
                    net.down(parked.who, Down::Leased(parked.call, None));
                } else {
                    self.parked.push(parked);
                }
            }
        }
        Ok(())
    }
}

pub(super) fn refuse(net: &mut Net, who: Life, message: &Up, refusal: Refusal) {
    net.down(who, refused(message, refusal));
}

/// The answer to a call that is refused.
pub(in super::super) fn refused(message: &Up, refusal: Refusal) -> Down {
    match *message {
        Up::Join(stay, ..) => Down::Parted(stay, refusal),
        Up::Ask { call, .. } => Down::NotLeased(call, refusal),
        Up::Report {
            report, attempt, ..
        } => Down::NotReported(report, attempt, refusal),
        Up::Beat { stay, .. } => Down::NotBeaten(stay, refusal),
        Up::Leave(_) => Down::TookLeave,
    }
}
