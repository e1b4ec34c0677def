//! Accepts connections: at most as many as there are files for, and none that stays silent.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use arena_telemetry::CoordinatorMetrics;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, Sleep, sleep},
};
use tokio_stream::Stream;
use tonic::transport::server::{Connected, TcpConnectInfo};

/// Maximum time that a new connection may be silent.
const SILENCE_MAX: Duration = Duration::from_secs(10);
/// Start of every HTTP/2 connection; a connection that has sent less has sent nothing.
const PREFACE_BYTES: usize = 24;
/// Pause after the system refused a connection, usually for lack of files: another attempt at
/// once would fail, too, and keep a core busy.
const PAUSE: Duration = Duration::from_millis(100);
/// Minimum interval between log lines about refused connections.
const WARN_EVERY: Duration = Duration::from_secs(10);

/// The connections of a listener, up to a maximum.
pub struct Incoming {
    listener: TcpListener,
    places: Arc<Semaphore>,
    places_max: usize,
    metrics: Arc<CoordinatorMetrics>,
    pause: Option<Pin<Box<Sleep>>>,
    /// Time of the last warning about refused connections.
    warned: Option<Instant>,
    refused_since: u64,
}

impl Incoming {
    pub(crate) fn new(
        listener: TcpListener,
        connections_max: usize,
        metrics: Arc<CoordinatorMetrics>,
    ) -> Self {
        let places_max = connections_max.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            listener,
            places: Arc::new(Semaphore::new(places_max)),
            places_max,
            metrics,
            pause: None,
            warned: None,
            refused_since: 0,
        }
    }

    /// Counts a refused connection, and logs a warning from time to time.
    fn refused(&mut self, why: &str) {
        self.metrics.connections_refused.inc();
        self.refused_since += 1;
        let now = Instant::now();
        if self.warned.is_none_or(|warned| warned + WARN_EVERY <= now) {
            tracing::warn!(
                open = self.places_max - self.places.available_permits(),
                refused = self.refused_since,
                "rejecting connections: {why}"
            );
            self.warned = Some(now);
            self.refused_since = 0;
        }
    }
}

impl Stream for Incoming {
    type Item = io::Result<Connection>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            if let Some(pause) = &mut this.pause {
                ready!(pause.as_mut().poll(context));
                this.pause = None;
            }
            match ready!(this.listener.poll_accept(context)) {
                Ok((stream, _)) => match Arc::clone(&this.places).try_acquire_owned() {
                    Ok(place) => {
                        let connection = Connection::new(stream, place, &this.metrics);
                        return Poll::Ready(Some(Ok(connection)));
                    }
                    // Dropped: the client is informed at once.
                    Err(_) => this.refused(
                        "connection limit reached; a higher limit of open files (ulimit -n) \
                         allows more",
                    ),
                },
                Err(error) if of_one_connection(&error) => {}
                Err(error) => {
                    this.refused(&format!("{error}; retrying shortly"));
                    this.pause = Some(Box::pin(sleep(PAUSE)));
                }
            }
        }
    }
}

/// True if an error of `accept` belongs to the connection, not to the listener.
fn of_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::Interrupted
    )
}

/// A connection; its place is free again when it is dropped.
pub struct Connection {
    stream: TcpStream,
    silence: Option<Silence>,
    metrics: Arc<CoordinatorMetrics>,
    _place: OwnedSemaphorePermit,
}

/// A connection that has not sent enough yet.
struct Silence {
    heard: usize,
    end: Pin<Box<Sleep>>,
}

impl Connection {
    fn new(
        stream: TcpStream,
        place: OwnedSemaphorePermit,
        metrics: &Arc<CoordinatorMetrics>,
    ) -> Self {
        // If it cannot be set, the connection is gone already.
        let _ = stream.set_nodelay(true);
        metrics.connections.inc();
        Self {
            stream,
            silence: Some(Silence {
                heard: 0,
                end: Box::pin(sleep(SILENCE_MAX)),
            }),
            metrics: Arc::clone(metrics),
            _place: place,
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.metrics.connections.dec();
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let before = buffer.filled().len();
        let read = Pin::new(&mut this.stream).poll_read(context, buffer);
        if let Some(silence) = &mut this.silence {
            silence.heard += buffer.filled().len() - before;
            if silence.heard >= PREFACE_BYTES {
                this.silence = None;
            } else if read.is_pending() && silence.end.as_mut().poll(context).is_ready() {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
        }
        read
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

impl Connected for Connection {
    type ConnectInfo = TcpConnectInfo;

    fn connect_info(&self) -> TcpConnectInfo {
        self.stream.connect_info()
    }
}
