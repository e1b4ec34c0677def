//! Packages of what libraries in Python have: games and bots of OpenSpiel, and environments of PettingZoo. A
//! Python package of Arena for each library writes them.

use std::{
    env, fs, io,
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::Command,
};

use tempfile::TempDir;

use crate::failure::{Failure, Outcome};

/// Exit code for a name that the library does not have, or that Arena cannot play.
const REFUSED: i32 = 2;

/// A library.
#[derive(Clone, Copy, Debug, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Library {
    /// Its games are rulesets, and its bots are agents.
    OpenSpiel,
    /// Its environments are rulesets.
    PettingZoo,
}

impl Library {
    /// The option of the command line, which has the name of the package below `agents`, too.
    #[must_use]
    pub fn option(self) -> &'static str {
        self.into()
    }

    /// The module in Python that writes packages.
    const fn module(self) -> &'static str {
        match self {
            Self::OpenSpiel => "arena_openspiel.package",
            Self::PettingZoo => "arena_pettingzoo.package",
        }
    }

    /// The oldest minor version of Python 3 that has the library.
    const fn python(self) -> &'static str {
        match self {
            Self::OpenSpiel => "3.9",
            Self::PettingZoo => "3.10",
        }
    }

    /// What to do if a module of Python is missing.
    const fn remedy(self) -> &'static str {
        match self {
            Self::OpenSpiel => {
                "run `pip install agents/sdk/python agents/openspiel`, which installs open_spiel too"
            }
            Self::PettingZoo => {
                "run `pip install agents/pettingzoo`, which installs pettingzoo too"
            }
        }
    }
}

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
pub struct Folder(TempDir, Library);

impl Folder {
    /// Its path. The name is shown for the registered content.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.0.path().join(self.1.option())
    }
}

/// The file of an environment such as `mygame.py:env(rounds=2)`; none if it is a module.
#[must_use]
pub fn file_of(library: Library, name: &str) -> Option<&Path> {
    let (place, _) = name.split_once(':')?;
    let is_file = matches!(library, Library::PettingZoo) && place.ends_with(".py");
    is_file.then(|| Path::new(place))
}

/// Writes the package of a game, such as `go(board_size=9)`, of an environment or of a bot. Files in its name
/// are found from the current folder.
///
/// # Errors
/// If the library is not installed for the `python3` of `PATH`, or Arena cannot play the game or bot.
pub fn package(library: Library, kind: Kind, name: &str) -> Outcome<Folder> {
    let option = library.option();
    let folder = Folder(tempfile::tempdir()?, library);
    fs::create_dir(folder.path())?;
    let mut python = Command::new("python3");
    python.args(["-m", library.module(), kind.into(), name]);
    if matches!(library, Library::PettingZoo) {
        python.arg(env::current_dir()?);
    }
    // In the folder, because Python also finds modules in the current one.
    python.current_dir(folder.path());
    let output = python.output().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Failure::failed(format!(
            "--{option} needs Python {} or newer, but PATH has no python3: install it, then {}",
            library.python(),
            library.remedy()
        )),
        _ => Failure::failed(format!("--{option}: cannot run python3: {error}")),
    })?;
    if output.status.success() {
        return Ok(folder);
    }
    let printed = String::from_utf8_lossy(&output.stderr);
    let last = printed.trim_end().lines().next_back().unwrap_or_default();
    let last = arena_model::printable(last);
    Err(match (output.status.code(), output.status.signal()) {
        (Some(REFUSED), _) => Failure::usage(format!("--{option}: {last}")),
        (_, Some(signal)) => Failure::usage(format!(
            "--{option}: python3 was ended by signal {signal} when it loaded {name:?}; choose other \
             parameters"
        )),
        _ if last.contains("No module named") => Failure::failed(format!(
            "--{option}: a module is missing for the python3 of PATH ({last}): {}",
            library.remedy()
        )),
        _ => Failure::failed(format!("--{option}: python3 failed: {last}")),
    })
}
