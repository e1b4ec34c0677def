//! One running agent process, seen from the worker.

use std::{
    env,
    ffi::OsString,
    fs::{self, File, Permissions},
    io,
    net::TcpListener,
    os::unix::{fs::PermissionsExt, process::ExitStatusExt},
    path::{Path, PathBuf},
    process::Stdio,
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use nix::{
    errno::Errno,
    sys::signal::{Signal, kill, killpg},
    unistd::Pid,
};
use tempfile::TempDir;
use tokio::{
    io::AsyncReadExt,
    process::{Child, ChildStderr, ChildStdout, Command},
    runtime::Handle,
    sync::{oneshot, watch},
    time,
};
use tonic::{Code, transport::Channel};
use tonic_health::pb::health_check_response::ServingStatus;

use super::{
    Exit, Launch, Listen, Output, StartError, Supervisor,
    sandbox::{Folders, plan_args},
};
use crate::{
    agent::connect,
    guard::{Report, tree},
    machine::on_cores,
    package::{self, PackageError},
};

/// First and last pause between health checks; it doubles in between.
const POLL_FIRST: Duration = Duration::from_millis(4);
const POLL_LAST: Duration = Duration::from_millis(100);
/// Time for a guard to end everything before it is killed itself.
const END_TIMEOUT: Duration = Duration::from_secs(8);
/// A variable that marks everything that an agent starts: its folder.
const MARK: &str = "ARENA_DIR";
/// Maximum length of the path of a Unix socket.
pub(crate) const SOCKET_PATH_BYTES: usize = 107;
/// Name of the socket below an agent's folder; six letters are appended.
const FOLDER: &str = "arena-";
const SOCKET: &str = "run/agent.sock";

/// Length of the path of a socket in a folder.
pub(crate) fn socket_path_bytes(temp: &Path) -> usize {
    temp.as_os_str().len() + FOLDER.len() + SOCKET.len() + 8
}

/// A running agent process. Dropping it ends it, with everything it started.
#[derive(Debug)]
pub struct Process {
    channel: Channel,
    /// Process id of its guard.
    guard: Option<u32>,
    output: Arc<Output>,
    exit: watch::Receiver<Option<Exit>>,
    flood: Arc<OnceLock<Exit>>,
    stop: Option<oneshot::Sender<()>>,
    _dir: Folder,
}

/// A folder that is removed with its process, in the background since it may have many files.
#[derive(Debug)]
struct Folder(Option<TempDir>);

impl Drop for Folder {
    fn drop(&mut self) {
        let dir = self.0.take();
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn_blocking(move || drop(dir));
        }
    }
}

