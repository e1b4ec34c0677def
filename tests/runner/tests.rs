use crate::{
    Answer, Arguments,
    context::Context,
    log::{Counts, failures},
    schedule::next,
    steps::{STEPS, Step, Work},
};

fn counts(passed: u64, failed: u64, skipped: u64) -> Counts {
    Counts {
        passed,
        failed,
        skipped,
    }
}

fn parse(words: &[&str]) -> Result<Arguments, Answer> {
    Arguments::parse(words.iter().map(|word| (*word).to_owned()))
}

fn steps(names: &[&str]) -> Vec<&'static Step> {
    let find = |name: &&str| STEPS.iter().find(|step| step.name == *name);
    names.iter().filter_map(find).collect()
}

#[test]
fn summaries_of_all_programs_are_counted() {
    for (line, expected) in [
        (
            "     Summary [   9.1s] 15 tests run: 9 passed (1 slow), 3 failed, 1 timed out, 2 skipped",
            counts(9, 4, 2),
        ),
        (
            "     Summary [   0.1s] 1/9 tests run: 1 passed, 8 skipped",
            counts(1, 0, 8),
        ),
        (
            "test result: FAILED. 9 passed; 1 failed; 2 ignored; 0 measured; 5 filtered out; \
             finished in 0.01s",
            counts(9, 1, 2),
        ),
        (
            "1 failed, 9 passed, 2 skipped, 1 error in 3.14s",
            counts(9, 2, 2),
        ),
        (
            "12 passed, 3 warnings in 61.20s (0:01:01)",
            counts(12, 0, 0),
        ),
        ("12 passed, 0 failed, 1 skipped", counts(12, 0, 1)),
        ("3 passed tests in a folder", Counts::default()),
        (
            "    test result: FAILED. 0 passed; 1 failed; 0 ignored",
            Counts::default(),
        ),
        ("a line of a test: 3 failed", Counts::default()),
    ] {
        assert_eq!(Counts::of(line), expected, "{line}");
    }
    let two = "test result: ok. 2 passed; 0 failed;\ntest result: ok. 3 passed; 0 failed;\n";
    assert_eq!(Counts::of(two), counts(5, 0, 0));
}

#[test]
fn failures_are_shown_once_with_their_reasons() {
    let log = "\
running
        FAIL [   1.2s] arena-tests::arena lifecycle::pause
thread 'lifecycle::pause' panicked at tests/lifecycle.rs:3:5:
assertion failed
left: 1
right: 2
note: run with RUST_BACKTRACE=1
kills: broken (3.1 s): nothing is lost
  game 3 is lost
fleet: holds (3.1 s): it serves
  rate 3
FAILED tests/test_page.py::test_print
        FAIL [   1.2s] arena-tests::arena lifecycle::pause
";
    let expected = [
        "        FAIL [   1.2s] arena-tests::arena lifecycle::pause",
        "thread 'lifecycle::pause' panicked at tests/lifecycle.rs:3:5:",
        "assertion failed",
        "left: 1",
        "right: 2",
        "kills: broken (3.1 s): nothing is lost",
        "  game 3 is lost",
        "FAILED tests/test_page.py::test_print",
    ];
    assert_eq!(failures(log), expected);
}

#[test]
fn unknown_failure_shows_end_of_log() {
    let log: Vec<String> = (0..20).map(|line| line.to_string()).collect();
    let log = log.join("\n");
    let shown = failures(&log);
    assert_eq!(shown.len(), 15);
    assert_eq!(shown[14], "19");
}

#[test]
fn arguments_are_parsed() {
    let parsed = parse(&["--quick", "--only=rust,doc", "word"]).expect("arguments");
    assert!(parsed.quick && !parsed.long);
    assert_eq!(parsed.only, ["rust", "doc"]);
    assert_eq!(parsed.filter.as_deref(), Some("word"));
    assert_eq!(parse(&["--list"]), Err(Answer::List));
    assert_eq!(parse(&["-h"]), Err(Answer::Help));
    for wrong in [&["--only"][..], &["--only", "nothing"], &["--qiuck"]] {
        assert!(matches!(parse(wrong), Err(Answer::Wrong(_))), "{wrong:?}");
    }
}

#[test]
fn only_precedes_filter() {
    let wanted = |words: &[&str]| -> Vec<&str> {
        let arguments = parse(words).expect("arguments");
        let wanted = STEPS.iter().filter(|step| arguments.wants(step));
        wanted.map(|step| step.name).collect()
    };
    assert_eq!(
        wanted(&["word"]),
        [
            "setup",
            "rust",
            "doc",
            "openspiel",
            "reports",
            "recompute",
            "python",
            "pettingzoo",
            "client",
            "kits"
        ]
    );
    assert_eq!(wanted(&["--only", "buf", "word"]), ["setup", "buf"]);
    assert_eq!(wanted(&[]).len(), STEPS.len());
}

#[test]
fn libraries_of_games_are_skipped_without_their_packages() {
    let arguments = parse(&[]).expect("arguments");
    let mut context = Context::new(arguments, "target".into(), "logs".into());
    context.python = Some("false".into());
    for (name, library) in [("openspiel", "OpenSpiel"), ("pettingzoo", "PettingZoo")] {
        let step = steps(&[name])[0];
        assert!(matches!((step.work)(&context), Work::Skip(reason) if reason.contains(library)));
    }
}

#[test]
fn guards_are_removed_with_long_only() {
    let arguments = parse(&[]).expect("arguments");
    let context = Context::new(arguments, "target".into(), "logs".into());
    let step = steps(&["guards"])[0];
    assert!(matches!((step.work)(&context), Work::Skip(reason) if reason.contains("--long")));
}

#[test]
fn steps_start_when_they_disturb_no_running_step() {
    for (waiting, running, expected) in [
        // A step waits for the steps that it needs.
        (&["rust"][..], &["setup"][..], None),
        (&["build", "rust"], &["setup"], Some("build")),
        // Two steps that compile do not run at the same time.
        (&["clippy", "doc"], &["rust"], Some("clippy")),
        (&["doc"], &["rust", "clippy"], None),
        // Steps share the cores, and leave no core idle.
        (&["reports"], &["rust"], None),
        (&["reports"], &["recompute"], Some("reports")),
        (&["python"], &["openspiel", "stress"], None),
        // Steps that wait for half of their time share a core.
        (
            &["client"],
            &["recompute", "reports", "kits"],
            Some("client"),
        ),
        (
            &["python"],
            &["recompute", "reports", "kits", "client"],
            None,
        ),
        // What they need is compiled while the Rust tests wait.
        (&["libraries"], &["rust"], Some("libraries")),
        (&["libraries"], &["rust", "doc"], None),
        (&["rules"], &["libraries"], None),
        (&["rust"], &[], Some("rust")),
        // The step that measures runs alone.
        (&["rates"], &["spelling"], None),
        (&["rates"], &[], Some("rates")),
        (&["spelling"], &["rates"], None),
    ] {
        let waiting = steps(waiting);
        let found = next(&waiting, &steps(running), 2).map(|index| waiting[index].name);
        assert_eq!(found, expected, "{running:?}");
    }
    // The Rust tests use all cores, however many there are.
    assert_eq!(next(&steps(&["reports"]), &steps(&["rust"]), 8), None);
}

/// `command -v` also finds the functions of the script, which have the names of programs.
#[test]
fn setup_looks_for_programs_only() {
    assert!(!include_str!("../setup").contains("command -v "));
}
