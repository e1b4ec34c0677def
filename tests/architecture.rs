use std::{collections::BTreeMap, fs, path::Path, process::Command};

use arena_tests::repository;
use serde_json::Value;

/// Dependencies that only generated code uses.
const GENERATED: [(&str, &str); 2] = [
    ("arena-wire", "tonic-prost"),
    // Its library is `webpki`.
    ("arena-access", "rustls-webpki"),
];

/// The crates that each crate may depend on, without development dependencies; `*` allows all.
fn allowed() -> BTreeMap<String, Vec<String>> {
    serde_json::from_str(include_str!("data/edges.json")).expect("the list of edges")
}

/// The packages of the workspace, from `cargo metadata`.
fn packages() -> Vec<Value> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let output = Command::new(cargo)
        .args([
            "metadata",
            "--no-deps",
            "--format-version",
            "1",
            "--offline",
        ])
        .current_dir(repository())
        .output()
        .expect("cargo runs");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    metadata["packages"].as_array().expect("packages").clone()
}

/// The dependencies of a package, without development dependencies.
fn dependencies(package: &Value) -> Vec<&Value> {
    let all = package["dependencies"].as_array().expect("a list");
    all.iter().filter(|one| one["kind"] != "dev").collect()
}

fn name(value: &Value) -> &str {
    value["name"].as_str().expect("a name")
}

#[test]
fn crate_dependencies_follow_design() {
    let allowed = allowed();
    let packages = packages();
    let names: Vec<&str> = packages.iter().map(name).collect();
    for listed in allowed.keys() {
        assert!(names.contains(&listed.as_str()), "{listed} does not exist");
    }
    for package in &packages {
        let from = name(package);
        let may = allowed.get(from).unwrap_or_else(|| {
            panic!("{from} is not in data/edges.json: say what it may depend on")
        });
        for dependency in dependencies(package) {
            let to = name(dependency);
            let ours = names.contains(&to);
            let fits = may.iter().any(|one| one == to || one == "*");
            assert!(!ours || fits, "{from} must not depend on {to}");
        }
    }
}

#[test]
fn sled_and_subscriber_have_one_home() {
    for (library, owner) in [
        ("sled", "arena-store"),
        ("tracing-subscriber", "arena-telemetry"),
    ] {
        for package in packages() {
            let has = dependencies(&package)
                .iter()
                .any(|one| name(one) == library);
            assert_eq!(
                has,
                name(&package) == owner,
                "{}: {library}",
                name(&package)
            );
        }
    }
}

#[test]
fn rules_and_statistics_are_built_without_io() {
    let pure = [
        "arena-engine",
        "arena-games",
        "arena-model",
        "arena-tournament",
    ];
    let io = [
        "tokio", "tonic", "hyper", "axum", "tracing", "sled", "nix", "tempfile",
    ];
    for package in packages().iter().filter(|one| pure.contains(&name(one))) {
        for dependency in dependencies(package) {
            let to = name(dependency);
            assert!(!io.contains(&to), "{} must not have {to}", name(package));
            // Only the messages: the stubs bring a server and a client.
            let features = dependency["features"].as_array().expect("a list");
            let stubs = features.iter().any(|feature| feature == "grpc");
            assert!(!stubs, "{} must not have {to} with grpc", name(package));
        }
    }
}

#[test]
fn crates_follow_workspace_lints() {
    for package in packages() {
        let manifest = package["manifest_path"].as_str().expect("a path");
        let text = fs::read_to_string(manifest).expect("a manifest");
        let manifest: toml::Table = text.parse().expect("TOML");
        let shared = manifest["lints"].get("workspace") == Some(&true.into());
        assert!(shared, "{} has lints of its own", name(&package));
    }
}

#[test]
fn every_dependency_is_used() {
    for package in packages() {
        let manifest = package["manifest_path"].as_str().expect("a path");
        let folder = Path::new(manifest).parent().expect("a folder");
        let sources = sources(folder);
        for dependency in package["dependencies"].as_array().expect("a list") {
            let edge = (name(&package), name(dependency));
            let library = edge.1.replace('-', "_");
            // A crate of which only a feature matters is imported without a name.
            let is_imported = sources.contains(&format!("use {library} as _;"));
            let is_named = is_imported || names_path(&sources, &format!("{library}::"));
            assert!(
                is_named || GENERATED.contains(&edge),
                "{} does not use {}: remove it from {manifest}",
                edge.0,
                edge.1
            );
        }
    }
}