impl Supervisor {
    /// Starts an agent and waits until it is ready.
    ///
    /// # Errors
    /// [`StartError`], with the agent's last output. Nothing is left running in that case.
    pub async fn start(&self, launch: &Launch) -> Result<Process, (StartError, String)> {
        let Self { guard, temp, .. } = self;
        let program = launch.program.display().to_string();
        let ours = |problem: String| {
            let program = program.clone();
            (StartError::Ours { program, problem }, String::new())
        };
        let dir = tempfile::Builder::new()
            .prefix(FOLDER)
            .permissions(Permissions::from_mode(0o700))
            .tempdir_in(temp);
        let shown = temp.display();
        let dir =
            dir.map_err(|error| ours(format!("cannot create a folder in {shown}: {error}")))?;
        let (listen, url, port) = address(launch.listen, dir.path()).map_err(ours)?;
        let mut plan = self.sandbox.plan_of(launch, dir.path(), port);
        let shown = dir.path().display();
        let folders = Folders::create(dir.path(), plan.user)
            .map_err(|error| ours(format!("cannot create folders in {shown}: {error}")))?;
        // Without a sandbox, an agent may write to its unpacked package.
        let package = match plan.layers.is_empty() {
            true => folders.work.clone(),
            false => folders.package.clone(),
        };
        let unpacked = unpacked(&launch.program, &package).await;
        let unpacked = unpacked.map_err(|error| match error {
            PackageError::Content(problem) => (StartError::Package { problem }, String::new()),
            PackageError::Io(error) => ours(format!("cannot unpack it into {shown}: {error}")),
        })?;
        let (start, command) = match unpacked {
            Some(command) => (package, command),
            None => {
                plan.readable.push(launch.program.clone());
                let program = (launch.program.clone().into_os_string(), Vec::new());
                (folders.work, program)
            }
        };
        let variables = env::vars_os().filter(|(name, _)| name != "ARENA_TOKEN_FILE");
        let mut started = Command::new(&guard.program);
        started
            .args(&guard.args)
            .args(plan_args(&plan))
            .arg("--")
            .arg(&command.0)
            .args(&command.1)
            .args(&launch.args)
            .current_dir(&start)
            .env_clear()
            .envs(arena_sandbox::environment(&plan, variables))
            .env("PWD", &start)
            .env_remove("OLDPWD")
            .env("ARENA_LISTEN", &listen)
            // Output before a crash or during a game is complete then.
            .env("PYTHONUNBUFFERED", "1")
            .env(MARK, dir.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        let child = match &launch.cores {
            None => started.spawn(),
            Some(cores) => on_cores(cores, || started.spawn()).map_err(|error| {
                let problem = error.desc();
                ours(format!("cannot confine it to cores {cores}: {problem}"))
            })?,
        };
        let child = child.map_err(|error| ours(format!("{}: {error}", guard.program.display())))?;

        let file = self.folder.as_deref().and_then(|folder| {
            let id = child.id().unwrap_or_default();
            let path = folder.join(format!("{}-{id}.log", launch.name));
            let file = File::options().append(true).create(true).open(&path);
            let failed = |error: &io::Error| {
                tracing::warn!(path = %path.display(), %error, "an agent's output is not kept");
            };
            file.inspect_err(failed).ok()
        });
        let output = Arc::new(Output::to_file(file));
        if let Some(outputs) = &self.outputs {
            outputs.push(output.clone());
        }
        let guard_id = child.id();
        let flood = Arc::new(OnceLock::new());
        let (ended, exit) = watch::channel(None);
        let (stop, stopped) = oneshot::channel();
        tokio::spawn(attend(
            child,
            dir.path().to_owned(),
            launch.limits.output_bytes,
            (output.clone(), flood.clone()),
            stopped,
            ended,
            self.running.subscribe(),
        ));
        let connected = ready(&url, launch, &listen, exit.clone()).await;
        match connected {
            Ok(channel) => Ok(Process {
                channel,
                guard: guard_id,
                output,
                exit,
                flood,
                stop: Some(stop),
                _dir: Folder(Some(dir)),
            }),
            Err(error) => {
                drop(stop);
                let mut exit = exit;
                let _ = exit.wait_for(Option::is_some).await;
                Err((error, output.tail()))
            }
        }
    }
}

impl Process {
    /// The connection of the health check.
    #[must_use]
    pub fn channel(&self) -> &Channel {
        &self.channel
    }

    /// Ids of its processes, without the guard.
    pub(crate) fn processes(&self) -> Vec<i32> {
        let guard = self.guard.map(|id| Pid::from_raw(id as i32));
        let listed = guard.map(tree::descendants).unwrap_or_default();
        listed.into_iter().collect()
    }

    /// How it ended, if it did.
    #[must_use]
    pub fn exit(&self) -> Option<Exit> {
        *self.exit.borrow()
    }

    /// Reports that it wrote too much, before it is ended for that: its last answers may be errors
    /// of writing.
    #[must_use]
    pub fn flood(&self) -> Option<Exit> {
        self.flood.get().copied()
    }

    /// Waits briefly for the report of its end: a connection breaks before the guard's report
    /// arrives.
    pub async fn exit_within(&self, limit: Duration) -> Option<Exit> {
        let mut exit = self.exit.clone();
        match time::timeout(limit, exit.wait_for(Option::is_some)).await {
            Ok(Ok(exit)) => *exit,
            Ok(Err(_)) => Some(Exit::Stopped),
            Err(_) => None,
        }
    }

    /// Its output to stdout and stderr.
    #[must_use]
    pub fn output(&self) -> &Arc<Output> {
        &self.output
    }

