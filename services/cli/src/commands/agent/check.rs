//! `arena agent check`, and the query of an agent's description.

use arena_report::units;
use std::path::{Path, PathBuf};

use arena_wire::{convert, v1, v1::agent::Source};
use arena_worker::supervise::GARBLED_HELLO;
use clap::Args;
use itertools::Itertools;
use serde_json::json;

use crate::{
    access::AccessArgs,
    failure::{Failure, Outcome},
    output::{self, Format, note},
};
use arena_client::{
    check::{Checked, Found, Report, Step, Target, describe, own_rulesets, wrong_names},
    registered,
    rules::Rules,
};

/// Environment variables through which runtimes find files outside the agent.
const SEARCH_PATHS: [&str; 4] = ["PYTHONPATH", "PYTHONHOME", "NODE_PATH", "CLASSPATH"];

/// Without a limit, an engine uses the whole time for each of thousands of moves.
const UCI_NODES: u64 = 1_000;

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("where").required(true).args(["path", "binary", "uci", "openspiel", "endpoint"]))]
#[command(group = clap::ArgGroup::new("program").args(["path", "binary", "uci", "openspiel"]))]
pub(crate) struct CheckArgs {
    /// Agent to check, as for --binary
    path: Option<PathBuf>,

    #[command(flatten)]
    target: Target,

    /// Bot to check [default: the first]
    #[arg(long)]
    bot: Option<String>,

    /// Ruleset to play: one of `arena rulesets`, or a registered package [default: every ruleset of
    /// `arena rulesets` that the bot plays]
    #[arg(long)]
    ruleset: Option<String>,

    /// Package of the rules of --ruleset that need not be registered: an executable file, or a folder
    /// or archive that contains an arena-agent.toml
    #[arg(long, value_name = "PATH", requires = "ruleset", conflicts_with_all = ["coordinator", "data"])]
    package: Option<PathBuf>,

    #[command(flatten)]
    access: AccessArgs,

    /// Positions that the bot may search for each move [default: no limit; 1000 with --uci]
    #[arg(long, value_name = "N")]
    nodes: Option<u64>,

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
        let mut report = Report {
            speaks_uci: found.speaks_uci,
            ..Report::default()
        };
        let description = match describe(&found).await {
            Ok(description) => description,
            Err(error) => {
                let problem = error.lines().next().unwrap_or_default();
                let mut failed = Step::Start;
                if problem.contains(GARBLED_HELLO) {
                    report.judge(Step::Start, Ok("it answers hello".to_owned()));
                    failed = Step::Hello;
                }
                report.judge(failed, Err(problem.to_owned()));
                return self.stop(
                    report,
                    None,
                    match self.target.endpoint.is_some() {
                        true => Failure::unreachable(error),
                        false => Failure::differs(error),
                    },
                );
            }
        };
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
        if self.output == Format::Table {
            super::list::print(&agent, self.output)?;
        }
        let bot = self.bot(&description)?;
        let checked = Checked {
            found: &found,
            description: &description,
            bot: &bot,
            show_output: self.show_output,
            nodes: self.nodes.unwrap_or(match found.speaks_uci {
                true => UCI_NODES,
                false => 0,
            }),
        };
        checked.start(&mut report).await?;
        let own = own_rulesets(&description);
        if let Some(problem) = wrong_names(&description, &own).first() {
            report.judge(Step::Hello, Err(problem.clone()));
            return self.stop(report, Some(&agent), Failure::differs(problem));
        }
        let bots = units::plural(description.bots.len().max(1) as u64, "bot");
        report.judge(Step::Hello, Ok(bots));
        let unplayed = own.iter().filter(|&it| self.ruleset.as_ref() != Some(it));
        for name in unplayed {
            note(format!(
                "{name} is not built in, so it is not played: check it with --ruleset {name} and \
                 --package PATH, or --coordinator URL if it is registered"
            ));
        }
        let files = tempfile::tempdir()?;
        let rulesets = self.rulesets(&bot, files.path()).await?;
        note_search_paths(&found);
        let problems = checked.play(&rulesets, &mut report).await?;
        if problems > 0 {
            let problems = Failure::differs(units::plural(problems, "fault"));
            return self.stop(report, Some(&agent), problems);
        }
        checked.ask(&rulesets, &mut report).await?;
        report.skip_rest("only for programs that a worker starts");
        self.print(&report, Some(&agent))?;
        match report.failure() {
            None => {
                note("no fault");
                Ok(())
            }
            Some(failure) => Err(Failure::differs(failure)),
        }
    }

    /// Prints the steps so far, and fails.
    fn stop(&self, mut report: Report, agent: Option<&v1::Agent>, failure: Failure) -> Outcome {
        report.skip_rest("an earlier step failed");
        self.print(&report, agent)?;
        Err(failure)
    }

    /// Prints the steps; with the agent, if that was not printed before.
    fn print(&self, report: &Report, agent: Option<&v1::Agent>) -> Outcome {
        match (self.output, agent) {
            (Format::Table, Some(_)) => output::write(&format!("\n{}", report.to_text())),
            (Format::Table, None) => output::write(&report.to_text()),
            (Format::Csv, Some(agent)) => super::list::print(agent, self.output),
            (Format::Csv, None) => Ok(()),
            (Format::Json | Format::Jsonl, agent) => {
                let mut document = agent.map_or_else(|| json!({}), super::list::describe);
                document["steps"] = json!(report.steps);
                match self.output {
                    Format::Json => output::json(&document),
                    _ => output::json_line(&document),
                }
            }
        }
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

    /// The rules of the games, with the files of packages in a folder.
    async fn rulesets(&self, bot: &v1::Bot, folder: &Path) -> Outcome<Vec<Rules>> {
        let Some(name) = &self.ruleset else {
            let plays = |name| bot.rulesets.is_empty() || bot.rulesets.iter().any(|it| it == name);
            let listed = arena_games::rulesets()
                .iter()
                .filter(|info| plays(info.name));
            let listed: Vec<Rules> = listed.map(Rules::Listed).collect();
            if listed.is_empty() {
                let names = bot.rulesets.iter().format(", ");
                return Err(Failure::usage(format!(
                    "nothing was checked: bot \"{}\" plays only {names}, which is not built in; add \
                     --ruleset NAME and --package PATH, or --coordinator URL if it is registered",
                    bot.name
                )));
            }
            return Ok(listed);
        };
        if !bot.rulesets.is_empty() && !bot.rulesets.contains(name) {
            return Err(Failure::usage(format!(
                "bot \"{}\" does not play {name}, but {}",
                bot.name,
                bot.rulesets.iter().format(", ")
            )));
        }
        let rules = match (&self.package, arena_games::ruleset(name)) {
            (Some(_), Ok(_)) => {
                return Err(Failure::usage(format!(
                    "{name} is built in: leave out --package, or give another name"
                )));
            }
            (Some(path), Err(_)) => Rules::of_path(name, path.clone(), Vec::new(), false)?,
            (None, Ok(info)) => Rules::Listed(info),
            (None, Err(unknown)) => {
                let found = registered::fetch(self.access.clone(), name, unknown, folder);
                let (file, binary) = found.await?;
                Rules::of_fetched(name, file, binary, false)?
            }
        };
        Ok(vec![rules])
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
