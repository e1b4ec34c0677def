//! The agents of a tournament.

use std::collections::HashMap;

use arena_model::{
    AgentName, AgentRef, Registration,
    engine::options::{self, Options, nearest},
    printable,
    record::{Program, RecordAgent},
    rules::Information,
    spec::{Spec, Variant},
};
use arena_wire::{
    convert::{options_from_wire, options_to_wire, required_options},
    v1::{self, agent::Source, agent_setup},
};

use crate::{
    agents::{self, Agents},
    error::Error,
};

pub(super) fn resolve_agent(
    name: &AgentName,
    spec: &Spec,
    (ruleset_options, information): (&Options, Information),
    variants: &Variants<'_>,
    agents: &Agents,
) -> Result<(AgentRef, v1::AgentSetup), Error> {
    let variant = variants.by_name.get(name).copied();
    let process = match variant {
        None => find(name, agents, &spec.variants)?,
        Some(Variant { from: None, .. }) => agents.native_process(),
        Some(Variant {
            from: Some(from), ..
        }) => find(from, agents, &[])?,
    };
    if let Some(Variant {
        from: None, bot, ..
    }) = variant
    {
        agents.check_bot_name(name.as_str(), bot)?;
    }
    let chosen = variant.map_or(&process.bot, |variant| &variant.bot);
    let mut options = registered_options(&process, chosen);
    options.extend(
        variant
            .into_iter()
            .flat_map(|variant| variant.options.clone()),
    );
    let bot = find_bot(name, &process, chosen, &spec.ruleset, ruleset_options)?;
    if !information.is_perfect() && bot.is_some_and(|bot| bot.perfect_information) {
        return Err(Error::BotRefuses {
            agent: name.to_string(),
            reason: format!(
                "it needs whole states, and seats of {} see only a part of them",
                spec.ruleset
            ),
        });
    }
    let (options, uses_seed) = match bot {
        Some(bot) => bot_options(name, bot, &spec.ruleset, &options)?,
        None if options.is_empty() => (options, None),
        None => {
            return Err(Error::NoOptions {
                agent: name.to_string(),
            });
        }
    };
    let bot_name = bot.map_or(chosen, |bot| &bot.name);
    let (source, program) = match &process.source {
        Some(Source::Binary(binary)) => (
            agent_setup::Source::Binary(binary.clone()),
            Program::Package,
        ),
        Some(Source::Endpoint(endpoint)) => (
            agent_setup::Source::Endpoint(endpoint.clone()),
            Program::Endpoint,
        ),
        Some(Source::Native(_)) | None => (
            agent_setup::Source::Native(v1::NativeSource {}),
            Program::Native,
        ),
    };
    let (sha256, args) = match &source {
        agent_setup::Source::Binary(binary) => (binary.sha256.clone(), binary.args.clone()),
        _ => Default::default(),
    };
    // Records contain the version, and are printed as they are.
    let version = printable(&process.version).into_owned();
    let record = RecordAgent {
        bot: bot_name.clone(),
        options: options.clone(),
        version: version.clone(),
        program,
        sha256,
        args,
    };
    let registration = match &source {
        agent_setup::Source::Endpoint(endpoint) => Some(Registration {
            name: endpoint.name.clone(),
            url: endpoint.url.clone(),
            registered_unix_us: endpoint.registered_unix_us,
        }),
        _ => None,
    };
    let description = process.description.as_ref();
    let setup = v1::AgentSetup {
        name: name.to_string(),
        bot: bot_name.clone(),
        options: options_to_wire(&options),
        batch_size: description.map_or(0, |known| known.batch_size),
        omit_move_details: description.is_some_and(|known| known.omit_move_details),
        deterministic: bot.is_some_and(|bot| bot.deterministic),
        source: Some(source),
        label: variants.label(variant, bot_name).to_owned(),
        replicas: process.replicas,
        cpus: process.cpus,
        sticky: description.is_some_and(|known| known.sticky),
        concurrent: description.is_some_and(|known| known.concurrent),
        record_json: record.to_json(),
    };
    let agent = AgentRef {
        name: name.clone(),
        bot: bot_name.clone(),
        version,
        uses_seed,
        options,
        content: process.content.clone(),
        registration,
    };
    Ok((agent, setup))
}

/// Resolves an agent that gets this name in an open ladder, which has a built-in ruleset.
pub(crate) fn resolve_entry(
    name: &AgentName,
    agent: &AgentName,
    spec: &Spec,
    ruleset_options: &Options,
    agents: &Agents,
) -> Result<(AgentRef, v1::AgentSetup), Error> {
    let variants = Variants::new(spec);
    let resolved = resolve_agent(
        agent,
        spec,
        (ruleset_options, Information::Perfect),
        &variants,
        agents,
    )?;
    let (mut entry, mut setup) = resolved;
    entry.name = name.clone();
    setup.name = name.to_string();
    if setup.label.is_empty() {
        // All versions of an agent have the same metrics.
        setup.label = agent.to_string();
    }
    Ok((entry, setup))
}

