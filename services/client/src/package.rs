//! The content of an agent to register: a file, a folder or an archive.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::{self, BufReader, Read},
    os::unix::fs::PermissionsExt,
    path::Path,
};

use arena_store::has_store;
use arena_worker::package::{BYTES_MAX, Contents, ENTRIES_MAX, MANIFEST, PackageError};
use flate2::read::MultiGzDecoder;
use tar::EntryType;
use zip::ZipArchive;

use crate::failure::{Failure, Outcome};

/// Folders that are excluded, because tools create them next to a program.
const LEFT_OUT: [&str; 2] = [".git", "__pycache__"];

/// The file that lists paths of a folder that are not part of the agent.
const IGNORE: &str = ".arenaignore";

/// The content of an agent, as uploaded.
pub struct Content {
    /// The bytes of the file, or of the tar file of a package.
    pub bytes: Vec<u8>,
    /// The name of the file, or of the package.
    pub file_name: String,
    /// True if it is executable.
    pub is_executable: bool,
}

impl Content {
    /// A package that contains the engine of `--uci`.
    pub fn into_uci(self) -> Outcome<Self> {
        let Self {
            bytes, file_name, ..
        } = self;
        let failed = |error: PackageError| Failure::usage(format!("engine {file_name}: {error}"));
        let command = format!("[\"./{}\"]", file_name.escape_default());
        let manifest = format!("command = {command}\nprotocol = \"uci\"\n");
        let mut contents = Contents::default();
        let added = contents
            .add_file(MANIFEST, false, manifest.into_bytes())
            .and_then(|()| contents.add_file(&file_name, true, bytes));
        Ok(Self {
            bytes: added.and_then(|()| contents.to_tar()).map_err(failed)?,
            file_name: format!("{file_name}.tar"),
            is_executable: true,
        })
    }
}

/// The kinds of archives, by file name extension.
#[derive(Clone, Copy)]
enum Kind {
    Tar,
    Gzip,
    Zstd,
    Zip,
}

const KINDS: [(&str, Kind); 6] = [
    (".tar", Kind::Tar),
    (".tar.gz", Kind::Gzip),
    (".tgz", Kind::Gzip),
    (".tar.zst", Kind::Zstd),
    (".tzst", Kind::Zstd),
    (".zip", Kind::Zip),
];

/// Reads the file, folder or archive of `--binary`.
pub fn read(path: &Path) -> Outcome<Content> {
    let shown = path.display();
    let unreadable = |error: io::Error| Failure::usage(format!("cannot read {shown}: {error}"));
    let metadata = fs::metadata(path).map_err(unreadable)?;
    // A path such as `.` has no name.
    let whole = match path.file_name() {
        Some(_) => path.to_owned(),
        None => path.canonicalize().map_err(unreadable)?,
    };
    let name = whole.file_name().unwrap_or_default();
    let name = name.to_string_lossy().into_owned();
    let mut kinds = KINDS.iter();
    let archive = kinds.find_map(|(end, kind)| Some((name.strip_suffix(end)?, *kind)));
    let (stem, contents) = if metadata.is_dir() {
        let mut contents = Contents::default();
        let added =
            Ignored::read(path).and_then(|ignored| add_folder(&mut contents, path, "", &ignored));
        (name.as_str(), added.map(|()| contents))
    } else if !metadata.is_file() {
        return Err(Failure::usage(format!("{shown} is not a file or a folder")));
    } else if let Some((stem, kind)) = archive {
        (stem, read_archive(path, kind))
    } else {
        return Ok(Content {
            bytes: fs::read(path).map_err(unreadable)?,
            file_name: name,
            is_executable: metadata.permissions().mode() & 0o111 != 0,
        });
    };
    let bytes = contents
        .and_then(|contents| contents.to_tar())
        .map_err(|error| Failure::usage(format!("package {shown}: {error}")))?;
    let stem = if stem.is_empty() { "agent" } else { stem };
    Ok(Content {
        bytes,
        file_name: format!("{stem}.tar"),
        is_executable: true,
    })
}

fn is_left_out(path: &str) -> bool {
    path.split('/').any(|part| LEFT_OUT.contains(&part))
}

/// The paths of a folder that are not part of the agent.
#[derive(Default)]
struct Ignored(BTreeSet<String>);

