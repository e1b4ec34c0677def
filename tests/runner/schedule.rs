//! Runs steps, at the same time where they do not disturb each other.

use std::{
    fmt,
    fs::{self, File},
    io::{self, Write},
    path::PathBuf,
    process::Stdio,
    sync::mpsc,
    thread,
    time::Instant,
};

use crate::{
    context::Context,
    show,
    steps::{Load, Step, Work},
};

/// The exit code of pytest if it selected no test.
const NO_TESTS: i32 = 5;

/// How a step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Passed,
    Failed,
    Skipped,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Passed => "passed",
            Self::Failed => "FAILED",
            Self::Skipped => "skipped",
        })
    }
}

/// A step that has ended.
pub(crate) struct Report {
    pub(crate) step: &'static Step,
    pub(crate) outcome: Outcome,
    pub(crate) seconds: u64,
    pub(crate) path: PathBuf,
    pub(crate) log: String,
}

/// Runs steps, and shows each report when its step ends.
pub(crate) fn run(
    steps: &[&'static Step],
    mut context: Context,
    show_report: &dyn Fn(&Report),
) -> io::Result<Vec<Report>> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let (sender, receiver) = mpsc::channel();
    let mut waiting = steps.to_vec();
    let mut running: Vec<&'static Step> = Vec::new();
    let mut reports = Vec::new();
    while !(waiting.is_empty() && running.is_empty()) {
        while let Some(index) = next(&waiting, &running, cores) {
            let step = waiting.remove(index);
            running.push(step);
            show!("-- {} started\n", step.name);
            let (sender, context) = (sender.clone(), context.clone());
            thread::spawn(move || sender.send(execute(step, &context)));
        }
        let report: Report = receiver.recv().expect("this function has a sender")?;
        running.retain(|step| step.name != report.step.name);
        show_report(&report);
        if report.step.name == "setup" {
            context.read_environment()?;
        }
        context.built |= report.step.name == "build" && report.outcome == Outcome::Passed;
        reports.push(report);
    }
    Ok(reports)
}

/// The index of the first waiting step that can run beside the running ones.
pub(crate) fn next(waiting: &[&Step], running: &[&Step], cores: usize) -> Option<usize> {
    let ended = |name: &str| waiting.iter().chain(running).all(|step| step.name != name);
    let busy: usize = running.iter().map(|step| step.load.half_cores(cores)).sum();
    let alone = running.iter().any(|step| step.load == Load::Alone);
    let builds = running.iter().any(|step| step.builds);
    waiting.iter().position(|step| {
        let fits = match step.load {
            Load::Alone => running.is_empty(),
            Load::AllCores | Load::OneCore | Load::HalfCore => {
                busy + step.load.half_cores(cores) <= 2 * cores
            }
            Load::Light => true,
        };
        step.after.iter().all(|name| ended(name)) && fits && !alone && !(step.builds && builds)
    })
}

/// Runs a step, with its output in a log.
fn execute(step: &'static Step, context: &Context) -> io::Result<Report> {
    let started = Instant::now();
    let path = context.logs.join(format!("{}.log", step.name));
    let mut log = File::create(&path)?;
    let outcome = work((step.work)(context), context, &mut log)?;
    Ok(Report {
        step,
        outcome,
        seconds: started.elapsed().as_secs(),
        log: String::from_utf8_lossy(&fs::read(&path)?).into_owned(),
        path,
    })
}

fn work(work: Work, context: &Context, log: &mut File) -> io::Result<Outcome> {
    let mut codes = vec![0];
    let commands = match work {
        Work::Run(commands) => commands,
        Work::Pytest(command) => {
            codes.extend(context.arguments.filter.is_some().then_some(NO_TESTS));
            vec![command]
        }
        Work::Skip(reason) => {
            writeln!(log, "skipped: {reason}")?;
            return Ok(Outcome::Skipped);
        }
        Work::Fail(reason) => {
            writeln!(log, "{reason}")?;
            return Ok(Outcome::Failed);
        }
    };
    for mut command in commands {
        context.prepare(&mut command);
        command.stdin(Stdio::null()).stdout(log.try_clone()?);
        match command.stderr(log.try_clone()?).status() {
            Ok(status) if status.code().is_some_and(|code| codes.contains(&code)) => {}
            Ok(_) => return Ok(Outcome::Failed),
            Err(error) => {
                let program = command.get_program().display();
                writeln!(log, "cannot start {program}: {error}")?;
                return Ok(Outcome::Failed);
            }
        }
    }
    Ok(Outcome::Passed)
}
