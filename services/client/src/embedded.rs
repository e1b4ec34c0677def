//! A coordinator in this process, and the lookup of the coordinator that uses a data
//! folder.

use std::{
    io,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use arena_access::{LocalToken, Token, keep_data_token};
use arena_coordinator::{CheckNative, Options};
use arena_store::{MemoryStore, SledStore, Store, StoreError};
use arena_wire::{networks::AgentNetworks, v1};
use serde_json::json;
use tokio::{sync::oneshot, task::JoinHandle};

use crate::failure::{Failure, Outcome};

/// The default data folder.
pub const DEFAULT_DATA: &str = "arena-data";

/// A coordinator in this process.
pub struct Embedded {
    /// The address on which it listens.
    pub listen: SocketAddr,
    drain: oneshot::Sender<()>,
    /// `None` once it has ended.
    task: Option<JoinHandle<Outcome>>,
}

impl Embedded {
    /// Its address as a URL, such as `http://127.0.0.1:7700`.
    pub fn url(&self) -> String {
        format!("http://{}", self.listen)
    }

    /// Waits until it ends by itself, which only happens on failure.
    pub async fn failed(&mut self) -> Failure {
        let Some(task) = &mut self.task else {
            return Failure::failed("the coordinator has ended");
        };
        let ended = outcome(task).await;
        self.task = None;
        match ended {
            Ok(()) => Failure::failed("the coordinator has ended"),
            Err(failure) => failure,
        }
    }

    /// Stops the coordinator after its current work.
    pub async fn stop(self) -> Outcome {
        // An error means that it has already ended; its result has the reason.
        let _ = self.drain.send(());
        match self.task {
            Some(mut task) => outcome(&mut task).await,
            None => Ok(()),
        }
    }
}

const CHECK_NATIVE: CheckNative = |bot, bot_options, ruleset, options, seats| {
    arena_agents::check(bot, bot_options, ruleset, options, seats)
        .map_err(|error| error.to_string())
};

/// Waits until a coordinator has ended.
async fn outcome(task: &mut JoinHandle<Outcome>) -> Outcome {
    let crashed = |error| Err(Failure::failed(format!("the coordinator crashed: {error}")));
    task.await.unwrap_or_else(crashed)
}

/// The options of a coordinator with this store and address, and with the built-in agents.
pub fn options(store: Arc<dyn Store>, listen: SocketAddr) -> Options {
    Options {
        check_native: CHECK_NATIVE,
        agent_networks: AgentNetworks::everywhere(),
        ..Options::new(store, listen, arena_agents::serve::describe())
    }
}

/// Plans a tournament of built-in agents without a coordinator.
pub fn plan(request: &v1::PlanTournamentRequest) -> Outcome<v1::PlanTournamentResponse> {
    let native = arena_agents::serve::describe();
    Ok(arena_coordinator::plan(request, native, CHECK_NATIVE)?)
}

/// The coordinator of a data folder.
pub enum Held {
    /// A coordinator in this process.
    Ours(Embedded),
    /// A coordinator in another process.
    Other {
        /// Its address, such as `http://127.0.0.1:7700`.
        url: String,
    },
}

/// True if a coordinator uses a data folder, or was killed there.
#[must_use]
pub fn has_address(data: &Path) -> bool {
    Address::path(data).is_file()
}

/// Starts a coordinator on a data folder, or finds the one that uses it.
pub async fn hold(data: &Path, listen: SocketAddr) -> Outcome<Held> {
    let known = Address::read(data);
    let mut options = arena_store::Options::default();
    if known.is_some() {
        // If another coordinator uses the folder, do not wait for the lock.
        options.lock_wait = Duration::from_millis(100);
    }
    match SledStore::open(data, &options) {
        Ok(store) => embed(Arc::new(store), Some(data), listen)
            .await
            .map(Held::Ours),
        Err(error @ StoreError::Locked { .. }) => match known.or_else(|| Address::read(data)) {
            Some(url) => Ok(Held::Other { url }),
            None => Err(Failure::failed(error)),
        },
        Err(error @ StoreError::InDatabase { .. }) => Err(Failure::usage(error)),
        Err(error) => Err(Failure::failed(error)),
    }
}

/// Starts a coordinator without a data folder.
pub async fn hold_memory() -> Outcome<Embedded> {
    let store = MemoryStore::new().map_err(Failure::failed)?;
    embed(Arc::new(store), None, ([127, 0, 0, 1], 0).into()).await
}

/// Starts a coordinator whose workers play only tournaments of this command.
async fn embed(
    store: Arc<dyn Store>,
    data: Option<&Path>,
    listen: SocketAddr,
) -> Outcome<Embedded> {
    let token = match data {
        Some(data) => keep_data_token(data),
        None => Token::draw().map_err(io::Error::other),
    };
    let admin = token.map_err(|error| Failure::failed(format!("admin token: {error}")))?;
    let options = Options {
        only_started: true,
        events: data.map(Path::to_owned),
        access: arena_coordinator::Access::Tokens {
            admin: admin.clone(),
        },
        ..options(store.clone(), listen)
    };
    let service = options.build().await.map_err(Failure::failed)?;
    let listen = service.listen.unwrap_or(listen);
    let local = LocalToken::write(listen, &admin)
        .map_err(|error| Failure::failed(format!("local token: {error}")))?;
    let url = format!("http://{listen}");
    let address = data.map(|data| Address::write(data, url)).transpose()?;
    let (drain, drained) = oneshot::channel::<()>();
    let task = tokio::spawn(async move {
        let result = service
            .run(async move {
                // A dropped sender has the same meaning as a message.
                let _ = drained.await;
            })
            .await;
        drop((address, local));
        store.close().map_err(Failure::failed)?;
        result.map(drop).map_err(Failure::failed)
    });
    Ok(Embedded {
        listen,
        drain,
        task: Some(task),
    })
}

/// The file in the data folder with the coordinator's address, for other commands.
pub struct Address {
    path: PathBuf,
}

impl Address {
    fn path(data: &Path) -> PathBuf {
        data.join("coordinator.json")
    }

    /// Writes the URL under which commands on this machine reach the coordinator.
    pub fn write(data: &Path, url: String) -> Outcome<Self> {
        let path = Self::path(data);
        let text = json!({ "url": url });
        match std::fs::write(&path, text.to_string()) {
            Ok(()) => Ok(Self { path }),
            Err(error) => {
                let shown = path.display();
                Err(Failure::failed(format!("cannot write {shown}: {error}")))
            }
        }
    }

    fn read(data: &Path) -> Option<String> {
        let text = std::fs::read_to_string(Self::path(data)).ok()?;
        let file: serde_json::Value = serde_json::from_str(&text).ok()?;
        Some(file["url"].as_str()?.to_owned())
    }
}

impl Drop for Address {
    fn drop(&mut self) {
        // A stale file is ignored while no coordinator uses the folder.
        let _ = std::fs::remove_file(&self.path);
    }
}
