//! The order of precedence of settings: flag, environment variable, config file, default.

use std::{fs, process::Command};

const URL: &str = "http://127.0.0.1:1";

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
fn flag_precedes_variable_precedes_config_file_precedes_default() {
    let (coordinator, data) = (("ARENA_COORDINATOR", URL), ("ARENA_DATA", "variable"));
    let (file_coordinator, file_data) = ("coordinator = \"http://127.0.0.1:2\"", "data = \"file\"");
    let cases: [(&[&str], &[(&str, &str)], &str, &str); 9] = [
        (
            &["--data", "flag"],
            &[coordinator, data],
            file_data,
            "folder flag",
        ),
        (&["--data", "flag"], &[], file_coordinator, "folder flag"),
        (&["--coordinator", URL], &[data], file_data, "127.0.0.1:1"),
        (&[], &[data], file_data, "folder variable"),
        (&[], &[data], file_coordinator, "folder variable"),
        (&[], &[coordinator], file_coordinator, "127.0.0.1:1"),
        (&[], &[("ARENA_DATA", "")], file_data, "folder file"),
        (&[], &[], file_coordinator, "127.0.0.1:2"),
        (&[], &[], "", "folder arena-data"),
    ];
    for (flags, variables, config, expected) in cases {
        let error = error(flags, variables, config);
        assert!(
            error.contains(expected),
            "{flags:?} {variables:?} {config}: {error}"
        );
    }
}
