//! What the rules did while a bot of this program thought about a question. A bot waits for their answers
//! on its own thread.

use std::{
    cell::{Cell, RefCell},
    time::{Duration, Instant},
};

thread_local! {
    /// True after a failure since the last call of [`watched`]. Bots of built-in rules read nothing else.
    static HAS_FAILED: Cell<bool> = const { Cell::new(false) };
    /// The first such failure.
    static FAILURE: RefCell<String> = const { RefCell::new(String::new()) };
    static EXCUSED: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// The rules gave this thread no answer.
pub(super) fn fail(message: &str) {
    if !HAS_FAILED.replace(true) {
        FAILURE.set(message.to_owned());
    }
}

/// Runs a bot. The error is why the rules did not answer one of its questions: its choice means nothing
/// then.
pub(crate) fn watched<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    HAS_FAILED.set(false);
    let out = run();
    match HAS_FAILED.get() {
        true => Err(FAILURE.take()),
        false => Ok(out),
    }
}

/// Time of this thread that no bot is charged for, since the thread began: processes of the rules started,
/// failed, were compared, or were all busy.
pub(crate) fn excused() -> Duration {
    EXCUSED.get()
}

/// Runs work whose time no bot is charged for. It may contain such work.
pub(super) fn excuse<T>(work: impl FnOnce() -> T) -> T {
    let (before, start) = (excused(), Instant::now());
    let out = work();
    EXCUSED.set(before + start.elapsed());
    out
}

/// Runs work. If it fails, no bot is charged for its time.
pub(super) fn excuse_error<T, E>(work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    let (before, start) = (excused(), Instant::now());
    let out = work();
    if out.is_err() {
        EXCUSED.set(before + start.elapsed());
    }
    out
}

#[cfg(test)]
mod tests {
    use std::thread::sleep;

    use super::*;

    #[test]
    fn excused_time_counts_once() {
        let time = Duration::from_millis(20);
        let (before, start) = (excused(), Instant::now());
        excuse(|| excuse(|| sleep(time)));
        let within = start.elapsed();
        let slept = excuse_error(|| {
            sleep(time);
            Ok::<_, ()>(7)
        });
        assert_eq!(slept, Ok(7));
        let counted = excused() - before;
        assert!(time <= counted && counted <= within, "{counted:?}");
        assert_eq!(
            excuse_error(|| {
                sleep(time);
                Err::<(), _>(1)
            }),
            Err(1)
        );
        assert!(excused() - before >= 2 * time);
    }

    #[test]
    fn first_failure_of_a_question_is_its_reason() {
        fail("earlier");
        let failed = watched(|| {
            fail("first");
            fail("second");
        });
        assert_eq!(failed, Err("first".to_owned()));
        assert_eq!(watched(|| 3), Ok(3));
    }
}
