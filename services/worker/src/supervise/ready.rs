//! Waiting until an agent is ready.

use std::time::Duration;

use tokio::{
    sync::{oneshot, watch},
    time::{self, Instant},
};
use tonic::{Code, transport::Channel};
use tonic_health::pb::health_check_response::ServingStatus;

use super::{Exit, GARBLED_HELLO, Launch, StartError};
use crate::{
    agent::{connect, link::Link},
    lines::pipes::Pipes,
};

/// First and last pause between health checks; it doubles in between.
const POLL_FIRST: Duration = Duration::from_millis(4);
const POLL_LAST: Duration = Duration::from_millis(100);
/// Time for one health check, after which another connection is made.
const POLL_TIME: Duration = Duration::from_secs(2);
/// Time for the sandbox of an agent, which is not the agent's own time.
const SETUP: Duration = Duration::from_secs(60);

/// The time of an agent to get ready.
pub(super) struct StartTime {
    since: Instant,
    starts: oneshot::Receiver<Instant>,
    limit: Duration,
}

impl StartTime {
    pub(super) fn new(starts: oneshot::Receiver<Instant>, limit: Duration) -> Self {
        Self {
            since: Instant::now(),
            starts,
            limit,
        }
    }

    /// Waits until it is over. The time that its sandbox took; none if that is not set up yet.
    async fn over(self) -> Option<Duration> {
        let starts = time::timeout(SETUP, self.starts).await.ok()?;
        let Ok(at) = starts else {
            // The guard ends without having started it, which its exit explains.
            return std::future::pending().await;
        };
        time::sleep_until(at + self.limit).await;
        Some(at - self.since)
    }
}

/// Polls until the agent serves, has ended, or its time is over.
pub(super) async fn ready(
    url: &str,
    launch: &Launch,
    listen: &str,
    mut pipes: Pipes,
    mut exit: watch::Receiver<Option<Exit>>,
    time: StartTime,
) -> Result<Link, StartError> {
    let program = launch.program.display().to_string();
    let mut last = "the agent does not listen there".to_owned();
    let poll = async {
        let mut wait = POLL_FIRST;
        loop {
            match time::timeout(POLL_TIME, serving(url)).await {
                Ok(Ok(channel)) => return channel,
                Ok(Err(Some(problem))) => last = problem,
                Ok(Err(None)) => {}
                Err(_) => last = "no answer to the health check".to_owned(),
            }
            time::sleep(wait).await;
            wait = (wait * 2).min(POLL_LAST);
        }
    };
    let setup = tokio::select! {
        channel = poll => {
            pipes.silence();
            return Ok(Link::Grpc(channel));
        }
        hello = pipes.hello() => {
            let problem = match hello {
                Ok(hello) => match pipes.speak() {
                    Ok(lines) => return Ok(Link::Lines(lines, hello.into())),
                    Err(error) => format!("its standard input is closed: {error}"),
                },
                Err(problem) => format!("{GARBLED_HELLO}: {problem}"),
            };
            return Err(StartError::Lines { problem });
        }
        exit = exit.wait_for(Option::is_some) => {
            let exit = exit.ok().and_then(|exit| *exit).unwrap_or(Exit::Stopped);
            return Err(match exit {
                Exit::Refused(_) | Exit::Unconfined(_) => StartError::Ours {
                    program,
                    problem: exit.to_string(),
                },
                exit => StartError::Exited { exit },
            });
        }
        setup = time.over() => setup,
    };
    Err(match setup {
        Some(setup) => StartError::Slow {
            listen: listen.to_owned(),
            limit: launch.limits.start,
            last,
            used: Duration::ZERO,
            setup,
        },
        None => StartError::Ours {
            program,
            problem: format!("its sandbox is not set up after {SETUP:?}; is this machine busy?"),
        },
    })
}

/// A connection that answers SERVING; else the last answer, if any.
pub(crate) async fn serving(url: &str) -> Result<Channel, Option<String>> {
    let endpoint = connect::endpoint(url).map_err(|_| None)?;
    let channel = endpoint.connect().await.map_err(|_| None)?;
    match connect::health(&channel).await {
        Ok(ServingStatus::Serving) => Ok(channel),
        Ok(other) => {
            let other = other.as_str_name();
            Err(Some(format!("the health check answers {other}")))
        }
        Err(status) if status.code() == Code::Unimplemented => Err(Some(
            "it has no grpc.health.v1 service, which is required".to_owned(),
        )),
        Err(status) => {
            let message = status.message();
            Err(Some(format!("the health check failed: {message}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn time_of_the_sandbox_does_not_count() {
        let (set_up, starts) = oneshot::channel();
        let time = StartTime::new(starts, Duration::from_secs(10));
        let since = Instant::now();
        tokio::spawn(async move {
            time::sleep(Duration::from_secs(30)).await;
            set_up.send(Instant::now())
        });
        assert_eq!(time.over().await, Some(Duration::from_secs(30)));
        assert_eq!(since.elapsed(), Duration::from_secs(40));
    }

    #[tokio::test(start_paused = true)]
    async fn sandbox_that_is_never_set_up_is_not_a_slow_agent() {
        let (_set_up, starts) = oneshot::channel();
        let time = StartTime::new(starts, Duration::from_secs(10));
        assert_eq!(time.over().await, None);
    }
}
