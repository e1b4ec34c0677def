//! What a web page in this process needs: a connection of a viewer, and the checks of the metrics'
//! port.

use std::{io, sync::Arc};

use arena_access::{Bearer, Connection};
use arena_telemetry::{Acceptor, Permits};
use hyper_util::rt::TokioIo;
use tokio::{
    io::{DuplexStream, duplex},
    sync::mpsc,
};
use tonic::{codegen::http::Uri, transport::Endpoint};
use tower::service_fn;

use crate::{rpc::READER_OF_WEB, service::Service};

/// Bytes that wait in one direction of a connection in this process.
const BUFFER_BYTES: usize = 64 << 10;

/// What a web page in this process needs of its coordinator.
pub struct Viewing {
    /// A connection whose caller is a viewer: it reads what any viewer reads, and changes nothing.
    pub connection: Connection,
    /// Decides whether a request with these headers may be answered, as for metrics.
    pub permits: Permits,
    /// The coordinator's certificate for HTTP, if it has one.
    pub acceptor: Option<Acceptor>,
}

impl Service {
    /// A connection of a viewer, and the checks of readers. The connection answers from
    /// [`Service::run`] on.
    #[must_use]
    pub fn viewing(&self) -> Viewing {
        let gate = Arc::clone(&self.gate);
        let permits: Permits = Arc::new(move |headers, peer, reading| {
            gate.admit_reader(headers, peer, reading, READER_OF_WEB)
        });
        Viewing {
            connection: connection(self.viewers.clone()),
            permits,
            acceptor: self.http_acceptor.clone(),
        }
    }
}

/// A connection in this process, which is made at the first call.
fn connection(viewers: mpsc::Sender<DuplexStream>) -> Connection {
    let connect = move |_: Uri| {
        let viewers = viewers.clone();
        async move {
            let (near, far) = duplex(BUFFER_BYTES);
            let refused = |_| io::Error::from(io::ErrorKind::ConnectionRefused);
            viewers.send(far).await.map_err(refused)?;
            Ok::<_, io::Error>(TokioIo::new(near))
        }
    };
    // The name is not resolved.
    let endpoint = Endpoint::from_static("http://coordinator.invalid");
    let channel = endpoint.connect_with_connector_lazy(service_fn(connect));
    Connection::new(channel, Bearer::none())
}
