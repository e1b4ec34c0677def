//! Connections to a database, on a thread of their own: callers of a store may be on any thread.

use std::{
    sync::{
        Arc,
        mpsc::{Receiver, sync_channel},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use tokio::{
    runtime::{Builder, Handle},
    sync::oneshot,
};
use tokio_postgres::{Client, Config, NoTls, Socket, error::SqlState, tls::MakeTlsConnect};

use super::address::{Address, causes};
use crate::StoreError;

/// Time in which a lost database has to come back.
pub(crate) const RECONNECT_TIMEOUT: Duration = Duration::from_secs(60);
/// Time between two attempts.
const RETRY_WAIT: Duration = Duration::from_millis(100);

/// Settings of every session. A coordinator that stops in the middle of a commit must not keep its
/// locks, or no other one could take over.
const SESSION: &str = "SET synchronous_commit = on; SET statement_timeout = 0; \
    SET lock_timeout = 0; SET idle_in_transaction_session_timeout = '1s'; \
    SET client_min_messages = warning";

/// What a database must not be, because acknowledged results would not be durable.
const SETTINGS: &str = "SELECT current_setting('fsync'), current_setting('full_page_writes'), \
    current_setting('synchronous_commit'), pg_is_in_recovery()";

/// An error of a call.
#[derive(Debug)]
pub(crate) enum Failure {
    Database(tokio_postgres::Error),
    Store(StoreError),
}

impl From<tokio_postgres::Error> for Failure {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Database(error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Failure {
    /// True if the connection or the server was lost, or a retry can succeed for another reason.
    pub(crate) fn is_lost(&self) -> bool {
        let Self::Database(error) = self else {
            return false;
        };
        let Some(code) = error.code() else {
            // Errors of this side are defects, except for those of the connection.
            return error.is_closed()
                || std::error::Error::source(error)
                    .is_some_and(|source| source.is::<std::io::Error>())
                || error.to_string().contains("timeout");
        };
        // Connection exceptions, shutdowns, too many connections, deadlocks.
        code.code().starts_with("08")
            || code.code().starts_with("57P")
            || [
                SqlState::TOO_MANY_CONNECTIONS,
                SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
                SqlState::T_R_SERIALIZATION_FAILURE,
                SqlState::T_R_DEADLOCK_DETECTED,
            ]
            .contains(code)
    }

    /// What went wrong.
    pub(crate) fn problem(&self) -> String {
        match self {
            Self::Store(error) => error.to_string(),
            Self::Database(error) => causes(error),
        }
    }

    /// The error for callers of the store.
    pub(crate) fn at(self, action: &str, place: &str) -> StoreError {
        match self {
            Self::Store(error) => error,
            Self::Database(error) if error.code() == Some(&SqlState::DISK_FULL) => {
                StoreError::Full {
                    path: place.into(),
                    needed: crate::RESERVE_BYTES,
                }
            }
            Self::Database(error) => StoreError::Io {
                action: action.to_owned(),
                path: place.into(),
                cause: causes(&error),
            },
        }
    }
}

/// A database, and the thread that talks to it.
pub(crate) struct Database {
    pub(crate) address: Address,
    /// Its URL without secrets.
    pub(crate) place: String,
    /// For reading, and for writing in single statements.
    session: Mutex<Option<Arc<Client>>>,
    handle: Handle,
    thread: Mutex<Option<(oneshot::Sender<()>, JoinHandle<()>)>>,
}

impl Database {
    /// Starts the thread; the first call connects.
    pub(crate) fn start(address: Address) -> Result<Arc<Self>, StoreError> {
        let place = address.to_string();
        let started = |error: std::io::Error| StoreError::Io {
            action: "start a thread for".to_owned(),
            path: place.clone().into(),
            cause: error.to_string(),
        };
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(started)?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel::<()>();
        let thread = thread::Builder::new()
            .name("arena-postgres".to_owned())
            // A dropped sender means the same as a message.
            .spawn(move || drop(runtime.block_on(stopped)))
            .map_err(started)?;
        Ok(Arc::new(Self {
            address,
            place,
            session: Mutex::new(None),
            handle,
            thread: Mutex::new(Some((stop, thread))),
        }))
    }

    /// Starts work on the database's thread.
    pub(crate) fn spawn<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Receiver<T> {
        let (sender, receiver) = sync_channel(1);
        self.handle.spawn(async move {
            // The caller may be gone.
            let _ = sender.send(work.await);
        });
        receiver
    }

    /// Runs work on the database's thread, and waits for it.
    pub(crate) fn wait<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, StoreError>> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.spawn(work).recv().unwrap_or(Err(StoreError::Closed))
    }

    /// Runs work on the shared session that can be repeated: if the connection is lost, the work
    /// starts again with a new one.
    pub(crate) fn call<T, F>(
        self: &Arc<Self>,
        action: &'static str,
        work: impl Fn(Arc<Client>) -> F + Send + Sync + 'static,
    ) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Failure>> + Send,
    {
        let work = Arc::new(work);
        self.retry(action, move |database| {
            let work = Arc::clone(&work);
            async move {
                let done = match database.session().await {
                    Ok(client) => work(client).await,
                    Err(failure) => Err(failure),
                };
                if done.as_ref().is_err_and(Failure::is_lost) {
                    *database.session.lock() = None;
                }
                done
            }
        })
    }

    /// Runs work on the shared session, without a retry.
    pub(crate) fn once<T, F>(
        self: &Arc<Self>,
        action: &'static str,
        work: impl FnOnce(Arc<Client>) -> F + Send + 'static,
    ) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Failure>> + Send,
    {
        let database = Arc::clone(self);
        self.wait(async move {
            let done = match database.session().await {
                Ok(client) => work(client).await,
                Err(failure) => Err(failure),
            };
            done.map_err(|failure| failure.at(action, &database.place))
        })
    }

    /// As [`Database::call`], for work with sessions of its own.
    pub(crate) fn retry<T, F>(
        self: &Arc<Self>,
        action: &'static str,
        work: impl Fn(Arc<Self>) -> F + Send + Sync + 'static,
    ) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Failure>> + Send,
    {
        let database = Arc::clone(self);
        self.wait(async move {
            let mut reconnect = Reconnect::begin();
            loop {
                match work(Arc::clone(&database)).await {
                    Ok(done) => return Ok(done),
                    Err(failure) => reconnect.wait(failure, action, &database.place).await?,
                }
            }
        })
    }

    /// The shared session.
    pub(crate) async fn session(&self) -> Result<Arc<Client>, Failure> {
        let open = self.session.lock().clone();
        if let Some(client) = open.filter(|client| !client.is_closed()) {
            return Ok(client);
        }
        let client = Arc::new(self.connect().await?);
        *self.session.lock() = Some(Arc::clone(&client));
        Ok(client)
    }

    /// Opens a session of its own.
    pub(crate) async fn connect(&self) -> Result<Client, Failure> {
        let Address { config, tls, .. } = &self.address;
        let client = match tls {
            Some(tls) => begin(config, tls.clone()).await?,
            None => begin(config, NoTls).await?,
        };
        client.batch_execute(SESSION).await?;
        let settings = client.query_one(SETTINGS, &[]).await?;
        let text = |column: usize| settings.get::<_, &str>(column);
        let unsuitable = |problem: &str, remedy: &str| {
            Err(Failure::Store(StoreError::Unsuitable {
                place: self.place.clone(),
                problem: problem.to_owned(),
                remedy: remedy.to_owned(),
            }))
        };
        if text(0) != "on" {
            return unsuitable(
                "the server runs with fsync=off, so a power cut can lose acknowledged results",
                "set fsync=on in postgresql.conf and restart the server",
            );
        }
        if text(1) != "on" {
            return unsuitable(
                "the server runs with full_page_writes=off, so a power cut can damage pages",
                "set full_page_writes=on in postgresql.conf and reload the server",
            );
        }
        if text(2) != "on" {
            return unsuitable(
                "a pooler between Arena and the server drops SET synchronous_commit",
                "connect to the server itself",
            );
        }
        if settings.get(3) {
            return unsuitable(
                "the server is a standby, which cannot be written to",
                "name the primary, or all servers with target_session_attrs=read-write",
            );
        }
        Ok(client)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.thread.lock().take() {
            drop(stop);
            // The last reference may be on the thread itself.
            if thread.thread().id() != thread::current().id() {
                let _ = thread.join();
            }
        }
    }
}

/// Connects, and runs the connection in a task of its own.
async fn begin<T>(config: &Config, tls: T) -> Result<Client, tokio_postgres::Error>
where
    T: MakeTlsConnect<Socket>,
    T::Stream: Send + 'static,
{
    let (client, connection) = config.connect(tls).await?;
    tokio::spawn(async move {
        // The calls of a lost connection report it.
        if let Err(error) = connection.await {
            tracing::debug!("a connection to the database ended: {}", causes(&error));
        }
    });
    Ok(client)
}

/// Waits for a lost database to come back.
pub(crate) struct Reconnect {
    since: Option<Instant>,
}

impl Reconnect {
    pub(crate) fn begin() -> Self {
        Self { since: None }
    }

    /// Waits before the next attempt, or returns the error if there must be none.
    pub(crate) async fn wait(
        &mut self,
        failure: Failure,
        action: &str,
        place: &str,
    ) -> Result<(), StoreError> {
        if !failure.is_lost() {
            return Err(failure.at(action, place));
        }
        let now = Instant::now();
        match self.since {
            None => {
                let error = failure.at(action, place);
                tracing::warn!("lost the database, connecting again: {error}");
                self.since = Some(now);
            }
            Some(since) if now - since >= RECONNECT_TIMEOUT => {
                return Err(failure.at(action, place));
            }
            Some(_) => {}
        }
        tokio::time::sleep(RETRY_WAIT).await;
        Ok(())
    }
}

/// The error for damage of a database.
pub(crate) fn damaged(place: &str, damage: String) -> StoreError {
    StoreError::Corrupt {
        path: place.into(),
        damage,
        remedy: "`arena store verify --store URL` lists the damage; restore the database from a \
                 backup, or promote a standby that has all results"
            .to_owned(),
    }
}
