//! Programs that try to leave the sandbox: `sandbox/escape.c`, started as a worker starts agents.
//! Without a sandbox they succeed. With one, none does; without the layers that
//! `data/escapes.toml` names for an escape, it succeeds again, or the program does not start.

use std::{
    collections::BTreeMap,
    env,
    ffi::OsStr,
    fs,
    io::{BufRead, BufReader, Write},
    net::{Ipv4Addr, TcpListener},
    os::{
        linux::net::SocketAddrExt,
        unix::{
            fs::{MetadataExt, PermissionsExt, chown},
            net::{SocketAddr, UnixDatagram, UnixListener},
            process::CommandExt,
        },
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::OnceLock,
};

use arena_model::SandboxLevel;
use arena_sandbox::{Layer, PACKAGE, Plan, RUN, SCRATCH, TreeLimits, cgroup};
use arena_tests::{arena, repository};
use arena_worker::guard::Report;
use nix::{
    sys::signal::{Signal, kill},
    unistd::{Pid, Uid, gethostname},
};
use serde::Deserialize;

/// The unprivileged user of the tests that root runs.
const OTHER: u32 = 65_534;
/// Limits that bombs exceed.
const LIMITS: TreeLimits = TreeLimits {
    memory_bytes: 128 << 20,
    processes: 48,
    disk_bytes: 32 << 20,
    cpu_ms: 500,
    cpus: 0,
};

/// The escapes to the local token of a coordinator of the same user.
const LOCAL_TOKEN: [&str; 2] = ["list_local_tokens", "read_local_token"];

/// The escape that only the limit of CPU time stops.
const BURNS: &str = "burn_processor";

/// An escape, as in the data file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Escape {
    /// The layers that stop it, each alone.
    layers: Vec<Layer>,
    /// The only user that could do it without a sandbox.
    #[serde(default)]
    user: Option<Who>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Who {
    Root,
    Other,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Outcome {
    Escaped,
    Stopped,
    NotStarted(Layer),
}

impl Escape {
    /// The lowest level that stops it.
    fn level(&self) -> SandboxLevel {
        let levels = self.layers.iter().map(|layer| layer.level());
        levels.min().expect("a layer")
    }

    fn is_for(&self, who: Who) -> bool {
        self.user.is_none_or(|user| user == who)
    }
}

fn escapes() -> BTreeMap<String, Escape> {
    toml::from_str(include_str!("data/escapes.toml")).expect("the data file")
}

/// The users as which this process can run programs.
fn users() -> Vec<Who> {
    match Uid::effective().is_root() {
        true => vec![Who::Root, Who::Other],
        false => vec![Who::Other],
    }
}

/// The compiled program, and a copy with the setuid bit.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, program) = PROGRAM.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("permissions");
        let program = folder.path().join("escape");
        let source = repository().join("tests/sandbox/escape.c");
        let built = Command::new("cc")
            .arg("-O1")
            .arg("-o")
            .arg(&program)
            .arg(source)
            .status();
        assert!(built.expect("a C compiler").success());
        let setuid = folder.path().join("setuid");
        fs::copy(&program, &setuid).expect("a copy");
        fs::set_permissions(&setuid, fs::Permissions::from_mode(0o4755)).expect("permissions");
        (folder, program)
    });
    program
}

/// What agents attack: a worker, an opponent, a coordinator, files.
struct World {
    who: Who,
    folder: tempfile::TempDir,
    worker: Child,
    opponent: Child,
    port: TcpListener,
    abstract_name: String,
    _sockets: (UnixListener, UnixDatagram),
}

impl World {
    fn new(who: Who) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path();
        for name in ["own", "opponent", "worker"] {
            fs::create_dir(path.join(name)).expect("a folder");
        }
        for folder in ["own", "opponent"] {
            for name in [RUN, SCRATCH, PACKAGE] {
                fs::create_dir(path.join(folder).join(name)).expect("a folder");
            }
        }
        for file in [
            "opponent/scratch/secret",
            "opponent/scratch/victim",
            "worker/secret",
            "cached",
            "spare",
        ] {
            fs::write(path.join(file), "canary").expect("a file");
        }
        let socket = UnixListener::bind(path.join("opponent/run/agent.sock")).expect("a socket");
        let abstract_name = format!("arena-{}", path.display());
        let address = SocketAddr::from_abstract_name(&abstract_name).expect("a name");
        let datagrams = UnixDatagram::bind_addr(&address).expect("a socket");
        let mut owned = vec![path.to_owned()];
        while let Some(path) = owned.pop() {
            if who == Who::Other && Uid::effective().is_root() {
                chown(&path, Some(OTHER), Some(OTHER)).expect("an owner");
            }
            if path.is_dir() {
                let entries = fs::read_dir(&path).expect("a folder");
                owned.extend(entries.map(|entry| entry.expect("an entry").path()));
            }
        }
        let sleep = || {
            let mut command = as_user(who, "sleep");
            command.arg("60").env("CANARY", "canary").process_group(0);
            command.spawn().expect("sleep")
        };
        Self {
            who,
            worker: sleep(),
            opponent: sleep(),
            port: TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port"),
            abstract_name,
            _sockets: (socket, datagrams),
            folder,
        }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    fn uid(&self) -> u32 {
        match self.who {
            Who::Root => 0,
            Who::Other if Uid::effective().is_root() => OTHER,
            Who::Other => Uid::effective().as_raw(),
        }
    }

