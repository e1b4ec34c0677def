//! One built-in agent in games whose other seats are elsewhere: it is asked through the pool,
//! with encoded positions.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use arena_agents::{Bot, Decision, Stop};
use arena_engine::{ActionId, AnyMatch, FaultKind, Game, Question, options::Options};
use arena_games::Visitor;
use arena_telemetry::{MoveTiming, WorkerMetrics};
use tokio::sync::mpsc::UnboundedSender;

use super::{
    PlyCounter, Pool,
    time_limit::{Stopped, TimeLimit},
};
use crate::{
    agent::{DecisionResult, Event, FaultReport, Token, window::Window},
    context::TournamentContext,
    meter::Meter,
};

/// Questions to one built-in agent.
#[derive(Debug, Default)]
struct Questions {
    positions: Vec<u8>,
    legal: Vec<ActionId>,
    asked: Vec<Asked>,
    /// Time at which the first of them was wanted.
    since: Option<Instant>,
    /// Answered questions.
    answered: Arc<PlyCounter>,
}

#[derive(Debug)]
struct Asked {
    token: Token,
    question: Question,
    /// End of position and legal actions.
    position: usize,
    legal: usize,
}

/// A bot that plays from encoded positions.
trait NativeRunner: Send {
    fn answer(&mut self, questions: &Questions, context: &TournamentContext) -> Vec<NativeAnswer>;
}

/// Result of a question.
pub(crate) type NativeAnswer = (Token, DecisionResult);

/// The bots of one built-in agent, one for each thread that needs one.
pub(crate) struct NativeRunners {
    agent: u16,
    options: Options,
    context: Arc<TournamentContext>,
    metrics: Arc<WorkerMetrics>,
    idle: Mutex<Vec<Box<dyn NativeRunner>>>,
    load: Mutex<Load>,
}

/// Settings of its questions.
struct Load {
    window: Window,
    /// Open questions.
    open: usize,
}

/// Maximum questions at a time.
const AT_ONCE: usize = 4096;

impl NativeRunners {
    pub(crate) fn new(
        agent: u16,
        options: Options,
        context: Arc<TournamentContext>,
        metrics: Arc<WorkerMetrics>,
    ) -> Arc<Self> {
        Arc::new(Self {
            agent,
            options,
            context,
            metrics,
            idle: Mutex::default(),
            load: Mutex::new(Load {
                window: Window::new(AT_ONCE),
                open: 0,
            }),
        })
    }

    fn load(&self) -> std::sync::MutexGuard<'_, Load> {
        self.load.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, questions: &Questions) -> Result<Vec<NativeAnswer>, String> {
        let idle = self.lock().pop();
        let mut runner = match idle {
            Some(runner) => runner,
            None => self.make()?,
        };
        let answers = runner.answer(questions, &self.context);
        self.lock().push(runner);
        Ok(answers)
    }

    fn make(&self) -> Result<Box<dyn NativeRunner>, String> {
        self.context
            .visit(Make(self))
            .map_err(|error| error.to_string())?
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Box<dyn NativeRunner>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Make<'a>(&'a NativeRunners);

impl Visitor for Make<'_> {
    type Out = Result<Box<dyn NativeRunner>, String>;

    fn visit<G: Game>(self, game: G) -> Self::Out {
        let NativeRunners { agent, context, .. } = self.0;
        let bot = &context.agent(*agent).bot;
        let bot =
            arena_agents::bot(bot, &self.0.options, &game).map_err(|error| error.to_string())?;
        let meter = context.meter(&self.0.metrics, *agent);
        Ok(Box::new(Seated {
            game,
            bot,
            meter,
            agent: *agent,
        }))
    }
}

struct Seated<G: Game> {
    game: G,
    bot: Box<dyn Bot<G>>,
    meter: Meter,
    agent: u16,
}

