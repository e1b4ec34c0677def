//! Watching a guard, and ending what its agent leaves behind.

use std::{
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use nix::{
    errno::Errno,
    sys::signal::{Signal, kill, killpg},
    unistd::Pid,
};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, BufReader},
    process::{Child, ChildStderr, ChildStdout},
    sync::{oneshot, watch},
    time,
};

use super::{Exit, Output};
use crate::{
    guard::{Report, STARTS, tree},
    lines::{Lines, pipes::Stdout},
};

/// A variable that marks everything that an agent starts: its folder.
pub(super) const MARK: &str = "ARENA_DIR";

/// Time for a guard to end everything before it is killed itself.
const END_TIMEOUT: Duration = Duration::from_secs(8);
/// Time for the rest of the standard output, once everything has ended.
const REST: Duration = Duration::from_millis(50);
/// Interval at which processes that are left are ended.
const END_INTERVAL: Duration = Duration::from_millis(4);

/// What a guard's agent writes, and what is kept of it.
pub(super) struct Written {
    /// None for rules over lines, whose standard output is read elsewhere.
    pub(super) stdout: Option<(Stdout, Lines)>,
    pub(super) kept: Arc<Output>,
    pub(super) flood: Arc<OnceLock<Exit>>,
    /// Maximum number of bytes.
    pub(super) limit: u64,
}

/// Watches a guard until it has ended: reads its output, and ends it on request. `mark` is the folder
/// of its agent; `starts` gets the time at which its sandbox was set up.
pub(super) async fn attend(
    mut child: Child,
    mark: PathBuf,
    written: Written,
    starts: oneshot::Sender<time::Instant>,
    stopped: oneshot::Receiver<()>,
    ended: watch::Sender<Option<Exit>>,
    running: watch::Receiver<()>,
) {
    let Written {
        stdout,
        kept,
        flood,
        limit,
    } = written;
    let group = child.id();
    let input = child.stdin.take();
    let (output, stderr) = (child.stdout.take(), child.stderr.take());
    let (mut stdout, lines) = stdout.unzip();
    let written = async {
        let Some(stdout) = &mut stdout else {
            return match stderr {
                Some(stderr) => drain(stderr, limit, &kept, &flood).await,
                None => std::future::pending().await,
            };
        };
        let written = stdout.drain(limit, &kept, &flood);
        tokio::pin!(written);
        let Some(stderr) = stderr else {
            return written.await;
        };
        let errors = drain(stderr, limit, &kept, &flood);
        tokio::pin!(errors);
        // What was written first is read first, as far as two pipes show.
        tokio::select! {
            biased;
            () = &mut written => {
                if flood.get().is_none() {
                    errors.await;
                }
            }
            () = &mut errors => {
                // Nothing runs any more. The output has no end if the agent never opened it.
                if flood.get().is_none() {
                    let _ = time::timeout(REST, written).await;
                }
            }
        }
    };
    let report = report(output, starts);
    tokio::pin!(written, report);

    let mut read = false;
    // Whichever comes first: a stop, too much output, or the end.
    let mut exit = tokio::select! {
        _ = stopped => Some(Exit::Stopped),
        () = &mut written => {
            read = true;
            if flood.get().is_some() {
                None
            } else {
                // The guard held it open: it is gone.
                time::timeout(END_TIMEOUT, &mut report).await.ok().flatten()
            }
        }
        how = &mut report => how,
    };
    if let Some(lines) = lines {
        lines.close("the process has ended");
    }
    drop(input);
    // Without a report, the guard itself was ended, or is no guard: processes of the agent are
    // left, and hold the pipe open.
    if exit.is_none() && flood.get().is_none() {
        end_marked(&mark).await;
    }
    if !read {
        // The rest of its output explains its end.
        read = time::timeout(END_TIMEOUT, &mut written).await.is_ok();
    }
    if exit != Some(Exit::Stopped) {
        exit = flood.get().copied().or(exit);
    }
    let over = time::timeout(END_TIMEOUT, child.wait()).await;
    if (!read || over.is_err())
        && let Some(group) = group
    {
        let _ = killpg(Pid::from_raw(group as i32), Signal::SIGKILL);
    }
    // A process that cannot even be killed is not awaited.
    let status = time::timeout(END_TIMEOUT, child.wait()).await;
    let killed = !matches!(status, Ok(Ok(status)) if status.code().is_some());
    if killed {
        end_marked(&mark).await;
    }
    let exit = exit.unwrap_or_else(|| match status {
        Ok(Ok(status)) => {
            let code = Exit::Code(status.code().unwrap_or(0));
            status.signal().map_or(code, Exit::Signal)
        }
        Ok(Err(error)) => Exit::Refused(error.raw_os_error().unwrap_or(Errno::EIO as i32)),
        Err(_) => Exit::Signal(Signal::SIGKILL as i32),
    });
    ended.send_replace(Some(exit));
    drop(running);
}

/// Ends every process with the mark of an agent, and those they start meanwhile.
async fn end_marked(mark: &Path) {
    let deadline = Instant::now() + END_TIMEOUT;
    loop {
        let left = tree::with_variable(MARK, mark.as_os_str());
        if left.is_empty() || Instant::now() >= deadline {
            return;
        }
        for process in left {
            let _ = kill(process, Signal::SIGKILL);
        }
        time::sleep(END_INTERVAL).await;
    }
}

/// Reads all output. If there is too much, stops reading and reports that.
async fn drain(mut output: ChildStderr, limit: u64, kept: &Output, flood: &OnceLock<Exit>) {
    let mut buffer = vec![0; 16 << 10];
    loop {
        match output.read(&mut buffer).await {
            Ok(0) | Err(_) => return,
            Ok(count) => {
                kept.push(&buffer[..count]);
                if kept.total() > limit {
                    // Before the pipe is closed, which the agent notices.
                    let _ = flood.set(Exit::OutputLimit(limit));
                    return;
                }
            }
        }
    }
}

/// The guard's report on the agent's end. Before it, the guard says when the agent starts.
async fn report(
    output: Option<ChildStdout>,
    starts: oneshot::Sender<time::Instant>,
) -> Option<Exit> {
    let mut lines = BufReader::new(output?).lines();
    let mut starts = Some(starts);
    let report = loop {
        let line = lines.next_line().await.ok()??;
        if line == STARTS {
            let _ = starts
                .take()
                .map(|starts| starts.send(time::Instant::now()));
        } else if let Some(report) = Report::from_line(&line) {
            break report;
        }
    };
    Some(match report {
        Report::Exited(code) => Exit::Code(code),
        Report::Signalled(signal) => Exit::Signal(signal),
        Report::Exceeded(limit, value) => Exit::Exceeded(limit, value),
        Report::Unconfined(missing) => Exit::Unconfined(missing),
        Report::Refused(errno) => Exit::Refused(errno),
    })
}
