//! Measures the path of a decision, without a coordinator: rules, questions,
//! agents, answers, records.
//!
//! ```sh
//! cargo run --release -p arena-worker --example path -- batched
//! cargo run --release -p arena-worker --example path -- unary 500
//! cargo run --release -p arena-worker --example path -- in-process 40000
//! cargo run --release -p arena-worker --example path -- batched 20000 4096 64
//! cargo run --release -p arena-worker --example path -- ./agent.py 5000
//! ```
//!
//! The arguments are the route (or the file of an agent, which then plays
//! itself), the number of cowry games, how many are played at once, and how
//! many agents take part. CPU time is that of all processes, to their end.

use std::{
    env,
    ffi::OsString,
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
    sync::Arc,
    time::Instant,
};

use arena_wire::v1::{self, agent_setup::Source};
use arena_worker::{AgentOptions, BinaryProvider, Builtin, Provided, guard, play_games};
use nix::sys::resource::{UsageWho, getrusage};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<std::alloc::System> = &INSTRUMENTED_SYSTEM;

fn main() -> ExitCode {
    let mut args = env::args_os().skip(1).peekable();
    if args.next_if(|arg| arg == "agent").is_some() {
        return match args.next().unwrap_or_default().to_str() {
            Some("guard") => guard::main(args),
            _ => serve(),
        };
    }
    let texts: Vec<String> = args.filter_map(|arg| arg.into_string().ok()).collect();
    let number = |place: usize, usual: u64| match texts.get(place) {
        None => Some(usual),
        Some(text) => text.parse().ok(),
    };
    let route = texts.first().map_or("batched", String::as_str);
    let (Some(games), Some(at_once), Some(agents)) =
        (number(1, 10_000), number(2, 512), number(3, 2))
    else {
        let _ = writeln!(io::stderr(), "path [ROUTE [GAMES [AT_ONCE [AGENTS]]]]");
        return ExitCode::from(2);
    };
    match measure(route, games, at_once as usize, agents as u32) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            let _ = writeln!(io::stderr(), "error: {problem}");
            ExitCode::FAILURE
        }
    }
}

/// Serves the papers' agents.
fn serve() -> ExitCode {
    let served = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map(|runtime| {
            let reported = arena_sdk::Listen::from_env().ok().flatten();
            runtime.block_on(arena_agents::serve::serve(
                &reported.unwrap_or_default(),
                &[],
            ))
        });
    match served {
        Ok(Ok(())) => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

struct File(PathBuf);

impl BinaryProvider for File {
    fn provide<'a>(&'a self, _: &'a v1::BinarySource) -> Provided<'a> {
        Box::pin(async { Ok(self.0.clone()) })
    }
}

fn measure(
    route: &str,
    games: u64,
    at_once: usize,
    agents: u32,
) -> Result<(), Box<dyn std::error::Error>> {
    let mut options = AgentOptions::of_executable(env::current_exe()?);
    options.unary = route == "unary";
    options.builtin = match route {
        "in-process" => Builtin::InProcess,
        _ => Builtin::Process,
    };
    let file = !matches!(route, "in-process" | "batched" | "unary");
    let source = match file {
        true => Source::Binary(v1::BinarySource {
            file_name: route.to_owned(),
            ..Default::default()
        }),
        false => Source::Native(v1::NativeSource {}),
    };
    let (resolved, _) = arena_games::resolve("cowry", &Default::default(), Some(2))?;
    let setup = v1::TournamentSetup {
        tournament_id: "path".to_owned(),
        ruleset: "cowry".to_owned(),
        rules_version: arena_games::ruleset("cowry")?.version,
        options: arena_wire::convert::options_to_wire(&resolved),
        seats: 2,
        agents: (0..agents)
            .map(|number| v1::AgentSetup {
                name: format!("random-{number}"),
                bot: if file {
                    String::new()
                } else {
                    "random".to_owned()
                },
                omit_move_details: true,
                source: Some(source.clone()),
                ..Default::default()
            })
            .collect(),
        ..Default::default()
    };
    let assignments = (0..games)
        .map(|index| v1::GameAssignment {
            index,
            block: index,
            seed: index,
            seats: vec![index as u32 % agents, (index as u32 + 1) % agents],
            attempts: 0,
            opening: Vec::new(),
            start: String::new(),
        })
        .collect();
    let file = PathBuf::from(OsString::from(route));
    let file = Arc::new(File(file.canonicalize().unwrap_or(file)));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let (before, region, start) = (cpu_us()?, Region::new(ALLOCATOR), Instant::now());
    let reports = runtime.block_on(play_games(setup, assignments, at_once, file, options))?;
    let (seconds, allocated) = (start.elapsed().as_secs_f64(), region.change());
    let after = cpu_us()?;
    let records = reports.iter().filter_map(|report| report.record.as_ref());
    let decisions: u32 = records.flat_map(|record| &record.decisions).sum();
    let each = |count: f64| count / f64::from(decisions.max(1));
    let peak = getrusage(UsageWho::RUSAGE_SELF)?.max_rss() / 1024;
    writeln!(
        io::stdout(),
        "{route}: {:.0} decisions/s, {:.3} µs CPU each ({:.3} here, {:.3} in agents), \
         {:.3} allocations each here, at most {peak} MB here",
        f64::from(decisions) / seconds,
        each(after.0 + after.1 - before.0 - before.1),
        each(after.0 - before.0),
        each(after.1 - before.1),
        each(allocated.allocations as f64 + allocated.reallocations as f64),
    )?;
    Ok(())
}

/// CPU time of this process, and of those below it that ended.
fn cpu_us() -> nix::Result<(f64, f64)> {
    let of = |who| {
        let usage = getrusage(who)?;
        let us = |time: nix::sys::time::TimeVal| time.tv_sec() as f64 * 1e6 + time.tv_usec() as f64;
        Ok(us(usage.user_time()) + us(usage.system_time()))
    };
    Ok((of(UsageWho::RUSAGE_SELF)?, of(UsageWho::RUSAGE_CHILDREN)?))
}
