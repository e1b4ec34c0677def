//! Settings from a TOML file. Flags and environment variables take precedence over them;
//! they take precedence over defaults.

use std::{ffi::OsString, path::Path};

use clap::Command;

use crate::failure::{Failure, Outcome};

const VARIABLE: &str = "ARENA_CONFIG";

/// The file named by `--config FILE` or `ARENA_CONFIG`, read before all other arguments.
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

/// Sets the defaults of commands from a file. It has a table for each command with a key
/// for each flag, and nested tables for subcommands, such as `[tournament.watch]`.
pub(crate) fn apply(command: Command, file: &Path) -> Outcome<Command> {
    let wrong = |problem: String| Failure::usage(format!("{}: {problem}", file.display()));
    let text = std::fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
    let table: toml::Table = text
        .parse()
        .map_err(|error: toml::de::Error| wrong(error.to_string().trim_end().to_owned()))?;
    below(command, "", &table).map_err(wrong)
}

/// Sets the defaults of the subcommands; `place` is the command's full name followed by a
/// dot, empty at the top.
fn below(command: Command, place: &str, table: &toml::Table) -> Result<Command, String> {
    table.iter().try_fold(command, |command, (key, value)| {
        match (value.as_table(), command.find_subcommand(key)) {
            (Some(table), Some(subcommand)) => {
                let changed = below(subcommand.clone(), &format!("{place}{key}."), table)?;
                Ok(command.mut_subcommand(key, |_| changed))
            }
            (None, Some(_)) => Err(format!("{place}{key} must be a table: [{place}{key}]")),
            (None, None) if !place.is_empty() => {
                set(command, place.trim_end_matches('.'), key, value)
            }
            (_, None) => Err(format!(
                "unknown command [{place}{key}]{}",
                near(key, &subcommands(&command))
            )),
        }
    })
}

fn subcommands(command: &Command) -> Vec<&str> {
    command.get_subcommands().map(Command::get_name).collect()
}

fn set(command: Command, section: &str, key: &str, value: &toml::Value) -> Result<Command, String> {
    let flag = key.replace('_', "-");
    let text = match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Integer(_) | toml::Value::Float(_) => value.to_string(),
        _ => return Err(format!("[{section}] {key}: expected text or a number")),
    };
    let takes_value = |argument: &&clap::Arg| argument.get_action().takes_values();
    let arguments: Vec<&clap::Arg> = command.get_arguments().filter(takes_value).collect();
    let flags: Vec<&str> = { arguments.iter() }
        .filter_map(|it| it.get_long())
        .collect();
    let commands = subcommands(&command);
    let Some(argument) = arguments.iter().find(|argument| {
        let aliases = argument.get_all_aliases().unwrap_or_default();
        argument.get_long() == Some(&flag) || aliases.contains(&&*flag)
    }) else {
        return Err(match commands.first() {
            Some(first) if flags.is_empty() => format!(
                "[{section}] has no setting \"{key}\": {section} has several commands ({}); use \
                 the table of one of them, such as [{section}.{first}]",
                commands.join(", ")
            ),
            _ => format!(
                "[{section}] has no setting \"{key}\"{}",
                near(&flag, &flags)
            ),
        });
    };
    let id = argument.get_id().clone();
    Ok(command.mut_arg(id, |argument| argument.default_value(text).required(false)))
}

fn near(name: &str, known: &[&str]) -> String {
    arena_engine::options::nearest(name, known.iter().copied()).map_or_else(
        || format!("; there are {}", known.join(", ")),
        |nearest| format!(", did you mean \"{nearest}\"?"),
    )
}

#[cfg(test)]
mod tests {
    use clap::Arg;

    use super::*;

    fn command() -> Command {
        let flag = |name: &'static str| Arg::new(name).long(name).required(true);
        Command::new("arena")
            .subcommand(Command::new("run").arg(flag("workers")))
            .subcommand(
                Command::new("paper")
                    .subcommand(Command::new("list"))
                    .subcommand(Command::new("run").arg(flag("games"))),
            )
    }

    fn applied(text: &str) -> Result<Command, String> {
        below(command(), "", &text.parse().expect("TOML"))
    }

    #[test]
    fn table_sets_flags_of_subcommands() {
        let command = applied("[run]\nworkers = 3\n[paper.run]\ngames = \"7\"").expect("known");
        for (words, id, value) in [
            (vec!["arena", "run"], "workers", "3"),
            (vec!["arena", "paper", "run"], "games", "7"),
        ] {
            let matches = command.clone().try_get_matches_from(words).expect("set");
            let mut of = &matches;
            while let Some((_, below)) = of.subcommand() {
                of = below;
            }
            assert_eq!(of.get_one::<String>(id).map(String::as_str), Some(value));
        }
    }

    #[test]
    fn unknown_keys_name_the_nearest() {
        for (text, reported) in [
            (
                "[rum]\nworkers = 3",
                "unknown command [rum], did you mean \"run\"?",
            ),
            ("[run]\nworker = 3", "did you mean \"workers\"?"),
            ("[paper]\ngames = 7", "such as [paper.list]"),
            ("[paper.rum]\ngames = 7", "unknown command [paper.rum]"),
            ("run = 3", "run must be a table"),
            ("workers = 3", "unknown command [workers]"),
            ("[run]\nworkers = [3]", "expected text or a number"),
        ] {
            let problem = applied(text).expect_err(text);
            assert!(problem.contains(reported), "{text}: {problem}");
        }
    }
}
