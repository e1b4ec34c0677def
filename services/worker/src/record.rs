//! From a played game to its report.

use std::{
    sync::Arc,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use arena_engine::{Finished, Termination};
use arena_model::{BlockSeed, GameRecord, record::LineWriter};
use arena_wire::v1;

use crate::context::TournamentContext;

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

/// Microseconds as messages have them.
pub(crate) fn whole_micros(time: Duration) -> u64 {
    time.as_micros().try_into().unwrap_or(u64::MAX)
}

/// Microseconds as timings store them.
pub(crate) fn micros(time: Duration) -> u32 {
    time.as_micros().try_into().unwrap_or(u32::MAX)
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
    /// Part of each of them in which the agent or the worker waited for a core, if there are
    /// clocks.
    pub(crate) run_queue_us: Vec<u32>,
    /// Details of its faults.
    pub(crate) details: Vec<v1::FaultDetail>,
    pub(crate) answered: Answered,
    pub(crate) outputs: Vec<v1::AgentOutput>,
}

/// Builds records and hashes them.
pub(crate) struct RecordBuilder {
    context: Arc<TournamentContext>,
    lines: LineWriter,
}

impl RecordBuilder {
    pub(crate) fn new(context: Arc<TournamentContext>) -> Self {
        Self {
            lines: LineWriter::new(context.header()),
            context,
        }
    }

    /// The report of a game that was played.
    pub(crate) fn seal(
        &mut self,
        game: &v1::GameAssignment,
        mut finished: Finished,
        known: Known,
    ) -> v1::GameReport {
        let timing = v1::GameTiming {
            // Set by the sender of the report.
            worker: String::new(),
            started_unix_us: known.timed.unix_us,
            duration_us: whole_micros(known.timed.start.elapsed()),
            latencies_us: known.latencies_us,
            latency: Vec::new(),
            run_queue_us: { Some(known.run_queue_us) }
                .filter(|waits| waits.iter().any(|&wait| wait > 0))
                .unwrap_or_default(),
        };
        if !self.context.wire().luck {
            finished.luck = Vec::new();
        }
        let record = match self.record(game, finished) {
            Ok(record) => record,
            Err(why) => return void_report(game.index, why),
        };
        v1::GameReport {
            record: Some((&record).into()),
            timing: Some(timing),
            fault_details: known.details,
            answered: known.answered.seats(),
            outputs: known.outputs,
            ..Default::default()
        }
    }

    /// The report of a game that is not to be tried again.
    pub(crate) fn give_up(&mut self, game: &v1::GameAssignment) -> v1::GameReport {
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
        };
        let record = match self.record(game, nothing) {
            Ok(record) => record,
            Err(why) => return void_report(game.index, why),
        };
        tracing::error!(
            tournament = self.context.tournament_id(),
            game = game.index,
            "void after {} attempts",
            game.attempts
        );
        v1::GameReport {
            record: Some((&record).into()),
            ..Default::default()
        }
    }

    /// A record with its hash.
    fn record(
        &mut self,
        game: &v1::GameAssignment,
        finished: Finished,
    ) -> Result<GameRecord, String> {
        let (seed, seats) = (BlockSeed(game.seed), self.context.seats(game));
        let mut record = GameRecord::new(game.index, game.block, seed, seats, finished);
        match self.lines.seal(&mut record, self.context.game()) {
            Ok(_) => Ok(record),
            Err(error) => Err(format!("cannot record the game: {error}")),
        }
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
