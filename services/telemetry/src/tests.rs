//! What is exported, seen from outside.
#![expect(clippy::unwrap_used)]

use std::{collections::BTreeMap, time::Duration};

use prometheus::proto::MetricType;

use super::*;
use crate::catalogue::{COMMON, COORDINATOR, Kind, Metric, PROCESS, WORKER};

fn page(registry: &Registry) -> String {
    TextEncoder::new()
        .encode_to_string(&registry.gather())
        .unwrap()
}

fn lines_with(registry: &Registry, part: &str) -> Vec<String> {
    page(registry)
        .lines()
        .filter(|line| !line.starts_with('#') && line.contains(part) && !line.ends_with(" 0"))
        .map(str::to_owned)
        .collect()
}

/// Fills both groups, then holds what a scrape sees to the catalogue.
#[test]
fn what_is_exported_is_what_the_catalogue_says() {
    let registry = Registry::new();
    let coordinator = CoordinatorMetrics::new(&registry, ["cowry"]).unwrap();
    let worker = WorkerMetrics::new(&registry, ["cowry"]).unwrap();
    coordinator.prepare("cowry", ["random"]);
    coordinator.grpc_request("/arena.v1.WorkerService/Lease", 0);
    coordinator.store_phase("sync", Duration::from_millis(1));
    worker.add_agent_processes("random", 1);
    worker.games_played("cowry", 1);
    drop(worker.meter("random", "cowry"));
    let _ = worker.manager("cowry");

    let mut seen: BTreeMap<String, (String, MetricType, Vec<String>)> = registry
        .gather()
        .iter()
        .map(|family| {
            let mut labels: Vec<String> = family.get_metric()[0]
                .get_label()
                .iter()
                .map(|label| label.name().to_owned())
                .collect();
            labels.sort();
            let is = (family.help().to_owned(), family.get_field_type(), labels);
            (family.name().to_owned(), is)
        })
        .collect();
    for Metric {
        name,
        kind,
        labels,
        help,
    } in COMMON.iter().chain(COORDINATOR).chain(WORKER)
    {
        let (told, is, has) = seen
            .remove(*name)
            .unwrap_or_else(|| panic!("{name} is missing"));
        let expected = match kind {
            Kind::Counter => MetricType::COUNTER,
            Kind::Gauge => MetricType::GAUGE,
            Kind::Histogram(_) => MetricType::HISTOGRAM,
        };
        let mut labels = labels.to_vec();
        labels.sort_unstable();
        assert_eq!(
            (told.as_str(), is, has),
            (
                *help,
                expected,
                labels.iter().map(ToString::to_string).collect()
            ),
            "{name}"
        );
    }
    let left: Vec<&str> = seen.keys().map(String::as_str).collect();
    if cfg!(target_os = "linux") {
        assert_eq!(left, PROCESS);
    }
}

#[test]
fn names_have_the_prefix_and_units_and_counters_end_in_total() {
    for Metric {
        name, kind, help, ..
    } in COMMON.iter().chain(COORDINATOR).chain(WORKER)
    {
        assert!(name.starts_with("arena_"), "{name}");
        assert_eq!(*kind == Kind::Counter, name.ends_with("_total"), "{name}");
        assert!(!name.contains("milli") && !name.contains("micro"), "{name}");
        assert!(
            !help.ends_with('.') && !help.contains("  "),
            "{name}: {help}"
        );
        if let Kind::Histogram(buckets) = kind {
            assert!(buckets.is_sorted(), "{name}");
        }
    }
}

#[test]
fn move_latency_is_bucketed_from_50_microseconds_to_a_minute() {
    let find = WORKER
        .iter()
        .find(|metric| metric.name == "arena_move_duration_seconds");
    let Some(Kind::Histogram(buckets)) = find.map(|metric| metric.kind) else {
        panic!("no histogram of move latency");
    };
    assert_eq!(
        (buckets.first(), buckets.last()),
        (Some(&50e-6), Some(&60.0))
    );
}

