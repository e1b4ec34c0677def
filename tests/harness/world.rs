//! The folder of one test, and all processes that it starts.

use std::{
    env, fs,
    fs::File,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
    time::Instant,
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use tempfile::TempDir;

use crate::{Output, Server, program, wait::DEADLINE};

/// The variable with the world of a process, which every child inherits.
const MARK: &str = "ARENA_TEST_WORLD";
/// The mark, and the variables by which an agent of `hosts.rs` fails or waits.
const AGENT_ENV: &str =
    "ARENA_TEST_WORLD,TEST_HOST_LACKS_SOMETHING,TEST_HOST_TAKES,TEST_RULES_TIRE";

/// The folder of one test, and all processes that it starts. Dropping it kills running processes
/// and removes the folder.
#[derive(Debug)]
pub struct World {
    folder: TempDir,
    files: AtomicU32,
    path: String,
    /// The folders of packages for agents, if Python is in the search path.
    packages: Vec<PathBuf>,
}

impl Default for World {
    fn default() -> Self {
        Self::new()
    }
}

impl World {
    /// An empty folder.
    ///
    /// # Panics
    /// Where none can be made.
    #[must_use]
    pub fn new() -> Self {
        Self {
            folder: tempfile::Builder::new()
                .prefix("arena-test-")
                .tempdir()
                .expect("a temporary folder"),
            files: AtomicU32::new(0),
            path: env::var("PATH").unwrap_or_default(),
            packages: Vec::new(),
        }
    }

    /// An empty folder, with a Python with the SDK in the search path.
    #[must_use]
    pub fn with_python() -> Self {
        let mut world = Self::new();
        world.path = program::python_path();
        world.packages = program::python_packages();
        world
    }

    /// The folder, which is the working directory of commands.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The search path of commands.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Writes a file into the folder and returns its path.
    ///
    /// # Panics
    /// If it cannot be written.
    #[must_use]
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.folder().join(name);
        fs::write(&path, content).expect("a file in the temporary folder");
        path.to_str().expect("a path in UTF-8").to_owned()
    }

    /// A command in the folder, without the user's settings.
    #[must_use]
    pub fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        for (name, _) in env::vars_os() {
            // Without cargo's variables, so that a program does not assume that cargo runs it.
            let text = name.to_string_lossy();
            if text.starts_with("ARENA_") || text.starts_with("CARGO") {
                command.env_remove(name);
            }
        }
        command
            .current_dir(self.folder())
            .env("PATH", &self.path)
            .env("NO_COLOR", "1")
            // The paths from which the user registered agents.
            .env("XDG_STATE_HOME", self.folder().join(".state"))
            .env(MARK, self.folder())
            // Agents as well get these, and may use `arena`, the SDK of the repository, and the
            // world's folder `shared`.
            .env("ARENA_WORKER_AGENT_ENV", AGENT_ENV)
            .stdin(Stdio::null());
        let arena = program::arena().parent().map(Path::to_owned);
        let shared = Some(self.folder().join("shared")).filter(|folder| folder.is_dir());
        if let Ok(paths) =
            env::join_paths(arena.into_iter().chain(self.packages.clone()).chain(shared))
        {
            command.env("ARENA_AGENT_PATH", paths);
        }
        command
    }

    /// Writes settings for the commands of a page, and returns their path: on a busy machine, an
    /// agent can take longer to start than a check waits by default.
    ///
    /// # Panics
    /// If they cannot be written.
    #[must_use]
    pub fn patient_checks(&self) -> String {
        self.write("config.toml", "[agent.check]\nstart-timeout = 60\n")
    }

    /// Makes one file from the agent in `tests/agents/misbehave`, because registered binaries are
    /// files, and returns its path.
    ///
    /// # Panics
    /// If it cannot be made.
    #[track_caller]
    #[must_use]
    pub fn misbehave(&self) -> String {
        let path = self.folder().join("misbehave");
        let mut command = self.command("python3");
        command
            .args([
                "-m",
                "zipapp",
                "--python",
                "/usr/bin/env python3",
                "--output",
            ])
            .arg(&path)
            .arg(program::repository().join("tests/agents/misbehave"));
        let _ = self.run(command).ok();
        path.to_str().expect("a path in UTF-8").to_owned()
    }

    /// Runs `arena` to its end.
    ///
    /// # Panics
    /// If it does not end.
    #[track_caller]
    pub fn arena(&self, arguments: &[&str]) -> Output {
        let mut command = self.command(program::arena());
        command.args(arguments);
        self.run(command)
    }

    /// Runs a command to its end.
    ///
    /// # Panics
    /// If it does not end.
    #[track_caller]
    pub fn run(&self, command: Command) -> Output {
        let shown = show(&command);
        let server = self.spawn(command);
        let (mut child, stdout, stderr) = server;
        let started = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().expect("a child") {
                break Some(status);
            }
            if started.elapsed() > DEADLINE {
                child.kill().expect("it runs");
                child.wait().expect("a child");
                break None;
            }
            std::thread::sleep(std::time::Duration::from_millis(2));
        };
        let output = Output {
            command: shown,
            code: status.and_then(|status| status.code()),
            stdout: read(&stdout),
            stderr: read(&stderr),
        };
        assert!(status.is_some(), "it did not end:\n{}", output.transcript());
        output
    }

    /// Runs `arena` to its end, and handles stdout line by line, because it may not fit into
    /// memory.
    ///
    /// # Panics
    /// Where it does not end with 0.
    #[track_caller]
    pub fn lines(&self, arguments: &[&str], mut each: impl FnMut(&str)) {
        let mut command = self.command(program::arena());
        command.args(arguments).stdout(Stdio::piped());
        let mut child = command.spawn().expect("arena can be started");
        let stdout = child.stdout.take().expect("a pipe");
        for line in BufReader::new(stdout).lines() {
            each(&line.expect("text from arena"));
        }
        let status = child.wait().expect("a child");
        assert!(status.success(), "{}: {status}", show(&command));
    }

    /// Starts `arena` with stdout and stderr in files.
    pub fn start(&self, arguments: &[&str]) -> Started {
        self.start_program(&program::arena(), arguments)
    }

    /// Starts this program again, as [`World::start`] does.
    ///
    /// # Panics
    /// If the system does not show its path.
    pub fn start_own(&self, arguments: &[&str]) -> Started {
        let own = env::current_exe().expect("this program's own path");
        self.start_program(&own, arguments)
    }

    fn start_program(&self, program: &Path, arguments: &[&str]) -> Started {
        let mut command = self.command(program);
        command.args(arguments);
        let shown = show(&command);
        let (child, stdout, stderr) = self.spawn(command);
        Started {
            command: shown,
            child,
            stdout,
            stderr,
        }
    }

    fn spawn(&self, mut command: Command) -> (std::process::Child, PathBuf, PathBuf) {
        let number = self.files.fetch_add(1, Ordering::Relaxed);
        let stdout = self.folder().join(format!("{number}.out"));
        let stderr = self.folder().join(format!("{number}.err"));
        command
            .stdout(File::create(&stdout).expect("a file"))
            .stderr(File::create(&stderr).expect("a file"));
        let child = command
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}", show(&command)));
        (child, stdout, stderr)
    }

    /// Starts a coordinator on a data folder, on free ports unless the further arguments set them.
    ///
    /// # Panics
    /// If it does not come up.
    #[must_use]
    pub fn coordinator(&self, data: &str, more: &[&str]) -> Server {
        let mut arguments = vec!["coordinator", "--data", data];
        for (flag, value) in [("--listen", "127.0.0.1:0"), ("--metrics", "127.0.0.1:0")] {
            if !more.contains(&flag) {
                arguments.extend([flag, value]);
            }
        }
        arguments.extend(more);
        self.server(&arguments)
    }

    /// Starts a worker.
    ///
    /// # Panics
    /// If it does not come up.
    #[must_use]
    pub fn worker(&self, coordinator: &Server, more: &[&str]) -> Server {
        let url = coordinator.url();
        let mut arguments = vec!["worker", "--coordinator", &url, "--metrics", "127.0.0.1:0"];
        arguments.extend(more);
        self.server(&arguments)
    }

    /// Starts a worker with a variable in its environment.
    ///
    /// # Panics
    /// If it does not come up.
    #[must_use]
    pub fn worker_with(&self, coordinator: &Server, name: &str, value: &str) -> Server {
        let mut command = self.command(program::arena());
        command
            .args(["worker", "--coordinator", &coordinator.url()])
            .args(["--metrics", "127.0.0.1:0"])
            .env(name, value);
        self.serve(command)
    }

    /// Starts `arena` with these arguments, as a server that runs until it is stopped.
    ///
    /// # Panics
    /// If it does not come up.
    #[must_use]
    pub fn server(&self, arguments: &[&str]) -> Server {
        let mut command = self.command(program::arena());
        command.args(arguments);
        self.serve(command)
    }

    /// Starts a command as a server that runs until it is stopped.
    ///
    /// # Panics
    /// If it does not come up.
    #[must_use]
    pub fn serve(&self, command: Command) -> Server {
        let (child, stdout, stderr) = self.spawn(command);
        Server::new(child, stdout, stderr)
    }

    /// The running processes of this world with their command lines.
    #[must_use]
    pub fn processes(&self) -> Vec<(i32, String)> {
        let mark = format!("{MARK}={}", self.folder().display());
        let Ok(entries) = fs::read_dir("/proc") else {
            return Vec::new();
        };
        entries
            .flatten()
            .filter_map(|entry| {
                let id: i32 = entry.file_name().to_str()?.parse().ok()?;
                let environment = fs::read(entry.path().join("environ")).ok()?;
                environment
                    .split(|&byte| byte == 0)
                    .any(|variable| variable == mark.as_bytes())
                    .then_some(())?;
                let line = fs::read(entry.path().join("cmdline")).ok()?;
                // A zombie has no command line, and does not run.
                let words: Vec<_> = line
                    .split(|&byte| byte == 0)
                    .filter(|word| !word.is_empty())
                    .map(String::from_utf8_lossy)
                    .collect();
                (!words.is_empty()).then(|| (id, words.join(" ")))
            })
            .collect()
    }

    /// Waits until no process of this world runs.
    ///
    /// # Panics
    /// If a process remains.
    #[track_caller]
    pub fn nothing_runs(&self) {
        let started = Instant::now();
        while !self.processes().is_empty() {
            assert!(
                started.elapsed().as_secs() < 20,
                "left running: {:?}",
                self.processes()
            );
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        for (id, _) in self.processes() {
            // An error means that it has just ended.
            let _ = kill(Pid::from_raw(id), Signal::SIGKILL);
        }
    }
}

