//! From a spec to a tournament with all settings resolved.

use arena_model::{
    AgentName, AgentRef, Registration, Tournament, TournamentSeed, canonical_json,
    engine::options::{self, Options, nearest},
    record::{Program, RecordAgent},
    spec::{GamePlay, Records, Spec, Variant},
};
use arena_tournament::{Stages, format::Games};
use arena_wire::{
    convert::{option_spec_from_wire, options_from_wire, options_to_wire},
    v1::{self, agent::Source, agent_setup},
};

use crate::{
    agents::{self, Agents},
    error::Error,
    openings,
};

/// Maximum games of a tournament: finished games are in memory, one bit each.
const GAMES_MAX: u64 = 1_000_000_000;

/// A tournament that can be started.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) tournament: Tournament,
    /// The spec with its seed.
    pub(crate) spec_toml: String,
    pub(crate) games: Games,
    /// Without the id of the tournament.
    pub(crate) setup: v1::TournamentSetup,
    /// Share of games lost without an answer above which it pauses itself.
    pub(crate) unplayed_limit: f64,
}

impl Plan {
    /// Resolves a spec. `seed` replaces the spec's seed unless it is empty; `drawn` is used if
    /// neither names one.
    pub(crate) fn new(
        spec_toml: &str,
        seed: &str,
        drawn: TournamentSeed,
        agents: &Agents,
    ) -> Result<Self, Error> {
        let mut spec = Spec::parse(spec_toml)?;
        let mut spec_toml = spec_toml.to_owned();
        let given = spec.seed;
        let seed = if seed.is_empty() {
            given.unwrap_or(drawn)
        } else {
            seed.parse()?
        };
        if given != Some(seed) {
            spec.seed = Some(seed);
            spec_toml = spec.to_toml();
        }
        let (options, seats) = arena_games::resolve(&spec.ruleset, &spec.options, spec.seats)?;
        let rules_version = arena_games::ruleset(&spec.ruleset)?.version;
        let (refs, setups): (Vec<_>, Vec<_>) = spec
            .agents
            .iter()
            .map(|name| resolve_agent(name, &spec, agents))
            .collect::<Result<Vec<_>, _>>()?
            .into_iter()
            .unzip();
        let mut setup = v1::TournamentSetup {
            tournament_id: String::new(),
            ruleset: spec.ruleset.clone(),
            rules_version,
            options: options_to_wire(&options),
            seats: seats as u32,
            agents: setups,
            play: None,
            hash_only: spec.records == Records::Hash,
            luck: true,
            play_json: canonical_json(&GamePlay::from(&spec.play)),
        };
        let settings = spec.settings()?;
        let mut tournament = Tournament {
            name: spec.name.clone(),
            ruleset: spec.ruleset.clone(),
            rules_version,
            options,
            seed,
            format: spec.format,
            settings,
            blocks: spec.blocks,
            seats,
            agents: refs,
            play: spec.play.clone(),
            openings: None,
        };
        openings::settle(&mut tournament)?;
        setup.play = Some(play_settings(&tournament));
        if spec.play.opening_plies.is_none() && tournament.openings.is_some() {
            spec.play.opening_plies = tournament.play.opening_plies;
            spec_toml = spec.to_toml();
        }
        for (agent, setup) in tournament.agents.iter().zip(&setup.agents) {
            if let Some(agent_setup::Source::Native(_)) = setup.source {
                agents.check_native(agent, &tournament)?;
            }
        }
        let games = Stages::new(&tournament)?.games();
        if games.most > GAMES_MAX {
            return Err(Error::TooManyGames {
                games: games.most,
                most: GAMES_MAX,
            });
        }
        Ok(Self {
            tournament,
            spec_toml,
            games,
            setup,
            unplayed_limit: spec.unplayed_limit,
        })
    }

    /// True if chance outcomes and moves are not stored.
    pub(crate) fn hash_only(&self) -> bool {
        self.setup.hash_only
    }

    /// The tournament as a message, for this attempt, not yet running.
    pub(crate) fn message(mut self, attempt: u32) -> v1::Tournament {
        let id = self.tournament.id(attempt);
        self.setup.tournament_id.clone_from(&id);
        v1::Tournament {
            tournament_id: id,
            name: self.tournament.name.to_string(),
            state: v1::TournamentState::Unspecified.into(),
            spec_json: canonical_json(&self.tournament),
            ruleset: self.tournament.ruleset.clone(),
            format: self.tournament.format.name().to_owned(),
            spec_toml: self.spec_toml,
            setup: Some(self.setup),
            games_total: self.games.most,
            games_done: 0,
            created_unix_us: 0,
            finished_unix_us: 0,
            unplayed_limit: Some(self.unplayed_limit),
            ..v1::Tournament::default()
        }
    }
}

