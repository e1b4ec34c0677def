//! Workers that report records without playing.

use std::{
    error::Error,
    sync::{Arc, Mutex},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use arena_tournament::Schedule;
use arena_wire::v1::{self, worker_service_client::WorkerServiceClient};
use tokio::{sync::Semaphore, task::JoinSet};
use tonic::{Code, transport::Channel};

use crate::games::Pool;

/// Reports of one worker that may wait for their acknowledgement.
pub(crate) const UNDER_WAY: usize = 4;

type Client = WorkerServiceClient<Channel>;
type Failure = Box<dyn Error + Send + Sync>;

/// What workers have in common.
pub(crate) struct Fleet {
    pub(crate) pool: Pool,
    pub(crate) schedule: Schedule,
    pub(crate) tournament: String,
    pub(crate) batch: usize,
    /// From the sending of a report to its acknowledgement.
    pub(crate) latencies: Mutex<Vec<Duration>>,
}

impl Fleet {
    /// Leases and reports until there is nothing left.
    pub(crate) async fn work(self: Arc<Self>, url: String, number: u64) -> Result<(), Failure> {
        let mut client = Client::connect(url).await?;
        let request = v1::JoinRequest {
            name: format!("worker-{number}"),
            capacity: 512,
            version: "1".to_owned(),
            rulesets: arena_games::rulesets()
                .iter()
                .map(|info| (info.name.to_owned(), info.version))
                .collect(),
            process: 0,
            record_version: arena_model::RECORD_VERSION,
        };
        // The stream is the worker's presence: it is held to the end.
        let mut notices = client.join(request).await?.into_inner();
        let welcome = notices.message().await?.and_then(|notice| notice.notice);
        let Some(v1::join_response::Notice::Welcome(welcome)) = welcome else {
            return Err("no welcome".into());
        };
        let permits = Arc::new(Semaphore::new(UNDER_WAY));
        let mut reports: JoinSet<Result<(), Failure>> = JoinSet::new();
        loop {
            let request = v1::LeaseRequest {
                worker_id: welcome.worker_id.clone(),
                boot_epoch: welcome.boot_epoch,
                games: 512,
                wait_ms: 0,
                known_tournaments: vec![self.tournament.clone()],
                call: 0,
            };
            let Some(lease) = client.lease(request).await?.into_inner().lease else {
                break;
            };
            for chunk in lease.games.chunks(self.batch) {
                let permit = Arc::clone(&permits).acquire_owned().await?;
                let request = v1::ReportRequest {
                    worker_id: welcome.worker_id.clone(),
                    boot_epoch: welcome.boot_epoch,
                    tournament_id: self.tournament.clone(),
                    lease_id: lease.lease_id,
                    games: chunk.iter().map(|game| self.report(game.index)).collect(),
                };
                let (fleet, client) = (Arc::clone(&self), client.clone());
                reports.spawn(async move {
                    let reported = fleet.send(client, request).await;
                    drop(permit);
                    reported
                });
            }
            while let Some(reported) = reports.try_join_next() {
                reported??;
            }
        }
        while let Some(reported) = reports.join_next().await {
            reported??;
        }
        Ok(())
    }

    async fn send(&self, mut client: Client, request: v1::ReportRequest) -> Result<(), Failure> {
        let sent = Instant::now();
        loop {
            match client.report(request.clone()).await {
                Ok(_) => break,
                Err(status) if status.code() == Code::ResourceExhausted => {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
                Err(status) => return Err(status.into()),
            }
        }
        let mut latencies = self.latencies.lock().map_err(|error| error.to_string())?;
        latencies.push(sent.elapsed());
        Ok(())
    }

    /// A game's report, as a worker that played it would send it.
    fn report(&self, index: u64) -> v1::GameReport {
        let record = self.pool.record(self.schedule.game(index));
        let unix = SystemTime::now().duration_since(UNIX_EPOCH);
        v1::GameReport {
            record: Some((&record).into()),
            timing: Some(v1::GameTiming {
                started_unix_us: unix.unwrap_or_default().as_micros() as u64,
                duration_us: 1_000 + u64::from(record.hash[0]) * 77,
                ..Default::default()
            }),
            ..Default::default()
        }
    }
}
