//! What is known of the processes that play: whether their attempts come to
//! something. Who fails at once is always idle, and would take every game.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use super::{Player, WorkerId, terms::Attempt};

/// For how long a process gets nothing after attempts that came to nothing,
/// doubled each time.
const REST: Duration = Duration::from_millis(500);
/// After so many leases in a row that came to nothing, and not even to trying to
/// start an agent, it is not waited for to try one.
const BROKEN: u32 = 3;
/// The longest such rest.
const REST_MAX: Duration = Duration::from_secs(30);
/// Processes that left and are remembered, because their attempts failed.
const GONE_MAX: usize = 4096;

#[derive(Clone, Copy, Debug, Default)]
struct Process {
    /// Its joins that are not over.
    here: u32,
    /// When it came.
    since: Duration,
    /// The newest of them.
    worker: WorkerId,
    /// It played a game since its attempts failed last.
    proven: bool,
    /// Leases in a row that came to nothing.
    failed: u32,
    /// Those of them since it tried to start an agent.
    broken: u32,
    /// Until when it rests.
    until: Duration,
    /// A lease of it made no progress, and nothing was heard of a game since.
    hangs: bool,
    /// When a game of it came last.
    played: Option<Duration>,
}

/// All that are here, and those that left in doubt.
#[derive(Debug, Default)]
pub(super) struct Processes {
    /// How long trouble of a host may last.
    pub(super) patience: Duration,
    all: BTreeMap<Player, Process>,
    /// Those that are here and in no doubt.
    sound: BTreeSet<Player>,
    gone: usize,
}

impl Processes {
    pub(super) fn new(patience: Duration) -> Self {
        Self {
            patience,
            ..Self::default()
        }
    }

    pub(super) fn joined(&mut self, player: Player, worker: WorkerId, now: Duration) {
        let process = self.all.entry(player).or_default();
        if process.here == 0 {
            process.since = now;
        }
        if process.here == 0 && process.failed > 0 {
            self.gone -= 1;
        }
        process.here += 1;
        process.worker = worker;
        process.hangs = false;
        if process.failed == 0 {
            self.sound.insert(player);
        }
    }

    /// One of its joins is over; true where that was the last.
    pub(super) fn left(&mut self, player: Player) -> bool {
        let Some(process) = self.all.get_mut(&player) else {
            return false;
        };
        process.here -= 1;
        if process.here > 0 {
            return false;
        }
        self.sound.remove(&player);
        if process.failed == 0 || self.gone >= GONE_MAX || !matches!(player, Player::Process(_)) {
            self.all.remove(&player);
        } else {
            self.gone += 1;
        }
        true
    }

    /// A lease came to nothing.
    pub(super) fn failed(&mut self, player: Player, now: Duration) {
        if let Some(process) = self.here_mut(player) {
            process.broken += 1;
            process.proven = false;
            let rest = REST * (1 << process.failed.min(6));
            process.until = now + rest.min(REST_MAX);
            process.failed += 1;
            self.sound.remove(&player);
        }
    }

    /// A lease made no progress.
    pub(super) fn hangs(&mut self, player: Player, now: Duration) {
        self.failed(player, now);
        if let Some(process) = self.here_mut(player) {
            process.hangs = true;
        }
    }

    /// It came to trying to start an agent.
    pub(super) fn tried(&mut self, player: Player) {
        if let Some(process) = self.here_mut(player) {
            process.broken = 0;
            process.hangs = false;
        }
    }

    /// A game was played.
    pub(super) fn played(&mut self, player: Player, now: Duration) {
        if let Some(process) = self.here_mut(player) {
            process.proven = true;
            process.hangs = false;
            process.played = Some(now);
            process.failed = 0;
            process.broken = 0;
            self.sound.insert(player);
        }
    }

    /// How long a game rests that failed where nothing else is played.
    pub(super) fn rest(&self) -> Duration {
        self.patience / 10
    }

