//! `arena token …`

use std::{
    fs::OpenOptions,
    io::Write,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use arena_access::Connection;
use arena_report::tokens;
use arena_wire::{
    limits::{self, Limit},
    pages::Pages,
    v1::{self, Role, TokenInfo, TokenLimits, admin_service_client::AdminServiceClient},
};
use clap::{Args, Subcommand, ValueEnum};
use serde_json::json;
use tonic::{Response, Status};

use crate::{
    access::{self, AccessArgs},
    failure::{Failure, Outcome},
    output::{self, Format, note},
};

/// Create, list and revoke tokens
#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Create a token, and print it once
    #[command(after_help = "\
The coordinator keeps only a hash of the token, so that it cannot be shown again. A client
names the file of its token with --token-file or ARENA_TOKEN_FILE.

The roles:
  viewer     reads agents, tournaments, games and standings
  submitter  also registers agents and starts tournaments; changes only its own
  worker     plays games, and nothing else
  admin      everything

Examples:
  arena token create --role viewer --label grafana --write viewer.token
  arena token create --role submitter --label alice --ttl 120d --write alice.token
  arena token create --role submitter --label bob --limit agents=20 --limit games=100000
  arena token create --role worker --ttl 30m --uses 1 --from 10.0.0.0/8")]
    Create(CreateArgs),
    /// List all tokens, without their texts
    #[command(after_help = "\
Examples:
  arena token list
  arena token list --output json --coordinator https://arena.example:7600")]
    List(ListArgs),
    /// Revoke a token: from now on it is refused, and its open streams end
    #[command(after_help = "\
Examples:
  arena token revoke 5f3a90c1")]
    Revoke(RevokeArgs),
}

