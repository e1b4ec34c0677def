//! From a spec to a tournament with all settings resolved.

use std::collections::HashMap;

use arena_model::{
    AgentName, AgentRef, Registration, SandboxLevel, Tournament, TournamentSeed, canonical_json,
    engine::options::{self, Options, nearest},
    is_hidden, printable,
    record::{Program, RecordAgent},
    spec::{GamePlay, Play, Records, Spec, Variant},
};
use arena_tournament::{Stages, Tally, format::Games};
use arena_wire::{
    convert::{options_from_wire, options_to_wire, required_options},
    v1::{self, agent::Source, agent_setup},
};
use tonic::Status;

use crate::{
    agents::{self, Agents, CheckNative},
    error::Error,
    openings, random,
};

/// Maximum games of a tournament: finished games are in memory, one bit each.
const GAMES_MAX: u64 = 1_000_000_000;
/// Maximum groups of a stage: the results of each group are in memory.
const GROUPS_MAX: u64 = 1_000_000;

/// A tournament that can be started.
#[derive(Debug)]
pub(crate) struct Plan {
    /// Id of the first attempt.
    id: String,
    pub(crate) tournament: Tournament,
    /// The spec with its seed and the length of its openings; as given if it has them.
    pub(crate) spec_toml: String,
    pub(crate) games: Games,
    /// Before the first game, as the tally.
    pub(crate) stages: Stages,
    pub(crate) tally: Tally,
    /// Without the id of the tournament.
    pub(crate) setup: v1::TournamentSetup,
    /// True if neither the spec nor the request names the seed.
    is_drawn: bool,
    /// Conceals the seed in its commitment, if the seed is sealed.
    nonce: Option<[u8; 32]>,
    /// Share of games lost without an answer above which it pauses itself.
    pub(crate) unplayed_limit: f64,
    /// Share of games to audit; none: that of the coordinator.
    pub(crate) audit_share: Option<f64>,
    pub(crate) sandbox: Option<SandboxLevel>,
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
        let is_drawn = seed.is_empty();
        let seed = match seed {
            "" => spec.seed.unwrap_or(drawn),
            seed => seed.parse()?,
        };
        let is_drawn = is_drawn && spec.seed.is_none();
        let mut is_complete = spec.seed == Some(seed);
        spec.seed = Some(seed);
        let (options, seats) = arena_games::resolve(&spec.ruleset, &spec.options, spec.seats)?;
        let rules_version = arena_games::ruleset(&spec.ruleset)?.version;
        let variants = Variants::new(&spec);
        let (refs, setups): (Vec<_>, Vec<_>) = spec
            .agents
            .iter()
            .map(|name| resolve_agent(name, &spec, &options, &variants, agents))
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
            // The share of audits, the number of processes and the sandbox change no record.
            play: Play {
                audit_share: None,
                replicas: None,
                sandbox: None,
                ..spec.play.clone()
            },
            openings: None,
        };
        let agents_options = tournament.agents.iter().map(|agent| &agent.options);
        for options in agents_options.chain([&tournament.options]) {
            check_options_visible(options)?;
        }
        openings::settle(&mut tournament)?;
        setup.play = Some(v1::PlaySettings {
            replicas: spec.play.replicas.unwrap_or_default(),
            ..play_settings(&tournament)
        });
        if spec.play.opening_plies.is_none() && tournament.openings.is_some() {
            spec.play.opening_plies = tournament.play.opening_plies;
            is_complete = false;
        }
        for (agent, setup) in tournament.agents.iter().zip(&setup.agents) {
            if let Some(agent_setup::Source::Native(_)) = setup.source {
                agents.check_native(agent, &tournament)?;
            }
        }
        let stages = Stages::new(&tournament)?;
        let schedule = stages.schedule();
        let groups = match schedule.blocks() {
            0 => 0,
            _ => schedule.groups_listed(0),
        };
        if groups > GROUPS_MAX {
            return Err(Error::TooManyGroups {
                groups,
                most: GROUPS_MAX,
            });
        }
        let games = stages.games();
        if games.most > GAMES_MAX {
            return Err(Error::TooManyGames {
                games: games.most,
                most: GAMES_MAX,
            });
        }
        Ok(Self {
            spec_toml: match is_complete {
                true => spec_toml.to_owned(),
                false => spec.to_toml(),
            },
            id: tournament.id(1),
            tally: Tally::new(&tournament)?,
            tournament,
            stages,
            games,
            setup,
            is_drawn,
            nonce: None,
            unplayed_limit: spec.unplayed_limit,
            audit_share: spec.play.audit_share,
            sandbox: spec.play.sandbox,
        })
    }

    /// Seals a drawn seed until the tournament is over.
    pub(crate) fn seal(&mut self, nonce: [u8; 32]) {
        self.nonce = self.is_drawn.then_some(nonce);
    }

    /// The answer to a request for a plan.
    pub(crate) fn response(&self) -> v1::PlanTournamentResponse {
        let games = self.games;
        v1::PlanTournamentResponse {
            tournament: Some(self.message(1)),
            games_least: games.least,
            games_most: games.most,
            games_expected: games.expected,
        }
    }

    /// The tournament's id, for this attempt.
    pub(crate) fn id(&self, attempt: u32) -> String {
        Tournament::attempt_id(&self.id, attempt)
    }

    /// The tournament as a message, for this attempt, not yet running.
    pub(crate) fn message(&self, attempt: u32) -> v1::Tournament {
        let id = self.id(attempt);
        let setup = v1::TournamentSetup {
            tournament_id: id.clone(),
            ..self.setup.clone()
        };
        v1::Tournament {
            tournament_id: id,
            name: self.tournament.name.to_string(),
            state: v1::TournamentState::Unspecified.into(),
            spec_json: canonical_json(&self.tournament),
            ruleset: self.tournament.ruleset.clone(),
            format: self.tournament.format.name().to_owned(),
            spec_toml: self.spec_toml.clone(),
            setup: Some(setup),
            games_total: self.games.most,
            games_done: 0,
            created_unix_us: 0,
            finished_unix_us: 0,
            unplayed_limit: Some(self.unplayed_limit),
            audit_share: self.audit_share,
            sandbox: self
                .sandbox
                .map_or_else(String::new, |level| level.to_string()),
            seed_commitment: self.nonce.map_or_else(String::new, |nonce| {
                hex::encode(self.tournament.seed.commitment(&nonce))
            }),
            seed_nonce: self.nonce.map(hex::encode).unwrap_or_default(),
            ..v1::Tournament::default()
        }
    }
}

