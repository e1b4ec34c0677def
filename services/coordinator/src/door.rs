//! Who may call which method: every request shows a token, or is refused before it is read.

#[cfg(test)]
mod cost;
mod methods;
pub(crate) mod quota;
mod tokens;

use std::{net::IpAddr, sync::Arc};

use arena_access::{CertificateName, Token};
use arena_store::Store;
use arena_telemetry::Reading;
use arena_wire::v1::Role;
use tonic::codegen::http;

#[cfg(test)]
pub(crate) use methods::paths;
pub(crate) use quota::StreamPlace;
use quota::{Quota, Quotas};
pub(crate) use tokens::{Tokens, place_of};

use crate::{
    accept::Peer,
    error::{Error, StartError},
    limits::RoleLimits,
    principal::{Principal, Refusal, role_name},
};
use methods::{Method, Methods};

/// Name of the token in the data folder in the audit trail. Its owner is the coordinator's user.
const ADMIN_TOKEN: &str = "admin.token";
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
