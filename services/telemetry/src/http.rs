//! A small HTTP server: `/metrics` and the web page of a coordinator use it.

use std::{
    io,
    net::{SocketAddr, TcpListener},
    pin::pin,
    sync::Arc,
    time::Duration,
};

use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::{GracefulShutdown, Watcher},
    service::TowerToHyperService,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::{sleep, timeout},
};
use tokio_rustls::{Accept, TlsAcceptor};

use crate::{places::Places, stalled::Reading};

/// Maximum time until the headers of a request have arrived.
pub(crate) const HEADERS_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum number of headers of a request, and the bytes of all of them with its path.
const HEADERS_MAX: usize = 64;
const HEADER_BYTES_MAX: usize = 16 << 10;
/// Usual maximum time for which a client reads nothing of what it is sent.
pub const UNREAD_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum time for open answers at the end.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);
/// Pause after the system refused a connection, usually for lack of files.
const PAUSE: Duration = Duration::from_millis(100);

/// Why an HTTP server did not start or stopped.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Another program listens on the address.
    #[error("{address} is in use: choose another address for {purpose}; port 0 selects a free one")]
    InUse {
        /// The requested address.
        address: String,
        /// What the server is for.
        purpose: &'static str,
    },
    /// The address cannot be used.
    #[error("cannot listen on {address} for {purpose}")]
    Bind {
        /// The requested address.
        address: String,
        /// What the server is for.
        purpose: &'static str,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// The server failed later.
    #[error("the server on {address} for {purpose} stopped")]
    Serve {
        /// Its address.
        address: SocketAddr,
        /// What the server is for.
        purpose: &'static str,
        /// The cause.
        #[source]
        source: io::Error,
    },
}

/// The newest settings of TLS.
pub type Acceptor = Arc<dyn Fn() -> TlsAcceptor + Send + Sync>;

/// Limits of an HTTP server.
#[derive(Clone, Copy, Debug)]
pub struct HttpLimits {
    /// Maximum number of open connections. Each needs a file, and the store needs files, too. A
    /// further one replaces the connection that has made no request for longest.
    pub connections_max: usize,
    /// Maximum duration of a connection; clients open a new one.
    pub connection_timeout: Duration,
    /// Maximum time for which a client reads nothing of what it is sent.
    pub unread_timeout: Duration,
}

/// A bound HTTP server that does not answer yet.
pub struct HttpServer {
    listener: TcpListener,
    local: SocketAddr,
    purpose: &'static str,
    acceptor: Option<Acceptor>,
}

impl HttpServer {
    /// Binds `HOST:PORT`; port 0 takes a free one. Needs no runtime. Errors name the purpose, such as
    /// `metrics`.
    ///
    /// # Errors
    /// [`ServeError::InUse`] and [`ServeError::Bind`].
    pub fn bind(address: &str, purpose: &'static str) -> Result<Self, ServeError> {
        let bound = TcpListener::bind(address).and_then(|listener| {
            listener.set_nonblocking(true)?;
            let local = listener.local_addr()?;
            Ok(Self {
                listener,
                local,
                purpose,
                acceptor: None,
            })
        });
        bound.map_err(|source| {
            let address = address.to_owned();
            match source.kind() {
                io::ErrorKind::AddrInUse => ServeError::InUse { address, purpose },
                _ => ServeError::Bind {
                    address,
                    purpose,
                    source,
                },
            }
        })
    }

    /// Uses TLS.
    #[must_use]
    pub fn encrypted(mut self, acceptor: Acceptor) -> Self {
        self.acceptor = Some(acceptor);
        self
    }

    /// Its address, with the chosen port.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.local
    }

    /// Answers with a router until `shutdown` completes. Requests have two extensions: the
    /// [`std::net::IpAddr`] of the client, and the [`crate::Seat`] of the connection in an `Arc`.
    ///
    /// # Errors
    /// [`ServeError::Serve`].
    pub async fn run(
        self,
        router: Router,
        limits: HttpLimits,
        shutdown: impl Future<Output = ()> + Send,
    ) -> Result<(), ServeError> {
        let (address, purpose) = (self.local, self.purpose);
        let failed = |source| ServeError::Serve {
            address,
            purpose,
            source,
        };
        let places = Places::new(limits.connections_max);
        let mut shutdown = pin!(shutdown);
        let connections = GracefulShutdown::new();
        let listener = tokio::net::TcpListener::from_std(self.listener).map_err(failed)?;
        loop {
            let accepted = tokio::select! {
                () = &mut shutdown => break,
                accepted = listener.accept() => accepted,
            };
            let Ok((stream, peer)) = accepted else {
                sleep(PAUSE).await;
                continue;
            };
            // Without a place the connection is closed at once.
            if let Some(place) = Arc::clone(&places).take().await {
                let router = router
                    .clone()
                    .layer(Extension(peer.ip()))
                    .layer(Extension(Arc::clone(&place.seat)));
                let watcher = connections.watcher();
                let stream = Reading::new(stream, limits.unread_timeout);
                let accept = self.acceptor.as_ref().map(|acceptor| acceptor());
                tokio::spawn(async move {
                    let serving = async {
                        match accept {
                            Some(accept) => {
                                encrypted(accept.accept(stream), router, watcher).await;
                            }
                            None => drop(watcher.watch(connection(stream, router)).await),
                        }
                    };
                    tokio::select! {
                        _ = timeout(limits.connection_timeout, serving) => {}
                        () = place.seat.lost() => {}
                    }
                    drop(place);
                });
            }
        }
        let _ = timeout(CLOSE_TIMEOUT, connections.shutdown()).await;
        Ok(())
    }
}

/// Serves a connection, unless its requests do not arrive.
fn connection<S: AsyncRead + AsyncWrite + Unpin>(
    stream: S,
    router: Router,
) -> http1::Connection<TokioIo<S>, TowerToHyperService<Router>> {
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADERS_TIMEOUT)
        .max_headers(HEADERS_MAX)
        .max_buf_size(HEADER_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router))
}

/// Serves a connection with TLS, if it is agreed in time.
async fn encrypted(accept: Accept<Reading>, router: Router, watcher: Watcher) {
    if let Ok(Ok(stream)) = timeout(HEADERS_TIMEOUT, accept).await {
        let _ = watcher.watch(connection(stream, router)).await;
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Bytes;
    use tokio::io::AsyncWriteExt;

    use super::*;

    #[tokio::test]
    async fn client_that_does_not_read_is_disconnected() {
        let server = HttpServer::bind("127.0.0.1:0", "a test").expect("a port");
        let address = server.local_addr();
        // More than the system keeps for a connection.
        let page = Bytes::from(vec![b'a'; 64 << 20]);
        let shown = page.clone();
        let router = Router::new().fallback(async move || shown.clone());
        let limits = HttpLimits {
            connections_max: 4,
            connection_timeout: Duration::from_secs(3_600),
            unread_timeout: Duration::from_millis(100),
        };
        let running = tokio::spawn(server.run(router, limits, std::future::pending()));
        let mut client = tokio::net::TcpStream::connect(address).await.expect("it");
        let request = b"GET / HTTP/1.1\r\nHost: test\r\n\r\n";
        client.write_all(request).await.expect("it is read");
        // The server closes, so that writing fails.
        let is_closed = timeout(Duration::from_secs(30), async {
            while client.write_all(b"\r\n").await.is_ok() {
                sleep(Duration::from_millis(10)).await;
            }
        });
        is_closed.await.expect("it is closed");
        running.abort();
    }
}
