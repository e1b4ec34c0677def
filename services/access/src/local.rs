//! The token of a coordinator for its own user: a file in the data folder, and, while the
//! coordinator listens on loopback, a copy in the user's runtime folder, by port. Both are readable
//! by this user only.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Write},
    net::SocketAddr,
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use nix::unistd::Uid;

use crate::token::Token;

/// Name of the file with the first admin token, in the data folder.
pub const ADMIN_TOKEN_FILE: &str = "admin.token";

/// The token of a data folder's coordinator, drawn and written if there is none. A file without a
/// token is replaced: the coordinator accepts no other token of the file anyway.
///
/// # Errors
/// The file cannot be read or written, or others can read it.
pub fn keep_data_token(data: &Path) -> io::Result<Token> {
    let path = data.join(ADMIN_TOKEN_FILE);
    match read_token(&path) {
        Ok(token) => check_private(&path).map(|()| token),
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::InvalidData
            ) =>
        {
            if error.kind() == io::ErrorKind::InvalidData {
                tracing::warn!("{error}; a new token replaces it");
            }
            let token = Token::draw().map_err(io::Error::other)?;
            write(&path, &token)?;
            Ok(token)
        }
        Err(error) => Err(error),
    }
}

/// The token of a data folder, if this user may read it.
#[must_use]
pub fn data_token(data: &Path) -> Option<Token> {
    read_token(&data.join(ADMIN_TOKEN_FILE)).ok()
}

/// Reads a token from a file.
///
/// # Errors
/// The file cannot be read, or contains no token.
pub fn read_token(path: &Path) -> io::Result<Token> {
    let file = File::open(path)?;
    let text = io::read_to_string(io::Read::take(file, 256))?;
    text.trim().parse().map_err(|error| {
        let shown = path.display();
        io::Error::new(io::ErrorKind::InvalidData, format!("{shown}: {error}"))
    })
}

/// Fails if others can read a file.
fn check_private(path: &Path) -> io::Result<()> {
    match fs::metadata(path)?.mode() & 0o077 {
        0 => Ok(()),
        _ => Err(io::Error::other(format!(
            "{} can be read by others: make it private with `chmod 600`",
            path.display()
        ))),
    }
}

/// Writes a new file that only this user can read. A reader never sees a part of it.
fn write(path: &Path, token: &Token) -> io::Result<()> {
    let draft = path.with_extension(format!("{}.new", std::process::id()));
    let mut file: File = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&draft)?;
    let written = writeln!(file, "{}", token.text()).and_then(|()| file.sync_all());
    let renamed = written.and_then(|()| fs::rename(&draft, path));
    renamed.inspect_err(|_| drop(fs::remove_file(&draft)))
}

/// The copy of a coordinator's token in the runtime folder; removed when it is dropped.
#[derive(Debug)]
pub struct LocalToken {
    path: PathBuf,
}

impl LocalToken {
    /// Writes the token of a coordinator that listens on a loopback address.
    ///
    /// # Errors
    /// The runtime folder cannot be used.
    pub fn write(listen: SocketAddr, token: &Token) -> io::Result<Self> {
        let folder = runtime_folder();
        match DirBuilder::new().mode(0o700).create(&folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        if !is_private(&folder) {
            let shown = folder.display();
            let problem = format!(
                "{shown} is not a private folder of this user: remove it, or set XDG_RUNTIME_DIR"
            );
            return Err(io::Error::other(problem));
        }
        let path = folder.join(file_name(listen));
        write(&path, token)?;
        Ok(Self { path })
    }

    /// The token of this user's coordinator at a loopback address. None unless the program that
    /// listens there runs as this user or the system's administrator: another user's must not get
    /// the token.
    #[must_use]
    pub fn find(address: SocketAddr) -> Option<Token> {
        let folder = runtime_folder();
        if !address.ip().is_loopback() || !is_private(&folder) {
            return None;
        }
        let token = read_token(&folder.join(file_name(address))).ok()?;
        is_own_listener(address).then_some(token)
    }
}

impl Drop for LocalToken {
    fn drop(&mut self) {
        // A file that stays is overwritten by the next coordinator at this port.
        let _ = fs::remove_file(&self.path);
    }
}

fn file_name(address: SocketAddr) -> String {
    format!("{}.token", address.port())
}

/// `$XDG_RUNTIME_DIR/arena`, else a folder of this user below the temporary folder.
fn runtime_folder() -> PathBuf {
    match std::env::var_os("XDG_RUNTIME_DIR").filter(|folder| Path::new(folder).is_dir()) {
        Some(folder) => PathBuf::from(folder).join("arena"),
        None => PathBuf::from(format!("/tmp/arena-{}", Uid::effective())),
    }
}

/// True for a folder, and no link to one, that only this user can use.
fn is_private(folder: &Path) -> bool {
    fs::symlink_metadata(folder).is_ok_and(|about| {
        about.is_dir() && about.uid() == Uid::effective().as_raw() && about.mode() & 0o077 == 0
    })
}

/// True unless the system shows that no program of this user or the system's administrator listens
/// at a port of this machine.
fn is_own_listener(address: SocketAddr) -> bool {
    let tables = [procfs::net::tcp(), procfs::net::tcp6()];
    if tables.iter().all(Result::is_err) {
        return true;
    }
    let mut entries = tables.into_iter().flatten().flatten();
    entries.any(|entry| {
        let (ip, port) = (entry.local_address.ip(), entry.local_address.port());
        entry.state == procfs::net::TcpState::Listen
            && port == address.port()
            && (ip == address.ip() || ip.is_unspecified())
            && [Uid::effective().as_raw(), 0].contains(&entry.uid)
    })
}

#[cfg(test)]
mod tests {
    use std::{net::TcpListener, os::unix::fs::PermissionsExt};

    use super::*;

    #[test]
    fn data_token_is_private_and_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let token = keep_data_token(folder.path()).expect("it is written");
        assert_eq!(keep_data_token(folder.path()).expect("it is read"), token);
        assert_eq!(data_token(folder.path()), Some(token));
        let path = folder.path().join(ADMIN_TOKEN_FILE);
        let mode = |path: &Path| fs::metadata(path).expect("it is there").mode() & 0o777;
        assert_eq!(mode(&path), 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("it is ours");
        let error = keep_data_token(folder.path()).expect_err("others can read it");
        assert!(error.to_string().contains("chmod 600"), "{error}");
    }

    #[test]
    fn damaged_data_token_is_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let token = keep_data_token(folder.path()).expect("it is written");
        let path = folder.path().join(ADMIN_TOKEN_FILE);
        let text = fs::read(&path).expect("it is there");
        for damaged in [&text[..20], &[], &[0xff; 80]] {
            fs::write(&path, damaged).expect("it is ours");
            let new = keep_data_token(folder.path()).expect("another one");
            assert_ne!(new, token);
            assert_eq!(data_token(folder.path()), Some(new));
        }
    }

    #[test]
    fn local_token_needs_own_listener() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let address = listener.local_addr().expect("an address");
        let token = Token::draw().expect("random numbers");
        let local = LocalToken::write(address, &token).expect("it is written");
        assert_eq!(LocalToken::find(address), Some(token));
        drop(listener);
        assert_eq!(LocalToken::find(address), None, "no program listens");
        drop(local);
        assert!(!runtime_folder().join(file_name(address)).exists());
    }
}
