//! Connections of the simulated network for tonic.

use std::{
    collections::BTreeMap,
    io,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, ready},
};

use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_stream::Stream;
use tonic::transport::{Channel, Endpoint, Uri, server::Connected};
use turmoil::net::{TcpListener, TcpStream};

/// The port of the coordinator.
pub(super) const PORT: u16 = 7600;

/// The sockets of a host, in the order of their creation. When a program ends, its runtime drops
/// tasks in a varying order; the sockets are closed in the order of this list.
#[derive(Clone, Default)]
pub(super) struct Sockets(Arc<Mutex<Open>>);

#[derive(Default)]
struct Open {
    /// Ends the program: with the first socket, all are closed.
    ending: bool,
    last: u64,
    streams: BTreeMap<u64, Arc<Mutex<Option<TcpStream>>>>,
}

impl Sockets {
    /// Whether the program is ending.
    pub(super) fn end(&self, ending: bool) {
        self.open().ending = ending;
    }

    fn add(&self, stream: TcpStream) -> Socket {
        let stream = Arc::new(Mutex::new(Some(stream)));
        let mut open = self.open();
        open.last += 1;
        let number = open.last;
        open.streams.insert(number, stream.clone());
        Socket {
            of: self.clone(),
            number,
            stream,
        }
    }

    /// Closes a socket, or all sockets if the program is ending.
    fn close(&self, number: u64) {
        let mut open = self.open();
        let closed: Vec<_> = if open.ending {
            std::mem::take(&mut open.streams).into_values().collect()
        } else {
            open.streams.remove(&number).into_iter().collect()
        };
        drop(open);
        for stream in closed {
            drop(lock(&stream).take());
        }
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        lock(&self.0)
    }

    /// A connector to a simulated host.
    pub(super) fn connect(&self, endpoint: &Endpoint) -> Channel {
        let this = self.clone();
        let connector = tower::service_fn(move |uri: Uri| {
            let this = this.clone();
            async move {
                let host = uri.host().unwrap_or_default().to_owned();
                let stream = TcpStream::connect((host, uri.port_u16().unwrap_or(PORT))).await?;
                Ok::<_, io::Error>(TokioIo::new(this.add(stream)))
            }
        });
        endpoint.connect_with_connector_lazy(connector)
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A connection.
pub(super) struct Socket {
    of: Sockets,
    number: u64,
    stream: Arc<Mutex<Option<TcpStream>>>,
}

impl Socket {
    /// Uses the socket. A closed socket gives the error of the operating system.
    fn with<T>(
        &self,
        poll: impl FnOnce(Pin<&mut TcpStream>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        match &mut *lock(&self.stream) {
            Some(stream) => poll(Pin::new(stream)),
            None => Poll::Ready(Err(io::ErrorKind::NotConnected.into())),
        }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.of.close(self.number);
    }
}

impl Connected for Socket {
    type ConnectInfo = ();

    fn connect_info(&self) {}
}

impl AsyncRead for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.with(|stream| stream.poll_read(context, buffer))
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.with(|stream| stream.poll_write(context, bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.with(|stream| stream.poll_flush(context))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.with(|stream| stream.poll_shutdown(context))
    }
}

type Accepting = Pin<Box<dyn Future<Output = io::Result<Socket>> + Send>>;

/// The incoming connections of a listener.
pub(super) struct Incoming {
    listener: Arc<TcpListener>,
    sockets: Sockets,
    next: Accepting,
}

impl Incoming {
    pub(super) fn new(listener: TcpListener, sockets: Sockets) -> Self {
        let listener = Arc::new(listener);
        Self {
            next: accept(listener.clone(), sockets.clone()),
            listener,
            sockets,
        }
    }
}

fn accept(listener: Arc<TcpListener>, sockets: Sockets) -> Accepting {
    Box::pin(async move {
        let (stream, _) = listener.accept().await?;
        Ok(sockets.add(stream))
    })
}

impl Stream for Incoming {
    type Item = io::Result<Socket>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let accepted = ready!(self.next.as_mut().poll(context));
        self.next = accept(self.listener.clone(), self.sockets.clone());
        Poll::Ready(Some(accepted))
    }
}
