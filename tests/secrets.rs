use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    path::Path,
    process::Command,
};

use arena_access::ClientTls;
use arena_tests::{Server, World, arena, spec, until};
use nix::sys::signal::Signal;

/// Number of tokens, with that of the data folder.
const TOKENS: usize = 64;
const ROLES: [&str; 4] = ["viewer", "submitter", "worker", "admin"];
const CA: [&str; 2] = ["--tls-ca", "tls/ca.pem"];

/// What must not be seen: as text, and as the bytes that the text stands for.
struct Secrets {
    secrets: Vec<(String, Vec<u8>)>,
    /// Whether a secret starts with these two bytes.
    starts: Vec<bool>,
}

impl Secrets {
    fn new() -> Self {
        Self {
            secrets: Vec::new(),
            starts: vec![false; 1 << 16],
        }
    }

    fn add(&mut self, path: &Path, secret: &[u8]) {
        self.starts[start(secret)] = true;
        let name = path.display().to_string();
        self.secrets.push((name, secret.to_vec()));
    }

    fn add_token(&mut self, path: &Path) {
        let text = fs::read_to_string(path).expect("a token");
        let secret = text.trim().rsplit_once('-').expect("a secret").1;
        self.add(path, secret.as_bytes());
        self.add(path, &hex::decode(secret).expect("hex"));
    }

    fn add_key(&mut self, path: &Path) {
        let text = fs::read_to_string(path).expect("a key");
        let lines: Vec<_> = text.lines().filter(|line| !line.starts_with('-')).collect();
        // Of a PKCS #8 key of the curve P-256, bytes 36 to 68 are secret; then the public key
        // follows. Four characters of base64 are three bytes.
        self.add(path, &lines[1].as_bytes()[..24]);
        self.add(path, &base64(lines[1])[..18]);
    }

    fn check(&self, place: &str, bytes: &[u8]) {
        for at in 0..bytes.len().saturating_sub(1) {
            if self.starts[start(&bytes[at..])] {
                let starting = |it: &&(String, Vec<u8>)| bytes[at..].starts_with(&it.1);
                let found = self.secrets.iter().find(starting);
                let found = found.map(|(name, _)| name);
                assert_eq!(found, None, "its secret is in {place}");
            }
        }
    }

    /// Checks all files but those that users keep secret.
    fn check_folder(&self, folder: &Path) -> usize {
        let mut files = 0;
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            let kind = entry.file_type().expect("a type");
            let ending = path.extension().and_then(|ending| ending.to_str());
            if kind.is_dir() {
                files += self.check_folder(&path);
            } else if kind.is_file() && !matches!(ending, Some("token" | "key")) {
                // One that was removed meanwhile has nothing.
                self.check(
                    &path.display().to_string(),
                    &fs::read(&path).unwrap_or_default(),
                );
                files += 1;
            }
        }
        files
    }
}

/// The first two bytes, as a number.
fn start(bytes: &[u8]) -> usize {
    usize::from(bytes[0]) << 8 | usize::from(bytes[1])
}

fn base64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digit = |byte: &u8| {
        DIGITS
            .iter()
            .position(|digit| digit == byte)
            .expect("base64")
    };
    let groups = text.as_bytes().chunks_exact(4);
    let bytes = groups.flat_map(|group| {
        let bits = group.iter().fold(0, |bits, byte| bits << 6 | digit(byte));
        [(bits >> 16) as u8, (bits >> 8) as u8, bits as u8]
    });
    bytes.collect()
}

/// A program that logs everything.
fn logging(mut command: Command) -> Command {
    command.env("ARENA_LOG", "trace");
    command
}

/// The metrics of a server with TLS.
fn metrics(world: &World, server: &Server) -> String {
    let stream = TcpStream::connect(server.metrics_address()).expect("it listens");
    let tls = ClientTls::load(&world.folder().join("tls/ca.pem")).expect("an authority");
    let mut stream = tls.connect("127.0.0.1", stream).expect("an address");
    write!(stream, "GET /metrics HTTP/1.0\r\n\r\n").expect("it reads");
    let mut page = Vec::new();
    // Without a last word of TLS, the end is an error.
    let _ = stream.read_to_end(&mut page);
    String::from_utf8(page).expect("text")
}

