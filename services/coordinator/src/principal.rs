//! Who makes a request, and what it may use.

use std::{
    sync::{Arc, OnceLock},
    time::{Duration, SystemTime},
};

use arena_access::without_secrets;
use arena_wire::{limits::Limit, v1::Role};
use tokio::sync::{Semaphore, watch};

use crate::{door::quota::Quota, error::Error};

/// Seconds in which an upload has to send its next MiB, if its token has no limit.
pub(crate) const UPLOAD_IDLE_SECONDS: u64 = 30;
/// Owner of what the coordinator's own user makes.
pub(crate) const LOCAL: &str = "local";
/// Name of the coordinator in the audit trail, and in what is left of removed tournaments.
const RETENTION: &str = "retention";
/// Name of the web page in the audit trail.
const WEB_PAGE: &str = "web page";
/// Maximum bytes of what a request was about in the audit trail.
const TARGET_BYTES_MAX: usize = 256;

/// Who makes a request.
#[derive(Clone, Debug)]
pub(crate) struct Principal {
    pub(crate) role: Role,
    /// Name of the owner of what this one makes; empty if it was made before there were owners.
    pub(crate) owner: Arc<str>,
    /// Name in the audit trail.
    pub(crate) actor: Arc<str>,
    /// When the permission ends.
    pub(crate) end: Option<End>,
    /// What the request is about, for the audit trail.
    pub(crate) target: Arc<OnceLock<String>>,
    /// What it did to that.
    pub(crate) detail: Arc<OnceLock<String>>,
    /// What this owner may use and uses; none if it has no limits.
    pub(crate) quota: Option<Arc<Quota>>,
}

/// The end of a permission.
#[derive(Clone, Debug)]
pub(crate) struct End {
    pub(crate) revoked: watch::Receiver<bool>,
    pub(crate) expires: Option<SystemTime>,
}

/// A request that may not pass.
pub(crate) struct Refusal {
    pub(crate) error: Box<Error>,
    /// Who made it, with the role; none if nothing valid was shown.
    pub(crate) by: Option<(Arc<str>, Role)>,
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self {
            error: Box::new(error),
            by: None,
        }
    }
}

/// The beginning of a text, without secrets that were sent by mistake.
fn beginning(text: &str) -> String {
    without_secrets(&text[..text.floor_char_boundary(TARGET_BYTES_MAX)])
}

impl Principal {
    /// Seconds in which an upload of this one has to send its next MiB.
    pub(crate) fn upload_idle_max(&self) -> u64 {
        let own = self.quota.as_ref().and_then(|quota| quota.upload_idle());
        own.unwrap_or(UPLOAD_IDLE_SECONDS)
    }

    /// The coordinator's own user.
    pub(crate) fn local() -> Self {
        Self {
            role: Role::Admin,
            owner: LOCAL.into(),
            actor: LOCAL.into(),
            end: None,
            target: Arc::default(),
            detail: Arc::default(),
            quota: None,
        }
    }

    /// The coordinator itself, which removes old tournaments.
    pub(crate) fn retention() -> Self {
        Self {
            owner: RETENTION.into(),
            actor: RETENTION.into(),
            ..Self::local()
        }
    }

    /// The web page of the coordinator, which only reads.
    pub(crate) fn web_page() -> Self {
        Self {
            role: Role::Viewer,
            owner: "".into(),
            actor: WEB_PAGE.into(),
            ..Self::local()
        }
    }

    /// Someone unknown, who may use what is open to all.
    pub(crate) fn anonymous() -> Self {
        Self {
            role: Role::Unspecified,
            owner: "".into(),
            actor: "".into(),
            end: None,
            target: Arc::default(),
            detail: Arc::default(),
            quota: None,
        }
    }

    /// True for a request that showed nothing.
    pub(crate) fn is_anonymous(&self) -> bool {
        self.role == Role::Unspecified
    }

    /// Says what the request is about. The audit trail has the beginning of a long name.
    pub(crate) fn on(&self, target: &str) {
        // The first word counts.
        let _ = self.target.set(beginning(target));
    }

    /// Says what the request did, where its method does not.
    pub(crate) fn did(&self, what: &str) {
        let _ = self.detail.set(beginning(what));
    }

    /// What the request did.
    pub(crate) fn detail(&self) -> String {
        self.detail.get().cloned().unwrap_or_default()
    }

    /// What the request was about.
    pub(crate) fn target(&self) -> String {
        self.target.get().cloned().unwrap_or_default()
    }

    /// Fails unless it may change what an owner made.
    pub(crate) fn check_owner(&self, owner: &str, what: &str) -> Result<(), Error> {
        match self.role == Role::Admin || *self.owner == *owner {
            true => Ok(()),
            false => Err(Error::NotOwner {
                what: what.to_owned(),
            }),
        }
    }

    /// Fails if there is no room for `more` of what a limit counts, in addition to `used`.
    pub(crate) fn check_limit(
        &self,
        limit: &'static Limit,
        used: u64,
        more: u64,
    ) -> Result<(), Error> {
        let quota = self.quota.as_ref();
        quota.map_or(Ok(()), |quota| quota.check(limit, used, more))
    }

    /// The room for unread messages of this one's streams, and how much of it a message of so many bytes takes;
    /// none without a limit.
    pub(crate) fn room(&self, bytes: usize) -> Option<(Arc<Semaphore>, u32)> {
        self.quota.as_ref().map(|quota| quota.room(bytes))
    }

    /// Counts a request.
    pub(crate) fn request(&self) -> Result<(), Refusal> {
        let quota = self.quota.as_ref();
        let counted = quota.map_or(Ok(()), |quota| quota.request());
        counted.map_err(|error| self.refused(error))
    }

    /// The refusal of a request of this one.
    pub(crate) fn refused(&self, error: Error) -> Refusal {
        Refusal {
            error: Box::new(error),
            by: Some((Arc::clone(&self.actor), self.role)),
        }
    }

    /// Completes when the permission ends; never, if it has no end.
    pub(crate) async fn ended(self) -> Error {
        let Some(End {
            mut revoked,
            expires,
        }) = self.end
        else {
            return std::future::pending().await;
        };
        let expiry = async {
            match expires {
                Some(expires) => {
                    let left = expires.duration_since(SystemTime::now());
                    tokio::time::sleep(left.unwrap_or(Duration::ZERO)).await;
                }
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            // Without a sender, the coordinator ends.
            _ = revoked.wait_for(|revoked| *revoked) => Error::TokenRevoked,
            () = expiry => Error::TokenExpired,
        }
    }
}

/// The name of a role in commands and messages.
pub(crate) fn role_name(role: Role) -> &'static str {
    match role {
        Role::Unspecified => "none",
        Role::Viewer => "viewer",
        Role::Submitter => "submitter",
        Role::Worker => "worker",
        Role::Admin => "admin",
    }
}
