//! One running agent process, seen from the worker.

use std::{
    env,
    fs::{self, File, Permissions},
    io,
    net::TcpListener,
    ops::Deref,
    os::unix::fs::PermissionsExt,
    path::Path,
    process::Stdio,
    sync::{Arc, OnceLock},
    time::Duration,
};

use arena_sandbox::usage;
use nix::unistd::Pid;
use tempfile::TempDir;
use tokio::{
    process::Command,
    runtime::Handle,
    sync::{oneshot, watch},
    time::{self, Instant},
};

use super::{
    Exit, Launch, Listen, Output, StartError, Supervisor,
    attend::{MARK, Written, attend},
    raw_link::{RawLink, RawPipes, RawSocket},
    ready::{StartTime, ready},
    sandbox::{Folders, plan_args},
};
use crate::{
    agent::link::Link,
    guard::tree,
    lines::{
        Lines,
        pipes::{self, Pipes, Stdout},
    },
    machine::on_cores,
    package::{self, Manifest, PackageError, Protocol},
};

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
    link: Link,
    guarded: Guarded,
}

impl Deref for Process {
    type Target = Guarded;

    fn deref(&self) -> &Guarded {
        &self.guarded
    }
}

/// A running process under a guard. Dropping it ends it, with everything it started.
#[derive(Debug)]
pub struct Guarded {
    /// Process id of its guard.
    guard: Option<u32>,
    output: Arc<Output>,
    exit: watch::Receiver<Option<Exit>>,
    flood: Arc<OnceLock<Exit>>,
    stop: Option<oneshot::Sender<()>>,
    folder: Folder,
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

/// The worker's ends of the pipes to a process, and its standard output if the supervisor reads it.
type Created<P> = (P, Option<(Stdout, Lines)>);

/// A process that was started, and where it listens.
struct Started<P> {
    guarded: Guarded,
    starts: oneshot::Receiver<Instant>,
    pipes: P,
    listen: String,
    url: String,
    /// True for an engine that speaks UCI.
    is_engine: bool,
}

impl Supervisor {
    /// Starts an agent and waits until it is ready.
    ///
    /// # Errors
    /// [`StartError`], with the agent's last output. Nothing is left running in that case.
    pub async fn start(&self, launch: &Launch) -> Result<Process, (StartError, String)> {
        let create = |folder: &Path| {
            let (pipes, stdout) = Pipes::create(folder)?;
            let lines = pipes.lines.clone();
            Ok((pipes, Some((stdout, lines))))
        };
        let Started {
            mut guarded,
            starts,
            pipes,
            listen,
            url,
            is_engine,
        } = self.spawn(launch, create).await?;
        let time = StartTime::new(starts, launch.limits.start);
        match ready(&url, launch, &listen, pipes, guarded.exit.clone(), time).await {
            Ok(link) => Ok(Process { link, guarded }),
            Err(mut error) => {
                if let StartError::Slow { used, .. } = &mut error {
                    *used = usage::cpu_time(&guarded.processes());
                }
                if let (
                    true,
                    StartError::Slow {
                        limit, used, setup, ..
                    },
                ) = (is_engine, &error)
                {
                    let (limit, used, setup) = (*limit, *used, *setup);
                    error = StartError::SlowEngine { limit, used, setup };
                }
                guarded.stop = None;
                let _ = guarded.exit.wait_for(Option::is_some).await;
                // At once: nothing else waits for it.
                drop(guarded.folder.0.take());
                Err((error, guarded.output.tail()))
            }
        }
    }

    /// Starts a process that answers for rules. It is not ready before its first answer.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub(crate) async fn start_rules(
        &self,
        launch: &Launch,
    ) -> Result<(Guarded, RawLink), (StartError, String)> {
        if serves_grpc(&launch.program).await {
            let create = |folder: &Path| {
                let (input, stdout) = pipes::create_silent(folder)?;
                Ok((input, Some(stdout)))
            };
            let started = self.spawn(launch, create).await?;
            let (url, input) = (started.url, started.pipes);
            return Ok((started.guarded, RawLink::Grpc(RawSocket { url, input })));
        }
        // Nothing connects to it.
        let launch = Launch {
            listen: Listen::Unix,
            ..launch.clone()
        };
        let create = |folder: &Path| Ok((RawPipes::create(folder)?, None));
        let started = self.spawn(&launch, create).await?;
        Ok((started.guarded, RawLink::Lines(started.pipes)))
    }

