//! The reference of settings, `deploy/SETTINGS.md`, generated from the command line.

use std::{fmt::Write, fs, path::Path};

use clap::{Arg, Command, CommandFactory};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy/SETTINGS.md");

const INTRODUCTION: &str = "\
# Settings

Each setting is a flag. Most of them are also an environment variable and a key of the config
file. Flags take precedence over environment variables, then come the config file and the
default.

`--config FILE` or `ARENA_CONFIG` names the config file. It is a TOML file with a table for each
command, and with the flags as keys:

```toml
[worker]
coordinator = \"http://10.0.0.1:7600\"
capacity = 2048

[tournament.watch]
data = \"/var/lib/arena\"
```

This page lists the commands that read environment variables. Every flag of the other commands
that takes a value is a key of the config file as well;
[services/cli/README.md](../services/cli/README.md) has them all.

This page is generated: after a change of a flag, run
`ARENA_UPDATE=1 cargo test -p arena-cli settings` and review the diff.
";

/// Settings that are no flags.
const OTHERS: &str = "
## Other environment variables

| Variable | Meaning |
|---|---|
| `ARENA_LISTEN` | set by workers for agents: the address on which an agent listens, `unix:PATH` or `HOST:PORT` |
| `NO_COLOR` | if not empty, output has no colours |
| `CI` | if set, there are no progress bars |
| `TMPDIR` | the folder for temporary files |
";

/// One row for each flag that takes a value.
fn rows(command: &Command, has_keys: bool) -> String {
    let mut text =
        String::from("\n| Flag | Variable | Key | Default | Meaning |\n|---|---|---|---|---|\n");
    let shown = |argument: &&Arg| argument.get_action().takes_values() && !argument.is_hide_set();
    for argument in command.get_arguments().filter(shown) {
        let Some(flag) = argument.get_long() else {
            continue;
        };
        let values = argument.get_value_names().unwrap_or_default();
        let flag_text = values
            .iter()
            .fold(format!("--{flag}"), |text, name| format!("{text} {name}"));
        let variable = argument
            .get_env()
            .map(|name| name.to_string_lossy().into_owned());
        // Commands that read look at these two only if neither flag is given.
        let variable = variable.or_else(|| match flag {
            "coordinator" => Some("ARENA_COORDINATOR".to_owned()),
            "data" => Some("ARENA_DATA".to_owned()),
            _ => None,
        });
        let variable = variable.map_or_else(|| "–".to_owned(), |name| format!("`{name}`"));
        let key = if has_keys {
            format!("`{}`", flag.replace('-', "_"))
        } else {
            "–".to_owned()
        };
        let help = argument
            .get_help()
            .map(ToString::to_string)
            .unwrap_or_default();
        let help = help
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .replace('|', "\\|");
        // A default that depends on the machine is part of the help.
        let (help, in_words) = match help.split_once(" [default: ") {
            Some((help, default)) => (
                help.to_owned(),
                Some(default.trim_end_matches(']').to_owned()),
            ),
            None => (help, None),
        };
        let defaults = argument.get_default_values();
        let default = match (defaults, in_words) {
            ([first, ..], _) => format!("`{}`", first.to_string_lossy()),
            ([], Some(words)) => words,
            ([], None) if argument.is_required_set() => "required".to_owned(),
            ([], None) => "–".to_owned(),
        };
        writeln!(
            text,
            "| `{flag_text}` | {variable} | {key} | {default} | {help} |"
        )
        .expect("room");
    }
    text
}

/// Adds the tables of a command and of all commands below it.
fn add(command: &Command, path: &str, text: &mut String) {
    let has_variable = command
        .get_arguments()
        .any(|argument| argument.get_env().is_some());
    if has_variable && !path.is_empty() {
        let name = path.trim_end_matches('.');
        let title = name.replace('.', " ");
        write!(
            text,
            "\n## arena {title}\n\nTable of the config file: `[{name}]`\n"
        )
        .expect("room");
        *text += &rows(command, true);
    }
    for below in command
        .get_subcommands()
        .filter(|below| !below.is_hide_set())
    {
        add(below, &format!("{path}{}.", below.get_name()), text);
    }
}

#[test]
fn settings_reference_is_current() {
    let command = crate::Cli::command();
    let mut text = INTRODUCTION.to_owned();
    text += "\n## All commands\n";
    text += &rows(&command, false);
    text += "\n## Commands that read results\n\n`arena standings`, `arena game show` and others:\n";
    let standings = command.find_subcommand("standings").expect("a command");
    let access = standings.clone().mut_args(|argument| {
        let is_access = ["coordinator", "data"].contains(&argument.get_id().as_str());
        argument.hide(!is_access)
    });
    text += &rows(&access, true);
    add(&command, "", &mut text);
    text += OTHERS;
    if std::env::var_os("ARENA_UPDATE").is_some() {
        fs::write(PAGE, &text).expect("the reference can be written");
    }
    let known = fs::read_to_string(Path::new(PAGE)).unwrap_or_default();
    for (at, (line, expected)) in known.lines().zip(text.lines()).enumerate() {
        assert_eq!(line, expected, "deploy/SETTINGS.md:{}", at + 1);
    }
    assert_eq!(known.len(), text.len(), "deploy/SETTINGS.md is not current");
}
