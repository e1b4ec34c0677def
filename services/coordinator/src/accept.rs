//! Accepts connections: at most as many as there are files for, with TLS if there is a certificate,
//! and none that makes no request.

mod frames;
mod peer;

use std::{
    fs::{self, Permissions},
    io,
    net::SocketAddr,
    os::unix::{
        fs::{FileTypeExt, PermissionsExt},
        net::UnixStream,
    },
    path::Path,
    pin::Pin,
    sync::{Arc, atomic::Ordering},
    task::{Context, Poll, ready},
    time::Duration,
};

use arena_access::{CertificateName, ServerTls};
use arena_telemetry::{CoordinatorMetrics, Place, Places};
use nix::unistd::Uid;
use tokio::{
    io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf},
    net::{TcpListener, TcpSocket, TcpStream, UnixListener},
    sync::mpsc,
    time::{Instant, Sleep, sleep, timeout},
};
use tokio_rustls::{Accept, server::TlsStream};
use tokio_stream::Stream;
use tonic::transport::server::Connected;

use frames::Frames;
pub use peer::Peer;

use crate::usage::End;

/// Maximum time from a connection to its first permitted request, TLS included.
const SILENCE_MAX: Duration = Duration::from_secs(10);
/// Maximum time for which a client reads nothing of what it is sent: pings cannot notice that.
const UNREAD_MAX: Duration = Duration::from_secs(10);
/// Pause after the system refused a connection, usually for lack of files: another attempt at
/// once would fail, too, and keep a core busy.
const PAUSE: Duration = Duration::from_millis(100);
/// Minimum interval between log lines about refused connections.
const WARN_EVERY: Duration = Duration::from_secs(10);

/// Connections of the own user and of the web page. They do not take the places of others, so that the own user
/// can always revoke a token.
const OWN_CONNECTIONS_MAX: usize = 32;
/// Connections that the system keeps until they are accepted. If there are more, it drops them, and
/// their clients try again after a second.
const BACKLOG: u32 = 4_096;

/// Where connections come from.
pub(crate) enum Listener {
    Tcp(TcpListener),
    /// A Unix socket for this user only.
    Unix(UnixListener),
    /// The web page in this process, which is a viewer.
    Viewers(mpsc::Receiver<DuplexStream>),
}

impl Listener {
    /// Listens on an address, and returns it with the chosen port.
    pub(crate) fn tcp(address: SocketAddr) -> io::Result<(SocketAddr, Self)> {
        let socket = match address {
            SocketAddr::V4(_) => TcpSocket::new_v4(),
            SocketAddr::V6(_) => TcpSocket::new_v6(),
        }?;
        // A port whose last connections still wait for their end can be used again.
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        let listener = socket.listen(BACKLOG)?;
        Ok((listener.local_addr()?, Self::Tcp(listener)))
    }

    /// Listens on a Unix socket that only this user can use.
    pub(crate) fn unix(path: &Path) -> io::Result<Self> {
        if UnixStream::connect(path).is_ok() {
            return Err(io::ErrorKind::AddrInUse.into());
        }
        match fs::symlink_metadata(path) {
            // The rest of a program that was killed.
            Ok(found) if found.file_type().is_socket() => fs::remove_file(path)?,
            Ok(_) => return Err(io::ErrorKind::AlreadyExists.into()),
            Err(_) => {}
        }
        // It gets its name when others cannot use it any more.
        let draft = path.with_extension("new");
        let _ = fs::remove_file(&draft);
        let listener = UnixListener::bind(&draft)?;
        fs::set_permissions(&draft, Permissions::from_mode(0o600))?;
        fs::rename(&draft, path)?;
        Ok(Self::Unix(listener))
    }

    fn poll_accept(&mut self, context: &mut Context<'_>) -> Poll<io::Result<(Io, Peer)>> {
        Poll::Ready(match self {
            Self::Tcp(listener) => ready!(listener.poll_accept(context)).map(|(stream, peer)| {
                // If it cannot be set, the connection is gone already.
                let _ = stream.set_nodelay(true);
                (Io::Plain(stream), Peer::new(Some(peer), false))
            }),
            Self::Unix(listener) => ready!(listener.poll_accept(context)).map(|(stream, _)| {
                let user = stream.peer_cred().map(|peer| peer.uid());
                let own = Uid::effective().as_raw();
                let is_own = user.is_ok_and(|user| [own, 0].contains(&user));
                (Io::Unix(stream), Peer::new(None, is_own))
            }),
            Self::Viewers(viewers) => match ready!(viewers.poll_recv(context)) {
                Some(stream) => {
                    let mut peer = Peer::new(None, false);
                    peer.is_viewer = true;
                    Ok((Io::Local(stream), peer))
                }
                // There is no page, and there will be none.
                None => return Poll::Pending,
            },
        })
    }
}

