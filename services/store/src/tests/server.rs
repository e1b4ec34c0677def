//! A private PostgreSQL server, for tests.

use std::{
    env, fs,
    fs::File,
    io,
    os::unix::fs::{MetadataExt, PermissionsExt, chown},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use tempfile::TempDir;

/// Where Debian installs servers.
const DEBIAN: &str = "/usr/lib/postgresql";
/// PostgreSQL refuses to run as root: the user `nobody` of Linux.
const NOBODY: u32 = 65_534;
const START_TIMEOUT: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(20);

/// A server in a temporary folder, on a Unix socket. It is killed with this process.
#[derive(Debug)]
pub struct PostgresServer {
    folder: TempDir,
    programs: PathBuf,
    is_root: bool,
    process: Option<Child>,
    settings: Vec<String>,
}

impl PostgresServer {
    /// Creates and starts a server with more settings, such as `max_connections=20`.
    ///
    /// # Errors
    /// Why this machine cannot run one. A test is skipped in that case.
    ///
    /// # Panics
    /// If a server that is installed cannot be started.
    pub fn start(settings: &[&str]) -> Result<Self, String> {
        let programs = programs()?;
        let folder = tempfile::Builder::new()
            .prefix("arena-postgres-")
            .tempdir()
            .expect("a temporary folder");
        let is_root = fs::metadata(folder.path()).expect("a folder").uid() == 0;
        let mut server = Self {
            folder,
            programs,
            is_root,
            process: None,
            settings: settings.iter().map(|&setting| setting.to_owned()).collect(),
        };
        let open = fs::Permissions::from_mode(0o755);
        fs::set_permissions(server.folder(), open).expect("permissions");
        for name in ["data", "socket"] {
            let path = server.folder().join(name);
            fs::create_dir(&path).expect("a folder");
            if is_root {
                chown(&path, Some(NOBODY), Some(NOBODY)).expect("an owner");
            }
        }
        let mut initdb = server.command("initdb");
        initdb.args(["--auth=trust", "--username=arena", "--encoding=UTF8"]);
        initdb.args(["--locale=C", "--no-sync", "--no-instructions", "--pgdata"]);
        let made = initdb.arg(server.data()).output().expect("initdb");
        assert!(made.status.success(), "{made:?}");
        server.start_again();
        Ok(server)
    }

    /// The temporary folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn data(&self) -> PathBuf {
        self.folder().join("data")
    }

    /// A program of PostgreSQL, as a user who is not root, killed with this process.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL"]);
        if self.is_root {
            let user = NOBODY.to_string();
            command.args(["--clear-groups", "--regid", &user, "--reuid", &user]);
        }
        command.arg("--").arg(self.programs.join(program));
        command.current_dir("/").env("LC_ALL", "C");
        command
    }

    /// Starts the server again after it was stopped.
    ///
    /// # Panics
    /// If it does not start.
    pub fn start_again(&mut self) {
        let log = File::options()
            .create(true)
            .append(true)
            .open(self.folder().join("log"))
            .expect("a log");
        let mut command = self.command("postgres");
        command.arg("-D").arg(self.data());
        let socket = self.folder().join("socket");
        let place = format!("unix_socket_directories={}", socket.display());
        for setting in ["listen_addresses=", &place, "max_connections=40"] {
            command.args(["-c", setting]);
        }
        for setting in &self.settings {
            command.args(["-c", setting]);
        }
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log);
        let mut process = command.spawn().expect("postgres");
        let began = Instant::now();
        while !self.psql("postgres", "SELECT 1").status.success() {
            assert!(began.elapsed() < START_TIMEOUT, "{}", self.log());
            thread::sleep(POLL);
            // Processes of a killed server may still be ending.
            if process.try_wait().is_ok_and(|ended| ended.is_some()) {
                process = command.spawn().expect("postgres");
            }
        }
        self.process = Some(process);
    }

    /// The server's log.
    #[must_use]
    pub fn log(&self) -> String {
        fs::read_to_string(self.folder().join("log")).unwrap_or_default()
    }

    /// The URL of a database.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        let socket = self.folder().join("socket");
        format!("postgres://arena@/{database}?host={}", socket.display())
    }

    /// Creates a database, and returns its URL.
    ///
    /// # Panics
    /// If it cannot be created.
    #[must_use]
    pub fn create(&self, database: &str) -> String {
        self.sql("postgres", &format!("CREATE DATABASE {database}"));
        self.url(database)
    }

    fn psql(&self, database: &str, sql: &str) -> Output {
        let mut psql = Command::new(self.programs.join("psql"));
        psql.args(["-XAtq", "-v", "ON_ERROR_STOP=1", "-U", "arena", "-h"]);
        psql.arg(self.folder().join("socket"));
        psql.args(["-d", database, "-c", sql]);
        psql.env("LC_ALL", "C").output().expect("psql")
    }

    /// Runs SQL, and returns the rows as text.
    ///
    /// # Panics
    /// If it fails.
    pub fn sql(&self, database: &str, sql: &str) -> String {
        let output = self.psql(database, sql);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{sql}: {errors}");
        String::from_utf8_lossy(&output.stdout)
            .trim_end()
            .to_owned()
    }

    /// Stops the server at once, as `pg_ctl stop -m immediate` does: it recovers at the next start.
    ///
    /// # Panics
    /// If it does not stop.
    pub fn stop_immediately(&mut self) {
        self.signal("QUIT");
    }

    /// Kills the server.
    ///
    /// # Panics
    /// If it does not end.
    pub fn kill(&mut self) {
        self.signal("KILL");
    }

    fn signal(&mut self, signal: &str) {
        let Some(mut process) = self.process.take() else {
            return;
        };
        let sent = Command::new("kill")
            .args(["-s", signal, &process.id().to_string()])
            .status();
        assert!(sent.is_ok_and(|sent| sent.success()), "kill");
        process.wait().expect("the server ends");
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        if self.process.is_some() {
            self.signal("QUIT");
        }
    }
}

/// The folder with the programs of a server.
fn programs() -> Result<PathBuf, String> {
    let missing = |program: &str| {
        format!("there is no {program}: install PostgreSQL, for example the package postgresql")
    };
    let has_all = |folder: &Path| {
        let mut programs = ["initdb", "postgres", "psql"].iter();
        programs.all(|program| folder.join(program).is_file())
    };
    let path = env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = env::split_paths(&path).collect();
    if !folders
        .iter()
        .any(|folder| folder.join("setpriv").is_file())
    {
        return Err(missing("setpriv"));
    }
    let versions = fs::read_dir(DEBIAN).into_iter().flatten();
    let versions = versions.collect::<io::Result<Vec<_>>>().unwrap_or_default();
    let mut installed: Vec<PathBuf> = versions.iter().map(|it| it.path().join("bin")).collect();
    installed.sort();
    folders.extend(installed.into_iter().rev());
    let found = folders.into_iter().find(|folder| has_all(folder));
    found.ok_or_else(|| missing("postgres"))
}
