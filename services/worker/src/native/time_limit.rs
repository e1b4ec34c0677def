//! Time limits of built-in bots.
//!
//! As with agent processes, a late answer among many is not charged: the question is asked again
//! alone, and only the time of that question counts. With strict timing, every question is asked
//! alone.

use std::{
    cell::{Cell, OnceCell},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use arena_agents::{Chosen, Stop};

use crate::{
    clock::{Allowance, Spent, Thread},
    context::TournamentContext,
    rules,
};

/// The time limit of a bot's question.
#[derive(Clone, Copy)]
pub(super) struct TimeLimit {
    limit: Duration,
    /// The question is asked alone, and timed.
    strict: bool,
    /// The result has the time without a core, which never counts.
    is_clock: bool,
}

/// Why there is no choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stopped {
    /// The time was over.
    Late,
    /// The answer is not wanted any more.
    Unwanted,
}

impl TimeLimit {
    pub(super) fn of(context: &TournamentContext, allowance: Allowance) -> Self {
        Self {
            limit: allowance.limit(),
            strict: context.strict(),
            is_clock: context.time_control().is_timed(),
        }
    }

    /// Asks a bot. `again` is called if it was late and is asked once more.
    ///
    /// The clock starts at the first check of a search, so that quick decisions never read it; with
    /// strict timing it starts at once.
    #[inline]
    pub(super) fn ask(
        &self,
        unwanted: Option<&AtomicBool>,
        mut choose: impl FnMut(Stop<'_>) -> Chosen,
        again: impl FnOnce(),
    ) -> Result<(Chosen, Option<Spent>), Stopped> {
        match self.ask_once(unwanted, &mut choose) {
            Err(Stopped::Late) if !self.strict => {
                again();
                self.ask_once(unwanted, &mut choose)
            }
            asked => asked,
        }
    }

    #[inline]
    fn ask_once(
        &self,
        unwanted: Option<&AtomicBool>,
        choose: &mut impl FnMut(Stop<'_>) -> Chosen,
    ) -> Result<(Chosen, Option<Spent>), Stopped> {
        let is_unwanted = || unwanted.is_some_and(|unwanted| unwanted.load(Ordering::Relaxed));
        let since = Cell::new(self.strict.then(Instant::now));
        // Threads may be more than cores: the pool runs additional ones while jobs are long.
        let thread = OnceCell::new();
        if self.strict || self.is_clock {
            let _ = thread.set(Thread::start());
        }
        let queued = || thread.get().map_or(Duration::ZERO, Thread::waited);
        let excused = rules::excused();
        // What the processes of a package did is not the time of the bot.
        let took = |start: Instant| {
            let excused = rules::excused().saturating_sub(excused);
            start.elapsed().saturating_sub(excused)
        };
        let is_late = |took: Duration| took >= self.limit && took >= self.limit + queued();
        let over = || {
            let start = since.get().unwrap_or_else(Instant::now);
            since.set(Some(start));
            thread.get_or_init(Thread::start);
            is_late(took(start)) || is_unwanted()
        };
        let chosen = choose(Stop::when(&over));
        match since.get() {
            None => Ok((chosen, None)),
            Some(_) if is_unwanted() => Err(Stopped::Unwanted),
            Some(start) => match took(start) {
                took if is_late(took) => Err(Stopped::Late),
                took => {
                    let queued = { self.is_clock }.then(queued).unwrap_or_default();
                    Ok((chosen, Some(Spent { took, queued })))
                }
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(3600);

    /// Asks a search that does not end; returns the result and the number of attempts.
    fn asked(limit: Duration, strict: bool, unwanted: bool) -> (Option<Stopped>, u32) {
        let flag = AtomicBool::new(unwanted);
        let mut askings = 0;
        let reported = Cell::new(0);
        let time_limit = TimeLimit {
            limit,
            strict,
            is_clock: strict,
        };
        let searching = arena_agents::bot(
            "kalah-minimax",
            &[("depth".to_owned(), 20i64.into())].into(),
            &kalah(),
        );
        let mut bot = searching.expect("a bot");
        let game = kalah();
        let state = arena_engine::Game::initial(&game);
        let answer = time_limit.ask(
            Some(&flag),
            |stop| {
                askings += 1;
                bot.choose(&arena_agents::Decision {
                    game: &game,
                    state: &state,
                    seat: 0,
                    number: 0,
                    seed: 0,
                    legal: &[0, 1, 2, 3, 4, 5],
                    stop,
                })
            },
            || reported.set(reported.get() + 1),
        );
        assert_eq!(askings, 1 + reported.get());
        (answer.err(), askings)
    }

    fn kalah() -> arena_games::Kalah {
        let (options, seats) =
            arena_games::resolve("kalah", &Default::default(), None).expect("kalah");
        arena_games::Ruleset::with_options(&options, seats).expect("kalah")
    }

    #[test]
    fn late_bot_is_asked_once_more() {
        let late = Some(Stopped::Late);
        let limit = Duration::from_millis(1);
        assert_eq!(asked(limit, false, false), (late, 2));
        assert_eq!(asked(limit, true, false), (late, 1));
    }

    #[test]
    fn abandoned_bot_stops() {
        assert_eq!(asked(LONG, false, true), (Some(Stopped::Unwanted), 1));
    }

    #[test]
    fn quick_bot_is_never_late() {
        let time_limit = TimeLimit {
            limit: Duration::ZERO,
            strict: false,
            is_clock: false,
        };
        let answer = time_limit.ask(None, |_| Chosen::from(3), || {});
        assert_eq!(answer, Ok((Chosen::from(3), None)));
    }
}
