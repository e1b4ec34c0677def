//! Threads for bots, so that the driver never computes moves.
//!
//! Each tournament has a queue of its own. A free thread takes a job of the tournament that runs the
//! fewest, in turn. A job may take as long as the timeouts of its moves allow, so while all threads
//! are held by long jobs, additional threads run the jobs of tournaments that have less than their
//! share: the system divides the cores among them.

use std::{
    collections::{BTreeMap, VecDeque},
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Condvar, Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use crate::lock;

/// A job that runs for this long is long.
const LONG: Duration = Duration::from_millis(100);
/// Maximum number of additional threads.
const ADDITIONAL_MAX: usize = 64;
/// A tournament is stuck if none of its jobs has ended for this time, while many wait.
const STUCK: Duration = Duration::from_secs(2);

/// A piece of work.
pub type Job = Box<dyn FnOnce() + Send>;

/// The jobs of a tournament.
struct Queue {
    jobs: VecDeque<Job>,
    /// Number of its jobs that threads run.
    running: usize,
    /// Its last turn.
    turn: u64,
    /// The time at which one of its jobs last ended, or at which it got its first one.
    moved: Instant,
}

impl Queue {
    fn new() -> Self {
        Self {
            jobs: VecDeque::new(),
            running: 0,
            turn: 0,
            moved: Instant::now(),
        }
    }
}

#[derive(Default)]
struct State {
    queues: BTreeMap<u64, Queue>,
    turns: u64,
    /// When each thread began its job; none if it has none.
    begun: Vec<Option<Instant>>,
    /// Additional threads, and how many of them have no job.
    additional: usize,
    additional_idle: usize,
    /// True if one of them looks from time to time whether it is needed.
    watched: bool,
    closed: bool,
}

impl State {
    /// True if jobs wait that may need additional threads.
    fn waits(&self) -> bool {
        self.queues.len() > 1 && self.queues.values().any(|queue| !queue.jobs.is_empty())
    }

    /// Time until all threads are held by long jobs.
    fn held_in(&self) -> Duration {
        let now = Instant::now();
        let left = |begun: &Option<Instant>| match begun {
            Some(begun) => LONG.saturating_sub(now.saturating_duration_since(*begun)),
            None => LONG,
        };
        self.begun.iter().map(left).max().unwrap_or(LONG)
    }

    /// Takes a job of a tournament that runs fewer than this.
    fn take(&mut self, running_max: usize) -> Option<(u64, Job)> {
        let open =
            |(_, queue): &(&u64, &mut Queue)| !queue.jobs.is_empty() && queue.running < running_max;
        let (&tournament, queue) = { self.queues.iter_mut() }
            .filter(open)
            .min_by_key(|(_, queue)| (queue.running, queue.turn))?;
        let job = queue.jobs.pop_front()?;
        self.turns += 1;
        queue.turn = self.turns;
        queue.running += 1;
        Some((tournament, job))
    }

    /// Takes a job for an additional thread.
    fn take_additional(&mut self) -> Option<(u64, Job)> {
        let share = self.begun.len() / self.queues.len().max(1);
        self.take(share.max(1))
    }

    /// A job of a tournament has ended.
    fn end(&mut self, tournament: u64) {
        if let Some(queue) = self.queues.get_mut(&tournament) {
            queue.running -= 1;
            queue.moved = Instant::now();
            if queue.running == 0 && queue.jobs.is_empty() {
                self.queues.remove(&tournament);
            }
        }
    }
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// For threads, and for additional ones.
    wake: Condvar,
    wake_additional: Condvar,
}

/// Where built-in agents compute.
pub(crate) enum Pool {
    /// On threads.
    Own(Threads),
    /// Wherever the caller wants: it runs every job once, now or later.
    Given(Mutex<Box<dyn Fn(Job) + Send>>),
}

impl Pool {
    pub(crate) fn new(threads: usize) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        lock(&shared.state).begun = vec![None; threads.max(1)];
        for number in 0..threads.max(1) {
            let shared = shared.clone();
            thread::Builder::new()
                .name(format!("agents-{number}"))
                .spawn(move || work(&shared, number))?;
        }
        Ok(Self::Own(Threads {
            shared,
            count: threads.max(1),
        }))
    }

    /// Number of its threads, without additional ones.
    pub(crate) fn threads(&self) -> usize {
        match self {
            Self::Own(threads) => threads.count,
            Self::Given(_) => 1,
        }
    }

    /// Runs jobs with this function.
    pub(crate) fn given(think: impl Fn(Job) + Send + 'static) -> Self {
        Self::Given(Mutex::new(Box::new(think)))
    }

    /// Adds work of a tournament; with `soon`, before all its waiting work.
    pub(crate) fn add(&self, tournament: u64, soon: bool, job: impl FnOnce() + Send + 'static) {
        let job = Box::new(job);
        let shared = match self {
            Self::Own(threads) => &threads.shared,
            Self::Given(think) => return lock(think)(job),
        };
        let mut state = lock(&shared.state);
        let queue = state.queues.entry(tournament).or_insert_with(Queue::new);
        if soon {
            queue.jobs.push_front(job);
        } else {
            queue.jobs.push_back(job);
        }
        if state.begun.iter().any(Option::is_none) {
            drop(state);
            shared.wake.notify_one();
        } else if state.additional_idle > 0 && state.held_in().is_zero() {
            shared.wake_additional.notify_one();
        } else {
            watch(shared, &mut state);
        }
    }

    /// True if so many jobs of a tournament wait, and so long, that more would only take the places
    /// of other tournaments.
    pub(crate) fn is_stuck(&self, tournament: u64) -> bool {
        let Self::Own(threads) = self else {
            return false;
        };
        let state = lock(&threads.shared.state);
        let queue = state.queues.get(&tournament);
        queue.is_some_and(|it| it.jobs.len() > 2 * threads.count && it.moved.elapsed() >= STUCK)
    }
}

