//! Listen addresses of an agent.

use std::{
    env, fmt, fs, io,
    os::unix::{fs::FileTypeExt, net::UnixStream},
    path::{Path, PathBuf},
    str::FromStr,
};

use tokio::net::{TcpListener, UnixListener};

/// The environment variable with the listen address of a process.
pub const LISTEN_VARIABLE: &str = "ARENA_LISTEN";

/// An address to listen on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listen {
    /// `HOST:PORT`; port 0 selects any free port.
    Tcp(String),
    /// `unix:PATH`.
    Unix(PathBuf),
}

/// An address on which the process cannot listen.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// It is not an address.
    #[error("cannot listen on \"{0}\": expected unix:PATH or HOST:PORT, such as 127.0.0.1:0")]
    Address(String),
    /// Another process answers on it.
    #[error("cannot listen on {0}: the address is in use by another process")]
    Taken(Listen),
    /// Another file has this path.
    #[error(
        "cannot listen on {0}: the path exists and is not a socket; remove it or choose another \
         path"
    )]
    File(Listen),
    /// The system reported an error.
    #[error("cannot listen on {0}: {1}")]
    Io(Listen, #[source] io::Error),
}

impl Default for Listen {
    /// Any free port of the loopback interface.
    fn default() -> Self {
        Self::Tcp("127.0.0.1:0".to_owned())
    }
}

impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => f.write_str(address),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

impl FromStr for Listen {
    type Err = ListenError;

    fn from_str(text: &str) -> Result<Self, ListenError> {
        if let Some(path) = text.strip_prefix("unix:") {
            if !path.is_empty() {
                return Ok(Self::Unix(path.into()));
            }
        } else if let Some((host, port)) = text.rsplit_once(':')
            && !host.is_empty()
            && port.parse::<u16>().is_ok()
        {
            return Ok(Self::Tcp(text.to_owned()));
        }
        Err(ListenError::Address(text.to_owned()))
    }
}

impl Listen {
    /// The address in [`LISTEN_VARIABLE`]; `None` if it is not set.
    ///
    /// # Errors [`ListenError::Address`].
    pub fn from_env() -> Result<Option<Self>, ListenError> {
        match env::var_os(LISTEN_VARIABLE) {
            None => Ok(None),
            Some(value) => value.to_string_lossy().parse().map(Some),
        }
    }
}

/// A bound address to which clients can already connect.
#[derive(Debug)]
pub struct Listener {
    pub(crate) socket: Socket,
    address: Listen,
}

#[derive(Debug)]
pub(crate) enum Socket {
    Tcp(TcpListener),
    Unix(UnixListener, SocketFile),
}

impl Listener {
    /// Binds an address. Removes the socket file of a process that has ended.
    ///
    /// # Errors [`ListenError`].
    pub async fn bind(listen: &Listen) -> Result<Self, ListenError> {
        let failed = |error| ListenError::Io(listen.clone(), error);
        match listen {
            Listen::Tcp(address) => {
                let socket = TcpListener::bind(address).await.map_err(|error| {
                    if error.kind() == io::ErrorKind::AddrInUse {
                        ListenError::Taken(listen.clone())
                    } else {
                        failed(error)
                    }
                })?;
                let address = Listen::Tcp(socket.local_addr().map_err(failed)?.to_string());
                Ok(Self {
                    socket: Socket::Tcp(socket),
                    address,
                })
            }
            Listen::Unix(path) => {
                remove_stale(path, listen)?;
                let socket = UnixListener::bind(path).map_err(failed)?;
                Ok(Self {
                    socket: Socket::Unix(socket, SocketFile(path.clone())),
                    address: listen.clone(),
                })
            }
        }
    }

    /// The listen address, with the selected port.
    #[must_use]
    pub fn address(&self) -> &Listen {
        &self.address
    }
}

fn remove_stale(path: &Path, listen: &Listen) -> Result<(), ListenError> {
    let Ok(metadata) = fs::symlink_metadata(path) else {
        return Ok(());
    };
    if !metadata.file_type().is_socket() {
        return Err(ListenError::File(listen.clone()));
    }
    match UnixStream::connect(path) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            fs::remove_file(path).map_err(|error| ListenError::Io(listen.clone(), error))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(ListenError::Io(listen.clone(), error)),
        Ok(_) => Err(ListenError::Taken(listen.clone())),
    }
}

/// Removes the socket's file when the process no longer listens.
#[derive(Debug)]
pub(crate) struct SocketFile(PathBuf);

impl Drop for SocketFile {
    fn drop(&mut self) {
        // Another process may have removed it first.
        let _ = fs::remove_file(&self.0);
    }
}