/// Maximum variants of a bot with metrics of their own. More of them are an evolution or a
/// search for settings, whose names mean nothing outside their tournament.
const LABELLED_VARIANTS_MAX: usize = 10;

/// The variants of a spec.
pub(super) struct Variants<'a> {
    by_name: HashMap<&'a AgentName, &'a Variant>,
    /// Number of variants of each bot.
    of_bot: HashMap<(&'a str, Option<&'a AgentName>), usize>,
}

/// The bot of a variant, and the agent that offers it.
fn bot_of(variant: &Variant) -> (&str, Option<&AgentName>) {
    (&variant.bot, variant.from.as_ref())
}

impl<'a> Variants<'a> {
    pub(super) fn new(spec: &'a Spec) -> Self {
        let mut of_bot = HashMap::new();
        for variant in &spec.variants {
            *of_bot.entry(bot_of(variant)).or_default() += 1;
        }
        Self {
            by_name: spec.variants.iter().map(|it| (&it.name, it)).collect(),
            of_bot,
        }
    }

    /// Label of an agent in metrics; empty: its name.
    fn label<'b>(&self, variant: Option<&Variant>, bot: &'b str) -> &'b str {
        match variant.and_then(|variant| self.of_bot.get(&bot_of(variant))) {
            None | Some(0..=LABELLED_VARIANTS_MAX) => "",
            Some(_) => bot,
        }
    }
}

/// The agent of a name; an error suggests the names of these variants, too.
fn find(name: &AgentName, agents: &Agents, variants: &[Variant]) -> Result<v1::Agent, Error> {
    agents.get(name.as_str()).ok_or_else(|| {
        let variants = variants.iter().map(|variant| variant.name.as_str());
        Error::UnknownAgent {
            name: name.to_string(),
            nearest: agents.nearest(name.as_str(), variants),
        }
    })
}

/// The registered options of an agent, if it plays the registered bot.
fn registered_options(agent: &v1::Agent, bot: &str) -> Options {
    let played = agents::chosen(agent).map_or(&agent.bot, |chosen| &chosen.name);
    if bot.is_empty() || bot == played {
        options_from_wire(&agent.options)
    } else {
        Options::new()
    }
}

/// The bot as its process describes it, if it does; an empty name is that of the first one.
fn find_bot<'a>(
    agent: &AgentName,
    process: &'a v1::Agent,
    name: &str,
    ruleset: &str,
    options: &Options,
) -> Result<Option<&'a v1::Bot>, Error> {
    let bots = agents::bots(process);
    if bots.is_empty() {
        return Ok(None);
    }
    let mut known = bots.iter();
    let Some(bot) = known.find(|bot| name.is_empty() || bot.name == name) else {
        return Err(Error::UnknownBot {
            agent: agent.to_string(),
            process: match &*process.name {
                "" => "arena".to_owned(),
                process => format!("\"{process}\""),
            },
            bot: name.to_owned(),
            nearest: nearest(name, bots.iter().map(|bot| bot.name.as_str())),
        });
    };
    if !bot.rulesets.is_empty() && !bot.rulesets.iter().any(|known| known == ruleset) {
        return Err(Error::RulesetUnsupported {
            agent: agent.to_string(),
            ruleset: ruleset.to_owned(),
            plays: bot.rulesets.clone(),
        });
    }
    let required = required_options(bot, ruleset);
    let unmet = match required.is_empty() {
        true => Options::new(),
        false => arena_games::unmet(ruleset, &required, options)?,
    };
    if !unmet.is_empty() {
        let list = |values: &Options| {
            let values = unmet
                .keys()
                .map(|name| format!("{name} = {}", values[name]));
            values.collect::<Vec<_>>().join(", ")
        };
        let (needed, given) = (list(&unmet), list(options));
        return Err(Error::BotRefuses {
            agent: agent.to_string(),
            reason: format!("it plays {ruleset} only with {needed}; the tournament has {given}"),
        });
    }
    Ok(Some(bot))
}

/// The options of a bot, and true if the bot uses its seed with them; none if it does not declare
/// that.
fn bot_options(
    agent: &AgentName,
    bot: &v1::Bot,
    ruleset: &str,
    given: &Options,
) -> Result<(Options, Option<bool>), Error> {
    let specs = options::of_ruleset(&agents::option_specs(bot)?, ruleset);
    let options = options::resolve(&specs, &[], given).map_err(|error| Error::BotOption {
        agent: agent.to_string(),
        error,
    })?;
    let draws = |spec: &options::Spec| {
        let value = options.get(&spec.name);
        spec.uses_seed && value.is_some_and(|value| *value != spec.default)
    };
    let uses_seed = match bot.uses_seed() {
        v1::SeedUse::Unspecified => None,
        v1::SeedUse::Yes => Some(true),
        v1::SeedUse::No => Some(specs.iter().any(draws)),
    };
    Ok((options, uses_seed))
}