    /// Ends it, and waits until nothing of it is left.
    pub async fn stop(mut self) {
        self.stop = None;
        let _ = self.exit.wait_for(Option::is_some).await;
    }
}

/// The command of a package, unpacked for this process alone, so that no other one sees its
/// changes to the folder. None for a program that is started as it is.
async fn unpacked(
    program: &Path,
    folder: &Path,
) -> Result<Option<(OsString, Vec<OsString>)>, PackageError> {
    let (program, folder) = (program.to_owned(), folder.to_owned());
    let unpacking = tokio::task::spawn_blocking(move || {
        // A missing program is started, so that this is reported.
        if !package::is_package(&program).unwrap_or_default() {
            return Ok(None);
        }
        fs::create_dir_all(&folder)?;
        let manifest = package::unpack(&program, &folder)?;
        Ok(Some(manifest.command(&folder)))
    });
    unpacking.await.map_err(io::Error::other)?
}

/// The address for the child and for the worker's connection.
fn address(listen: Listen, dir: &Path) -> Result<(String, String, Option<u16>), String> {
    match listen {
        Listen::Unix => {
            let socket = dir.join(SOCKET);
            let path = socket.display().to_string();
            if path.len() > SOCKET_PATH_BYTES {
                return Err(format!(
                    "{path} is too long for a unix socket; choose a shorter folder for \
                     temporary files (TMPDIR)"
                ));
            }
            let url = format!("unix:{path}");
            Ok((url.clone(), url, None))
        }
        Listen::Tcp => {
            let port = TcpListener::bind("127.0.0.1:0")
                .and_then(|socket| socket.local_addr())
                .map_err(|error| format!("no free port: {error}"))?;
            Ok((
                port.to_string(),
                format!("http://{port}"),
                Some(port.port()),
            ))
        }
    }
}

/// Polls until the agent serves, has ended, or its time is over.
async fn ready(
    url: &str,
    launch: &Launch,
    listen: &str,
    mut exit: watch::Receiver<Option<Exit>>,
) -> Result<Channel, StartError> {
    let program = launch.program.display().to_string();
    let deadline = Instant::now() + launch.limits.start;
    let mut last = "the agent does not listen there".to_owned();
    let poll = async {
        let mut wait = POLL_FIRST;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match time::timeout(left, serving(url)).await {
                Ok(Ok(channel)) => return channel,
                Ok(Err(Some(problem))) => last = problem,
                Ok(Err(None)) => {}
                Err(_) => last = "no answer to the health check".to_owned(),
            }
            time::sleep(wait).await;
            wait = (wait * 2).min(POLL_LAST);
        }
    };
    let answer = tokio::select! {
        channel = poll => return Ok(channel),
        exit = exit.wait_for(Option::is_some) => Some(exit.ok().and_then(|exit| *exit)),
        () = time::sleep_until(deadline.into()) => None,
    };
    Err(match answer {
        Some(Some(exit @ (Exit::Refused(_) | Exit::Unconfined(_)))) => StartError::Ours {
            program,
            problem: exit.to_string(),
        },
        Some(exit) => StartError::Exited {
            exit: exit.unwrap_or(Exit::Stopped),
        },
        None => StartError::Slow {
            listen: listen.to_owned(),
            limit: launch.limits.start,
            last,
        },
    })
}

/// A connection that answers SERVING; else the last answer, if any.
async fn serving(url: &str) -> Result<Channel, Option<String>> {
    let endpoint = connect::endpoint(url).map_err(|_| None)?;
    let channel = endpoint.connect().await.map_err(|_| None)?;
    match connect::health(&channel).await {
        Ok(ServingStatus::Serving) => Ok(channel),
        Ok(other) => {
            let other = other.as_str_name();
            Err(Some(format!("the health check answers {other}")))
        }
        Err(status) if status.code() == Code::Unimplemented => Err(Some(
            "it has no grpc.health.v1 service, which every agent needs".to_owned(),
        )),
        Err(status) => {
            let message = status.message();
            Err(Some(format!("the health check failed: {message}")))
        }
    }
}

