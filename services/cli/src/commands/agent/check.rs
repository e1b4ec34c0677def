//! `arena agent check`, and asking an agent what it offers.

use std::{path::PathBuf, sync::Arc, time::Duration};

use arena_wire::{convert, v1, v1::agent::Source};
use arena_worker::{
    AgentOptions, AgentSource, BinaryProvider, DescribeError, Provided, play_games, play_one,
    supervise::Limits,
};
use clap::Args;

use super::register::{FileCopy, Found, Target};
use crate::{
    failure::{Failure, Outcome},
    output::{Format, note},
    units,
};

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("where").required(true).args(["binary", "endpoint"]))]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    target: Target,

    /// The bot to check [default: the first]
    #[arg(long)]
    bot: Option<String>,

    /// The ruleset to play [default: each one the bot plays]
    #[arg(long)]
    ruleset: Option<String>,

    /// How to print
    #[arg(long, value_enum, default_value_t)]
    output: Format,
}

/// Asks an agent what it offers; the error is ready to be shown.
pub(super) async fn describe(
    found: &Found,
    start_timeout: u64,
) -> Result<v1::DescribeResponse, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let source = match (&found.source, &found.file) {
        (Source::Binary(binary), Some(file)) => {
            let mut limits = Limits::from_wire(binary.limits.as_ref());
            limits.start = Duration::from_secs(start_timeout);
            AgentSource::Program {
                path: file.path(),
                args: binary.args.iter().map(Into::into).collect(),
                limits,
            }
        }
        (Source::Endpoint(endpoint), _) => AgentSource::Endpoint(endpoint.url.clone()),
        _ => return Err("it is neither a binary nor an endpoint".to_owned()),
    };
    arena_worker::describe(source, AgentOptions::of_executable(program))
        .await
        .map_err(|error| shown(&error))
}

fn shown(error: &DescribeError) -> String {
    let mut text = error
        .kind
        .map_or_else(String::new, |kind| format!("{}: ", kind.name()));
    text += &error.message;
    for line in error.stderr_tail.lines() {
        text += &format!("\n    {line}");
    }
    text
}

