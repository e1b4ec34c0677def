use std::{
    fs,
    io::Write,
    os::unix::{fs::PermissionsExt, process::CommandExt},
};

use arena_tests::{World, arena, spec, until};
use nix::unistd::{Uid, User};

/// A user without privileges.
const OTHER: u32 = 65_534;

/// Where no coordinator is.
const NOWHERE: &str = "http://127.0.0.1:1";

/// The line of `/proc/PID/status` with this name, word by word.
fn status(pid: i32, name: &str) -> Vec<u32> {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let words = line.expect("a line").split_whitespace();
    words.map(|word| word.parse().expect("a number")).collect()
}

/// Plays an agent with this user, and checks whose process it is.
fn check_user(level: &str, user: &str, expected: [u32; 2]) {
    let world = World::new();
    let new = ["agent", "new", "--lang", "bash", "mine"];
    let _ = world.arena(&new).ok();
    let coordinator = world.coordinator("data", &[]);
    let url = coordinator.url();
    let register = ["agent", "register", "mine", "--binary", "mine"];
    let _ = world
        .arena(&[&register[..], &["--coordinator", &url]].concat())
        .ok();
    let worker = world.worker(&coordinator, &["--sandbox", level, "--agent-user", user]);
    let play = format!("[play]\nsandbox = \"{level}\"");
    let spec = spec("user", "kalah", 200_000, &["mine", "random"], &play);
    let _ = world.start_tournament("user", &spec, &url);
    until("a game", || {
        (coordinator.metric("arena_games_total", &[]) >= 1.0).then_some(())
    });
    let is_agent = |line: &str| line.contains("agent.sh") && !line.contains("agent guard");
    let mut processes = world.processes().into_iter();
    let (agent, _) = processes
        .find(|(_, line)| is_agent(line))
        .expect("the agent runs");
    let [uid, gid] = expected;
    assert_eq!(status(agent, "Uid:"), [uid; 4], "{level}");
    assert_eq!(status(agent, "Gid:"), [gid; 4], "{level}");
    assert_eq!(status(agent, "Groups:"), [0; 0], "{level}");
    assert_eq!(coordinator.metric("arena_faults_total", &[]), 0.0);
    worker.stop();
    coordinator.stop();
    world.nothing_runs();
}

#[test]
fn agents_have_the_user_of_agent_user() {
    if !Uid::effective().is_root() {
        let _ = writeln!(
            std::io::stderr(),
            "skipped agents_have_the_user_of_agent_user: only root can change the user"
        );
        return;
    }
    for level in ["none", "kernel", "strict"] {
        check_user(level, "1234567", [1_234_567; 2]);
    }
    let account = User::from_name("nobody").expect("the users");
    if let Some(account) = account {
        check_user(
            "kernel",
            "nobody",
            [account.uid.as_raw(), account.gid.as_raw()],
        );
    }
}

#[test]
fn unknown_agent_user_is_refused() {
    let world = World::new();
    for user in ["no-such-user", "-1", ""] {
        let flag = format!("--agent-user={user}");
        let worker = ["worker", "--coordinator", NOWHERE, &flag];
        let expected = ["--agent-user", "no user of this name", "give the number"];
        world.arena(&worker).fails(2, &expected);
    }
}

#[test]
fn only_root_can_set_the_agent_user() {
    let world = World::new();
    let open = fs::Permissions::from_mode(0o755);
    fs::set_permissions(world.folder(), open).expect("permissions");
    let mut command = world.command(arena());
    command.args(["worker", "--coordinator", NOWHERE, "--agent-user", "1234"]);
    if Uid::effective().is_root() {
        command.uid(OTHER).gid(OTHER);
    }
    let expected = ["--agent-user", "only root", "start the worker as root"];
    world.run(command).fails(2, &expected);
}
