//! The built-in bots of a tournament: whole games among them, and questions from games with
//! other agents, on the threads of the pool.

use std::{
    collections::HashSet,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use arena_telemetry::WorkerMetrics;
use arena_wire::v1;
use tokio::sync::mpsc::UnboundedSender;

use super::{
    Pool,
    client::{Asked, Questions},
    seated::{self, BotPool},
};
use crate::{
    agent::{Answer, DecisionResult, Event},
    context::TournamentContext,
    lock,
    record::unplayed,
};

/// Games of a lease that one thread plays without a pause, if the rules are part of this program.
const CHUNK: usize = 4;
/// Games are reported together, but not later than this after the first one started.
const EARLY: Duration = Duration::from_millis(200);

/// The built-in bots of a tournament, one set for each thread that needs one.
pub(crate) struct NativeRunner {
    pub(super) context: Arc<TournamentContext>,
    metrics: Arc<WorkerMetrics>,
    idle: Mutex<Vec<Box<dyn BotPool>>>,
}

/// What several games in the pool share.
#[derive(Clone)]
pub(crate) struct PoolJob {
    pub(crate) lease: u64,
    /// Plies played so far.
    pub(crate) plies: Arc<PlyCounter>,
    /// True if the games are not wanted any more.
    pub(crate) unwanted: Arc<AtomicBool>,
}

/// A counter of plies, on cache lines of its own: each thread counts every ply at the same
/// time as others.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct PlyCounter {
    count: AtomicU64,
    at_work: AtomicBool,
}

impl PlyCounter {
    /// Adds one.
    #[inline]
    pub(crate) fn count(&self) {
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    /// Adds one, if only one thread ever does.
    #[inline]
    pub(crate) fn count_alone(&self) {
        let count = self.count.load(Ordering::Relaxed);
        self.count.store(count + 1, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// False if the games wait for a thread, or are over.
    pub(crate) fn is_at_work(&self) -> bool {
        self.at_work.load(Ordering::Relaxed)
    }

    /// Marks that a thread is at work while it runs `work`.
    fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        self.at_work.store(true, Ordering::Relaxed);
        let out = work();
        self.at_work.store(false, Ordering::Relaxed);
        out
    }
}

impl NativeRunner {
    pub(crate) fn new(context: Arc<TournamentContext>, metrics: Arc<WorkerMetrics>) -> Arc<Self> {
        Arc::new(Self {
            context,
            metrics,
            idle: Mutex::default(),
        })
    }

    /// Plays games in the pool. Returns the counters of their plies.
    pub(crate) fn start(
        self: &Arc<Self>,
        pool: &Pool,
        events: &UnboundedSender<Event>,
        job: &PoolJob,
        games: &[v1::GameAssignment],
    ) -> Vec<Arc<PlyCounter>> {
        let start = |chunk: &[v1::GameAssignment]| {
            let plies = Arc::<PlyCounter>::default();
            let job = PoolJob {
                plies: plies.clone(),
                ..job.clone()
            };
            let (this, events, games) = (self.clone(), events.clone(), chunk.to_vec());
            pool.add(false, move || this.play(&job, &games, &events));
            plies
        };
        let chunk = match self.context.has_package() {
            // Games that are played side by side ask the rules together.
            true => games.len().div_ceil(pool.threads()).max(CHUNK),
            false => CHUNK,
        };
        games.chunks(chunk).map(start).collect()
    }

    /// Plays games; games of slow bots are reported early.
    fn play(&self, job: &PoolJob, games: &[v1::GameAssignment], events: &UnboundedSender<Event>) {
        let report = |count, reports| {
            // Without a driver, nothing waits for them.
            let _ = events.send(Event::Games {
                tournament: self.context.tournament_id().to_owned(),
                lease: job.lease,
                count,
                reports,
            });
        };
        let mut reported = HashSet::new();
        let played = self.with_bots(&job.plies, |bots| {
            let mut reports = Vec::with_capacity(games.len());
            let mut since = Instant::now();
            bots.play(games, job, &mut |played| {
                reports.push(played);
                if since.elapsed() >= EARLY {
                    reported.extend(reports.iter().filter_map(index_of));
                    report(reports.len(), std::mem::take(&mut reports));
                    since = Instant::now();
                }
            });
            bots.flush();
            Ok(reports)
        });
        let void = |why: String| {
            let left = games.iter().filter(|game| !reported.contains(&game.index));
            let void = |game: &v1::GameAssignment| unplayed(&self.context, game.index, why.clone());
            left.map(void).collect()
        };
        let left = games.len() - reported.len();
        report(left, played.unwrap_or_else(void));
    }

    /// Answers the questions to an agent.
    pub(super) fn answer(&self, agent: u16, questions: &Questions) -> Vec<Answer> {
        let answers = self.with_bots(&questions.answered, |bots| bots.answer(agent, questions));
        answers.unwrap_or_else(|why| {
            let void = |asked: &Asked| (asked.token, DecisionResult::Void(why.clone()));
            questions.asked.iter().map(void).collect()
        })
    }

    /// Runs work with an idle set of bots, or a new one.
    fn with_bots<T>(
        &self,
        plies: &PlyCounter,
        work: impl FnOnce(&mut dyn BotPool) -> Result<T, String>,
    ) -> Result<T, String> {
        let work = || {
            let idle = lock(&self.idle).pop();
            let mut bots = match idle {
                Some(bots) => bots,
                None => seated::make(&self.context, &self.metrics)?,
            };
            let out = work(&mut *bots);
            lock(&self.idle).push(bots);
            out
        };
        plies
            .during(|| catch_unwind(AssertUnwindSafe(work)))
            .unwrap_or_else(|_| Err("a built-in bot or the rules panicked".to_owned()))
    }
}

fn index_of(report: &v1::GameReport) -> Option<u64> {
    report.record.as_ref().map(|record| record.index)
}
