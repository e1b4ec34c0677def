//! Who may call which method: every request shows a token, or is refused before it is read.

#[cfg(test)]
mod cost;
mod methods;
mod quota;
mod tokens;

use std::{
    net::IpAddr,
    sync::{Arc, OnceLock},
    time::{Duration, SystemTime},
};

use arena_access::{CertificateName, Token, without_secrets};
use arena_store::Store;
use arena_telemetry::Reading;
use arena_wire::{limits::Limit, v1::Role};
use tokio::sync::{Semaphore, watch};
use tonic::codegen::http;

#[cfg(test)]
pub(crate) use methods::paths;
pub(crate) use quota::StreamPlace;
use quota::{Quota, Quotas};
pub(crate) use tokens::{Tokens, place_of};

use crate::{
    accept::Peer,
    error::{Error, StartError},
    limits::{RoleLimits, UPLOAD_IDLE_SECONDS},
};
use methods::{Method, Methods};

/// Owner of what the coordinator's own user makes.
const LOCAL: &str = "local";
/// Name of the token in the data folder in the audit trail. Its owner is the coordinator's user.
const ADMIN_TOKEN: &str = "admin.token";
/// Name of the coordinator in the audit trail, and in what is left of removed tournaments.
const RETENTION: &str = "retention";
/// Name of the web page in the audit trail.
const WEB_PAGE: &str = "web page";
/// Maximum bytes of what a request was about in the audit trail.
const TARGET_BYTES_MAX: usize = 256;
/// Name of callers in the audit trail if everyone may do everything.
const INSECURE: &str = "insecure";

/// Prefix of owners with a certificate, which no token's id has.
const CERTIFICATE: &str = "certificate:";
/// What a certificate or token may allow.
const ROLES: [Role; 4] = [Role::Viewer, Role::Submitter, Role::Worker, Role::Admin];

/// Who may use a coordinator.
#[derive(Clone, Debug)]
pub enum Access {
    /// Everyone who reaches it may do everything.
    Open,
    /// Holders of tokens, each as its role says.
    Tokens {
        /// A token of an admin, which this program knows without storing it.
        admin: Token,
    },
}

/// Decides on every request.
pub(crate) struct Door {
    methods: Methods,
    /// None: everyone may do everything.
    pub(crate) tokens: Option<Arc<Tokens>>,
    limits: RoleLimits,
    /// What owners with certificates use.
    certified: Quotas,
}

/// Who makes a request.
#[derive(Clone, Debug)]
pub(crate) struct Principal {
    pub(crate) role: Role,
    /// Name of the owner of what this one makes; empty if it was made before there were owners.
    pub(crate) owner: Arc<str>,
    /// Name in the audit trail.
    pub(crate) actor: Arc<str>,
    /// When the permission ends.
    end: Option<End>,
    /// What the request is about, for the audit trail.
    target: Arc<OnceLock<String>>,
    /// What it did to that.
    detail: Arc<OnceLock<String>>,
    /// What this owner may use and uses; none if it has no limits.
    quota: Option<Arc<Quota>>,
}

#[derive(Clone, Debug)]
struct End {
    revoked: watch::Receiver<bool>,
    expires: Option<SystemTime>,
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

/// A request that may pass.
pub(crate) struct Admission {
    pub(crate) principal: Principal,
    /// True if the answer is a stream, which can outlast the permission.
    pub(crate) streams: bool,
    /// True if the call belongs into the audit trail.
    pub(crate) is_recorded: bool,
    /// The place of a stream.
    pub(crate) place: Option<StreamPlace>,
    /// A use of the token that has to be stored first.
    pub(crate) counted: Option<tokens::Counted>,
}

impl Door {
    /// Reads the tokens of a store.
    pub(crate) fn load(
        access: &Access,
        limits: &RoleLimits,
        store: &Arc<dyn Store>,
    ) -> Result<Self, StartError> {
        Ok(Self {
            methods: Methods::of_descriptors(),
            tokens: match access {
                Access::Open => None,
                Access::Tokens { admin } => Some(Arc::new(Tokens::load(admin, limits, store)?)),
            },
            limits: limits.clone(),
            certified: Quotas::default(),
        })
    }

