//! The second stage of a guard: its child sets the limits and becomes the agent.

use std::{
    ffi::OsString,
    io,
    os::unix::process::CommandExt,
    process::{Command, ExitCode},
    thread,
    time::Duration,
};

use nix::{
    errno::Errno,
    sys::{
        prctl,
        resource::{Resource, setrlimit},
        signal::{SigSet, Signal},
    },
    unistd::{Pid, getppid},
};

use super::print_error;

/// Maximum number of attempts to run a binary that is still open for writing.
const BUSY_ATTEMPTS: u32 = 100;

/// Sets the limits and becomes the agent. Returns only on failure, with the exit code that a shell
/// would use: 126 if the file cannot be run, 127 if it does not exist.
pub(super) fn become_agent(parent: i32, memory_bytes: u64, command: &[OsString]) -> ExitCode {
    if let Err(error) = confine(parent, memory_bytes) {
        print_error(&format!("cannot confine the agent: {error}"));
        return ExitCode::from(126);
    }
    let program = &command[0];
    for _ in 0..BUSY_ATTEMPTS {
        let error = Command::new(program).args(&command[1..]).exec();
        if error.raw_os_error() == Some(Errno::ETXTBSY as i32) {
            thread::sleep(Duration::from_millis(10));
            continue;
        }
        let hint = match error.kind() == io::ErrorKind::NotFound && !has_slash(program) {
            true => "; it is not in the package, nor in a folder of this host's PATH",
            false => "",
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

fn has_slash(program: &OsString) -> bool {
    program.as_encoded_bytes().contains(&b'/')
}

fn confine(parent: i32, memory_bytes: u64) -> Result<(), Errno> {
    prctl::set_pdeathsig(Signal::SIGKILL)?;
    if getppid() != Pid::from_raw(parent) {
        // The guard died before the signal for its death was set.
        return Err(Errno::ESRCH);
    }
    if memory_bytes > 0 {
        // This limits writable private memory. A limit of the address space would also count
        // memory that runtimes such as V8 reserve but do not use.
        setrlimit(Resource::RLIMIT_DATA, memory_bytes, memory_bytes)?;
    }
    setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
    SigSet::all().thread_unblock()
}