impl Ignored {
    /// Reads the file in the folder, if there is one: a path per line, from the folder, without
    /// patterns.
    fn read(folder: &Path) -> Result<Self, PackageError> {
        let text = match fs::read_to_string(folder.join(IGNORE)) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(wrong(format!("cannot read {IGNORE}: {error}"))),
        };
        let lines = text.lines().map(str::trim);
        let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        let mut paths = BTreeSet::new();
        for line in lines {
            if line.contains(['*', '?', '[', '!']) {
                return Err(wrong(format!(
                    "{IGNORE}: {line}: patterns are not supported; write one path per line"
                )));
            }
            let path = line.trim_start_matches("./").trim_matches('/');
            paths.insert(path.to_owned());
        }
        Ok(Self(paths))
    }

    fn has(&self, path: &str) -> bool {
        self.0.contains(path)
    }
}

fn wrong(problem: impl Into<String>) -> PackageError {
    PackageError::Content(problem.into())
}

fn utf8(bytes: Vec<u8>) -> Result<String, PackageError> {
    String::from_utf8(bytes).map_err(|error| {
        let shown = String::from_utf8_lossy(error.as_bytes()).into_owned();
        wrong(format!("{shown:?} is not UTF-8"))
    })
}

/// Reads a file with a declared size, and no more than that.
fn bounded(
    contents: &Contents,
    path: &str,
    size: u64,
    file: impl Read,
) -> Result<Vec<u8>, PackageError> {
    let left = contents.bytes_left();
    let mut bytes = Vec::new();
    if size <= left {
        file.take(left + 1).read_to_end(&mut bytes)?;
    }
    if size > left || bytes.len() as u64 > left {
        return Err(wrong(format!(
            "with {path}, it exceeds {} MiB unpacked; remove files that the agent does not need, \
             or run the agent as an endpoint",
            BYTES_MAX >> 20
        )));
    }
    Ok(bytes)
}

fn add_folder(
    contents: &mut Contents,
    folder: &Path,
    prefix: &str,
    ignored: &Ignored,
) -> Result<(), PackageError> {
    let at = |path: &Path| {
        let path = path.display().to_string();
        move |error: io::Error| io::Error::new(error.kind(), format!("{path}: {error}"))
    };
    for entry in fs::read_dir(folder).map_err(at(folder))? {
        let entry = entry.map_err(at(folder))?;
        let name = utf8(entry.file_name().into_encoded_bytes())?;
        let path = format!("{prefix}{name}");
        if is_left_out(&name) || ignored.has(&path) {
            continue;
        }
        let file = entry.path();
        let kind = entry.file_type().map_err(at(&file))?;
        if kind.is_dir() && has_store(&file) {
            // With tokens, and with earlier binaries of the agent.
            continue;
        } else if kind.is_dir() {
            add_folder(contents, &file, &format!("{path}/"), ignored)?;
        } else if kind.is_symlink() {
            let target = fs::read_link(&file).map_err(at(&file))?;
            contents.add_link(&path, &utf8(target.into_os_string().into_encoded_bytes())?)?;
        } else if kind.is_file() {
            let metadata = entry.metadata().map_err(at(&file))?;
            let opened = File::open(&file).map_err(at(&file))?;
            let bytes = bounded(contents, &path, metadata.len(), opened)?;
            let executable = metadata.permissions().mode() & 0o111 != 0;
            contents.add_file(&path, executable, bytes)?;
        } else {
            return Err(wrong(format!(
                "{path} is not a file, a folder or a symbolic link"
            )));
        }
    }
    Ok(())
}

fn read_archive(path: &Path, kind: Kind) -> Result<Contents, PackageError> {
    let file = File::open(path)?;
    if file.metadata()?.len() > BYTES_MAX * 2 {
        let limit = (BYTES_MAX * 2) >> 20;
        return Err(wrong(format!("it is larger than {limit} MiB")));
    }
    let mut contents = match kind {
        Kind::Tar => read_tar(file),
        Kind::Gzip => read_tar(MultiGzDecoder::new(file)),
        Kind::Zstd => read_tar(zstd::Decoder::new(file)?),
        Kind::Zip => read_zip(file),
    }
    .map_err(|error| match error {
        PackageError::Io(error) => wrong(format!("cannot read it: {error}")),
        content @ PackageError::Content(_) => content,
    })?;
    contents.enter_folder();
    Ok(contents)
}