#[test]
fn no_label_can_name_a_game_a_tournament_or_a_seed() {
    let allowed = [
        "agent",
        "ruleset",
        "result",
        "termination",
        "kind",
        "state",
        "reason",
        "outcome",
        "method",
        "phase",
        "code",
        "version",
        "profile",
        "target",
    ];
    for metric in COMMON.iter().chain(COORDINATOR).chain(WORKER) {
        for label in metric.labels {
            assert!(allowed.contains(label), "{}: {label}", metric.name);
        }
    }
}

#[test]
fn a_game_counts_once_for_each_seat_and_strangers_count_as_other() {
    let registry = Registry::new();
    let metrics = CoordinatorMetrics::new(&registry, ["cowry"]).unwrap();
    metrics.prepare("cowry", ["random"]);
    metrics.game_finished(&Finished {
        ruleset: "cowry",
        termination: "forfeit",
        plies: 9,
        seats: &[
            Seated {
                agent: "random",
                outcome: Outcome::Win,
            },
            Seated {
                agent: "stranger",
                outcome: Outcome::Loss,
            },
        ],
        faults: &[("stranger", "timeout"), ("random", "sabotage")],
    });
    assert_eq!(
        lines_with(&registry, "arena_agent_games_total"),
        [
            "arena_agent_games_total{agent=\"other\",result=\"loss\",ruleset=\"cowry\"} 1",
            "arena_agent_games_total{agent=\"random\",result=\"win\",ruleset=\"cowry\"} 1",
        ]
    );
    assert_eq!(
        lines_with(&registry, "arena_faults_total"),
        [
            "arena_faults_total{agent=\"other\",kind=\"timeout\"} 1",
            "arena_faults_total{agent=\"random\",kind=\"other\"} 1",
        ]
    );
    assert_eq!(
        lines_with(&registry, "arena_games_total"),
        ["arena_games_total{ruleset=\"cowry\",termination=\"forfeit\"} 1"]
    );
    assert_eq!(
        lines_with(&registry, "arena_game_plies_sum"),
        ["arena_game_plies_sum{ruleset=\"cowry\"} 9"]
    );
}

#[test]
fn a_path_that_is_not_served_makes_no_series() {
    let registry = Registry::new();
    let metrics = CoordinatorMetrics::new(&registry, ["cowry"]).unwrap();
    for n in 0..50 {
        metrics.grpc_request(&format!("/made.Up/Number{n}"), 12);
    }
    metrics.grpc_request("/arena.v1.WorkerService/Lease", 8);
    assert_eq!(
        lines_with(&registry, "arena_grpc_requests_total"),
        [
            "arena_grpc_requests_total{code=\"RESOURCE_EXHAUSTED\",method=\"arena.v1.WorkerService/Lease\"} 1",
            "arena_grpc_requests_total{code=\"UNIMPLEMENTED\",method=\"other\"} 50",
        ]
    );
}

#[test]
fn a_meter_shows_its_moves_when_it_flushes_and_splits_their_time() {
    let registry = Registry::new();
    let metrics = WorkerMetrics::new(&registry, ["cowry"]).unwrap();
    let mut meter = metrics.meter("random", "cowry");
    meter.decided(5);
    meter.timed(MoveTiming {
        total: Duration::from_millis(500),
        agent: Some(Duration::from_millis(125)),
    });
    meter.timed(MoveTiming {
        total: Duration::from_millis(250),
        agent: Some(Duration::from_secs(9)),
    });
    assert_eq!(
        lines_with(&registry, "agent=\"random\""),
        Vec::<String>::new()
    );
    drop(meter);
    let pair = "{agent=\"random\",ruleset=\"cowry\"}";
    for (name, value) in [
        ("arena_decisions_total", "7"),
        ("arena_move_duration_seconds_count", "2"),
        ("arena_move_duration_seconds_sum", "0.75"),
        ("arena_move_agent_seconds_sum", "0.375"),
        ("arena_move_transport_seconds_sum", "0.375"),
    ] {
        assert_eq!(
            lines_with(&registry, &format!("{name}{pair}")),
            [format!("{name}{pair} {value}")]
        );
    }
}
