//! `arena rulesets register|list|remove`

use std::path::PathBuf;

use arena_client::{check::Target, library, registered, sources};
use arena_report::rulesets::registered as listing;
use arena_wire::v1::{self, agent::Source};
use arena_worker::{
    AgentOptions,
    rules::{RulesHost, RulesSource},
};
use clap::{Args, ValueEnum};

use crate::{
    access::{AccessArgs, request_id},
    commands::agent::register::upload,
    failure::{Failure, Outcome},
    output::{self, Format},
};

/// Register a ruleset that is a package, so that specs can name it
///
/// The package is started once, in the sandbox, and asked to describe itself. Workers fetch it from
/// the coordinator, which never starts it. A worker on which it loads another interpreter or other native
/// libraries does not play it. Tournaments keep the content with which they started.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("rules").required(true).args(["package", "openspiel", "pettingzoo"]))]
#[command(after_help = "\
Examples:
  arena rulesets register my-game --package ./my-game
  arena rulesets register my-game --package ./my-game --replace
  arena rulesets register c4 --openspiel connect_four
  arena rulesets register go9 --openspiel \"go(board_size=9)\"
  arena rulesets register ttt --pettingzoo pettingzoo.classic.tictactoe_v3
  arena rulesets register mine --pettingzoo \"./mygame.py:env(board_size=9)\"")]
pub(crate) struct RegisterArgs {
    /// Name of the ruleset: lower-case letters, digits and dashes
    name: String,

    /// Executable file, or a folder or archive (.tar, .tar.gz, .tar.zst, .zip) that
    /// contains an arena-agent.toml
    #[arg(long, value_name = "PATH")]
    package: Option<PathBuf>,

    /// Game of OpenSpiel, with parameters if any, instead of a package. Needs the Python package
    /// agents/openspiel here, and the same version of open_spiel on each worker
    #[arg(long, value_name = "GAME", conflicts_with = "args")]
    openspiel: Option<String>,

    /// Environment of PettingZoo instead of a package: a module, module:function or file.py:function, with
    /// parameters if any. Needs the Python package agents/pettingzoo here, and the same version of
    /// pettingzoo on each worker
    #[arg(long, value_name = "ENVIRONMENT", conflicts_with = "args")]
    pettingzoo: Option<String>,

    /// Versions of the interpreter and of native libraries with which workers may play: exactly those that
    /// the package loads here, or any
    #[arg(long, value_enum, default_value_t)]
    libraries: Libraries,

    /// Replace the ruleset of this name. Tournaments that have started keep the old content
    #[arg(long)]
    replace: bool,

    #[command(flatten)]
    access: AccessArgs,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    output: Format,

    /// Arguments to start the package with
    #[arg(last = true, value_name = "ARGS")]
    args: Vec<String>,
}

/// Which libraries workers may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Libraries {
    #[default]
    Exact,
    Any,
}

/// List registered packages only
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    access: AccessArgs,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    output: Format,
}

/// Remove the registration of a ruleset. Tournaments that have started keep it
#[derive(Debug, Args)]
pub(crate) struct RemoveArgs {
    /// Name of the ruleset
    name: String,

    #[command(flatten)]
    access: AccessArgs,
}

impl RegisterArgs {
    pub(crate) async fn run(self) -> Outcome {
        let game = super::game_of_library(self.openspiel.as_deref(), self.pettingzoo.as_deref());
        let folder = game
            .map(|(library, name)| library::package(library, library::Kind::Ruleset, name))
            .transpose()?;
        let path = folder.as_ref().map(library::Folder::path);
        let path = path.or_else(|| self.package.clone()).unwrap_or_default();
        let target = Target::of_package(path, self.args.clone());
        let found = target.find()?;
        let (Source::Binary(binary), Some(file)) = (found.source, &found.file) else {
            return Err(Failure::usage("rules need a file or a folder"));
        };
        let program = std::env::current_exe()?;
        let options = AgentOptions::of_executable(program).confined();
        let source = RulesSource::of_binary(file.path(), &binary);
        let host = RulesHost::new(&self.name, source, &options)?;
        let description = host.describe().map_err(|failure| {
            let checked = match (game, &self.package) {
                (Some((library, name)), _) => format!("--{} \"{name}\"", library.option()),
                (None, path) => path.clone().unwrap_or_default().display().to_string(),
            };
            Failure::usage(format!(
                "{failure}; `arena rulesets check {checked}` shows more"
            ))
        })?;
        let loaded = match (self.libraries, host.loaded()) {
            (Libraries::Any, _) => Vec::new(),
            (Libraries::Exact, Ok(loaded)) => loaded.to_vec(),
            (Libraries::Exact, Err(problem)) => {
                tracing::warn!(
                    problem,
                    "cannot find out which libraries the package loads, so workers may have others"
                );
                Vec::new()
            }
        };
        let mut access = self.access.open_or_create().await?;
        let client = &mut access.client;
        let sha256 = binary.sha256.clone();
        let registered = async {
            upload(client, &binary.sha256, &file.bytes).await?;
            let request = v1::RegisterRulesetRequest {
                request_id: request_id(),
                ruleset: Some(v1::Ruleset {
                    name: self.name.clone(),
                    rules: Some(v1::RulesPackage {
                        package: Some(binary),
                        digest: String::new(),
                        description: description.to_json(),
                        loaded,
                    }),
                    ..v1::Ruleset::default()
                }),
                replace: self.replace,
            };
            let answer = client.register_ruleset(request).await?.into_inner();
            match game {
                None => sources::remember(&target, &sha256),
                Some((library, name)) => {
                    if let Some(path) = library::file_of(library, name) {
                        sources::remember_file(path, &sha256);
                    }
                }
            }
            let listing = listing(vec![answer.ruleset.unwrap_or_default()])?;
            output::print(&listing, self.output)
        };
        let outcome = registered.await;
        outcome.and(access.close().await)
    }
}

impl ListArgs {
    pub(crate) async fn run(self) -> Outcome {
        let mut access = self.access.open().await?;
        let all = registered::all(&mut access.client).await;
        let outcome = all.and_then(|all| output::print(&listing(all)?, self.output));
        outcome.and(access.close().await)
    }
}

impl RemoveArgs {
    pub(crate) async fn run(self) -> Outcome {
        let mut access = self.access.open().await?;
        let request = v1::RemoveRulesetRequest {
            request_id: request_id(),
            name: self.name.clone(),
        };
        let removed = access.client.remove_ruleset(request).await;
        let outcome = match removed {
            Ok(_) => output::write(&format!("removed {}\n", self.name)),
            Err(status) => Err(status.into()),
        };
        outcome.and(access.close().await)
    }
}
