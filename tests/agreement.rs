//! `arena agent check` and play agree: each agent of `data/check_and_play.toml` is checked,
//! registered and played.

use std::{
    collections::BTreeMap,
    env,
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt,
    path::Path,
};

use arena_tests::{Output, World, repository, spec};
use serde::{Deserialize, Serialize};

/// An agent of the table.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Agent {
    name: String,
    /// Lines at the start of its program, before it serves.
    top: String,
    start: String,
    /// The body of its `choose`, where `ids` are the legal moves.
    choose: String,
    rulesets: Vec<String>,
    version: String,
    deterministic: bool,
    /// Files beside its program, by path.
    files: BTreeMap<String, String>,
    /// What to register: the program (`file`), the `folder` with all files, or an archive of the
    /// folder with this suffix.
    form: String,
    /// One more entry of the archive, which should not be there.
    entry: Option<Entry>,
    /// A folder of `tests/agents` with the agent, and the program that runs it. If the program is
    /// missing, the agent is not tested.
    folder: String,
    needs: String,
    /// Further arguments of `check` and `register`.
    arguments: Vec<String>,
    /// A version that is registered before, with the same name.
    before: String,
    /// What the check reports; it fails if this is not empty.
    says: Vec<String>,
    /// Its outcome in play: `plays`, `refused`, `differs` (a rerun is another game), or the kind of
    /// its faults.
    play: String,
}

/// An entry of an archive.
#[derive(Deserialize, Serialize, Default)]
#[serde(deny_unknown_fields, default)]
struct Entry {
    name: String,
    kind: String,
    target: String,
    size: u64,
}

impl Default for Agent {
    fn default() -> Self {
        Self {
            name: String::new(),
            top: String::new(),
            start: String::new(),
            choose: "return min(ids)".to_owned(),
            rulesets: vec!["kalah".to_owned()],
            version: "1".to_owned(),
            deterministic: true,
            files: BTreeMap::new(),
            form: "file".to_owned(),
            entry: None,
            folder: String::new(),
            needs: String::new(),
            arguments: Vec::new(),
            before: String::new(),
            says: Vec::new(),
            play: String::new(),
        }
    }
}

fn table() -> Vec<Agent> {
    #[derive(Deserialize)]
    struct Table {
        agent: Vec<Agent>,
    }
    let table: Table = toml::from_str(include_str!("data/check_and_play.toml")).expect("the table");
    table.agent
}

impl Agent {
    fn program(&self, version: &str) -> String {
        let rulesets: Vec<String> = { self.rulesets.iter() }
            .map(|name| format!("{name:?}, "))
            .collect();
        format!(
            "#!/usr/bin/env python3\n\
             {top}\n\
             from arena_agent import Agent, serve\n\n\n\
             class Mine(Agent):\n    name = \"mine\"\n    version = {version:?}\n\
             \x20   rulesets = ({rulesets})\n    deterministic = {deterministic}\n\n\
             \x20   def choose(self, decision):\n\
             \x20       ids = [move.id for move in decision.moves]\n\
             \x20       {choose}\n\n\n\
             {start}\n\
             serve(Mine())\n",
            top = self.top,
            start = self.start,
            choose = self.choose,
            rulesets = rulesets.concat(),
            deterministic = if self.deterministic { "True" } else { "False" },
        )
    }

    /// Writes the agent's files, and returns the path to register.
    fn write(&self, world: &World, version: &str) -> String {
        if !self.folder.is_empty() {
            let folder = repository().join("tests/agents").join(&self.folder);
            return folder.to_str().expect("UTF-8").to_owned();
        }
        let mut files = self.files.clone();
        files.insert("mine.py".to_owned(), self.program(version));
        if self.form != "file" {
            let manifest = "command = [\"./mine.py\"]\n".to_owned();
            files
                .entry("arena-agent.toml".to_owned())
                .or_insert(manifest);
        }
        let folder = world.folder().join("mine");
        for (path, text) in &files {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(&path, text).expect("a file");
        }
        let program = folder.join("mine.py");
        fs::set_permissions(&program, Permissions::from_mode(0o755)).expect("a file");
        let path = match self.form.as_str() {
            "file" => program,
            "folder" => folder,
            end => self.archive(world, &folder, end),
        };
        path.to_str().expect("UTF-8").to_owned()
    }

    /// Makes an archive of its folder, and removes the folder.
    fn archive(&self, world: &World, folder: &Path, end: &str) -> std::path::PathBuf {
        let entry = serde_json::to_string(&self.entry).expect("JSON");
        let plain = end.trim_end_matches(".zst");
        let path = world.folder().join(format!("mine.{plain}"));
        let mut command = world.command("python3");
        command
            .arg(repository().join("tests/agents/archive.py"))
            .args([folder, &path])
            .arg(entry);
        let _ = world.run(command).ok();
        fs::remove_dir_all(folder).expect("a folder");
        if plain == end {
            return path;
        }
        let packed = world.folder().join(format!("mine.{end}"));
        let tar = fs::File::open(path).expect("a file");
        let out = fs::File::create(&packed).expect("a file");
        zstd::stream::copy_encode(tar, out, 1).expect("an archive");
        packed
    }