/// A connection that may get a place.
type Taking = Pin<Box<dyn Future<Output = (Io, Peer, Option<Place>)> + Send>>;

/// The connections of listeners, up to a maximum.
pub struct Incoming {
    listeners: Vec<Listener>,
    /// The listener that is asked first, so that none starves.
    first: usize,
    places: Arc<Places>,
    own_places: Arc<Places>,
    /// Maximum time of a connection without a request.
    idle_max: Duration,
    /// The next connection waits for its place.
    taking: Option<Taking>,
    tls: Option<Arc<ServerTls>>,
    metrics: Arc<CoordinatorMetrics>,
    pause: Option<Pin<Box<Sleep>>>,
    /// Time of the last warning about refused connections.
    warned: Option<Instant>,
    refused_since: u64,
}

impl Incoming {
    pub(crate) fn new(
        listeners: Vec<Listener>,
        connections_max: usize,
        idle_max: Duration,
        tls: Option<Arc<ServerTls>>,
        metrics: Arc<CoordinatorMetrics>,
    ) -> Self {
        Self {
            listeners,
            first: 0,
            places: Places::new(connections_max),
            own_places: Places::new(OWN_CONNECTIONS_MAX),
            idle_max,
            taking: None,
            tls,
            metrics,
            pause: None,
            warned: None,
            refused_since: 0,
        }
    }

    fn poll_accept(&mut self, context: &mut Context<'_>) -> Poll<io::Result<(Io, Peer)>> {
        let number = self.listeners.len();
        for place in (self.first..number).chain(0..self.first) {
            if let Poll::Ready(accepted) = self.listeners[place].poll_accept(context) {
                self.first = (place + 1) % number;
                return Poll::Ready(accepted);
            }
        }
        Poll::Pending
    }