impl CheckArgs {
    pub(crate) async fn run(self) -> Outcome {
        let found = self.target.find()?;
        let endpoint = self.target.endpoint.is_some();
        let description = describe(&found, self.target.start_timeout)
            .await
            .map_err(|error| {
                if endpoint {
                    Failure::unreachable(error)
                } else {
                    Failure::differs(error)
                }
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
        let bot = self.bot(&description)?;
        let rulesets = self.rulesets(&bot)?;
        let mut faults = 0;
        for ruleset in &rulesets {
            faults += self.play(&found, &description, &bot, ruleset).await?;
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
        let known = || description.bots.iter().map(|bot| bot.name.as_str());
        description
            .bots
            .iter()
            .find(|bot| bot.name == *name)
            .cloned()
            .ok_or_else(|| {
                Failure::usage(format!(
                    "it offers no bot \"{name}\"; its bots are {}",
                    known().collect::<Vec<_>>().join(", ")
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

    /// Plays a game of the agent against itself; gives the number of faults.
    async fn play(
        &self,
        found: &Found,
        description: &v1::DescribeResponse,
        bot: &v1::Bot,
        ruleset: &str,
    ) -> Outcome<usize> {
        let none = arena_engine::options::Options::new();
        let (options, seats) =
            arena_games::resolve(ruleset, &none, None).map_err(Failure::usage)?;
        let info = arena_games::ruleset(ruleset).map_err(Failure::usage)?;
        let bot_options = bot
            .options
            .iter()
            .filter(|option| {
                option.rulesets.is_empty() || option.rulesets.iter().any(|known| known == ruleset)
            })
            .map(|option| v1::OptionValue {
                name: option.name.clone(),
                value: option.default_value.clone(),
            })
            .collect::<Vec<_>>();
        let source = match &found.source {
            Source::Binary(binary) => v1::agent_setup::Source::Binary(binary.clone()),
            Source::Endpoint(endpoint) => v1::agent_setup::Source::Endpoint(endpoint.clone()),
            Source::Native(native) => v1::agent_setup::Source::Native(*native),
        };
        let agent = v1::AgentSetup {
            label: String::new(),
            name: "checked".to_owned(),
            bot: bot.name.clone(),
            options: bot_options,
            batch_size: description.batch_size,
            omit_move_details: description.omit_move_details,
            deterministic: bot.deterministic,
            source: Some(source),
            record_json: String::new(),
        };
        let play = arena_model::spec::Play::default();
        let setup = v1::TournamentSetup {
            tournament_id: "check".to_owned(),
            ruleset: ruleset.to_owned(),
            rules_version: info.version,
            options: convert::options_to_wire(&options),
            seats: seats as u32,
            agents: vec![agent],
            play: Some((&play).into()),
            hash_only: false,
            luck: true,
            play_json: String::new(),
        };
        let game = v1::GameAssignment {
            index: 0,
            block: 0,
            seed: 1,
            seats: vec![0; seats],
            attempts: 0,
            opening: Vec::new(),
        };
        let provider = Arc::new(LocalBinary(found.file.as_ref().map(FileCopy::path)));
        let run = AgentOptions::of_executable(std::env::current_exe()?);
        let other_seeds = setup.clone();
        let played = play_one(setup, game.clone(), provider.clone(), run.clone())
            .await
            .map_err(Failure::failed)?;
        note(format!(
            "{ruleset}: a game against itself, {} plies, {}",
            played.record.plies,
            played.record.termination.name()
        ));
        for detail in &played.fault_details {
            note(format!("  seat {}: {}", detail.seat, detail.message));
            for line in detail.stderr_tail.lines() {
                note(format!("    {line}"));
            }
        }
        let built = arena_games::build(ruleset, &options, seats).map_err(Failure::usage)?;
        let mut faults = played.record.faults.len();
        if faults == 0 && !built.has_chance() {
            let games = (1..=SEEDS).map(|seed| v1::GameAssignment {
                index: seed,
                seed,
                ..game.clone()
            });
            let reports = play_games(other_seeds, games.collect(), SEEDS as usize, provider, run)
                .await
                .map_err(Failure::failed)?;
            faults += note_seed_use(ruleset, bot, &reports)?;
        }
        Ok(faults)
    }
}

/// So many games that differ in their seeds alone show whether an agent uses them.
const SEEDS: u64 = 20;

/// Reports whether games with other seeds went another way, and compares that with
/// what the bot says of itself. Returns the number of false claims.
fn note_seed_use(ruleset: &str, bot: &v1::Bot, reports: &[v1::GameReport]) -> Outcome<usize> {
    let mut courses = std::collections::BTreeSet::new();
    for report in reports {
        let record = crate::model::record(report.record.as_ref())?;
        courses.insert(record.course());
    }
    let (games, different) = (reports.len(), courses.len());
    let found = if different > 1 {
        format!("{ruleset}: uses its seed ({different} different games with {games} seeds)")
    } else {
        format!("{ruleset}: does not use its seed (the same game with each of {games} seeds)")
    };
    match (bot.uses_seed(), different > 1) {
        (v1::SeedUse::No, true) => {
            note(format!("{found}, but describes itself with SEED_USE_NO"));
            return Ok(1);
        }
        (v1::SeedUse::Yes, false) => note(format!(
            "{found}, but describes itself with SEED_USE_YES: games that repeat will count once"
        )),
        (v1::SeedUse::Unspecified, _) => {
            note(format!("{found}; say so in the description (uses_seed)"));
        }
        _ => note(found),
    }
    Ok(0)
}

/// The file that is checked.
struct LocalBinary(Option<PathBuf>);

impl BinaryProvider for LocalBinary {
    fn provide<'a>(&'a self, binary: &'a v1::BinarySource) -> Provided<'a> {
        let path = self.0.clone().ok_or_else(|| {
            arena_worker::BinaryError::new(binary, "it is not on this machine".to_owned())
        });
        Box::pin(async { path })
    }
}
