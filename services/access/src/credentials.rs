//! What a client or worker shows to a coordinator.

use std::{io, path::PathBuf};

use tonic::transport::{self, Certificate, ClientTlsConfig, Endpoint, Identity};

use crate::{
    bearer::{Bearer, TokenFileError},
    connection::{Connection, Node},
};

/// The files that a user names.
#[derive(Clone, Debug, Default)]
pub struct CredentialFiles {
    /// A file with a token; without it and a certificate, the token of a local coordinator is found.
    pub token: Option<PathBuf>,
    /// Certificates of the authority that signed the coordinator's, as PEM.
    pub ca: Option<PathBuf>,
    /// A certificate of the client or worker, as PEM, and its key.
    pub identity: Option<(PathBuf, PathBuf)>,
}

/// A token and the settings of TLS.
#[derive(Clone, Debug)]
pub struct Credentials {
    /// The token.
    pub bearer: Bearer,
    tls: Option<ClientTlsConfig>,
}

/// Why a coordinator cannot be dialled.
#[derive(Debug, thiserror::Error)]
pub enum DialError {
    /// The URL.
    #[error("\"{0}\" is not a URL of a coordinator, such as http://127.0.0.1:7600")]
    Url(String),
    /// The token.
    #[error(transparent)]
    Token(#[from] TokenFileError),
    /// A certificate or key.
    #[error("cannot read {}: {error}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The cause.
        error: io::Error,
    },
    /// There is no authority to trust.
    #[error("{0} needs the certificate of the authority that signed the coordinator's: --tls-ca")]
    NoAuthority(String),
    /// The certificates are of no use.
    #[error("TLS: {0}")]
    Tls(String),
}

impl Credentials {
    /// What each local coordinator has left for its own user.
    #[must_use]
    pub fn found() -> Self {
        Self {
            bearer: Bearer::found(),
            tls: None,
        }
    }

    /// What a user names.
    ///
    /// # Errors
    /// [`DialError`] if a file cannot be used.
    pub fn of_files(files: &CredentialFiles) -> Result<Self, DialError> {
        let read = |path: &PathBuf| {
            let failed = |error| DialError::File {
                path: path.clone(),
                error,
            };
            std::fs::read(path).map_err(failed)
        };
        let mut tls = None;
        if let Some(ca) = &files.ca {
            let trusted = Certificate::from_pem(read(ca)?);
            tls = Some(ClientTlsConfig::new().ca_certificate(trusted));
        }
        if let Some((certificate, key)) = &files.identity {
            let identity = Identity::from_pem(read(certificate)?, read(key)?);
            tls = Some(tls.unwrap_or_default().identity(identity));
        }
        let bearer = match &files.token {
            Some(path) => Bearer::of_file(path.clone())?,
            // A user who names a certificate wants to be its holder, not the administrator.
            None if files.identity.is_some() => Bearer::none(),
            None => Bearer::found(),
        };
        Ok(Self { bearer, tls })
    }

    /// A connection to URLs, separated by commas, that is made at the first call.
    ///
    /// # Errors
    /// [`DialError`] if a URL or the certificates are of no use.
    pub fn connect_lazy(&self, urls: &str) -> Result<Connection, DialError> {
        Ok(self.dial_lazy(&self.endpoints(urls)?))
    }

    /// A connection to one of [`Credentials::endpoints`] that is made at the first call, and again,
    /// perhaps to another one, when it was lost.
    #[must_use]
    pub fn dial_lazy(&self, endpoints: &[Endpoint]) -> Connection {
        let nodes = endpoints.iter().map(|endpoint| self.node(endpoint));
        Connection::to(nodes.collect(), 0)
    }

    /// A connection to the first of [`Credentials::endpoints`] that answers, and again, perhaps to
    /// another one, when it was lost.
    ///
    /// # Errors
    /// That of the last one, if none answers.
    pub async fn dial(&self, endpoints: &[Endpoint]) -> Result<Connection, transport::Error> {
        let mut place = 0;
        loop {
            let bearer = self.bearer.at(&endpoints[place]);
            match bearer.connect(&endpoints[place]).await {
                Ok(channel) => {
                    let nodes = endpoints.iter().map(|endpoint| self.node(endpoint));
                    let mut nodes: Vec<Node> = nodes.collect();
                    nodes[place] = Node { channel, bearer };
                    return Ok(Connection::to(nodes, place));
                }
                Err(error) if place + 1 == endpoints.len() => return Err(error),
                Err(_) => place += 1,
            }
        }
    }

    fn node(&self, endpoint: &Endpoint) -> Node {
        let bearer = self.bearer.at(endpoint);
        Node {
            channel: bearer.channel(endpoint),
            bearer,
        }
    }

    /// The endpoints of URLs that are separated by commas; there is at least one. They are the
    /// coordinators of one store, of which one answers.
    ///
    /// # Errors
    /// [`DialError`] if a URL or the certificates are of no use.
    pub fn endpoints(&self, urls: &str) -> Result<Vec<Endpoint>, DialError> {
        urls.split(',').map(|url| self.endpoint(url)).collect()
    }

    /// The endpoint at a URL, with TLS for `https`. Without a scheme, `http` is meant.
    ///
    /// # Errors
    /// [`DialError`] if the URL or the certificates are of no use.
    fn endpoint(&self, url: &str) -> Result<Endpoint, DialError> {
        let url = match url.contains("://") || url.starts_with("unix:") {
            true => url.to_owned(),
            false => format!("http://{url}"),
        };
        let is_tls = url.starts_with("https://");
        let is_plain = url.starts_with("http://") || url.starts_with("unix:");
        if !is_tls && !is_plain {
            return Err(DialError::Url(url));
        }
        let endpoint = Endpoint::from_shared(url.clone());
        let endpoint = endpoint.map_err(|_| DialError::Url(url.clone()))?;
        match &self.tls {
            _ if !is_tls => Ok(endpoint),
            None => Err(DialError::NoAuthority(url)),
            Some(tls) => endpoint
                .tls_config(tls.clone())
                .map_err(|error| DialError::Tls(causes(&error))),
        }
    }
}

/// An error with its causes.
fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;
    use crate::{local::LocalToken, token::Token};

    #[test]
    fn endpoints_need_http_or_an_authority() {
        let credentials = Credentials::found();
        assert!(credentials.endpoint("127.0.0.1:1").is_ok());
        assert!(credentials.endpoint("http://127.0.0.1:1").is_ok());
        for (url, problem) in [
            ("https://127.0.0.1:1", "--tls-ca"),
            ("ftp://127.0.0.1:1", "not a URL"),
            ("http://", "not a URL"),
            ("http://127.0.0.1:1,", "not a URL"),
        ] {
            let error = credentials.endpoints(url).expect_err(url).to_string();
            assert!(error.contains(problem), "{url}: {error}");
        }
    }

    #[test]
    fn named_certificate_replaces_the_local_token() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let address = listener.local_addr().expect("an address");
        let token = Token::draw().expect("random numbers");
        let _local = LocalToken::write(address, &token).expect("it is written");
        let endpoint = Endpoint::from_shared(format!("http://{address}")).expect("a URL");
        let folder = tempfile::tempdir().expect("a folder");
        let file = |name: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, "").expect("a file");
            path
        };
        let named = CredentialFiles {
            identity: Some((file("pem"), file("key"))),
            ..CredentialFiles::default()
        };
        for (files, has_token) in [(CredentialFiles::default(), true), (named, false)] {
            let credentials = Credentials::of_files(&files).expect("its files");
            let value = credentials.bearer.at(&endpoint).value();
            assert_eq!(value.is_some(), has_token);
        }
    }
}
