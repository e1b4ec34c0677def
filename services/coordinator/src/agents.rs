//! The agents: registered ones and built-in bots.

use std::collections::{BTreeMap, BTreeSet};

use arena_model::{
    AgentName, AgentRef, PERSON, Tournament,
    engine::options::{self, nearest},
    printable_line,
};
use arena_wire::{
    convert::{ConvertError, content, option_spec_from_wire, options_from_wire, options_to_wire},
    networks::AgentNetworks,
    v1::{self, agent::Source},
};
use prost::Message;

use crate::{binaries::check_binary, error::Error};

/// Checks that a built-in bot plays a game, or returns the reason why it does not. Arguments:
/// name and options of the bot, name and options of the ruleset, seats. The coordinator itself
/// makes no bots.
pub type CheckNative =
    fn(&str, &options::Options, &str, &options::Options, usize) -> Result<(), String>;

/// Maximum bytes of a registration, with its description.
const AGENT_BYTES_MAX: usize = 128 << 10;
/// Maximum number of bots, options, rulesets, choices and arguments of a registration: in memory, each
/// takes many times the bytes of its message.
const AGENT_PARTS_MAX: usize = 1_000;
/// Number of digits of a digest that are shown.
const SHOWN: usize = 12;

/// All agents by name.
#[derive(Clone)]
pub(crate) struct Agents {
    native: v1::DescribeResponse,
    check_native: CheckNative,
    registered: BTreeMap<String, v1::Agent>,
    /// Where endpoints may be.
    pub(crate) networks: AgentNetworks,
}

impl Agents {
    pub(crate) fn new(
        native: v1::DescribeResponse,
        check_native: CheckNative,
        registered: Vec<v1::Agent>,
    ) -> Self {
        Self {
            native,
            check_native,
            registered: registered
                .into_iter()
                .map(|agent| (agent.name.clone(), agent))
                .collect(),
            networks: AgentNetworks::default(),
        }
    }

    /// The same agents with endpoints only in these networks.
    pub(crate) fn within(mut self, networks: AgentNetworks) -> Self {
        self.networks = networks;
        self
    }

    /// The process of the built-in bots; it has no name.
    pub(crate) fn native_process(&self) -> v1::Agent {
        v1::Agent {
            version: self.native.version.clone(),
            description: Some(self.native.clone()),
            source: Some(Source::Native(v1::NativeSource {})),
            ..v1::Agent::default()
        }
    }

    /// Checks that a built-in bot with these options plays a tournament's games.
    pub(crate) fn check_native(
        &self,
        agent: &AgentRef,
        tournament: &Tournament,
    ) -> Result<(), Error> {
        (self.check_native)(
            &agent.bot,
            &agent.options,
            &tournament.ruleset,
            &tournament.options,
            tournament.seats,
        )
        .map_err(|reason| Error::BotRefuses {
            agent: agent.name.to_string(),
            reason,
        })
    }

    /// True if an endpoint of a tournament was registered again or removed since its start.
    pub(crate) fn lacks_endpoint_of(&self, tournament: &Tournament) -> bool {
        let mut registrations =
            { tournament.agents.iter() }.filter_map(|it| it.registration.as_ref());
        registrations.any(|played| {
            let now = self.registered.get(&played.name);
            now.is_none_or(|now| now.registered_unix_us != played.registered_unix_us)
        })
    }

    /// The agent of a name: registered, or a built-in bot.
    pub(crate) fn get(&self, name: &str) -> Option<v1::Agent> {
        let registered = self.registered.get(name).cloned();
        registered
            .map(|agent| self.completed(agent))
            .or_else(|| self.native_agent(name))
    }

    /// Number of registered agents of an owner.
    pub(crate) fn owned_by(&self, owner: &str) -> u64 {
        let owned = self.registered.values().filter(|it| it.owner == owner);
        owned.count() as u64
    }

    /// Completes a registration: a built-in bot has the description of this coordinator, whatever
    /// it was at registration, and a binary has a content.
    pub(crate) fn completed(&self, mut agent: v1::Agent) -> v1::Agent {
        match &mut agent.source {
            Some(Source::Native(_)) => {
                agent.version.clone_from(&self.native.version);
                agent.description = Some(self.native.clone());
            }
            Some(Source::Binary(binary)) => agent.content = content(binary),
            Some(Source::Endpoint(endpoint)) => {
                endpoint.name.clone_from(&agent.name);
                endpoint.registered_unix_us = agent.registered_unix_us;
            }
            None => {}
        }
        agent
    }