/// 64 tokens and three keys are used: the token of the data folder and 63 others each make a call, the
/// keys sign a certificate and make connections. Everything is logged. No secret is in a log, an
/// answer, an error, an export, a report, the store, the audit trail, the metrics, or what agents see.
#[test]
fn secrets_are_not_repeated() {
    let world = World::new();
    let init = ["tls", "init", "tls"];
    let _ = world.arena(&init).ok();
    // The authority's key is read from its file.
    let client = ["--client", "worker:one"];
    let _ = world.arena(&[&init[..], &client].concat()).ok();
    let mut command = world.command(arena());
    command
        .args(["coordinator", "--data", "data", "--listen", "127.0.0.1:0"])
        .args(["--metrics", "127.0.0.1:0", "--tls-client-ca", "tls/ca.pem"])
        .args([
            "--tls-cert",
            "tls/server.pem",
            "--tls-key",
            "tls/server.key",
        ]);
    let coordinator = world.serve(logging(command));
    let url = format!("https://{}", coordinator.listen());
    let mut secrets = Secrets::new();
    for key in ["ca.key", "server.key", "worker-one.key"] {
        secrets.add_key(&world.folder().join("tls").join(key));
    }
    secrets.add_token(&world.folder().join("data/admin.token"));
    for number in 1..TOKENS {
        let file = format!("{number}.token");
        let create = [
            "token",
            "create",
            "--role",
            ROLES[number % 4],
            "--write",
            &file,
        ];
        let to = ["--coordinator", &url];
        let _ = world.arena(&[&create[..], &to, &CA].concat()).ok();
        secrets.add_token(&world.folder().join(file));
    }
    let call = |words: &[&str], token: &str| {
        let by = ["--coordinator", &url, "--token-file", token];
        let mut command = world.command(arena());
        command.args([words, &by, &CA].concat());
        world.run(logging(command))
    };
    for number in 1..TOKENS {
        let listed = call(&["agent", "list"], &format!("{number}.token"));
        let _ = match ROLES[number % 4] {
            "worker" => listed.fails(1, &["role worker does not allow"]),
            _ => listed.ok(),
        };
    }
    let _ = call(&["token", "list"], "data/admin.token").ok();
    let mut command = world.command(arena());
    command
        .args(["worker", "--coordinator", &url, "--metrics", "127.0.0.1:0"])
        .args(CA)
        .args(["--tls-cert", "tls/worker-one.pem"])
        .args(["--tls-key", "tls/worker-one.key", "--builtin", "process"])
        .env("ARENA_TOKEN_FILE", world.folder().join("2.token"));
    let worker = world.serve(logging(command));
    let spec = spec("canary", "kalah", 200_000, &["random", "greedy"], "");
    let _ = world.write("canary.toml", spec);
    let start = ["tournament", "start", "canary.toml"];
    let _ = call(&start, "1.token").ok();
    call(&start, "4.token").fails(1, &["role viewer does not allow"]);
    let agents = until("agents", || {
        let agents = world.processes().into_iter();
        let agents: Vec<_> = agents
            .filter(|(_, line)| line.contains("agent serve"))
            .collect();
        (!agents.is_empty()).then_some(agents)
    });
    for (id, line) in agents {
        for file in ["environ", "cmdline"] {
            let bytes = fs::read(format!("/proc/{id}/{file}")).unwrap_or_default();
            assert!(
                !String::from_utf8_lossy(&bytes).contains(".token"),
                "{line}"
            );
            secrets.check(&line, &bytes);
        }
    }
    for page in [metrics(&world, &coordinator), worker.metrics()] {
        assert!(page.contains("arena_build_info"), "{page}");
        secrets.check("the metrics", page.as_bytes());
    }
    let _ = call(&["tournament", "pause", "canary"], "3.token").ok();
    for format in ["jsonl", "csv", "parquet"] {
        for table in ["games", "standings"] {
            let words = ["export", "canary", "--table", table, "--format", format];
            let out = format!("{table}.{format}");
            // Without parquet in this build, it is the error that is checked.
            let exported = call(&[&words[..], &["--out", &out]].concat(), "4.token");
            assert!(
                exported.code == Some(0) || format == "parquet",
                "{}",
                exported.transcript()
            );
        }
    }
    let report = ["report", "canary", "--html", "r.html", "--markdown", "r.md"];
    let _ = call(&report, "4.token").ok();
    let _ = call(&["token", "list", "--output", "json"], "3.token").ok();
    let _ = call(&["events", "list", "--since", "1h"], "3.token").ok();
    let id = fs::read_to_string(world.folder().join("63.token")).expect("a token");
    let id = id.split('-').nth(1).expect("an id");
    let _ = call(&["token", "revoke", id], "3.token").ok();
    call(&["agent", "list"], "63.token").fails(1, &["was revoked"]);
    let files = secrets.check_folder(world.folder());
    // The output of each command, the exports, the store and the audit trail.
    assert!(files > 4 * TOKENS, "{files}");
}

/// A program that crashes writes no core file, which would have its tokens and keys, even if the
/// user's limit allows one.
#[test]
fn crash_leaves_no_core_file() {
    let world = World::new();
    let pattern = fs::read_to_string("/proc/sys/kernel/core_pattern").expect("Linux");
    let script = |words: &str| format!("ulimit -c unlimited && {words}");
    let shell = |script: &str| {
        let mut command = world.command("sh");
        command.args(["-c", script]);
        command
    };
    let cores = || {
        let entries = fs::read_dir(world.folder()).expect("a folder").flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.filter(|name| name.contains("core")).count()
    };
    // Where a core file is written into the working folder, a program that is not ours leaves one.
    let visible = !pattern.starts_with(['|', '/']) && pattern.contains("core");
    let _ = world.run(shell(&script("sh -c 'kill -ABRT $$'; true")));
    assert!(!visible || cores() > 0, "this machine writes no core files");
    let before = cores();
    let program = arena().display().to_string();
    let coordinator = "coordinator --data data --listen 127.0.0.1:0 --metrics 127.0.0.1:0";
    let coordinator = world.serve(shell(&script(&format!("exec {program} {coordinator}"))));
    let url = coordinator.url();
    let worker = format!("worker --coordinator {url} --metrics 127.0.0.1:0");
    let worker = world.serve(shell(&script(&format!("exec {program} {worker}"))));
    for mut server in [worker, coordinator] {
        let limits = fs::read_to_string(format!("/proc/{}/limits", server.id())).expect("it runs");
        let limit = limits
            .lines()
            .find(|line| line.starts_with("Max core file"));
        let words: Vec<_> = limit.expect("a limit").split_whitespace().collect();
        // The hard limit stays, so that `prlimit` can allow a core file.
        assert_eq!(words[4..6], ["0", "unlimited"]);
        server.signal(Signal::SIGABRT);
        assert!(!server.wait().success());
    }
    assert_eq!(cores(), before, "a core file was written: {pattern}");
}
