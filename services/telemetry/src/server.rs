//! `/metrics` for Prometheus and `/healthz` for supervisors.

use std::{
    io,
    net::{IpAddr, SocketAddr, TcpListener},
    pin::pin,
    sync::Arc,
    time::Duration,
};

use axum::{
    Extension, Router,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::{GracefulShutdown, Watcher},
    service::TowerToHyperService,
};
use prometheus::{Registry, TEXT_FORMAT, TextEncoder};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    time::{sleep, timeout},
};
use tokio_rustls::{Accept, TlsAcceptor};

use crate::places::{Places, Seat};

/// Maximum number of open connections. Each needs a file, and the store needs files, too. A further
/// one replaces the connection that has made no request for longest.
const CONNECTIONS_MAX: usize = 64;
/// Maximum time until the headers of a request have arrived.
const HEADERS_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum duration of a connection; Prometheus opens a new one.
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(60);
/// Maximum time for open answers at the end.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);
/// Pause after the system refused a connection, usually for lack of files.
const PAUSE: Duration = Duration::from_millis(100);

/// Why the metrics server did not start or stopped.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Another program listens on the address.
    #[error("{address} is in use: choose another address for metrics; port 0 selects a free one")]
    InUse {
        /// The requested address.
        address: String,
    },
    /// The address cannot be used.
    #[error("cannot listen on {address} for metrics")]
    Bind {
        /// The requested address.
        address: String,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// The server failed later.
    #[error("the metrics server on {address} stopped")]
    Serve {
        /// Its address.
        address: SocketAddr,
        /// The cause.
        #[source]
        source: io::Error,
    },
}

/// True if a request with these headers, from this address, may read metrics.
pub type Permits = Arc<dyn Fn(&HeaderMap, IpAddr) -> bool + Send + Sync>;
/// The newest settings of TLS.
pub type Acceptor = Arc<dyn Fn() -> TlsAcceptor + Send + Sync>;

/// A bound server that does not answer yet.
pub struct MetricsServer {
    listener: TcpListener,
    local: SocketAddr,
    permits: Option<Permits>,
    acceptor: Option<Acceptor>,
}

impl MetricsServer {
    /// Binds `HOST:PORT`; port 0 takes a free one. Needs no runtime.
    ///
    /// # Errors
    /// [`ServeError::InUse`] and [`ServeError::Bind`].
    pub fn bind(address: &str) -> Result<Self, ServeError> {
        let bound = TcpListener::bind(address).and_then(|listener| {
            listener.set_nonblocking(true)?;
            let local = listener.local_addr()?;
            Ok(Self {
                listener,
                local,
                permits: None,
                acceptor: None,
            })
        });
        bound.map_err(|source| {
            let address = address.to_owned();
            match source.kind() {
                io::ErrorKind::AddrInUse => ServeError::InUse { address },
                _ => ServeError::Bind { address, source },
            }
        })
    }

    /// Asks at `/metrics` for a permission; `/healthz` needs none.
    #[must_use]
    pub fn guarded(mut self, permits: Permits) -> Self {
        self.permits = Some(permits);
        self
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

    /// Answers until `shutdown` completes. `ready` is called for each `/healthz`: `Err` answers 503
    /// with its reason. `refresh` is awaited before each page of metrics, to update values that are
    /// only computed on request.
    ///
    /// # Errors
    /// [`ServeError::Serve`].
    pub async fn run<R>(
        self,
        registry: Registry,
        refresh: impl Fn() -> R + Clone + Send + Sync + 'static,
        ready: impl Fn() -> Result<(), String> + Send + Sync + 'static,
        shutdown: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), ServeError>
    where
        R: Future<Output = ()> + Send + 'static,
    {
        let address = self.local;
        let failed = |source| ServeError::Serve { address, source };
        let places = Places::new(CONNECTIONS_MAX);
        let mut shutdown = pin!(shutdown);
        let connections = GracefulShutdown::new();
        let listener = tokio::net::TcpListener::from_std(self.listener).map_err(failed)?;
        let ready = Arc::new(ready);
        let permits = self.permits;
        let router = Router::new()
            .route(
                "/metrics",
                get(
                    async move |Extension(peer): Extension<IpAddr>,
                                Extension(seat): Extension<Arc<Seat>>,
                                headers: HeaderMap| {
                        if permits.is_some_and(|permits| !permits(&headers, peer)) {
                            return refusal();
                        }
                        seat.busy();
                        refresh().await;
                        let page = metrics(&registry);
                        seat.idle();
                        page
                    },
                ),
            )
            .route("/healthz", get(async move || health(ready())));
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
                        _ = timeout(CONNECTION_TIMEOUT, serving) => {}
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
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router))
}

/// Serves a connection with TLS, if it is agreed in time.
async fn encrypted(accept: Accept<TcpStream>, router: Router, watcher: Watcher) {
    if let Ok(Ok(stream)) = timeout(HEADERS_TIMEOUT, accept).await {
        let _ = watcher.watch(connection(stream, router)).await;
    }
}

fn refusal() -> Response {
    let text = "metrics need a token of a viewer: authorization: Bearer TOKEN\n";
    let asks = [(header::WWW_AUTHENTICATE, "Bearer")];
    (StatusCode::UNAUTHORIZED, asks, text).into_response()
}

