//! TLS of a client that speaks no gRPC.

use std::{io, net::TcpStream, path::Path, sync::Arc};

use tokio_rustls::rustls::{
    ClientConfig, ClientConnection, StreamOwned, crypto::ring, pki_types::ServerName,
};

use crate::server_tls::{TlsError, roots};

/// TLS that trusts the authorities of a file.
pub struct ClientTls(Arc<ClientConfig>);

impl ClientTls {
    /// Reads the certificates of the authorities.
    ///
    /// # Errors
    /// [`TlsError`] if the file cannot be used.
    pub fn load(ca: &Path) -> Result<Self, TlsError> {
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| TlsError::new(ca, error))?;
        let builder = builder.with_root_certificates(roots(ca)?);
        Ok(Self(Arc::new(builder.with_no_client_auth())))
    }

    /// Encrypts a connection to a host, which has to show a certificate for its name.
    ///
    /// # Errors
    /// The name is no name of a host.
    pub fn connect(
        &self,
        host: &str,
        stream: TcpStream,
    ) -> io::Result<StreamOwned<ClientConnection, TcpStream>> {
        let host = host
            .trim_start_matches('[')
            .trim_end_matches(']')
            .to_owned();
        let name = ServerName::try_from(host).map_err(io::Error::other)?;
        let connection = ClientConnection::new(Arc::clone(&self.0), name);
        Ok(StreamOwned::new(
            connection.map_err(io::Error::other)?,
            stream,
        ))
    }
}
