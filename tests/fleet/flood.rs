//! Load beside work: silent connections, oversized and stalled reports, watchers.

use std::{
    io::{ErrorKind, Read},
    net::TcpStream,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use arena_wire::v1::{
    self, coordinator_service_client::CoordinatorServiceClient,
    worker_service_client::WorkerServiceClient,
};
use tokio::{runtime, task::JoinSet, time};
use tonic::{Request, Status, client::Grpc, codegen::http::uri::PathAndQuery};
use tonic_prost::ProstCodec;

use super::{FleetError, connection};

/// Streams of one connection, which is the limit of a coordinator.
const STREAMS_OF_ONE: usize = 100;

/// Connections that send nothing. Dropping them closes them.
#[derive(Debug, Default)]
pub struct Silent {
    connections: Vec<TcpStream>,
    /// Connections that could not be made.
    pub refused: usize,
}

impl Silent {
    /// Opens a number of connections to `HOST:PORT`.
    ///
    /// # Errors
    /// If a connection cannot be created on this machine.
    pub fn connect(address: &str, connections: usize) -> Result<Self, FleetError> {
        super::raise_file_limit();
        let mut silent = Self::default();
        for _ in 0..connections {
            match TcpStream::connect(address) {
                Ok(connection) => {
                    connection.set_nonblocking(true)?;
                    silent.connections.push(connection);
                }
                Err(_) => silent.refused += 1,
            }
        }
        Ok(silent)
    }

    /// How many of them the server has not closed.
    #[must_use]
    pub fn open(&self) -> usize {
        self.connections
            .iter()
            .filter(|connection| still_open(connection))
            .count()
    }
}

fn still_open(mut connection: &TcpStream) -> bool {
    let mut buffer = [0; 256];
    loop {
        match connection.read(&mut buffer) {
            Ok(0) => return false,
            // The server sends its settings first.
            Ok(_) => {}
            Err(error) => return error.kind() == ErrorKind::WouldBlock,
        }
    }
}

/// Sends a report of this many bytes. Returns the status with which the coordinator refused it, or
/// `None` if the coordinator accepted it.
///
/// # Errors
/// If the coordinator cannot be reached.
pub fn huge_report(url: &str, bytes: usize) -> Result<Option<Status>, FleetError> {
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let mut client = WorkerServiceClient::new(connection(url)?);
        let game = v1::GameReport {
            void_reason: "x".repeat(bytes),
            ..Default::default()
        };
        let request = v1::ReportRequest {
            games: vec![game],
            ..Default::default()
        };
        Ok(client.report(request).await.err())
    })
}

/// Begins a number of reports without sending their content. Waits until the coordinator has given
/// up each of them, and returns the status of each.
///
/// # Errors
/// If the coordinator cannot be reached.
pub fn stalled_reports(url: &str, reports: usize) -> Result<Vec<Status>, FleetError> {
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let mut calls = JoinSet::new();
        let mut channel = connection(url)?;
        for number in 0..reports {
            if number % STREAMS_OF_ONE == 0 {
                channel = connection(url)?;
            }
            let mut client = Grpc::new(channel.clone());
            calls.spawn(async move {
                client
                    .ready()
                    .await
                    .map_err(|error| Status::unavailable(error.to_string()))?;
                let request = Request::new(tokio_stream::pending::<v1::ReportRequest>());
                let path = PathAndQuery::from_static("/arena.v1.WorkerService/Report");
                let codec = ProstCodec::<_, v1::ReportResponse>::default();
                client.client_streaming(request, path, codec).await
            });
        }
        let answers = calls.join_all().await;
        Ok(answers.into_iter().filter_map(Result::err).collect())
    })
}

/// Watches a tournament with a number of streams until `end` is set. Returns the smallest number of
/// messages that a stream received.
///
/// # Errors
/// If a stream fails.
pub fn watch(
    url: &str,
    tournament: &str,
    watchers: usize,
    end: &AtomicBool,
) -> Result<u64, FleetError> {
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let (ended, ends) = tokio::sync::watch::channel(false);
    runtime.block_on(async {
        let mut watching = JoinSet::new();
        let mut client = CoordinatorServiceClient::new(connection(url)?);
        for number in 0..watchers {
            if number % STREAMS_OF_ONE == 0 {
                client = CoordinatorServiceClient::new(connection(url)?);
            }
            let request = v1::WatchTournamentRequest {
                tournament_id: tournament.to_owned(),
            };
            let (mut client, mut ends) = (client.clone(), ends.clone());
            watching.spawn(async move {
                let mut messages = client.watch_tournament(request).await?.into_inner();
                let mut got = 0_u64;
                loop {
                    tokio::select! {
                        message = messages.message() => match message? {
                            Some(_) => got += 1,
                            None => return Ok::<u64, Status>(got),
                        },
                        // The loop ends after at least one message.
                        _ = ends.wait_for(|ended| *ended), if got > 0 => return Ok(got),
                    }
                }
            });
        }
        while !end.load(Ordering::Relaxed) {
            time::sleep(Duration::from_millis(20)).await;
        }
        ended.send_replace(true);
        let mut least = u64::MAX;
        while let Some(got) = watching.join_next().await {
            let got = got.map_err(|error| FleetError::System(error.into()))??;
            least = least.min(got);
        }
        Ok(least)
    })
}
