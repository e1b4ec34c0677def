//! The effect of a failure on the world.

use super::{World, Wrong};
use crate::stress::simulate::{
    counts::Happening,
    disk::Failure,
    games::{Host, Spec},
    net::{Event, MILLI, SECOND, trace_event},
    trouble::Blow,
    users::User,
};

impl World {
    pub(super) fn strike(&mut self, blow: Blow) -> Result<(), Wrong> {
        trace_event!(self.net, "trouble: {blow:?}");
        let place = self.net.random.below(self.places.len() as u64) as usize;
        match blow {
            Blow::CrashCoordinator => self.crash_coordinator(),
            Blow::CrashInWrite => self.disk.crash_in_write = true,
            Blow::CrashInRequest => {
                if self.users.iter().any(User::waits) {
                    self.crash_coordinator();
                }
            }
            Blow::CrashAtVoid => self.net.crash_at_void = true,
            Blow::StopCoordinator => {
                if let Some(coordinator) = &mut self.coordinator {
                    coordinator.drain(&mut self.net);
                    self.coordinate()?;
                }
            }
            Blow::CrashWorker => {
                if self.places[place].worker.is_some() {
                    self.net.counts.add(Happening::WorkerCrash);
                    self.end_worker(place);
                }
            }
            Blow::CrashInComparison => self.net.crash_in_comparison = true,
            Blow::DrainWorker => {
                if let Some(worker) = &mut self.places[place].worker {
                    worker.drain(&self.net);
                    self.go_on(place);
                }
            }
            Blow::RollingRestart => self.rolling = self.net.random.between(6, 24),
            Blow::JumpCoordinator => self.jump_coordinator()?,
            Blow::JumpWorker => {
                let jump = self.jump(Happening::WorkerForward, Happening::WorkerBack);
                if let Some(worker) = &mut self.places[place].worker {
                    worker.ahead += jump;
                    self.go_on(place);
                }
            }
            Blow::Partition | Blow::HalfPartition => {
                let until = self.net.now + self.net.random.between(100 * MILLI, 30 * SECOND);
                let link = &mut self.net.links[place];
                if blow == Blow::Partition {
                    (link.up_cut, link.down_cut) = (until, until);
                    self.net.counts.add(Happening::Partition);
                } else {
                    if self.events.is_multiple_of(2) {
                        link.up_cut = until;
                    } else {
                        link.down_cut = until;
                    }
                    self.net.counts.add(Happening::HalfPartition);
                }
                let wait = self.net.random.between(5 * SECOND, 10 * SECOND);
                self.net.after(wait, Event::KeepAlive(place));
            }
            Blow::Reset => {
                self.net.counts.add(Happening::Reset);
                self.reset(place)?;
            }
            Blow::DiskFull => self.disk.failure = Some(Failure::Full),
            Blow::SyncFailed => self.disk.failure = Some(Failure::Sync),
            Blow::SlowWrite => self.disk.slow = true,
            Blow::Stuck => {
                if let Some(worker) = &mut self.places[place].worker {
                    worker.get_stuck();
                }
            }
            Blow::HostChanges => self.change_host(place),
            Blow::HostReplaced => {
                self.change_host(place);
                if self.places[place].worker.is_some() {
                    self.net.counts.add(Happening::WorkerCrash);
                    self.end_worker(place);
                }
            }
        }
        Ok(())
    }

    /// A host loses what an agent needs, or gets it back.
    fn change_host(&mut self, place: usize) {
        // As at the start, no stage may depend on it.
        if self.specs.iter().any(Spec::has_stages) {
            return;
        }
        let host = match self.places[place].host {
            Host::Good => Host::lacking(&mut self.net.random),
            Host::Bad | Host::Lacks(_) => Host::Good,
        };
        self.net.counts.add(Happening::HostChange);
        self.places[place].host = host;
        if let Some(worker) = &mut self.places[place].worker {
            worker.host = host;
        }
    }

    fn jump_coordinator(&mut self) -> Result<(), Wrong> {
        let jump = self.jump(Happening::CoordinatorForward, Happening::CoordinatorBack);
        if let Some(coordinator) = &mut self.coordinator {
            coordinator.ahead += jump;
        }
        self.coordinate()
    }

    /// The size of a clock jump, in microseconds.
    fn jump(&mut self, forward: Happening, back: Happening) -> i64 {
        let far = self.net.random.between(MILLI, 40 * SECOND) as i64;
        if self.net.random.permille(600) {
            self.net.counts.add(forward);
            far
        } else {
            self.net.counts.add(back);
            -far / 4
        }
    }
}
