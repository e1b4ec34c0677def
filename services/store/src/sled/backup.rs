//! Backups: one file with everything in a store, independent of the database.
//!
//! ```text
//! "ARENABKP"  u32 format
//! entries: u8 kind, u32 key length, key, u64 content length, content
//!     1 pack, as in the database   2 document   3 binary (key: its name)
//! u8 0, then SHA-256 of everything before it
//! ```
//!
//! Numbers are little endian.

use std::{
    fs::{self, File},
    io::{self, BufReader, BufWriter, Read, Write},
    path::{Path, PathBuf},
};

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::{
    Options, Sha256Digest, StoreError,
    binary::{Binaries, sync_parent},
    packing::pack::{self, Pack},
    repair::walk::Item,
    repair::{
        copy::StoreCopy,
        verify::{LOCK_WAIT, beware, read},
    },
    sled::core::Core,
    sled::database::{Database, Tree, corrupt},
    sled::folder::{Folder, LABEL_DAMAGED, LABEL_MISSING, LabelState, is_occupied},
    sled::snapshot::Snapshot,
};

const MAGIC: &[u8; 8] = b"ARENABKP";
/// 2: packs may be compressed.
const FORMAT: u32 = 2;
const KIND_END: u8 = 0;
const KIND_PACK: u8 = 1;
const KIND_DOCUMENT: u8 = 2;
const KIND_BINARY: u8 = 3;
/// Keys and packs beyond this are damaged lengths, for which nothing is allocated.
const KEY_MAX: u32 = 1 << 16;
const CONTENT_MAX: u64 = 64 << 20;

/// Contents of a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BackupReport {
    /// The backup's file, or the restored folder.
    pub path: PathBuf,
    /// Games in it.
    pub games: u64,
    /// Documents in it.
    pub documents: u64,
    /// Agents' binaries in it.
    pub binaries: u64,
    /// Its size in bytes.
    pub bytes: u64,
}

/// Writes everything in a data folder to one file, which is durable before the return. The store
/// must not be open elsewhere.
///
/// # Errors
/// `NotEmpty` if the file exists, `Corrupt` for a damaged store (no backup is kept in that case),
/// `Locked`, `NotFound`, or an error of the disk.
pub fn backup(data: impl AsRef<Path>, to: impl AsRef<Path>) -> Result<BackupReport, StoreError> {
    let (folder, to) = (Folder::open(data.as_ref(), LOCK_WAIT, false)?, to.as_ref());
    match folder.label {
        LabelState::Whole => {}
        LabelState::Missing => return Err(corrupt(&folder.path, LABEL_MISSING.to_owned())),
        LabelState::Damaged => return Err(corrupt(&folder.path, LABEL_DAMAGED.to_owned())),
    }
    if to.exists() {
        return Err(StoreError::NotEmpty {
            path: to.to_owned(),
        });
    }
    let unfinished = PathBuf::from(format!("{}.unfinished", to.display()));
    let report = write(&folder, &unfinished, to);
    if report.is_err() {
        // An incomplete file must not look like a backup.
        let _ = fs::remove_file(&unfinished);
    }
    report
}

fn write(folder: &Folder, unfinished: &Path, to: &Path) -> Result<BackupReport, StoreError> {
    let error = |e: io::Error| StoreError::io("write", unfinished, &e);
    let file = File::create(unfinished).map_err(error)?;
    let mut out = Backup::begin(BufWriter::new(file)).map_err(error)?;
    let mut written = Ok(());
    beware(folder)?;
    let database = folder.database(folder.generation);
    let (walk, _) = read(folder, &database, |item| {
        if written.is_err() {
            return;
        }
        written = match item {
            Item::Pack { bytes, pack } => out.pack(bytes, pack),
            Item::Document(document) => out.document(document.key, document.content),
        };
    })?;
    if !walk.damage_report.is_empty() {
        return Err(corrupt(&folder.path, walk.damage_report.to_string()));
    }
    written.map_err(error)?;
    for (name, path) in Binaries::list(&folder.binaries())? {
        out.binary(&name, &path, error)?;
    }
    let (inner, mut report) = out.finish().map_err(error)?;
    report.path = to.to_owned();
    inner.get_ref().sync_all().map_err(error)?;
    fs::rename(unfinished, to).map_err(error)?;
    sync_parent(to)?;
    Ok(report)
}

/// Completes a received backup: checks it as a whole, and gives the file its name, durable before
/// the return.
///
/// # Errors
/// `NotEmpty` if a file of that name exists, `Corrupt` if it is incomplete, or an error of the
/// disk.
pub fn keep_backup(unfinished: impl AsRef<Path>, to: impl AsRef<Path>) -> Result<u64, StoreError> {
    let (unfinished, to) = (unfinished.as_ref(), to.as_ref());
    if to.exists() {
        return Err(StoreError::NotEmpty {
            path: to.to_owned(),
        });
    }
    let bytes = check(unfinished)?;
    let error = |e: io::Error| StoreError::io("write", unfinished, &e);
    File::open(unfinished)
        .and_then(|file| file.sync_all())
        .map_err(error)?;
    fs::rename(unfinished, to).map_err(error)?;
    sync_parent(to)?;
    Ok(bytes)
}

