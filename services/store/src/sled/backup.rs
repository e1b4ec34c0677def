//! Backups: one file with everything in a store, independent of the database.
//!
//! ```text
//! "ARENABKP"  u32 format
//! entries: u8 kind, u32 key length, key, u64 content length, content
//!     1 pack, as in the database   2 document   3 binary (key: its name)
//!     4 audit trail (key: the name of its file)
//! u8 0, then SHA-256 of everything before it
//! ```
//!
//! Numbers are little endian.

use std::{
    fs::{self, File},
    io::{self, BufReader, BufWriter, Read, Write},
    path::{Path, PathBuf},
};

use sha2::Digest;

use crate::{
    Options, Sha256Digest, StoreError,
    backend::{Entries, Tree},
    binary::Binaries,
    error::At,
    files::{self, Hashed, Lines, existing},
    packing::pack::{self, Pack},
    repair::{
        copy::StoreCopy,
        report::BackupReport,
        verify::{LOCK_WAIT, beware, read},
        walk::Item,
    },
    sled::{
        backend::SledBackend,
        folder::{Folder, is_occupied},
    },
    writer::Snapshot,
};

const MAGIC: &[u8; 8] = b"ARENABKP";
/// 2: packs may be compressed. 3: it may contain an audit trail.
const FORMAT: u32 = 3;
const KIND_END: u8 = 0;
const KIND_PACK: u8 = 1;
const KIND_DOCUMENT: u8 = 2;
const KIND_BINARY: u8 = 3;
const KIND_EVENTS: u8 = 4;
/// Keys and packs beyond this are damaged lengths, for which nothing is allocated.
const KEY_MAX: u32 = 1 << 16;
const CONTENT_MAX: u64 = 64 << 20;

/// Writes everything in a data folder to one file, which is durable before the return. The store
/// must not be open elsewhere.
///
/// # Errors
/// `NotEmpty` if the file exists, `Corrupt` for a damaged store (no backup is kept in that case),
/// `Locked`, `NotFound`, or an error of the disk.
pub fn backup(data: impl AsRef<Path>, to: impl AsRef<Path>) -> Result<BackupReport, StoreError> {
    let (folder, to) = (Folder::open(data.as_ref(), LOCK_WAIT, false)?, to.as_ref());
    folder.check_label()?;
    check_free(to)?;
    let unfinished = PathBuf::from(format!("{}.unfinished", to.display()));
    let report = write(&folder, &unfinished, to);
    if report.is_err() {
        // An incomplete file must not look like a backup.
        let _ = fs::remove_file(&unfinished);
    }
    report
}

/// Fails if there is something at this path.
fn check_free(path: &Path) -> Result<(), StoreError> {
    match path.exists() {
        true => Err(StoreError::NotEmpty {
            path: path.to_owned(),
        }),
        false => Ok(()),
    }
}

fn write(folder: &Folder, unfinished: &Path, to: &Path) -> Result<BackupReport, StoreError> {
    let file = BufWriter::new(files::create_private(unfinished).at("write", unfinished)?);
    let mut out = Backup::begin(file).at("write", unfinished)?;
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
    walk.check(&folder.path)?;
    written.at("write", unfinished)?;
    out.binaries(&folder.binaries(), unfinished)?;
    out.events(&folder.path, unfinished)?;
    let (file, mut report) = out.finish().at("write", unfinished)?;
    report.path = to.to_owned();
    file.get_ref().sync_all().at("write", unfinished)?;
    files::rename(unfinished, to)?;
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
    check_free(to)?;
    let bytes = check(unfinished)?;
    File::open(unfinished)
        .and_then(|file| file.sync_all())
        .at("write", unfinished)?;
    files::rename(unfinished, to)?;
    Ok(bytes)
}