    /// The path of a method for metrics. Clients may request any path.
    pub(crate) fn label<'a>(&self, path: &'a str) -> &'a str {
        match self.methods.is_known(path) {
            true => path,
            false => "other",
        }
    }

    /// Decides on a request of metrics or pages with these headers. Returns the place of a stream.
    pub(crate) fn admit_reader(
        &self,
        headers: &http::HeaderMap,
        peer: IpAddr,
        reading: Reading,
    ) -> Result<Option<StreamPlace>, Refusal> {
        let Some(tokens) = &self.tokens else {
            return Ok(None);
        };
        let header = headers.get(http::header::AUTHORIZATION);
        let header = header.ok_or(Error::TokenMissing)?;
        // Scrapes never end, and a page is several requests.
        let by = tokens.check_reader(header, peer)?;
        if by.role == Role::Worker {
            let role = role_name(by.role);
            let needed = "viewer".to_owned();
            return Err(by.refused(Error::Role { role, needed }));
        }
        let quota = by.quota.as_ref().filter(|_| reading == Reading::Stream);
        let place = quota.map(Quota::stream).transpose();
        place.map_err(|error| by.refused(error))
    }

    /// Decides on a request.
    pub(crate) fn admit<B>(
        &self,
        request: &http::Request<B>,
        peer: Option<&Peer>,
    ) -> Result<Admission, Refusal> {
        let method = self.methods.find(request.uri().path());
        let Some(tokens) = &self.tokens else {
            let anyone = Principal {
                actor: INSECURE.into(),
                ..Principal::local()
            };
            return Ok(Admission::of(anyone, method));
        };
        if method.open {
            return Ok(Admission::of(Principal::anonymous(), method));
        }
        let header = request.headers().get(http::header::AUTHORIZATION);
        let address = peer.and_then(|peer| Some(peer.address?.ip()));
        let (principal, counted) = match (header, peer.and_then(Peer::certificate)) {
            (Some(header), _) => tokens.check_header(header, address)?,
            (None, _) if peer.is_some_and(|peer| peer.is_own) => (Principal::local(), None),
            (None, _) if peer.is_some_and(|peer| peer.is_viewer) => (Principal::web_page(), None),
            (None, Some(name)) => (self.certified(name)?, None),
            (None, None) => return Err(Error::TokenMissing.into()),
        };
        if !method.admits(principal.role) {
            return Err(principal.refused(Error::Role {
                role: role_name(principal.role),
                needed: method.needed(),
            }));
        }
        let quota = principal.quota.as_ref().filter(|_| method.is_stream());
        let place = quota.map(Quota::stream).transpose();
        Ok(Admission {
            counted: counted.filter(|_| principal.role != Role::Worker),
            place: place.map_err(|error| principal.refused(error))?,
            ..Admission::of(principal, method)
        })
    }

    /// The holder of a certificate. It has no end but that of the connection.
    fn certified(&self, name: &CertificateName) -> Result<Principal, Refusal> {
        let owner: Arc<str> = format!("{CERTIFICATE}{}", name.name).into();
        let role = ROLES.into_iter().find(|role| role_name(*role) == name.role);
        let role = role.ok_or_else(|| Refusal {
            error: Box::new(Error::CertificateRole),
            by: Some((Arc::clone(&owner), Role::Unspecified)),
        })?;
        let limits = self.limits.of(role, None);
        let quota = limits.map(|limits| self.certified.of(role, &owner, limits));
        let principal = Principal {
            role,
            actor: Arc::clone(&owner),
            owner,
            end: None,
            target: Arc::default(),
            detail: Arc::default(),
            quota,
        };
        principal.request()?;
        Ok(principal)
    }
}

/// The beginning of a text, without secrets that were sent by mistake.
fn beginning(text: &str) -> String {
    without_secrets(&text[..text.floor_char_boundary(TARGET_BYTES_MAX)])
}

impl Admission {
    fn of(principal: Principal, method: &Method) -> Self {
        Self {
            principal,
            streams: method.streams,
            is_recorded: method.is_recorded,
            place: None,
            counted: None,
        }
    }
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
    fn web_page() -> Self {
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
    fn request(&self) -> Result<(), Refusal> {
        let quota = self.quota.as_ref();
        let counted = quota.map_or(Ok(()), |quota| quota.request());
        counted.map_err(|error| self.refused(error))
    }

    /// The refusal of a request of this one.
    fn refused(&self, error: Error) -> Refusal {
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
