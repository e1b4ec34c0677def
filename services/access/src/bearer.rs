//! Tokens that connections carry.

use std::{
    io,
    net::SocketAddr,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use hyper_util::rt::TokioIo;
use tonic::{
    codegen::http::{HeaderValue, Uri},
    transport::{Channel, Endpoint, Error},
};
use tower::service_fn;

use crate::{
    local::{LocalToken, connect_own, read_token},
    token::Token,
};

/// A token is read again after this time, because its file may be replaced; a missing one sooner.
const FRESH: Duration = Duration::from_secs(5);
/// A coordinator that starts again at the same port with another data folder has another token.
const FRESH_LOCAL: Duration = Duration::from_millis(20);
const MISSING: Duration = Duration::from_millis(500);
/// Time in which a coordinator that listens writes its token.
const WRITTEN: Duration = Duration::from_secs(2);

/// A file that was named cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("token file: {0}")]
pub struct TokenFileError(#[from] io::Error);

/// Adds a token to every call.
#[derive(Clone, Debug)]
pub struct Bearer {
    source: Source,
    header: Arc<Mutex<Header>>,
}

#[derive(Clone, Debug)]
enum Source {
    None,
    Token(Token),
    File(PathBuf),
    /// That of each local coordinator.
    Found,
    /// That of the local coordinator at this address.
    Local(SocketAddr),
}

#[derive(Debug, Default)]
struct Header {
    read: Option<Instant>,
    value: Option<HeaderValue>,
}

impl Bearer {
    fn new(source: Source) -> Self {
        Self {
            source,
            header: Arc::default(),
        }
    }

    /// No token.
    #[must_use]
    pub fn none() -> Self {
        Self::new(Source::None)
    }

    /// A token of this process.
    #[must_use]
    pub fn of_token(token: Token) -> Self {
        Self::new(Source::Token(token))
    }

    /// The token in a file, which may be replaced meanwhile.
    ///
    /// # Errors
    /// [`TokenFileError`] if there is no token now.
    pub fn of_file(path: PathBuf) -> Result<Self, TokenFileError> {
        let in_file = |error: io::Error| match error.kind() {
            io::ErrorKind::Other | io::ErrorKind::InvalidData => error,
            _ => io::Error::new(error.kind(), format!("{}: {error}", path.display())),
        };
        read_token(&path).map_err(in_file)?;
        Ok(Self::new(Source::File(path)))
    }

    /// The token that each local coordinator has written for its own user.
    #[must_use]
    pub(crate) fn found() -> Self {
        Self::new(Source::Found)
    }

    /// The token for the coordinator at an endpoint, for connections of [`Bearer::channel`].
    pub(crate) fn at(&self, endpoint: &Endpoint) -> Self {
        match self.source {
            Source::Found => {
                let address = loopback(&endpoint.uri().to_string());
                Self::new(address.map_or(Source::None, Source::Local))
            }
            _ => self.clone(),
        }
    }

    /// A channel to an endpoint, with a connection that is made at the first call, and again when it
    /// was lost. If the token is that of this user's coordinator, a connection that a program of
    /// another user accepts is given up.
    pub(crate) fn channel(&self, endpoint: &Endpoint) -> Channel {
        let Source::Local(address) = self.source else {
            return endpoint.connect_lazy();
        };
        endpoint.connect_with_connector_lazy(service_fn(move |_: Uri| async move {
            connect_own(address).await.map(TokioIo::new)
        }))
    }

    /// As [`Bearer::channel`], and connects at once.
    pub(crate) async fn connect(&self, endpoint: &Endpoint) -> Result<Channel, Error> {
        let Source::Local(address) = self.source else {
            return endpoint.connect().await;
        };
        let connector =
            service_fn(move |_: Uri| async move { connect_own(address).await.map(TokioIo::new) });
        endpoint.connect_with_connector(connector).await
    }

    /// The value of `authorization`.
    pub(crate) fn value(&self) -> Option<HeaderValue> {
        let mut header = self.header.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = match (&self.source, &header.value) {
            (Source::Local(_), _) => FRESH_LOCAL,
            (_, None) => MISSING,
            (_, Some(_)) => FRESH,
        };
        if header.read.is_none_or(|read| read.elapsed() > fresh) {
            let token = match &self.source {
                Source::None | Source::Found => None,
                Source::Token(token) => Some(token.clone()),
                Source::File(path) => read_token(path).ok(),
                Source::Local(address) => LocalToken::find(*address),
            };
            header.read = Some(Instant::now());
            header.value = token.and_then(|token| {
                let mut value = HeaderValue::try_from(format!("Bearer {}", token.text())).ok()?;
                value.set_sensitive(true);
                Some(value)
            });
        }
        header.value.clone()
    }

    /// Waits for the token of a local coordinator that has just begun to listen. False if there is
    /// none.
    pub(crate) async fn appears(&self) -> bool {
        let end = Instant::now() + WRITTEN;
        while let Source::Local(_) = self.source
            && Instant::now() < end
        {
            if self.value().is_some() {
                return true;
            }
            tokio::time::sleep(FRESH_LOCAL).await;
        }
        false
    }
}

/// The address of a URL that names this machine's loopback interface.
fn loopback(url: &str) -> Option<SocketAddr> {
    let authority = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = authority.split('/').next().unwrap_or_default();
    let authority = authority.replace("localhost:", "127.0.0.1:");
    let address: SocketAddr = authority.parse().ok()?;
    address.ip().is_loopback().then_some(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_urls_are_found() {
        for (url, expected) in [
            ("http://127.0.0.1:7600", Some("127.0.0.1:7600")),
            ("127.0.0.1:7600", Some("127.0.0.1:7600")),
            ("http://localhost:7600/", Some("127.0.0.1:7600")),
            ("http://[::1]:7600", Some("[::1]:7600")),
            ("http://10.0.0.1:7600", None),
            ("http://localhost.example:7600", None),
            ("http://example:7600", None),
        ] {
            let expected = expected.map(|text| text.parse().expect("an address"));
            assert_eq!(loopback(url), expected, "{url}");
        }
    }

    #[test]
    fn token_of_file_is_read_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("token");
        let write = |token: &Token| {
            use std::os::unix::fs::PermissionsExt;
            std::fs::write(&path, token.text()).expect("it is written");
            let mode = std::fs::Permissions::from_mode(0o600);
            std::fs::set_permissions(&path, mode).expect("it is ours");
        };
        let [first, second] = [(); 2].map(|()| Token::draw().expect("random numbers"));
        write(&first);
        let bearer = Bearer::of_file(path.clone()).expect("a token");
        let text = |bearer: &Bearer| {
            let value = bearer.value().expect("a token");
            value.to_str().expect("text").to_owned()
        };
        assert_eq!(text(&bearer), format!("Bearer {}", first.text()));
        write(&second);
        bearer.header.lock().expect("no panic").read = None;
        assert_eq!(text(&bearer), format!("Bearer {}", second.text()));
    }

    #[tokio::test]
    async fn token_that_is_written_after_the_first_call_is_found() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        // A program that was killed may have left the token of a coordinator at this port.
        let token = Token::draw().expect("random numbers");
        drop(LocalToken::write(address, &token).expect("written"));
        let bearer = Bearer::new(Source::Local(address));
        assert_eq!(bearer.value(), None);
        assert!(!bearer.appears().await, "no coordinator has written one");
        let writer = std::thread::spawn(move || {
            std::thread::sleep(FRESH_LOCAL * 3);
            let token = Token::draw().expect("random numbers");
            LocalToken::write(address, &token).map(|local| (local, token))
        });
        assert!(bearer.appears().await);
        let (_local, token) = writer.join().expect("ended").expect("written");
        let value = bearer.value().expect("a token");
        assert_eq!(value, format!("Bearer {}", token.text()));
    }
}
