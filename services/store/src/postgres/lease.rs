//! Who owns a database: a lease on the database's clock, and an epoch that each new owner raises.

use std::{
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use tokio_postgres::types::Type;

use super::database::{Database, Failure, Reconnect};
use crate::{OnLoss, StoreError, location::Holder};

/// Time after which another coordinator may take over from one that does not renew its lease.
const LEASE: Duration = Duration::from_secs(3);
/// Time between two renewals.
const RENEWAL: Duration = Duration::from_secs(1);

/// The lease of this process. It is renewed until it is released or lost.
pub(crate) struct Lease {
    database: Arc<Database>,
    pub(crate) epoch: i64,
    lost: Arc<Lost>,
    renewal: Arc<Mutex<Renewal>>,
    released: AtomicBool,
}

/// The newest renewal of a lease.
struct Renewal {
    at: Instant,
    /// Why later ones failed.
    problem: Option<String>,
}

impl Renewal {
    fn now() -> Self {
        Self {
            at: Instant::now(),
            problem: None,
        }
    }
}

/// Notes that another process has taken over.
#[derive(Default)]
struct Lost {
    error: Mutex<Option<StoreError>>,
    call: Mutex<Option<OnLoss>>,
}

impl Lost {
    /// Calls the function that waits for this, once.
    fn report(&self, error: StoreError) {
        let call = self.call.lock().take();
        if let Some(call) = call {
            call(error);
        }
    }
}

impl Lease {
    /// Takes the lease if it is free; otherwise returns its holder.
    pub(crate) fn take(
        database: &Arc<Database>,
        holder: &Holder,
    ) -> Result<Result<Self, Holder>, StoreError> {
        let wanted = holder.clone();
        let taken = database.call("take the lease of", move |client| {
            let wanted = wanted.clone();
            async move {
                let taken = client
                    .query_typed(
                        "UPDATE arena.owner SET epoch = epoch + 1, holder = $1, address = $2, \
                         expires = clock_timestamp() + make_interval(secs => $3) \
                         WHERE shard = 0 AND (holder IS NULL OR expires < clock_timestamp()) \
                         RETURNING epoch",
                        &[
                            (&wanted.name, Type::TEXT),
                            (&wanted.address, Type::TEXT),
                            (&LEASE.as_secs_f64(), Type::FLOAT8),
                        ],
                    )
                    .await?;
                Ok(taken.first().map(|row| row.get::<_, i64>(0)))
            }
        })?;
        let Some(epoch) = taken else {
            return Ok(Err(Self::holder(database)?.unwrap_or(Holder {
                name: "another coordinator".to_owned(),
                address: None,
            })));
        };
        let lost = Arc::<Lost>::default();
        let renewal = Arc::new(Mutex::new(Renewal::now()));
        let (reported, renewed) = (Arc::clone(&lost), Arc::clone(&renewal));
        drop(database.spawn(renew(Arc::downgrade(database), epoch, reported, renewed)));
        Ok(Ok(Self {
            database: Arc::clone(database),
            epoch,
            lost,
            renewal,
            released: AtomicBool::new(false),
        }))
    }

    /// The current holder of the lease.
    pub(crate) fn holder(database: &Arc<Database>) -> Result<Option<Holder>, StoreError> {
        database.call("read the lease of", |client| async move {
            let found = client
                .query_typed(
                    "SELECT holder, address FROM arena.owner WHERE shard = 0 \
                     AND holder IS NOT NULL AND expires >= clock_timestamp()",
                    &[],
                )
                .await?;
            Ok(found.first().map(|row| Holder {
                name: row.get(0),
                address: row.get(1),
            }))
        })
    }

    /// Fails if another process has taken over.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        self.lost.error.lock().clone().map_or(Ok(()), Err)
    }

    /// As [`Store::health`](crate::Store::health).
    pub(crate) fn health(&self) -> Result<(), StoreError> {
        self.check()?;
        let renewal = self.renewal.lock();
        let is_late = renewal.at.elapsed() >= LEASE;
        let late = || is_late.then(|| "the server does not answer".to_owned());
        match renewal.problem.clone().or_else(late) {
            None => Ok(()),
            Some(cause) => Err(StoreError::Io {
                action: "renew the lease of".to_owned(),
                path: self.database.place.clone().into(),
                cause,
            }),
        }
    }

    /// As [`Store::on_loss`](crate::Store::on_loss).
    pub(crate) fn on_loss(&self, call: OnLoss) {
        self.lost.call.lock().get_or_insert(call);
        if let Err(error) = self.check() {
            self.lost.report(error);
        }
    }

    /// Ends the lease, so that the next owner need not wait.
    pub(crate) fn release(&self) {
        if self.released.swap(true, Ordering::Relaxed) {
            return;
        }
        let epoch = self.epoch;
        self.lost.error.lock().get_or_insert(StoreError::Closed);
        let database = Arc::clone(&self.database);
        // If it fails, the lease expires by itself.
        let _ = self.database.wait(async move {
            let released = async {
                let client = database.connect().await?;
                let release = "UPDATE arena.owner SET holder = NULL, address = NULL, \
                               expires = clock_timestamp() WHERE shard = 0 AND epoch = $1";
                client
                    .execute_typed(release, &[(&epoch, Type::INT8)])
                    .await?;
                Ok::<_, Failure>(())
            };
            let released = released.await;
            released.map_err(|failure| failure.at("release the lease of", &database.place))
        });
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.release();
    }
}

/// Renews a lease until its store is gone or another process has taken over.
async fn renew(database: Weak<Database>, epoch: i64, lost: Arc<Lost>, newest: Arc<Mutex<Renewal>>) {
    let mut session = None;
    let mut reconnect = Reconnect::begin();
    loop {
        tokio::time::sleep(RENEWAL).await;
        if lost.error.lock().is_some() {
            return;
        }
        let Some(database) = database.upgrade() else {
            return;
        };
        let renewal = async {
            let client = match session.take() {
                Some(client) => client,
                None => database.connect().await?,
            };
            let renewed = client
                .query_typed(
                    "UPDATE arena.owner SET expires = clock_timestamp() + \
                     make_interval(secs => $2) WHERE shard = 0 AND epoch = $1 RETURNING epoch",
                    &[(&epoch, Type::INT8), (&LEASE.as_secs_f64(), Type::FLOAT8)],
                )
                .await?;
            session = Some(client);
            Ok::<_, Failure>(!renewed.is_empty())
        };
        match renewal.await {
            Ok(true) => {
                *newest.lock() = Renewal::now();
                reconnect = Reconnect::begin();
            }
            Ok(false) => {
                let error = StoreError::TakenOver {
                    place: database.place.clone(),
                };
                lost.error.lock().get_or_insert(error.clone());
                lost.report(error);
                return;
            }
            // Commits report what does not pass; the epoch keeps them safe.
            Err(failure) => {
                newest.lock().problem = Some(failure.problem());
                if let Err(error) = reconnect
                    .wait(failure, "renew the lease of", &database.place)
                    .await
                {
                    tracing::warn!(%error);
                    reconnect = Reconnect::begin();
                }
            }
        }
    }
}
