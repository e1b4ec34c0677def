//! Waiting with an end.

use std::{
    thread,
    time::{Duration, Instant},
};

/// After this long a test fails instead of waiting on: many times what anything
/// takes on a slow machine.
pub const DEADLINE: Duration = Duration::from_secs(120);

/// Waits until there is a value.
///
/// # Panics
/// After [`DEADLINE`], with what was waited for.
pub fn until<T>(what: &str, mut ready: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(value) = ready() {
            return value;
        }
        assert!(
            started.elapsed() < DEADLINE,
            "waited {} s for {what}",
            DEADLINE.as_secs()
        );
        thread::sleep(Duration::from_millis(5));
    }
}
