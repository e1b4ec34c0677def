//! The page of metrics, which all who ask for it at a time share.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use axum::body::Bytes;
use prometheus::{Registry, TextEncoder};
use tokio::{
    sync::{Mutex, Semaphore},
    task::spawn_blocking,
    time::{Instant, sleep_until},
};

/// Maximum number of requests that wait for the page. Places of other connections stay free.
pub(crate) const WAITING_MAX: usize = 32;
/// Minimum time between two pages, and the part of all time that making them may take: one in so many.
const PACE: Duration = Duration::from_millis(100);
const PART: u32 = 3;

/// Makes the page, once for all who wait for it, and not on a thread that answers requests.
pub(crate) struct Page {
    registry: Registry,
    waiting: Semaphore,
    /// Number of pages whose making has begun.
    begun: AtomicU64,
    last: Mutex<Last>,
}

struct Last {
    /// Number of the last page; 0 if there is none.
    number: u64,
    page: Result<Bytes, String>,
    /// Time from which the next page may be made.
    next: Instant,
}

/// Why there is no page.
pub(crate) enum NoPage {
    /// Too many requests wait for it.
    Crowded,
    Failed(String),
}

impl Page {
    pub(crate) fn new(registry: Registry) -> Self {
        Self {
            registry,
            waiting: Semaphore::new(WAITING_MAX),
            begun: AtomicU64::new(0),
            last: Mutex::new(Last {
                number: 0,
                page: Ok(Bytes::new()),
                next: Instant::now(),
            }),
        }
    }

    /// The page, made after this call; `refresh` updates values before.
    pub(crate) async fn get<R>(&self, refresh: impl Fn() -> R) -> Result<Bytes, NoPage>
    where
        R: Future<Output = ()>,
    {
        let begun = self.begun.load(Ordering::SeqCst);
        let _waiting = self.waiting.try_acquire().map_err(|_| NoPage::Crowded)?;
        let mut last = self.last.lock().await;
        if last.number <= begun {
            sleep_until(last.next).await;
            let start = Instant::now();
            let number = self.begun.fetch_add(1, Ordering::SeqCst) + 1;
            refresh().await;
            let encoding = Instant::now();
            let page = self.encode().await;
            last.next = (start + PACE).max(Instant::now() + encoding.elapsed() * (PART - 1));
            (last.number, last.page) = (number, page);
        }
        last.page.clone().map_err(NoPage::Failed)
    }

    async fn encode(&self) -> Result<Bytes, String> {
        let registry = self.registry.clone();
        let encoded = spawn_blocking(move || {
            let text = TextEncoder::new().encode_to_string(&registry.gather());
            text.map(Bytes::from).map_err(|error| error.to_string())
        });
        encoded.await.unwrap_or_else(|error| Err(error.to_string()))
    }
}
