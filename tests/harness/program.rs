//! The paths of the programs that tests start.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

/// The top of the repository.
#[must_use]
pub fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("tests/ is in the repository")
}

/// True in `tests/run --long`, which runs all of what other runs sample.
#[must_use]
pub fn is_long() -> bool {
    env::var_os("ARENA_LONG").is_some()
}

/// The `arena` binary: ARENA_BIN, or else the one that was built with the tests.
///
/// # Panics
/// If there is none.
#[must_use]
pub fn arena() -> PathBuf {
    if let Some(path) = env::var_os("ARENA_BIN") {
        let path = PathBuf::from(path);
        assert!(
            path.is_file(),
            "ARENA_BIN is {}, which is not a file",
            path.display()
        );
        return path;
    }
    let own = env::current_exe().expect("this program's own path");
    // target/<profile>/<this>, or target/<profile>/deps/<this> for a test.
    let folder = own.parent().expect("a file is in a folder");
    let folder = match folder.ends_with("deps") {
        true => folder.parent().expect("the folder of the profile"),
        false => folder,
    };
    let beside = folder.join("arena");
    assert!(
        beside.is_file(),
        "there is no {}: run `cargo build` first, or set ARENA_BIN",
        beside.display()
    );
    beside
}

/// The path of a program in PATH.
#[must_use]
pub fn find(program: &str) -> Option<PathBuf> {
    let paths = env::var_os("PATH")?;
    let mut files = env::split_paths(&paths).map(|folder| folder.join(program));
    files.find(|file| file.is_file())
}

/// Whether this machine lacks a program of an agent, which is then skipped by name.
#[expect(
    clippy::print_stderr,
    reason = "the output of a test names what it skips"
)]
#[must_use]
pub fn lacks(agent: &str, programs: &[&str]) -> bool {
    let missing = programs.iter().find(|program| find(program).is_none());
    if let Some(missing) = missing {
        eprintln!("skipped: {agent}: {missing} is missing");
    }
    missing.is_some()
}

/// A Python with the SDK: ARENA_PYTHON, or else the one from `tests/setup`.
///
/// # Errors
/// What to do if there is none.
pub fn python() -> Result<PathBuf, String> {
    let python = env::var_os("ARENA_PYTHON").map_or_else(
        || repository().join("target/tools/python/bin/python"),
        PathBuf::from,
    );
    if python.is_file() {
        return Ok(python);
    }
    Err(format!(
        "there is no Python with the SDK at {}: run `eval \"$(tests/setup)\"` first",
        python.display()
    ))
}

/// The folders from which [`python`] imports the packages for agents of this repository.
pub(crate) fn python_packages() -> Vec<PathBuf> {
    let python = python().unwrap_or_else(|reported| panic!("{reported}"));
    let code = "import importlib.util as util, os\n\
                for name in 'arena_agent', 'arena_openspiel':\n    \
                    found = util.find_spec(name)\n    \
                    if found: print(os.path.dirname(os.path.dirname(found.origin)))";
    let output = Command::new(python).args(["-c", code]).output();
    let output = output.expect("Python can be started").stdout;
    let folders = String::from_utf8_lossy(&output);
    folders.lines().map(PathBuf::from).collect()
}

/// PATH with [`python`] in front.
///
/// # Panics
/// If there is none.
#[must_use]
pub fn python_path() -> String {
    let python = python().unwrap_or_else(|reported| panic!("{reported}"));
    let folder = python.parent().expect("a file is in a folder");
    format!(
        "{}:{}",
        folder.display(),
        env::var("PATH").unwrap_or_default()
    )
}
