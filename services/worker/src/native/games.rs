//! Whole games among built-in agents, with static types throughout.

use std::{
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use arena_agents::{Bot, Decision, Stop};
use arena_engine::{FaultKind, Finished, Game, Match, Question, Status};
use arena_games::Visitor;
use arena_telemetry::{MoveTiming, WeightedHistogram, WorkerMetrics};
use arena_wire::v1;
use tokio::sync::mpsc::UnboundedSender;

use super::{
    Pool,
    time_limit::{Stopped, TimeLimit},
};
use crate::{
    agent::Event,
    context::TournamentContext,
    meter::Meter,
    record::{Answered, Known, RecordBuilder, Timed, micros},
};

/// Games of a lease that one thread plays without a pause.
const CHUNK: usize = 4;
/// Games are reported together, but not later than this after the first one started.
const EARLY: Duration = Duration::from_millis(200);

/// The built-in agents of a tournament, and the sets of bots of the threads.
pub(crate) struct NativeGames {
    context: Arc<TournamentContext>,
    metrics: Arc<WorkerMetrics>,
    idle: Mutex<Vec<Idle>>,
}

/// What a thread needs to play.
type Idle = (Box<dyn BotPool>, RecordBuilder);

/// A set of bots that plays whole games.
trait BotPool: Send {
    /// Plays a game; none if it is not wanted any more.
    fn play(
        &mut self,
        context: &TournamentContext,
        game: &v1::GameAssignment,
        job: &PoolJob,
    ) -> Result<Option<Ended>, String>;
    fn flush(&mut self);
}

/// How a game ended.
struct Ended {
    finished: Finished,
    known: Known,
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

/// A counter of plies, on cache lines of its own: each thread counts every ply, and others
/// count beside it.
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

    pub(crate) fn get(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// A thread starts to play with this counter, or ends.
    pub(crate) fn set_at_work(&self, at_work: bool) {
        self.at_work.store(at_work, Ordering::Relaxed);
    }

    /// False if the games wait for a thread, or are over.
    pub(crate) fn is_at_work(&self) -> bool {
        self.at_work.load(Ordering::Relaxed)
    }
}

impl NativeGames {
    pub(crate) fn new(context: Arc<TournamentContext>, metrics: Arc<WorkerMetrics>) -> Arc<Self> {
        Arc::new(Self {
            context,
            metrics,
            idle: Mutex::default(),
        })
    }

    /// Plays games in the pool. Returns the counter of their plies.
    pub(crate) fn start(
        self: &Arc<Self>,
        pool: &Pool,
        events: &UnboundedSender<Event>,
        job: &PoolJob,
        games: &[v1::GameAssignment],
    ) -> Vec<Arc<PlyCounter>> {
        let mut counts = Vec::with_capacity(games.len().div_ceil(CHUNK));
        for chunk in games.chunks(CHUNK) {
            let this = self.clone();
            let events = events.clone();
            let plies = Arc::<PlyCounter>::default();
            counts.push(plies.clone());
            let job = PoolJob {
                plies,
                ..job.clone()
            };
            let games = chunk.to_vec();
            pool.add(false, move || {
                let tell = |count, reports| {
                    // Without a driver, nothing waits for them.
                    let _ = events.send(Event::Games {
                        tournament: this.context.tournament_id().to_owned(),
                        lease: job.lease,
                        count,
                        reports,
                    });
                };
                let mut reported = 0;
                let early = |reports: Vec<v1::GameReport>| {
                    reported += reports.len();
                    tell(reports.len(), reports);
                };
                job.plies.set_at_work(true);
                let reports = catch_unwind(AssertUnwindSafe(|| this.play(&job, &games, early)));
                let reports = reports.unwrap_or_else(|_| {
                    let builder = RecordBuilder::new(this.context.clone());
                    let why = "a native agent panicked";
                    let void = |game| builder.void(game, why.to_owned());
                    games[reported..].iter().map(void).collect()
                });
                job.plies.set_at_work(false);
                tell(games.len() - reported, reports);
            });
        }
        counts
    }

    /// Plays games; games of slow bots are reported early.
    fn play(
        &self,
        job: &PoolJob,
        games: &[v1::GameAssignment],
        mut early: impl FnMut(Vec<v1::GameReport>),
    ) -> Vec<v1::GameReport> {
        let idle = self.lock().pop();
        let (mut bots, mut builder) = match idle {
            Some(idle) => idle,
            None => {
                let builder = RecordBuilder::new(self.context.clone());
                match self.make() {
                    Ok(bots) => (bots, builder),
                    Err(why) => {
                        let void = |game| builder.void(game, why.clone());
                        return games.iter().map(void).collect();
                    }
                }
            }
        };
        let mut reports = Vec::with_capacity(games.len());
        let mut since = Instant::now();
        for game in games {
            if !reports.is_empty() && since.elapsed() >= EARLY {
                early(std::mem::take(&mut reports));
                since = Instant::now();
            }
            if job.unwanted.load(Ordering::Relaxed) {
                break;
            }
            let played = bots.play(&self.context, game, job);
            reports.push(match played {
                Ok(Some(Ended { finished, known })) => builder.seal(game, finished, known),
                Ok(None) => break,
                Err(why) => builder.void(game, why),
            });
        }
        bots.flush();
        self.lock().push((bots, builder));
        reports
    }

    fn make(&self) -> Result<Box<dyn BotPool>, String> {
        struct Make(Arc<WorkerMetrics>, WeightedHistogram);
        impl Visitor for Make {
            type Out = Box<dyn BotPool>;

            fn visit<G: Game>(self, game: G) -> Self::Out {
                Box::new(Seated {
                    game,
                    metrics: self.0,
                    overhead: self.1,
                    bots: BTreeMap::new(),
                })
            }
        }
        let overhead = self.metrics.overhead(&self.context.wire().ruleset);
        self.context
            .visit(Make(self.metrics.clone(), overhead))
            .map_err(|error| error.to_string())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Idle>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Seated<G: Game> {
    game: G,
    metrics: Arc<WorkerMetrics>,
    overhead: WeightedHistogram,
    bots: BTreeMap<u16, MeteredBot<G>>,
}

struct MeteredBot<G: Game> {
    bot: Box<dyn Bot<G>>,
    meter: Meter,
}

impl<G: Game> Seated<G> {
    fn seat(&mut self, context: &TournamentContext, seats: &[u16]) -> Result<(), String> {
        for &index in seats {
            if !self.bots.contains_key(&index) {
                let (bot, options) = context.native(index)?;
                let bot = arena_agents::bot(&bot, &options, &self.game)
                    .map_err(|error| error.to_string())?;
                let meter = context.meter(&self.metrics, index);
                let bot = MeteredBot { bot, meter };
                self.bots.insert(index, bot);
            }
        }
        Ok(())
    }
}

/// Reports bots that were late in a game.
struct Late<'a> {
    context: &'a TournamentContext,
    game: u64,
}

impl Late<'_> {
    fn tell(&self, agent: u16, reported: &str) {
        tracing::info!(
            tournament = self.context.tournament_id(),
            game = self.game,
            agent = self.context.agent_name(agent),
            "{reported}"
        );
    }

    fn charge(&self, agent: u16, question: Question, reported: String) -> v1::FaultDetail {
        self.tell(agent, &reported);
        v1::FaultDetail {
            seat: question.seat.into(),
            message: reported,
            stderr_tail: String::new(),
        }
    }
}

impl<G: Game> BotPool for Seated<G> {
    fn play(
        &mut self,
        context: &TournamentContext,
        assignment: &v1::GameAssignment,
        job: &PoolJob,
    ) -> Result<Option<Ended>, String> {
        let timed = Timed::start();
        let seats = context.seats(assignment);
        self.seat(context, &seats)?;
        let strict = context.strict();
        let time_limit = TimeLimit::of(context);
        let late = Late {
            context,
            game: assignment.index,
        };
        let (mut latencies_us, mut details) = (Vec::new(), Vec::new());
        let mut played = Answered::default();
        let mut game = Match::open(self.game.clone(), context.setup(assignment))
            .map_err(|error| error.to_string())?;
        while let Status::Asks(question) = game.status() {
            if job.unwanted.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let agent = seats[usize::from(question.seat)];
            let Some(MeteredBot { bot, meter }) = self.bots.get_mut(&agent) else {
                return Err(format!("nobody sits on seat {}", question.seat));
            };
            let choose = |stop: Stop<'_>| bot.choose(&Decision::of(&game, question, stop));
            let again = || late.tell(agent, &format!("{}: asking again", time_limit.message()));
            let sampled = meter.due();
            let weight = meter.weight();
            let start = (strict || sampled).then(Instant::now);
            match time_limit.ask(Some(&job.unwanted), choose, again) {
                Ok(chosen) => {
                    let took = start.map(|start| start.elapsed());
                    match took.map(|took| MoveTiming::in_process(Duration::ZERO, took)) {
                        Some(timing) if strict => meter.timed(timing, 1),
                        Some(timing) => meter.sampled(timing),
                        None => meter.untimed(),
                    }
                    latencies_us.extend(took.filter(|_| strict).map(micros));
                    let answered = sampled.then(Instant::now);
                    match game.answer(chosen.action.into()) {
                        Ok(()) => played.add(question.seat),
                        Err(_) => game.fault(FaultKind::IllegalMove),
                    }
                    if let Some(answered) = answered {
                        self.overhead
                            .observe(answered.elapsed().as_secs_f64(), weight);
                    }
                }
                Err(Stopped::Late) => {
                    let timing = MoveTiming::in_process(Duration::ZERO, time_limit.limit());
                    meter.timed(timing, 1);
                    latencies_us.extend(strict.then(|| micros(time_limit.limit())));
                    details.push(late.charge(agent, question, time_limit.message()));
                    game.fault(FaultKind::Timeout);
                }
                Err(Stopped::Unwanted) => return Ok(None),
            }
            job.plies.count();
        }
        Ok(Some(Ended {
            finished: game.finish(),
            known: Known {
                timed,
                latencies_us,
                details,
                answered: played,
                outputs: Vec::new(),
            },
        }))
    }

    fn flush(&mut self) {
        for bot in self.bots.values_mut() {
            bot.meter.flush();
        }
    }
}
