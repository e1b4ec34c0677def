//! Access of commands to a coordinator: a running one, or an embedded one on an unused data
//! folder.

use std::{
    path::{Path, PathBuf},
    sync::Once,
    time::Duration,
};

use arena_access::{
    Bearer, Connection, CredentialFiles, Credentials, is_read_by_others, tls_advice,
};
use arena_store::{database_of, has_store};
use arena_wire::v1;
use clap::{ArgMatches, Args, Command, FromArgMatches, parser::ValueSource};

use crate::{
    embedded::{self, DEFAULT_DATA, Embedded, Held},
    failure::{Failure, Outcome, root_cause},
    output::note,
    sources,
};

pub use arena_report::Client;

/// Large enough for exports, which request pages of hundreds of long games.
const MESSAGE_BYTES_MAX: usize = 64 << 20;

/// The flags that name a place.
#[derive(Args)]
struct AccessFlags {
    /// URL of a running coordinator, or a comma-separated list of coordinators that share a
    /// database; the one that answers is used
    ///
    /// Without --coordinator and --data, ARENA_COORDINATOR is used.
    #[arg(long, value_name = "URL", conflicts_with = "data")]
    coordinator: Option<String>,

    /// Data folder. If a coordinator is using the folder, that coordinator is queried
    /// [default: ./arena-data]
    ///
    /// Without --data, --coordinator and ARENA_COORDINATOR, ARENA_DATA is used.
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,

    #[command(flatten)]
    credentials: CredentialFlags,
}

/// What is shown to a coordinator.
#[derive(Args, Clone, Debug, Default)]
pub struct CredentialFlags {
    /// File with the token for the coordinator
    ///
    /// Not needed for a coordinator of the same user on this machine.
    #[arg(long, env = "ARENA_TOKEN_FILE", value_name = "FILE")]
    token_file: Option<PathBuf>,

    /// CA certificate that signed the coordinator's certificate (https only)
    #[arg(long, env = "ARENA_TLS_CA", value_name = "FILE")]
    tls_ca: Option<PathBuf>,

    /// Certificate to show to the coordinator, instead of a token
    #[arg(
        long,
        env = "ARENA_TLS_CERT",
        value_name = "FILE",
        requires = "tls_key"
    )]
    tls_cert: Option<PathBuf>,

    /// Key of the certificate to show
    #[arg(
        long,
        env = "ARENA_TLS_KEY",
        value_name = "FILE",
        requires = "tls_cert"
    )]
    tls_key: Option<PathBuf>,
}

impl CredentialFlags {
    /// Reads the named files. Warns once if other users can read the token.
    pub fn read(&self) -> Outcome<Credentials> {
        let files = CredentialFiles {
            token: self.token_file.clone(),
            ca: self.tls_ca.clone(),
            identity: self.tls_cert.clone().zip(self.tls_key.clone()),
        };
        let credentials = Credentials::of_files(&files).map_err(Failure::usage)?;
        if let Some(path) = &self.token_file
            && is_read_by_others(path)
        {
            // A command may connect several times.
            static WARNING: Once = Once::new();
            let path = path.display();
            WARNING.call_once(|| {
                note(format!(
                    "warning: other users can read the token in {path}: make the file private with \
                     `chmod 600 {path}`"
                ));
            });
        }
        Ok(credentials)
    }
}

/// Where the coordinator or its data is: as a flag says, an environment variable, or the
/// config file, in this order.
#[derive(Clone, Debug)]
pub enum AccessArgs {
    /// A running coordinator.
    Url(String, CredentialFlags),
    /// A data folder.
    Folder(PathBuf),
    /// The default data folder.
    Unsaid,
}