/// Writes a snapshot of an open store, whose chain only grows meanwhile.
pub(crate) fn write_snapshot(
    db: &Database,
    data: &Path,
    binaries: &Path,
    snapshot: &Snapshot,
    out: &mut dyn Write,
) -> Result<BackupReport, StoreError> {
    let error = |e: io::Error| StoreError::io("write a backup of", data, &e);
    let mut out = Backup::begin(out).map_err(error)?;
    let (mut next, mut written, mut whole) = (0, Ok(()), true);
    db.visit(Tree::Packs, &pack::key(0), |key, bytes| {
        if next == snapshot.packs {
            return false;
        }
        let found = pack::intact(&bytes).then(|| pack::decode(&bytes)).flatten();
        let Some(pack) = found.filter(|_| *key == pack::key(next)) else {
            whole = false;
            return false;
        };
        next += 1;
        written = out.pack(&bytes, &pack);
        written.is_ok()
    })?;
    written.map_err(error)?;
    if !whole || next < snapshot.packs {
        let what = format!("results pack {next} is not as it was written");
        return Err(corrupt(data, what));
    }
    for (key, content) in &snapshot.documents {
        out.document(key, content).map_err(error)?;
    }
    for (name, path) in Binaries::list(binaries)? {
        out.binary(&name, &path, error)?;
    }
    let (_, mut report) = out.finish().map_err(error)?;
    report.path = data.to_owned();
    Ok(report)
}

/// A backup under construction.
struct Backup<W: Write> {
    out: Hashed<W>,
    report: BackupReport,
}

impl<W: Write> Backup<W> {
    fn begin(inner: W) -> io::Result<Self> {
        let mut out = Hashed {
            inner,
            hasher: Sha256::new(),
            bytes: 0,
        };
        out.write_all(MAGIC)?;
        out.write_all(&FORMAT.to_le_bytes())?;
        let report = BackupReport {
            path: PathBuf::new(),
            games: 0,
            documents: 0,
            binaries: 0,
            bytes: 0,
        };
        Ok(Self { out, report })
    }

    fn pack(&mut self, bytes: &[u8], pack: &Pack) -> io::Result<()> {
        self.report.games += pack.entries.len() as u64;
        entry(&mut self.out, KIND_PACK, &pack::key(pack.sequence), bytes)
    }

    fn document(&mut self, key: &[u8], content: &[u8]) -> io::Result<()> {
        self.report.documents += 1;
        entry(&mut self.out, KIND_DOCUMENT, key, content)
    }

    fn binary(
        &mut self,
        name: &str,
        path: &Path,
        error: impl Fn(io::Error) -> StoreError,
    ) -> Result<(), StoreError> {
        self.report.binaries += 1;
        let mut binary = File::open(path).map_err(|e| StoreError::io("read", path, &e))?;
        let length = binary
            .metadata()
            .map_err(|e| StoreError::io("read", path, &e))?
            .len();
        head(&mut self.out, KIND_BINARY, name.as_bytes(), length)
            .and_then(|()| io::copy(&mut (&mut binary).take(length), &mut self.out))
            .map(drop)
            .map_err(error)
    }

    fn finish(mut self) -> io::Result<(W, BackupReport)> {
        self.out.write_all(&[KIND_END])?;
        let digest: Sha256Digest = self.out.hasher.finalize().into();
        self.report.bytes = self.out.bytes + digest.len() as u64;
        let mut inner = self.out.inner;
        inner.write_all(&digest)?;
        inner.flush()?;
        Ok((inner, self.report))
    }
}

fn head(out: &mut impl Write, kind: u8, key: &[u8], length: u64) -> io::Result<()> {
    let key_length = u32::try_from(key.len()).map_err(io::Error::other)?;
    out.write_all(&[kind])?;
    out.write_all(&key_length.to_le_bytes())?;
    out.write_all(key)?;
    out.write_all(&length.to_le_bytes())
}

fn entry(out: &mut impl Write, kind: u8, key: &[u8], content: &[u8]) -> io::Result<()> {
    head(out, kind, key, content.len() as u64)?;
    out.write_all(content)
}

/// Creates a data folder from a backup. The whole backup is checked before anything is written. A
/// restore that was interrupted starts again; until it is complete, the folder cannot be opened.
///
/// # Errors
/// `NotEmpty` if the target contains anything else, `Locked` while another process restores into
/// it, `NotFound` if `from` is no backup, `NewerVersion`, `Corrupt` for a damaged backup, or an
/// error of the disk (what was written is removed again).
pub fn restore(from: impl AsRef<Path>, to: impl AsRef<Path>) -> Result<BackupReport, StoreError> {
    let (from, to) = (from.as_ref(), to.as_ref());
    if is_occupied(to) || to.is_file() {
        return Err(StoreError::NotEmpty {
            path: to.to_owned(),
        });
    }
    let bytes = check(from)?;
    let folder = Folder::restoring(to, LOCK_WAIT)?;
    let restored = fill(from, &folder, bytes);
    if restored.is_err() {
        // Half a store is worse than none.
        let _ = fs::remove_dir_all(to);
    }
    restored
}

