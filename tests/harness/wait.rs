//! Waiting with a timeout.

use std::{
    thread,
    time::{Duration, Instant},
};

/// The timeout of tests: many times longer than anything takes on a slow machine.
pub const DEADLINE: Duration = Duration::from_secs(120);

/// Waits until there is a value.
///
/// # Panics
/// After [`DEADLINE`], with the name of the condition.
pub fn until<T>(what: &str, ready: impl FnMut() -> Option<T>) -> T {
    within(DEADLINE, ready).unwrap_or_else(|| panic!("waited {} s for {what}", DEADLINE.as_secs()))
}

/// Waits until there is a value, but at most for this long.
pub fn within<T>(timeout: Duration, mut ready: impl FnMut() -> Option<T>) -> Option<T> {
    let started = Instant::now();
    loop {
        let value = ready();
        if value.is_some() || started.elapsed() >= timeout {
            return value;
        }
        thread::sleep(Duration::from_millis(5));
    }
}
