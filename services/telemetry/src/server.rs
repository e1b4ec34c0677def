//! `/metrics` for Prometheus, `/healthz` and `/livez` for supervisors.

use std::{
    any::Any,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use axum::{
    Extension, Router,
    body::Bytes,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use prometheus::{Registry, TEXT_FORMAT};

use crate::{
    http::{Acceptor, HttpLimits, HttpServer, ServeError, UNREAD_TIMEOUT},
    page::{NoPage, Page},
    places::Seat,
};

/// Limits of the server. Prometheus opens a new connection after a while.
const LIMITS: HttpLimits = HttpLimits {
    connections_max: 64,
    connection_timeout: Duration::from_secs(60),
    unread_timeout: UNREAD_TIMEOUT,
};

/// Decides whether a request with these headers, from this address, may read.
pub type Permits = Arc<dyn Fn(&HeaderMap, IpAddr, Reading) -> Result<Permit, Denied> + Send + Sync>;

/// What a request reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// A document.
    Document,
    /// Events, for as long as they are read.
    Stream,
}

/// Permission to read. That of a stream is kept until the stream ends.
pub type Permit = Option<Box<dyn Any + Send>>;

/// Why a request may not read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Denied {
    /// The reason, if it says more than that a token is needed.
    pub reason: Option<String>,
    /// For a limit that is reached: the time until another attempt.
    pub retry: Option<Duration>,
}

impl Denied {
    /// The status of HTTP.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        match self.retry {
            Some(_) => StatusCode::TOO_MANY_REQUESTS,
            None => StatusCode::UNAUTHORIZED,
        }
    }

    /// The value of `Retry-After`, in seconds.
    #[must_use]
    pub fn retry_after(&self) -> Option<u64> {
        let whole = |retry: Duration| retry.as_secs() + u64::from(retry.subsec_nanos() > 0);
        self.retry.map(|retry| whole(retry).max(1))
    }
}

/// A bound server that does not answer yet.
pub struct MetricsServer {
    http: HttpServer,
    permits: Option<Permits>,
}

impl MetricsServer {
    /// Binds `HOST:PORT`; port 0 takes a free one. Needs no runtime.
    ///
    /// # Errors
    /// [`ServeError::InUse`] and [`ServeError::Bind`].
    pub fn bind(address: &str) -> Result<Self, ServeError> {
        Ok(Self {
            http: HttpServer::bind(address, "metrics")?,
            permits: None,
        })
    }

    /// Asks at `/metrics` for a permission; `/healthz` and `/livez` need none.
    #[must_use]
    pub fn guarded(mut self, permits: Permits) -> Self {
        self.permits = Some(permits);
        self
    }

    /// Uses TLS.
    #[must_use]
    pub fn encrypted(mut self, acceptor: Acceptor) -> Self {
        self.http = self.http.encrypted(acceptor);
        self
    }

    /// Its address, with the chosen port.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.http.local_addr()
    }

    /// Answers until `shutdown` completes. `ready` is called for each `/healthz`: `Err` answers 503
    /// with its reason. `/livez` always answers 200. `refresh` is awaited before each page of metrics, to update values that are
    /// only computed on request; requests that wait at the same time share a page.
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
        let ready = Arc::new(ready);
        let permits = self.permits;
        let page = Arc::new(Page::new(registry));
        let router = Router::new()
            .route(
                "/metrics",
                get(
                    async move |Extension(peer): Extension<IpAddr>,
                                Extension(seat): Extension<Arc<Seat>>,
                                headers: HeaderMap| {
                        let permits = permits.as_ref();
                        let read = |permits: &Permits| permits(&headers, peer, Reading::Document);
                        if let Some(Err(denied)) = permits.map(read) {
                            return refusal(&denied);
                        }
                        seat.busy();
                        let answer = metrics(page.get(&refresh).await);
                        seat.idle();
                        answer
                    },
                ),
            )
            .route("/healthz", get(async move || health(ready())))
            .route("/livez", get(async || health(Ok(()))));
        self.http.run(router, LIMITS, shutdown).await
    }
}

