//! The games of one job of the pool, and their reports.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use arena_wire::v1;
use tokio::sync::mpsc::UnboundedSender;

use super::{NativeRunner, PoolJob};
use crate::{agent::Event, record::unplayed};

/// Games that end within this time after a report are reported together, when the next game ends.
const EARLY: Duration = Duration::from_millis(200);
/// Games that a job takes before other work of the pool may come in between.
const FED: usize = 256;

/// A game, and the job that it belongs to.
pub(super) struct Taken {
    pub(super) job: PoolJob,
    pub(super) game: v1::GameAssignment,
}

/// The games of one job, and their reports.
pub(super) struct Games<'a> {
    runner: &'a NativeRunner,
    events: &'a UnboundedSender<Event>,
    /// The games that it has from the start.
    own: VecDeque<Taken>,
    /// True if it takes its games from those that all threads take from. Each of them has a counter
    /// of its own.
    is_fed: bool,
    /// Number of games that it may still take.
    left: usize,
    /// The games in play, by lease and index.
    open: Vec<(u64, u64)>,
    over: Vec<(u64, Option<v1::GameReport>)>,
    since: Instant,
}

impl<'a> Games<'a> {
    pub(super) fn of(
        runner: &'a NativeRunner,
        events: &'a UnboundedSender<Event>,
        job: PoolJob,
        games: Vec<v1::GameAssignment>,
    ) -> Self {
        let taken = games.into_iter().map(|game| Taken {
            job: job.clone(),
            game,
        });
        Self {
            own: taken.collect(),
            is_fed: false,
            ..Self::fed(runner, events)
        }
    }

    /// Games that it takes when it has a place for them.
    pub(super) fn fed(runner: &'a NativeRunner, events: &'a UnboundedSender<Event>) -> Self {
        Self {
            runner,
            events,
            own: VecDeque::new(),
            is_fed: true,
            left: FED,
            open: Vec::new(),
            over: Vec::new(),
            since: Instant::now(),
        }
    }

    /// The next game to play.
    pub(super) fn take(&mut self) -> Option<Taken> {
        let taken = if self.is_fed {
            self.left = self.left.checked_sub(1)?;
            let fed = self.runner.take_fed()?;
            fed.job.plies.set_at_work(true);
            fed
        } else {
            self.own.pop_front()?
        };
        self.open.push((taken.job.lease, taken.game.index));
        Some(taken)
    }

    /// A game is over; without a report, it is not wanted any more.
    pub(super) fn end_game(&mut self, taken: &Taken, report: Option<v1::GameReport>) {
        let key = (taken.job.lease, taken.game.index);
        self.open.retain(|&open| open != key);
        if self.is_fed {
            taken.job.plies.set_at_work(false);
        }
        self.over.push((taken.job.lease, report));
        if self.since.elapsed() >= EARLY {
            self.send();
        }
    }

    /// Reports all games that are over.
    fn send(&mut self) {
        self.since = Instant::now();
        let mut over = std::mem::take(&mut self.over);
        while let Some(&(lease, _)) = over.first() {
            let (of_lease, others) = over.into_iter().partition(|&(it, _)| it == lease);
            let of_lease: Vec<(u64, Option<v1::GameReport>)> = of_lease;
            over = others;
            self.runner.count_over(of_lease.len());
            // Without a driver, nothing waits for them.
            let _ = self.events.send(Event::Games {
                tournament: self.runner.context.tournament_id().to_owned(),
                lease,
                count: of_lease.len(),
                reports: of_lease
                    .into_iter()
                    .filter_map(|(_, report)| report)
                    .collect(),
            });
        }
    }

    /// Ends the job. A problem is that of all its games that are not over.
    pub(super) fn end(mut self, problem: Option<String>) {
        let own = self.own.drain(..).map(|it| (it.job.lease, it.game.index));
        for (lease, index) in self.open.drain(..).chain(own) {
            let why = problem.clone();
            let report = why.map(|why| unplayed(&self.runner.context, index, why));
            self.over.push((lease, report));
        }
        self.send();
    }
}
