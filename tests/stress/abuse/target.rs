//! A coordinator under attack, and its healthy users.

use std::{
    fs, io,
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use arena_access::{ClientTls, Connection, CredentialFiles, Credentials};
use arena_wire::v1::{self, coordinator_service_client::CoordinatorServiceClient};
use tokio::runtime::{self, Runtime};
use tonic::Code;
use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};

use crate::{Server, World, fleet::Usage, h2::RawClient, stress::Broken, within};

/// Time after which the number of open files stays the same.
const SETTLING: Duration = Duration::from_millis(300);

/// Bytes of a large spec.
const LARGE_SPEC_BYTES: usize = 1 << 20;

/// A coordinator under attack.
pub(super) struct Target {
    pub(super) name: &'static str,
    pub(super) coordinator: Server,
    address: String,
    pub(super) tls: Option<ClientTls>,
    /// That of the coordinator's user, as its healthy users have it.
    pub(super) token: String,
    /// Tokens of attackers.
    pub(super) submitter: String,
    pub(super) worker: String,
    tournament: String,
    credentials: Credentials,
    /// How long answers stay unread.
    pub(super) unread_time: Duration,
    /// Bytes of floods that it has accepted.
    accepted: AtomicU64,
}

impl Target {
    /// Starts a coordinator on a data folder with a finished tournament.
    pub(super) fn start(
        world: &World,
        data: &str,
        tournament: &str,
        is_tls: bool,
        unread_time: Duration,
    ) -> Result<Self, Broken> {
        let mut command = world.command(crate::arena());
        command
            .args(["coordinator", "--data", data, "--listen", "127.0.0.1:0"])
            .args(["--metrics", "127.0.0.1:0"])
            .env("ARENA_LOG", "arena_coordinator=info");
        if is_tls {
            command.args([
                "--tls-cert",
                "tls/server.pem",
                "--tls-key",
                "tls/server.key",
            ]);
        }
        let coordinator = world.serve(command);
        let ca = is_tls.then(|| world.folder().join("tls/ca.pem"));
        let token_file = world.folder().join(data).join("admin.token");
        let address = coordinator.listen().to_owned();
        let files = CredentialFiles {
            token: Some(token_file.clone()),
            ca: ca.clone(),
            identity: None,
        };
        let scheme = if is_tls { "https" } else { "http" };
        let url = format!("{scheme}://{address}");
        let create = |role: &str| {
            let mut command = world.command(crate::arena());
            command.args(["token", "create", "--role", role, "--coordinator", &url]);
            command.arg("--token-file").arg(&token_file);
            if let Some(ca) = &ca {
                command.arg("--tls-ca").arg(ca);
            }
            world.run(command).ok().stdout.trim().to_owned()
        };
        Ok(Self {
            submitter: create("submitter"),
            worker: create("worker"),
            name: if is_tls { "TLS" } else { "plain" },
            tls: ca
                .map(|ca| ClientTls::load(&ca))
                .transpose()
                .map_err(Broken::new)?,
            token: fs::read_to_string(token_file)
                .map_err(Broken::new)?
                .trim()
                .to_owned(),
            credentials: Credentials::of_files(&files).map_err(Broken::new)?,
            tournament: tournament.to_owned(),
            address,
            coordinator,
            unread_time,
            accepted: AtomicU64::new(0),
        })
    }

    pub(super) fn connect(&self) -> io::Result<RawClient> {
        RawClient::connect(&self.address, self.tls.as_ref())
    }

    pub(super) fn open(&self, settings: &[u8]) -> io::Result<RawClient> {
        RawClient::open(&self.address, self.tls.as_ref(), settings)
    }

