//! Clocks: how long an agent may take for a move, and how much of its time a move used.

mod run_queue;
pub(crate) mod speed;

use std::time::Duration;

use arena_model::spec::Clock;
use arena_wire::v1;

pub(crate) use self::run_queue::{RunQueue, TICKS, Thread, cpu_demand, on_sleep, on_wake};

/// Default time for a move.
const MOVE_TIMEOUT: Duration = Duration::from_secs(2);

/// How the time of an agent is limited in a tournament, on this worker.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TimeControl {
    limit: Limit,
    margin: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Limit {
    /// A move has a timeout, and its time counts for nothing else.
    Timeout(Duration),
    /// Each move of a seat has this time.
    Move(Duration),
    /// Each seat has a clock for all its moves.
    Clock(Clock),
}

impl TimeControl {
    /// The time control of a tournament. `scale` is the factor for clocks on this worker.
    pub(crate) fn of(play: &v1::PlaySettings, scale: f64) -> Self {
        let scaled = |micros: u64| Duration::from_micros(micros).mul_f64(scale);
        let margin = Duration::from_micros(play.timing_margin_us);
        let (limit, margin) = match (&play.clock, play.move_time_us, play.move_timeout_us) {
            (Some(clock), ..) => {
                let clock = Clock {
                    moves: Some(clock.moves).filter(|&moves| moves > 0),
                    base: scaled(clock.base_us),
                    increment: scaled(clock.increment_us),
                };
                (Limit::Clock(clock), margin)
            }
            (None, 1.., _) => (Limit::Move(scaled(play.move_time_us)), margin),
            (None, 0, 0) => (Limit::Timeout(MOVE_TIMEOUT), Duration::ZERO),
            (None, 0, timeout) => (
                Limit::Timeout(Duration::from_micros(timeout)),
                Duration::ZERO,
            ),
        };
        Self { limit, margin }
    }

    /// True if agents play under a clock or a time for each move, and not only under a timeout.
    pub(crate) fn is_timed(&self) -> bool {
        !matches!(self.limit, Limit::Timeout(_))
    }

    /// The longest time that a move can take before it is a fault.
    pub(crate) fn longest_move(&self) -> Duration {
        match self.limit {
            Limit::Timeout(time) | Limit::Move(time) => time + self.margin,
            Limit::Clock(clock) => clock.longest_move() + self.margin,
        }
    }

    /// The clocks of a new game, if there are any.
    pub(crate) fn clocks(&self, seats: usize) -> Option<Clocks> {
        let Limit::Clock(clock) = self.limit else {
            return None;
        };
        let seats = vec![
            SeatClock {
                left: clock.base,
                moves: 0,
            };
            seats
        ];
        Some(Clocks { clock, seats })
    }

    /// How long the next answer of a seat may take.
    pub(crate) fn allowance(&self, clocks: Option<&Clocks>, seat: u8) -> Allowance {
        let budget = match (self.limit, clocks) {
            (Limit::Timeout(time) | Limit::Move(time), _) => time,
            (Limit::Clock(_), Some(clocks)) => clocks.left(seat),
            (Limit::Clock(clock), None) => clock.base,
        };
        Allowance {
            budget,
            margin: self.margin,
        }
    }

    /// The message about an answer that did not come in time.
    pub(crate) fn late(&self, allowance: Allowance) -> String {
        let Allowance { budget, margin } = allowance;
        match self.limit {
            Limit::Timeout(time) => format!("no answer within {time:?}"),
            Limit::Move(_) => {
                format!("no answer within move_time = {budget:?} and a margin of {margin:?}")
            }
            Limit::Clock(clock) => format!(
                "no answer within the {budget:?} left on its clock ({clock}) and a margin of \
                 {margin:?}"
            ),
        }
    }
}

/// How long an answer may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Allowance {
    /// The time that the agent is shown.
    pub(crate) budget: Duration,
    /// The additional time for which a late answer is no fault.
    pub(crate) margin: Duration,
}

impl Allowance {
    pub(crate) fn limit(self) -> Duration {
        self.budget + self.margin
    }
}

/// The time that an agent took for an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spent {
    /// From the question to the answer.
    pub(crate) took: Duration,
    /// The part of this time in which the agent or the worker was ready to run but had no core.
    pub(crate) queued: Duration,
}

impl Spent {
    /// The time that is subtracted from the agent's clock.
    pub(crate) fn charged(self) -> Duration {
        self.took.saturating_sub(self.queued)
    }
}

