//! Paths that agents may read.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    path::{Path, PathBuf},
};

/// Programs and libraries of the system, and what they need to start.
pub const SYSTEM: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/ssl",
    "/etc/ca-certificates",
    "/etc/java",
    "/nix/store",
    "/dev/random",
    "/dev/urandom",
];

/// Facts about the machine that runtimes read.
pub(crate) const PROC: &[&str] = &[
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/sys/vm/overcommit_memory",
    "/proc/version",
];

/// The same, outside of `/proc`.
pub(crate) const FACTS: &[&str] = &[
    "/sys/devices/system/cpu",
    "/sys/kernel/mm/transparent_hugepage",
];

/// Interpreters whose installation may be elsewhere than the folder of `PATH` that names them.
const INTERPRETERS: &[&str] = &["python3", "python", "node", "java", "ruby", "php"];
/// Folders and files next to a folder of programs, which these programs need.
const NEIGHBOURS: &[&str] = &["lib", "lib64", "libexec", "pyvenv.cfg", "include"];

/// The folders in which the interpreters of `PATH` and their libraries are, outside of the
/// system's folders.
#[must_use]
pub fn interpreters(path: &OsStr) -> Vec<PathBuf> {
    let mut found = BTreeSet::new();
    for folder in std::env::split_paths(path).filter(|folder| folder.is_absolute()) {
        add(&folder, &mut found);
        for name in INTERPRETERS {
            if let Ok(program) = folder.join(name).canonicalize()
                && let Some(folder) = program.parent()
            {
                add(folder, &mut found);
            }
        }
    }
    found.into_iter().collect()
}

fn add(folder: &Path, found: &mut BTreeSet<PathBuf>) {
    let is_system = SYSTEM.iter().any(|system| folder.starts_with(system));
    if is_system || !folder.is_dir() {
        return;
    }
    found.insert(folder.to_owned());
    let Some(above) = folder.parent().filter(|above| above.parent().is_some()) else {
        return;
    };
    // pyenv starts the program of the version that it selects.
    if folder.file_name() == Some(OsStr::new("shims")) {
        found.insert(above.to_owned());
    }
    let neighbours = NEIGHBOURS.iter().map(|name| above.join(name));
    found.extend(neighbours.filter(|path| path.exists()));
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    #[test]
    fn interpreters_are_found_with_their_libraries() {
        let temp = tempfile::tempdir().expect("a folder");
        let root = temp.path().canonicalize().expect("a path");
        let make = |path: &str| fs::create_dir_all(root.join(path)).expect("a folder");
        make("venv/bin");
        make("venv/lib/python3.12");
        make("venv/secrets");
        make("installed/bin");
        make("installed/lib");
        fs::write(root.join("installed/bin/python3.12"), "").expect("a file");
        let link = root.join("venv/bin/python3");
        symlink(root.join("installed/bin/python3.12"), link).expect("a link");
        let path = std::env::join_paths([root.join("venv/bin"), "/usr/bin".into(), "rel".into()]);
        let found = interpreters(&path.expect("a path"));
        let below = |path: &PathBuf| path.strip_prefix(&root).expect("below").to_owned();
        let found: Vec<PathBuf> = found.iter().map(below).collect();
        let expected = ["installed/bin", "installed/lib", "venv/bin", "venv/lib"];
        assert_eq!(found, expected.map(PathBuf::from));
    }
}
