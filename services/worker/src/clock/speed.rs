//! The speed of this machine, by a fixed calculation: the positions of Kalah within five moves.

use std::{
    sync::OnceLock,
    time::{Duration, Instant},
};

use arena_engine::{Game, perft};
use arena_games::{Kalah, Ruleset};
use arena_model::spec::CLOCK_SCALE_MAX;

/// Time of the calculation on a machine of speed 1, as release build.
const REFERENCE: Duration = Duration::from_micros(400);
/// The calculation is repeated for this long, and the fastest time counts.
const MEASURING: Duration = Duration::from_millis(20);
const MOVES: u32 = 5;

/// How many times as fast as a machine of speed 1 this one is. Measured once, at the first call.
pub(crate) fn speed() -> f64 {
    static SPEED: OnceLock<f64> = OnceLock::new();
    *SPEED.get_or_init(|| REFERENCE.as_secs_f64() / measure().as_secs_f64().max(1e-9))
}

/// The factor for clocks on this machine.
pub(crate) fn clock_scale() -> f64 {
    let most = f64::from(CLOCK_SCALE_MAX);
    (1.0 / speed()).clamp(1.0 / most, most)
}

fn measure() -> Duration {
    let options = arena_games::resolve("kalah", &Default::default(), None);
    let game = options
        .ok()
        .and_then(|(options, seats)| Kalah::with_options(&options, seats).ok());
    let Some(game) = game else {
        return REFERENCE;
    };
    let start = Instant::now();
    let mut fastest = Duration::MAX;
    while start.elapsed() < MEASURING {
        let before = Instant::now();
        std::hint::black_box(perft(&game, &game.initial(), MOVES));
        fastest = fastest.min(before.elapsed());
    }
    fastest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speed_is_measured_once() {
        assert!(speed() > 0.0);
        assert_eq!(speed().to_bits(), speed().to_bits());
        assert!((0.25..=4.0).contains(&clock_scale()));
    }
}
