//! The steps of the workflow of releases that need neither GitHub nor Docker, for this machine's target.

use std::{collections::BTreeSet, fs, os::unix::fs::symlink, path::Path, process::Command};

use arena_tests::{Output, World, arena, find, lacks, repository};
use serde_norway::Value;

/// Steps that do not run here: they need the network, Docker or an identity of GitHub. The table in
/// deploy/README.md calls their results untested.
const ELSEWHERE: [&str; 9] = [
    "cargo install cargo-cyclonedx ",
    // The tests of agents/rules run it with the rules that they have built.
    "deploy/packages ",
    "pip install ",
    "helm package ",
    "docker build ",
    "echo \"${{ secrets.GITHUB_TOKEN }}\" | docker login ",
    "docker push ",
    "cosign sign-blob ",
    "gh release create ",
];

/// The `run` of each step of a job.
fn runs<'a>(workflow: &'a Value, job: &str) -> Vec<&'a str> {
    let steps = workflow["jobs"][job]["steps"].as_sequence().expect("steps");
    let runs = steps.iter().filter_map(|step| step["run"].as_str());
    runs.collect()
}

/// The commands of a job that run here.
fn commands(workflow: &Value, job: &str) -> Vec<String> {
    runs(workflow, job)
        .into_iter()
        .filter(|command| !ELSEWHERE.iter().any(|it| command.starts_with(it)))
        .map(str::to_owned)
        .collect()
}

fn host() -> String {
    let output = Command::new("rustc").arg("-vV").output().expect("rustc");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.expect("a target").to_owned()
}