    fn native_agent(&self, name: &str) -> Option<v1::Agent> {
        let bot = self.native.bots.iter().find(|bot| bot.name == name)?;
        Some(v1::Agent {
            name: bot.name.clone(),
            bot: bot.name.clone(),
            description: Some(v1::DescribeResponse {
                bots: vec![bot.clone()],
                ..self.native.clone()
            }),
            ..self.native_process()
        })
    }

    /// SHA-256 of the binaries of registered agents.
    pub(crate) fn binaries(&self) -> impl Iterator<Item = &str> {
        let agents = self.registered.values();
        agents.filter_map(|agent| match &agent.source {
            Some(Source::Binary(binary)) => Some(&*binary.sha256),
            _ => None,
        })
    }

    /// The agents after a name in ascending order of names. Each is copied when it is asked for.
    pub(crate) fn after(&self, name: &str) -> impl Iterator<Item = v1::Agent> {
        let native = self.native.bots.iter().map(|bot| &*bot.name);
        let names = native.chain(self.registered.keys().map(|name| &**name));
        let names: BTreeSet<&str> = names.filter(|&known| known > name).collect();
        names.into_iter().filter_map(|name| self.get(name))
    }

    /// The known name that is most similar to this one.
    pub(crate) fn nearest<'a>(
        &'a self,
        name: &str,
        more: impl Iterator<Item = &'a str>,
    ) -> Option<String> {
        let native = self.native.bots.iter().map(|bot| bot.name.as_str());
        let registered = self.registered.keys().map(String::as_str);
        nearest(name, native.chain(registered).chain(more))
    }

    /// The error for an unknown agent, with the most similar name.
    pub(crate) fn not_found(&self, name: &str) -> Error {
        Error::AgentNotFound {
            name: name.to_owned(),
            nearest: self.nearest(name, std::iter::empty()),
        }
    }

    pub(crate) fn insert(&mut self, agent: v1::Agent) {
        self.registered.insert(agent.name.clone(), agent);
    }

    /// Removes a registration. Fails if there is none.
    pub(crate) fn check_remove(&self, name: &str) -> Result<(), Error> {
        if self.registered.contains_key(name) {
            Ok(())
        } else if self.native_agent(name).is_some() {
            Err(Error::AgentConflict(format!(
                "agent \"{name}\" is a built-in bot and cannot be removed"
            )))
        } else {
            Err(self.not_found(name))
        }
    }

    pub(crate) fn remove(&mut self, name: &str) {
        self.registered.remove(name);
    }

    /// Checks a registration. Returns the agent to be stored: the known one if nothing is new.
    /// `uploaded` returns true if the coordinator has a binary.
    pub(crate) fn check(
        &self,
        mut agent: v1::Agent,
        replace: bool,
        now_unix_us: u64,
        uploaded: impl Fn(&[u8; 32]) -> bool,
    ) -> Result<v1::Agent, Error> {
        let name: AgentName = agent.name.parse()?;
        if agent.encoded_len() > AGENT_BYTES_MAX {
            return Err(Error::Request(format!(
                "the description of agent \"{name}\" exceeds {AGENT_BYTES_MAX} bytes"
            )));
        }
        let parts = part_count(&agent);
        if parts > AGENT_PARTS_MAX {
            return Err(Error::Request(format!(
                "the description of agent \"{name}\" has {parts} bots, options, rulesets, choices \
                 and arguments: at most {AGENT_PARTS_MAX} are allowed"
            )));
        }
        if self.native_agent(name.as_str()).is_some() {
            return Err(Error::AgentConflict(format!(
                "agent \"{name}\" is a built-in bot: choose another name"
            )));
        }
        if name.as_str() == PERSON {
            return Err(Error::AgentConflict(format!(
                "\"{name}\" is the seat of a person in `arena play`: choose another name"
            )));
        }
        check_source(&agent, uploaded)?;
        if let Some(Source::Endpoint(endpoint)) = &agent.source {
            let refused = |reason| {
                let url = &endpoint.url;
                Error::Request(format!("agent \"{name}\" cannot be at {url}: {reason}"))
            };
            self.networks.check(&endpoint.url).map_err(refused)?;
        }
        if let Some(Source::Native(_)) = agent.source {
            agent.version.clear();
            agent.description = None;
            self.check_bot_name(name.as_str(), &agent.bot)?;
        }
        agent.options = check_bot(&self.completed(agent.clone()))?;
        let described = agent.description.iter().map(|known| &known.version);
        if let Some(version) = described.into_iter().find(|version| !version.is_empty()) {
            agent.version = version.clone();
        } else if agent.version.is_empty()
            && let Some(Source::Binary(binary)) = &agent.source
        {
            agent.version = content(binary)[..SHOWN].to_owned();
        }
        // It is shown on one line. The description stays as the program sent it.
        agent.version = printable_line(agent.version.trim()).into_owned();
        agent.content.clear();
        agent.registered_unix_us = now_unix_us;
        let known = self.registered.get(name.as_str());
        let is_endpoint = matches!(agent.source, Some(Source::Endpoint(_)));
        if is_endpoint {
            // Each registration of an endpoint is another agent, even within one tick of the clock.
            let before = known.map_or(0, |known| known.registered_unix_us);
            agent.registered_unix_us = now_unix_us.max(before + 1);
        }
        let Some(known) = known else {
            return Ok(agent);
        };
        if !is_same(known, &agent) {
            return match replace {
                true => Ok(agent),
                false => Err(conflict(known, &agent)),
            };
        }
        let same = v1::Agent {
            registered_unix_us: agent.registered_unix_us,
            ..known.clone()
        };
        // A program that cannot be queried now has not changed because of that.
        let unasked = matches!(agent.source, Some(Source::Binary(_)))
            && agent.description.is_none()
            && known.description.is_some();
        if !is_endpoint && (same == agent || unasked) {
            return Ok(known.clone());
        }
        Ok(agent)
    }

    /// Fails if the name of a built-in bot is that of a registered agent.
    pub(crate) fn check_bot_name(&self, agent: &str, bot: &str) -> Result<(), Error> {
        let is_bot = self.native.bots.iter().any(|known| known.name == bot);
        if is_bot || !self.registered.contains_key(bot) {
            return Ok(());
        }
        Err(Error::BotIsAgent {
            agent: agent.to_owned(),
            bot: bot.to_owned(),
        })
    }
}

