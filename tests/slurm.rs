//! Workers as a job array of Slurm: a controller and a node of its own, on loopback.

use std::{
    fs,
    net::TcpListener,
    os::unix::fs::PermissionsExt,
    process::{Child, Command, Stdio},
};

use arena_tests::{World, arena, lacks, repository, spec, until};
use nix::{
    sys::signal::{Signal, kill},
    unistd::{Pid, Uid, gethostname},
};

const JOB: &str = "deploy/slurm/workers.sbatch";

/// A cluster of this machine alone. Its processes end with it.
struct Slurm<'a> {
    world: &'a World,
    running: Vec<Child>,
}

impl<'a> Slurm<'a> {
    fn start(world: &'a World) -> Self {
        let folder = world.folder().join("slurm");
        for name in ["", "state", "spool"] {
            fs::create_dir_all(folder.join(name)).expect("a folder");
        }
        let host = gethostname().expect("a name").into_string().expect("UTF-8");
        let host = host.split('.').next().expect("a part");
        let ports = [(); 2].map(|()| TcpListener::bind(("127.0.0.1", 0)).expect("a port"));
        let [controller, node] = ports.map(|port| port.local_addr().expect("an address").port());
        let at = folder.display();
        let settings = format!(
            "ClusterName=arena\nSlurmctldHost={host}(127.0.0.1)\nSlurmUser=root\n\
             AuthType=auth/munge\nAuthInfo=socket={at}/munge.socket\n\
             SlurmctldPort={controller}\nSlurmdPort={node}\n\
             StateSaveLocation={at}/state\nSlurmdSpoolDir={at}/spool\n\
             SlurmctldPidFile={at}/controller.pid\nSlurmdPidFile={at}/node.pid\n\
             SlurmctldLogFile={at}/controller.log\nSlurmdLogFile={at}/node.log\n\
             ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nMpiDefault=none\n\
             SelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\nReturnToService=2\n\
             NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN\n\
             PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n"
        );
        let _ = world.write("slurm/slurm.conf", settings);
        let key = world.write("slurm/munge.key", [7; 128]);
        fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).expect("it is ours");
        let mut slurm = Self {
            world,
            running: Vec::new(),
        };
        let munge = ["key", "socket", "pid", "log", "seed"].map(|what| match what {
            "socket" => format!("--socket={at}/munge.socket"),
            what => format!("--{what}-file={at}/munge.{what}"),
        });
        let foreground = [
            &["--foreground", "--force"][..],
            &munge.each_ref().map(|it| &**it),
        ];
        slurm.serve("munged", &foreground.concat());
        until("munge", || {
            folder.join("munge.socket").exists().then_some(())
        });
        slurm.serve("slurmctld", &["-D"]);
        slurm.serve("slurmd", &["-D"]);
        until("the node", || {
            slurm
                .run("sinfo", &["-h", "-o", "%T"])
                .contains("idle")
                .then_some(())
        });
        slurm
    }

    fn command(&self, program: &str) -> Command {
        let mut command = self.world.command(program);
        command.env("SLURM_CONF", self.world.folder().join("slurm/slurm.conf"));
        command
    }

    fn serve(&mut self, program: &str, arguments: &[&str]) {
        let mut command = self.command(program);
        command
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        self.running.push(command.spawn().expect("a server"));
    }

    /// Runs a command; its output is empty if it fails.
    fn run(&self, program: &str, arguments: &[&str]) -> String {
        let output = self
            .command(program)
            .args(arguments)
            .output()
            .expect("a program");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Waits for the end of a task, and returns how it ended.
    fn ended(&self, task: &str) -> String {
        until("the end of a task", || {
            let shown = self.run("scontrol", &["show", "job", "-o", task]);
            let word = |key: &str| {
                let word = shown
                    .split_whitespace()
                    .find_map(|word| word.strip_prefix(key));
                word.unwrap_or_default().to_owned()
            };
            let state = word("JobState=");
            let open = ["PENDING", "RUNNING", "COMPLETING", ""];
            (!open.contains(&&*state)).then(|| format!("{state} {}", word("ExitCode=")))
        })
    }
}

impl Drop for Slurm<'_> {
    fn drop(&mut self) {
        // The node first: it ends its jobs.
        for mut server in self.running.drain(..).rev() {
            let _ = kill(Pid::from_raw(server.id() as i32), Signal::SIGTERM);
            let _ = server.wait();
        }
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "tests are reported there")]
fn job_array_plays_and_ends_without_games() {
    if !Uid::effective().is_root() {
        println!("skipped: only root can start a node of Slurm");
        return;
    }
    if lacks(
        "Slurm",
        &["munged", "slurmctld", "slurmd", "sbatch", "srun"],
    ) {
        return;
    }
    let world = World::new();
    let slurm = Slurm::start(&world);
    let coordinator = world.coordinator("data", &[]);
    let url = coordinator.url();
    let create = ["token", "create", "--role", "worker", "--data", "data"];
    let _ = world
        .arena(&[&create[..], &["--write", "token"]].concat())
        .ok();
    let spec = spec("array", "kalah", 200_000, &["greedy", "random"], "");
    let id = world.start_tournament("array", &spec, &url);
    let mut submit = slurm.command("sbatch");
    let programs = arena().parent().expect("a folder").to_owned();
    let paths = std::env::var_os("PATH").expect("a search path");
    let paths = std::env::split_paths(&paths).collect::<Vec<_>>();
    let paths = std::env::join_paths([vec![programs], paths].concat()).expect("paths");
    let submitted = submit
        .env("PATH", paths)
        .env("ARENA_COORDINATOR", &url)
        .env("ARENA_TOKEN_FILE", world.folder().join("token"))
        .env("ARENA_WORKER_IDLE_EXIT", "1s")
        .args(["--parsable", "--array=1-2", "--cpus-per-task=1"])
        .arg(repository().join(JOB))
        .output()
        .expect("sbatch");
    let job = String::from_utf8_lossy(&submitted.stdout).trim().to_owned();
    assert!(submitted.status.success(), "{submitted:?}");
    let workers = || coordinator.metric("arena_workers", &[]);
    until("two workers", || (workers() == 2.0).then_some(()));
    // As at the end of its time.
    let first = format!("{job}_1");
    let _ = slurm.run("scancel", &["--signal=TERM", &first]);
    assert_eq!(slurm.ended(&first), "COMPLETED 0:0");
    let games = || coordinator.metric("arena_games_total", &[]);
    let before = games();
    until("games of the other", || (games() > before).then_some(()));
    // The gauges are written at intervals.
    until("one worker", || (workers() == 1.0).then_some(()));
    let cancel = ["tournament", "cancel", &id, "--coordinator", &url];
    let _ = world.arena(&cancel).ok();
    assert_eq!(slurm.ended(&format!("{job}_2")), "COMPLETED 0:0");
    drop(slurm);
    coordinator.stop();
    world.nothing_runs();
}