    async fn spawn<P>(
        &self,
        launch: &Launch,
        create: impl FnOnce(&Path) -> io::Result<Created<P>>,
    ) -> Result<Started<P>, (StartError, String)> {
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
        let (pipes, stdout) = create(&folders.run)
            .map_err(|error| ours(format!("cannot create pipes in {shown}: {error}")))?;
        let unpacked = unpacked(&launch.program, &package).await;
        let unpacked = unpacked.map_err(|error| match error {
            PackageError::Content(problem) => (StartError::Package { problem }, String::new()),
            PackageError::Io(error) => ours(format!("cannot unpack it into {shown}: {error}")),
        })?;
        let protocol = unpacked.as_ref().and_then(Manifest::protocol);
        let is_engine = protocol == Some(Protocol::Uci);
        let (start, command) = match unpacked {
            Some(manifest) => {
                let mut command = Vec::new();
                if is_engine {
                    plan.readable.push(guard.program.clone());
                    command = guard.uci();
                }
                let (program, args) = manifest.command(&package);
                command.push(program);
                command.extend(args);
                (package, command)
            }
            None => {
                plan.readable.push(launch.program.clone());
                (folders.work, vec![launch.program.clone().into_os_string()])
            }
        };
        let variables = env::vars_os().filter(|(name, _)| name != "ARENA_TOKEN_FILE");
        let mut started = Command::new(&guard.program);
        started
            .args(&guard.args)
            .args(plan_args(&plan))
            .arg("--")
            .args(&command)
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
        let (starting, starts) = oneshot::channel();
        let written = Written {
            stdout,
            kept: output.clone(),
            flood: flood.clone(),
            limit: launch.limits.output_bytes,
        };
        tokio::spawn(attend(
            child,
            dir.path().to_owned(),
            written,
            starting,
            stopped,
            ended,
            self.running.subscribe(),
        ));
        Ok(Started {
            guarded: Guarded {
                guard: guard_id,
                output,
                exit,
                flood,
                stop: Some(stop),
                folder: Folder(Some(dir)),
            },
            starts,
            pipes,
            listen,
            url,
            is_engine,
        })
    }
}

impl Process {
    /// The connection to the agent.
    pub(crate) fn link(&self) -> &Link {
        &self.link
    }

    /// Ends it, and waits until nothing of it is left.
    pub async fn stop(mut self) {
        self.guarded.stop = None;
        let _ = self.guarded.exit.wait_for(Option::is_some).await;
    }
}

impl Guarded {
    /// Ids of its processes, without the guard.
    pub(crate) fn processes(&self) -> Vec<i32> {
        let guard = self.guard.map(|id| Pid::from_raw(id as i32));
        let listed = guard.map(tree::descendants).unwrap_or_default();
        listed.into_iter().collect()
    }

    /// Its own folder, with its package.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.0.as_ref().map_or(Path::new("/"), TempDir::path)
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
}

/// The manifest of a package, unpacked for this process alone, so that no other one sees its
/// changes to the folder. None for a program that is started as it is.
async fn unpacked(program: &Path, folder: &Path) -> Result<Option<Manifest>, PackageError> {
    let (program, folder) = (program.to_owned(), folder.to_owned());
    let unpacking = tokio::task::spawn_blocking(move || {
        // A missing program is started, so that this is reported.
        if !package::is_package(&program).unwrap_or_default() {
            return Ok(None);
        }
        fs::create_dir_all(&folder)?;
        package::unpack(&program, &folder).map(Some)
    });
    unpacking.await.map_err(io::Error::other)?
}

/// True if a package says that it speaks gRPC. What cannot be read is reported when it is unpacked.
async fn serves_grpc(program: &Path) -> bool {
    let program = program.to_owned();
    let reading = tokio::task::spawn_blocking(move || package::protocol(&program));
    matches!(reading.await, Ok(Ok(Some(Protocol::Grpc))))
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
