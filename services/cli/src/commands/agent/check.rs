//! `arena agent check`, and the query of an agent's description.

use arena_report::units;
use std::path::PathBuf;

use arena_wire::{convert, v1, v1::agent::Source};
use clap::Args;
use itertools::Itertools;

use crate::{
    failure::{Failure, Outcome},
    output::{Format, note},
};
use arena_client::check::{Checked, Found, Target, describe, unknown_rulesets};

/// Environment variables through which runtimes find files outside the agent.
const SEARCH_PATHS: [&str; 4] = ["PYTHONPATH", "PYTHONHOME", "NODE_PATH", "CLASSPATH"];

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("where").required(true).args(["path", "binary", "endpoint"]))]
#[command(group = clap::ArgGroup::new("program").args(["path", "binary"]))]
pub(crate) struct CheckArgs {
    /// Agent to check, as for --binary
    path: Option<PathBuf>,

    #[command(flatten)]
    target: Target,

    /// Bot to check [default: the first]
    #[arg(long)]
    bot: Option<String>,

    /// Ruleset to play [default: every ruleset that the bot plays]
    #[arg(long)]
    ruleset: Option<String>,

    /// Show what the agent printed: all output of one process, and the output of the
    /// other process by game
    #[arg(long)]
    show_output: bool,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    output: Format,
}

impl CheckArgs {
    pub(crate) async fn run(mut self) -> Outcome {
        if let Some(path) = self.path.take() {
            self.target.binary = Some(path);
        }
        let found = self.target.find()?;
        let endpoint = self.target.endpoint.is_some();
        let description = describe(&found).await.map_err(|error| match endpoint {
            true => Failure::unreachable(error),
            false => Failure::differs(error),
        })?;
        let agent = v1::Agent {
            name: "checked".to_owned(),
            version: description.version.clone(),
            bot: self.bot.clone().unwrap_or_default(),
            source: Some(found.source.clone()),
            description: Some(description.clone()),
            content: match &found.source {
                Source::Binary(binary) => convert::content(binary),
                Source::Endpoint(_) | Source::Native(_) => String::new(),
            },
            ..v1::Agent::default()
        };
        super::list::print(&agent, self.output)?;
        if let Some(problem) = unknown_rulesets(&description).first() {
            return Err(Failure::differs(problem));
        }
        let bot = self.bot(&description)?;
        let rulesets = self.rulesets(&bot)?;
        note_search_paths(&found);
        let checked = Checked {
            found: &found,
            description: &description,
            bot: &bot,
            show_output: self.show_output,
        };
        let mut faults = 0;
        for ruleset in &rulesets {
            faults += checked.play(ruleset).await?;
        }
        if faults > 0 {
            return Err(Failure::differs(units::plural(faults as u64, "fault")));
        }
        note("no fault");
        Ok(())
    }

    fn bot(&self, description: &v1::DescribeResponse) -> Outcome<v1::Bot> {
        let Some(name) = &self.bot else {
            return Ok(description.bots.first().cloned().unwrap_or_default());
        };
        let bots = &description.bots;
        let found = bots.iter().find(|bot| bot.name == *name).cloned();
        found.ok_or_else(|| {
            Failure::usage(format!(
                "bot \"{name}\" is unknown; the agent offers {}",
                bots.iter().map(|bot| &bot.name).join(", ")
            ))
        })
    }

    fn rulesets(&self, bot: &v1::Bot) -> Outcome<Vec<String>> {
        if let Some(ruleset) = &self.ruleset {
            arena_games::ruleset(ruleset).map_err(Failure::usage)?;
            return Ok(vec![ruleset.clone()]);
        }
        Ok(arena_games::rulesets()
            .iter()
            .map(|info| info.name.to_owned())
            .filter(|name| bot.rulesets.is_empty() || bot.rulesets.contains(name))
            .collect())
    }
}

/// Notes the search paths in the environment, because workers have another environment.
fn note_search_paths(found: &Found) {
    if found.file.is_none() {
        return;
    }
    for name in SEARCH_PATHS {
        if std::env::var_os(name).is_some_and(|value| !value.is_empty()) {
            note(format!(
                "warning: {name} is set here: if the agent needs it, set it on workers too"
            ));
        }
    }
}
