//! The bots of one thread, with the static type of their game.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use arena_agents::{Bot, Decision, Stop};
use arena_engine::{
    FaultKind, Game, Match, Status,
    options::{OptionError, Options},
};
use arena_games::{AddedRuleset, Ruleset, Typed, Visitor};
use arena_telemetry::{MoveTiming, WeightedHistogram, WorkerMetrics};
use arena_wire::v1;

use super::{
    client::Questions,
    games::{Games, Taken},
    time_limit::{Stopped, TimeLimit},
};
use crate::{
    agent::{Answer, DecisionResult, FaultReport},
    clock::Clocks,
    clock::micros,
    context::TournamentContext,
    meter::Meter,
    record::{self, Answered, Known, Timed, unplayed},
    rules,
};

/// The bots of a tournament on one thread, each made when it is first needed.
pub(super) trait BotPool: Send {
    /// Plays games among these bots.
    fn play(&mut self, games: &mut Games<'_>);

    /// Answers the questions to one bot.
    fn answer(&mut self, agent: u16, questions: &Questions) -> Result<Vec<Answer>, String>;

    /// Publishes the measurements.
    fn flush(&mut self);
}

/// Makes the bots of a thread.
pub(super) fn make(
    context: &Arc<TournamentContext>,
    metrics: &Arc<WorkerMetrics>,
) -> Result<Box<dyn BotPool>, String> {
    let made = context.visit(Make(context.clone(), metrics.clone()));
    made.map_err(|error| error.to_string())
}

/// Compiles what bots play for the static type of an added game.
#[must_use]
pub fn play_typed<G: Ruleset>(ruleset: AddedRuleset) -> AddedRuleset {
    ruleset.visited_by::<G, Make>()
}

struct Make(Arc<TournamentContext>, Arc<WorkerMetrics>);

impl Visitor for Make {
    type Out = Box<dyn BotPool>;

    fn visit<G: Game>(self, game: G) -> Self::Out {
        let Self(context, metrics) = self;
        Box::new(Seated {
            game: game.deferring(),
            overhead: metrics.overhead(&context.wire().ruleset),
            bots: Bots {
                context,
                metrics,
                made: BTreeMap::new(),
            },
        })
    }

    fn visit_added(
        self,
        typed: &Typed,
        options: &Options,
        seats: usize,
    ) -> Result<Result<Self::Out, OptionError>, Self> {
        typed.visit(self, options, seats)
    }
}

struct Seated<G: Game> {
    game: G,
    bots: Bots<G>,
    overhead: WeightedHistogram,
}

/// A game in play.
struct Playing<G: Game> {
    taken: Taken,
    of: GameInPlay<G>,
}

struct GameInPlay<G: Game> {
    timed: Timed,
    seats: Vec<u16>,
    clocks: Option<Clocks>,
    run_queue_us: Vec<u32>,
    latencies_us: Vec<u32>,
    details: Vec<v1::FaultDetail>,
    answered: Answered,
    game: Match<G>,
}

/// How far a game was played.
enum GoesOn {
    Over,
    /// A position is pending.
    Waits,
    /// The game is not wanted any more.
    Unwanted,
}

struct Bots<G: Game> {
    context: Arc<TournamentContext>,
    metrics: Arc<WorkerMetrics>,
    made: BTreeMap<u16, MeteredBot<G>>,
}

struct MeteredBot<G: Game> {
    bot: Box<dyn Bot<G>>,
    meter: Meter,
}

impl<G: Game> Bots<G> {
    fn get(&mut self, agent: u16, game: &G) -> Result<&mut MeteredBot<G>, String> {
        match self.made.entry(agent) {
            Entry::Occupied(made) => Ok(made.into_mut()),
            Entry::Vacant(place) => {
                let (bot, options) = self.context.native(agent)?;
                let bot =
                    arena_agents::bot(bot, &options, game).map_err(|error| error.to_string())?;
                let meter = self.context.meter(&self.metrics, agent);
                Ok(place.insert(MeteredBot { bot, meter }))
            }
        }
    }
}

impl<G: Game> Seated<G> {
    fn open(&mut self, assignment: &v1::GameAssignment) -> Result<GameInPlay<G>, String> {
        let context = &self.bots.context.clone();
        let timed = Timed::start();
        let seats = context.seats(assignment);
        for &agent in &seats {
            self.bots.get(agent, &self.game)?;
        }
        let own = match &*assignment.start {
            "" => self.game.clone(),
            start => self.game.with_start(start)?.0,
        };
        let game =
            Match::open(own, context.setup(assignment)).map_err(|error| error.to_string())?;
        Ok(GameInPlay {
            timed,
            clocks: context.time_control().clocks(seats.len()),
            seats,
            run_queue_us: Vec::new(),
            latencies_us: Vec::new(),
            details: Vec::new(),
            answered: Answered::default(),
            game,
        })
    }

