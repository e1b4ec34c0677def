//! Clients, as their requests know them.

use std::{
    net::SocketAddr,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use arena_access::CertificateName;
use arena_telemetry::Seat;

use crate::{
    error::Error,
    principal::Principal,
    shares::{ConnectionShare, ConnectionShares},
    usage::{OpenRequest, Usage},
};

/// Who is at the other end of a connection.
#[derive(Clone, Debug)]
pub struct Peer {
    /// None on a Unix socket.
    pub(crate) address: Option<SocketAddr>,
    /// True if it is a program of the coordinator's user, on a Unix socket.
    pub(crate) is_own: bool,
    /// True if it is the web page in this process.
    pub(crate) is_viewer: bool,
    /// What a certificate says, once TLS is agreed.
    pub(super) certificate: Arc<OnceLock<CertificateName>>,
    /// True once it has made a permitted request.
    pub(super) is_served: Arc<AtomicBool>,
    pub(super) seat: Option<Arc<Seat>>,
    /// The part of its owner's share of connections.
    share: Arc<OnceLock<ConnectionShare>>,
    pub(super) usage: Usage,
    is_refused: Arc<AtomicBool>,
}

impl Peer {
    pub(super) fn new(address: Option<SocketAddr>, is_own: bool) -> Self {
        Self {
            address,
            is_own,
            is_viewer: false,
            certificate: Arc::default(),
            is_served: Arc::default(),
            seat: None,
            share: Arc::default(),
            usage: Usage::new(),
            is_refused: Arc::default(),
        }
    }

    pub(crate) fn certificate(&self) -> Option<&CertificateName> {
        self.certificate.get()
    }

    /// It has made a permitted request, so that its connection may stay, unless its token has too many.
    pub(crate) fn served(&self, by: &Principal, shares: &ConnectionShares) -> Result<(), Error> {
        if self.is_served.load(Ordering::Relaxed) {
            return Ok(());
        }
        if !self.is_own && !self.is_viewer {
            // The connection of two first requests counts once.
            let _ = self.share.set(shares.take(by)?);
        }
        if !self.is_served.swap(true, Ordering::Relaxed) {
            self.usage.end_with(by);
            if let Some(seat) = &self.seat {
                seat.busy();
            }
        }
        Ok(())
    }

    /// Counts an open request.
    pub(crate) fn open(&self) -> OpenRequest {
        self.usage.open()
    }

    /// True for the first request that is refused because its token has too many connections.
    pub(crate) fn is_first_refusal(&self) -> bool {
        !self.is_refused.swap(true, Ordering::Relaxed)
    }
}