/// Reads the whole backup and checks it. Returns its size.
fn check(from: &Path) -> Result<u64, StoreError> {
    let error = |e: io::Error| StoreError::io("read", from, &e);
    let no_backup = || StoreError::NotFound {
        path: from.to_owned(),
        expected: "a backup of arena's store".to_owned(),
    };
    let mut file = match File::open(from) {
        Ok(file) => BufReader::new(file),
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Err(no_backup()),
        Err(e) => return Err(error(e)),
    };
    let length = file.get_ref().metadata().map_err(error)?.len();
    let mut start = [0; MAGIC.len() + 4];
    file.read_exact(&mut start).map_err(|_| no_backup())?;
    let format = start.strip_prefix(MAGIC).ok_or_else(no_backup)?;
    let found = format
        .iter()
        .rev()
        .fold(0, |number, &byte| number << 8 | u32::from(byte));
    if found > FORMAT {
        return Err(StoreError::NewerVersion {
            path: from.to_owned(),
            found,
            known: FORMAT,
        });
    }
    let mut hashed = Hashed {
        inner: io::sink(),
        hasher: Sha256::new_with_prefix(start),
        bytes: 0,
    };
    let content = length.saturating_sub(start.len() as u64 + 32);
    io::copy(&mut (&mut file).take(content), &mut hashed).map_err(error)?;
    let mut expected: Sha256Digest = [0; 32];
    file.read_exact(&mut expected)
        .map_err(|_| damaged(from, "it is too short"))?;
    if Sha256Digest::from(hashed.hasher.finalize()) != expected {
        return Err(damaged(
            from,
            "its content does not have the checksum at its end",
        ));
    }
    Ok(length)
}

fn fill(from: &Path, folder: &Folder, bytes: u64) -> Result<BackupReport, StoreError> {
    let error = |e: io::Error| StoreError::io("read", from, &e);
    let to = &*folder.path;
    let binaries = Binaries::open(folder.binaries())?;
    let core = Core::open(
        &folder.database(folder.generation),
        to,
        &Options::default(),
        true,
    )?;
    let mut report = BackupReport {
        path: to.to_owned(),
        games: 0,
        documents: 0,
        binaries: 0,
        bytes,
    };
    let mut copy = StoreCopy::new(&core);
    let mut file = BufReader::new(File::open(from).map_err(error)?);
    io::copy(
        &mut (&mut file).take(MAGIC.len() as u64 + 4),
        &mut io::sink(),
    )
    .map_err(error)?;
    loop {
        let [kind] = array(&mut file).map_err(error)?;
        if kind == KIND_END {
            break;
        }
        let key_length = u32::from_le_bytes(array(&mut file).map_err(error)?);
        if key_length > KEY_MAX {
            return Err(damaged(from, "it has a key that is too long"));
        }
        let mut key = vec![0; key_length as usize];
        file.read_exact(&mut key).map_err(error)?;
        let length = u64::from_le_bytes(array(&mut file).map_err(error)?);
        if kind == KIND_BINARY {
            let mut sha256: Sha256Digest = [0; 32];
            hex::decode_to_slice(&key, &mut sha256)
                .map_err(|_| damaged(from, "a binary in it has no digest for a name"))?;
            let mut upload = binaries.begin(sha256)?;
            io::copy(&mut (&mut file).take(length), &mut upload)
                .map_err(|e| StoreError::io("write a binary to", to, &e))?;
            upload.commit()?;
            report.binaries += 1;
            continue;
        }
        if length > CONTENT_MAX {
            return Err(damaged(from, "it has an entry that is too long"));
        }
        let mut content = vec![0; usize::try_from(length).unwrap_or(usize::MAX)];
        file.read_exact(&mut content).map_err(error)?;
        match kind {
            KIND_PACK => {
                let pack = pack::intact(&content)
                    .then(|| pack::decode(&content))
                    .flatten()
                    .filter(|pack| pack.bodies(&content).is_some())
                    .ok_or_else(|| damaged(from, "a pack in it is not as it was written"))?;
                copy.take(&Item::Pack {
                    bytes: &content,
                    pack: &pack,
                });
            }
            KIND_DOCUMENT => copy.document(&key, &content),
            other => {
                return Err(damaged(
                    from,
                    &format!("it has an entry of unknown kind {other}"),
                ));
            }
        }
    }
    (report.games, report.documents) = copy.finish()?;
    core.close()?;
    folder.restored()?;
    Ok(report)
}

fn array<const N: usize>(file: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    file.read_exact(&mut bytes).map(|()| bytes)
}

fn damaged(backup: &Path, how: &str) -> StoreError {
    StoreError::Corrupt {
        path: backup.to_owned(),
        damage: format!("the backup cannot be used, {how}"),
        remedy: "take another backup; nothing was restored".to_owned(),
    }
}

/// Counts and hashes the bytes that pass through.
struct Hashed<W> {
    inner: W,
    hasher: Sha256,
    bytes: u64,
}

impl<W: Write> Write for Hashed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