/// True if two registrations under one name are the same agent: the same content or address,
/// bot and options. Descriptions are not compared.
fn is_same(known: &v1::Agent, agent: &v1::Agent) -> bool {
    let same_source = match (&known.source, &agent.source) {
        (Some(Source::Binary(known)), Some(Source::Binary(now))) => content(known) == content(now),
        (Some(Source::Endpoint(known)), Some(Source::Endpoint(now))) => known.url == now.url,
        (known, now) => known == now,
    };
    same_source && known.bot == agent.bot && known.options == agent.options
}

fn conflict(known: &v1::Agent, agent: &v1::Agent) -> Error {
    let shown = |agent: &v1::Agent| match &agent.source {
        Some(Source::Binary(binary)) => format!("content {}", &content(binary)[..SHOWN]),
        Some(Source::Endpoint(endpoint)) => format!("endpoint {}", endpoint.url),
        Some(Source::Native(_)) | None => format!("built-in bot {}", agent.bot),
    };
    let version = match known.version.as_str() {
        "" => String::new(),
        version => format!("version \"{}\", ", printable_line(version)),
    };
    let (before, now) = (shown(known), shown(agent));
    let now = match before == now {
        true => "the new one has another bot or other options".to_owned(),
        false => format!("the new one has {now}"),
    };
    Error::AgentConflict(format!(
        "agent \"{}\" is already registered with {version}{before}, {now}: choose another name, \
         or use --replace",
        agent.name
    ))
}

fn check_source(agent: &v1::Agent, uploaded: impl Fn(&[u8; 32]) -> bool) -> Result<(), Error> {
    match &agent.source {
        Some(Source::Binary(binary)) => check_binary("agent", &agent.name, binary, uploaded),
        Some(Source::Endpoint(endpoint)) => {
            let unix = endpoint.url.strip_prefix("unix:");
            let fits = match unix {
                Some(path) => path.starts_with('/'),
                None => endpoint
                    .url
                    .parse::<tonic::transport::Uri>()
                    .is_ok_and(|url| url.scheme_str() == Some("http") && url.port().is_some()),
            };
            if fits {
                Ok(())
            } else {
                Err(Error::Request(format!(
                    "\"{}\" is not an endpoint: expected http://HOST:PORT or unix:/PATH",
                    endpoint.url
                )))
            }
        }
        Some(Source::Native(_)) if !agent.bot.is_empty() => Ok(()),
        Some(Source::Native(_)) | None => Err(Error::Request(format!(
            "agent \"{}\" needs a binary, an endpoint or the name of a built-in bot",
            agent.name
        ))),
    }
}

