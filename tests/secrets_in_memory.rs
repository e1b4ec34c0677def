//! An agent that tries to read the memory of its worker: `sandbox/memory.c`. Without a sandbox, it
//! gets what only the worker's memory has. In a sandbox, each way is refused.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::Write,
    os::unix::{
        fs::{PermissionsExt, chown},
        process::CommandExt,
    },
    path::Path,
    process::Command,
};

use arena_model::SandboxLevel;
use arena_tests::{Games, World, arena, repository, spec, until};
use nix::unistd::Uid;

/// The unprivileged user of the tests that root runs.
const OTHER: u32 = 65_534;
/// Variables of the worker, each with a secret.
const VARIABLES: usize = 62;
/// What the secrets start with, and no other text.
const CANARY: &str = "canary-51c7";
/// The ways that the program tries.
const WAYS: [&str; 9] = [
    "file",
    "maps",
    "environ",
    "cmdline",
    "mem",
    "task",
    "process_vm_readv",
    "PTRACE_SEIZE",
    "PTRACE_ATTACH",
];

/// What is left of a tournament with the agent.
struct Seen {
    /// What the agent printed.
    output: Vec<u8>,
    /// What it copied to a file outside of its own folder.
    copied: Vec<u8>,
    /// Metrics, logs and records.
    others: Vec<u8>,
    /// By name: secrets of which the worker had the only copy, or one in its environment.
    secrets: Vec<(String, Vec<u8>)>,
    /// The seed of the block, as the memory of the worker has it. Records have it, too.
    seed: Vec<u8>,
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

/// The names of the secrets that a text has. It may be long, so it is read once.
fn found<'a>(text: &[u8], secrets: &'a [(String, Vec<u8>)]) -> BTreeSet<&'a str> {
    let mut starts: BTreeMap<u8, Vec<&'a (String, Vec<u8>)>> = BTreeMap::new();
    for secret in secrets {
        starts.entry(secret.1[0]).or_default().push(secret);
    }
    let mut is_start = [false; 256];
    starts
        .keys()
        .for_each(|&byte| is_start[usize::from(byte)] = true);
    let mut found = BTreeSet::new();
    for (at, byte) in text.iter().enumerate() {
        if is_start[usize::from(*byte)] {
            let here = starts[byte]
                .iter()
                .filter(|it| text[at..].starts_with(&it.1));
            found.extend(here.map(|(name, _)| name.as_str()));
        }
    }
    found
}

/// The program, compiled.
fn program(world: &World) -> String {
    let program = world.folder().join("memory");
    let source = repository().join("tests/sandbox/memory.c");
    let mut cc = Command::new("cc");
    let built = cc.arg("-O1").arg("-o").arg(&program).arg(source).status();
    assert!(built.expect("a C compiler").success());
    program.display().to_string()
}

/// A folder that the user of the worker may write.
fn folder_of(world: &World, name: &str, user: Option<u32>) -> String {
    let path = world.folder().join(name);
    fs::create_dir(&path).expect("a folder");
    chown(&path, user, user).expect("an owner");
    path.display().to_string()
}

fn read_all(folder: &str) -> Vec<u8> {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    let texts = entries.filter_map(|entry| fs::read(entry.path()).ok());
    texts.flatten().collect()
}

/// Plays the agent with a worker of this user, whose secrets are in its environment, a file and its
/// memory. Its token is only in its memory: the file is removed.
fn attack(level: SandboxLevel, user: Option<u32>) -> Seen {
    let world = World::new();
    let open = fs::Permissions::from_mode(0o755);
    fs::set_permissions(world.folder(), open).expect("permissions");
    let coordinator = world.coordinator("data", &[]);
    let url = coordinator.url();
    let folder = folder_of(&world, "worker", user);
    let printed = folder_of(&world, "output", user);
    let token = format!("{folder}/worker.token");
    let create = ["token", "create", "--role", "worker", "--write", &token];
    let _ = world
        .arena(&[&create[..], &["--coordinator", &url]].concat())
        .ok();
    chown(&token, user, user).expect("an owner");
    let text = fs::read_to_string(&token).expect("a token");
    let secret = text.trim().rsplit_once('-').expect("a secret").1;
    let mut secrets = vec![
        ("the token".to_owned(), hex::decode(secret).expect("hex")),
        ("the token as text".to_owned(), secret.as_bytes().to_vec()),
    ];
    let mut command = world.command(arena());
    for number in 0..VARIABLES {
        let value = format!("{CANARY}-variable-{number:02}-");
        command.env(format!("SECRET_{number}"), &value);
        secrets.push((format!("variable {number}"), value.into_bytes()));
    }
    let file = format!("{CANARY}-file");
    fs::write(Path::new(&folder).join("secret"), &file).expect("a file");
    command
        .env("HOME", &folder)
        .env("ARENA_TOKEN_FILE", &token)
        .args(["worker", "--coordinator", &url, "--sandbox", level.name()])
        .args(["--metrics", "127.0.0.1:0", "--agent-output", &printed])
        .env("ARENA_LOG", "debug");
    if let Some(user) = user {
        command.uid(user).gid(user);
    }
    let worker = world.serve(command);
    until("the worker to join", || {
        (coordinator.metric("arena_workers", &[]) >= 1.0).then_some(())
    });
    fs::remove_file(&token).expect("the file");
    let copied = folder_of(&world, "copied", user);
    let register = ["agent", "register", "mine", "--binary", &program(&world)];
    let access = ["--coordinator", &url];
    let (id, copy) = (worker.id().to_string(), format!("{copied}/copy"));
    let program = ["--", &id, &copy];
    let _ = world
        .arena(&[&register[..], &access, &program].concat())
        .ok();
    let more = format!("[play]\nsandbox = \"{level}\"\nmove_timeout = \"60s\"");
    let spec = spec("memory", "kalah", 1, &["mine", "random"], &more);
    let tournament = world.start_tournament("memory", &spec, &url);
    world.finish_tournament(&tournament, &url);
    let output = until("output of the agent", || {
        let output = read_all(&printed);
        contains(&output, b"\nATTACKED").then_some(output)
    });
    let Games { text, games } = world.export(&tournament, access);
    let seed = games[0]["seed"].as_str().expect("a seed");
    let seed = u64::from_str_radix(seed.trim_start_matches("0x"), 16).expect("hex");
    let metrics = worker.metrics() + &coordinator.metrics();
    let logs = worker.log() + &coordinator.log();
    worker.stop();
    coordinator.stop();
    world.nothing_runs();
    secrets.push(("the file".to_owned(), file.into_bytes()));
    Seen {
        output,
        copied: read_all(&copied),
        others: (metrics + &logs + &text).into_bytes(),
        secrets,
        seed: seed.to_ne_bytes().to_vec(),
    }
}

