//! The web pages of `arena coordinator`.

use std::future::pending;

use arena_coordinator::Service;
use arena_web::{CONNECTIONS_MAX, Pages, WebServer};
use tokio::task::JoinSet;

use super::CoordinatorArgs;
use crate::failure::{Failure, Outcome};

/// Pages that do not answer yet.
pub(super) struct Web {
    server: WebServer,
    hosts: Vec<String>,
    is_public: bool,
}

/// How many of all connections may be those of readers of pages.
pub(super) fn readers_max(all: usize) -> usize {
    (all / 4).min(CONNECTIONS_MAX)
}

impl CoordinatorArgs {
    /// Listens on the address of the pages, if there is one.
    pub(super) fn bind_web(&self, has_tls: bool) -> Outcome<Option<Web>> {
        let Some(address) = self.web else {
            return Ok(None);
        };
        // A token would be sent in plain text.
        let is_open = !address.ip().is_loopback();
        if is_open && !has_tls && !self.web_public && !self.insecure {
            return Err(Failure::usage(format!(
                "--web {address}: an address that others can reach needs a certificate, because \
                 readers send tokens: name it with --tls-cert and --tls-key. With --web-public, \
                 everyone may read the pages"
            )));
        }
        Ok(Some(Web {
            server: WebServer::bind(address).map_err(Failure::failed)?,
            hosts: self.web_host.clone(),
            // A name other than localhost means that others come through a proxy.
            is_public: self.web_public || !is_open && self.web_host.is_empty(),
        }))
    }
}

impl Web {
    /// The address, with the chosen port.
    pub(super) fn address(&self) -> String {
        self.server.local_addr().to_string()
    }

    /// Answers until the result is dropped.
    pub(super) fn start(self, service: &Service, connections_max: usize) -> JoinSet<()> {
        let viewing = service.viewing();
        let pages = Pages {
            connection: viewing.connection,
            permits: Some(viewing.permits).filter(|_| !self.is_public),
            hosts: self.hosts,
            connections_max,
        };
        let server = match viewing.acceptor {
            Some(acceptor) => self.server.encrypted(acceptor),
            None => self.server,
        };
        let mut running = JoinSet::new();
        running.spawn(async move {
            if let Err(error) = server.run(pages, pending()).await {
                tracing::error!("the web pages ended: {error}");
            }
        });
        running
    }
}
