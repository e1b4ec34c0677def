//! Removes every check that `data/attacks.toml` names, one at a time in a copy of the repository, and
//! requires that the tests named there fail: `tests/run --long --only guards [FILTER]`.

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    io::{self, Write},
    path::{Path, PathBuf},
    process::{Command, ExitCode},
    time::Instant,
};

use anyhow::{Context as _, ensure};
use arena_tests::{
    attacks::{Attack, Guard, attacks, outcome},
    repository,
};

/// Prints a line. A reader that has gone, such as `head`, is no error.
macro_rules! say {
    ($($line:tt)*) => {
        let _ = writeln!(io::stdout(), $($line)*);
    };
}

/// A copy of the repository with a target folder of its own.
struct Copy {
    checkout: PathBuf,
    target: PathBuf,
    /// The crates with the tests. All of them are built each time: with fewer, dependencies would have other
    /// features, and be compiled again.
    packages: BTreeSet<String>,
}

/// The crate with the program that tests across processes start.
const PROGRAM: &str = "arena-cli";

/// Tests that have run.
struct Run {
    /// The outcome of each as nextest names it; `skipped` if the test says so itself.
    outcomes: BTreeMap<String, String>,
    log: String,
}

fn main() -> anyhow::Result<ExitCode> {
    let attacks = attacks();
    let filters: Vec<String> = env::args().skip(1).collect();
    let is_wanted = |attack: &Attack, guard: &Guard| {
        let fits = |it: &String| *it == attack.number.to_string() || label(guard).contains(it);
        filters.is_empty() || filters.iter().any(fits)
    };
    let all = attacks.iter().flat_map(|attack| {
        let guards = attack.guards.iter();
        guards.map(move |guard| (attack, guard))
    });
    let wanted: Vec<_> = all
        .filter(|(attack, guard)| is_wanted(attack, guard))
        .collect();
    ensure!(
        !wanted.is_empty(),
        "no attack or guard is named {filters:?}"
    );

    let copy = Copy::new(&attacks)?;
    let run = copy.run(wanted.iter().flat_map(|(_, guard)| &guard.fails))?;
    for (test, outcome) in &run.outcomes {
        let is_sound = matches!(&**outcome, "PASS" | "skipped");
        ensure!(is_sound, "with all checks, {test}: {outcome}\n{}", run.log);
    }
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    say!("attack {:<62} seconds  test without the check", "guard");
    for (attack, guard) in wanted {
        let start = Instant::now();
        let run = copy.run_without(guard)?;
        let seconds = start.elapsed().as_secs();
        for (test, outcome) in &run.outcomes {
            let (number, guard) = (attack.number, label(guard));
            say!("{number:>6} {guard:<62} {seconds:>7}  {outcome:<8} {test}");
        }
        let are = |word| run.outcomes.values().all(|outcome| outcome == word);
        if are("FAIL") {
            passed += 1;
        } else if are("skipped") {
            skipped += 1;
        } else {
            failed += 1;
            say!("{}", run.log);
        }
    }
    say!("{passed} passed, {failed} failed, {skipped} skipped");
    Ok(ExitCode::from(u8::from(failed > 0)))
}

fn label(guard: &Guard) -> String {
    format!("{} {}", guard.file, guard.name)
}

impl Copy {
    /// Copies what Git does not ignore. A file that is equal already keeps its time, so that cargo compiles
    /// only what changed.
    fn new(attacks: &[Attack]) -> anyhow::Result<Self> {
        let target = env::var_os("CARGO_TARGET_DIR");
        let target = target.map_or_else(|| repository().join("target"), PathBuf::from);
        let folder = std::path::absolute(target)?.join("guards");
        let tests = attacks
            .iter()
            .flat_map(|it| &it.guards)
            .flat_map(|it| &it.fails);
        let packages = tests.filter_map(|test| test.split([':', ' ']).next().map(str::to_owned));
        let copy = Self {
            checkout: folder.join("checkout"),
            target: folder.join("target"),
            packages: packages.chain([PROGRAM.to_owned()]).collect(),
        };
        let mut list = Command::new("git");
        list.args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ]);
        let list = list.current_dir(repository()).output().context("git")?;
        ensure!(list.status.success(), "this is no checkout of Git");
        // Files that have gone would stay.
        let known = folder.join("files");
        if fs::read(&known).ok().as_ref() != Some(&list.stdout) && copy.checkout.exists() {
            fs::remove_dir_all(&copy.checkout)?;
        }
        for path in String::from_utf8(list.stdout.clone())?.split_terminator('\0') {
            let (from, to) = (repository().join(path), copy.checkout.join(path));
            let Ok(content) = fs::read(&from) else {
                let _ = fs::remove_file(&to);
                continue;
            };
            if fs::read(&to).ok() != Some(content) {
                fs::create_dir_all(to.parent().unwrap_or(Path::new("/")))?;
                fs::copy(&from, &to)?;
            }
        }
        fs::write(&known, list.stdout)?;
        Ok(copy)
    }

    /// Runs the tests of a guard without it.
    fn run_without(&self, guard: &Guard) -> anyhow::Result<Run> {
        let path = self.checkout.join(&guard.file);
        let text = fs::read_to_string(&path)?;
        let changed = guard.remove(&text).map_err(anyhow::Error::msg)?;
        fs::write(&path, changed)?;
        let run = self.run(&guard.fails);
        fs::write(&path, text)?;
        run
    }

    /// A command of cargo in the copy.
    fn cargo(&self, words: &[&str]) -> Command {
        let mut cargo = Command::new("cargo");
        cargo
            .args(words)
            .arg("--locked")
            .current_dir(&self.checkout)
            .env("CARGO_TARGET_DIR", &self.target)
            .env("CARGO_PROFILE_DEV_DEBUG", "false");
        for package in &self.packages {
            cargo.args(["--package", package]);
        }
        cargo
    }

    /// Runs tests.
    fn run<'a>(&self, tests: impl IntoIterator<Item = &'a String>) -> anyhow::Result<Run> {
        let tests: BTreeSet<&String> = tests.into_iter().collect();
        let each = tests.iter().filter_map(|test| test.split_once(' '));
        let each = each.map(|(binary, name)| format!("binary_id(={binary}) & test(={name})"));
        let mut run = self.cargo(&["nextest", "run", "--cargo-quiet", "--no-fail-fast"]);
        run.args(["--status-level=pass", "--final-status-level=none"])
            .args(["--failure-output=never", "--color=never"])
            .args(["--lib", "--test", "suite"])
            .args(["-E", &each.collect::<Vec<_>>().join(" | ")]);
        let mut commands = Vec::new();
        if tests.iter().any(|test| test.starts_with("arena-tests::")) {
            run.args(["--test", "arena"]);
            // With a test, so that dependencies have the same features in both commands.
            let mut build = self.cargo(&["build", "--quiet"]);
            build.args(["--bin", "arena", "--test", "arena"]);
            commands.push(build);
        }
        commands.push(run);
        let mut log = String::new();
        for mut command in commands {
            let output = command.output().context("cargo")?;
            log = String::from_utf8_lossy(&output.stderr).into_owned();
            if !output.status.success() {
                break;
            }
        }
        let outcomes = tests.into_iter().map(|test| {
            let name = test.rsplit(':').next().unwrap_or_default();
            let outcome = match outcome(&log, test) {
                Some("PASS") if log.contains(&format!("skipped: {name}: ")) => "skipped",
                outcome => outcome.unwrap_or("not run"),
            };
            (test.clone(), outcome.to_owned())
        });
        Ok(Run {
            outcomes: outcomes.collect(),
            log,
        })
    }
}