    /// Adds to the bytes that floods have sent.
    pub(super) fn count(&self, bytes: u64) {
        self.accepted.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Bytes that floods have sent since the last call.
    pub(super) fn take_count(&self) -> u64 {
        self.accepted.swap(0, Ordering::Relaxed)
    }

    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// The tournament, as the first field of a request.
    pub(super) fn tournament(&self) -> Vec<u8> {
        let id = self.tournament.as_bytes();
        [&[0x0a, id.len() as u8], id].concat()
    }

    /// A request for a large page of its games.
    pub(super) fn page(&self) -> Vec<u8> {
        [&self.tournament()[..], &[0x10, 0x80, 0x08]].concat()
    }

    /// Open files of the coordinator.
    pub(super) fn files(&self) -> usize {
        let folder = format!("/proc/{}/fd", self.coordinator.id());
        fs::read_dir(folder).map_or(0, Iterator::count)
    }

    /// Open files while no client is connected.
    pub(super) fn baseline(&self) -> usize {
        let mut files = self.files();
        // The connections of earlier calls are closed shortly.
        while within(SETTLING, || (self.files() < files).then_some(())).is_some() {
            files = self.files();
        }
        files
    }

    pub(super) fn memory(&self) -> Result<Usage, Broken> {
        Usage::of(self.coordinator.id()).map_err(Broken::new)
    }

    /// Counts the peak of memory from now on.
    pub(super) fn forget_peak(&self) -> Result<(), Broken> {
        let path = format!("/proc/{}/clear_refs", self.coordinator.id());
        fs::write(path, "5").map_err(Broken::new)
    }

    pub(super) fn user(&self) -> Result<User, Broken> {
        let runtime = runtime::Builder::new_current_thread().enable_all().build();
        Ok(User {
            runtime: runtime.map_err(Broken::new)?,
            url: format!(
                "{}://{}",
                if self.tls.is_some() { "https" } else { "http" },
                self.address
            ),
            credentials: self.credentials.clone(),
            kept: None,
        })
    }
}

/// A healthy user with one kept connection.
pub(super) struct User {
    runtime: Runtime,
    url: String,
    credentials: Credentials,
    kept: Option<CoordinatorServiceClient<Connection>>,
}

impl User {
    fn connection(&self) -> Result<Connection, Broken> {
        let _inside = self.runtime.enter();
        let connection = self.credentials.connect_lazy(&self.url);
        connection.map_err(Broken::new)
    }

    fn client(&self) -> Result<CoordinatorServiceClient<Connection>, Broken> {
        Ok(CoordinatorServiceClient::new(self.connection()?))
    }

    /// A call on a new connection. Returns how long both took.
    pub(super) fn connect_and_call(&self) -> Result<Duration, Broken> {
        let mut client = self.client()?;
        let started = Instant::now();
        let answer = client.list_workers(v1::ListWorkersRequest::default());
        self.runtime.block_on(answer).map_err(|status| {
            Broken::new(format_args!(
                "a call on a new connection failed: {status:?}"
            ))
        })?;
        Ok(started.elapsed())
    }

    /// Sends a large request, which the coordinator reads and refuses as a spec without agents.
    pub(super) fn large_call(&self) -> Result<(), Broken> {
        let mut client = self.client()?;
        let spec_toml = "#".repeat(LARGE_SPEC_BYTES);
        let request = v1::PlanTournamentRequest {
            spec_toml,
            ..v1::PlanTournamentRequest::default()
        };
        match self.runtime.block_on(client.plan_tournament(request)) {
            Err(status) if status.code() == Code::InvalidArgument => Ok(()),
            answer => Err(Broken::new(format_args!(
                "a large call was answered with {answer:?}"
            ))),
        }
    }

    /// Asks for health on a new connection, which needs no token.
    pub(super) fn check_health(&self) -> Result<(), Broken> {
        let mut client = HealthClient::new(self.connection()?);
        let answer = client.check(HealthCheckRequest::default());
        let answer = self.runtime.block_on(answer).map(drop);
        answer.map_err(|status| Broken::new(format_args!("a check of health failed: {status:?}")))
    }

    /// A call on the kept connection.
    pub(super) fn call(&mut self) -> Result<(), Broken> {
        let mut client = match self.kept.take() {
            Some(client) => client,
            None => self.client()?,
        };
        let answer = client.list_workers(v1::ListWorkersRequest::default());
        self.runtime.block_on(answer).map_err(|status| {
            Broken::new(format_args!(
                "a call on an open connection failed: {status:?}"
            ))
        })?;
        self.kept = Some(client);
        Ok(())
    }

    /// The time that calls on the kept connection take, in seconds.
    pub(super) fn seconds(&mut self, calls: usize) -> Result<f64, Broken> {
        // The first one connects.
        if self.kept.is_none() {
            self.call()?;
        }
        let started = Instant::now();
        for _ in 0..calls {
            self.call()?;
        }
        Ok(started.elapsed().as_secs_f64())
    }
}
