//! `arena agent register`

use std::path::{Path, PathBuf};

use arena_access::retry_delay;
use arena_model::{
    AgentName,
    spec::{REPLICAS_MAX, Variant},
};
use arena_wire::{
    convert::options_to_wire,
    v1::{self, agent::Source, upload_binary_request::Part},
};
use arena_worker::package::Resources;
use clap::Args;
use itertools::Itertools;

use crate::{
    access::{AccessArgs, Client, request_id},
    commands::options,
    failure::{Failure, Outcome},
    output::{Format, note},
};
use arena_client::{
    check::{self, Found, Target},
    registered, sources,
};

/// Bytes of a binary per message.
const CHUNK_BYTES: usize = 256 << 10;
/// Attempts to upload a binary to a coordinator that names delays.
const UPLOAD_ATTEMPTS: u32 = 30;

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("what").required(true).multiple(true)
    .args(["binary", "uci", "openspiel", "endpoint", "bot", "fragment"]))]
#[command(group = clap::ArgGroup::new("program").args(["binary", "uci", "openspiel"]))]
pub(crate) struct RegisterArgs {
    /// Name of the agent: lower-case letters, digits and dashes [default: the name in
    /// --fragment]
    #[arg(required_unless_present = "fragment")]
    name: Option<String>,

    #[command(flatten)]
    target: Target,

    /// Bot to play when a spec names this agent [default: the first bot of the process];
    /// without --binary and --endpoint, a built-in bot
    #[arg(long)]
    bot: Option<String>,

    /// Set an option of the bot; may be repeated
    #[arg(long = "option", value_name = "KEY=VALUE")]
    options: Vec<String>,

    /// Read bot and options from a TOML file with one [[agent]] table, such as the
    /// champion that `arena evolve` writes
    #[arg(long, value_name = "FILE", conflicts_with_all = [
        "binary", "uci", "openspiel", "endpoint", "bot", "options", "start_timeout", "memory", "processes", "scratch", "cpu_time", "cpus", "replicas",
        "args",
    ])]
    fragment: Option<PathBuf>,

    /// Maximum processes per worker; auto = as many as raise the speed [default: auto, or as the
    /// manifest says]
    #[arg(long, value_name = "auto|N", value_parser = replicas)]
    replicas: Option<u32>,

    /// Cores that each process of the agent uses [default: 1, or as its manifest says]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    cpus: Option<u32>,

    /// Replace the agent of this name. Tournaments that have started keep the old content
    #[arg(long)]
    replace: bool,

    #[command(flatten)]
    access: AccessArgs,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    output: Format,
}

/// Reads a number of processes; 0 is `auto`.
fn replicas(text: &str) -> Result<u32, String> {
    let number = match text {
        "auto" => return Ok(0),
        text => text.parse().ok(),
    };
    let valid = number.filter(|number| (1..=REPLICAS_MAX).contains(number));
    valid.ok_or_else(|| format!("expected \"auto\" or a number from 1 to {REPLICAS_MAX}"))
}

/// The agent to register.
struct Wanted {
    name: String,
    bot: String,
    options: Vec<v1::OptionValue>,
}

/// The process that offers the bot.
enum Process {
    /// This program.
    Native,
    /// An already registered process, by name.
    Registered(String),
    /// A process to query.
    Found(Box<Found>),
}

impl RegisterArgs {
    pub(crate) async fn run(self) -> Outcome {
        let (wanted, process) = self.wanted()?;
        let mut access = self.access.open_or_create().await?;
        let outcome = self.register(&mut access.client, wanted, process).await;
        outcome.and(access.close().await)
    }

    fn wanted(&self) -> Outcome<(Wanted, Process)> {
        if let Some(name) = &self.name {
            let _: AgentName = name.parse().map_err(Failure::usage)?;
        }
        if let Some(path) = &self.fragment {
            let variant = read_fragment(path)?;
            let process = variant.from.map(|it| Process::Registered(it.to_string()));
            let name = self.name.clone();
            let wanted = Wanted {
                name: name.unwrap_or_else(|| variant.name.to_string()),
                bot: variant.bot,
                options: options_to_wire(&variant.options),
            };
            return Ok((wanted, process.unwrap_or(Process::Native)));
        }
        let process = match self.target.is_given() {
            true => Process::Found(Box::new(self.target.find()?)),
            false => Process::Native,
        };
        let pairs = options::pairs(&self.options, "depth=3")?;
        let value = |(name, value)| v1::OptionValue { name, value };
        let wanted = Wanted {
            name: self.name.clone().unwrap_or_default(),
            bot: self.bot.clone().unwrap_or_default(),
            options: pairs.into_iter().map(value).collect(),
        };
        Ok((wanted, process))
    }

