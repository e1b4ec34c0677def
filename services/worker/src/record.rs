//! From a played game to its report.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use arena_engine::{Finished, Termination};
use arena_model::{BlockSeed, GameRecord};
use arena_wire::v1;

use crate::{clock::whole_micros, context::TournamentContext, rules::RulesFailure};

/// Start of a game.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timed {
    unix_us: u64,
    start: Instant,
}

impl Timed {
    pub(crate) fn start() -> Self {
        let unix = SystemTime::now().duration_since(UNIX_EPOCH);
        Self {
            unix_us: whole_micros(unix.unwrap_or_default()),
            start: Instant::now(),
        }
    }
}

/// Seats whose agents answered a question.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Answered(u32);

impl Answered {
    #[inline]
    pub(crate) fn add(&mut self, seat: u8) {
        self.0 |= 1 << seat;
    }

    fn seats(self) -> Vec<u32> {
        let answered = |seat: &u32| self.0 & (1 << seat) != 0;
        (0..u32::BITS).filter(answered).collect()
    }
}

/// Details of a game beside its record.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) timed: Timed,
    /// In microseconds, if timing is strict.
    pub(crate) latencies_us: Vec<u32>,
    /// What agents reported of their searches, for each of them.
    pub(crate) searches: Vec<v1::SearchNote>,
    /// Part of each of them in which the agent or the worker waited for a core, if there are
    /// clocks.
    pub(crate) run_queue_us: Vec<u32>,
    /// Details of its faults.
    pub(crate) details: Vec<v1::FaultDetail>,
    pub(crate) answered: Answered,
    pub(crate) outputs: Vec<v1::AgentOutput>,
}

/// The report of a game that was played. Its record has neither luck nor hash: both follow from its
/// events, and the coordinator, which replays them anyway, adds them.
pub(crate) fn report(
    context: &TournamentContext,
    game: &v1::GameAssignment,
    finished: Finished,
    known: Known,
) -> v1::GameReport {
    let timing = v1::GameTiming {
        // Set by the sender of the report.
        worker: String::new(),
        started_unix_us: known.timed.unix_us,
        duration_us: whole_micros(known.timed.start.elapsed()),
        latencies_us: known.latencies_us,
        searches: { Some(known.searches) }
            .filter(|notes| notes.iter().any(|note| *note != v1::SearchNote::default()))
            .unwrap_or_default(),
        latency: Vec::new(),
        run_queue_us: { Some(known.run_queue_us) }
            .filter(|waits| waits.iter().any(|&wait| wait > 0))
            .unwrap_or_default(),
    };
    v1::GameReport {
        record: Some(record(context, game, finished)),
        timing: Some(timing),
        fault_details: known.details,
        answered: known.answered.seats(),
        outputs: known.outputs,
        ..Default::default()
    }
}

/// The report of a game that is not to be tried again.
pub(crate) fn given_up(context: &TournamentContext, game: &v1::GameAssignment) -> v1::GameReport {
    tracing::error!(
        tournament = context.tournament_id(),
        game = game.index,
        "void after {} attempts",
        game.attempts
    );
    let nothing = Finished {
        events: Vec::new(),
        opening_plies: 0,
        placement: Vec::new(),
        scores: Vec::new(),
        luck: Vec::new(),
        plies: 0,
        decisions: Vec::new(),
        termination: Termination::Void,
        faults: Vec::new(),
        adjudication: Vec::new(),
        transcript: None,
    };
    v1::GameReport {
        record: Some(record(context, game, nothing)),
        ..Default::default()
    }
}

fn record(
    context: &TournamentContext,
    game: &v1::GameAssignment,
    finished: Finished,
) -> v1::GameRecord {
    let (seed, seats) = (BlockSeed(game.seed), context.seats(game));
    let mut record = GameRecord::new(game.index, game.block, seed, seats, finished);
    record.start = Some(game.start.as_str())
        .filter(|it| !it.is_empty())
        .map(Box::from);
    let scores = std::mem::take(&mut record.scores);
    let decisions = std::mem::take(&mut record.decisions);
    v1::GameRecord {
        scores,
        decisions,
        ..(&record).into()
    }
}

/// The report of a game of this tournament that could not be played. It says whether the package of
/// the rules is at fault, or does not start here.
pub(crate) fn unplayed(context: &TournamentContext, index: u64, why: String) -> v1::GameReport {
    let failure = context.rules_failure();
    let is_absent = failure.as_ref().is_some_and(RulesFailure::is_absence);
    v1::GameReport {
        rules_failed: failure.is_some() && !is_absent,
        rules_unready: is_absent,
        ..void_report(index, failure.map_or(why, |failure| failure.message))
    }
}

/// The report of a game that could not be played.
pub(crate) fn void_report(index: u64, why: String) -> v1::GameReport {
    v1::GameReport {
        record: Some(v1::GameRecord {
            index,
            ..Default::default()
        }),
        void_reason: why,
        ..Default::default()
    }
}
