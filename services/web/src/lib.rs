//! Read-only web pages of a coordinator: tournaments with live standings, games to step through,
//! workers and agents; the same as JSON, described by `openapi.json`.
//!
//! The pages are made by a client of the coordinator that has the role of a viewer. So they show what
//! gRPC shows to viewers, and nothing else. `ARCHITECTURE.md` has the decisions.

mod answer;
mod badge;
mod data;
mod events;
mod game;
mod guard;
mod lists;
mod routes;
mod site;
mod snapshot;
mod tournament;
mod unread;

use std::{net::SocketAddr, sync::Arc, time::Duration};

use arena_access::Connection;
use arena_report::Client;
use arena_telemetry::{Acceptor, HttpLimits, HttpServer, Permits, ServeError, UNREAD_TIMEOUT};

use crate::{guard::Guard, site::Site};

/// Maximum number of open connections, most of which follow a tournament.
pub const CONNECTIONS_MAX: usize = 2_048;
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Maximum duration of a connection. It is longer than an answer with events.
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(300);
/// Maximum bytes of an answer of the coordinator.
const MESSAGE_BYTES_MAX: usize = 64 << 20;

/// Where pages come from, and who may read them.
pub struct Pages {
    /// A connection to the coordinator; the role of a viewer suffices.
    pub connection: Connection,
    /// Decides by headers and address who may read. None: everyone.
    pub permits: Option<Permits>,
    /// Names of this server in URLs, in addition to its address and `localhost`.
    pub hosts: Vec<String>,
    /// Maximum number of open connections.
    pub connections_max: usize,
}

/// A bound server that does not answer yet.
pub struct WebServer {
    http: HttpServer,
}

impl WebServer {
    /// Binds `HOST:PORT`; port 0 takes a free one.
    ///
    /// # Errors
    /// [`ServeError::InUse`] and [`ServeError::Bind`].
    pub fn bind(address: SocketAddr) -> Result<Self, ServeError> {
        let http = HttpServer::bind(&address.to_string(), "web pages")?;
        Ok(Self { http })
    }

    /// Uses TLS.
    #[must_use]
    pub fn encrypted(self, acceptor: Acceptor) -> Self {
        let http = self.http.encrypted(acceptor);
        Self { http }
    }

    /// Its address, with the chosen port.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.http.local_addr()
    }

    /// Answers until `shutdown` completes.
    ///
    /// # Errors
    /// [`ServeError::Serve`].
    pub async fn run(
        self,
        pages: Pages,
        shutdown: impl Future<Output = ()> + Send,
    ) -> Result<(), ServeError> {
        let client = Client::new(pages.connection).max_decoding_message_size(MESSAGE_BYTES_MAX);
        let guard = Guard::new(self.local_addr().ip(), pages.hosts, pages.permits);
        let limits = HttpLimits {
            connections_max: pages.connections_max,
            connection_timeout: CONNECTION_TIMEOUT,
            unread_timeout: UNREAD_TIMEOUT,
        };
        let router = routes::router(Arc::new(Site::new(client)), Arc::new(guard));
        self.http.run(router, limits, shutdown).await
    }
}