    fn register(&self, world: &World, path: &str, more: &[&str]) -> Output {
        let mut arguments = vec!["agent", "register", "mine", "--binary", path];
        arguments.extend(["--data", "data"]);
        arguments.extend(more);
        arguments.extend(self.arguments.iter().map(String::as_str));
        world.arena(&arguments)
    }

    fn check(&self, world: &World, path: &str) -> Output {
        let mut arguments = vec!["agent", "check", path];
        arguments.extend(self.arguments.iter().map(String::as_str));
        world.arena(&arguments)
    }

    /// Its outcome in a tournament, and the whole output.
    fn play(&self, world: &World, path: &str) -> (String, String) {
        let registered = self.register(world, path, &["--replace"]);
        if registered.code != Some(0) {
            return ("refused".to_owned(), registered.transcript());
        }
        let text = spec(
            "agree",
            "kalah",
            2,
            &["mine", "random"],
            "unplayed_limit = 1",
        );
        let spec = world.write("spec.toml", text);
        let run = ["run", &spec, "--data", "data", "--output", "json"];
        let ran = world.arena(&run);
        if ran.code == Some(2) {
            return ("refused".to_owned(), ran.transcript());
        }
        // A tournament with only faults has standings too, and fails.
        let standings = ran.json();
        let agents = standings["agents"].as_array().expect("agents");
        let mine = agents.iter().find(|agent| agent["agent"] == "mine");
        let mine = mine.expect("the agent");
        let kinds = mine["faults_by_kind"].as_object().expect("kinds");
        if let Some(kind) = kinds.keys().next() {
            return (kind.clone(), ran.transcript());
        }
        assert_eq!(ran.code, Some(0), "{}", ran.transcript());
        assert_eq!(mine["version"], self.version, "{mine}");
        if self.deterministic {
            let game = format!("{}/0", ran.tournament_id());
            let rerun = world.arena(&["game", "rerun", &game, "--data", "data"]);
            if rerun.code != Some(0) {
                return ("differs".to_owned(), rerun.transcript());
            }
        }
        ("plays".to_owned(), ran.transcript())
    }
}

/// Checks and plays an agent of the table.
fn agree(name: &str) {
    let table = table();
    let agent = table.iter().find(|agent| agent.name == name);
    let agent = agent.unwrap_or_else(|| panic!("{name} is not in the table"));
    if !agent.needs.is_empty() && !is_on_path(&agent.needs) {
        #[expect(clippy::print_stderr, reason = "says what was not tested")]
        {
            eprintln!("skipped: there is no {} on this machine", agent.needs);
        }
        return;
    }
    let world = World::with_python();
    if !agent.before.is_empty() {
        let path = agent.write(&world, &agent.before);
        let _ = agent.register(&world, &path, &[]).ok();
        let path = agent.write(&world, &agent.version);
        let _ = agent.register(&world, &path, &[]).fails(2, &["--replace"]);
    }
    let path = agent.write(&world, &agent.version);
    let checked = agent.check(&world, &path);
    let (played, reported) = agent.play(&world, &path);
    let all = format!("{}\n{reported}", checked.transcript());
    assert_eq!(played, agent.play, "{all}");
    assert_eq!(checked.code == Some(0), agent.says.is_empty(), "{all}");
    assert_eq!(checked.code == Some(0), played == "plays", "{all}");
    for word in &agent.says {
        assert!(
            checked.stderr.contains(word),
            "\"{word}\" is missing in {all}"
        );
    }
    // No file was written elsewhere.
    let evil = |folder: &Path| folder.join("evil").exists();
    assert!(!evil(world.folder()) && !evil(Path::new("/tmp")), "{all}");
    world.nothing_runs();
}

