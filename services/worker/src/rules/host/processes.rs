//! The processes of a host: their starts, which thread uses which one, and their ends.

use std::{
    sync::mpsc::{self, RecvTimeoutError},
    thread::{self, ThreadId},
    time::Duration,
};

use tokio::runtime::Handle;

use super::{ASK_ANOTHER, KILLED_MAX, RulesHost, Started};
use crate::{
    lock,
    rules::{
        RulesCause, RulesFailure,
        failure::ProcessError,
        output::{end_of, with_last_line},
        process::RulesProcess,
        question::excuse,
    },
    supervise::{Launch, StartError, Supervisor},
};

/// Maximum number of idle processes for each one that may answer: those that are only compared are kept,
/// since a start takes as long as hundreds of answers.
const KEPT: usize = 2;
/// Additional time for the start of a process to be reported.
const START_SLACK: Duration = Duration::from_secs(5);

/// The processes of a host that run.
pub(super) struct Processes {
    pub(super) idle: Vec<RulesProcess>,
    count: usize,
    most: usize,
}

impl Processes {
    /// No process yet; at most so many answer at a time.
    pub(super) fn new(most: usize) -> Self {
        Self {
            idle: Vec::new(),
            count: 0,
            most,
        }
    }

    /// Takes an idle process. Rules may keep what they found for a state, so a thread goes on with the
    /// process that it asked last. Without a thread, the process is for a single question.
    fn take(&mut self, thread: Option<ThreadId>) -> Option<RulesProcess> {
        let users: Vec<_> = self.idle.iter().map(RulesProcess::user).collect();
        let mut process = self.idle.remove(choose(&users, thread)?);
        if thread.is_some() {
            process.set_user(thread);
        }
        Some(process)
    }
}

/// The place of the process that a thread asked last. Else that of one that no other thread goes on with, if
/// there is one.
fn choose(users: &[Option<ThreadId>], thread: Option<ThreadId>) -> Option<usize> {
    let last = |user| users.iter().rposition(|&it| it == user);
    let own = thread.and_then(|_| last(thread));
    own.or_else(|| last(None))
        .or_else(|| users.len().checked_sub(1))
}

impl RulesHost {
    /// Takes an idle process, starts one, or waits for one. A caller that has another process, or is
    /// to replace one, does not wait.
    pub(super) fn take(&self, is_extra: bool) -> Result<RulesProcess, RulesFailure> {
        let thread = (!is_extra).then(|| thread::current().id());
        let mut processes = lock(&self.processes);
        loop {
            if let Some(process) = processes.take(thread) {
                return Ok(process);
            }
            if is_extra || processes.count < processes.most {
                processes.count += 1;
                break;
            }
            let waited = excuse(|| self.freed.wait(processes));
            processes = waited.unwrap_or_else(std::sync::PoisonError::into_inner);
        }
        drop(processes);
        let mut process = self.start_counted()?;
        process.set_user(thread);
        Ok(process)
    }

    /// A process that has answered nothing: it cannot remember games as the others do. It replaces an
    /// idle one.
    pub(super) fn fresh(&self) -> Started {
        let idle = lock(&self.processes).take(None);
        if let Some(idle) = idle {
            self.end(idle);
        }
        lock(&self.processes).count += 1;
        self.start_counted()
    }

    /// Starts a process that is counted already.
    fn start_counted(&self) -> Started {
        let started = excuse(|| self.start());
        if started.is_err() {
            lock(&self.processes).count -= 1;
            self.freed.notify_one();
        }
        started
    }

    /// Starts a process, others if they are killed before they describe themselves, and one other if the
    /// first one is late: the machine may have been busy.
    fn start(&self) -> Started {
        let mut was_late = false;
        for _ in 1..KILLED_MAX {
            match self.start_once(&mut was_late)? {
                Ok(process) => return Ok(process),
                Err(failure) => self.log_retry(&failure, ASK_ANOTHER),
            }
        }
        self.start_once(&mut was_late)?
    }

    /// Starts a process and waits for its description, which is the same for each. The inner failure is
    /// that of a process that was killed, or of the first one that was late.
    fn start_once(&self, was_late: &mut bool) -> Result<Started, RulesFailure> {
        let (sender, receiver) = mpsc::channel();
        let ended =
            || RulesFailure::new(RulesCause::Host, "the thread that starts rules has ended");
        self.starts.send(sender).map_err(|_| ended())?;
        let mut process = match receiver.recv_timeout(self.start_timeout + START_SLACK) {
            Ok(started) => started?,
            Err(RecvTimeoutError::Timeout) => {
                return Err(RulesFailure::new(
                    RulesCause::Host,
                    "the rules were not started in time",
                ));
            }
            Err(RecvTimeoutError::Disconnected) => return Err(ended()),
        };
        match process.describe(self.start_timeout) {
            Ok(text) => {
                self.check_registered(&text, &process)?;
                match *self.description.get_or_init(|| text.clone()) == text {
                    true => Ok(Ok(process)),
                    false => Err(RulesFailure::new(
                        RulesCause::Purity,
                        "two processes describe themselves differently",
                    )),
                }
            }
            Err(error) => {
                let failure = self.failure_of(&error, &process);
                let failure = RulesFailure {
                    cause: RulesCause::Start,
                    message: format!("the package did not describe itself: {}", failure.message),
                    ..failure
                };
                let is_late = matches!(error, ProcessError::Late | ProcessError::NotReady(_));
                let goes_on = is_late && !std::mem::replace(was_late, is_late);
                match process.was_killed() || goes_on {
                    true => Ok(Err(failure)),
                    false => Err(failure),
                }
            }
        }
    }

    pub(super) fn put_back(&self, process: RulesProcess) {
        let mut processes = lock(&self.processes);
        if processes.count > KEPT * processes.most {
            processes.count -= 1;
            drop(processes);
            drop(process);
        } else {
            processes.idle.push(process);
        }
        self.freed.notify_one();
    }

    /// Ends a process that failed.
    pub(super) fn end(&self, process: RulesProcess) {
        drop(process);
        lock(&self.processes).count -= 1;
        self.freed.notify_one();
    }
}

pub(super) async fn start(supervisor: &Supervisor, launch: &Launch) -> Started {
    let started = supervisor.start_rules(launch).await;
    started
        .map(|started| RulesProcess::new(started, &Handle::current()))
        .map_err(|(error, tail)| match error {
            StartError::Ours { .. } => RulesFailure::new(RulesCause::Host, error.to_string()),
            _ => RulesFailure {
                output: end_of(&tail),
                ..RulesFailure::new(RulesCause::Start, with_last_line(error.to_string(), &tail))
            },
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_leave_each_thread_its_process() {
        let own = Some(thread::current().id());
        let other = thread::spawn(|| thread::current().id()).join().ok();
        assert_eq!(choose(&[None, own, other], own), Some(1));
        assert_eq!(choose(&[own, None, other], None), Some(1));
        assert_eq!(choose(&[other, None, other], own), Some(1));
        // Without another one, it is better than a start.
        assert_eq!(choose(&[other], None), Some(0));
        assert_eq!(choose(&[other], own), Some(0));
        assert_eq!(choose(&[], own), None);
    }
}
