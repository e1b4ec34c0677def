//! The worker's presence at a coordinator.

use std::{
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use arena_wire::v1::{self, join_response::Notice, worker_service_client::WorkerServiceClient};
use tokio::{
    sync::{mpsc, watch},
    time,
};
use tonic::{Status, transport::Channel};

use crate::agent::connect::causes;

/// After a lost connection: the first wait, doubled up to the last.
const WAIT_FIRST: Duration = Duration::from_millis(50);
const WAIT_LAST: Duration = Duration::from_secs(1);

/// A stay at a coordinator. Leases belong to one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Session {
    pub(super) worker_id: String,
    pub(super) boot_epoch: u64,
    /// How often it hears of the worker's progress.
    pub(super) heartbeat: Duration,
}

/// What the coordinator tells.
#[derive(Debug)]
pub(super) enum Told {
    /// A new stay: leases of the last one are gone.
    Welcome(Rc<Session>),
    /// Leases of this stay that ended.
    Ended(Vec<u64>),
    /// No more games come.
    Drain,
    /// The stay is over.
    Lost,
}

/// Stays joined; returns with the time and the last problem once the
/// coordinator was out of reach for too long.
pub(super) async fn stay(
    channel: Channel,
    request: v1::JoinRequest,
    limit: Duration,
    joined: Arc<AtomicBool>,
    current: watch::Sender<Option<Rc<Session>>>,
    told: mpsc::Sender<Told>,
) -> (Duration, String) {
    let mut lost = Instant::now();
    let mut wait = WAIT_FIRST;
    loop {
        let mut client = WorkerServiceClient::new(channel.clone());
        let left = limit.saturating_sub(lost.elapsed());
        let attempt = time::timeout(left, client.join(request.clone())).await;
        let problem = match attempt {
            Ok(Ok(answer)) => {
                let mut notices = answer.into_inner();
                let end = loop {
                    match notices.message().await {
                        Ok(Some(message)) => {
                            let Some(notice) = message.notice else {
                                continue;
                            };
                            let news = read(notice);
                            if let Told::Welcome(session) = &news {
                                tracing::info!(worker = session.worker_id, "joined");
                                joined.store(true, Ordering::Relaxed);
                                current.send_replace(Some(session.clone()));
                                wait = WAIT_FIRST;
                                lost = Instant::now();
                            }
                            if told.send(news).await.is_err() {
                                return (Duration::ZERO, "the worker ended".to_owned());
                            }
                        }
                        Ok(None) => break "it ended the connection".to_owned(),
                        Err(status) => break problem(&status),
                    }
                };
                if joined.swap(false, Ordering::Relaxed) {
                    tracing::warn!("lost the coordinator: {end}");
                    lost = Instant::now();
                }
                current.send_replace(None);
                // Without the worker this task ends as well.
                let _ = told.send(Told::Lost).await;
                end
            }
            Ok(Err(status)) => problem(&status),
            Err(_) => "no answer".to_owned(),
        };
        if lost.elapsed() + wait >= limit {
            return (lost.elapsed(), problem);
        }
        time::sleep(wait).await;
        wait = (wait * 2).min(WAIT_LAST);
    }
}

fn read(notice: Notice) -> Told {
    match notice {
        Notice::Welcome(welcome) => {
            let deadline = Duration::from_millis(welcome.lease_deadline_ms.into());
            Told::Welcome(Rc::new(Session {
                worker_id: welcome.worker_id,
                boot_epoch: welcome.boot_epoch,
                heartbeat: (deadline / 5).clamp(Duration::from_millis(20), Duration::from_secs(1)),
            }))
        }
        Notice::LeasesEnded(ended) => Told::Ended(ended.lease_ids),
        Notice::Drain(v1::Drain {}) => Told::Drain,
    }
}

fn problem(status: &Status) -> String {
    let text = status.message();
    match std::error::Error::source(status) {
        Some(source) => causes(source),
        None if text.is_empty() => format!("{:?}", status.code()),
        None => text.to_owned(),
    }
}
