//! The checks of this machine.

use std::{
    fs::{self, File},
    io::Write,
    path::Path,
    process::Command,
    time::Instant,
};

use arena_model::SandboxLevel;
use arena_sandbox::cgroup;
use arena_worker::{AgentOptions, supervise::Sandbox};
use nix::sys::resource::{Resource, getrlimit};

use super::check::{Check, State};
use crate::failure::Outcome;

/// Open files that a worker or coordinator with many connections needs.
const OPEN_FILES: u64 = 4096;
/// Number of writes that are measured.
const SYNCS: usize = 20;
/// Latency of a write above which results wait for the disk.
const SYNC_MS: f64 = 20.0;

/// Checks the machine; `disk` is a folder of the disk to measure.
pub fn of_machine(disk: &Path) -> Outcome<Vec<Check>> {
    let mut all = sandbox()?;
    all.extend([
        tokens(),
        cgroups(),
        cores(),
        siblings(),
        governor(),
        open_files(),
        clock(),
        sync(disk),
        interpreter(
            "python",
            "python3",
            &[
                "-c",
                "import sys, arena_agent; print(sys.version.split()[0])",
            ],
            "install Python 3.9 or newer, and the SDK with `pip install ./agents/sdk/python`",
        ),
        interpreter(
            "node",
            "node",
            &["--version"],
            "install Node 18 or newer, if agents need it",
        ),
    ]);
    Ok(all)
}

fn sandbox() -> Outcome<Vec<Check>> {
    let guard = AgentOptions::of_executable(std::env::current_exe()?).guard;
    let levels = [
        ("sandbox kernel", SandboxLevel::Kernel),
        ("sandbox strict", SandboxLevel::Strict),
    ];
    let check = |(name, level): (&'static str, _)| {
        match Sandbox::of_level(level).check(&guard, &std::env::temp_dir()) {
            Ok(()) => Check::good(name, "available"),
            Err(error) => {
                // Its last part says what to do.
                let text = error.to_string();
                let (found, remedy) = text.split_once("; ").unwrap_or((&text, ""));
                Check::bad(name, State::Missing, found, remedy)
            }
        }
    };
    Ok(levels.into_iter().map(check).collect())
}

/// Whether agents can read tokens.
fn tokens() -> Check {
    let name = "tokens";
    let found = Sandbox::of_level(SandboxLevel::Kernel).exposed_tokens();
    if found.is_empty() {
        return Check::good(name, "none in the folders of PATH that agents can read");
    }
    let found: Vec<String> = found
        .iter()
        .map(|file| file.display().to_string())
        .collect();
    Check::bad(
        name,
        State::Poor,
        format!("agents can read {}", found.join(", ")),
        "move tokens and data folders out of the folders of PATH and ARENA_AGENT_PATH",
    )
}

fn cgroups() -> Check {
    let name = "cgroups";
    match cgroup::Base::find() {
        Some(_) => Check::good(name, "memory and pids are writable"),
        None => Check::bad(
            name,
            State::Poor,
            "not writable: the guard of an agent measures its memory and processes instead",
            "start the worker as root, or by systemd with Delegate=yes and DelegateSubgroup=worker",
        ),
    }
}

fn read(path: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    Some(text.trim().to_owned())
}

fn cores() -> Check {
    let usable = std::thread::available_parallelism().map_or(1, usize::from);
    let online = read("/sys/devices/system/cpu/online").unwrap_or_else(|| "unknown".to_owned());
    let found = format!("{usable} usable; online: {online}");
    match usable {
        1 => Check::bad(
            "cores",
            State::Poor,
            found,
            "raise the CPU quota or the affinity mask: agents and the worker share one core",
        ),
        _ => Check::good("cores", found),
    }
}

fn siblings() -> Check {
    match read("/sys/devices/system/cpu/smt/active").as_deref() {
        Some("1") => Check::bad(
            "smt",
            State::Poor,
            "active: two agents can share one core",
            "for timed games, give the worker one of each pair of siblings with --cores \
             (/sys/devices/system/cpu/cpu*/topology/thread_siblings_list)",
        ),
        Some(_) => Check::good("smt", "not active"),
        None => Check::good("smt", "unknown"),
    }
}

fn governor() -> Check {
    match read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor").as_deref() {
        None => Check::good("governor", "not visible, as on virtual machines"),
        Some("performance") => Check::good("governor", "performance"),
        Some(other) => Check::bad(
            "governor",
            State::Poor,
            other,
            "for timed games: cpupower frequency-set -g performance",
        ),
    }
}

fn open_files() -> Check {
    let name = "open files";
    match getrlimit(Resource::RLIMIT_NOFILE) {
        Ok((soft, _)) if soft >= OPEN_FILES => Check::good(name, format!("at most {soft}")),
        Ok((soft, _)) => Check::bad(
            name,
            State::Poor,
            format!("at most {soft}"),
            format!("ulimit -n {OPEN_FILES}, or LimitNOFILE= of systemd"),
        ),
        Err(error) => Check::bad(name, State::Missing, error.desc(), "allow getrlimit"),
    }
}

fn clock() -> Check {
    let name = "clock";
    let source = read("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    let start = Instant::now();
    for _ in 0..1000 {
        std::hint::black_box(Instant::now());
    }
    let each = start.elapsed().as_nanos() / 1000;
    let source = source.unwrap_or_else(|| "unknown source".to_owned());
    let found = format!("{source}, {each} ns to read");
    match each {
        0..1000 => Check::good(name, found),
        _ => Check::bad(
            name,
            State::Poor,
            found,
            "use a clock that programs read without a system call: boot with clocksource=tsc, or \
             kvm-clock in virtual machines",
        ),
    }
}

fn sync(disk: &Path) -> Check {
    let name = "disk";
    let shown = disk.display();
    let measured = || -> std::io::Result<Vec<f64>> {
        let path = disk.join(format!(".arena-doctor-{}", std::process::id()));
        let mut file = File::create_new(&path)?;
        let times = (0..SYNCS).map(|_| {
            let start = Instant::now();
            file.write_all(&[0; 4096])?;
            file.sync_data()?;
            Ok(start.elapsed().as_secs_f64() * 1000.0)
        });
        let times = times.collect();
        fs::remove_file(&path)?;
        times
    };
    let mut times = match measured() {
        Ok(times) => times,
        Err(error) => {
            let remedy = "name a folder that can be written with --disk DIR";
            return Check::bad(name, State::Missing, format!("{shown}: {error}"), remedy);
        }
    };
    times.sort_by(f64::total_cmp);
    let (p50, most) = (times[SYNCS / 2], times[SYNCS - 1]);
    let found = format!("{shown}: p50 {p50:.2} ms, at most {most:.2} ms to sync 4 KiB");
    match p50 <= SYNC_MS {
        true => Check::good(name, found),
        false => Check::bad(
            name,
            State::Poor,
            found,
            "keep the data folder on an SSD: each report of results waits for the disk",
        ),
    }
}

fn interpreter(name: &'static str, program: &str, args: &[&str], remedy: &str) -> Check {
    match Command::new(program).args(args).output() {
        Ok(output) if output.status.success() => {
            let version = String::from_utf8_lossy(&output.stdout);
            Check::good(name, version.trim())
        }
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stderr);
            let last = text.lines().last().unwrap_or_default();
            Check::bad(name, State::Missing, format!("{program}: {last}"), remedy)
        }
        Err(error) => Check::bad(name, State::Missing, format!("{program}: {error}"), remedy),
    }
}