/// What a snapshot is written from.
pub(crate) struct SnapshotSource<'a> {
    /// Names the store in errors.
    pub(crate) place: &'a Path,
    /// Folder of the audit trail.
    pub(crate) folder: &'a Path,
    /// Folder of the binaries.
    pub(crate) binaries: &'a Path,
}

/// Writes a snapshot of an open store, whose chain only grows meanwhile.
pub(crate) fn write_snapshot(
    db: &impl Entries,
    from: &SnapshotSource<'_>,
    snapshot: &Snapshot,
    out: &mut dyn Write,
) -> Result<BackupReport, StoreError> {
    let data = from.place;
    let action = "write a backup of";
    let mut out = Backup::begin(out).at(action, data)?;
    let (mut next, mut written, mut whole) = (0, Ok(()), true);
    db.visit(Tree::Packs, &pack::key(0), |key, bytes| {
        if next == snapshot.packs {
            return false;
        }
        let Some(pack) = pack::open(&bytes).filter(|_| *key == pack::key(next)) else {
            whole = false;
            return false;
        };
        next += 1;
        written = out.pack(&bytes, &pack);
        written.is_ok()
    })?;
    written.at(action, data)?;
    if !whole || next < snapshot.packs {
        let damage = format!("results pack {next} has changed since it was written");
        return Err(StoreError::corrupt(data, damage));
    }
    for (key, content) in &snapshot.documents {
        out.document(key, content).at(action, data)?;
    }
    out.binaries(from.binaries, data)?;
    out.events(from.folder, data)?;
    let (_, mut report) = out.finish().at(action, data)?;
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
        let mut out = Hashed::new(inner);
        out.write_all(MAGIC)?;
        out.write_all(&FORMAT.to_le_bytes())?;
        Ok(Self {
            out,
            report: BackupReport::default(),
        })
    }

    fn pack(&mut self, bytes: &[u8], pack: &Pack) -> io::Result<()> {
        self.report.games += pack.entries.len() as u64;
        entry(&mut self.out, KIND_PACK, &pack::key(pack.sequence), bytes)
    }

    fn document(&mut self, key: &[u8], content: &[u8]) -> io::Result<()> {
        self.report.documents += 1;
        entry(&mut self.out, KIND_DOCUMENT, key, content)
    }

    /// Adds the binaries of a folder; `to` names the backup in errors.
    fn binaries(&mut self, folder: &Path, to: &Path) -> Result<(), StoreError> {
        for (name, path) in Binaries::list(folder)? {
            // It may have been removed since the listing, because nothing refers to it.
            let Some(binary) = existing(File::open(&path)).at("read", &path)? else {
                continue;
            };
            self.report.binaries += 1;
            let length = binary.metadata().at("read", &path)?.len();
            head(&mut self.out, KIND_BINARY, name.as_bytes(), length)
                .and_then(|()| io::copy(&mut binary.take(length), &mut self.out))
                .at("write a binary to", to)?;
        }
        Ok(())
    }

    /// Adds the audit trail of a data folder, if it has one; `to` names the backup in errors.
    fn events(&mut self, data: &Path, to: &Path) -> Result<(), StoreError> {
        for (name, mut events) in files::events_files(data)? {
            let path = data.join(&name);
            // A coordinator may be appending.
            let length = files::whole_lines(&mut events).at("read", &path)?;
            let mut lines = Lines::new(&mut self.out);
            head(&mut lines.inner, KIND_EVENTS, name.as_bytes(), length)
                .and_then(|()| io::copy(&mut events.take(length), &mut lines))
                .at("write the audit trail to", to)?;
            self.report.events += lines.count;
        }
        Ok(())
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
    let no_backup = || StoreError::NotFound {
        path: from.to_owned(),
        expected: "a backup of arena's store".to_owned(),
    };
    let file = existing(File::open(from)).at("read", from)?;
    let mut file = BufReader::new(file.ok_or_else(no_backup)?);
    let length = file.get_ref().metadata().at("read", from)?.len();
    let mut start = [0; MAGIC.len() + 4];
    file.read_exact(&mut start).map_err(|_| no_backup())?;
    let (magic, format) = start.split_last_chunk().ok_or_else(no_backup)?;
    if magic != MAGIC {
        return Err(no_backup());
    }
    let found = u32::from_le_bytes(*format);
    if found > FORMAT {
        return Err(StoreError::NewerVersion {
            path: from.to_owned(),
            found,
            known: FORMAT,
        });
    }
    let mut hashed = Hashed::new(io::sink());
    hashed.hasher.update(start);
    let content = length.saturating_sub(start.len() as u64 + 32);
    io::copy(&mut (&mut file).take(content), &mut hashed).at("read", from)?;
    let expected: Sha256Digest = array(&mut file).map_err(|_| damaged(from, "it is too short"))?;
    if Sha256Digest::from(hashed.hasher.finalize()) != expected {
        return Err(damaged(
            from,
            "its content does not match the checksum at its end",
        ));
    }
    Ok(length)
}

