//! What the steps of `tests/run` need to know.

use std::{
    env,
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    Arguments,
    steps::{PYTHON_SDK, Work, command},
};

/// What steps need to know.
#[derive(Clone)]
pub(crate) struct Context {
    pub(crate) arguments: Arguments,
    pub(crate) target: PathBuf,
    pub(crate) logs: PathBuf,
    /// The search path of commands; `setup` adds what it installed.
    pub(crate) path: OsString,
    /// A Python with the SDK, once `setup` has run.
    pub(crate) python: Option<OsString>,
    /// Whether the step `build` has passed in this run.
    pub(crate) built: bool,
}

impl Context {
    pub(crate) fn new(arguments: Arguments, target: PathBuf, logs: PathBuf) -> Self {
        Self {
            arguments,
            target,
            logs,
            path: env::var_os("PATH").unwrap_or_default(),
            python: None,
            built: false,
        }
    }

    /// Sets the variables of a command.
    pub(crate) fn prepare(&self, command: &mut Command) {
        command
            .env("PATH", &self.path)
            .env("ARENA_BIN", self.target.join("debug/arena"))
            .env("NO_COLOR", "1")
            .env("XDG_STATE_HOME", self.target.join("tmp/state"))
            .env("CARGO_TERM_COLOR", "never")
            .env("CARGO_TERM_PROGRESS_WHEN", "never")
            .envs(self.python.iter().map(|python| ("ARENA_PYTHON", python)));
        if self.arguments.long {
            command.env("ARENA_LONG", "1");
        }
    }

    /// Reads the variables that `setup` printed: the search path and Python.
    pub(crate) fn read_environment(&mut self) -> io::Result<()> {
        let script = r#". "$0" && printf '%s\n%s' "$ARENA_PYTHON" "$PATH""#;
        let output = command(&["bash", "-c", script])
            .arg(self.environment())
            .output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        if let Some((python, path)) = text.split_once('\n') {
            self.python = Some(python.into());
            self.path = path.into();
        }
        Ok(())
    }

    fn environment(&self) -> PathBuf {
        self.logs.join("environment")
    }

    pub(crate) fn binaries(&self) -> PathBuf {
        self.logs.join("binaries.json")
    }

    pub(crate) fn finds(&self, program: &str) -> bool {
        env::split_paths(&self.path).any(|folder| folder.join(program).is_file())
    }

    /// Whether Python has a module. False without Python.
    pub(crate) fn imports(&self, module: &str) -> bool {
        let output = self.python.as_ref().map(|python| {
            let mut import = Command::new(python);
            import.args(["-c", &format!("import {module}")]).output()
        });
        output.is_some_and(|output| output.is_ok_and(|output| output.status.success()))
    }

    pub(crate) fn setup(&self) -> Work {
        let mut setup = command(&["bash", "-c", r#"exec tests/setup >"$0""#]);
        setup.arg(self.environment());
        Work::Run(vec![setup])
    }

    pub(crate) fn filter(&self) -> Option<&str> {
        self.arguments.filter.as_deref()
    }

    pub(crate) fn pytest(&self, folder: &str) -> Work {
        if self.arguments.quick && folder != PYTHON_SDK {
            return Work::Skip("--quick");
        }
        let Some(python) = self
            .python
            .as_ref()
            .filter(|path| Path::new(path).is_file())
        else {
            return Work::Fail("there is no Python environment: see the step setup");
        };
        let mut pytest = Command::new(python);
        pytest.args([
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "--durations=5",
            folder,
        ]);
        if let Some(filter) = self.filter() {
            pytest.args(["-k", filter]);
        }
        Work::Pytest(pytest)
    }
}
