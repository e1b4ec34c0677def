//! Settings from a TOML file: below flags and environment, above defaults.

use std::{ffi::OsString, path::Path};

use clap::Command;

use crate::failure::{Failure, Outcome};

const VARIABLE: &str = "ARENA_CONFIG";

/// The file that `--config FILE` or `ARENA_CONFIG` names, before anything else
/// is read.
pub(crate) fn named(arguments: &[OsString]) -> Option<OsString> {
    let mut rest = arguments.iter().skip(1);
    while let Some(argument) = rest.next() {
        if argument == "--" {
            break;
        }
        if argument == "--config" {
            return rest.next().cloned();
        }
        let text = argument.to_string_lossy();
        if let Some(value) = text.strip_prefix("--config=") {
            return Some(value.into());
        }
    }
    std::env::var_os(VARIABLE).filter(|value| !value.is_empty())
}

/// Takes the defaults of commands from a file: a table for each command, a key
/// for each of its flags.
pub(crate) fn apply(mut command: Command, file: &Path) -> Outcome<Command> {
    let wrong = |problem: String| Failure::usage(format!("{}: {problem}", file.display()));
    let text = std::fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
    let table: toml::Table = text
        .parse()
        .map_err(|error: toml::de::Error| wrong(error.to_string().trim_end().to_owned()))?;
    for (section, keys) in &table {
        let known: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        if !known.contains(&section.as_str()) {
            return Err(wrong(format!(
                "there is no command [{section}]{}",
                near(section, &known)
            )));
        }
        let Some(keys) = keys.as_table() else {
            return Err(wrong(format!("{section} must be a table: [{section}]")));
        };
        for (key, value) in keys {
            command = set(command, section, key, value).map_err(wrong)?;
        }
    }
    Ok(command)
}

fn set(
    mut command: Command,
    section: &str,
    key: &str,
    value: &toml::Value,
) -> Result<Command, String> {
    let flag = key.replace('_', "-");
    let text = match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Integer(_) | toml::Value::Float(_) => value.to_string(),
        _ => return Err(format!("[{section}] {key}: write text or a number")),
    };
    let subcommand = command
        .find_subcommand(section)
        .ok_or_else(|| format!("there is no command [{section}]"))?;
    let takes_value = |argument: &&clap::Arg| argument.get_action().takes_values();
    let flags: Vec<&str> = subcommand
        .get_arguments()
        .filter(takes_value)
        .filter_map(clap::Arg::get_long)
        .collect();
    let Some(argument) = subcommand
        .get_arguments()
        .filter(takes_value)
        .find(|argument| argument.get_long() == Some(&flag))
    else {
        return Err(format!(
            "[{section}] has no setting \"{key}\"{}",
            near(&flag, &flags)
        ));
    };
    let id = argument.get_id().clone();
    command = command.mut_subcommand(section, |subcommand| {
        subcommand.mut_arg(id, |argument| argument.default_value(text).required(false))
    });
    Ok(command)
}

fn near(name: &str, known: &[&str]) -> String {
    arena_engine::options::nearest(name, known.iter().copied()).map_or_else(
        || format!("; there are {}", known.join(", ")),
        |nearest| format!(", did you mean \"{nearest}\"?"),
    )
}
