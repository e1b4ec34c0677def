//! The steps of `tests/run`: what each runs, and which steps it can run beside.

use std::{process::Command, thread};

use crate::context::Context;

/// How much of the machine a step uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Load {
    /// Little, or only time that no other step uses.
    Light,
    /// Half of one core: it waits for the rest of its time.
    HalfCore,
    /// One core.
    OneCore,
    /// All cores.
    AllCores,
    /// The step measures something: no other step runs beside it.
    Alone,
}

impl Load {
    /// The half cores that it uses of all cores.
    pub(crate) fn half_cores(self, all: usize) -> usize {
        match self {
            Self::Light => 0,
            Self::HalfCore => 1,
            Self::OneCore => 2,
            Self::AllCores | Self::Alone => 2 * all,
        }
    }
}

/// A check, or a set of tests.
pub(crate) struct Step {
    pub(crate) name: &'static str,
    /// Steps that have to end first.
    pub(crate) after: &'static [&'static str],
    pub(crate) load: Load,
    /// Whether the step compiles. Cargo locks the target folder, so one such step runs at a time.
    pub(crate) builds: bool,
    /// Whether the step consists of tests, which its log counts.
    pub(crate) has_tests: bool,
    /// Whether a filter selects tests of the step.
    pub(crate) can_filter: bool,
    pub(crate) work: fn(&Context) -> Work,
}