fn read_tar(file: impl Read) -> Result<Contents, PackageError> {
    let mut contents = Contents::default();
    // Skipped entries are bounded, too.
    let mut archive = tar::Archive::new(BufReader::new(file).take(BYTES_MAX * 2));
    for entry in archive.entries()? {
        let entry = entry?;
        let kind = entry.header().entry_type();
        let path = utf8(entry.path_bytes().into_owned())?;
        if is_left_out(&path) || kind == EntryType::XGlobalHeader || kind == EntryType::Directory {
            continue;
        }
        let link = |entry: &tar::Entry<'_, _>| {
            utf8(entry.link_name_bytes().unwrap_or_default().into_owned())
        };
        match kind {
            EntryType::Regular | EntryType::Continuous => {
                let executable = entry.header().mode()? & 0o111 != 0;
                let bytes = bounded(&contents, &path, entry.size(), entry)?;
                contents.add_file(&path, executable, bytes)?;
            }
            EntryType::Symlink => contents.add_link(&path, &link(&entry)?)?,
            EntryType::Link => contents.add_copy(&path, &link(&entry)?)?,
            _ => return Err(wrong(format!("{path} is not a file, a folder or a link"))),
        }
    }
    Ok(contents)
}

fn read_zip(file: File) -> Result<Contents, PackageError> {
    let broken = |error: zip::result::ZipError| wrong(format!("cannot read it: {error}"));
    let mut contents = Contents::default();
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(broken)?;
    if archive.len() > ENTRIES_MAX * 2 {
        return Err(wrong(format!("it has {} entries", archive.len())));
    }
    for index in 0..archive.len() {
        let entry = archive.by_index(index).map_err(broken)?;
        let path = utf8(entry.name_raw().to_vec())?;
        if is_left_out(&path) || entry.is_dir() {
            continue;
        }
        let mode = entry.unix_mode().unwrap_or_default();
        let is_link = entry.is_symlink();
        // The upper bits are the file type, if the archive was made on Unix.
        if !is_link && ![0, 0o100_000].contains(&(mode & 0o170_000)) {
            return Err(wrong(format!("{path} is not a file, a folder or a link")));
        }
        let bytes = bounded(&contents, &path, entry.size(), entry)?;
        if is_link {
            contents.add_link(&path, &utf8(bytes)?)?;
        } else {
            contents.add_file(&path, mode & 0o111 != 0, bytes)?;
        }
    }
    Ok(contents)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(folder: &Path) -> Outcome<Vec<String>> {
        let content = read(folder)?;
        let mut archive = tar::Archive::new(&*content.bytes);
        let entries = archive.entries()?.map(|entry| {
            let entry = entry.expect("an entry");
            let path = entry.path().expect("a path");
            path.to_string_lossy().into_owned()
        });
        Ok(entries.collect())
    }

    #[test]
    fn data_folder_is_not_part_of_an_agent() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        };
        write(MANIFEST, "command = [\"sh\", \"run\"]");
        write("run", "");
        write("data/weights", "");
        let before = paths(folder.path()).expect("a package");
        // As commands without --data make it, and under another name.
        for name in ["arena-data", "models/store"] {
            let data = folder.path().join(name);
            let store = arena_store::SledStore::open(&data, &arena_store::Options::default());
            drop(store.expect("a store"));
            write(&format!("{name}/admin.token"), "secret");
        }
        assert_eq!(paths(folder.path()).expect("a package"), before);
    }

    #[test]
    fn listed_paths_are_not_part_of_an_agent() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        };
        write("arena-agent.toml", "command = [\"sh\", \"run\"]");
        for path in [
            "run",
            "README.md",
            "target/a/b",
            "src/target",
            "src/main",
            ".git/x",
        ] {
            write(path, "");
        }
        let all = [
            "arena-agent.toml",
            "README.md",
            "run",
            "src/main",
            "src/target",
            "target/a/b",
        ];
        assert_eq!(paths(folder.path()).expect("a package"), all);
        write(
            IGNORE,
            "# comment\n.arenaignore\n/target/\n\n  ./src/main  \nmissing\n",
        );
        let left = ["arena-agent.toml", "README.md", "run", "src/target"];
        assert_eq!(paths(folder.path()).expect("a package"), left);
        write(IGNORE, "src/*");
        let refused = paths(folder.path()).expect_err("a pattern").to_string();
        assert!(
            refused.contains("src/*: patterns are not supported"),
            "{refused}"
        );
    }
}