/// Threads with queues of work. Dropping it drops waiting work; running work is not awaited.
pub(crate) struct Threads {
    shared: Arc<Shared>,
    count: usize,
}

impl Drop for Threads {
    fn drop(&mut self) {
        let mut state = lock(&self.shared.state);
        state.closed = true;
        let queues = std::mem::take(&mut state.queues);
        drop(state);
        drop(queues);
        self.shared.wake.notify_all();
        self.shared.wake_additional.notify_all();
    }
}

fn run(shared: &Shared, (tournament, job): (u64, Job)) {
    // Jobs handle their own panics; a thread outlives them.
    let _ = catch_unwind(AssertUnwindSafe(job));
    lock(&shared.state).end(tournament);
}

fn work(shared: &Arc<Shared>, number: usize) {
    let mut state = lock(&shared.state);
    while !state.closed {
        if let Some(taken) = state.take(usize::MAX) {
            state.begun[number] = Some(Instant::now());
            watch(shared, &mut state);
            drop(state);
            run(shared, taken);
            state = lock(&shared.state);
        } else {
            state.begun[number] = None;
            state = { shared.wake.wait(state) }.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Lets an additional thread look whether it is needed, if none does. If the system starts none, the
/// work waits.
fn watch(shared: &Arc<Shared>, state: &mut State) {
    if state.watched || !state.waits() {
        return;
    }
    if state.additional_idle > 0 {
        shared.wake_additional.notify_one();
    } else if state.additional < ADDITIONAL_MAX {
        let this = shared.clone();
        let started = thread::Builder::new()
            .name(format!("agents-more-{}", state.additional))
            .spawn(move || work_additional(&this));
        let count = usize::from(started.is_ok());
        state.additional += count;
        state.additional_idle += count;
    }
}

fn work_additional(shared: &Arc<Shared>) {
    let mut state = lock(&shared.state);
    while !state.closed {
        let held_in = state.held_in();
        let taken = match held_in.is_zero() {
            true => state.take_additional(),
            false => None,
        };
        if let Some(taken) = taken {
            state.additional_idle -= 1;
            watch(shared, &mut state);
            drop(state);
            run(shared, taken);
            state = lock(&shared.state);
            state.additional_idle += 1;
        } else if state.watched || !state.waits() {
            state = { shared.wake_additional.wait(state) }.unwrap_or_else(PoisonError::into_inner);
        } else {
            let pause = if held_in.is_zero() { LONG } else { held_in };
            state.watched = true;
            let waited = shared.wake_additional.wait_timeout(state, pause);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            state.watched = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn pool_survives_panics() {
        let pool = Pool::new(1).expect("a thread");
        let (release, held) = mpsc::channel::<()>();
        let (done, order) = mpsc::channel();
        pool.add(0, false, move || {
            let _ = held.recv();
            panic!("on purpose");
        });
        for (soon, name) in [(false, "late"), (true, "soon")] {
            let done = done.clone();
            pool.add(0, soon, move || {
                let _ = done.send(name);
            });
        }
        release.send(()).expect("the thread waits");
        assert_eq!(order.recv(), Ok("soon"));
        assert_eq!(order.recv(), Ok("late"));
    }
    /// Fills a pool with jobs of a tournament that do not end during the test.
    fn hold(pool: &Pool, tournament: u64, jobs: usize) -> Vec<mpsc::Sender<()>> {
        let add = |_| {
            let (release, held) = mpsc::channel::<()>();
            pool.add(tournament, false, move || {
                let _ = held.recv();
            });
            release
        };
        (0..jobs).map(add).collect()
    }

    #[test]
    fn long_jobs_of_tournaments_delay_no_other() {
        for threads in [1, 2] {
            let pool = Pool::new(threads).expect("threads");
            let held: Vec<_> = (1..=5).map(|slow| hold(&pool, slow, 20)).collect();
            let (done, order) = mpsc::channel();
            for number in 0..50 {
                let done = done.clone();
                pool.add(6, false, move || {
                    let _ = done.send(number);
                });
            }
            drop(done);
            assert_eq!(order.iter().count(), 50);
            drop(held);
        }
    }

    #[test]
    fn tournaments_take_turns() {
        let mut state = State::default();
        for tournament in [1, 1, 1, 2, 2] {
            let queue = state.queues.entry(tournament);
            let job = Box::new(|| {});
            queue.or_insert_with(Queue::new).jobs.push_back(job);
        }
        let mut taken = || {
            let (tournament, _) = state.take(usize::MAX).expect("a job");
            state.end(tournament);
            tournament
        };
        assert_eq!([(); 5].map(|()| taken()), [1, 2, 1, 2, 1]);
        assert!(state.queues.is_empty());
    }
}
