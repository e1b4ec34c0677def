//! The address of a database: its URL, its password, and TLS.

use std::{fmt, path::Path, sync::Arc, time::Duration};

use tokio_postgres::{
    Config,
    config::{Host, SslMode},
};
use tokio_postgres_rustls::MakeRustlsConnect;
use tokio_rustls::rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};

use crate::StoreError;

/// The port of PostgreSQL, which URLs need not name.
const POSTGRES_PORT: u16 = 5432;
/// Time for a connection to be made, unless the URL names another.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Time after which a peer that does not answer is given up.
const PEER_TIMEOUT: Duration = Duration::from_secs(5);

/// How to connect to a database.
#[derive(Clone)]
pub(crate) struct Address {
    pub(crate) config: Config,
    /// None: without TLS.
    pub(crate) tls: Option<MakeRustlsConnect>,
    /// The URL without its password and parameters.
    shown: String,
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.shown)
    }
}

/// Parameters that tokio-postgres does not know.
#[derive(Default)]
struct Files<'a> {
    mode: Option<&'a str>,
    root: Option<String>,
    certificate: Option<String>,
    key: Option<String>,
}

impl Address {
    /// Reads a URL such as `postgres://arena@db.example/arena?sslrootcert=ca.pem`.
    pub(crate) fn parse(url: &str) -> Result<Self, StoreError> {
        let shown = redacted(url);
        let wrong = |problem: String, remedy: &str| StoreError::Unsuitable {
            place: redacted(url),
            problem,
            remedy: remedy.to_owned(),
        };
        let (start, query) = url.split_once('?').unwrap_or((url, ""));
        let mut files = Files::default();
        let mut others = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            match name {
                "sslmode" => files.mode = Some(value),
                "sslrootcert" => files.root = Some(decoded(value)),
                "sslcert" => files.certificate = Some(decoded(value)),
                "sslkey" => files.key = Some(decoded(value)),
                _ => others.push(pair),
            }
        }
        let plain = format!("{start}?{}", others.join("&"));
        let mut config: Config = plain.trim_end_matches('?').parse().map_err(|error| {
            let example = "write it as postgres://USER@HOST:PORT/DATABASE";
            wrong(format!("the URL is invalid ({})", causes(&error)), example)
        })?;
        if config.get_hosts().is_empty() {
            let remedy = "name one, such as postgres://arena@localhost/arena, or a folder of \
                          sockets: postgres:///arena?host=/run/postgresql";
            return Err(wrong("the URL names no host".to_owned(), remedy));
        }
        if config.get_password().is_none()
            && let Ok(password) = std::env::var("PGPASSWORD")
        {
            config.password(password);
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        config
            .tcp_user_timeout(PEER_TIMEOUT)
            .keepalives_idle(PEER_TIMEOUT)
            .application_name("arena");
        let is_near = config.get_hosts().iter().all(|host| match host {
            Host::Tcp(name) => is_loopback(name),
            #[cfg(unix)]
            Host::Unix(_) => true,
        });
        let tls = match files.mode {
            Some("disable") => None,
            None if is_near && files.root.is_none() => None,
            None | Some("require" | "verify-ca" | "verify-full") => {
                let Some(root) = &files.root else {
                    let problem = "it is on another machine, and no certificate authority is named";
                    let remedy = "add ?sslrootcert=FILE with the authority's certificate as PEM, \
                                  or sslmode=disable for a network that you trust";
                    return Err(wrong(problem.to_owned(), remedy));
                };
                config.ssl_mode(SslMode::Require);
                let tls = client(Path::new(root), &files).map_err(|problem| {
                    wrong(problem, "correct sslrootcert, sslcert or sslkey in the URL")
                })?;
                Some(MakeRustlsConnect::new(tls))
            }
            Some(other) => {
                let remedy = "use verify-full, which is the default on other machines, or disable";
                return Err(wrong(format!("sslmode={other} is not supported"), remedy));
            }
        };
        if tls.is_none() {
            config.ssl_mode(SslMode::Disable);
        }
        Ok(Self { config, tls, shown })
    }

    /// A URL with the hosts, ports and the name of the database only.
    pub(crate) fn database(&self) -> String {
        let (mut servers, mut options) = (Vec::new(), Vec::new());
        let ports = self.config.get_ports();
        for (at, host) in self.config.get_hosts().iter().enumerate() {
            let port = ports.get(at).or(ports.first());
            let port = port.filter(|&&port| port != POSTGRES_PORT);
            match host {
                Host::Tcp(name) => {
                    let name = match name.contains(':') {
                        true => format!("[{name}]"),
                        false => name.clone(),
                    };
                    servers.push(port.map_or(name.clone(), |port| format!("{name}:{port}")));
                }
                #[cfg(unix)]
                Host::Unix(folder) => {
                    options.push(format!("host={}", folder.display()));
                    options.extend(port.map(|port| format!("port={port}")));
                }
            }
        }
        let name = self.config.get_dbname().or(self.config.get_user());
        let start = format!(
            "postgres://{}/{}",
            servers.join(","),
            name.unwrap_or_default()
        );
        match options.is_empty() {
            true => start,
            false => format!("{start}?{}", options.join("&")),
        }
    }
}