/// Settings of play for workers. Openings that many games share are sent with each game.
fn play_settings(tournament: &Tournament) -> v1::PlaySettings {
    let mut play = v1::PlaySettings::from(&tournament.play);
    if tournament.openings.is_some() {
        play.opening_plies = 0;
    }
    play
}

/// True if a bot with these options uses its seed; none if it does not declare that.
fn uses_seed(bot: &v1::Bot, ruleset: &str, options: &Options) -> Option<bool> {
    match bot.uses_seed() {
        v1::SeedUse::Unspecified => None,
        v1::SeedUse::Yes => Some(true),
        v1::SeedUse::No => {
            let specs = bot.options.iter().map(option_spec_from_wire);
            let specs: Vec<_> = specs.filter_map(Result::ok).collect();
            let mut specs = options::of_ruleset(&specs, ruleset).into_iter();
            let draws = |spec: &options::Spec| {
                let value = options.get(&spec.name);
                spec.uses_seed && value.is_some_and(|value| *value != spec.default)
            };
            Some(specs.any(|spec| draws(&spec)))
        }
    }
}

/// How to reach the agent of a spec, and the bot that it plays.
struct Chosen<'a> {
    process: String,
    source: agent_setup::Source,
    description: Option<v1::DescribeResponse>,
    version: String,
    content: String,
    bot: &'a str,
    options: Options,
}

fn resolve_agent(
    name: &AgentName,
    spec: &Spec,
    agents: &Agents,
) -> Result<(AgentRef, v1::AgentSetup), Error> {
    let variant = spec.variants.iter().find(|variant| variant.name == *name);
    let registered;
    let chosen = match variant {
        Some(variant) => of_variant(variant, agents)?,
        None => {
            registered = find(name.as_str(), spec, agents)?;
            let bot = registered.bot.as_str();
            of_process(&registered, bot, given(&registered, bot))
        }
    };
    let bot = find_bot(name, &chosen, &spec.ruleset)?;
    let options = match bot {
        Some(bot) => bot_options(name, bot, &spec.ruleset, &chosen.options)?,
        None if chosen.options.is_empty() => Options::new(),
        None => {
            return Err(Error::NoOptions {
                agent: name.to_string(),
            });
        }
    };
    let bot_name = bot.map_or_else(|| chosen.bot.to_owned(), |bot| bot.name.clone());
    let uses_seed = bot.and_then(|bot| uses_seed(bot, &spec.ruleset, &options));
    let description = chosen.description.as_ref();
    let setup = v1::AgentSetup {
        name: name.to_string(),
        bot: bot_name.clone(),
        options: options_to_wire(&options),
        batch_size: description.map_or(0, |known| known.batch_size),
        omit_move_details: description.is_some_and(|known| known.omit_move_details),
        deterministic: bot.is_some_and(|bot| bot.deterministic),
        source: Some(chosen.source.clone()),
        label: label(variant, &bot_name, spec).to_owned(),
        record_json: recorded(&chosen, &bot_name, &options).to_json(),
    };
    let agent = AgentRef {
        name: name.clone(),
        bot: bot_name,
        version: chosen.version,
        uses_seed,
        options,
        content: chosen.content,
        registration: match chosen.source {
            agent_setup::Source::Endpoint(endpoint) => Some(Registration {
                name: endpoint.name,
                url: endpoint.url,
                registered_unix_us: endpoint.registered_unix_us,
            }),
            agent_setup::Source::Binary(_) | agent_setup::Source::Native(_) => None,
        },
    };
    Ok((agent, setup))
}

/// The description of an agent in records.
fn recorded(chosen: &Chosen<'_>, bot: &str, options: &Options) -> RecordAgent {
    let (program, sha256, args) = match &chosen.source {
        agent_setup::Source::Native(_) => (Program::Native, String::new(), Vec::new()),
        agent_setup::Source::Binary(binary) => {
            (Program::Package, binary.sha256.clone(), binary.args.clone())
        }
        agent_setup::Source::Endpoint(_) => (Program::Endpoint, String::new(), Vec::new()),
    };
    RecordAgent {
        bot: bot.to_owned(),
        options: options.clone(),
        version: chosen.version.clone(),
        program,
        sha256,
        args,
    }
}

/// Maximum variants of a bot with metrics of their own. More of them are an evolution or a
/// search for settings, whose names mean nothing outside their tournament.
const LABELLED_VARIANTS_MAX: usize = 10;

