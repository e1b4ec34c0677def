//! Counts allocations while games are played.

use std::{env, path::PathBuf, sync::Arc};

use arena_wire::v1::{self, agent_setup::Source};
use arena_worker::{AgentOptions, Builtin, NoBinaries, play_games};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<std::alloc::System> = &INSTRUMENTED_SYSTEM;

/// Games of the shorter run. The longer run has three times as many.
const GAMES: u64 = 256;
const AT_ONCE: usize = 256;

fn options(route: &str) -> AgentOptions {
    let mut program: PathBuf = env::current_exe().expect("own path");
    program.pop();
    program.pop();
    AgentOptions {
        builtin: match route {
            "in-process" => Builtin::InProcess,
            _ => Builtin::Process,
        },
        unary: route == "unary",
        threads: 1,
        ..AgentOptions::of_executable(program.join("examples/fixture"))
    }
}

fn setup() -> v1::TournamentSetup {
    let (options, _) = arena_games::resolve("cowry", &Default::default(), Some(2)).expect("cowry");
    let agent = |name: &str| v1::AgentSetup {
        name: name.to_owned(),
        bot: "random".to_owned(),
        source: Some(Source::Native(v1::NativeSource {})),
        ..Default::default()
    };
    v1::TournamentSetup {
        tournament_id: "allocations".to_owned(),
        ruleset: "cowry".to_owned(),
        rules_version: arena_games::ruleset("cowry").expect("cowry").version,
        options: arena_wire::convert::options_to_wire(&options),
        seats: 2,
        agents: vec![agent("one"), agent("two")],
        ..Default::default()
    }
}

/// Plays games; returns the numbers of allocations and decisions.
fn play(route: &str, games: u64) -> (f64, f64) {
    let assignments = (0..games)
        .map(|index| v1::GameAssignment {
            index,
            block: index,
            seed: index,
            seats: vec![0, 1],
            attempts: 0,
            opening: Vec::new(),
            start: String::new(),
        })
        .collect();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let region = Region::new(ALLOCATOR);
    let played = play_games(
        setup(),
        assignments,
        AT_ONCE,
        Arc::new(NoBinaries),
        options(route),
    );
    let reports = runtime.block_on(played).expect("games");
    let change = region.change();
    let records = reports.iter().filter_map(|report| report.record.as_ref());
    let decisions: u32 = records.flat_map(|record| &record.decisions).sum();
    assert!(u64::from(decisions) > games * 50, "{decisions} decisions");
    let allocations = change.allocations + change.reallocations;
    (allocations as f64, f64::from(decisions))
}

/// Compares two runs of different length, so that allocations at start and end do not count.
#[test]
fn decisions_allocate_nothing() {
    for line in include_str!("data/allocations.txt").lines() {
        let Some((route, bound)) = line.split_once(' ').filter(|_| !line.starts_with('#')) else {
            continue;
        };
        let bound: f64 = bound.trim().parse().expect("a bound");
        let (short, longer) = (play(route, GAMES), play(route, 3 * GAMES));
        let each = (longer.0 - short.0) / (longer.1 - short.1);
        assert!(
            each < bound,
            "{route}: {each:.3} allocations for each decision, {bound} are allowed"
        );
    }
}
