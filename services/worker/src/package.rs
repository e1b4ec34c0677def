//! Packages: agents of several files.
//!
//! From its registration on, a package has one form: a tar of regular files and symbolic links.
//! Its first entry is the [`MANIFEST`], and its bytes follow only from paths, contents, links and
//! run bits, so that its SHA-256 identifies the package. It is checked again before any of its
//! files is written, because an upload may come from any program.

mod layout;
mod manifest;

#[cfg(test)]
mod tests;

use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions},
    io::{self, Read, Seek, SeekFrom},
    os::unix::fs::{OpenOptionsExt, symlink},
    path::{Path, PathBuf},
};

use tar::{Archive, Builder, EntryType, Header};

pub use layout::{BYTES_MAX, ENTRIES_MAX};
use layout::{Layout, Node};
pub use manifest::{MANIFEST, Manifest, Protocol, Resources};

/// Why something is no valid package, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum PackageError {
    /// It contains something that is not allowed.
    #[error("{0}")]
    Content(String),
    /// It cannot be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl PackageError {
    fn content(problem: impl Into<String>) -> Self {
        Self::Content(problem.into())
    }
}

/// The files of a package under construction.
#[derive(Debug, Default)]
pub struct Contents {
    layout: Layout,
    bytes: BTreeMap<String, Vec<u8>>,
}

impl Contents {
    /// Maximum bytes of a further file.
    #[must_use]
    pub fn bytes_left(&self) -> u64 {
        self.layout.bytes_left()
    }

    /// Adds a regular file.
    ///
    /// # Errors
    /// If the path is not allowed in a package or exists, or a limit is exceeded.
    pub fn add_file(
        &mut self,
        path: &str,
        executable: bool,
        bytes: Vec<u8>,
    ) -> Result<(), PackageError> {
        let size = bytes.len() as u64;
        let path = self.layout.add(path, Node::File { executable, size })?;
        self.bytes.insert(path, bytes);
        Ok(())
    }

    /// Adds a symbolic link.
    ///
    /// # Errors
    /// As [`Contents::add_file`].
    pub fn add_link(&mut self, path: &str, target: &str) -> Result<(), PackageError> {
        let target = target.to_owned();
        self.layout.add(path, Node::Link { target }).map(drop)
    }

    /// Adds a copy of another file, like hard links in archives.
    ///
    /// # Errors
    /// As [`Contents::add_file`], and if the other file does not exist.
    pub fn add_copy(&mut self, path: &str, of: &str) -> Result<(), PackageError> {
        let of = layout::clean(of)?;
        let (Some(Node::File { executable, .. }), Some(bytes)) =
            (self.layout.get(&of), self.bytes.get(&of))
        else {
            return Err(PackageError::content(format!(
                "{path} is a hard link to {of}, which is not in the package"
            )));
        };
        if bytes.len() as u64 > self.layout.bytes_left() {
            return Err(layout::too_large());
        }
        self.add_file(path, *executable, bytes.clone())
    }

    /// If all files are in one folder and the manifest is there, moves them to the top, since
    /// archives are often made that way.
    pub fn enter_folder(&mut self) {
        let first = self.layout.paths().next();
        let Some((folder, _)) = first.and_then(|path| path.split_once('/')) else {
            return;
        };
        let prefix = format!("{folder}/");
        let is_only = self.layout.paths().all(|path| path.starts_with(&prefix));
        if is_only && self.bytes.contains_key(&format!("{prefix}{MANIFEST}")) {
            self.layout.strip(&prefix);
            self.bytes = std::mem::take(&mut self.bytes)
                .into_iter()
                .map(|(path, bytes)| (path[prefix.len()..].to_owned(), bytes))
                .collect();
        }
    }

    /// The package, checked.
    ///
    /// # Errors
    /// [`PackageError::Content`] if it has no manifest or is not valid.
    pub fn to_tar(&self) -> Result<Vec<u8>, PackageError> {
        let manifest = self.bytes.get(MANIFEST).ok_or_else(|| {
            PackageError::content(format!(
                "{MANIFEST} is missing: add one with command = [\"PROGRAM\", \"ARG\", …]"
            ))
        })?;
        self.layout.check()?;
        Manifest::parse(manifest)?.check(&self.layout)?;
        let mut tar = Builder::new(Vec::new());
        let others = self.layout.paths().filter(|&path| path != MANIFEST);
        for path in std::iter::once(MANIFEST).chain(others) {
            let mut header = Header::new_gnu();
            header.set_mtime(0);
            header.set_uid(0);
            header.set_gid(0);
            match self.layout.get(path) {
                Some(Node::File { executable, size }) => {
                    header.set_entry_type(EntryType::Regular);
                    header.set_mode(mode(*executable));
                    header.set_size(*size);
                    tar.append_data(&mut header, path, self.bytes[path].as_slice())?;
                }
                Some(Node::Link { target }) => {
                    header.set_entry_type(EntryType::Symlink);
                    header.set_mode(0o777);
                    header.set_size(0);
                    tar.append_link(&mut header, path, target)?;
                }
                None => {}
            }
        }
        Ok(tar.into_inner()?)
    }
}