impl<G: Game> NativeRunner for Seated<G> {
    fn answer(&mut self, questions: &Questions, context: &TournamentContext) -> Vec<NativeAnswer> {
        let time_limit = TimeLimit::of(context);
        let mut answers = Vec::with_capacity(questions.asked.len());
        let (mut position, mut legal) = (0, 0);
        for asked in &questions.asked {
            let bytes = &questions.positions[position..asked.position];
            let actions = &questions.legal[legal..asked.legal];
            (position, legal) = (asked.position, asked.legal);
            let state = match self.game.decode(bytes) {
                Ok(state) => state,
                Err(error) => {
                    answers.push((asked.token, DecisionResult::Void(error.to_string())));
                    continue;
                }
            };
            let choose = |stop: Stop<'_>| {
                self.bot.choose(&Decision {
                    game: &self.game,
                    state: &state,
                    seat: asked.question.seat,
                    number: asked.question.number,
                    seed: asked.question.seed,
                    legal: actions,
                    stop,
                })
            };
            let again = || {
                let agent = context.agent_name(self.agent);
                tracing::info!(agent, "{}: asking again", time_limit.message());
            };
            let start = Instant::now();
            let thought = time_limit.ask(None, choose, again);
            let took = start.elapsed();
            // A late question may have been asked twice: the time that the bot had counts.
            let counted = match &thought {
                Ok(_) => Some(took),
                Err(Stopped::Late) => Some(time_limit.limit()),
                Err(Stopped::Unwanted) => None,
            };
            if let Some(counted) = counted {
                let waited = questions.since.map(|since| start - since);
                let timing = MoveTiming::in_process(waited.unwrap_or_default(), counted);
                self.meter.timed(timing, 1);
            }
            let verdict = match thought {
                Ok(chosen) => DecisionResult::Move(chosen.action.into(), took),
                Err(Stopped::Late) => DecisionResult::Fault(
                    FaultReport {
                        kind: FaultKind::Timeout,
                        message: time_limit.message(),
                        tail: String::new(),
                    },
                    time_limit.limit(),
                ),
                Err(Stopped::Unwanted) => DecisionResult::Void("nobody waits for it".to_owned()),
            };
            answers.push((asked.token, verdict));
            questions.answered.count();
        }
        self.meter.flush();
        answers
    }
}

/// The client of the driver for one built-in agent in the pool.
pub(crate) struct NativeClient {
    runners: Arc<NativeRunners>,
    waiting: Questions,
}

impl NativeClient {
    pub(crate) fn new(runners: Arc<NativeRunners>) -> Self {
        Self {
            runners,
            waiting: Questions::default(),
        }
    }

    /// True if a game of this agent may start while this many are played.
    pub(crate) fn has_room(&self, active: usize) -> bool {
        let load = self.runners.load();
        load.window.has_room(active, load.open)
    }

    /// Adds a question, which is sent with the next [`NativeClient::flush`]. Returns the progress
    /// of its job.
    pub(crate) fn ask(
        &mut self,
        token: Token,
        game: &dyn AnyMatch,
        question: Question,
    ) -> Arc<PlyCounter> {
        let waiting = &mut self.waiting;
        waiting.since.get_or_insert_with(Instant::now);
        game.encode(false, &mut waiting.positions);
        waiting.legal.extend_from_slice(game.legal());
        waiting.asked.push(Asked {
            token,
            question,
            position: waiting.positions.len(),
            legal: waiting.legal.len(),
        });
        waiting.answered.clone()
    }

    /// Passes waiting questions to the pool.
    pub(crate) fn flush(&mut self, pool: &Pool, events: &UnboundedSender<Event>) {
        if self.waiting.asked.is_empty() {
            return;
        }
        let questions = std::mem::take(&mut self.waiting);
        let runners = self.runners.clone();
        let events = events.clone();
        let asked = questions.asked.len();
        runners.load().open += asked;
        pool.add(true, move || {
            questions.answered.set_at_work(true);
            let start = Instant::now();
            let answered = catch_unwind(AssertUnwindSafe(|| runners.answer(&questions)));
            questions.answered.set_at_work(false);
            let mut load = runners.load();
            load.open -= asked;
            load.window.answered(asked, start.elapsed());
            drop(load);
            let problem = match answered {
                Ok(Ok(answers)) => {
                    let _ = events.send(Event::NativeAnswers(answers));
                    return;
                }
                Ok(Err(problem)) => problem,
                Err(_) => format!(
                    "the native agent {} panicked",
                    runners.context.agent_name(runners.agent)
                ),
            };
            let void = |asked: &Asked| (asked.token, DecisionResult::Void(problem.clone()));
            let answers = questions.asked.iter().map(void).collect();
            let _ = events.send(Event::NativeAnswers(answers));
        });
    }
}