impl FromArgMatches for AccessArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let AccessFlags {
            coordinator,
            data,
            credentials,
        } = AccessFlags::from_arg_matches(matches)?;
        let url = |url| Self::Url(url, credentials.clone());
        let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        // The config file sets defaults.
        let is_flag = |id| matches.value_source(id) == Some(ValueSource::CommandLine);
        let (named, folder) = (coordinator.map(url), data.map(Self::Folder));
        let flag = (named.clone().filter(|_| is_flag("coordinator")))
            .or_else(|| folder.clone().filter(|_| is_flag("data")));
        Ok(flag
            .or_else(|| variable("ARENA_COORDINATOR").map(url))
            .or_else(|| variable("ARENA_DATA").map(|data| Self::Folder(data.into())))
            .or(named)
            .or(folder)
            .unwrap_or(Self::Unsaid))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for AccessArgs {
    fn augment_args(command: Command) -> Command {
        AccessFlags::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        AccessFlags::augment_args_for_update(command)
    }
}

/// A connection to a coordinator.
pub struct Access {
    /// The client of its service for users.
    pub client: Client,
    /// Address on which the coordinator listens.
    pub url: String,
    /// What it was shown.
    pub credentials: Credentials,
    embedded: Option<Embedded>,
}

impl AccessArgs {
    /// Opens an existing place.
    pub async fn open(&self) -> Outcome<Access> {
        self.connect(false).await
    }

    /// Opens a place, and creates the data folder if there is none.
    pub async fn open_or_create(&self) -> Outcome<Access> {
        self.connect(true).await
    }

    /// Opens an existing place. Without one, starts a coordinator in memory.
    pub async fn open_or_memory(&self) -> Outcome<Access> {
        if let Some(access) = self.open_if_any().await? {
            return Ok(access);
        }
        Access::embedded(embedded::hold_memory().await?).await
    }

    /// Opens a place if there is one.
    pub async fn open_if_any(&self) -> Outcome<Option<Access>> {
        match self.leads_somewhere() {
            true => self.open().await.map(Some),
            false => Ok(None),
        }
    }

    /// True if a place is named, or the data folder with the default name contains a store.
    pub fn leads_somewhere(&self) -> bool {
        !matches!(self, Self::Unsaid) || has_store(Path::new(DEFAULT_DATA))
    }

    /// True if [`AccessArgs::open_or_create`] would create a store.
    pub fn creates(&self) -> bool {
        self.folder().is_some_and(|data| !has_store(data))
    }

    /// The data folder; `None` if a coordinator is named.
    pub fn folder(&self) -> Option<&Path> {
        match self {
            Self::Url(..) => None,
            Self::Folder(data) => Some(data),
            Self::Unsaid => Some(Path::new(DEFAULT_DATA)),
        }
    }

    async fn connect(&self, create: bool) -> Outcome<Access> {
        let data = match self {
            Self::Url(url, flags) => return Access::remote(url, flags.read()?).await,
            Self::Folder(data) => data,
            Self::Unsaid => Path::new(DEFAULT_DATA),
        };
        // The folder of a coordinator with a database contains no store.
        let is_known =
            has_store(data) || embedded::has_address(data) || database_of(data).is_some();
        if !create && !is_known {
            return Err(Failure::usage(format!(
                "{} is not a data folder of arena: it contains no store; name another folder with \
                 --data, or a coordinator with --coordinator",
                std::path::absolute(data)
                    .as_deref()
                    .unwrap_or(data)
                    .display()
            )));
        }
        match embedded::hold(data, ([127, 0, 0, 1], 0).into()).await? {
            Held::Ours(embedded) => Access::embedded(embedded).await,
            Held::Other { url } => {
                let mut credentials = Credentials::found();
                if let Some(token) = arena_access::data_token(data) {
                    credentials.bearer = Bearer::of_token(token);
                }
                Access::remote(&url, credentials).await
            }
        }
    }
}

impl Access {
    async fn remote(url: &str, credentials: Credentials) -> Outcome<Self> {
        Ok(Self {
            client: dial(url, &credentials).await?,
            url: url.to_owned(),
            credentials,
            embedded: None,
        })
    }

    async fn embedded(embedded: Embedded) -> Outcome<Self> {
        let url = embedded.url();
        let credentials = Credentials::found();
        Ok(Self {
            client: dial(&url, &credentials).await?,
            url,
            credentials,
            embedded: Some(embedded),
        })
    }

    /// True for an embedded coordinator.
    pub fn is_embedded(&self) -> bool {
        self.embedded.is_some()
    }