fn refusal(denied: &Denied) -> Response {
    let needed = "metrics need a token of a viewer: authorization: Bearer TOKEN";
    let text = format!("{}\n", denied.reason.as_deref().unwrap_or(needed));
    let asks = match denied.retry_after() {
        Some(seconds) => [(header::RETRY_AFTER, seconds.to_string())],
        None => [(header::WWW_AUTHENTICATE, "Bearer".to_owned())],
    };
    (denied.status(), asks, text).into_response()
}

fn metrics(page: Result<Bytes, NoPage>) -> Response {
    match page {
        Ok(page) => ([(header::CONTENT_TYPE, TEXT_FORMAT)], page).into_response(),
        Err(NoPage::Crowded) => {
            let crowded = "too many requests wait for this page\n";
            let retry = [(header::RETRY_AFTER, "1")];
            (StatusCode::SERVICE_UNAVAILABLE, retry, crowded).into_response()
        }
        Err(NoPage::Failed(error)) => (StatusCode::INTERNAL_SERVER_ERROR, error).into_response(),
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

    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::TcpStream,
        sync::{Semaphore, oneshot},
        time::timeout,
    };

    use super::*;
    use crate::{WorkerMetrics, http::HEADERS_TIMEOUT, page::WAITING_MAX};

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
        assert!(ask(address, "/livez").await.starts_with("HTTP/1.1 200"));
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
        for _ in 0..2 * LIMITS.connections_max {
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
                while silent.len() < 2 * LIMITS.connections_max {
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

    #[tokio::test]
    async fn waiting_requests_share_a_page_and_leave_places() {
        let server = MetricsServer::bind("127.0.0.1:0").unwrap();
        let address = server.local_addr();
        let (made, gate) = (Arc::new(AtomicUsize::new(0)), Arc::new(Semaphore::new(0)));
        let refresh = {
            let (made, gate) = (Arc::clone(&made), Arc::clone(&gate));
            move || {
                let (made, gate) = (Arc::clone(&made), Arc::clone(&gate));
                async move {
                    made.fetch_add(1, Ordering::SeqCst);
                    let _ = gate.acquire().await;
                }
            }
        };
        let running = server.run(Registry::new(), refresh, || Ok(()), std::future::pending());
        let running = tokio::spawn(running);
        let mut asking = tokio::task::JoinSet::new();
        for _ in 0..LIMITS.connections_max {
            asking.spawn(ask(address, "/metrics"));
        }
        let mut answers = Vec::new();
        while asking.len() > WAITING_MAX {
            answers.push(asking.join_next().await.unwrap().unwrap());
        }
        let is_crowded = |it: &String| it.starts_with("HTTP/1.1 503") && it.contains("retry-after");
        assert!(answers.iter().all(is_crowded), "{answers:?}");
        assert!(ask(address, "/livez").await.starts_with("HTTP/1.1 200"));
        gate.add_permits(LIMITS.connections_max);
        while let Some(answer) = asking.join_next().await {
            assert!(answer.unwrap().starts_with("HTTP/1.1 200"));
        }
        // Those that came after the first had begun share another one.
        assert!(made.load(Ordering::SeqCst) <= 2);
        running.abort();
    }

    #[test]
    fn port_in_use_is_named() {
        let first = MetricsServer::bind("127.0.0.1:0").unwrap();
        let address = first.local_addr().to_string();
        let error = MetricsServer::bind(&address).err().unwrap();
        assert!(matches!(&error, ServeError::InUse { address: named, .. } if *named == address));
        assert!(error.to_string().contains(&address));
    }

    #[test]
    fn invalid_address_is_named() {
        let error = MetricsServer::bind("nowhere").err().unwrap();
        assert!(matches!(&error, ServeError::Bind { address, .. } if address == "nowhere"));
    }
}