    async fn register(&self, client: &mut Client, mut wanted: Wanted, process: Process) -> Outcome {
        let mut declared = Resources::default();
        let mut uploaded = None;
        let (source, description) = match process {
            Process::Native => (Source::Native(v1::NativeSource {}), None),
            Process::Registered(name) => registered(client, name, &mut wanted).await?,
            Process::Found(found) => {
                let found = *found;
                let description = self.ask(client, &wanted.name, &found).await?;
                if let (Source::Binary(binary), Some(file)) = (&found.source, &found.file) {
                    upload(client, &binary.sha256, &file.bytes).await?;
                    uploaded = Some(binary.sha256.clone());
                }
                declared = found.resources;
                (found.source, description)
            }
        };
        let request = v1::RegisterAgentRequest {
            request_id: request_id(),
            agent: Some(v1::Agent {
                name: wanted.name,
                bot: wanted.bot,
                options: wanted.options,
                source: Some(source),
                description,
                replicas: { self.replicas.or(declared.replicas) }.unwrap_or_default(),
                cpus: { self.cpus.or(declared.cpus) }.unwrap_or_default(),
                ..v1::Agent::default()
            }),
            replace: self.replace,
        };
        let agent = client.register_agent(request).await?.into_inner().agent;
        if let Some(sha256) = uploaded {
            sources::remember(&self.target, &sha256);
        }
        super::list::print(&agent.unwrap_or_default(), self.output)
    }

    /// Queries a process for its description; `None` for a binary that provides none.
    async fn ask(
        &self,
        client: &mut Client,
        name: &str,
        found: &Found,
    ) -> Outcome<Option<v1::DescribeResponse>> {
        match check::describe(found).await {
            Ok(description) => {
                let mut added = Vec::new();
                if !check::own_rulesets(&description).is_empty() {
                    let registered = registered::all(client).await?;
                    added = registered.into_iter().map(|it| it.name).collect();
                }
                for problem in check::wrong_names(&description, &added) {
                    note(format!("warning: {problem}"));
                }
                Ok(Some(description))
            }
            Err(error) if self.target.endpoint.is_some() => {
                Err(Failure::unreachable(format!("agent {name}: {error}")))
            }
            // It would be stored as an agent that plays every ruleset.
            Err(error) if found.speaks_uci => Err(Failure::usage(format!(
                "agent {name} is not registered, because it does not answer as a chess engine that speaks UCI: \
                 {error}\nIt has to answer the line `uci` with lines of which the last one is `uciok`. If it \
                 needs arguments, write them after `--`. If it runs on other machines only, register it on \
                 one of them with --coordinator URL. A program that does not speak UCI is registered with \
                 --binary."
            ))),
            Err(error) if !self.options.is_empty() => Err(Failure::usage(format!(
                "agent {name} does not start here, so it cannot have --option: {error}"
            ))),
            Err(error) => {
                note(format!(
                    "warning: {name} does not start here: {error}\nIt is registered as one bot \
                     that plays every ruleset. To run it on this machine, repair it and register \
                     it again with --replace."
                ));
                Ok(None)
            }
        }
    }
}

/// The source and the description of a registered agent's process. Options of the
/// registration apply if it plays the same bot, as in a spec.
async fn registered(
    client: &mut Client,
    name: String,
    wanted: &mut Wanted,
) -> Outcome<(Source, Option<v1::DescribeResponse>)> {
    let agent = super::list::get(client, name).await?;
    if super::list::chosen(&agent).is_some_and(|bot| bot.name == wanted.bot) {
        let options = wanted.options.drain(..).chain(agent.options);
        wanted.options = options.unique_by(|option| option.name.clone()).collect();
    }
    let native = || Source::Native(v1::NativeSource {});
    Ok((agent.source.unwrap_or_else(native), agent.description))
}

/// A part of a spec that contains only agents.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Fragment {
    #[serde(default)]
    agent: Vec<Variant>,
}

fn read_fragment(path: &Path) -> Outcome<Variant> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| {
        Failure::usage(format!(
            "cannot read {shown}: {error}; give the path of a file with one [[agent]]"
        ))
    })?;
    let fragment: Fragment = toml::from_str(&text)
        .map_err(|error| Failure::usage(format!("{shown}: {}", error.to_string().trim_end())))?;
    let count = fragment.agent.len();
    let only = fragment.agent.into_iter().exactly_one();
    only.map_err(|_| {
        Failure::usage(format!(
            "{shown} has {count} [[agent]] tables: expected one"
        ))
    })
}

/// Uploads a binary; the coordinator does not store content twice.
pub(crate) async fn upload(client: &mut Client, sha256: &str, bytes: &[u8]) -> Outcome {
    let header = v1::BinaryHeader {
        sha256: sha256.to_owned(),
        size_bytes: bytes.len() as u64,
    };
    let chunks = bytes.chunks(CHUNK_BYTES);
    let chunks = chunks.map(|chunk| Part::Chunk(chunk.to_vec()));
    let parts = [Part::Header(header)].into_iter().chain(chunks);
    let parts = parts.map(|part| v1::UploadBinaryRequest { part: Some(part) });
    let parts = parts.collect_vec();
    let mut attempt = 1;
    loop {
        let stream = tokio_stream::iter(parts.clone());
        let Err(status) = client.upload_binary(stream).await else {
            return Ok(());
        };
        // All places for transfers are taken, or too many requests were sent.
        match retry_delay(&status).filter(|_| attempt < UPLOAD_ATTEMPTS) {
            Some(delay) => tokio::time::sleep(delay).await,
            None => return Err(status.into()),
        }
        attempt += 1;
    }
}