/// The bot that an agent plays if a spec names only the agent; none if its process does not
/// describe it.
pub(crate) fn chosen(agent: &v1::Agent) -> Option<&v1::Bot> {
    let mut bots = bots(agent).iter();
    bots.find(|bot| agent.bot.is_empty() || bot.name == agent.bot)
}

/// The bots that the process of an agent describes.
pub(crate) fn bots(agent: &v1::Agent) -> &[v1::Bot] {
    agent.description.as_ref().map_or(&[], |known| &known.bots)
}

/// Number of bots, options, rulesets, choices and arguments of a registration.
fn part_count(agent: &v1::Agent) -> usize {
    let of_option = |option: &v1::BotOption| 1 + option.choices.len() + option.rulesets.len();
    let of_bot = |bot: &v1::Bot| {
        let options: usize = bot.options.iter().map(of_option).sum();
        1 + bot.rulesets.len() + bot.required_options.len() + options
    };
    let arguments = match &agent.source {
        Some(Source::Binary(binary)) => binary.args.len(),
        _ => 0,
    };
    let bots: usize = bots(agent).iter().map(of_bot).sum();
    bots + agent.options.len() + arguments
}

/// The options that a bot describes.
pub(crate) fn option_specs(bot: &v1::Bot) -> Result<Vec<options::Spec>, ConvertError> {
    bot.options.iter().map(option_spec_from_wire).collect()
}

/// Checks the description of a process and the chosen bot. Returns the options in the form in
/// which they are stored.
fn check_bot(agent: &v1::Agent) -> Result<Vec<v1::OptionValue>, Error> {
    let bots = bots(agent);
    for (place, bot) in bots.iter().enumerate() {
        let named = bot.name.parse::<AgentName>();
        named.map_err(|error| {
            Error::Request(format!(
                "the description of the agent, bots[{place}].name: {error}"
            ))
        })?;
        option_specs(bot)?;
    }
    match chosen(agent) {
        Some(bot) => check_options(agent, bot),
        None if !agent.bot.is_empty() && agent.description.is_some() => Err(Error::UnknownBot {
            agent: agent.name.clone(),
            process: match agent.source {
                Some(Source::Native(_)) => "arena".to_owned(),
                _ => "its process".to_owned(),
            },
            bot: agent.bot.clone(),
            nearest: nearest(&agent.bot, bots.iter().map(|bot| bot.name.as_str())),
        }),
        None if agent.options.is_empty() => Ok(Vec::new()),
        None => Err(Error::NoOptions {
            agent: agent.name.clone(),
        }),
    }
}

/// Checks that a bot's options accept these values on at least one ruleset; options may differ
/// between rulesets, and a tournament has only one. Returns the options by name, in the form
/// of their types.
fn check_options(agent: &v1::Agent, bot: &v1::Bot) -> Result<Vec<v1::OptionValue>, Error> {
    for (place, option) in agent.options.iter().enumerate() {
        if { agent.options[..place].iter() }.any(|other| other.name == option.name) {
            return Err(Error::Request(format!(
                "agent \"{}\" has option \"{}\" twice",
                agent.name, option.name
            )));
        }
    }
    let specs = option_specs(bot)?;
    let given = options_from_wire(&agent.options);
    let mut refused: Vec<String> = Vec::new();
    let all = arena_games::rulesets().iter().map(|info| info.name);
    for ruleset in all {
        if !bot.rulesets.is_empty() && !bot.rulesets.iter().any(|plays| plays == ruleset) {
            continue;
        }
        let specs = options::of_ruleset(&specs, ruleset);
        match options::resolve(&specs, &[], &given) {
            Ok(mut resolved) => {
                resolved.retain(|name, _| given.contains_key(name));
                return Ok(options_to_wire(&resolved));
            }
            Err(error) => refused.push(error.to_string()),
        }
    }
    refused.dedup();
    if refused.is_empty() {
        return Ok(options_to_wire(&given));
    }
    Err(Error::BotRefuses {
        agent: agent.name.clone(),
        reason: refused.join("; "),
    })
}
