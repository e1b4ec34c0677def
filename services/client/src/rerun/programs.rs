//! The programs of a record's agents: packages from files or a coordinator,
//! endpoints by their URLs.

use std::{
    collections::BTreeMap,
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use arena_model::record::{Program, RecordAgent};
use arena_wire::v1::{self, agent_setup::Source};
use arena_worker::{BinaryError, BinaryProvider, CoordinatorBinaries, Provided};
use sha2::{Digest, Sha256};

use crate::{
    access::Access,
    failure::{Failure, Outcome},
    package,
};

/// Locations of the agents' programs.
pub struct Programs {
    /// The values of `--agent`, by agent.
    given: BTreeMap<String, String>,
    /// Files by SHA-256.
    files: Mutex<BTreeMap<String, PathBuf>>,
    coordinator: Option<CoordinatorBinaries>,
    folder: tempfile::TempDir,
}

impl Programs {
    /// `given` are `NAME=PATH` and `NAME=URL`; a coordinator is queried if `access` is set.
    pub fn new(given: &[String], access: Option<&Access>) -> Outcome<Arc<Self>> {
        let mut places = BTreeMap::new();
        for pair in given {
            let place = pair.split_once('=').filter(|(name, _)| !name.is_empty());
            let Some((name, place)) = place else {
                return Err(Failure::usage(format!(
                    "--agent {pair}: write NAME=PATH, or NAME=URL for an endpoint"
                )));
            };
            if places.insert(name.to_owned(), place.to_owned()).is_some() {
                return Err(Failure::usage(format!("--agent names {name} twice")));
            }
        }
        let folder = tempfile::tempdir()?;
        let coordinator =
            access.map(|it| CoordinatorBinaries::new(&it.url, &it.credentials, folder.path()));
        let coordinator = coordinator.transpose().map_err(Failure::failed)?;
        Ok(Arc::new(Self {
            given: places,
            files: Mutex::default(),
            coordinator,
            folder,
        }))
    }

    /// The source of a record's agent.
    pub async fn source(&self, name: &str, agent: &RecordAgent) -> Outcome<Source> {
        let given = self.given.get(name).cloned();
        match (agent.program, given) {
            (Program::Native, None) => Ok(Source::Native(v1::NativeSource {})),
            (Program::Native, Some(_)) => Err(Failure::usage(format!(
                "--agent {name}: \"{}\" is a built-in bot, which needs no program",
                agent.bot
            ))),
            (Program::Endpoint, Some(url)) => Ok(Source::Endpoint(v1::EndpointSource {
                url,
                ..Default::default()
            })),
            (Program::Endpoint, None) => Err(Failure::usage(format!(
                "agent {name} was an endpoint, which a record does not identify: state where a \
                 copy runs with --agent {name}=URL"
            ))),
            (Program::Package, given) => {
                let source = v1::BinarySource {
                    sha256: agent.sha256.clone(),
                    file_name: name.to_owned(),
                    args: agent.args.clone(),
                    limits: None,
                };
                if let Some(path) = given {
                    self.take_file(name, &agent.sha256, Path::new(&path))?;
                }
                // Check that the package is available before anything is played.
                self.provide(&source).await.map_err(|error| {
                    Failure::usage(format!(
                        "agent {name}: {error}; use --agent {name}=PATH, or --data or \
                         --coordinator of a store that has it"
                    ))
                })?;
                Ok(Source::Binary(source))
            }
        }
    }

    /// Uses a file as a package if its content matches.
    fn take_file(&self, name: &str, sha256: &str, path: &Path) -> Outcome {
        if self.file(sha256).is_some() {
            return Ok(());
        }
        let fail = |problem: String| {
            Failure::usage(format!("--agent {name}={}: {problem}", path.display()))
        };
        let content = package::read(path).map_err(|error| fail(error.to_string()))?;
        let found = hex::encode(Sha256::digest(&content.bytes));
        if found != sha256 {
            return Err(fail(format!(
                "SHA-256 is {found}, but the game was played by {sha256}"
            )));
        }
        let path = self.folder.path().join(format!("given-{sha256}"));
        fs::write(&path, &content.bytes)?;
        fs::set_permissions(&path, Permissions::from_mode(0o755))?;
        self.files().insert(sha256.to_owned(), path);
        Ok(())
    }

    fn files(&self) -> MutexGuard<'_, BTreeMap<String, PathBuf>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn file(&self, sha256: &str) -> Option<PathBuf> {
        self.files().get(sha256).cloned()
    }
}

impl BinaryProvider for Programs {
    fn provide<'a>(&'a self, binary: &'a v1::BinarySource) -> Provided<'a> {
        Box::pin(async move {
            match (self.file(&binary.sha256), &self.coordinator) {
                (Some(path), _) => Ok(path),
                (None, Some(coordinator)) => coordinator.provide(binary).await,
                (None, None) => Err(BinaryError::new(binary, "it is not here".to_owned())),
            }
        })
    }
}