    /// What the program has to know.
    fn arguments(&self) -> Vec<String> {
        let namespace = |name: &str| {
            let link = fs::read_link(format!("/proc/self/ns/{name}")).expect("a namespace");
            format!("ns_{name}={}", link.display())
        };
        let port = self.port.local_addr().expect("an address").port();
        let uid = self.uid();
        let host = gethostname().expect("a name");
        let device = fs::metadata(self.path("own/scratch"))
            .expect("a folder")
            .dev();
        let mut arguments = vec![
            format!("own={}", self.path("own")),
            format!("opponent={}", self.path("opponent")),
            format!("worker_folder={}", self.path("worker")),
            format!("secret={}", self.path("worker/secret")),
            format!("cached={}", self.path("cached")),
            format!("spare={}", self.path("spare")),
            format!("program={}", program().display()),
            format!("setuid={}", program().with_file_name("setuid").display()),
            format!("worker={}", self.worker.id()),
            format!("worker_group={}", self.worker.id()),
            format!("opponent_pid={}", self.opponent.id()),
            format!("abstract={}", self.abstract_name),
            format!("port={port}"),
            format!("uid={uid}"),
            format!("host={}", host.to_string_lossy()),
            format!("device={device}"),
        ];
        arguments.extend(["user", "pid", "mnt", "net", "ipc", "uts"].map(namespace));
        arguments
    }

    /// Tries an escape in a sandbox of these layers.
    fn attempt(self, name: &str, layers: &[Layer]) -> Outcome {
        let path = |name: &str| PathBuf::from(self.path(name));
        let mut arguments = self.arguments();
        let coordinator = LOCAL_TOKEN.contains(&name).then(|| Coordinator::of(&self));
        if let Some(coordinator) = &coordinator {
            arguments.extend(coordinator.arguments());
        }
        let plan = Plan {
            layers: layers.to_vec(),
            folder: path("own"),
            readable: vec![
                program().to_owned(),
                program().with_file_name("setuid"),
                path("cached"),
                path("spare"),
            ],
            limits: match layers.is_empty() {
                true => TreeLimits::default(),
                // On a busy machine, the start alone takes much time of the processor.
                false => TreeLimits {
                    cpu_ms: if name == BURNS { LIMITS.cpu_ms } else { 0 },
                    ..LIMITS
                },
            },
            ..Plan::default()
        };
        let plan = serde_json::to_string(&plan).expect("a plan");
        let mut command = as_user(self.who, "sh");
        command
            .args(["-c", "exec 9<\"$0\" \"$@\""])
            .arg(path("worker/secret"))
            .arg(arena())
            .args(["agent", "guard", "--plan", &plan, "--"])
            .arg(program())
            .arg(name)
            .args(arguments)
            .env("CANARY", "canary")
            .env("PWD", path("own/scratch"))
            .current_dir(path("own/scratch"))
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("a guard");
        let input = child.stdin.take();
        let output = child.wait_with_output().expect("its output");
        drop(input);
        let text = String::from_utf8_lossy(&output.stderr);
        let line = String::from_utf8_lossy(&output.stdout);
        match Report::in_output(&line) {
            Some(Report::Exited(0)) => Outcome::Escaped,
            Some(Report::Exited(7) | Report::Signalled(_) | Report::Exceeded(..)) => {
                assert!(!text.contains("canary"), "{name}: {text}");
                Outcome::Stopped
            }
            Some(Report::Unconfined(missing)) => Outcome::NotStarted(missing.layer),
            report => panic!("{name} as {:?}: {report:?} {text}", self.who),
        }
    }
}

/// A coordinator that has written its local token for the user of the worker.
struct Coordinator {
    process: Child,
    token: PathBuf,
}