/// What a step does.
pub(crate) enum Work {
    /// Runs commands until one fails.
    Run(Vec<Command>),
    /// Runs pytest, which exits with 5 if the filter excludes every test.
    Pytest(Command),
    /// Does nothing, for a reason.
    Skip(&'static str),
    /// Does nothing, because something is missing that has to be there.
    Fail(&'static str),
}

/// The defaults of a check, which is counted as one.
const CHECK: Step = Step {
    name: "",
    after: &[],
    load: Load::Light,
    builds: false,
    has_tests: false,
    can_filter: false,
    work: |_| Work::Run(Vec::new()),
};

/// The defaults of a set of tests: it waits for about half of its time.
const TESTS: Step = Step {
    after: &["setup", "build"],
    load: Load::HalfCore,
    has_tests: true,
    can_filter: true,
    ..CHECK
};

/// All steps. If several can start, the first of the list starts first: the longest ones are at the
/// front, so that the last ones end together.
pub(crate) const STEPS: &[Step] = &[
    Step {
        name: "setup",
        work: Context::setup,
        ..CHECK
    },
    Step {
        name: "format",
        work: |_| run(&["cargo", "fmt", "--all", "--check"]),
        ..CHECK
    },
    Step {
        name: "spelling",
        after: &["setup"],
        work: |_| run(&["typos"]),
        ..CHECK
    },
    Step {
        name: "buf",
        after: &["setup"],
        work: |context| match context.finds("buf") {
            true => run(&["buf", "lint", "proto"]),
            false => Work::Skip("buf is not installed, and there is no npm to get it"),
        },
        ..CHECK
    },
    // Files of GitHub and Docker, by the schemas that the program has built in.
    Step {
        name: "workflows",
        after: &["setup"],
        work: workflows,
        ..CHECK
    },
    Step {
        name: "licenses",
        after: &["setup"],
        work: |_| run(&["cargo", "deny", "check", "bans", "licenses", "sources"]),
        ..CHECK
    },
    Step {
        name: "build",
        load: Load::AllCores,
        builds: true,
        work: build,
        ..CHECK
    },
    Step {
        name: "rust",
        load: Load::AllCores,
        work: rust,
        ..TESTS
    },
    // The tests wait for much of their time, which is enough for these two.
    Step {
        name: "clippy",
        after: &["build"],
        builds: true,
        work: |_| clippy(),
        ..CHECK
    },
    Step {
        name: "doc",
        after: &["build"],
        load: Load::Light,
        builds: true,
        work: doc,
        ..TESTS
    },
    // The rules for other languages: a workspace with a target folder of its own.
    Step {
        name: "libraries",
        after: &["setup", "build", "clippy", "doc"],
        work: libraries,
        ..CHECK
    },
    Step {
        name: "rules",
        after: &["setup", "build", "libraries"],
        can_filter: false,
        work: rules,
        ..TESTS
    },
    // Promises under faults; `tests/stress/run --help` runs one of the tests.
    Step {
        name: "stress",
        load: Load::OneCore,
        can_filter: false,
        work: |context| stress(context, "others"),
        ..TESTS
    },
    // Games and bots of OpenSpiel.
    Step {
        name: "openspiel",
        load: Load::OneCore,
        work: |context| match context.imports("arena_openspiel") {
            true => context.pytest("agents/openspiel"),
            false => {
                Work::Skip("OpenSpiel is not installed: tests/setup installs it where pip can")
            }
        },
        ..TESTS
    },
    // Pages in Chromium, and exports as data frames.
    Step {
        name: "reports",
        work: |context| context.pytest("tests/report"),
        ..TESTS
    },
    // Dice, games and figures again, computed from exports and the documentation alone.
    Step {
        name: "recompute",
        work: |context| context.pytest("tests/recompute"),
        ..TESTS
    },
    Step {
        name: "python",
        work: |context| context.pytest(PYTHON_SDK),
        ..TESTS
    },
    // Environments of PettingZoo.
    Step {
        name: "pettingzoo",
        work: |context| match context.imports("arena_pettingzoo") {
            true => context.pytest("agents/pettingzoo"),
            false => {
                Work::Skip("PettingZoo is not installed: tests/setup installs it where pip can")
            }
        },
        ..TESTS
    },
    // The module `arena` for Python, its wheel and its notebook.
    Step {
        name: "client",
        work: |context| context.pytest("services/python"),
        ..TESTS
    },
    // Agents in all languages of `arena agent new`, by the line protocol alone.
    Step {
        name: "kits",
        work: |context| context.pytest("tests/kits"),
        ..TESTS
    },
    // Without each check of `data/attacks.toml`, a test has to fail.
    Step {
        name: "guards",
        load: Load::AllCores,
        can_filter: false,
        work: guards,
        ..TESTS
    },
    // Promises about rates.
    Step {
        name: "rates",
        load: Load::Alone,
        can_filter: false,
        work: |context| stress(context, "rates"),
        ..TESTS
    },
];

/// The workspace with the features of releases. Every step uses them, so that no crate is
/// compiled twice.
const WORKSPACE: [&str; 4] = ["--workspace", "--locked", "--features", "arena-cli/release"];

pub(crate) const PYTHON_SDK: &str = "agents/sdk/python";

/// What tests need. `cargo clippy` checks the other targets, examples and benchmarks.
const TARGETS: [&str; 7] = [
    "--lib",
    "--bins",
    "--tests",
    "--example",
    "fixture",
    "--example",
    "pig",
];

fn run(words: &[&str]) -> Work {
    Work::Run(vec![command(words)])
}

pub(crate) fn command(words: &[&str]) -> Command {
    let mut command = Command::new(words[0]);
    command.args(&words[1..]);
    command
}

/// A command that only gets time that no other process uses.
fn in_background(words: &[&str]) -> Command {
    let mut command = command(&["nice", "-n", "19"]);
    command.args(words);
    command
}

fn workflows(_: &Context) -> Work {
    let check = |schema: &str, files: &[&str]| {
        let mut check = command(&["check-jsonschema", "--builtin-schema", schema]);
        check.args(files);
        check
    };
    Work::Run(vec![
        check(
            "vendor.github-workflows",
            &[
                ".github/workflows/advisories.yml",
                ".github/workflows/release.yml",
                ".github/workflows/test.yml",
                "deploy/github/arena.yml",
            ],
        ),
        check(
            "vendor.github-issue-forms",
            &[
                ".github/ISSUE_TEMPLATE/bug.yml",
                ".github/ISSUE_TEMPLATE/feature.yml",
            ],
        ),
        check("vendor.compose-spec", &["deploy/compose.yaml"]),
    ])
}

fn cargo_build() -> Command {
    let mut build = command(&["cargo", "build", "--keep-going"]);
    build.args(WORKSPACE).args(TARGETS);
    build
}

/// Builds, and lists the binaries of tests: with the list, nextest does not start cargo, which
/// would wait for clippy.
fn build(context: &Context) -> Work {
    let mut commands = vec![cargo_build()];
    if has_nextest() {
        let script = r#"exec cargo nextest list --list-type binaries-only \
            --message-format json --tests "$@" >"$0""#;
        let mut list = command(&["bash", "-c", script]);
        list.arg(context.binaries()).args(WORKSPACE);
        commands.push(list);
    }
    Work::Run(commands)
}

fn has_nextest() -> bool {
    let output = command(&["cargo", "nextest", "--version"]).output();
    output.is_ok_and(|output| output.status.success())
}

fn clippy() -> Work {
    let mut clippy = in_background(&["cargo", "clippy", "--all-targets", "--keep-going"]);
    clippy.args(WORKSPACE).args(["--", "-D", "warnings"]);
    Work::Run(vec![clippy])
}

fn rust(context: &Context) -> Work {
    let mut commands = Vec::new();
    let mut tests;
    if has_nextest() {
        tests = command(&[
            "cargo",
            "nextest",
            "run",
            "--no-fail-fast",
            "--no-tests=pass",
        ]);
        tests.args(["--status-level=slow", "--final-status-level=fail"]);
        // Tests wait for a third of their time.
        let cores = thread::available_parallelism().map_or(1, usize::from);
        tests.arg(format!("--test-threads={}", cores + cores.div_ceil(2)));
        if context.built {
            tests.arg("--binaries-metadata").arg(context.binaries());
        } else {
            commands.push(cargo_build());
            tests.args(WORKSPACE).arg("--tests");
        }
        if context.arguments.quick {
            tests.args(["-E", "not package(arena-tests)"]);
        }
        tests.args(context.filter());
    } else {
        commands.push(cargo_build());
        tests = command(&["cargo", "test", "--no-fail-fast"]);
        tests.args(WORKSPACE).arg("--tests");
        if context.arguments.quick {
            tests.args(["--exclude", "arena-tests"]);
        }
        tests.arg("--").args(context.filter());
    }
    commands.push(tests);
    Work::Run(commands)
}

fn doc(context: &Context) -> Work {
    if context.arguments.quick {
        return Work::Skip("--quick");
    }
    let mut tests = in_background(&["cargo", "test", "--doc", "--no-fail-fast"]);
    tests.args(WORKSPACE);
    if let Some(filter) = context.filter() {
        tests.args(["--", filter]);
        return Work::Run(vec![tests]);
    }
    let mut pages = in_background(&["cargo", "doc", "--no-deps", "--quiet"]);
    pages
        .args(["--workspace", "--exclude", "arena-cli", "--locked"])
        .env("RUSTDOCFLAGS", "-D warnings");
    Work::Run(vec![tests, pages])
}

fn libraries(context: &Context) -> Work {
    match context.arguments.quick {
        true => Work::Skip("--quick"),
        false => Work::Run(vec![in_background(&["agents/rules/run", "build"])]),
    }
}

fn rules(context: &Context) -> Work {
    if context.arguments.quick {
        return Work::Skip("--quick");
    }
    let mut tests = command(&["agents/rules/run"]);
    if context.arguments.long {
        tests.arg("--long");
    }
    Work::Run(vec![tests])
}

fn stress(context: &Context, part: &str) -> Work {
    if context.arguments.quick {
        return Work::Skip("--quick");
    }
    let mut tests = if context.arguments.long {
        command(&["tests/stress/run"])
    } else {
        let mut tests = Command::new(context.target.join("debug/arena-stress"));
        tests.arg("--quick");
        tests
    };
    tests.args(["all", "--part", part]);
    Work::Run(vec![tests])
}

fn guards(context: &Context) -> Work {
    if !context.arguments.long {
        return Work::Skip("only with --long");
    }
    if !has_nextest() {
        return Work::Skip("cargo-nextest is not installed");
    }
    let mut commands = Vec::new();
    if !context.built {
        let mut build = command(&["cargo", "build", "--bin", "arena-guards"]);
        build.args(WORKSPACE);
        commands.push(build);
    }
    let mut guards = Command::new(context.target.join("debug/arena-guards"));
    guards.args(context.filter());
    commands.push(guards);
    Work::Run(commands)
}