/// A client that trusts an authority, and shows a certificate if the URL names one. It always
/// checks the server's certificate and name.
fn client(root: &Path, files: &Files<'_>) -> Result<ClientConfig, String> {
    let unread = |path: &str, error: &dyn fmt::Display| format!("cannot read {path}: {error}");
    let shown = root.display().to_string();
    let mut roots = RootCertStore::empty();
    let certificates =
        CertificateDer::pem_file_iter(root).map_err(|error| unread(&shown, &error))?;
    for certificate in certificates {
        let certificate = certificate.map_err(|error| unread(&shown, &error))?;
        roots
            .add(certificate)
            .map_err(|error| unread(&shown, &error))?;
    }
    if roots.is_empty() {
        return Err(format!("{shown} has no certificate"));
    }
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots);
    let (certificate, key) = match (&files.certificate, &files.key) {
        (None, None) => return Ok(builder.with_no_client_auth()),
        (Some(certificate), Some(key)) => (certificate, key),
        _ => return Err("sslcert and sslkey need each other".to_owned()),
    };
    let chain = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect)
        .map_err(|error| unread(certificate, &error))?;
    let secret = PrivateKeyDer::from_pem_file(key).map_err(|error| unread(key, &error))?;
    builder
        .with_client_auth_cert(chain, secret)
        .map_err(|error| error.to_string())
}

fn is_loopback(host: &str) -> bool {
    let address = host.parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

/// The URL without what may be secret: its password and its parameters.
pub(crate) fn redacted(url: &str) -> String {
    let start = url.split('?').next().unwrap_or_default();
    let Some((scheme, rest)) = start.split_once("://") else {
        return start.to_owned();
    };
    let (user, place) = match rest.rsplit_once('@') {
        Some((login, place)) => (login.split(':').next(), place),
        None => (None, rest),
    };
    let user = user.map(|user| format!("{user}@")).unwrap_or_default();
    format!("{scheme}://{user}{place}")
}

/// Decodes `%2F` and the like.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let code = after.get(..2).filter(|_| byte == b'%');
        let code = code.and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(decoded) => {
                bytes.push(decoded);
                rest = &after[2..];
            }
            None => {
                bytes.push(byte);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// An error and its sources, as one line.
pub(crate) fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text = format!("{text}: {error}");
        source = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shown_address_has_no_secret() {
        for (url, shown) in [
            (
                "postgres://arena:p%40ss@db/arena",
                "postgres://arena@db/arena",
            ),
            (
                "postgresql:///arena?host=/run&password=secret",
                "postgresql:///arena",
            ),
            ("postgres://u:a@b@db:5433/x", "postgres://u@db:5433/x"),
        ] {
            assert_eq!(redacted(url), shown);
            let address = Address::parse(&format!(
                "{url}{}sslmode=disable&host=localhost",
                if url.contains('?') { "&" } else { "?" }
            ));
            let text = match address {
                Ok(address) => address.to_string(),
                Err(error) => error.to_string(),
            };
            assert!(!text.contains("secret") && !text.contains("ss@"), "{text}");
        }
    }

    #[test]
    fn database_has_no_user_and_no_secret() {
        for (url, database) in [
            (
                "postgres://arena:secret@db.example:5433/results?sslmode=disable",
                "postgres://db.example:5433/results",
            ),
            (
                "postgres://arena@db1,db2:5433/results?sslmode=disable&password=secret",
                "postgres://db1,db2:5433/results",
            ),
            ("postgres://arena@[::1]:5432/", "postgres://[::1]/arena"),
            (
                "postgres://arena@/results?host=/run/postgresql&port=5433",
                "postgres:///results?host=/run/postgresql&port=5433",
            ),
        ] {
            let address = Address::parse(url).map_err(|error| error.to_string());
            let found = address.map(|address| address.database());
            assert_eq!(found.as_deref(), Ok(database), "{url}");
        }
    }

    #[test]
    fn address_on_another_machine_needs_tls() {
        let parse = |url: &str| Address::parse(url).map(|address| address.tls.is_some());
        assert_eq!(parse("postgres://arena@127.0.0.1/arena"), Ok(false));
        assert_eq!(parse("postgres:///arena?host=/run/postgresql"), Ok(false));
        assert_eq!(parse("postgres://db/arena?sslmode=disable"), Ok(false));
        for (url, problem) in [
            (
                "postgres://arena@db.example/arena",
                "no certificate authority is named",
            ),
            (
                "postgres://db/arena?sslrootcert=none.pem",
                "cannot read none.pem",
            ),
            (
                "postgres://db/arena?sslmode=prefer",
                "sslmode=prefer is not supported",
            ),
            ("postgres:///arena", "names no host"),
            ("postgres://db/arena?colour=blue", "the URL is invalid"),
        ] {
            let error = parse(url).expect_err(url).to_string();
            assert!(error.contains(problem), "{url}: {error}");
        }
    }
}