fn is_on_path(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

macro_rules! agents {
    ($($test:ident: $name:literal,)*) => {
        $(
            #[test]
            fn $test() {
                agree($name);
            }
        )*

        #[test]
        fn agents_of_the_table_have_a_test() {
            let names: Vec<String> = table().into_iter().map(|agent| agent.name).collect();
            assert_eq!(names, [$($name),*]);
        }
    };
}

agents! {
    check_and_play_agree_on_a_single_file: "single-file",
    check_and_play_agree_on_a_missing_module: "missing-module",
    check_and_play_agree_on_a_missing_second_file: "second-file-missing",
    check_and_play_agree_on_a_missing_data_file: "data-file-missing",
    check_and_play_agree_on_much_output: "prints-a-lot",
    check_and_play_agree_on_too_much_output: "prints-too-much",
    check_and_play_agree_on_a_slow_start: "slow-start",
    check_and_play_agree_on_a_slow_start_in_time: "slow-start-in-time",
    check_and_play_agree_on_a_wrong_ruleset: "wrong-ruleset-name",
    check_and_play_agree_on_a_second_version: "second-version",
    check_and_play_agree_on_a_stateful_agent: "stateful",
    check_and_play_agree_on_randomness_in_a_process: "random-in-a-process",
    check_and_play_agree_on_randomness_by_process: "random-by-process",
    check_and_play_agree_on_open_randomness: "openly-random",
    check_and_play_agree_on_a_file_that_is_kept: "keeps-a-file",
    check_and_play_agree_on_a_crash: "crashes",
    check_and_play_agree_on_an_illegal_move: "illegal",
    check_and_play_agree_on_arguments: "needs-arguments",
    check_and_play_agree_on_a_folder: "folder",
    check_and_play_agree_on_a_tar: "tar",
    check_and_play_agree_on_a_tar_gz: "tar-gz",
    check_and_play_agree_on_a_tar_zst: "tar-zst",
    check_and_play_agree_on_a_zip: "zip",
    check_and_play_agree_on_a_package_for_node: "node",
    check_and_play_agree_on_a_package_that_changes_itself: "changes-its-folder",
    check_and_play_agree_on_a_program_that_no_host_has: "unknown-program",
    check_and_play_agree_on_an_unknown_key_of_a_manifest: "unknown-key",
    check_and_play_agree_on_a_path_that_leaves: "path-leaves",
    check_and_play_agree_on_an_absolute_path: "path-absolute",
    check_and_play_agree_on_a_path_of_a_zip_that_leaves: "zip-path-leaves",
    check_and_play_agree_on_a_link_that_leaves: "link-leaves",
    check_and_play_agree_on_a_link_of_a_zip_that_leaves: "zip-link-leaves",
    check_and_play_agree_on_a_hard_link_that_leaves: "hard-link-leaves",
    check_and_play_agree_on_a_fifo: "fifo",
    check_and_play_agree_on_a_device: "device",
    check_and_play_agree_on_a_bomb: "bomb",
}

#[test]
fn package_forms_are_one_agent() {
    let table = table();
    let of = |name: &str| table.iter().find(|agent| agent.name == name).expect(name);
    let content = |world: &World, path: &str, more: &[&str]| {
        let register = ["agent", "register", "one", "--replace", "--binary", path];
        let more = [&["--data", "agents", "--output", "json"], more].concat();
        let registered = world.arena(&[&register[..], &more].concat()).ok();
        registered.json()["content"]
            .as_str()
            .expect("a content")
            .to_owned()
    };
    let mut contents = Vec::new();
    for form in ["folder", "tar", "tar.gz", "tar.zst", "zip"] {
        let world = World::with_python();
        let agent = Agent {
            form: form.to_owned(),
            files: of("tar").files.clone(),
            top: of("tar").top.clone(),
            choose: of("tar").choose.clone(),
            ..Agent::default()
        };
        let path = agent.write(&world, "1");
        contents.push(content(&world, &path, &[]));
        if form != "folder" {
            continue;
        }
        // Files that tools leave and file times are not part of the content.
        let folder = Path::new(&path);
        for left in [".git/HEAD", "parts/__pycache__/helper.pyc"] {
            let left = folder.join(left);
            fs::create_dir_all(left.parent().expect("a folder")).expect("a folder");
            fs::write(left, "left").expect("a file");
        }
        fs::create_dir(folder.join("empty")).expect("a folder");
        let helper = fs::File::options()
            .write(true)
            .open(folder.join("parts/helper.py"));
        let helper = helper.expect("a file");
        helper.set_modified(std::time::UNIX_EPOCH).expect("a time");
        contents.push(content(&world, &path, &[]));
        let first = &contents[0];
        assert_ne!(
            content(&world, &path, &["--", "x"]),
            *first,
            "arguments count"
        );
        fs::set_permissions(
            folder.join("parts/helper.py"),
            Permissions::from_mode(0o755),
        )
        .expect("a file");
        assert_ne!(content(&world, &path, &[]), *first, "run bits count");
    }
    contents.dedup();
    assert_eq!(contents.len(), 1, "{contents:?}");
}

#[test]
fn package_game_reruns_from_line() {
    let world = World::with_python();
    let table = table();
    let agent = table
        .iter()
        .find(|agent| agent.name == "folder")
        .expect("it");
    let path = agent.write(&world, "1");
    let _ = agent.register(&world, &path, &[]).ok();
    let spec = spec("package", "kalah", 1, &["mine", "random"], "");
    let (id, _, games) = world.tournament(&spec, "data", &[]);
    let line = games.text.lines().next().expect("a game");
    let file = world.write("game.json", line);
    let given = format!("mine={path}");
    let game = format!("{id}/0");
    for from in [
        &["--file", &file, "--agent", &given][..],
        &["--file", &file, "--data", "data"],
        &[&game, "--data", "data"],
    ] {
        let _ = world.arena(&[&["game", "rerun"], from].concat()).ok();
    }
    fs::write(Path::new(&path).join("data/weights.txt"), "1").expect("a file");
    let other = ["game", "rerun", "--file", &file, "--agent", &given];
    let _ = world
        .arena(&other)
        .fails(2, &["SHA-256 is", "was played by"]);
    world.nothing_runs();
}
