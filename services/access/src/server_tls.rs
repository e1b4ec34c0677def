//! TLS of a server, with certificates that may be replaced while it runs.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, PoisonError, RwLock},
    time::{Duration, SystemTime},
};

use tokio::sync::watch;
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        RootCertStore, ServerConfig,
        crypto::ring,
        pki_types::{CertificateDer, PrivateKeyDer, UnixTime, pem::PemObject},
        server::{WebPkiClientVerifier, danger::ClientCertVerifier},
    },
};
use x509_cert::{Certificate, der::Decode};

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
    now: RwLock<Current>,
    replaced: watch::Sender<()>,
}

/// The settings in use.
struct Current {
    config: Arc<ServerConfig>,
    /// Verifies the certificates of clients, if they may show some.
    clients: Option<Arc<dyn ClientCertVerifier>>,
    expiries: Vec<Expiry>,
}

/// When the first certificate of a file expires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expiry {
    /// What the file is for: `server` or `client_ca`.
    pub certificate: &'static str,
    /// Unix time.
    pub unix_seconds: i64,
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
        let now = RwLock::new(read(&files, protocol)?);
        Ok(Arc::new(Self {
            files,
            protocol,
            now,
            replaced: watch::Sender::new(()),
        }))
    }

    /// Accepts a connection with the newest certificate.
    #[must_use]
    pub fn acceptor(&self) -> TlsAcceptor {
        let now = self.now.read().unwrap_or_else(PoisonError::into_inner);
        TlsAcceptor::from(Arc::clone(&now.config))
    }

    /// Completes when the authorities in use do not accept a client's certificate any more. The chain
    /// is the one that the client has shown.
    pub async fn rejected(self: Arc<Self>, chain: Vec<CertificateDer<'static>>) {
        let mut replaced = self.replaced.subscribe();
        // The sender is a part of this.
        while self.accepts(&chain) && replaced.changed().await.is_ok() {}
    }

    fn accepts(&self, chain: &[CertificateDer<'_>]) -> bool {
        let now = self.now.read().unwrap_or_else(PoisonError::into_inner);
        let Some((clients, (first, others))) = now.clients.as_ref().zip(chain.split_first()) else {
            return false;
        };
        let verified = clients.verify_client_cert(first, others, UnixTime::now());
        verified.is_ok()
    }

    /// When the certificates in use expire.
    #[must_use]
    pub fn expiries(&self) -> Vec<Expiry> {
        let now = self.now.read().unwrap_or_else(PoisonError::into_inner);
        now.expiries.clone()
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
                Ok(read) => {
                    *self.now.write().unwrap_or_else(PoisonError::into_inner) = read;
                    self.replaced.send_replace(());
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

fn read(files: &TlsFiles, protocol: &str) -> Result<Current, TlsError> {
    let chain = certificates(&files.certificate)?;
    let mut expiries = vec![expiry("server", &files.certificate, &chain)?];
    let key = PrivateKeyDer::from_pem_file(&files.key);
    let key = key.map_err(|error| TlsError::new(&files.key, error))?;
    let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| TlsError::new(&files.certificate, error))?;
    let clients = match &files.client_ca {
        None => None,
        Some(path) => {
            expiries.push(expiry("client_ca", path, &certificates(path)?)?);
            let verifier = WebPkiClientVerifier::builder_with_provider(
                Arc::new(roots(path)?),
                Arc::new(ring::default_provider()),
            );
            // Clients may show a token instead.
            let verifier = verifier.allow_unauthenticated().build();
            Some(verifier.map_err(|error| TlsError::new(path, error))?)
        }
    };
    let builder = match &clients {
        None => builder.with_no_client_auth(),
        Some(verifier) => builder.with_client_cert_verifier(Arc::clone(verifier)),
    };
    let config = builder.with_single_cert(chain, key);
    let mut config = config.map_err(|error| TlsError::new(&files.certificate, error))?;
    config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
    Ok(Current {
        config: Arc::new(config),
        clients,
        expiries,
    })
}

/// When the first one of these certificates of a file expires.
fn expiry(
    certificate: &'static str,
    path: &Path,
    chain: &[CertificateDer<'_>],
) -> Result<Expiry, TlsError> {
    let times = chain.iter().map(|der| {
        let certificate = Certificate::from_der(der)?;
        let end = certificate.tbs_certificate.validity.not_after;
        Ok(i64::try_from(end.to_unix_duration().as_secs()).unwrap_or(i64::MAX))
    });
    let times: Result<Vec<i64>, x509_cert::der::Error> = times.collect();
    let times = times.map_err(|error| TlsError::new(path, error))?;
    Ok(Expiry {
        certificate,
        unix_seconds: times.into_iter().min().unwrap_or(i64::MAX),
    })
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

    /// The name in a verified certificate: its only URI `arena:ROLE:NAME`. Other names mean nothing. Of two such
    /// URIs, neither counts: their order must not choose a role.
    #[must_use]
    pub fn of_certificate(certificate: &CertificateDer<'_>) -> Option<Self> {
        let certificate = webpki::EndEntityCert::try_from(certificate).ok()?;
        let names = certificate.valid_uri_names();
        let mut names = names.filter_map(|uri| uri.strip_prefix(SCHEME));
        let (role, name) = names.next()?.split_once(':')?;
        let is_named = !name.is_empty() && names.next().is_none();
        is_named.then(|| Self {
            role: role.to_owned(),
            name: name.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    use super::*;

    #[test]
    fn expiry_is_that_of_the_first_certificate_of_each_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let key = KeyPair::generate().expect("a key");
        let certificate = |year| {
            let names = vec!["localhost".to_owned()];
            let mut params = CertificateParams::new(names).expect("a name");
            params.not_after = date_time_ymd(year, 1, 2);
            params.self_signed(&key).expect("a certificate").pem()
        };
        let write = |name: &str, content: String| {
            let path = folder.path().join(name);
            std::fs::write(&path, content).expect("a file");
            path
        };
        let files = TlsFiles {
            certificate: write("server.pem", certificate(2090) + &certificate(2031)),
            key: write("server.key", key.serialize_pem()),
            client_ca: Some(write("ca.pem", certificate(2032))),
        };
        let tls = ServerTls::load(files, "h2").expect("usable files");
        let expiries = tls.expiries();
        let found = expiries.iter().map(|it| (it.certificate, it.unix_seconds));
        let expected = [("server", 1_925_078_400), ("client_ca", 1_956_614_400)];
        assert_eq!(found.collect::<Vec<_>>(), expected);
    }
}
