//! Process 1 of a sandbox with namespaces: it makes them, starts the last stage, and waits.

use std::{
    env,
    ffi::{OsStr, OsString},
    io::{self, Read, Write},
    process::{ExitCode, Stdio, exit},
    thread,
};

use arena_sandbox::Layer;
use nix::{
    errno::Errno,
    sys::{
        signal::{SigSet, Signal},
        wait::{WaitStatus, waitpid},
    },
    unistd::Pid,
};

use super::{GuardArgs, Report, print_error};

/// Runs until the agent ends. When this process ends, the system ends all others of the sandbox.
pub(super) fn main(args: &GuardArgs, subcommand: &[OsString]) -> ExitCode {
    match run(args, subcommand) {
        Ok(report) => {
            let _ = io::stdout().write_all(report.to_line().as_bytes());
            ExitCode::SUCCESS
        }
        Err(error) => {
            print_error(&format!("cannot start process 1 of the sandbox: {error}"));
            let errno = error.raw_os_error().unwrap_or(0);
            let _ = io::stdout().write_all(Report::Refused(errno).to_line().as_bytes());
            ExitCode::FAILURE
        }
    }
}

fn run(args: &GuardArgs, subcommand: &[OsString]) -> io::Result<Report> {
    nix::sys::prctl::set_pdeathsig(Signal::SIGKILL)?;
    SigSet::all().thread_unblock()?;
    let program = match arena_sandbox::enter_namespaces(&args.plan) {
        Ok(program) => program,
        Err(missing) => return Ok(Report::Unconfined(missing)),
    };
    // The guard has moved this process into its control group.
    io::stdin().read_exact(&mut [0])?;
    let mut agent = args.next_stage(OsStr::new(program), subcommand, ["--exec-under", "1"]);
    if let Some(folder) = env::var_os("PWD") {
        agent.current_dir(folder);
    }
    let agent = agent.stdin(Stdio::null()).spawn()?;
    let agent = Pid::from_raw(agent.id() as i32);
    if args.plan.has(Layer::Capabilities)
        && let Err(missing) = arena_sandbox::drop_capabilities()
    {
        return Ok(Report::Unconfined(missing));
    }
    // The input closes when the guard ends, even if that was before the signal for it was set.
    thread::Builder::new().spawn(|| {
        let mut input = io::stdin();
        while matches!(input.read(&mut [0; 64]), Ok(count) if count > 0) {}
        exit(1);
    })?;
    loop {
        match waitpid(None, None) {
            Ok(WaitStatus::Exited(pid, code)) if pid == agent => return Ok(Report::Exited(code)),
            Ok(WaitStatus::Signaled(pid, signal, _)) if pid == agent => {
                return Ok(Report::Signalled(signal as i32));
            }
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}
