//! Duplicate records: compared with the durable ones, and recorded if they are audits, before their
//! sender is answered.

use arena_coordinator::ledger::{
    AuditRecord, AuditSample, Audited, Bitmap, RestoredAudits, Settled, State, TournamentNo,
};

use super::{After, Caller, Coordinator, Incoming, Wrong};
use crate::stress::simulate::{
    counts::Happening,
    disk::{Disk, Job, Kept},
    games::{FORFEIT, VOID},
    net::{Event, Life, MILLI, Net, SECOND, trace_event},
};

/// Games of a report that are being compared.
pub(super) struct Comparison {
    number: u64,
    caller: Caller,
    games: Vec<u64>,
}

impl Comparison {
    pub(super) fn is_of(&self, who: Life) -> bool {
        self.caller.who == who
    }
}

impl Coordinator {
    /// Continues the audits of earlier starts.
    pub(super) fn restore_audits(&mut self, number: TournamentNo, place: usize, kept: &Kept) {
        let games = self.ledger.progress(number).map_or(0, |it| it.games);
        let [mut audited, mut differing] = [Bitmap::new(games), Bitmap::new(games)];
        for (&index, &differs) in &kept.audited {
            audited.insert(index);
            if differs {
                differing.insert(index);
            }
        }
        let sample = AuditSample::new(&[1; 32], &place.to_string(), self.audit_ppm);
        let restored = RestoredAudits {
            sample,
            audited,
            differing,
            ..RestoredAudits::default()
        };
        self.ledger.restore_audits(number, restored);
    }

    /// The progress of a tournament's audits; `None` if it has no audits.
    pub(in crate::stress::simulate) fn audited(&self, place: usize) -> Option<Audited> {
        let account = self.accounts[place].as_ref()?;
        let looked_after = account.state != State::Cancelled;
        self.ledger
            .audited(account.number.filter(|_| looked_after)?)
    }

    /// Whether audits are waiting.
    pub(in crate::stress::simulate) fn audits_wait(&self) -> bool {
        let all = (0..self.accounts.len()).filter_map(|place| self.audited(place));
        all.map(|audited| audited.waiting()).sum::<u64>() > 0
    }

    /// Answers a report whose new games are durable, after duplicates are compared with their
    /// records.
    pub(super) fn compare(
        &mut self,
        net: &mut Net,
        disk: &Disk,
        caller: Caller,
        games: Vec<u64>,
    ) -> Result<(), Wrong> {
        if games.is_empty() {
            return super::reports::acknowledge(net, disk, &caller);
        }
        // The store is read in the meantime.
        let took = if net.random.permille(50) {
            net.random.between(SECOND / 10, 3 * SECOND)
        } else {
            net.random.between(MILLI / 10, 2 * MILLI)
        };
        self.comparisons_ever += 1;
        let number = self.comparisons_ever;
        // A call ends early if its client gives up.
        if net.random.permille(net.weather.drop) {
            net.counts.add(Happening::LostComparison);
            return Ok(());
        }
        if self.audit_ppm > 0 && std::mem::take(&mut net.crash_in_comparison) {
            // The call ends before the store is read.
            let took = took.max(20 * MILLI);
            net.after(0, Event::CrashWorker(caller.who));
            net.after(took, Event::Compared(self.boot, number));
        } else {
            net.after(took, Event::Compared(self.boot, number));
        }
        self.comparisons.push(Comparison {
            number,
            caller,
            games,
        });
        Ok(())
    }

    /// Handles the end of reading the store.
    pub(in crate::stress::simulate) fn compared(&mut self, number: u64) {
        let place = self.comparisons.iter().position(|it| it.number == number);
        if let Some(place) = place {
            let comparison = self.comparisons.swap_remove(place);
            self.inbox.push_back((None, Incoming::Compared(comparison)));
        }
    }

    pub(super) fn settle(
        &mut self,
        net: &mut Net,
        disk: &mut Disk,
        comparison: Comparison,
    ) -> Result<(), Wrong> {
        let Comparison { caller, games, .. } = comparison;
        let place = caller.tournament;
        let worker = self.find(caller.known)?;
        let account = self.accounts[place].as_ref();
        let number = account.and_then(|account| account.number);
        let (Some(number), Some(worker), Some(account)) = (number, worker, account) else {
            return super::reports::acknowledge(net, disk, &caller);
        };
        let mut settled = Vec::new();
        for index in games {
            let durable = disk.kept[place].games[index as usize];
            let mut brought = caller.games.iter().filter(|(of, _)| *of == index);
            let other = brought.find(|(_, hash)| *hash != durable);
            let differs = other.is_some();
            // Results that depend on a host give no information.
            let host = |hash: u64| [VOID, FORFEIT].contains(&hash);
            if other.is_some_and(|&(_, other)| host(durable) || host(other)) {
                self.ledger.abandon_audit(number, index, worker);
                continue;
            }
            let record = match other {
                None => AuditRecord::Same,
                Some(&(_, other)) => AuditRecord::Differs {
                    hash: [other as u8; 32],
                    agent: None,
                },
            };
            let came_to = self.ledger.settle_audit(number, index, worker, record);
            if came_to == Settled::Nothing {
                continue;
            }
            trace_event!(net, "game {place}/{index} was audited: differs {differs}");
            net.counts.add(Happening::Audited);
            if account.by[index as usize] == Some(caller.who.process()) {
                return Err(format!(
                    "game {place}/{index} was audited by the worker that played it"
                ));
            }
            settled.push((index, differs));
        }
        if settled.is_empty() {
            return super::reports::acknowledge(net, disk, &caller);
        }
        self.blocked = Some(After::Audited(caller));
        let job = Job::Audits {
            tournament: place,
            games: settled,
        };
        disk.append(net, self.boot, job);
        Ok(())
    }
}
