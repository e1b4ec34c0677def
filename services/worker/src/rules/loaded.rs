//! The interpreter and the native libraries that rules have loaded: the same package with others is
//! another game.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File},
    io::{self, Read},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{LazyLock, Mutex},
};

use arena_wire::v1;
use sha2::{Digest, Sha256};

use crate::lock;

/// Maximum number of loaded files.
const FILES_MAX: usize = 512;
/// Maximum number of different files that a message names.
const NAMED_MAX: usize = 4;

/// Digests of files by device, inode, size and time of the last change.
static KNOWN: LazyLock<Mutex<BTreeMap<[u64; 4], Vec<u8>>>> = LazyLock::new(Mutex::default);

/// The files with code that these processes have loaded, sorted by name and digest: without those of
/// their package, whose content is known, and without those of the program `guard`, which started
/// them.
///
/// # Errors
/// If the system does not show them.
pub(super) fn loaded(
    processes: &[i32],
    guard: &Path,
    package: &Path,
) -> io::Result<Vec<v1::LoadedFile>> {
    let guard = fs::canonicalize(guard)?;
    let mut files = BTreeSet::new();
    for process in processes {
        let folder = PathBuf::from(format!("/proc/{process}"));
        // A helper may have ended by now.
        let (Ok(program), Ok(maps)) = (
            fs::read_link(folder.join("exe")),
            fs::read_to_string(folder.join("maps")),
        ) else {
            continue;
        };
        if program == guard {
            continue;
        }
        let paths: BTreeSet<&str> = maps.lines().filter_map(code_of).collect();
        for path in paths {
            if Path::new(path).starts_with(package) {
                continue;
            }
            let name = Path::new(path).file_name().unwrap_or_default();
            let name = name.to_string_lossy().into_owned();
            let within = folder.join("root").join(path.trim_start_matches('/'));
            files.insert((name, digest(&within).or_else(|_| digest(Path::new(path)))?));
        }
    }
    if files.is_empty() {
        return Err(io::Error::other(
            "the system does not show what they loaded",
        ));
    }
    if files.len() > FILES_MAX {
        let problem = format!("they loaded more than {FILES_MAX} files");
        return Err(io::Error::other(problem));
    }
    let files = files.into_iter();
    Ok(files
        .map(|(name, sha256)| v1::LoadedFile { name, sha256 })
        .collect())
}

/// The file of a line of `maps`, if it is loaded as code.
fn code_of(line: &str) -> Option<&str> {
    let mut fields = line.splitn(6, char::is_whitespace);
    let is_code = fields.nth(1)?.contains('x');
    let path = fields.nth(3)?.trim_start();
    let is_file =
        path.starts_with('/') && !path.starts_with("/memfd:") && !path.starts_with("/dev/");
    (is_code && is_file).then(|| path.trim_end_matches(" (deleted)"))
}

fn digest(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let about = file.metadata()?;
    let changed = about.mtime_nsec() as u64 ^ (about.mtime() as u64).rotate_left(32);
    let key = [about.dev(), about.ino(), about.size(), changed];
    if let Some(known) = lock(&KNOWN).get(&key) {
        return Ok(known.clone());
    }
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            count => hasher.update(&buffer[..count]),
        }
    }
    let digest = hasher.finalize().to_vec();
    lock(&KNOWN).insert(key, digest.clone());
    Ok(digest)
}

/// How loaded files differ from those of the registration, in words; none if they do not.
pub(super) fn difference(here: &[v1::LoadedFile], there: &[v1::LoadedFile]) -> Option<String> {
    let of = |files: &[v1::LoadedFile]| -> BTreeMap<String, BTreeSet<Vec<u8>>> {
        let mut named: BTreeMap<String, BTreeSet<Vec<u8>>> = BTreeMap::new();
        for file in files {
            let digests = named.entry(file.name.clone()).or_default();
            digests.insert(file.sha256.clone());
        }
        named
    };
    let (here, there) = (of(here), of(there));
    let names: BTreeSet<&String> = here.keys().chain(there.keys()).collect();
    let mut problems = names.into_iter().filter_map(|name| {
        Some(match (here.get(name), there.get(name)) {
            (Some(own), Some(other)) if own == other => return None,
            (Some(_), Some(_)) => format!("{name} differs"),
            (Some(_), None) => format!("{name} is loaded here only"),
            (None, _) => format!("{name} is not loaded here"),
        })
    });
    let mut named: Vec<String> = problems.by_ref().take(NAMED_MAX).collect();
    match problems.count() {
        _ if named.is_empty() => return None,
        0 => {}
        more => named.push(format!("and {more} more")),
    }
    Some(named.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_of_mapped_files_is_found() {
        for (line, expected) in [
            (
                "7f0-7f1 r-xp 00001000 08:01 42   /usr/lib/libm.so.6",
                Some("/usr/lib/libm.so.6"),
            ),
            (
                "7f0-7f1 r-xp 00001000 08:01 42   /opt/my lib.so",
                Some("/opt/my lib.so"),
            ),
            (
                "7f0-7f1 r-xp 00001000 08:01 42   /opt/a.so (deleted)",
                Some("/opt/a.so"),
            ),
            ("7f0-7f1 r--p 00001000 08:01 42   /usr/lib/libm.so.6", None),
            ("7f0-7f1 rwxp 00000000 00:00 0 ", None),
            ("7f0-7f1 r-xp 00000000 00:00 0    [vdso]", None),
            ("7f0-7f1 r-xs 00000000 00:01 9    /memfd:jit", None),
            ("", None),
        ] {
            assert_eq!(code_of(line), expected, "{line}");
        }
    }

    #[test]
    fn different_files_are_named() {
        let files = |files: &[(&str, u8)]| -> Vec<v1::LoadedFile> {
            let files = files.iter();
            files
                .map(|&(name, digest)| v1::LoadedFile {
                    name: name.to_owned(),
                    sha256: vec![digest; 32],
                })
                .collect()
        };
        let there = files(&[("libc.so.6", 1), ("libm.so.6", 1), ("python3", 1)]);
        assert_eq!(difference(&there, &there), None);
        let here = files(&[("libc.so.6", 1), ("libx.so", 1), ("python3", 2)]);
        assert_eq!(
            difference(&here, &there).as_deref(),
            Some("libm.so.6 is not loaded here, libx.so is loaded here only, python3 differs")
        );
        assert_eq!(
            difference(
                &[],
                &files(&[("a", 1), ("b", 1), ("c", 1), ("d", 1), ("e", 1)])
            )
            .as_deref(),
            Some(
                "a is not loaded here, b is not loaded here, c is not loaded here, d is not loaded \
                 here, and 1 more"
            )
        );
    }
}
