//! The built-in bots of a tournament: whole games among them, and questions from games with
//! other agents, on the threads of the pool.

use std::{
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
};

use arena_telemetry::WorkerMetrics;
use arena_wire::v1;
use tokio::sync::mpsc::UnboundedSender;

use super::{
    Pool,
    client::{Asked, Questions},
    games::{Games, Taken},
    seated::{self, BotPool},
};
use crate::{
    agent::{Answer, DecisionResult, Event},
    context::TournamentContext,
    lock,
};

/// Games of a lease that one thread plays without a pause, if the rules are part of this program.
const CHUNK: usize = 4;
/// The built-in bots of a tournament, one set for each thread that needs one.
pub(crate) struct NativeRunner {
    /// The number of the tournament, whose jobs share a queue of the pool.
    pub(super) number: u64,
    pub(super) context: Arc<TournamentContext>,
    metrics: Arc<WorkerMetrics>,
    idle: Mutex<Vec<Box<dyn BotPool>>>,
    /// Games in the pool.
    pooled: AtomicUsize,
    feed: Mutex<Feed>,
}

/// Games whose rules are a package. Each thread takes the next one when it has a place.
#[derive(Default)]
struct Feed {
    games: VecDeque<Taken>,
    /// Threads that play them.
    players: usize,
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
        self.set_at_work(true);
        let out = work();
        self.set_at_work(false);
        out
    }

    pub(super) fn set_at_work(&self, at_work: bool) {
        self.at_work.store(at_work, Ordering::Relaxed);
    }
}

impl NativeRunner {
    pub(crate) fn new(
        number: u64,
        context: Arc<TournamentContext>,
        metrics: Arc<WorkerMetrics>,
    ) -> Arc<Self> {
        Arc::new(Self {
            number,
            context,
            metrics,
            idle: Mutex::default(),
            pooled: AtomicUsize::new(0),
            feed: Mutex::default(),
        })
    }

    /// Plays games in the pool. Returns the counters of their plies.
    pub(crate) fn start(
        self: &Arc<Self>,
        pool: &Arc<Pool>,
        events: &UnboundedSender<Event>,
        job: &PoolJob,
        games: Vec<v1::GameAssignment>,
    ) -> Vec<Arc<PlyCounter>> {
        self.pooled.fetch_add(games.len(), Ordering::Relaxed);
        if self.context.has_package() {
            return self.feed(pool, events, job, games);
        }
        let start = |chunk: &[v1::GameAssignment]| {
            let plies = Arc::<PlyCounter>::default();
            let job = PoolJob {
                plies: plies.clone(),
                ..job.clone()
            };
            let (this, events, games) = (self.clone(), events.clone(), chunk.to_vec());
            pool.add(self.number, false, move || {
                let (plies, games) = (job.plies.clone(), Games::of(&this, &events, job, games));
                this.play(&plies, games);
            });
            plies
        };
        games.chunks(CHUNK).map(start).collect()
    }

    /// Adds games to those that all threads take from, and starts threads that play them: rules of a
    /// package are asked about many games together.
    fn feed(
        self: &Arc<Self>,
        pool: &Arc<Pool>,
        events: &UnboundedSender<Event>,
        job: &PoolJob,
        games: Vec<v1::GameAssignment>,
    ) -> Vec<Arc<PlyCounter>> {
        let fed = games.into_iter().map(|game| Taken {
            job: PoolJob {
                plies: Arc::default(),
                ..job.clone()
            },
            game,
        });
        let fed: Vec<Taken> = fed.collect();
        let plies = fed.iter().map(|it| it.job.plies.clone()).collect();
        let mut feed = lock(&self.feed);
        feed.games.extend(fed);
        let players = pool.threads().min(feed.games.len());
        for _ in feed.players..players {
            feed.players += 1;
            self.add_player(pool, events);
        }
        plies
    }

    fn add_player(self: &Arc<Self>, pool: &Arc<Pool>, events: &UnboundedSender<Event>) {
        let (this, events) = (self.clone(), events.clone());
        let of = Arc::downgrade(pool);
        pool.add(self.number, false, move || {
            this.play(&PlyCounter::default(), Games::fed(&this, &events));
            // Other work of the pool comes in between.
            let mut feed = lock(&this.feed);
            match of.upgrade().filter(|_| !feed.games.is_empty()) {
                Some(pool) => {
                    drop(feed);
                    this.add_player(&pool, &events);
                }
                None => feed.players -= 1,
            }
        });
    }

    /// Games in the pool.
    pub(crate) fn pooled(&self) -> usize {
        self.pooled.load(Ordering::Relaxed)
    }

    /// This many games in the pool are over.
    pub(super) fn count_over(&self, games: usize) {
        self.pooled.fetch_sub(games, Ordering::Relaxed);
    }

    pub(super) fn take_fed(&self) -> Option<Taken> {
        lock(&self.feed).games.pop_front()
    }

    fn play(&self, plies: &PlyCounter, mut games: Games<'_>) {
        let played = self.with_bots(plies, |bots| {
            bots.play(&mut games);
            bots.flush();
            Ok(())
        });
        games.end(played.err());
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