fn metrics(registry: &Registry) -> Response {
    match TextEncoder::new().encode_to_string(&registry.gather()) {
        Ok(text) => ([(header::CONTENT_TYPE, TEXT_FORMAT)], text).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

fn health(ready: Result<(), String>) -> Response {
    match ready {
        Ok(()) => "ok\n".into_response(),
        Err(reason) => (StatusCode::SERVICE_UNAVAILABLE, format!("{reason}\n")).into_response(),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used)]

    use std::sync::atomic::{AtomicBool, Ordering};

    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::TcpStream,
        sync::oneshot,
    };

    use super::*;
    use crate::WorkerMetrics;

    async fn ask(address: SocketAddr, path: &str) -> String {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }

    #[tokio::test]
    async fn metrics_and_health_are_served_until_shutdown() {
        let registry = Registry::new();
        let metrics = Arc::new(WorkerMetrics::new(&registry, ["cowry"]).unwrap());
        let refresh = move || {
            metrics.games_played("cowry", 3);
            std::future::ready(())
        };
        let server = MetricsServer::bind("127.0.0.1:0").unwrap();
        let address = server.local_addr();
        let well = Arc::new(AtomicBool::new(true));
        let (stop, stopped) = oneshot::channel::<()>();
        let ready = {
            let well = Arc::clone(&well);
            move || match well.load(Ordering::Relaxed) {
                true => Ok(()),
                false => Err("the disk is full".to_owned()),
            }
        };
        let running = tokio::spawn(server.run(registry, refresh, ready, async {
            stopped.await.ok();
        }));

        let page = ask(address, "/metrics").await;
        assert!(page.starts_with("HTTP/1.1 200"), "{page}");
        assert!(
            page.contains("content-type: text/plain; version=0.0.4"),
            "{page}"
        );
        assert!(
            page.contains("arena_worker_games_total{ruleset=\"cowry\"} 3\n"),
            "{page}"
        );
        assert!(ask(address, "/healthz").await.starts_with("HTTP/1.1 200"));
        well.store(false, Ordering::Relaxed);
        let ill = ask(address, "/healthz").await;
        assert!(ill.starts_with("HTTP/1.1 503"), "{ill}");
        assert!(ill.ends_with("the disk is full\n"), "{ill}");
        assert!(ask(address, "/").await.starts_with("HTTP/1.1 404"));

        stop.send(()).unwrap();
        running.await.unwrap().unwrap();
        assert!(TcpStream::connect(address).await.is_err());
    }

    #[tokio::test]
    async fn unfinished_requests_keep_no_other_out() {
        let server = MetricsServer::bind("127.0.0.1:0").unwrap();
        let address = server.local_addr();
        let refresh = || std::future::ready(());
        let running = server.run(Registry::new(), refresh, || Ok(()), std::future::pending());
        let running = tokio::spawn(running);
        let mut silent = Vec::new();
        for _ in 0..2 * CONNECTIONS_MAX {
            let mut stream = TcpStream::connect(address).await.unwrap();
            // One that is closed already cannot be written to.
            let _ = stream.write_all(b"GET /healthz HTTP/1.1\r\n").await;
            silent.push(stream);
        }
        let mut answer = [0; 64];
        for stream in &mut silent {
            // Each is closed: at once, or when its headers do not arrive.
            let read = timeout(4 * HEADERS_TIMEOUT, stream.read(&mut answer)).await;
            let bytes = read.unwrap().unwrap_or(0);
            assert!(!answer[..bytes].starts_with(b"HTTP/1.1 200"));
        }
        assert!(ask(address, "/healthz").await.starts_with("HTTP/1.1 200"));
        running.abort();
    }

    #[tokio::test]
    async fn silent_connections_yield_to_new_ones() {
        let server = MetricsServer::bind("127.0.0.1:0").unwrap();
        let address = server.local_addr();
        let refresh = || std::future::ready(());
        let running = server.run(Registry::new(), refresh, || Ok(()), std::future::pending());
        let running = tokio::spawn(running);
        // Each that is closed is made again at once.
        let renewing = tokio::spawn(async move {
            let mut silent = tokio::task::JoinSet::new();
            loop {
                while silent.len() < 2 * CONNECTIONS_MAX {
                    let mut stream = TcpStream::connect(address).await.unwrap();
                    silent.spawn(async move { stream.read(&mut [0; 64]).await.unwrap_or(0) });
                }
                silent.join_next().await;
            }
        });
        for _ in 0..20 {
            let page = ask(address, "/metrics").await;
            assert!(page.starts_with("HTTP/1.1 200"), "{page}");
        }
        assert!(!renewing.is_finished());
        renewing.abort();
        running.abort();
    }

    #[test]
    fn port_in_use_is_named() {
        let first = MetricsServer::bind("127.0.0.1:0").unwrap();
        let address = first.local_addr().to_string();
        let error = MetricsServer::bind(&address).err().unwrap();
        assert!(matches!(&error, ServeError::InUse { address: named } if *named == address));
        assert!(error.to_string().contains(&address));
    }

    #[test]
    fn invalid_address_is_named() {
        let error = MetricsServer::bind("nowhere").err().unwrap();
        assert!(matches!(&error, ServeError::Bind { address, .. } if address == "nowhere"));
    }
}
