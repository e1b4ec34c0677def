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
use procfs::net::TcpState;
use tokio::net::TcpStream;

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

/// True if other users can read a file. If it belongs to another user, its group does not count: this program may
/// be able to read it as one of that group only.
#[must_use]
pub fn is_read_by_others(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|about| {
        let is_own = about.uid() == Uid::effective().as_raw();
        let others = if is_own { 0o044 } else { 0o004 };
        about.is_file() && about.mode() & others != 0
    })
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

    /// The token that a coordinator of this user at a loopback address has written. It may go only to
    /// a connection of [`connect_own`].
    #[must_use]
    pub(crate) fn find(address: SocketAddr) -> Option<Token> {
        let folder = runtime_folder();
        if !address.ip().is_loopback() || !is_private(&folder) {
            return None;
        }
        read_token(&folder.join(file_name(address))).ok()
    }
}

/// Connects to a coordinator that may have written a token for this user.
///
/// # Errors
/// `PermissionDenied` if there is such a token, but a program of another user has accepted the
/// connection; or the error of the connection.
pub(crate) async fn connect_own(address: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    if LocalToken::find(address).is_some() && !is_own(address, stream.local_addr()?) {
        let file = runtime_folder().join(file_name(address));
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!(
                "the program that listens there is another user's, and must not get the token of \
                 this user's coordinator, which has ended: remove {}",
                file.display()
            ),
        ));
    }
    Ok(stream)
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

/// True unless the system shows that neither a program of this user nor of the system's administrator
/// listens at a port of this machine, or that another one has accepted the connection of `client`.
/// While no program has accepted it, it can go only to the one that listens.
fn is_own(address: SocketAddr, client: SocketAddr) -> bool {
    let tables = [procfs::net::tcp(), procfs::net::tcp6()];
    if tables.iter().all(Result::is_err) {
        return true;
    }
    let own = [Uid::effective().as_raw(), 0];
    let mut listens = false;
    for entry in tables.into_iter().flatten().flatten() {
        let (ip, port) = (entry.local_address.ip(), entry.local_address.port());
        if port != address.port() {
            continue;
        }
        if entry.state == TcpState::Listen {
            let here = ip.to_canonical() == address.ip() || ip.is_unspecified();
            listens |= here && own.contains(&entry.uid);
        } else if entry.remote_address.port() == client.port() && !own.contains(&entry.uid) {
            return false;
        }
    }
    listens
}

#[cfg(test)]
mod tests {
    use std::{
        net::{TcpListener, TcpStream},
        os::unix::fs::PermissionsExt,
    };

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
    fn files_for_more_than_one_user_are_known() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        for (mode, expected) in [
            (0o600, false),
            (0o400, false),
            (0o700, false),
            (0o640, true),
            (0o604, true),
            (0o644, true),
        ] {
            let mode = fs::Permissions::from_mode(mode);
            fs::set_permissions(file.path(), mode).expect("it is ours");
            assert_eq!(is_read_by_others(file.path()), expected, "{expected}");
        }
        assert!(!is_read_by_others(Path::new("/dev/null")), "no file");
        assert!(!is_read_by_others(Path::new("missing")), "no file");
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
        let client = TcpStream::connect(address).expect("it listens");
        let client = client.local_addr().expect("an address");
        assert!(is_own(address, client));
        drop(listener);
        assert!(!is_own(address, client), "no program listens");
        drop(local);
        assert_eq!(LocalToken::find(address), None);
        assert!(!runtime_folder().join(file_name(address)).exists());
    }
}