    /// Plays until the game is over or waits for its rules.
    fn go_on(&mut self, playing: &mut Playing<G>) -> Result<GoesOn, String> {
        let context = self.bots.context.clone();
        let control = context.time_control();
        let strict = context.strict();
        let Taken { job, game } = &playing.taken;
        let index = game.index;
        let log = |agent, message: &str| {
            tracing::info!(
                tournament = context.tournament_id(),
                game = index,
                agent = context.agent_name(agent),
                "{message}"
            );
        };
        let GameInPlay {
            seats,
            clocks,
            run_queue_us,
            latencies_us,
            details,
            answered,
            game,
            ..
        } = &mut playing.of;
        game.resume().map_err(|error| error.to_string())?;
        while let Status::Asks(question) = game.status() {
            if job.unwanted.load(Ordering::Relaxed) {
                return Ok(GoesOn::Unwanted);
            }
            let agent = seats[usize::from(question.seat)];
            let MeteredBot { bot, meter } = self.bots.get(agent, &self.game)?;
            let choose = |stop: Stop<'_>| bot.choose(&Decision::of(game, question, stop));
            let allowance = control.allowance(clocks.as_ref(), question.seat);
            let time_limit = TimeLimit::of(&context, allowance);
            let again = || log(agent, &format!("{}: asking again", control.late(allowance)));
            let sampled = meter.moves.due();
            let weight = meter.moves.weight();
            let start = (strict || sampled).then(Instant::now);
            let ask = || time_limit.ask(Some(&job.unwanted), choose, again);
            match rules::watched(ask)? {
                Ok((chosen, spent)) => {
                    let took = start.map(|start| start.elapsed());
                    if control.is_timed() {
                        let spent = spent.unwrap_or_default();
                        run_queue_us.push(micros(spent.queued));
                        if let Some(clocks) = clocks {
                            clocks.press(question.seat, spent);
                        }
                    }
                    match took.map(|took| MoveTiming::in_process(Duration::ZERO, took)) {
                        Some(timing) if strict => meter.moves.timed(timing, 1),
                        Some(timing) => meter.moves.sampled(timing),
                        None => meter.moves.untimed(),
                    }
                    latencies_us.extend(took.filter(|_| strict).map(micros));
                    let received = sampled.then(Instant::now);
                    match game.answer(chosen.action.into()) {
                        Ok(()) => answered.add(question.seat),
                        Err(_) => game.fault(FaultKind::IllegalMove),
                    }
                    if let Some(received) = received {
                        let overhead = received.elapsed().as_secs_f64();
                        self.overhead.observe(overhead, weight);
                    }
                }
                Err(Stopped::Late) => {
                    let limit = allowance.limit();
                    meter
                        .moves
                        .timed(MoveTiming::in_process(Duration::ZERO, limit), 1);
                    latencies_us.extend(strict.then(|| micros(limit)));
                    run_queue_us.extend(control.is_timed().then_some(0));
                    if let Some(clocks) = clocks {
                        clocks.press(question.seat, limit.into());
                    }
                    let message = control.late(allowance);
                    log(agent, &message);
                    details.push(v1::FaultDetail {
                        seat: question.seat.into(),
                        message,
                        stderr_tail: String::new(),
                    });
                    game.fault(FaultKind::Timeout);
                }
                Err(Stopped::Unwanted) => return Ok(GoesOn::Unwanted),
            }
            job.plies.count();
        }
        match (game.status(), game.failure()) {
            (_, Some(failure)) => Err(failure),
            (Status::Waits, None) => Ok(GoesOn::Waits),
            _ => Ok(GoesOn::Over),
        }
    }