    /// Waits until an embedded coordinator fails; waits forever without one.
    pub async fn failed(&mut self) -> Failure {
        match &mut self.embedded {
            Some(embedded) => embedded.failed().await,
            None => std::future::pending().await,
        }
    }

    /// Stops an embedded coordinator.
    pub async fn close(self) -> Outcome {
        match self.embedded {
            Some(embedded) => embedded.stop().await,
            None => Ok(()),
        }
    }
}

/// Plans a tournament with a coordinator; without one, with the built-in agents.
pub async fn plan(
    access: Option<&mut Access>,
    request: v1::PlanTournamentRequest,
) -> Outcome<v1::PlanTournamentResponse> {
    match access {
        Some(access) => Ok(access.client.plan_tournament(request).await?.into_inner()),
        None => embedded::plan(&request),
    }
}

/// Stops the coordinator of an access if it is an embedded one.
pub async fn close(access: Option<Access>) -> Outcome {
    match access {
        Some(access) => access.close().await,
        None => Ok(()),
    }
}

/// Connects to a coordinator.
pub async fn dial(url: &str, credentials: &Credentials) -> Outcome<Client> {
    let connection = connect(url, credentials).await?;
    Ok(Client::new(connection).max_decoding_message_size(MESSAGE_BYTES_MAX))
}

/// A connection to a coordinator, for any of its services.
pub async fn connect(url: &str, credentials: &Credentials) -> Outcome<Connection> {
    let endpoints = credentials.endpoints(url).map_err(Failure::usage)?;
    let endpoints = endpoints.into_iter().map(|endpoint| {
        endpoint
            .connect_timeout(Duration::from_secs(5))
            .tcp_nodelay(true)
    });
    let endpoints: Vec<_> = endpoints.collect();
    let connection = credentials.dial(&endpoints).await.map_err(|error| {
        let cause = root_cause(&error);
        Failure::unreachable(match (tls_advice(&cause), is_tls(&error)) {
            (Some(advice), _) => {
                format!("cannot trust the coordinator at {url}: {cause}; {advice}")
            }
            (None, true) => format!(
                "cannot trust the coordinator at {url}: {cause}; check the file of --tls-ca, the host \
                 in the URL, and the dates of the coordinator's certificate"
            ),
            (None, false) => format!(
                "no coordinator answers at {url}: {cause}; start one with `arena coordinator`"
            ),
        })
    })?;
    Ok(connection.patient())
}

/// True if the server answered, but TLS was not agreed.
fn is_tls(error: &(dyn std::error::Error + 'static)) -> bool {
    let causes = std::iter::successors(Some(error), |error| error.source());
    let mut causes = causes.filter_map(|cause| cause.downcast_ref::<std::io::Error>());
    // rustls has no other error that is one of the connection.
    causes.any(|cause| cause.kind() == std::io::ErrorKind::InvalidData)
}

/// Connects to a coordinator in this process.
pub async fn dial_embedded(embedded: &Embedded) -> Outcome<Client> {
    let url = embedded.url();
    dial(&url, &Credentials::found()).await
}

/// A fresh id for a request with side effects, which makes a retry safe.
pub fn request_id() -> String {
    let mut bytes = [0; 16];
    // Without an id the request is not protected against repetition.
    getrandom::fill(&mut bytes).map_or_else(|_| String::new(), |()| hex::encode(bytes))
}

/// Starts a tournament, or resumes it.
pub async fn start_tournament(
    client: &mut Client,
    spec_toml: String,
    seed: Option<String>,
    again: bool,
) -> Outcome<v1::StartTournamentResponse> {
    let request = v1::StartTournamentRequest {
        request_id: request_id(),
        spec_toml,
        seed: seed.unwrap_or_default(),
        again,
    };
    let mut response = client.start_tournament(request).await?.into_inner();
    let setup = response
        .tournament
        .as_ref()
        .and_then(|it| it.setup.as_ref());
    response
        .notes
        .extend(setup.map(sources::changed).unwrap_or_default());
    Ok(response)
}
