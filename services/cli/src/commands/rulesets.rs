//! `arena rulesets`

mod check;
mod new;
mod page;
mod register;
pub(crate) mod registered;

use arena_client::library::Library;
use arena_engine::options::{Kind, Preset, Spec};
use arena_games::RulesetInfo;
use arena_model::{Returns, ReturnsOfSeats, rules::Information};
use clap::{Args, Subcommand};
use itertools::Itertools;
use serde_json::json;

use crate::{
    access::AccessArgs,
    failure::{Failure, Outcome},
    output::{self, Format, Listing},
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
            return list().print(self.output);
        };
        match arena_games::ruleset(name) {
            Ok(info) => About::from(info).print_as(self.output),
            Err(unknown) => {
                let (access, found) = registered::find(self.access, name, unknown).await?;
                registered::show_as(&found, self.output).and(access.close().await)
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

/// What a ruleset says of itself.
struct About<'a> {
    name: &'a str,
    version: u32,
    summary: &'a str,
    seats: (usize, usize),
    options: &'a [Spec],
    presets: &'a [Preset],
    information: Information,
    returns: &'a [ReturnsOfSeats],
}

impl<'a> From<&'a RulesetInfo> for About<'a> {
    fn from(info: &'a RulesetInfo) -> Self {
        Self {
            name: info.name,
            version: info.version,
            summary: info.summary,
            seats: info.seats,
            options: &info.options,
            presets: &info.presets,
            information: Information::Perfect,
            returns: &[],
        }
    }
}

impl About<'_> {
    fn print_as(&self, format: Format) -> Outcome {
        match format {
            Format::Json => output::json(&describe(self)),
            Format::Jsonl => output::json_line(&describe(self)),
            Format::Csv => options(self.options).print(Format::Csv),
            Format::Table => self.print(),
        }
    }

    fn print(&self) -> Outcome {
        output::write(&format!(
            "{} (rules version {}): {}\nseats: {}\n{}{}\n",
            self.name,
            self.version,
            self.summary,
            seats(self.seats),
            match self.information {
                Information::Perfect => "",
                Information::Hidden =>
                    "information: hidden, an agent sees the positions of its own decisions\n",
            },
            self.returns.iter().map(bounds).collect::<String>()
        ))?;
        options(self.options).print(Format::Table)?;
        for preset in self.presets {
            let Preset { name, summary, .. } = preset;
            let seats = preset.seats.map(|seats| format!(" ({seats} seats)"));
            let seats = seats.unwrap_or_default();
            let values = preset.options.iter();
            let values = values
                .map(|(name, value)| format!("{name}={value}"))
                .join(" ");
            output::write(&format!(
                "\npreset \"{name}\": {summary}{seats}\n  {values}\n"
            ))?;
        }
        Ok(())
    }
}

async fn show(ruleset: &str, access: AccessArgs) -> Outcome {
    let name = match arena_games::ruleset(ruleset) {
        Ok(info) => info.name,
        Err(unknown) => {
            let (access, found) = registered::find(access, ruleset, unknown).await?;
            return registered::show(&found).and(access.close().await);
        }
    };
    let page = arena_games::page(name).ok_or_else(|| {
        Failure::usage(format!(
            "the ruleset {name} has no page: `arena rulesets {name}` shows its options"
        ))
    })?;
    output::write(&page::text(page))
}

/// A line with the bounds of returns.
fn bounds(of: &ReturnsOfSeats) -> String {
    let Returns { min, max, parts } = of.returns;
    let seats = of.seats.map(|seats| format!(" with {seats} seats"));
    let parts = (parts > 1).then(|| format!(", in parts of 1/{parts}"));
    format!(
        "returns: {min} to {max}{}{}\n",
        seats.unwrap_or_default(),
        parts.unwrap_or_default()
    )
}

fn seats(seats: (usize, usize)) -> String {
    match seats {
        (least, most) if least == most => least.to_string(),
        (least, most) => format!("{least} to {most}"),
    }
}

fn list() -> Listing<serde_json::Value> {
    let row = |info: &RulesetInfo| {
        let row = vec![
            info.name.to_owned(),
            info.version.to_string(),
            seats(info.seats),
            info.options.len().to_string(),
            info.presets.iter().map(|preset| &preset.name).join(" "),
            info.summary.to_owned(),
        ];
        (row, describe(&About::from(info)))
    };
    Listing {
        header: vec!["ruleset", "version", "seats", "options", "presets", "what"],
        rows: arena_games::rulesets().iter().map(row).collect(),
        empty: "there are no rulesets",
    }
}

fn options(options: &[Spec]) -> Listing<serde_json::Value> {
    let row = |option: &Spec| {
        let row = vec![
            option.name.clone(),
            option.default.to_string(),
            option.kind.to_string(),
            option.summary.clone(),
        ];
        (row, serde_json::Value::Null)
    };
    Listing {
        header: vec!["option", "default", "values", "what"],
        rows: options.iter().map(row).collect(),
        empty: "it has no options",
    }
}

fn describe(about: &About<'_>) -> serde_json::Value {
    let option = |option: &Spec| {
        let mut value = json!({
            "name": option.name,
            "default": option.default,
            "values": option.kind.to_string(),
            "summary": option.summary,
        });
        match &option.kind {
            Kind::Int { min, max } => {
                value["min"] = json!(min);
                value["max"] = json!(max);
            }
            Kind::Choice(words) => value["choices"] = json!(words),
            _ => {}
        }
        value
    };
    let preset = |preset: &Preset| {
        json!({
            "name": preset.name,
            "summary": preset.summary,
            "options": preset.options,
            "seats": preset.seats,
        })
    };
    json!({
        "ruleset": about.name,
        "version": about.version,
        "summary": about.summary,
        "seats_min": about.seats.0,
        "seats_max": about.seats.1,
        "information": about.information,
        "returns": about.returns,
        "options": about.options.iter().map(option).collect::<Vec<_>>(),
        "presets": about.presets.iter().map(preset).collect::<Vec<_>>(),
    })
}
