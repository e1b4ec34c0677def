//! TLS of a server, with certificates that may be replaced while it runs.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, PoisonError, RwLock},
    time::{Duration, SystemTime},
};

use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        RootCertStore, ServerConfig,
        crypto::ring,
        pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
        server::WebPkiClientVerifier,
    },
};

/// Interval at which files are looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Scheme of the name in a client's certificate that says who it is: `arena:ROLE:NAME`.
const SCHEME: &str = "arena:";

/// The files of a server, all PEM.
#[derive(Clone, Debug)]
pub struct TlsFiles {
    /// The server's certificate with those of the authorities between it and the root.
    pub certificate: PathBuf,
    /// Its key.
    pub key: PathBuf,
    /// Authorities whose certificates clients may show.
    pub client_ca: Option<PathBuf>,
}

/// Why TLS cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("TLS: {}: {problem}", .path.display())]
pub struct TlsError {
    path: PathBuf,
    problem: String,
}

impl TlsError {
    pub(crate) fn new(path: &Path, problem: impl ToString) -> Self {
        Self {
            path: path.to_owned(),
            problem: problem.to_string(),
        }
    }
}

/// The TLS of a server.
pub struct ServerTls {
    files: TlsFiles,
    protocol: &'static str,
    config: RwLock<Arc<ServerConfig>>,
}

/// Who a client's certificate says it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateName {
    /// Name of the role.
    pub role: String,
    /// Name of the holder.
    pub name: String,
}

impl ServerTls {
    /// Reads the files, for connections of an application protocol such as `h2`.
    ///
    /// # Errors
    /// [`TlsError`] if a file cannot be used.
    pub fn load(files: TlsFiles, protocol: &'static str) -> Result<Arc<Self>, TlsError> {
        let config = RwLock::new(Arc::new(read(&files, protocol)?));
        Ok(Arc::new(Self {
            files,
            protocol,
            config,
        }))
    }

    /// Accepts a connection with the newest certificate.
    #[must_use]
    pub fn acceptor(&self) -> TlsAcceptor {
        let config = self.config.read().unwrap_or_else(PoisonError::into_inner);
        TlsAcceptor::from(Arc::clone(&config))
    }

    /// Reads files again whenever they change. Files that cannot be used change nothing:
    /// `failed` gets the reason.
    pub async fn follow(self: Arc<Self>, replaced: impl Fn(), failed: impl Fn(TlsError)) {
        let mut known = self.files.stamps();
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            let stamps = self.files.stamps();
            if stamps == known {
                continue;
            }
            known = stamps;
            match read(&self.files, self.protocol) {
                Ok(config) => {
                    let mut now = self.config.write().unwrap_or_else(PoisonError::into_inner);
                    *now = Arc::new(config);
                    drop(now);
                    replaced();
                }
                Err(error) => failed(error),
            }
        }
    }
}

impl TlsFiles {
    fn stamps(&self) -> Vec<Option<SystemTime>> {
        let files = [
            Some(&self.certificate),
            Some(&self.key),
            self.client_ca.as_ref(),
        ];
        let stamp = |file: &PathBuf| std::fs::metadata(file).and_then(|it| it.modified()).ok();
        files.into_iter().flatten().map(stamp).collect()
    }
}

fn read(files: &TlsFiles, protocol: &str) -> Result<ServerConfig, TlsError> {
    let chain = certificates(&files.certificate)?;
    let key = PrivateKeyDer::from_pem_file(&files.key);
    let key = key.map_err(|error| TlsError::new(&files.key, error))?;
    let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| TlsError::new(&files.certificate, error))?;
    let builder = match &files.client_ca {
        None => builder.with_no_client_auth(),
        Some(path) => {
            let verifier = WebPkiClientVerifier::builder_with_provider(
                Arc::new(roots(path)?),
                Arc::new(ring::default_provider()),
            );
            // Clients may show a token instead.
            let verifier = verifier.allow_unauthenticated().build();
            let verifier = verifier.map_err(|error| TlsError::new(path, error))?;
            builder.with_client_cert_verifier(verifier)
        }
    };
    let config = builder.with_single_cert(chain, key);
    let mut config = config.map_err(|error| TlsError::new(&files.certificate, error))?;
    config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
    Ok(config)
}

/// The authorities of a file.
pub(crate) fn roots(path: &Path) -> Result<RootCertStore, TlsError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(path)? {
        let added = roots.add(certificate);
        added.map_err(|error| TlsError::new(path, error))?;
    }
    Ok(roots)
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect);
    let read: Vec<_> = read.map_err(|error| TlsError::new(path, error))?;
    match read.is_empty() {
        true => Err(TlsError::new(path, "it contains no certificate")),
        false => Ok(read),
    }
}

impl CertificateName {
    /// The name for a URI of a certificate.
    #[must_use]
    pub fn uri(&self) -> String {
        format!("{SCHEME}{}:{}", self.role, self.name)
    }

    /// The name in a verified certificate: its URI `arena:ROLE:NAME`. Other names mean nothing.
    #[must_use]
    pub fn of_certificate(certificate: &CertificateDer<'_>) -> Option<Self> {
        let certificate = webpki::EndEntityCert::try_from(certificate).ok()?;
        let mut names = certificate.valid_uri_names();
        names.find_map(|uri| {
            let (role, name) = uri.strip_prefix(SCHEME)?.split_once(':')?;
            Some(Self {
                role: role.to_owned(),
                name: name.to_owned(),
            })
        })
    }
}