/// The lines of the ways, and whether each was refused.
fn ways(output: &[u8]) -> Vec<(String, bool)> {
    let text = String::from_utf8_lossy(output);
    let lines = text.lines().filter_map(|line| line.strip_prefix("WAY "));
    let ways = lines.map(|line| {
        let way = line.split(['/', ' ']).next().unwrap_or_default();
        (way.to_owned(), line.ends_with(" refused"))
    });
    let ways: Vec<_> = ways.take(WAYS.len()).collect();
    let names: Vec<&str> = ways.iter().map(|(way, _)| way.as_str()).collect();
    assert_eq!(names, WAYS, "{text}");
    ways
}

/// Whether this kernel lets a process trace another one of its user.
fn may_trace(user: Option<u32>) -> bool {
    let scope = fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").unwrap_or_default();
    let is_root = Uid::effective().is_root() && user.is_none();
    match scope.trim() {
        "" | "0" => true,
        "1" | "2" => is_root,
        _ => false,
    }
}

fn check(user: Option<u32>) {
    if may_trace(user) {
        let seen = attack(SandboxLevel::None, user);
        let refused = ways(&seen.output)
            .into_iter()
            .filter(|(_, refused)| *refused);
        assert_eq!(refused.collect::<Vec<_>>(), [], "without a sandbox");
        let found = found(&seen.copied, &seen.secrets);
        for (name, _) in &seen.secrets {
            // The worker does not read the file, and keeps one form of the token.
            let is_kept = found.contains(name.as_str()) || name.starts_with("the ");
            assert!(is_kept, "{name} is not in the memory of the worker");
        }
        let tokens = ["the token", "the token as text"];
        let token = tokens.iter().any(|&name| found.contains(name));
        assert!(token, "the token is not in the memory of the worker");
        assert!(contains(&seen.copied, &seen.seed), "the seed of the block");
    } else {
        let _ = writeln!(
            std::io::stderr(),
            "skipped reading memory without a sandbox: ptrace_scope forbids it"
        );
    }
    for level in [SandboxLevel::Kernel, SandboxLevel::Strict] {
        let seen = attack(level, user);
        let allowed = ways(&seen.output)
            .into_iter()
            .filter(|(_, refused)| !refused);
        assert_eq!(allowed.collect::<Vec<_>>(), [], "{level}");
        assert!(seen.copied.is_empty(), "{level}");
        assert!(!contains(&seen.output, &seen.seed), "{level}: the seed");
        for (place, text) in [("output", &seen.output), ("others", &seen.others)] {
            let found = found(text, &seen.secrets);
            assert!(found.is_empty(), "{level}: in the {place}: {found:?}");
        }
        let canary = CANARY.as_bytes();
        assert!(!contains(&seen.output, canary), "{level}: a part");
    }
}

#[test]
fn memory_of_the_worker_stays_with_it() {
    check(None);
}

#[test]
fn memory_of_an_unprivileged_worker_stays_with_it() {
    if Uid::effective().is_root() {
        check(Some(OTHER));
    } else {
        let _ = writeln!(
            std::io::stderr(),
            "skipped memory_of_an_unprivileged_worker_stays_with_it: this user is unprivileged, so \
             memory_of_the_worker_stays_with_it is the same test"
        );
    }
}