    /// The report of a game that is over.
    fn close(&self, assignment: &v1::GameAssignment, of: GameInPlay<G>) -> v1::GameReport {
        let known = Known {
            timed: of.timed,
            latencies_us: of.latencies_us,
            searches: Vec::new(),
            run_queue_us: of.run_queue_us,
            details: of.details,
            answered: of.answered,
            outputs: Vec::new(),
        };
        record::report(&self.bots.context, assignment, of.game.finish(), known)
    }
}

impl<G: Game> BotPool for Seated<G> {
    /// Games whose rules answer at once are played one after another, all others side by side: as
    /// many as the rules answer for quickly.
    fn play(&mut self, games: &mut Games<'_>) {
        let mut waiting: Vec<Playing<G>> = Vec::new();
        loop {
            let has_place = waiting.len() < self.game.games_at_once();
            let begun = if has_place { games.take() } else { None };
            let playing = match begun {
                Some(taken) => match self.open(&taken.game) {
                    Ok(of) => vec![Playing { taken, of }],
                    Err(why) => {
                        let report = unplayed(&self.bots.context, taken.game.index, why);
                        games.end_game(&taken, Some(report));
                        continue;
                    }
                },
                None if waiting.is_empty() => return,
                None => {
                    self.game.find_pending();
                    std::mem::take(&mut waiting)
                }
            };
            for mut playing in playing {
                let report = match self.go_on(&mut playing) {
                    Ok(GoesOn::Waits) => {
                        waiting.push(playing);
                        continue;
                    }
                    Ok(GoesOn::Unwanted) => None,
                    Ok(GoesOn::Over) => Some(self.close(&playing.taken.game, playing.of)),
                    Err(why) => Some(unplayed(&self.bots.context, playing.taken.game.index, why)),
                };
                games.end_game(&playing.taken, report);
            }
        }
    }

    fn answer(&mut self, agent: u16, questions: &Questions) -> Result<Vec<Answer>, String> {
        let context = self.bots.context.clone();
        let MeteredBot { bot, meter } = self.bots.get(agent, &self.game)?;
        let control = context.time_control();
        let mut answers = Vec::with_capacity(questions.asked.len());
        let (mut position, mut legal) = (0, 0);
        for asked in &questions.asked {
            let bytes = &questions.positions[position..asked.position];
            let actions = &questions.legal[legal..asked.legal];
            (position, legal) = (asked.position, asked.legal);
            let state = match self.game.load(bytes) {
                Ok(state) => state,
                Err(error) => {
                    answers.push((asked.token, DecisionResult::Void(error.to_string())));
                    continue;
                }
            };
            let choose = |stop: Stop<'_>| {
                bot.choose(&Decision {
                    game: &self.game,
                    state: &state,
                    seat: asked.question.seat,
                    number: asked.question.number,
                    seed: asked.question.seed,
                    legal: actions,
                    stop,
                })
            };
            let time_limit = TimeLimit::of(&context, asked.allowance);
            let message = || control.late(asked.allowance);
            let again = || {
                let agent = context.agent_name(agent);
                tracing::info!(agent, "{}: asking again", message());
            };
            let start = Instant::now();
            let ask = || time_limit.ask(Some(&asked.unwanted), choose, again);
            let result = match rules::watched(ask) {
                Err(failure) => DecisionResult::Void(failure),
                Ok(Ok((chosen, spent))) => {
                    let spent = spent.unwrap_or_else(|| start.elapsed().into());
                    DecisionResult::Move(chosen.action.into(), spent)
                }
                // It may have been asked twice: the time that the bot had counts.
                Ok(Err(Stopped::Late)) => {
                    let late = FaultReport::new(FaultKind::Timeout, message());
                    DecisionResult::Fault(late, asked.allowance.limit().into())
                }
                Ok(Err(Stopped::Unwanted)) => {
                    DecisionResult::Void("its request was dropped".to_owned())
                }
            };
            if let DecisionResult::Move(_, spent) | DecisionResult::Fault(_, spent) = &result {
                let waited = questions.since.map(|since| start - since);
                let timing = MoveTiming::in_process(waited.unwrap_or_default(), spent.took);
                meter.moves.timed(timing, 1);
            }
            answers.push((asked.token, result));
            questions.answered.count();
        }
        meter.flush();
        Ok(answers)
    }

    fn flush(&mut self) {
        for bot in self.bots.made.values_mut() {
            bot.meter.flush();
        }
    }
}
