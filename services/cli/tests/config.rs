//! The order of precedence of settings: flag, environment variable, config file, default.

use std::{fs, process::Command};

const URL: &str = "http://127.0.0.1:1";
const COORDINATOR: (&str, &str) = ("ARENA_COORDINATOR", URL);
const DATA: (&str, &str) = ("ARENA_DATA", "variable");
const FILE_COORDINATOR: &str = "coordinator = \"http://127.0.0.1:2\"";
const FILE_DATA: &str = "data = \"file\"";

/// Flags, variables, a line of the config file, and what the error names.
type Case = (
    &'static [&'static str],
    &'static [(&'static str, &'static str)],
    &'static str,
    &'static str,
);

/// The error of a command that reads, with settings that lead nowhere.
fn error(flags: &[&str], variables: &[(&str, &str)], config: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("arena.toml");
    fs::write(&file, format!("[tournament.list]\n{config}\n")).expect("a file");
    let output = Command::new(env!("CARGO_BIN_EXE_arena"))
        .args(["tournament", "list"])
        .args(flags)
        .current_dir(folder.path())
        .env_remove("ARENA_COORDINATOR")
        .env_remove("ARENA_DATA")
        .env("ARENA_CONFIG", &file)
        .envs(variables.iter().copied())
        .output()
        .expect("arena runs");
    assert!(!output.status.success());
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn flag_variable_file_default_precedence() {
    let cases: [Case; 9] = [
        (
            &["--data", "flag"],
            &[COORDINATOR, DATA],
            FILE_DATA,
            "/flag is not a data folder",
        ),
        (
            &["--data", "flag"],
            &[],
            FILE_COORDINATOR,
            "/flag is not a data folder",
        ),
        (&["--coordinator", URL], &[DATA], FILE_DATA, "127.0.0.1:1"),
        (&[], &[DATA], FILE_DATA, "/variable is not a data folder"),
        (
            &[],
            &[DATA],
            FILE_COORDINATOR,
            "/variable is not a data folder",
        ),
        (&[], &[COORDINATOR], FILE_COORDINATOR, "127.0.0.1:1"),
        (
            &[],
            &[("ARENA_DATA", "")],
            FILE_DATA,
            "/file is not a data folder",
        ),
        (&[], &[], FILE_COORDINATOR, "127.0.0.1:2"),
        (&[], &[], "", "/arena-data is not a data folder"),
    ];
    for (flags, variables, config, expected) in cases {
        let error = error(flags, variables, config);
        assert!(
            error.contains(expected),
            "{flags:?} {variables:?} {config}: {error}"
        );
    }
}
