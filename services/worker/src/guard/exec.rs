//! The last stage of a guard: its child sets up the sandbox and becomes the agent.

use std::{
    env,
    ffi::OsString,
    fs::File,
    io::{self, Write},
    os::{
        fd::{AsRawFd, RawFd},
        unix::process::CommandExt,
    },
    process::{Command, ExitCode},
    thread,
    time::Duration,
};

use arena_sandbox::{Layer, Plan};
use nix::{
    errno::Errno,
    sys::{
        prctl,
        resource::{Resource, setrlimit},
        signal::{SigSet, Signal},
    },
    unistd::{Pid, dup2_stdin, dup2_stdout, getppid},
};

use super::{Report, STARTS, print_error};

/// Maximum number of attempts to run a binary that is still open for writing.
const BUSY_ATTEMPTS: u32 = 100;
/// Memory that a process may reserve beyond its limit, without using it.
const SLACK_BYTES: u64 = 256 << 20;

/// Sets up the sandbox and becomes the agent. Returns only on failure, with the exit code that a
/// shell would use: 126 if the file cannot be run, 127 if it does not exist.
pub(super) fn become_agent(parent: i32, plan: &Plan, command: &[OsString]) -> ExitCode {
    let environment = arena_sandbox::environment(plan, env::vars_os());
    if let Err(error) = limit(plan) {
        print_error(&format!("cannot limit the agent: {error}"));
        return ExitCode::from(126);
    }
    let output = match open_pipes(plan) {
        Ok(output) => output,
        Err(error) => {
            print_error(&format!("cannot open the pipes of the agent: {error}"));
            return ExitCode::from(126);
        }
    };
    let kept: Vec<RawFd> = output.iter().map(AsRawFd::as_raw_fd).collect();
    if let Err(missing) = arena_sandbox::confine(plan, &kept) {
        let note = Report::Unconfined(missing).to_line();
        let _ = io::stdout().write_all(note.as_bytes());
        return ExitCode::from(126);
    }
    if getppid() != Pid::from_raw(parent) {
        // The parent died before the signal for its death was set.
        return ExitCode::from(126);
    }
    if command.is_empty() {
        return ExitCode::SUCCESS;
    }
    let _ = writeln!(io::stdout(), "{STARTS}");
    // From here on, the output is that of the agent.
    let redirected = match output {
        Some(output) => dup2_stdout(output),
        None => dup2_stdout(io::stderr()),
    };
    if let Err(error) = redirected {
        print_error(&format!("cannot redirect the output: {error}"));
        return ExitCode::from(126);
    }
    let program = &command[0];
    for _ in 0..BUSY_ATTEMPTS {
        let mut agent = Command::new(program);
        agent.args(&command[1..]);
        if plan.has(Layer::Environment) {
            agent.env_clear().envs(environment.iter().cloned());
        }
        let error = agent.exec();
        if error.raw_os_error() == Some(Errno::ETXTBSY as i32) {
            thread::sleep(Duration::from_millis(10));
            continue;
        }
        let hint = match error.kind() {
            io::ErrorKind::NotFound if !has_slash(program) => {
                "; it is not in the package, nor in a folder of this host's PATH"
            }
            io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied
                if plan.has(Layer::Landlock) =>
            {
                "; in the sandbox, its interpreter has to be in a folder of PATH, or named by \
                 --agent-path of the worker, or ARENA_AGENT_PATH"
            }
            _ => "",
        };
        print_error(&format!("cannot run {}: {error}{hint}", program.display()));
        return match error.kind() {
            io::ErrorKind::NotFound => ExitCode::from(127),
            _ => ExitCode::from(126),
        };
    }
    print_error(&format!(
        "cannot run {}: another process keeps it open for writing",
        program.display()
    ));
    ExitCode::from(126)
}

/// Makes the pipe of the worker the standard input, and opens the one for the standard output. None
/// if the worker made none.
fn open_pipes(plan: &Plan) -> io::Result<Option<File>> {
    let [input, output] = plan.pipes();
    if !input.exists() {
        return Ok(None);
    }
    dup2_stdin(File::open(input)?)?;
    File::options().write(true).open(output).map(Some)
}

fn has_slash(program: &OsString) -> bool {
    program.as_encoded_bytes().contains(&b'/')
}

/// Limits what an agent may use without a sandbox as well.
fn limit(plan: &Plan) -> Result<(), Errno> {
    prctl::set_pdeathsig(Signal::SIGKILL)?;
    let memory = plan.limits.memory_bytes;
    if memory > 0 {
        // This limits writable private memory. A limit of the address space would also count
        // memory that runtimes such as V8 reserve but do not use. In a sandbox, the guard measures
        // used memory, and this is only the bound between two measurements.
        let memory = match plan.has(Layer::TreeLimits) {
            true => memory.saturating_add(memory / 4 + SLACK_BYTES),
            false => memory,
        };
        setrlimit(Resource::RLIMIT_DATA, memory, memory)?;
    }
    setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
    SigSet::all().thread_unblock()
}
