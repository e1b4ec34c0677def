//! Rules that are a package, on workers that lack something of it.

use std::{fs, path::Path};

use arena_tests::{Server, World, spec};

use super::package_promises::hostile;

/// A coordinator with rules that need a file, which they find on a worker that may read its folder.
struct Fleet {
    world: World,
    coordinator: Server,
    /// The folder, and the file in it.
    machine: String,
    needed: String,
}

impl Fleet {
    /// `mode` says what the rules need the file for; it is `file`.
    fn new(mode: &str, file: &Path) -> Self {
        let world = World::with_python();
        hostile(&world, mode);
        let machine = world.folder().join("machine");
        fs::create_dir(&machine).expect("a folder");
        let needed = machine.join("libgame.so");
        fs::copy(file, &needed).expect("copied");
        let [machine, needed] = [machine, needed].map(|it| it.to_str().expect("UTF-8").to_owned());
        let coordinator = world.coordinator("data", &["--audit-share", "0"]);
        Self {
            world,
            coordinator,
            machine,
            needed,
        }
    }

    fn register(&self, mode: &str, more: &[&str]) {
        let register = ["rulesets", "register", "hostile", "--package", mode];
        let url = self.coordinator.url();
        let of = ["--coordinator", &*url];
        let rules = ["--", mode, &*self.needed];
        let mut command = self.world.command(arena_tests::arena());
        command.args([&register[..], more, &of, &rules].concat());
        command.env("ARENA_AGENT_PATH", &self.machine);
        let _ = self.world.run(command).ok();
    }

    /// A worker that may read this folder.
    fn worker(&self, folder: &str) -> Server {
        self.world
            .worker_with(&self.coordinator, "ARENA_AGENT_PATH", folder)
    }

    /// A worker that may read no such folder.
    fn lacking(&self) -> Server {
        let empty = self.world.folder().join("empty");
        fs::create_dir(&empty).expect("a folder");
        self.worker(empty.to_str().expect("UTF-8"))
    }

    fn start(&self, name: &str) -> String {
        let text = spec(name, "hostile", 60, &["random", "second"], "");
        let text = format!("{text}\n[[agent]]\nname = \"second\"\nbot = \"random\"\n");
        self.world
            .start_tournament(name, &text, &self.coordinator.url())
    }

    fn watch(&self, id: &str) -> String {
        let url = self.coordinator.url();
        let watch = ["tournament", "watch", id, "--coordinator", &url];
        self.world.arena(&watch).transcript()
    }

    fn resume(&self, id: &str) {
        let url = self.coordinator.url();
        let resume = ["tournament", "resume", id, "--coordinator", &url];
        let _ = self.world.arena(&resume).ok();
    }

    fn finish(&self, id: &str) {
        self.world.finish_tournament(id, &self.coordinator.url());
    }
}

/// A native library.
fn library() -> &'static Path {
    const KNOWN: [&str; 3] = [
        "/lib/x86_64-linux-gnu/libz.so.1",
        "/lib/aarch64-linux-gnu/libz.so.1",
        "/lib64/libz.so.1",
    ];
    let mut known = KNOWN.iter().map(Path::new);
    known
        .find(|it| it.exists())
        .expect("zlib, which Python needs")
}

#[test]
fn rules_play_where_they_start() {
    let fleet = Fleet::new("absent", library());
    fleet.register("absent", &[]);
    let lacking = fleet.lacking();
    let able = fleet.worker(&fleet.machine);
    let id = fleet.start("some");
    fleet.finish(&id);
    let log = fleet.coordinator.log();
    assert!(
        log.contains("the rules do not start on one worker"),
        "{log}"
    );
    assert!(log.contains("the game's library is not installed"), "{log}");
    able.stop();
    lacking.stop();
}

#[test]
fn rules_that_start_nowhere_go_on_with_a_worker_where_they_do() {
    let fleet = Fleet::new("absent", library());
    fleet.register("absent", &[]);
    let lacking = fleet.lacking();
    let id = fleet.start("none");
    let watched = fleet.watch(&id);
    for words in [
        "the rules of hostile start on no worker (tried on",
        "is not installed",
    ] {
        assert!(watched.contains(words), "{watched}");
    }
    let able = fleet.worker(&fleet.machine);
    fleet.resume(&id);
    fleet.finish(&id);
    able.stop();
    lacking.stop();
}

#[test]
fn rules_with_another_library_do_not_start() {
    let fleet = Fleet::new("library", library());
    fleet.register("library", &[]);
    let bytes = fs::read(&fleet.needed).expect("read");
    // Bytes behind the end change nothing but the digest.
    fs::write(&fleet.needed, [&bytes[..], b"another build"].concat()).expect("written");
    let worker = fleet.worker(&fleet.machine);
    let id = fleet.start("other");
    let watched = fleet.watch(&id);
    for words in [
        "start on no worker",
        "(libgame.so differs)",
        "--libraries any",
    ] {
        assert!(watched.contains(words), "{watched}");
    }
    fs::write(&fleet.needed, &bytes).expect("written");
    fleet.resume(&id);
    fleet.finish(&id);

    fleet.register("library", &["--libraries", "any", "--replace"]);
    fs::write(&fleet.needed, [&bytes[..], b"another build"].concat()).expect("written");
    let id = fleet.start("any");
    fleet.finish(&id);
    worker.stop();
}
