//! The agent of a command: a binary, a package or an endpoint.

use std::{
    fs::Permissions,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use arena_model::Package;
use arena_wire::networks::AgentNetworks;
use arena_wire::v1::{self, agent::Source};
use arena_worker::{
    BinaryError, BinaryProvider, Provided,
    package::{MANIFEST, Protocol, Resources, protocol, resources},
};
use clap::Args;
use sha2::{Digest, Sha256};

use crate::{
    failure::{Failure, Outcome},
    library::{self, Library},
    package,
};

/// Where an agent is.
#[derive(Debug, Args)]
#[group(skip)]
pub struct Target {
    /// Executable file, or a folder or archive (.tar, .tar.gz, .tar.zst, .zip) that
    /// contains an arena-agent.toml
    #[arg(long, value_name = "PATH", conflicts_with = "endpoint")]
    pub binary: Option<PathBuf>,

    /// Chess engine that speaks UCI, an executable file. Engines of several files are folders or
    /// archives with protocol = "uci" in their arena-agent.toml, for --binary
    #[arg(long, value_name = "ENGINE", conflicts_with_all = ["binary", "endpoint"])]
    pub uci: Option<PathBuf>,

    /// Bot of OpenSpiel: mcts, alpha-beta, uniform-random or fixed-action-preference. Needs the Python
    /// package agents/openspiel
    #[arg(long, value_name = "BOT", conflicts_with_all = ["binary", "uci", "endpoint", "args"])]
    pub openspiel: Option<String>,

    /// Address of a running agent: http://HOST:PORT or unix:PATH
    #[arg(long, value_name = "URL")]
    pub endpoint: Option<String>,

    /// Seconds a binary may take to become ready
    #[arg(long, default_value_t = 10, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3600), requires = "program", conflicts_with = "endpoint")]
    pub start_timeout: u64,

    /// Memory limit of a binary, in MiB [default: as its manifest says, or 8192]
    #[arg(
        long,
        value_name = "MIB",
        value_parser = clap::value_parser!(u64).range(1..=1 << 20),
        requires = "program",
        conflicts_with = "endpoint"
    )]
    pub memory: Option<u64>,

    /// Maximum number of processes of a binary [default: 256]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096), requires = "program", conflicts_with = "endpoint")]
    pub processes: Option<u32>,

    /// Size of a binary's scratch folder, in MiB [default: 1024]
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=1 << 20), requires = "program", conflicts_with = "endpoint")]
    pub scratch: Option<u64>,

    /// Seconds of CPU time that each process of a binary and those that it starts may
    /// use together [default: no limit]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=1 << 32), requires = "program", conflicts_with = "endpoint")]
    pub cpu_time: Option<u64>,

    /// Arguments to start the binary with
    #[arg(
        last = true,
        value_name = "ARGS",
        requires = "program",
        conflicts_with = "endpoint"
    )]
    pub args: Vec<String>,
}

/// A target that exists.
pub struct Found {
    /// How the worker reaches it.
    pub source: Source,
    /// What the manifest of its package declares.
    pub resources: Resources,
    /// True for a chess engine that speaks UCI.
    pub speaks_uci: bool,
    /// The bytes of its program or package; none for an endpoint.
    pub file: Option<FileCopy>,
}

/// A private copy of a binary's or package's bytes. So the command registers exactly what
/// it checked, even if the user's file changes meanwhile or needs files next to it.
pub struct FileCopy {
    /// The bytes of the file, or of the tar file of a package.
    pub bytes: Vec<u8>,
    folder: tempfile::TempDir,
    name: String,
}

impl FileCopy {
    fn new(bytes: Vec<u8>, file_name: &str) -> Outcome<Self> {
        let copy = Self {
            bytes,
            folder: tempfile::tempdir()?,
            name: Package::path(file_name),
        };
        std::fs::write(copy.path(), &copy.bytes)?;
        std::fs::set_permissions(copy.path(), Permissions::from_mode(0o755))?;
        Ok(copy)
    }

    /// Path of the copy.
    pub fn path(&self) -> PathBuf {
        self.folder.path().join(&self.name)
    }
}

impl Target {
    /// A package with the default limits.
    #[must_use]
    pub fn of_package(path: PathBuf, args: Vec<String>) -> Self {
        Self {
            binary: Some(path),
            uci: None,
            openspiel: None,
            endpoint: None,
            start_timeout: 10,
            memory: None,
            processes: None,
            scratch: None,
            cpu_time: None,
            args,
        }
    }

    /// The path of a program, and true for an engine of `--uci`.
    pub(crate) fn path(&self) -> Option<(&Path, bool)> {
        let engine = self.uci.as_deref().map(|path| (path, true));
        engine.or_else(|| Some((self.binary.as_deref()?, false)))
    }

    /// True if there is an agent, of any kind.
    pub fn is_given(&self) -> bool {
        let programs = [
            self.binary.is_some(),
            self.uci.is_some(),
            self.openspiel.is_some(),
        ];
        programs.contains(&true) || self.endpoint.is_some()
    }

