//! The steps of the workflow of releases that need neither GitHub nor Docker, for this machine's target.

use std::{fs, os::unix::fs::symlink, path::Path, process::Command};

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

/// The commands of a job that run here.
fn commands(workflow: &Value, job: &str) -> Vec<String> {
    let steps = workflow["jobs"][job]["steps"].as_sequence().expect("steps");
    let commands = steps.iter().filter_map(|step| step["run"].as_str());
    commands
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

fn workflow() -> Value {
    let text = fs::read_to_string(repository().join(".github/workflows/release.yml"));
    serde_norway::from_str(&text.expect("a workflow")).expect("YAML")
}

/// Each command of the workflow. What it installs becomes part of files that are signed.
#[test]
fn release_workflow_installs_exact_versions() {
    let workflow = workflow();
    let jobs = workflow["jobs"].as_mapping().expect("jobs").values();
    let steps = jobs.flat_map(|job| job["steps"].as_sequence().expect("steps"));
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
    let known = fs::read_to_string(repository().join("tests/requirements.txt"));
    let known = known.expect("the packages of the tests");
    assert!(!installed.is_empty());
    for package in installed {
        assert!(package.contains("=="), "{package}");
        assert!(known.lines().any(|line| line == package), "{package}");
    }
}

#[test]
fn licenses_are_checked_for_each_target_of_releases() {
    let text = fs::read_to_string(repository().join("deny.toml")).expect("deny.toml");
    let checked: toml::Table = text.parse().expect("TOML");
    let checked = checked["graph"]["targets"].as_array().expect("targets");
    let workflow = workflow();
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

    let workflow = workflow();
    for job in ["chart", "image"] {
        assert_eq!(commands(&workflow, job), [""; 0]);
    }
    let pack = commands(&workflow, "binaries");
    assert!(
        pack.len() == 2 && pack[0].starts_with("deploy/release "),
        "{pack:?}"
    );
    for line in pack {
        let _ = run(&line.replace("${{ matrix.target }}", &host)).ok();
    }
    let files = checkout.join("files");
    symlink("target/release-files", &files).expect("a link");
    let name = format!("arena-{}-{host}", env!("CARGO_PKG_VERSION"));
    let crates = files.join(format!("{name}.cdx.json"));
    if lacks("the list of crates", &["cargo-cyclonedx"]) {
        fs::write(&crates, "{}").expect("a file");
    }
    fs::write(files.join("arena-agent-0.tgz"), "").expect("a file");
    let publish = commands(&workflow, "publish");
    assert_eq!(publish.len(), 1, "{publish:?}");
    let _ = run(&publish[0]).ok();

    let sums = fs::read_to_string(files.join("SHA256SUMS")).expect("checksums");
    for ending in [".tar.gz", ".tgz", ".whl", ".cdx.json"] {
        assert!(sums.lines().any(|line| line.ends_with(ending)), "{sums}");
    }
    let check = "cd files && sha256sum --check --strict SHA256SUMS *.tar.gz.sha256";
    let _ = run(check).ok();
    check_archive(&run, &name, &checkout);
    check_wheel(&run);
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
    let read = |path: &str| {
        let text = fs::read_to_string(repository().join(path));
        text.unwrap_or_else(|error| panic!("{path}: {error}"))
    };
    let workflow: Value =
        serde_norway::from_str(&read(".github/workflows/release.yml")).expect("YAML");
    let lines = |job: &str| -> String {
        let steps = workflow["jobs"][job]["steps"].as_sequence().expect("steps");
        let lines = steps.iter().filter_map(|step| step["run"].as_str());
        lines.collect::<Vec<_>>().join("\n")
    };
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
