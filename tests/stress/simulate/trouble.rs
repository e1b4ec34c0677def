//! Failures, and the events at which they happen.

use super::{net::Weather, random::Random};

/// A failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Blow {
    CrashCoordinator,
    CrashInWrite,
    CrashInRequest,
    CrashAtVoid,
    StopCoordinator,
    CrashWorker,
    CrashInComparison,
    DrainWorker,
    RollingRestart,
    JumpCoordinator,
    JumpWorker,
    Partition,
    HalfPartition,
    Reset,
    DiskFull,
    SyncFailed,
    SlowWrite,
    Stuck,
    HostChanges,
    HostReplaced,
}

const BLOWS: &[Blow] = &[
    Blow::CrashCoordinator,
    Blow::CrashCoordinator,
    Blow::CrashInWrite,
    Blow::CrashInWrite,
    Blow::CrashInRequest,
    Blow::CrashAtVoid,
    Blow::CrashAtVoid,
    Blow::StopCoordinator,
    Blow::CrashWorker,
    Blow::CrashWorker,
    Blow::CrashInComparison,
    Blow::CrashInComparison,
    Blow::DrainWorker,
    Blow::RollingRestart,
    Blow::RollingRestart,
    Blow::JumpCoordinator,
    Blow::JumpWorker,
    Blow::Partition,
    Blow::HalfPartition,
    Blow::Reset,
    Blow::DiskFull,
    Blow::SyncFailed,
    Blow::SlowWrite,
    Blow::Stuck,
    Blow::Stuck,
    Blow::HostChanges,
    Blow::HostReplaced,
    Blow::HostReplaced,
    Blow::HostReplaced,
    Blow::HostReplaced,
    Blow::HostReplaced,
    Blow::HostReplaced,
    Blow::HostReplaced,
    Blow::HostReplaced,
];

pub(super) struct Trouble {
    /// Failures by event, the last first.
    blows: Vec<(u64, Blow)>,
    pub(super) weather: Weather,
    /// The event at which the failures end.
    pub(super) until: u64,
}

impl Trouble {
    pub(super) fn draw(random: &mut Random) -> Self {
        let until = 30 << random.below(5);
        let mut blows: Vec<(u64, Blow)> = (0..random.below(7))
            .map(|_| (random.below(until), random.pick(BLOWS)))
            .collect();
        blows.sort_unstable_by_key(|(at, _)| std::cmp::Reverse(*at));
        let mut odds = || random.pick(&[0, 0, 5, 20, 100]);
        let weather = Weather {
            drop: odds(),
            duplicate: odds(),
            delay: odds() / 2,
        };
        Self {
            blows,
            weather,
            until,
        }
    }

    /// The failure of this event.
    pub(super) fn strike(&mut self, events: u64) -> Option<Blow> {
        self.blows
            .pop_if(|(at, _)| *at <= events)
            .map(|(_, blow)| blow)
    }
}