/// Plans a tournament of built-in bots without a coordinator: the answer of one on which no
/// agent is registered.
///
/// # Errors
/// The status with which a coordinator refuses the spec.
pub fn plan(
    request: &v1::PlanTournamentRequest,
    native: v1::DescribeResponse,
    check_native: CheckNative,
) -> Result<v1::PlanTournamentResponse, Status> {
    let agents = Agents::new(native, check_native, Vec::new());
    let drawn = TournamentSeed::from_bytes(random::bytes()?);
    let plan = Plan::new(&request.spec_toml, &request.seed, drawn, &agents)?;
    Ok(plan.response())
}

/// Settings of play for workers. Openings that many games share are sent with each game.
/// Refuses options with hidden characters: records contain options, and are printed as they are.
fn check_options_visible(options: &Options) -> Result<(), Error> {
    for (name, value) in options {
        let text = format!("{name} = {value}");
        if text.contains(is_hidden) {
            return Err(Error::Request(format!(
                "option {} has a control character or an invisible one: remove it",
                printable(&text)
            )));
        }
    }
    Ok(())
}

fn play_settings(tournament: &Tournament) -> v1::PlaySettings {
    let mut play = v1::PlaySettings::from(&tournament.play);
    if tournament.openings.is_some() {
        play.opening_plies = 0;
    }
    play
}

fn resolve_agent(
    name: &AgentName,
    spec: &Spec,
    ruleset_options: &Options,
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

/// Maximum variants of a bot with metrics of their own. More of them are an evolution or a
/// search for settings, whose names mean nothing outside their tournament.
const LABELLED_VARIANTS_MAX: usize = 10;

/// The variants of a spec.
struct Variants<'a> {
    by_name: HashMap<&'a AgentName, &'a Variant>,
    /// Number of variants of each bot.
    of_bot: HashMap<(&'a str, Option<&'a AgentName>), usize>,
}

/// The bot of a variant, and the agent that offers it.
fn bot_of(variant: &Variant) -> (&str, Option<&AgentName>) {
    (&variant.bot, variant.from.as_ref())
}

impl<'a> Variants<'a> {
    fn new(spec: &'a Spec) -> Self {
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
    let unmet = arena_games::unmet(ruleset, &required, options)?;
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