impl From<Duration> for Spent {
    fn from(took: Duration) -> Self {
        let queued = Duration::ZERO;
        Self { took, queued }
    }
}

/// The clocks of a game.
#[derive(Clone, Debug)]
pub(crate) struct Clocks {
    clock: Clock,
    seats: Vec<SeatClock>,
}

#[derive(Clone, Copy, Debug)]
struct SeatClock {
    left: Duration,
    /// Number of moves so far.
    moves: u32,
}

impl Clocks {
    fn left(&self, seat: u8) -> Duration {
        self.seats[usize::from(seat)].left
    }

    /// The clock as the agent of a seat sees it.
    pub(crate) fn show(&self, seat: u8) -> v1::Clock {
        let SeatClock { left, moves } = self.seats[usize::from(seat)];
        v1::Clock {
            left_us: whole_micros(left),
            increment_us: whole_micros(self.clock.increment),
            moves_to_go: { self.clock.moves }.map_or(0, |control| control - moves % control),
            seats_left_us: { self.seats.iter() }
                .map(|seat| whole_micros(seat.left))
                .collect(),
        }
    }

    /// Subtracts the time of a move from the seat's clock. Adds the increment, and after each control the time
    /// of the next one.
    pub(crate) fn press(&mut self, seat: u8, spent: Spent) {
        let clock = self.clock;
        let seat = &mut self.seats[usize::from(seat)];
        seat.left = seat.left.saturating_sub(spent.charged()) + clock.increment;
        seat.moves += 1;
        if clock
            .moves
            .is_some_and(|control| seat.moves.is_multiple_of(control))
        {
            seat.left += clock.base;
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

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(time: u64) -> Duration {
        Duration::from_millis(time)
    }

    fn control(clock: &str, scale: f64) -> TimeControl {
        let play = arena_model::spec::Play {
            clock: Some(clock.parse().expect("a clock")),
            ..Default::default()
        };
        TimeControl::of(&(&play).into(), scale)
    }

    #[test]
    fn moves_use_up_the_clock_of_their_seat() {
        let control = control("10s+0.1s", 1.0);
        let mut clocks = control.clocks(2).expect("clocks");
        clocks.press(1, ms(1_500).into());
        assert_eq!(clocks.show(0).left_us, 10_000_000);
        let shown = clocks.show(1);
        assert_eq!((shown.left_us, shown.increment_us), (8_600_000, 100_000));
        assert_eq!(shown.seats_left_us, [10_000_000, 8_600_000]);
        assert_eq!(shown.moves_to_go, 0);
        let allowance = control.allowance(Some(&clocks), 1);
        assert_eq!(allowance.limit(), ms(8_650), "the default margin is 50 ms");
    }

    #[test]
    fn time_comes_back_after_a_control() {
        let mut clocks = control("3/6s", 1.0).clocks(1).expect("clocks");
        let mut shown = Vec::new();
        for _ in 0..4 {
            let it = clocks.show(0);
            shown.push((it.left_us / 1000, it.moves_to_go));
            clocks.press(0, ms(1_000).into());
        }
        assert_eq!(shown, [(6_000, 3), (5_000, 2), (4_000, 1), (9_000, 3)]);
    }

    #[test]
    fn waiting_for_a_core_is_not_charged() {
        let mut clocks = control("1s", 1.0).clocks(1).expect("clocks");
        let spent = Spent {
            took: ms(700),
            queued: ms(600),
        };
        clocks.press(0, spent);
        assert_eq!(clocks.left(0), ms(900));
    }

    #[test]
    fn overstepped_clock_is_empty() {
        let mut clocks = control("1s+0.5s", 1.0).clocks(1).expect("clocks");
        clocks.press(0, ms(1_040).into());
        assert_eq!(clocks.left(0), ms(500));
    }

    #[test]
    fn clocks_are_scaled_but_margins_are_not() {
        let control = control("1s+0.5s", 2.0);
        let clocks = control.clocks(1).expect("clocks");
        assert_eq!(clocks.show(0).left_us, 2_000_000);
        assert_eq!(clocks.show(0).increment_us, 1_000_000);
        assert_eq!(control.allowance(Some(&clocks), 0).margin, ms(50));
    }

    #[test]
    fn timeout_names_its_clock() {
        let control = control("1s", 1.0);
        let clocks = control.clocks(1);
        let message = control.late(control.allowance(clocks.as_ref(), 0));
        assert_eq!(
            message,
            "no answer within the 1s left on its clock (1s) and a margin of 50ms"
        );
    }
}