fn read(path: &str) -> String {
    let text = fs::read_to_string(repository().join(path));
    text.unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn workflow(name: &str) -> Value {
    let text = read(&format!(".github/workflows/{name}.yml"));
    serde_norway::from_str(&text).expect("YAML")
}

/// Each command of the workflow. What it installs becomes part of files that are signed.
#[test]
fn release_workflow_installs_exact_versions() {
    let workflow = workflow("release");
    let jobs = workflow["jobs"].as_mapping().expect("jobs").values();
    // A job without steps calls another workflow, whose files are not published.
    let steps = jobs.filter_map(|job| job["steps"].as_sequence()).flatten();
    let lines = steps.flat_map(|step| step["run"].as_str().unwrap_or_default().lines());
    let mut installed = Vec::new();
    for line in lines {
        if let Some(packages) = line.trim().strip_prefix("pip install ") {
            installed.extend(packages.split_whitespace().map(str::to_owned));
        } else if line.contains("cargo install ") {
            assert!(
                line.contains(" --version ") && line.ends_with(" --locked"),
                "{line}"
            );
        }
    }
    // The tests use the same versions.
    let known = read("tests/requirements.txt");
    assert!(!installed.is_empty());
    for package in installed {
        assert!(package.contains("=="), "{package}");
        assert!(known.lines().any(|line| line == package), "{package}");
    }
}

/// Nothing is published while the database of RustSec has a vulnerability of a dependency.
#[test]
fn releases_wait_for_advisories() {
    let release = workflow("release");
    // Only this: no condition, and no `continue-on-error`.
    let called: Value =
        serde_norway::from_str("uses: ./.github/workflows/advisories.yml").expect("YAML");
    assert_eq!(release["jobs"]["advisories"], called);
    for name in ["image", "publish"] {
        let job = &release["jobs"][name];
        let needed = job["needs"].as_sequence();
        assert!(
            needed.is_some_and(|jobs| jobs.contains(&"advisories".into())),
            "{name}: {needed:?}"
        );
        assert!(job.get("if").is_none(), "{name} has a condition");
    }
    let advisories = workflow("advisories");
    assert!(advisories["on"].get("workflow_call").is_some());
    for job in advisories["jobs"].as_mapping().expect("jobs").values() {
        let steps = job["steps"].as_sequence().expect("steps");
        for part in steps.iter().chain([job]) {
            let skips = ["if", "continue-on-error"].map(|key| part.get(key).is_some());
            assert_eq!(skips, [false; 2], "{part:?}");
        }
    }
}

#[test]
fn advisories_of_every_workspace_are_checked() {
    let world = World::new();
    let mut search = world.command("bash");
    let locks = "find . '(' -name target -o -name node_modules -o -name .git ')' -prune \
        -o -name Cargo.lock -print";
    search.args(["-c", locks]).current_dir(repository());
    let locks = world.run(search).ok().stdout;
    let workspaces: Vec<&str> = locks
        .lines()
        .filter_map(|path| path.strip_suffix("/Cargo.lock"))
        .map(|folder| folder.strip_prefix("./").unwrap_or(folder))
        .collect();
    assert!(workspaces.contains(&"."), "{workspaces:?}");

    let advisories = workflow("advisories");
    let check = *runs(&advisories, "advisories").last().expect("a check");
    // A `cargo` that finds a vulnerability in one workspace.
    let run = |workspace: &str| -> Output {
        let cargo = format!(
            "cargo() {{ [[ \"$*\" != *' {workspace}/Cargo.toml '*' check advisories' ]]; }}"
        );
        let script = format!("{cargo}\n{check}");
        let mut command = world.command("bash");
        command.args(["-e", "-c", script.as_str()]);
        world.run(command)
    };
    let _ = run("none").ok();
    for workspace in workspaces {
        let code = run(workspace).code;
        assert_eq!(code, Some(1), "{workspace} is not checked");
    }
}

#[test]
fn licenses_are_checked_for_each_target_of_releases() {
    let checked: toml::Table = read("deny.toml").parse().expect("TOML");
    let checked = checked["graph"]["targets"].as_array().expect("targets");
    let workflow = workflow("release");
    let built = &workflow["jobs"]["binaries"]["strategy"]["matrix"]["include"];
    for one in built.as_sequence().expect("targets") {
        let target = one["target"].as_str().expect("a target");
        let is_checked = checked.iter().any(|it| it.as_str() == Some(target));
        assert!(is_checked, "{target} is not in deny.toml");
    }
}

#[test]
fn release_workflow_packs_this_target() {
    let world = World::with_python();
    let checkout = world.folder().join("checkout");
    fs::create_dir(&checkout).expect("a folder");
    // Everything of the repository but what was built: some steps write next to the sources.
    let mut copy = world.command("bash");
    let tar = "tar -C \"$0\" --exclude ./target --exclude ./.git -cf - . | tar -C \"$1\" -xf -";
    copy.args(["-euo", "pipefail", "-c", tar]);
    copy.arg(repository()).arg(&checkout);
    let _ = world.run(copy).ok();
    let host = host();
    let built = checkout.join("target").join(&host).join("dist");
    fs::create_dir_all(&built).expect("a folder");
    symlink(arena(), built.join("arena")).expect("a link");
    let run = |line: &str| -> Output {
        let mut command = world.command("bash");
        command
            .args(["-euo", "pipefail", "-c", line])
            .current_dir(&checkout);
        // This program is packed: the profile `dist` takes many minutes.
        command.env("ARENA_BIN", built.join("arena"));
        world.run(command)
    };

    let workflow = workflow("release");
    for job in ["chart", "image"] {
        assert_eq!(commands(&workflow, job), [""; 0]);
    }
    let pack = commands(&workflow, "binaries");
    assert!(
        pack.len() == 2 && pack[0] == "deploy/release \"${{ matrix.target }}\"",
        "{pack:?}"
    );
    let is_listed = !lacks("the list of crates", &["cargo-cyclonedx"]);
    let here = |line: &str| -> String {
        let line = line.replace("${{ matrix.target }}", &host);
        if is_listed {
            return line;
        }
        line.replace("deploy/release ", "deploy/release --without-crate-list ")
            .replace(" *.cdx.json", "")
    };
    let name = format!("arena-{}-{host}", env!("CARGO_PKG_VERSION"));
    let packed = run(&here(&pack[0])).ok();
    let missing = format!("{name}.cdx.json, is missing");
    let is_missing = packed.stderr.contains(&missing);
    assert_ne!(is_missing, is_listed, "{}", packed.transcript());
    let _ = run(&here(&pack[1])).ok();
    let files = checkout.join("files");
    symlink("target/release-files", &files).expect("a link");
    fs::write(files.join("arena-agent-0.tgz"), "").expect("a file");
    let publish = commands(&workflow, "publish");
    assert_eq!(publish.len(), 1, "{publish:?}");
    let _ = run(&here(&publish[0])).ok();

    let sums = fs::read_to_string(files.join("SHA256SUMS")).expect("checksums");
    let mut endings = vec![".tar.gz", ".tgz", ".whl"];
    if is_listed {
        endings.push(".cdx.json");
        check_crates(&files.join(format!("{name}.cdx.json")));
    }
    for ending in endings {
        assert!(sums.lines().any(|line| line.ends_with(ending)), "{sums}");
    }
    let check = "cd files && sha256sum --check --strict SHA256SUMS *.tar.gz.sha256";
    let _ = run(check).ok();
    check_archive(&run, &name, &checkout);
    check_wheel(&run);
}

/// The list of crates has those of the program: names, versions and hashes are those of Cargo.lock.
fn check_crates(list: &Path) {
    let text = fs::read_to_string(list).expect("a list of crates");
    let list: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(list["bomFormat"], "CycloneDX");
    assert_eq!(list["specVersion"], "1.5");
    assert_eq!(list["metadata"]["component"]["name"], "arena-cli");
    let lock: toml::Table = read("Cargo.lock").parse().expect("TOML");
    let locked: BTreeSet<[Option<&str>; 3]> = lock["package"]
        .as_array()
        .expect("packages")
        .iter()
        .map(|package| {
            let of = |key: &str| package.get(key).and_then(toml::Value::as_str);
            ["name", "version", "checksum"].map(of)
        })
        .collect();
    let mut names = BTreeSet::new();
    for component in list["components"].as_array().expect("components") {
        let hash = &component["hashes"][0]["content"];
        let found = [&component["name"], &component["version"], hash].map(|it| it.as_str());
        assert!(locked.contains(&found), "{found:?} is not in Cargo.lock");
        names.extend(found[0]);
    }
    // The last two are in the program by its feature `release`; tests alone have turmoil.
    for name in ["sled", "tokio", "tonic", "parquet", "tokio-postgres"] {
        assert!(names.contains(name), "{name} is missing");
    }
    assert!(!names.contains("turmoil"), "turmoil is in no program");
}

/// Without the tool that lists crates, the script names the command by which the workflow installs it.
#[test]
fn release_fails_without_list_of_crates() {
    let world = World::new();
    let programs = world.folder().join("programs");
    fs::create_dir(&programs).expect("a folder");
    for program in ["bash", "dirname"] {
        symlink(find(program).expect(program), programs.join(program)).expect("a link");
    }
    let workflow = workflow("release");
    let steps = runs(&workflow, "binaries");
    let install = steps.iter().find(|step| step.contains("cargo-cyclonedx"));
    let install = *install.expect("a step that installs the tool");
    let mut release = world.command("bash");
    release
        .arg(repository().join("deploy/release"))
        .env("PATH", &programs);
    world
        .run(release)
        .fails(1, &[install, "--without-crate-list"]);
}

/// What pip installs in the image is a folder of the repository, or its hash is in the repository.
#[test]
fn image_installs_packages_with_known_hashes() {
    let dockerfile = read("deploy/Dockerfile").replace("\\\n", "");
    let commands = dockerfile.lines().flat_map(|line| line.split("&&"));
    let installs: Vec<&str> = commands.filter(|it| it.contains("pip install ")).collect();
    assert!(!installs.is_empty());
    for install in installs {
        let has = |flag: &str| install.split_whitespace().any(|word| word == flag);
        let path = install.split_whitespace().next_back();
        // Without isolation: pip would fetch setuptools for the build.
        let is_local = has("--no-deps")
            && has("--no-index")
            && has("--no-build-isolation")
            && path == Some("/tmp/sdk");
        assert!(is_local || has("--require-hashes"), "{install}");
    }

    // Docker has no other files of the repository.
    let ignored = read("deploy/Dockerfile.dockerignore");
    assert!(ignored.contains("\n!deploy/agent-requirements.txt\n"));
    let pinned = read("deploy/agent-requirements.txt").replace("\\\n", "");
    let pinned: Vec<&str> = pinned
        .lines()
        .filter(|line| !line.starts_with('#'))
        .collect();
    for line in &pinned {
        let is_exact = line.contains("==") && line.contains(" --hash=sha256:");
        assert!(is_exact, "{line}");
    }
    // What the SDK depends on and is built with, in the versions of the tests.
    let sdk: toml::Table = read("agents/sdk/python/pyproject.toml")
        .parse()
        .expect("TOML");
    let known = read("tests/requirements.txt");
    let needed = [
        &sdk["project"]["dependencies"],
        &sdk["build-system"]["requires"],
    ];
    let needed = needed.map(|list| list.as_array().expect("a list"));
    for package in needed.into_iter().flatten() {
        let package = package.as_str().expect("a package");
        let name = package.split(['<', '=', '>']).next().unwrap_or(package);
        let start = format!("{name}==");
        let line = known.lines().find(|line| line.starts_with(&start));
        let line = line.unwrap_or_else(|| panic!("{name} is not in tests/requirements.txt"));
        let is_same = |it: &&str| it.split(' ').next() == Some(line);
        assert!(pinned.iter().any(is_same), "{line} is not in the image");
    }
}

/// The archive has a program that runs and has no debug information, its manual pages, and the licenses.
fn check_archive(run: &impl Fn(&str) -> Output, name: &str, checkout: &Path) {
    let _ = run(&format!("tar -xzf files/{name}.tar.gz")).ok();
    let folder = checkout.join(name);
    for file in ["LICENSE-APACHE", "LICENSE-MIT", "README.md", "CHANGELOG.md"] {
        let packed = fs::read(folder.join(file)).expect(file);
        assert_eq!(packed, fs::read(repository().join(file)).expect(file));
    }
    assert!(folder.join("man/arena.1").is_file());
    let version = run(&format!("{name}/arena --version")).ok().stdout;
    assert!(version.contains(env!("CARGO_PKG_VERSION")), "{version}");
    let bytes = |path: &Path| path.metadata().map(|it| it.len()).expect("a program");
    let [packed, whole] = [bytes(&folder.join("arena")), bytes(&arena())];
    assert!(
        packed < whole || find("strip").is_none(),
        "{packed} of {whole}"
    );
}

#[test]
fn release_has_chart_and_image_for_agents() {
    let workflow = workflow("release");
    let lines = |job: &str| runs(&workflow, job).join("\n");
    let needed = workflow["jobs"]["publish"]["needs"].as_sequence();
    assert!(
        needed.is_some_and(|jobs| jobs.contains(&"chart".into())),
        "{needed:?}"
    );
    let chart = lines("chart");
    // The chart of a tag uses the image of the same tag.
    for part in [
        "deploy/helm/arena",
        "--version \"${GITHUB_REF_NAME#v}\"",
        "--app-version \"$GITHUB_REF_NAME\"",
    ] {
        assert!(chart.contains(part), "{part}: {chart}");
    }
    let image = lines("image");
    for part in [
        "--target agents ",
        "docker push \"ghcr.io/${GITHUB_REPOSITORY}:${GITHUB_REF_NAME}-agents\"",
    ] {
        assert!(image.contains(part), "{part}: {image}");
    }
    assert!(read("deploy/Dockerfile").contains(" AS agents\n"));
}

/// The wheel has the program without its debug information.
fn check_wheel(run: &impl Fn(&str) -> Output) {
    let list = "import glob, zipfile; \
        [print(it.file_size, it.filename) for it in zipfile.ZipFile(*glob.glob('files/*.whl')).infolist()]";
    let listed = run(&format!("python3 -c \"{list}\"")).ok().stdout;
    let program = listed.lines().find_map(|line| line.strip_suffix("/arena"));
    let bytes = program.and_then(|line| line.split(' ').next()?.parse::<u64>().ok());
    let bytes = bytes.unwrap_or_else(|| panic!("no program: {listed}"));
    let whole = arena().metadata().map(|it| it.len()).expect("a program");
    assert!(
        bytes < whole || find("strip").is_none(),
        "{bytes} of {whole}"
    );
}