/// A running command.
#[derive(Debug)]
pub struct Started {
    command: String,
    child: std::process::Child,
    stdout: PathBuf,
    stderr: PathBuf,
}

impl Started {
    /// Its stdout so far.
    #[must_use]
    pub fn stdout(&self) -> String {
        read(&self.stdout)
    }

    /// Its stderr so far.
    #[must_use]
    pub fn stderr(&self) -> String {
        read(&self.stderr)
    }

    /// Whether it has ended.
    ///
    /// # Panics
    /// If it cannot be asked.
    pub fn ended(&mut self) -> bool {
        self.child.try_wait().expect("a child").is_some()
    }

    /// Sends a signal.
    ///
    /// # Panics
    /// If it has ended.
    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id() as i32), signal).expect("it runs");
    }

    /// Waits for its end.
    ///
    /// # Panics
    /// If it does not end.
    #[track_caller]
    pub fn output(mut self) -> Output {
        let status = crate::until("a command to end", || {
            self.child.try_wait().expect("a child")
        });
        Output {
            command: self.command,
            code: status.code(),
            stdout: read(&self.stdout),
            stderr: read(&self.stderr),
        }
    }
}

fn read(path: &Path) -> String {
    let bytes = fs::read(path).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn show(command: &Command) -> String {
    let words: Vec<_> = std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(|word| word.to_string_lossy())
        .collect();
    words.join(" ")
}
