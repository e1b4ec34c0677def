//! A worker of a test: it joins and leases as a worker does, and reports what the test decides.

use arena_access::{Connection, Credentials};
use arena_model::{rules::RULES_PROTOCOL, spec::ADJUDICATION_VERSION};
use arena_wire::v1::{self, join_response::Notice, worker_service_client::WorkerServiceClient};
use tonic::{Status, Streaming};

/// A joined worker.
pub struct JoinedWorker {
    name: String,
    client: WorkerServiceClient<Connection>,
    welcome: v1::Welcome,
    /// It is present until this is dropped.
    _notices: Streaming<v1::JoinResponse>,
}

impl JoinedWorker {
    /// Joins the coordinator at `url` as a worker process of this number.
    pub async fn join(url: &str, name: &str, process: u64) -> Result<Self, Status> {
        let connection = Credentials::found().connect_lazy(url);
        let mut client = WorkerServiceClient::new(connection.expect("a URL"));
        let rulesets = arena_games::rulesets().iter();
        let join = v1::JoinRequest {
            name: name.to_owned(),
            capacity: 64,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            rulesets: rulesets
                .map(|it| (it.name.to_owned(), it.version))
                .chain([("@package".to_owned(), RULES_PROTOCOL)])
                .chain([("@adjudication".to_owned(), ADJUDICATION_VERSION)])
                .collect(),
            process,
            record_version: arena_model::RECORD_VERSION,
            ..v1::JoinRequest::default()
        };
        let mut notices = client.join(join).await?.into_inner();
        let notice = notices.message().await?.and_then(|it| it.notice);
        let Some(Notice::Welcome(welcome)) = notice else {
            panic!("no welcome");
        };
        Ok(Self {
            name: name.to_owned(),
            client,
            welcome,
            _notices: notices,
        })
    }

    /// Leases up to `games` games, and waits `wait_ms` for them.
    pub async fn lease(&mut self, games: u32, wait_ms: u32) -> Result<Option<v1::Lease>, Status> {
        let ask = v1::LeaseRequest {
            worker_id: self.welcome.worker_id.clone(),
            boot_epoch: self.welcome.boot_epoch,
            session: self.welcome.session.clone(),
            games,
            wait_ms,
            ..v1::LeaseRequest::default()
        };
        Ok(self.client.lease(ask).await?.into_inner().lease)
    }

    /// Reports games of a lease.
    pub async fn report(
        &mut self,
        lease: &v1::Lease,
        mut games: Vec<v1::GameReport>,
    ) -> Result<(), Status> {
        for game in &mut games {
            let timing = game.timing.get_or_insert_default();
            self.name.clone_into(&mut timing.worker);
        }
        let report = v1::ReportRequest {
            worker_id: self.welcome.worker_id.clone(),
            boot_epoch: self.welcome.boot_epoch,
            session: self.welcome.session.clone(),
            tournament_id: lease.tournament_id.clone(),
            lease_id: lease.lease_id,
            ticket: lease.ticket.clone(),
            games,
        };
        self.client.report(report).await.map(drop)
    }
}