fn fill(from: &Path, folder: &Folder, bytes: u64) -> Result<BackupReport, StoreError> {
    let to = &*folder.path;
    let binaries = Binaries::open(folder.binaries())?;
    let database = folder.database(folder.generation);
    let core = SledBackend::open(&database, to, &Options::default(), true)?;
    let mut report = BackupReport {
        path: to.to_owned(),
        bytes,
        ..BackupReport::default()
    };
    let mut copy = StoreCopy::new(&core);
    let mut file = BufReader::new(File::open(from).at("read", from)?);
    file.seek_relative(MAGIC.len() as i64 + 4)
        .at("read", from)?;
    loop {
        let [kind] = array(&mut file).at("read", from)?;
        if kind == KIND_END {
            break;
        }
        let key_length = u32::from_le_bytes(array(&mut file).at("read", from)?);
        if key_length > KEY_MAX {
            return Err(damaged(from, "one of its keys is too long"));
        }
        let mut key = vec![0; key_length as usize];
        file.read_exact(&mut key).at("read", from)?;
        let length = u64::from_le_bytes(array(&mut file).at("read", from)?);
        if kind == KIND_BINARY {
            let mut sha256: Sha256Digest = [0; 32];
            hex::decode_to_slice(&key, &mut sha256).map_err(|_| {
                damaged(from, "one of its binaries has a name that is not a digest")
            })?;
            let mut upload = binaries.begin(sha256)?;
            io::copy(&mut (&mut file).take(length), &mut upload).at("write a binary to", to)?;
            upload.commit()?;
            report.binaries += 1;
            continue;
        }
        if kind == KIND_EVENTS {
            let name = str::from_utf8(&key).ok();
            let name = name.filter(|name| files::first_event(name).is_some());
            let name = name.ok_or_else(|| {
                damaged(from, "one of its files of the audit trail has another name")
            })?;
            report.events += files::write_events(&mut (&mut file).take(length), &to.join(name))?;
            continue;
        }
        if length > CONTENT_MAX {
            return Err(damaged(from, "one of its entries is too long"));
        }
        let mut content = vec![0; usize::try_from(length).unwrap_or(usize::MAX)];
        file.read_exact(&mut content).at("read", from)?;
        match kind {
            KIND_PACK => {
                let pack = pack::open(&content)
                    .filter(|pack| pack.bodies(&content).is_some())
                    .ok_or_else(|| {
                        damaged(
                            from,
                            "one of its packs has changed since it was \
                     written",
                        )
                    })?;
                copy.take(&Item::Pack {
                    bytes: &content,
                    pack: &pack,
                });
            }
            KIND_DOCUMENT => copy.document(&key, &content),
            other => {
                let how = format!("an entry has the unknown kind {other}");
                return Err(damaged(from, &how));
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
        damage: format!("the backup is unusable: {how}"),
        remedy: "make another backup; nothing was restored".to_owned(),
    }
}