impl Coordinator {
    fn of(world: &World) -> Self {
        let mut command = as_user(world.who, arena());
        command
            .args(["coordinator", "--data", &world.path("worker/data")])
            .args(["--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0"])
            .env_remove("XDG_RUNTIME_DIR")
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut process = command.spawn().expect("a coordinator");
        let mut line = String::new();
        let stdout = process.stdout.take().expect("a pipe");
        let read = BufReader::new(stdout).read_line(&mut line);
        read.expect("its addresses");
        let addresses: serde_json::Value = serde_json::from_str(&line).expect("JSON");
        let listen = addresses["listen"].as_str().expect("an address");
        let (_, port) = listen.rsplit_once(':').expect("a port");
        let token = format!("/tmp/arena-{}/{port}.token", world.uid()).into();
        Self { process, token }
    }

    fn arguments(&self) -> [String; 2] {
        assert!(self.token.is_file(), "{} is missing", self.token.display());
        let folder = self.token.parent().expect("a folder");
        [
            format!("local_token={}", self.token.display()),
            format!("local_tokens={}", folder.display()),
        ]
    }
}

impl Drop for Coordinator {
    fn drop(&mut self) {
        // It removes its token.
        let process = Pid::from_raw(self.process.id() as i32);
        let _ = kill(process, Signal::SIGTERM);
        let _ = self.process.wait();
    }
}

impl Drop for World {
    fn drop(&mut self) {
        for child in [&mut self.worker, &mut self.opponent] {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn as_user(who: Who, program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    if who == Who::Other && Uid::effective().is_root() {
        command.uid(OTHER).gid(OTHER);
    }
    command
}

/// Layers that this machine and user cannot have, although they have the level.
fn absent(who: Who) -> Vec<Layer> {
    match who {
        Who::Root if cgroup::Base::find().is_some() => Vec::new(),
        Who::Root => vec![Layer::Cgroup],
        Who::Other => vec![Layer::Cgroup, Layer::Uid],
    }
}

fn skip(what: &str, why: &str) {
    let _ = writeln!(std::io::stderr(), "skipped {what}: {why}");
}

/// Tries all escapes, and returns those whose outcome is not the expected one.
fn unexpected(
    layers: impl Fn(&Escape) -> Option<Vec<Layer>>,
    expected: impl Fn(&Outcome) -> bool,
) -> Vec<String> {
    let only = env::var("ARENA_ESCAPE").ok();
    let mut wrong = Vec::new();
    for who in users() {
        let absent = absent(who);
        for (name, escape) in escapes() {
            let Some(layers) = layers(&escape).filter(|_| escape.is_for(who)) else {
                continue;
            };
            if only.as_ref().is_some_and(|only| *only != name) {
                continue;
            }
            if escape.layers.iter().all(|layer| absent.contains(layer)) {
                skip(&name, "this user or machine has no such layer");
                continue;
            }
            let outcome = World::new(who).attempt(&name, &layers);
            if !expected(&outcome) {
                wrong.push(format!("{name} as {who:?}: {outcome:?}"));
            }
        }
    }
    wrong
}

#[test]
fn list_of_escapes_is_complete() {
    let output = Command::new(program()).arg("--list").output();
    let output = output.expect("the program").stdout;
    let mut names: Vec<String> = String::from_utf8_lossy(&output)
        .lines()
        .map(Into::into)
        .collect();
    // The program that others start.
    names.retain(|name| name != "print_user");
    names.sort();
    let escapes = escapes();
    assert_eq!(names, escapes.keys().cloned().collect::<Vec<_>>());
    for layer in Layer::ALL {
        let alone = escapes.values().filter(|escape| escape.layers == [*layer]);
        assert!(alone.count() > 0, "no escape is stopped by {layer} alone");
    }
}

#[test]
fn escapes_succeed_without_a_sandbox() {
    let wrong = unexpected(|_| Some(Vec::new()), |it| *it == Outcome::Escaped);
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn no_escape_succeeds_in_the_kernel_level() {
    let level = SandboxLevel::Kernel;
    let wrong = unexpected(
        |escape| (escape.level() <= level).then(|| Layer::of(level)),
        |outcome| *outcome == Outcome::Stopped,
    );
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn no_escape_succeeds_in_the_strict_level() {
    let wrong = unexpected(
        |_| Some(Layer::of(SandboxLevel::Strict)),
        |outcome| *outcome == Outcome::Stopped,
    );
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn each_layer_stops_its_escapes() {
    let wrong = unexpected(
        |escape| {
            let mut layers = Layer::of(escape.level());
            layers.retain(|layer| !escape.layers.contains(layer));
            Some(layers)
        },
        |outcome| *outcome != Outcome::Stopped,
    );
    assert!(wrong.is_empty(), "{wrong:#?}");
}
