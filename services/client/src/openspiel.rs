//! Packages of games and bots of OpenSpiel. Its Python package `arena_openspiel` writes them.

use std::{fs, io, os::unix::process::ExitStatusExt, path::PathBuf, process::Command};

use tempfile::TempDir;

use crate::failure::{Failure, Outcome};

/// What to do if a module of Python is missing.
const REMEDY: &str =
    "run `pip install agents/sdk/python agents/openspiel`, which installs open_spiel too";
/// Exit code for a name that OpenSpiel does not have, or that Arena cannot play.
const REFUSED: i32 = 2;

/// What a package contains.
#[derive(Clone, Copy, Debug, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Kind {
    /// The rules of a game.
    Ruleset,
    /// A bot.
    Agent,
}

/// A folder with a package, which is removed with this.
pub struct Folder(TempDir);

impl Folder {
    /// Its path. The name is shown for the registered content.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.0.path().join("openspiel")
    }
}

/// Writes the package of a game, such as `go(board_size=9)`, or of a bot.
///
/// # Errors
/// If OpenSpiel is not installed for the `python3` of `PATH`, or Arena cannot play the game or bot.
pub fn package(kind: Kind, name: &str) -> Outcome<Folder> {
    let folder = Folder(tempfile::tempdir()?);
    fs::create_dir(folder.path())?;
    // In the folder, because Python also finds modules in the current one.
    let output = Command::new("python3")
        .args(["-m", "arena_openspiel.package", kind.into(), name])
        .current_dir(folder.path())
        .output()
        .map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Failure::failed(format!(
                "--openspiel needs Python 3.9 or newer, but PATH has no python3: install it, then {REMEDY}"
            )),
            _ => Failure::failed(format!("--openspiel: cannot run python3: {error}")),
        })?;
    if output.status.success() {
        return Ok(folder);
    }
    let printed = String::from_utf8_lossy(&output.stderr);
    let last = printed.trim_end().lines().next_back().unwrap_or_default();
    let last = arena_model::printable(last);
    Err(match (output.status.code(), output.status.signal()) {
        (Some(REFUSED), _) => Failure::usage(format!("--openspiel: {last}")),
        (_, Some(signal)) => Failure::usage(format!(
            "--openspiel: OpenSpiel was ended by signal {signal} when it loaded {name:?}; choose other \
             parameters"
        )),
        _ if last.contains("No module named") => Failure::failed(format!(
            "--openspiel: a module is missing for the python3 of PATH ({last}): {REMEDY}"
        )),
        _ => Failure::failed(format!("--openspiel: python3 failed: {last}")),
    })
}
