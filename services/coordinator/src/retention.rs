//! Removes tournaments that ended longer ago than a setting allows.

use std::{
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use arena_wire::v1;

use crate::{
    error::Error,
    handle::Handle,
    principal::{Principal, role_name},
    trail::{Event, Trail},
};

/// Time between two searches; tests do not wait long.
const INTERVAL: Duration = Duration::from_secs(if cfg!(test) { 1 } else { 60 });
/// Time between two removals, so that other requests are served.
const PAUSE: Duration = Duration::from_millis(20);

/// The removal of old tournaments.
pub(crate) struct Retention {
    handle: Handle,
    trail: Arc<Trail>,
    keep: Duration,
}

impl Retention {
    pub(crate) fn new(handle: Handle, trail: Arc<Trail>, keep: Duration) -> Self {
        Self {
            handle,
            trail,
            keep,
        }
    }

    /// Removes old tournaments until it is dropped. Each removal is a request of its own, like one of
    /// a user.
    pub(crate) async fn run(self) {
        loop {
            let searched = self.remove_old().await;
            if let Err(error) = searched {
                tracing::debug!(%error, "cannot look for old tournaments");
            }
            tokio::time::sleep(INTERVAL).await;
        }
    }

    async fn remove_old(&self) -> Result<(), Error> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let before = since.unwrap_or_default().saturating_sub(self.keep);
        let before = before.as_micros() as u64;
        let mut last: Option<String> = None;
        loop {
            let find = self
                .handle
                .ask(move |core| Ok(core.ended_before(before, last.as_deref())))
                .await?;
            let Some(id) = find else {
                return Ok(());
            };
            // One that cannot be removed now is tried again in the next search.
            if let Err(error) = self.remove(&id).await {
                tracing::warn!(tournament = id, %error, "cannot remove an old tournament");
            }
            last = Some(id);
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn remove(&self, id: &str) -> Result<(), Error> {
        let by = Principal::retention();
        let event = Event {
            actor: by.actor.to_string(),
            role: role_name(by.role).to_owned(),
            method: "RemoveTournament".to_owned(),
            target: id.to_owned(),
            detail: format!(
                "ended more than {} ago",
                humantime::format_duration(self.keep)
            ),
            outcome: "Ok".to_owned(),
            code: "OK".to_owned(),
            ..Event::default()
        };
        let request = v1::RemoveTournamentRequest {
            tournament_id: id.to_owned(),
            ..v1::RemoveTournamentRequest::default()
        };
        self.handle
            .change(|core| Box::pin(async move { core.remove_tournament(request, &by).await }))
            .await?;
        self.trail.record(event);
        Ok(())
    }
}