fn mode(executable: bool) -> u32 {
    if executable { 0o755 } else { 0o644 }
}

/// True if a file is a package, and no program to be started directly: it begins with the name
/// of its first entry.
///
/// # Errors
/// If the file cannot be read.
pub fn is_package(path: &Path) -> io::Result<bool> {
    let mut start = [0; MANIFEST.len() + 1];
    let mut file = File::open(path)?;
    match file.read_exact(&mut start) {
        Ok(()) => Ok(start[..MANIFEST.len()] == *MANIFEST.as_bytes() && start[MANIFEST.len()] == 0),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

/// What a program needs of a machine: what the manifest of a package declares, and nothing for a
/// program without one.
///
/// # Errors
/// [`PackageError`].
pub fn resources(program: &Path) -> Result<Resources, PackageError> {
    let manifest = manifest_of(program)?;
    Ok(manifest.map_or_else(Resources::default, |manifest| manifest.resources()))
}

/// The protocol that a program speaks, if the manifest of its package names one.
///
/// # Errors
/// [`PackageError`].
pub fn protocol(program: &Path) -> Result<Option<Protocol>, PackageError> {
    let manifest = manifest_of(program)?;
    Ok(manifest.and_then(|manifest| manifest.protocol()))
}

/// The manifest of a package; none for a program without one.
fn manifest_of(program: &Path) -> Result<Option<Manifest>, PackageError> {
    if !is_package(program)? {
        return Ok(None);
    }
    let (_, manifest) = read_layout(&mut File::open(program)?)?;
    Ok(Some(manifest))
}

/// Unpacks a package into an empty folder. Returns the command to start there. Everything is
/// checked before anything is written.
///
/// # Errors
/// [`PackageError`].
pub fn unpack(package: &Path, folder: &Path) -> Result<Manifest, PackageError> {
    let mut file = File::open(package)?;
    let (layout, manifest) = read_layout(&mut file)?;
    layout.check()?;
    manifest.check(&layout)?;
    file.seek(SeekFrom::Start(0))?;
    let mut archive = Archive::new(io::BufReader::new(file));
    for entry in archive.entries()? {
        let entry = entry?;
        let path = entry_path(&entry)?;
        let Some(Node::File { executable, size }) = layout.get(&path) else {
            continue;
        };
        let to = place(folder, &path)?;
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(mode(*executable))
            .open(&to)?;
        io::copy(&mut entry.take(*size), &mut file)?;
    }
    // Links last, so that no file is written through one.
    for path in layout.paths() {
        if let Some(Node::Link { target }) = layout.get(path) {
            symlink(target, place(folder, path)?)?;
        }
    }
    Ok(manifest)
}

/// The path of a file below a folder, with the folders that it needs.
fn place(folder: &Path, path: &str) -> io::Result<PathBuf> {
    let place = folder.join(path);
    place.parent().map_or(Ok(()), fs::create_dir_all)?;
    Ok(place)
}

/// Checks the contents of a package. Returns the manifest.
fn read_layout(file: &mut File) -> Result<(Layout, Manifest), PackageError> {
    let broken =
        |error: io::Error| PackageError::content(format!("it is not a tar archive: {error}"));
    let mut layout = Layout::default();
    let mut manifest = Vec::new();
    let mut archive = Archive::new(file);
    for entry in archive.entries_with_seek().map_err(broken)? {
        let entry = entry.map_err(broken)?;
        let path = entry_path(&entry)?;
        let header = entry.header();
        let node = match header.entry_type() {
            EntryType::Regular => Node::File {
                executable: header.mode().map_err(broken)? & 0o111 != 0,
                size: entry.size(),
            },
            EntryType::Symlink => {
                let target = entry.link_name_bytes().unwrap_or_default().into_owned();
                let target = String::from_utf8(target).map_err(|_| {
                    PackageError::content(format!("{path} is a link to a name that is not UTF-8"))
                })?;
                Node::Link { target }
            }
            _ => {
                let problem = format!("{path} is not a regular file or a symbolic link");
                return Err(PackageError::content(problem));
            }
        };
        layout.add(&path, node)?;
        if path == MANIFEST {
            let mut start = entry.take(manifest::BYTES_MAX as u64 + 1);
            start.read_to_end(&mut manifest).map_err(broken)?;
        }
    }
    Ok((layout, Manifest::parse(&manifest)?))
}

fn entry_path<R: Read>(entry: &tar::Entry<'_, R>) -> Result<String, PackageError> {
    let path = String::from_utf8(entry.path_bytes().into_owned());
    layout::clean(&path.map_err(|_| PackageError::content("it has a path that is not UTF-8"))?)
}