/// Watches a guard until it has ended: reads its output, and ends it on request.
async fn attend(
    mut child: Child,
    mark: PathBuf,
    limit: u64,
    (kept, flood): (Arc<Output>, Arc<OnceLock<Exit>>),
    stopped: oneshot::Receiver<()>,
    ended: watch::Sender<Option<Exit>>,
    running: watch::Receiver<()>,
) {
    let group = child.id();
    let input = child.stdin.take();
    let (output, stderr) = (child.stdout.take(), child.stderr.take());
    let written = async {
        if let Some(stderr) = stderr {
            drain(stderr, limit, &kept, &flood).await;
        }
    };
    let report = report(output);
    tokio::pin!(written, report);

    let mut read = false;
    // Whichever comes first: a stop, too much output, or the end.
    let mut exit = tokio::select! {
        _ = stopped => Some(Exit::Stopped),
        () = &mut written => {
            read = true;
            if flood.get().is_some() {
                None
            } else {
                // The guard held it open: it is gone.
                time::timeout(END_TIMEOUT, &mut report).await.ok().flatten()
            }
        }
        how = &mut report => how,
    };
    drop(input);
    // Without a report, the guard itself was ended, or is no guard: processes of the agent are
    // left, and hold the pipe open.
    if exit.is_none() && flood.get().is_none() {
        end_marked(&mark).await;
    }
    if !read {
        // The rest of its output explains its end.
        read = time::timeout(END_TIMEOUT, &mut written).await.is_ok();
    }
    if exit != Some(Exit::Stopped) {
        exit = flood.get().copied().or(exit);
    }
    let over = time::timeout(END_TIMEOUT, child.wait()).await;
    if (!read || over.is_err())
        && let Some(group) = group
    {
        let _ = killpg(Pid::from_raw(group as i32), Signal::SIGKILL);
    }
    // A process that cannot even be killed is not awaited.
    let status = time::timeout(END_TIMEOUT, child.wait()).await;
    let killed = !matches!(status, Ok(Ok(status)) if status.code().is_some());
    if killed {
        end_marked(&mark).await;
    }
    let exit = exit.unwrap_or_else(|| match status {
        Ok(Ok(status)) => {
            let code = Exit::Code(status.code().unwrap_or(0));
            status.signal().map_or(code, Exit::Signal)
        }
        Ok(Err(error)) => Exit::Refused(error.raw_os_error().unwrap_or(Errno::EIO as i32)),
        Err(_) => Exit::Signal(Signal::SIGKILL as i32),
    });
    ended.send_replace(Some(exit));
    drop(running);
}

/// Ends every process with the mark of an agent, and those they start meanwhile.
async fn end_marked(mark: &Path) {
    let deadline = Instant::now() + END_TIMEOUT;
    loop {
        let left = tree::with_variable(MARK, mark.as_os_str());
        if left.is_empty() || Instant::now() >= deadline {
            return;
        }
        for process in left {
            let _ = kill(process, Signal::SIGKILL);
        }
        time::sleep(POLL_FIRST).await;
    }
}

/// Reads all output. If there is too much, stops reading and reports that.
async fn drain(mut output: ChildStderr, limit: u64, kept: &Output, flood: &OnceLock<Exit>) {
    let mut buffer = vec![0; 16 << 10];
    let mut total: u64 = 0;
    loop {
        match output.read(&mut buffer).await {
            Ok(0) | Err(_) => return,
            Ok(count) => {
                kept.push(&buffer[..count]);
                total += count as u64;
                if total > limit {
                    // Before the pipe is closed, which the agent notices.
                    let _ = flood.set(Exit::OutputLimit(limit));
                    return;
                }
            }
        }
    }
}

/// The guard's report on the agent's end.
async fn report(output: Option<ChildStdout>) -> Option<Exit> {
    let mut line = String::new();
    output?.read_to_string(&mut line).await.ok()?;
    Some(match Report::from_line(&line)? {
        Report::Exited(code) => Exit::Code(code),
        Report::Signalled(signal) => Exit::Signal(signal),
        Report::Exceeded(limit, value) => Exit::Exceeded(limit, value),
        Report::Unconfined(missing) => Exit::Unconfined(missing),
        Report::Refused(errno) => Exit::Refused(errno),
    })
}