    /// Counts a refused connection, and logs a warning from time to time.
    fn refused(&mut self, why: &str) {
        self.metrics.connections_refused.inc();
        self.refused_since += 1;
        let now = Instant::now();
        if self.warned.is_none_or(|warned| warned + WARN_EVERY <= now) {
            tracing::warn!(
                open = self.metrics.connections.get(),
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
            if let Some(taking) = &mut this.taking {
                let (io, mut peer, place) = ready!(taking.as_mut().poll(context));
                this.taking = None;
                let Some(place) = place else {
                    // Dropped: the client is informed at once.
                    this.refused(
                        "connection limit reached; a higher limit of open files (ulimit -n) \
                         allows more",
                    );
                    continue;
                };
                peer.seat = Some(Arc::clone(&place.seat));
                let io = match (io, &this.tls) {
                    (Io::Plain(stream), Some(tls)) => {
                        let accept = Box::new(tls.acceptor().accept(stream));
                        Io::Handshake(accept, Arc::clone(tls))
                    }
                    (io, _) => io,
                };
                let connection = Connection::new(io, peer, place, this.idle_max, &this.metrics);
                return Poll::Ready(Some(Ok(connection)));
            }
            match ready!(this.poll_accept(context)) {
                Ok((io, peer)) => {
                    let places = match peer.is_own || peer.is_viewer {
                        true => &this.own_places,
                        false => &this.places,
                    };
                    let place = Arc::clone(places).take();
                    this.taking = Some(Box::pin(async { (io, peer, place.await) }));
                }
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

/// The bytes of a connection.
enum Io {
    Plain(TcpStream),
    Unix(tokio::net::UnixStream),
    Local(DuplexStream),
    /// TLS is being agreed, by the task of this connection.
    Handshake(Box<Accept<TcpStream>>, Arc<ServerTls>),
    Tls(Box<TlsStream<TcpStream>>),
    /// TLS was not agreed.
    Failed,
}

/// A connection; its place is free again when it is dropped.
pub struct Connection {
    io: Io,
    peer: Peer,
    /// The end of a connection that has made no request.
    silence: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    /// What it may send. The own user and the web page are trusted.
    frames: Option<Frames>,
    /// The end of a connection whose client does not read.
    unread: Option<Pin<Box<Sleep>>>,
    /// The end of a connection without requests, or with those of a token that ended.
    end: Option<End>,
    /// The end of a connection whose certificate has lost its authority.
    rejected: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    metrics: Arc<CoordinatorMetrics>,
    _place: Place,
}

impl Connection {
    fn new(
        io: Io,
        peer: Peer,
        place: Place,
        idle_max: Duration,
        metrics: &Arc<CoordinatorMetrics>,
    ) -> Self {
        metrics.connections.inc();
        let is_own = peer.is_own || peer.is_viewer;
        let end = (!is_own).then(|| End::new(peer.usage.clone(), idle_max));
        let seat = Arc::clone(&place.seat);
        Self {
            io,
            peer,
            // Both ends are the same to the client, and to its task.
            silence: Some(Box::pin(async move {
                let _ = timeout(SILENCE_MAX, seat.lost()).await;
            })),
            unread: None,
            frames: (!is_own).then(Frames::new),
            end,
            rejected: None,
            metrics: Arc::clone(metrics),
            _place: place,
        }
    }

    /// The bytes, once TLS is agreed.
    fn poll_io(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<Pin<&mut (dyn Duplex + Unpin)>>> {
        if self.peer.is_served.load(Ordering::Relaxed) {
            self.silence = None;
        } else if let Some(silence) = &mut self.silence
            && silence.as_mut().poll(context).is_ready()
        {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        if let Io::Handshake(accept, tls) = &mut self.io {
            match ready!(Pin::new(accept).poll(context)) {
                Ok(stream) => {
                    if let Some(chain) = stream.get_ref().1.peer_certificates() {
                        let rejected = Arc::clone(tls).rejected(chain.to_vec());
                        self.rejected = Some(Box::pin(rejected));
                        if let Some(name) = chain.first().and_then(CertificateName::of_certificate)
                        {
                            // It is set only here.
                            let _ = self.peer.certificate.set(name);
                        }
                    }
                    self.io = Io::Tls(Box::new(stream));
                }
                Err(error) => {
                    self.io = Io::Failed;
                    return Poll::Ready(Err(error));
                }
            }
        }
        if let Some(rejected) = &mut self.rejected
            && rejected.as_mut().poll(context).is_ready()
        {
            (self.rejected, self.io) = (None, Io::Failed);
        }
        Poll::Ready(match &mut self.io {
            Io::Plain(stream) => Ok(Pin::new(stream)),
            Io::Unix(stream) => Ok(Pin::new(stream)),
            Io::Local(stream) => Ok(Pin::new(stream)),
            Io::Tls(stream) => Ok(Pin::new(&mut **stream)),
            Io::Handshake(..) | Io::Failed => Err(io::ErrorKind::NotConnected.into()),
        })
    }
}

impl Connection {
    /// True if no request is open, and none is expected.
    fn poll_over(&mut self, context: &mut Context<'_>) -> bool {
        let Some(mut end) = self.end.take() else {
            return false;
        };
        let is_stalled = self.unread.is_some();
        let is_over = match self.poll_io(context) {
            Poll::Ready(Ok(io)) => end.poll(context, io, is_stalled).is_ready(),
            _ => false,
        };
        self.end = Some(end);
        is_over
    }

    fn count_sent(&mut self, sent: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if let (Some(frames), Poll::Ready(Ok(bytes))) = (&mut self.frames, &sent) {
            frames.sent(*bytes);
        }
        sent
    }

    /// Sends, and ends the connection if the client has not read for too long.
    fn poll_sent<T>(
        &mut self,
        context: &mut Context<'_>,
        send: impl FnOnce(Pin<&mut (dyn Duplex + Unpin)>, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        let sent = send(ready!(self.poll_io(context))?, context);
        if sent.is_ready() {
            self.unread = None;
            return sent;
        }
        let limit = || Box::pin(sleep(UNREAD_MAX));
        let unread = self.unread.get_or_insert_with(limit);
        ready!(unread.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

/// Both directions.
trait Duplex: AsyncRead + AsyncWrite {}

impl<T: AsyncRead + AsyncWrite> Duplex for T {}

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
        let _ = ready!(this.poll_io(context))?;
        let before = buffer.filled().len();
        let may_read = this.frames.as_mut().map(|it| it.poll(context));
        let read = match may_read {
            Some(Poll::Pending) => Poll::Pending,
            _ => ready!(this.poll_io(context))?.poll_read(context, buffer),
        };
        if let Some(frames) = &mut this.frames {
            frames.read(&buffer.filled()[before..]);
        }
        if read.is_pending() && this.poll_over(context) {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
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
        let sent = self.poll_sent(context, |io, context| io.poll_write(context, bytes));
        self.count_sent(sent)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let sent = self.poll_sent(context, |io, context| {
            io.poll_write_vectored(context, slices)
        });
        self.count_sent(sent)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_sent(context, |io, context| io.poll_flush(context))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.io {
            Io::Handshake(..) | Io::Failed => Poll::Ready(Ok(())),
            Io::Plain(stream) => Pin::new(stream).poll_shutdown(context),
            Io::Unix(stream) => Pin::new(stream).poll_shutdown(context),
            Io::Local(stream) => Pin::new(stream).poll_shutdown(context),
            Io::Tls(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}

impl Connected for Connection {
    type ConnectInfo = Peer;

    fn connect_info(&self) -> Peer {
        self.peer.clone()
    }
}
