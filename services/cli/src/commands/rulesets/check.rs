//! `arena rulesets check`

use std::{
    fs,
    path::{Path, PathBuf},
};

use arena_client::{
    check::Report,
    library,
    output::interactive,
    progress, registered,
    rules::{PackageFailure, Rules},
    ruleset_check::{self, GOLDEN_FILE, Golden},
};
use arena_report::units;
use clap::Args;
use indicatif::ProgressBar;
use serde_json::json;

use crate::{
    access::AccessArgs,
    failure::{Failure, Outcome},
    output::{self, Format},
};

/// Play random games of a ruleset and check everything that its rules promise
///
/// The games are played with the defaults, with each preset, and with each option at its bounds,
/// for each number of seats. The rules of a package run in the sandbox. In its first 100 games, two processes
/// answer each question, one of them twice; the others have to end, within the bounds of each answer.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("rules").required(true).args(["ruleset", "openspiel", "pettingzoo"]))]
#[command(after_help = "\
Examples:
  arena rulesets check kalah
  arena rulesets check kalah --games 100000 --output json
  arena rulesets check ./my-game --games 100
  arena rulesets check ./my-game --write-golden ./my-game/golden.jsonl
  arena rulesets check my-game --coordinator http://127.0.0.1:7600
  arena rulesets check --openspiel \"hex(board_size=5)\"
  arena rulesets check --pettingzoo ./mygame.py:env --games 20

Exit codes: 0 if all steps passed, 3 if one failed.")]
pub(crate) struct CheckArgs {
    /// Name of a ruleset of this program or of a registered package, or path of a package: an
    /// executable file, or a folder or archive that contains an arena-agent.toml
    #[arg(value_name = "NAME|PATH")]
    ruleset: Option<String>,

    /// Game of OpenSpiel, with parameters if any, that need not be registered
    #[arg(long, value_name = "GAME", conflicts_with_all = ["coordinator", "data", "args"])]
    openspiel: Option<String>,

    /// Environment of PettingZoo, with parameters if any, that need not be registered: a module,
    /// module:function or file.py:function
    #[arg(long, value_name = "ENVIRONMENT", conflicts_with_all = ["coordinator", "data", "args"])]
    pettingzoo: Option<String>,

    /// Minimum number of random games
    #[arg(long, default_value_t = 10_000, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    games: u64,

    /// File with golden playthroughs, which the rules have to play as they were written [default: golden.jsonl
    /// in the folder of a package, if there is one]
    #[arg(long, value_name = "FILE", conflicts_with = "write_golden")]
    golden: Option<PathBuf>,

    /// If all steps pass, write golden playthroughs to this file: a random game with each combination of options
    /// that the check tries
    #[arg(long, value_name = "FILE")]
    write_golden: Option<PathBuf>,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    output: Format,

    #[command(flatten)]
    access: AccessArgs,

    /// Arguments to start the package with
    #[arg(last = true, value_name = "ARGS")]
    args: Vec<String>,
}

impl CheckArgs {
    pub(crate) async fn run(self) -> Outcome {
        if self.output == Format::Csv {
            return Err(Failure::usage(
                "a check has no csv: use --output table or json",
            ));
        }
        let game = super::game_of_library(self.openspiel.as_deref(), self.pettingzoo.as_deref());
        if let Some((library, name)) = game {
            let folder = library::package(library, library::Kind::Ruleset, name)?;
            let rules = Rules::of_path(name, folder.path(), Vec::new(), true);
            return self.check_package(name, rules, None);
        }
        let name = self.ruleset.as_deref().unwrap_or_default();
        let listed = arena_games::ruleset(name);
        let path = Path::new(name);
        if listed.is_err() && (name.contains('/') || path.exists()) {
            return self.check_path(path);
        }
        let info = match listed {
            Ok(info) => info,
            Err(unknown) => return self.check_registered(name, unknown).await,
        };
        let (rules, games) = (Rules::Listed(info), self.games);
        let golden = self.golden(None)?;
        let report = ruleset_check::check(&rules, games, golden.as_ref(), &games_bar())?;
        self.write_golden(&rules, &report)?;
        self.print(info.name, &report)
    }

    /// Checks the package of a registered ruleset, as workers start it.
    async fn check_registered(&self, name: &str, unknown: impl std::fmt::Display) -> Outcome {
        let folder = tempfile::tempdir()?;
        let fetched = registered::fetch(self.access.clone(), name, unknown, folder.path());
        let (file, binary) = fetched.await?;
        self.check_package(name, Rules::of_fetched(name, file, binary, true), None)
    }

    fn check_path(&self, path: &Path) -> Outcome {
        let name = name_of(path);
        let rules = Rules::of_path(&name, path.to_owned(), self.args.clone(), true);
        self.check_package(&name, rules, Some(path))
    }

    /// `path` is that of the package, if it is one of this machine.
    fn check_package(
        &self,
        name: &str,
        rules: Result<Rules, PackageFailure>,
        path: Option<&Path>,
    ) -> Outcome {
        let golden = self.golden(path)?;
        let report = match rules {
            Ok(rules) => {
                let report =
                    ruleset_check::check(&rules, self.games, golden.as_ref(), &games_bar())?;
                self.write_golden(&rules, &report)?;
                report
            }
            Err(PackageFailure::Rules(failure)) => ruleset_check::report_start(name, failure),
            Err(unusable) => return Err(unusable.into()),
        };
        self.print(name, &report)
    }

    /// The playthroughs to compare: those that the user names, or those of a package's folder.
    fn golden(&self, package: Option<&Path>) -> Outcome<Option<Golden>> {
        let of_package = package.map(|path| path.join(GOLDEN_FILE));
        // They are replaced.
        let of_package = of_package.filter(|it| it.exists() && self.write_golden.is_none());
        let path = self.golden.clone().or(of_package);
        path.map(|path| Golden::read(&path)).transpose()
    }

    fn write_golden(&self, rules: &Rules, report: &Report) -> Outcome {
        let Some(path) = self
            .write_golden
            .as_ref()
            .filter(|_| report.failure().is_none())
        else {
            return Ok(());
        };
        let text = ruleset_check::playthroughs(rules)?;
        let games = text.lines().count() as u64;
        let shown = path.display();
        fs::write(path, text).map_err(|error| Failure::failed(format!("{shown}: {error}")))?;
        output::note(format_args!(
            "wrote {} to {shown}",
            units::plural(games, "playthrough")
        ));
        Ok(())
    }

    fn print(&self, name: &str, report: &Report) -> Outcome {
        match self.output {
            Format::Table | Format::Csv => output::write(&report.to_text())?,
            Format::Json => output::json(&json!({ "ruleset": name, "steps": report.steps }))?,
            Format::Jsonl => {
                output::json_line(&json!({ "ruleset": name, "steps": report.steps }))?;
            }
        }
        report
            .failure()
            .map_or(Ok(()), |failure| Err(Failure::differs(failure)))
    }
}

/// Counts games, if stderr is a terminal.
fn games_bar() -> ProgressBar {
    match interactive() {
        true => progress::bar("{pos}/{len} games {wide_bar} {msg}"),
        false => ProgressBar::hidden(),
    }
}

/// A name for messages.
fn name_of(path: &Path) -> String {
    let whole: PathBuf = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let name = whole.file_name().unwrap_or_default();
    arena_model::printable(&name.to_string_lossy()).into_owned()
}
