//! `arena agent register`

use std::{
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use arena_wire::v1::{self, agent::Source, upload_binary_request::Part};
use clap::Args;
use sha2::{Digest, Sha256};

use crate::{
    access::{AccessArgs, Client},
    commands::request_id,
    failure::{Failure, Outcome},
    output::{Format, note},
};

/// Bytes of a binary sent at a time.
const CHUNK_BYTES: usize = 256 << 10;

#[derive(Debug, Args)]
pub(crate) struct RegisterArgs {
    /// Name of the agent: lower-case letters, digits and dashes
    name: String,

    #[command(flatten)]
    target: Target,

    /// Which of the process's bots plays when a spec names this agent
    /// [default: the first]
    #[arg(long)]
    bot: Option<String>,

    /// Accept another binary under a known version, or a name in use
    #[arg(long)]
    replace: bool,

    #[command(flatten)]
    access: AccessArgs,

    /// How to print
    #[arg(long, value_enum, default_value_t)]
    output: Format,
}

/// Where an agent is.
#[derive(Debug, Args)]
#[group(skip)]
#[command(group = clap::ArgGroup::new("where").required(true).args(["binary", "endpoint"]))]
pub(super) struct Target {
    /// An executable file
    #[arg(long, value_name = "PATH")]
    pub(super) binary: Option<PathBuf>,

    /// Where the agent runs: http://HOST:PORT or unix:PATH
    #[arg(long, value_name = "URL")]
    pub(super) endpoint: Option<String>,

    /// Seconds a binary may take until it is ready
    #[arg(long, default_value_t = 10, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(super) start_timeout: u64,

    /// Mebibytes of memory a binary may use [default: no limit]
    #[arg(long, value_name = "MIB")]
    pub(super) memory: Option<u64>,

    /// Arguments of the binary
    #[arg(last = true, value_name = "ARGS", conflicts_with = "endpoint")]
    pub(super) args: Vec<String>,
}

/// A target that exists, with the binary's bytes.
pub(super) struct Found {
    pub(super) source: Source,
    pub(super) bytes: Vec<u8>,
    pub(super) path: Option<PathBuf>,
}

impl Target {
    /// Checks what can be checked without starting anything.
    pub(super) fn find(&self) -> Outcome<Found> {
        if let Some(url) = &self.endpoint {
            check_url(url)?;
            return Ok(Found {
                source: Source::Endpoint(v1::EndpointSource { url: url.clone() }),
                bytes: Vec::new(),
                path: None,
            });
        }
        let path = self.binary.as_deref().unwrap_or(Path::new(""));
        let bytes = read_executable(path)?;
        let file_name = path.file_name().map_or_else(
            || "agent".to_owned(),
            |name| name.to_string_lossy().into_owned(),
        );
        Ok(Found {
            source: Source::Binary(v1::BinarySource {
                sha256: hex::encode(Sha256::digest(&bytes)),
                file_name,
                args: self.args.clone(),
                limits: Some(v1::AgentLimits {
                    start_timeout_us: Duration::from_secs(self.start_timeout).as_micros() as u64,
                    memory_bytes: self.memory.unwrap_or(0) << 20,
                    processes: 0,
                    output_bytes: 0,
                }),
            }),
            bytes,
            path: Some(std::path::absolute(path)?),
        })
    }
}

fn check_url(url: &str) -> Outcome {
    let known = ["http://", "unix:"];
    let rest = known.iter().find_map(|scheme| url.strip_prefix(scheme));
    if rest.is_some_and(|rest| !rest.is_empty()) && !url.contains(char::is_whitespace) {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "\"{url}\" is no endpoint: write http://HOST:PORT or unix:PATH"
    )))
}

fn read_executable(path: &Path) -> Outcome<Vec<u8>> {
    let shown = path.display();
    let metadata = std::fs::metadata(path)
        .map_err(|error| Failure::usage(format!("cannot read binary {shown}: {error}")))?;
    if !metadata.is_file() {
        return Err(Failure::usage(format!("binary {shown} is not a file")));
    }
    if metadata.permissions().mode() & 0o111 == 0 {
        return Err(Failure::usage(format!(
            "binary {shown} is not executable: run chmod +x {shown}"
        )));
    }
    let bytes = std::fs::read(path)
        .map_err(|error| Failure::usage(format!("cannot read binary {shown}: {error}")))?;
    if bytes.is_empty() {
        return Err(Failure::usage(format!("binary {shown} is empty")));
    }
    Ok(bytes)
}

impl RegisterArgs {
    pub(crate) async fn run(self) -> Outcome {
        let _: arena_model::AgentName = self.name.parse().map_err(Failure::usage)?;
        let found = self.target.find()?;
        let mut access = self.access.open_or_create().await?;
        let outcome = self.register(&mut access.client, found).await;
        outcome.and(access.close().await)
    }

    async fn register(&self, client: &mut Client, found: Found) -> Outcome {
        let description = match super::check::describe(&found, self.target.start_timeout).await {
            Ok(description) => Some(description),
            Err(error) if self.target.endpoint.is_some() => {
                return Err(Failure::unreachable(format!(
                    "agent {}: {error}",
                    self.name
                )));
            }
            Err(error) => {
                note(format!(
                    "warning: {} could not be asked what it offers: {error}\n\
                     it is registered all the same, as one bot that plays every ruleset",
                    self.name
                ));
                None
            }
        };
        if let Source::Binary(binary) = &found.source {
            upload(client, &binary.sha256, &found.bytes).await?;
        }
        let request = v1::RegisterAgentRequest {
            request_id: request_id(),
            agent: Some(v1::Agent {
                name: self.name.clone(),
                version: String::new(),
                bot: self.bot.clone().unwrap_or_default(),
                source: Some(found.source),
                description,
                registered_unix_us: 0,
            }),
            replace: self.replace,
        };
        let agent = client.register_agent(request).await?.into_inner().agent;
        super::list::print(&agent.unwrap_or_default(), self.output)
    }
}

/// Sends a binary; what the coordinator has already is not kept twice.
async fn upload(client: &mut Client, sha256: &str, bytes: &[u8]) -> Outcome {
    let header = v1::BinaryHeader {
        sha256: sha256.to_owned(),
        size_bytes: bytes.len() as u64,
    };
    let chunks: Vec<v1::UploadBinaryRequest> = std::iter::once(Part::Header(header))
        .chain(
            bytes
                .chunks(CHUNK_BYTES)
                .map(|chunk| Part::Chunk(chunk.to_vec())),
        )
        .map(|part| v1::UploadBinaryRequest { part: Some(part) })
        .collect();
    client.upload_binary(tokio_stream::iter(chunks)).await?;
    Ok(())
}