    /// When a game of one that is here came last.
    pub(super) fn played_last(&self, player: Player) -> Option<Duration> {
        self.all.get(&player)?.played
    }

    fn here_mut(&mut self, player: Player) -> Option<&mut Process> {
        self.all.get_mut(&player).filter(|it| it.here > 0)
    }

    fn sound(&self) -> impl Iterator<Item = (Player, WorkerId)> {
        let sound = self.sound.iter();
        sound.filter_map(|player| Some((*player, self.all.get(player)?.worker)))
    }

    fn others(&self, player: Player) -> impl Iterator<Item = (Player, &Process)> {
        let all = self.all.iter().map(|(&other, process)| (other, process));
        all.filter(move |(other, process)| *other != player && process.here > 0)
    }

    pub(super) fn is_here(&self, player: Player) -> bool {
        self.all.get(&player).is_some_and(|it| it.here > 0)
    }

    /// Until when a process in doubt rests; none where it is in no doubt, or no
    /// other is that `suits`.
    pub(super) fn rests(
        &self,
        player: Player,
        suits: impl Fn(WorkerId) -> bool,
    ) -> Option<Duration> {
        let process = self.all.get(&player).filter(|it| it.failed > 0)?;
        let mut sound = self.sound();
        sound
            .any(|(_, worker)| suits(worker))
            .then_some(process.until)
    }

    /// Whether another that `suits` is likelier to play a game after these
    /// attempts.
    pub(super) fn outranked(
        &self,
        player: Player,
        tried: &[Attempt],
        suits: impl Fn(WorkerId) -> bool,
    ) -> bool {
        let Some(process) = self.all.get(&player) else {
            return false;
        };
        let mine = rank(player, process, tried);
        // Mostly one of those in no doubt is, and is found among the first.
        let sound = |(other, worker)| !has_tried(other, tried) && suits(worker);
        if mine.0 > 1 && self.sound().any(sound) {
            return true;
        }
        let better = |(other, process): (Player, &Process)| {
            rank(other, process, tried) < mine && suits(process.worker)
        };
        mine > (0, 0) && self.others(player).any(better)
    }

    /// Whether somebody that `suits` is here in no doubt who made none of these
    /// attempts.
    pub(super) fn has_sound_beside(
        &self,
        tried: &[Attempt],
        suits: impl Fn(Player) -> bool,
    ) -> bool {
        let mut sound = self.sound().map(|(player, _)| player);
        sound.any(|player| !has_tried(player, tried) && suits(player))
    }

    /// How many are here.
    fn here(&self) -> usize {
        self.all.len() - self.gone
    }

    /// Whether somebody who came after this time, or is not `excused`, is here and
    /// plays; so many are excused.
    pub(super) fn has_other(
        &self,
        (count, excused): (usize, impl Fn(Player) -> bool),
        came_after: impl Fn(Duration) -> bool,
    ) -> bool {
        let able = |process: &Process| {
            process.here > 0 && process.broken < BROKEN && came_after(process.since)
        };
        let mut all = self.all.iter();
        count < self.here() && all.any(|(&player, process)| able(process) && !excused(player))
    }
}

fn has_tried(player: Player, tried: &[Attempt]) -> bool {
    tried.iter().any(|attempt| attempt.by == player)
}

/// How unlikely a process is to play a game after these attempts, and how many of
/// them were its own: who is as unlikely takes turns.
fn rank(player: Player, process: &Process, tried: &[Attempt]) -> (u8, usize) {
    let own = || tried.iter().filter(|attempt| attempt.by == player);
    let attempts = own().count();
    let useless = process.hangs || process.broken >= BROKEN;
    let rank = if useless || own().any(|attempt| attempt.unready.is_some()) {
        4
    } else if attempts > 0 {
        3
    } else if process.failed > 0 {
        2
    } else {
        u8::from(!process.proven)
    };
    (rank, attempts)
}
