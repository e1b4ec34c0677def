//! `arena rulesets`

mod check;
mod new;
mod register;

use arena_client::{library::Library, registered};
use arena_model::rules::RulesDescription;
use arena_report::{
    ruleset_page,
    rulesets::{About, CONTENT_SHOWN, describe, listing, options},
};
use arena_wire::v1;
use clap::{Args, Subcommand};

use crate::{
    access::AccessArgs,
    failure::{Failure, Outcome},
    output::{self, Format},
};

/// List the rulesets with their options
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  arena rulesets                 list all rulesets
  arena rulesets cowry           show the options and presets of one ruleset
  arena rulesets my-game --data DIR
                                 show the options of a registered package
  arena rulesets show cowry      print the page of one ruleset: its rules and an example game
  arena rulesets check cowry     play random games and check what the rules promise
  arena rulesets new --lang python my-game
                                 make a folder with the rules of a game of your own
  arena rulesets register my-game --package ./my-game
  arena rulesets register c4 --openspiel connect_four
  arena rulesets register ttt --pettingzoo pettingzoo.classic.tictactoe_v3
  arena rulesets --output json   print everything as JSON"
)]
pub(crate) struct RulesetsArgs {
    #[command(subcommand)]
    command: Option<RulesetsCommand>,

    /// Ruleset whose options and presets to show: built in, or a registered package
    ruleset: Option<String>,

    #[command(flatten)]
    access: AccessArgs,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    output: Format,
}

#[derive(Debug, Subcommand)]
enum RulesetsCommand {
    /// Print the page of a ruleset: rules, options, messages and an example game
    ///
    /// For a registered package, what it says of itself: summary, seats, options and presets.
    #[command(after_help = "\
Examples:
  arena rulesets show kalah | less
  arena rulesets show my-game --coordinator http://127.0.0.1:7600")]
    Show {
        /// Name of the ruleset
        ruleset: String,

        #[command(flatten)]
        access: AccessArgs,
    },
    Check(check::CheckArgs),
    Register(register::RegisterArgs),
    List(register::ListArgs),
    Remove(register::RemoveArgs),
    /// Make a folder with the rules of a game, ready to change
    #[command(after_help = "\
Example:
  arena rulesets new --lang python my-game && my-game/check")]
    New(new::NewArgs),
}

impl RulesetsArgs {
    pub(crate) async fn run(self) -> Outcome {
        match self.command {
            Some(RulesetsCommand::Check(args)) => args.run().await,
            Some(RulesetsCommand::New(args)) => args.run(),
            Some(RulesetsCommand::Register(args)) => args.run().await,
            Some(RulesetsCommand::List(args)) => args.run().await,
            Some(RulesetsCommand::Remove(args)) => args.run().await,
            Some(RulesetsCommand::Show { ruleset, access }) => show(&ruleset, access).await,
            None => self.list().await,
        }
    }

    async fn list(self) -> Outcome {
        let Some(name) = &self.ruleset else {
            return output::print(&listing(), self.output);
        };
        match arena_games::ruleset(name) {
            Ok(info) => print(&About::from(info), self.output),
            Err(unknown) => {
                let (access, found) = registered::find(self.access, name, unknown).await?;
                print_package(&found, self.output).and(access.close().await)
            }
        }
    }
}

/// The library and the name of the game that an option has.
fn game_of_library<'a>(
    openspiel: Option<&'a str>,
    pettingzoo: Option<&'a str>,
) -> Option<(Library, &'a str)> {
    let of = |library, name: Option<&'a str>| name.map(|name| (library, name));
    of(Library::OpenSpiel, openspiel).or(of(Library::PettingZoo, pettingzoo))
}

/// Prints what a ruleset says of itself.
fn print(about: &About<'_>, format: Format) -> Outcome {
    match format {
        Format::Json => output::json(&describe(about)),
        Format::Jsonl => output::json_line(&describe(about)),
        Format::Csv => output::print(&options(about.options), Format::Csv),
        Format::Table => output::write(&about.text(output::width())),
    }
}

/// Prints what a registered package says of itself.
fn print_package(ruleset: &v1::Ruleset, format: Format) -> Outcome {
    let rules = ruleset.rules.clone().unwrap_or_default();
    let description = RulesDescription::parse(&rules.description).map_err(Failure::failed)?;
    let content: String = rules.digest.chars().take(CONTENT_SHOWN).collect();
    let (options, presets) = (description.options(), description.presets());
    let about = About {
        name: &ruleset.name,
        version: description.version,
        summary: &description.summary,
        seats: description.seats,
        options: &options,
        presets: &presets,
        information: description.information,
        returns: &description.returns,
    };
    print(&about, format)?;
    match format {
        Format::Table => output::write(&format!(
            "\npackage: content {content}, registered by {}\n",
            ruleset.owner
        )),
        _ => Ok(()),
    }
}

async fn show(ruleset: &str, access: AccessArgs) -> Outcome {
    let name = match arena_games::ruleset(ruleset) {
        Ok(info) => info.name,
        Err(unknown) => {
            let (access, found) = registered::find(access, ruleset, unknown).await?;
            return print_package(&found, Format::Table).and(access.close().await);
        }
    };
    let page = arena_games::page(name).ok_or_else(|| {
        Failure::usage(format!(
            "the ruleset {name} has no page: `arena rulesets {name}` shows its options"
        ))
    })?;
    output::write(&ruleset_page::text(page))
}