#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    /// What the token allows
    #[arg(long, value_enum)]
    role: RoleName,

    /// Time after which it ends, such as 30m, 12h or 120d [default: never]
    #[arg(long, value_name = "DURATION", value_parser = ttl)]
    ttl: Option<Duration>,

    /// Maximum number of uses [default: no maximum]
    ///
    /// A use is a call. For a worker's token, a use is a worker process that joins. The process
    /// may join again, for example after a restart of the coordinator; that ends its earlier
    /// connection, so each use is one worker at a time. A token with --uses is not for web pages and
    /// metrics, where a reader makes many requests.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    uses: Option<u32>,

    /// Network from which it may be used, such as 10.0.0.0/8; may be repeated
    #[arg(long, value_name = "NETWORK")]
    from: Vec<String>,

    /// Limit of its own, such as agents=20; may be repeated [default: those of its role]
    ///
    /// The limits are agents, tournaments (running ones), games (of running tournaments),
    /// stored-tournaments (in any state), upload-bytes, upload-idle-seconds, streams (open
    /// ones), requests-per-second, and for what each agent asks: agent-memory-mib, agent-scratch-mib,
    /// agent-processes, agent-cpus, agent-cpu-seconds and agent-start-seconds. A token of a
    /// viewer or worker has only streams and requests-per-second; that of an administrator
    /// has none. The value unlimited removes a limit.
    #[arg(long, value_name = "NAME=VALUE", value_parser = limits::parse)]
    limit: Vec<(&'static Limit, u64)>,

    /// What the token is for, shown in the list
    #[arg(
        long,
        default_value = "",
        value_name = "TEXT",
        hide_default_value = true
    )]
    label: String,

    /// Write the token to a new file that only its owner can read, and not to stdout
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,

    /// Print the token and its properties as JSON
    #[arg(long, conflicts_with = "write")]
    json: bool,

    #[command(flatten)]
    access: AccessArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    access: AccessArgs,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct RevokeArgs {
    /// Id of the token, as `arena token list` shows it
    id: String,

    #[command(flatten)]
    access: AccessArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum RoleName {
    Viewer,
    Submitter,
    Worker,
    Admin,
}

impl From<RoleName> for Role {
    fn from(name: RoleName) -> Self {
        match name {
            RoleName::Viewer => Self::Viewer,
            RoleName::Submitter => Self::Submitter,
            RoleName::Worker => Self::Worker,
            RoleName::Admin => Self::Admin,
        }
    }
}

/// Reads the lifetime of a token. Without one, a token has no end, so 0 must not mean that.
fn ttl(text: &str) -> Result<Duration, String> {
    let ttl = humantime::parse_duration(text).map_err(|error| error.to_string())?;
    match ttl.is_zero() {
        true => Err(
            "a token that ends at once is of no use: name a time such as 30m, or leave --ttl out for \
             a token without an end"
                .to_owned(),
        ),
        false => Ok(ttl),
    }
}

impl TokenCommand {
    pub(crate) async fn run(self) -> Outcome {
        match self {
            Self::Create(args) => args.run().await,
            Self::List(args) => args.run().await,
            Self::Revoke(args) => args.run().await,
        }
    }
}

/// Calls the service for administrators.
async fn call<T>(
    access: &AccessArgs,
    call: impl AsyncFnOnce(&mut AdminServiceClient<Connection>) -> Result<Response<T>, Status>,
) -> Outcome<T> {
    let access = access.open().await?;
    let called = async {
        let connection = access::connect(&access.url, &access.credentials).await?;
        let answer = call(&mut AdminServiceClient::new(connection)).await?;
        Ok(answer.into_inner())
    };
    let called: Outcome<T> = called.await;
    let closed = access.close().await;
    let answer = called?;
    closed.map(|()| answer)
}

impl CreateArgs {
    async fn run(self) -> Outcome {
        // Before there is a token that no one has.
        if let Some(path) = self.write.as_deref().filter(|path| path.exists()) {
            let path = path.display();
            return Err(Failure::failed(format!(
                "cannot write {path}: the file exists; name a new one"
            )));
        }
        let ttl_seconds = self.ttl.map_or(0, |ttl| ttl.as_secs().max(1));
        let mut limits = TokenLimits::default();
        for (limit, value) in &self.limit {
            limit.set(&mut limits, Some(*value));
        }
        let request = v1::CreateTokenRequest {
            token: Some(TokenInfo {
                label: self.label,
                role: Role::from(self.role).into(),
                from: self.from,
                uses: self.uses.unwrap_or(0),
                limits: Some(limits),
                ..TokenInfo::default()
            }),
            ttl_seconds,
        };
        let created = call(&self.access, async |admin| {
            admin.create_token(request).await
        })
        .await?;
        let token = created.token.unwrap_or_default();
        match &self.write {
            Some(path) => write(path, &created.text)?,
            None if self.json => {
                let mut all = tokens::describe(&token);
                all["token"] = json!(created.text);
                return output::json_line(&all);
            }
            None => output::write(&format!("{}\n", created.text))?,
        }
        note(format!("token {}: {}", token.id, tokens::summary(&token)));
        Ok(())
    }
}

/// Writes a token to a new file that only this user can read.
fn write(path: &Path, text: &str) -> Outcome {
    let mut options = OpenOptions::new();
    let file = options.write(true).create_new(true).mode(0o600).open(path);
    file.and_then(|mut file| writeln!(file, "{text}"))
        .map_err(|error| Failure::failed(format!("cannot write {}: {error}", path.display())))
}

impl ListArgs {
    async fn run(self) -> Outcome {
        let mut all = Vec::new();
        let mut page_token = String::new();
        let mut read = Pages::default();
        loop {
            let request = v1::ListTokensRequest {
                page_token,
                ..Default::default()
            };
            let page = call(&self.access, async |admin| admin.list_tokens(request).await).await?;
            let goes_on = read.goes_on(&page, page.tokens.len(), &page.next_page_token)?;
            all.extend(page.tokens);
            page_token = page.next_page_token;
            if !goes_on {
                break;
            }
        }
        output::print(&tokens::listing(&all), self.output)
    }
}

impl RevokeArgs {
    async fn run(self) -> Outcome {
        let request = v1::RevokeTokenRequest { id: self.id };
        let revoked = call(&self.access, async |admin| {
            admin.revoke_token(request).await
        })
        .await?;
        let token = revoked.token.unwrap_or_default();
        note(format!("token {} is revoked", token.id));
        Ok(())
    }
}