/// Label of an agent in metrics; empty: its name.
fn label<'a>(variant: Option<&Variant>, bot: &'a str, spec: &Spec) -> &'a str {
    let Some(variant) = variant else {
        return "";
    };
    let alike = |other: &&Variant| other.bot == variant.bot && other.from == variant.from;
    let count = spec.variants.iter().filter(alike).count();
    if count > LABELLED_VARIANTS_MAX {
        bot
    } else {
        ""
    }
}

fn find(name: &str, spec: &Spec, agents: &Agents) -> Result<v1::Agent, Error> {
    agents.get(name).ok_or_else(|| {
        let variants = spec.variants.iter().map(|variant| variant.name.as_str());
        Error::UnknownAgent {
            name: name.to_owned(),
            nearest: agents.nearest(name, variants.collect::<Vec<_>>().into_iter()),
        }
    })
}

fn of_variant<'a>(variant: &'a Variant, agents: &Agents) -> Result<Chosen<'a>, Error> {
    let Some(from) = &variant.from else {
        agents.check_bot_name(variant.name.as_str(), &variant.bot)?;
        return Ok(Chosen {
            process: "arena".to_owned(),
            source: agent_setup::Source::Native(v1::NativeSource {}),
            description: Some(agents.native().clone()),
            version: agents.native().version.clone(),
            content: String::new(),
            bot: &variant.bot,
            options: variant.options.clone(),
        });
    };
    let process = agents
        .get(from.as_str())
        .ok_or_else(|| Error::UnknownAgent {
            name: from.to_string(),
            nearest: agents.nearest(from.as_str(), std::iter::empty()),
        })?;
    let mut options = given(&process, &variant.bot);
    options.extend(variant.options.clone());
    Ok(of_process(&process, &variant.bot, options))
}

/// The registered options of an agent, if it plays the registered bot.
fn given(agent: &v1::Agent, bot: &str) -> Options {
    let played = match agents::chosen(agent) {
        Some(chosen) => chosen.name.as_str(),
        None => agent.bot.as_str(),
    };
    if bot.is_empty() || bot == played {
        options_from_wire(&agent.options)
    } else {
        Options::new()
    }
}

fn of_process<'a>(agent: &v1::Agent, bot: &'a str, options: Options) -> Chosen<'a> {
    Chosen {
        process: format!("\"{}\"", agent.name),
        source: match agent.source.clone() {
            Some(Source::Binary(binary)) => agent_setup::Source::Binary(binary),
            Some(Source::Endpoint(endpoint)) => agent_setup::Source::Endpoint(endpoint),
            Some(Source::Native(_)) | None => agent_setup::Source::Native(v1::NativeSource {}),
        },
        description: agent.description.clone(),
        version: agent.version.clone(),
        content: agent.content.clone(),
        bot,
        options,
    }
}

/// The bot as its process describes it, if it does.
fn find_bot<'a>(
    name: &AgentName,
    chosen: &'a Chosen<'_>,
    ruleset: &str,
) -> Result<Option<&'a v1::Bot>, Error> {
    let bots = match &chosen.description {
        Some(description) => description.bots.as_slice(),
        None => &[],
    };
    let Some(first) = bots.first() else {
        return Ok(None);
    };
    let bot = if chosen.bot.is_empty() {
        first
    } else {
        let known = bots.iter().find(|bot| bot.name == chosen.bot);
        known.ok_or_else(|| Error::UnknownBot {
            agent: name.to_string(),
            process: chosen.process.clone(),
            bot: chosen.bot.to_owned(),
            nearest: nearest(chosen.bot, bots.iter().map(|bot| bot.name.as_str())),
        })?
    };
    if !bot.rulesets.is_empty() && !bot.rulesets.iter().any(|known| known == ruleset) {
        return Err(Error::RulesetUnsupported {
            agent: name.to_string(),
            ruleset: ruleset.to_owned(),
            plays: bot.rulesets.clone(),
        });
    }
    Ok(Some(bot))
}

fn bot_options(
    name: &AgentName,
    bot: &v1::Bot,
    ruleset: &str,
    given: &Options,
) -> Result<Options, Error> {
    let specs = bot
        .options
        .iter()
        .map(option_spec_from_wire)
        .collect::<Result<Vec<_>, _>>()?;
    let specs = options::of_ruleset(&specs, ruleset);
    options::resolve(&specs, &[], given).map_err(|error| Error::BotOption {
        agent: name.to_string(),
        error,
    })
}