#[test]
fn every_shared_dependency_has_a_user() {
    let text = fs::read_to_string(repository().join("Cargo.toml")).expect("a manifest");
    let manifest: toml::Table = text.parse().expect("TOML");
    let shared = manifest["workspace"]["dependencies"]
        .as_table()
        .expect("a table");
    let packages = packages();
    let used = |library: &str| {
        packages.iter().any(|package| {
            let all = package["dependencies"].as_array().expect("a list");
            all.iter().any(|one| name(one) == library)
        })
    };
    let unused: Vec<&String> = shared.keys().filter(|library| !used(library)).collect();
    assert!(unused.is_empty(), "remove {unused:?} from Cargo.toml");
}

/// Maximum number of lines of the command line, without tests.
const COMMAND_LINE_LINES: usize = 9_000;
/// Maximum number of lines of a file.
const FILE_LINES: usize = 500;

#[test]
fn command_line_is_at_most_9000_lines() {
    let lines = lines_without_tests(&repository().join("services/cli/src"));
    assert!(
        lines <= COMMAND_LINE_LINES,
        "services/cli/src has {lines} lines without tests, more than {COMMAND_LINE_LINES}: it has only \
         commands, arguments and exit codes; move what a command does to services/client, and the \
         rows and texts that it prints to services/report"
    );
}

#[test]
fn tests_are_not_lines_of_the_command_line() {
    let text =
        "fn a() {}\n\n#[cfg(test)]\nmod tests {\n    fn b() {\n    }\n}\n#[cfg(test)]\nmod more;\n";
    assert_eq!(count_without_tests(text), 4);
}

/// The lines of all Rust sources below a folder, without files and modules of tests.
fn lines_without_tests(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let lines = paths.map(|path| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        if name == "tests" || name.ends_with("_tests") {
            return 0;
        }
        match path.is_dir() {
            true => lines_without_tests(&path),
            false if path.extension().is_some_and(|extension| extension == "rs") => {
                count_without_tests(&fs::read_to_string(&path).expect("a source"))
            }
            false => 0,
        }
    });
    lines.sum()
}

/// The lines of a source without its modules of tests, which end with a brace as far left as they begin.
fn count_without_tests(text: &str) -> usize {
    let mut lines = text.lines().peekable();
    let mut count = 0;
    while let Some(line) = lines.next() {
        count += 1;
        let starts_module =
            |next: &&str| next.trim_start().starts_with("mod ") && next.ends_with('{');
        if line.trim() != "#[cfg(test)]" || lines.next_if(starts_module).is_none() {
            continue;
        }
        count -= 1;
        let end = line.replace("#[cfg(test)]", "}");
        for line in lines.by_ref() {
            if line == end {
                break;
            }
        }
    }
    count
}

/// The Rust sources below a package's folder, without those of packages inside it.
fn sources(folder: &Path) -> String {
    let mut text = String::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() && !path.join("Cargo.toml").exists() {
            text += &sources(&path);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            text += &fs::read_to_string(&path).expect("a source");
        }
    }
    text
}

/// Whether a text has a path that starts with `start`, such as `serde::`.
fn names_path(text: &str, start: &str) -> bool {
    text.match_indices(start).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        before.is_none_or(|letter| !letter.is_alphanumeric() && !"_:".contains(letter))
    })
}

/// The text of each file of Rust in the repository, by its path.
fn rust_files() -> Vec<(String, String)> {
    let output = Command::new("git")
        .args(["ls-files", "*.rs"])
        .current_dir(repository())
        .output()
        .expect("git runs");
    let files = String::from_utf8_lossy(&output.stdout).into_owned();
    let read = |file: &str| fs::read_to_string(repository().join(file)).ok();
    let texts = files
        .lines()
        .filter_map(|file| Some((file.to_owned(), read(file)?)));
    texts.collect()
}

#[test]
fn files_are_short() {
    let files = rust_files();
    assert!(files.len() > 500, "{} files", files.len());
    let lines = files
        .iter()
        .map(|(file, text)| (text.lines().count(), file));
    let long: Vec<_> = lines.filter(|(lines, _)| *lines > FILE_LINES).collect();
    assert!(
        long.is_empty(),
        "move a part into a module of its own: {long:?}"
    );
}

/// A name that begins with "is", "has" or "can" promises to change nothing.
#[test]
fn predicates_change_nothing() {
    let mut found = Vec::new();
    for (file, text) in rust_files() {
        let changing = text.lines().filter(|line| {
            let name = line.split("fn ").nth(1).unwrap_or_default();
            let is_predicate = ["is_", "has_", "can_"]
                .iter()
                .any(|it| name.starts_with(it));
            is_predicate && name.contains("(&mut self")
        });
        found.extend(changing.map(|line| format!("{file}: {}", line.trim())));
    }
    assert!(found.is_empty(), "name them as verbs: {found:#?}");
}