    /// Checks everything that can be checked without starting the agent.
    pub fn find(&self) -> Outcome<Found> {
        if let Some(url) = &self.endpoint {
            check_url(url)?;
            return Ok(Found {
                source: Source::Endpoint(v1::EndpointSource {
                    url: url.clone(),
                    ..v1::EndpointSource::default()
                }),
                resources: Resources::default(),
                speaks_uci: false,
                file: None,
            });
        }
        let made = { self.openspiel.as_deref() }
            .map(|bot| library::package(Library::OpenSpiel, library::Kind::Agent, bot))
            .transpose()?;
        let folder = made.as_ref().map(library::Folder::path);
        let path = self.uci.as_deref().or(self.binary.as_deref());
        let path = path.or(folder.as_deref());
        let path = path.unwrap_or(Path::new(""));
        let shown = path.display();
        let content = package::read(path)?;
        let wrong = |problem: String| Err(Failure::usage(format!("binary {shown} {problem}")));
        if !content.is_executable {
            let folder = path.parent().filter(|it| it.join(MANIFEST).is_file());
            if let Some(folder) = folder {
                let folder = match folder.to_string_lossy() {
                    name if name.is_empty() => ".".into(),
                    name => name,
                };
                return wrong(format!(
                    "is a part of an agent: name its folder, {folder}, which has {MANIFEST}"
                ));
            }
            return wrong(format!("is not executable; run `chmod +x {shown}`"));
        }
        if content.bytes.is_empty() {
            return wrong("is empty".to_owned());
        }
        let content = match self.uci.is_some() {
            true => content.into_uci()?,
            false => content,
        };
        let file_name = content.file_name;
        let file = FileCopy::new(content.bytes, &file_name)?;
        let failed = |error| Failure::usage(format!("binary {shown}: {error}"));
        let resources = resources(&file.path()).map_err(failed)?;
        let protocol = protocol(&file.path()).map_err(failed)?;
        let memory_mib = self.memory.or(resources.memory_mib);
        Ok(Found {
            resources,
            speaks_uci: protocol == Some(Protocol::Uci),
            source: Source::Binary(v1::BinarySource {
                sha256: hex::encode(Sha256::digest(&file.bytes)),
                file_name,
                args: self.args.clone(),
                limits: Some(v1::AgentLimits {
                    start_timeout_us: Duration::from_secs(self.start_timeout).as_micros() as u64,
                    memory_bytes: memory_mib.unwrap_or(0) << 20,
                    processes: self.processes.unwrap_or(0),
                    disk_bytes: self.scratch.unwrap_or(0) << 20,
                    cpu_us: self.cpu_time.unwrap_or(0).saturating_mul(1_000_000),
                    ..v1::AgentLimits::default()
                }),
            }),
            file: Some(file),
        })
    }
}

fn check_url(url: &str) -> Outcome {
    let known = ["http://", "unix:"];
    let rest = known.iter().find_map(|scheme| url.strip_prefix(scheme));
    if rest.is_some_and(|rest| !rest.is_empty()) && !url.contains(char::is_whitespace) {
        let refused = |reason| Failure::usage(format!("\"{url}\" cannot be an endpoint: {reason}"));
        return AgentNetworks::of_user().check(url).map_err(refused);
    }
    Err(Failure::usage(format!(
        "\"{url}\" is not an endpoint: expected http://HOST:PORT or unix:PATH"
    )))
}

/// The files of a check, by their SHA-256.
struct LocalFiles(Vec<(String, PathBuf)>);

impl BinaryProvider for LocalFiles {
    fn provide<'a>(&'a self, binary: &'a v1::BinarySource) -> Provided<'a> {
        let absent = || BinaryError::new(binary, "it is not on this machine".to_owned());
        let mut files = self.0.iter();
        let file = files.find(|(sha256, _)| *sha256 == binary.sha256);
        let path = file.map(|(_, path)| path.clone()).ok_or_else(absent);
        Box::pin(async { path })
    }
}

impl Found {
    /// The agent's source in a setup.
    pub fn setup_source(&self) -> v1::agent_setup::Source {
        match &self.source {
            Source::Binary(binary) => v1::agent_setup::Source::Binary(binary.clone()),
            Source::Endpoint(endpoint) => v1::agent_setup::Source::Endpoint(endpoint.clone()),
            Source::Native(native) => v1::agent_setup::Source::Native(*native),
        }
    }

    /// Provides only the content that is registered.
    pub fn provider(&self) -> Arc<dyn BinaryProvider> {
        Arc::new(LocalFiles(self.files().collect()))
    }

    /// Provides another file as well, by its SHA-256.
    pub(super) fn provider_with(
        &self,
        other: Option<(String, PathBuf)>,
    ) -> Arc<dyn BinaryProvider> {
        Arc::new(LocalFiles(self.files().chain(other).collect()))
    }

    fn files(&self) -> impl Iterator<Item = (String, PathBuf)> {
        let file = match (&self.source, &self.file) {
            (Source::Binary(binary), Some(file)) => Some((binary.sha256.clone(), file.path())),
            _ => None,
        };
        file.into_iter()
    }
}
