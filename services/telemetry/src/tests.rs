//! Exported metrics, read as a scrape.
#![expect(clippy::unwrap_used)]

use std::{collections::BTreeMap, time::Duration};

use prometheus::proto::MetricType;

use super::*;
use crate::catalogue::{ALL, COORDINATOR, Metric, MetricKind, PROCESS, TOURNAMENT, WORKER};

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

/// Fills both groups of metrics, and compares a scrape with the catalogue.
#[test]
fn exported_metrics_equal_catalogue() {
    let registry = Registry::new();
    let coordinator = CoordinatorMetrics::new(&registry, ["cowry"]).unwrap();
    let worker = WorkerMetrics::new(&registry, ["cowry"]).unwrap();
    coordinator.prepare("cowry", ["random"]);
    coordinator.grpc_request("/arena.v1.WorkerService/Lease", 0);
    coordinator.store_phase("sync", Duration::from_millis(1));
    coordinator.set_certificate_expiry("server", 1);
    worker.add_agent_processes("random", 1);
    worker.games_played("cowry", 1);
    drop(worker.meter("random", "cowry"));
    let _ = worker.overhead("cowry");
    coordinator.standings.show(vec![cup()]);

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
    } in ALL.iter().copied().flatten()
    {
        let (reported, is, has) = seen
            .remove(*name)
            .unwrap_or_else(|| panic!("{name} is missing"));
        let expected = match kind {
            MetricKind::Counter => MetricType::COUNTER,
            MetricKind::Gauge => MetricType::GAUGE,
            MetricKind::Histogram(_) => MetricType::HISTOGRAM,
        };
        let mut labels = labels.to_vec();
        labels.sort_unstable();
        assert_eq!(
            (reported.as_str(), is, has),
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
fn metric_names_follow_conventions() {
    for Metric {
        name, kind, help, ..
    } in ALL.iter().copied().flatten()
    {
        assert!(name.starts_with("arena_"), "{name}");
        assert_eq!(
            *kind == MetricKind::Counter,
            name.ends_with("_total"),
            "{name}"
        );
        assert!(!name.contains("milli") && !name.contains("micro"), "{name}");
        assert!(
            !help.ends_with('.') && !help.contains("  "),
            "{name}: {help}"
        );
        if let MetricKind::Histogram(buckets) = kind {
            assert!(buckets.is_sorted(), "{name}");
        }
    }
}

#[test]
fn move_buckets_span_100_ns_to_a_minute() {
    let parts = ["thinking", "waiting", "round_trip", "transport", "duration"];
    for part in parts.map(|part| format!("arena_move_{part}_seconds")) {
        let find = WORKER.iter().find(|metric| metric.name == part);
        let Some(MetricKind::Histogram(buckets)) = find.map(|metric| metric.kind) else {
            panic!("no histogram {part}");
        };
        assert_eq!(
            (buckets.first(), buckets.last()),
            (Some(&100e-9), Some(&60.0))
        );
    }
}

#[test]
fn labels_are_bounded() {
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
        "format",
        "percentile",
        "certificate",
    ];
    for metric in ALL.iter().copied().flatten() {
        let of_tournaments = TOURNAMENT.contains(metric);
        for label in metric.labels {
            let known = allowed.contains(label) || *label == "tournament" && of_tournaments;
            assert!(known, "{}: {label}", metric.name);
        }
        assert!(!of_tournaments || metric.kind == MetricKind::Gauge);
    }
    assert!(
        !COORDINATOR
            .iter()
            .any(|it| it.name.starts_with("arena_tournament_"))
    );
}

/// A tournament with a value of every metric.
fn cup() -> TournamentSeries {
    let mut own = Series::default();
    for metric in TOURNAMENT.iter().filter(|it| !it.labels.is_empty()) {
        own.put(metric, metric.labels, 0.5);
    }
    TournamentSeries {
        own,
        ..TournamentSeries::default()
    }
}

#[test]
fn unknown_values_have_no_series() {
    let registry = Registry::new();
    let gauges = TournamentGauges::new(&registry).unwrap();
    let mut agent = Series::default();
    let labels = ["cup-1", "cowry", "random"];
    agent.put(&catalogue::AGENT_SCORE, &labels, 0.79);
    agent.put(&catalogue::AGENT_SCORE_LOW, &labels, None);
    let mut own = Series::default();
    own.put(&catalogue::TOURNAMENT_STARTED, &["cup-1"], 2.5);
    gauges.show(vec![TournamentSeries {
        own,
        agents: [agent].into(),
        agents_left_out: 0,
    }]);
    let of = |name: &str| lines_with(&registry, name);
    let labels = "agent=\"random\",ruleset=\"cowry\",tournament=\"cup-1\"";
    assert_eq!(
        of("arena_tournament_agent_score"),
        [format!("arena_tournament_agent_score{{{labels}}} 0.79")]
    );
    assert_eq!(
        of("arena_tournament_started_timestamp_seconds{"),
        ["arena_tournament_started_timestamp_seconds{tournament=\"cup-1\"} 2.5"]
    );
    gauges.show(Vec::new());
    assert_eq!(of("cup-"), Vec::<String>::new());
}

#[test]
fn tournament_series_are_bounded() {
    let registry = Registry::new();
    let gauges = TournamentGauges::new(&registry).unwrap();
    let agent = |tournament: usize, agent: usize| {
        let mut series = Series::default();
        let labels = [&*tournament.to_string(), "cowry", &*agent.to_string()];
        series.put(&catalogue::AGENT_RANK, &labels, agent as f64 + 1.0);
        series
    };
    let crowd = |tournament: usize| TournamentSeries {
        agents: (0..MAX_AGENTS + 3)
            .map(|place| agent(tournament, place))
            .collect(),
        agents_left_out: 5,
        ..TournamentSeries::default()
    };
    gauges.show((0..12).map(crowd).collect());
    let rows = lines_with(&registry, "arena_tournament_agent_rank{");
    assert_eq!(rows.len(), 10 * MAX_AGENTS, "ten tournaments fill it");
    let left_out = 12 * (MAX_AGENTS + 3 + 5) - 10 * MAX_AGENTS;
    assert_eq!(
        lines_with(&registry, "arena_tournament_agents_left_out"),
        [format!("arena_tournament_agents_left_out {left_out}")]
    );
}

#[test]
fn games_count_per_seat() {
    let registry = Registry::new();
    let metrics = CoordinatorMetrics::new(&registry, ["cowry"]).unwrap();
    metrics.prepare("cowry", ["random"]);
    metrics.game_finished("cowry", "forfeit", 9);
    metrics.agent_finished("random", "cowry", Outcome::Win);
    metrics.agent_finished("stranger", "cowry", Outcome::Loss);
    metrics.agent_failed("stranger", "timeout");
    metrics.agent_failed("random", "sabotage");
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
fn unknown_path_makes_no_series() {
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
fn meter_flushes_split_times() {
    let registry = Registry::new();
    let metrics = WorkerMetrics::new(&registry, ["cowry"]).unwrap();
    let mut meter = metrics.meter("random", "cowry");
    let (waiting, round_trip) = (Duration::from_millis(500), Duration::from_millis(250));
    let timing = |thinking| MoveTiming {
        waiting,
        round_trip,
        thinking,
    };
    // Three decisions of an agent that reports its thinking time, one of an agent that reports
    // too much, and one of an agent that reports none.
    meter.timed(timing(Some(Duration::from_millis(125))), 3);
    meter.timed(timing(Some(Duration::from_secs(9))), 1);
    meter.timed(timing(None), 1);
    assert_eq!(
        lines_with(&registry, "agent=\"random\""),
        Vec::<String>::new()
    );
    let mut taken = MoveLatency::default();
    meter.flush();
    meter.drain(&mut taken);
    meter.drain(&mut taken);
    let close = |time: Option<Duration>, millis: f64| {
        let is = time.unwrap().as_secs_f64() * 1e3;
        assert!((is - millis).abs() / millis < 1.0 / 30.0, "{is} ms");
    };
    assert_eq!(taken.count(), 5);
    close(taken.thinking.quantile(0.5), 125.0);
    close(taken.thinking.quantile(0.99), 250.0);
    close(taken.waiting.quantile(0.5), 500.0);
    drop(meter);
    let pair = "{agent=\"random\",ruleset=\"cowry\"}";
    for (name, value) in [
        ("arena_decisions_total", "5"),
        ("arena_move_thinking_seconds_count", "5"),
        ("arena_move_thinking_seconds_sum", "0.875"),
        ("arena_move_agent_seconds_sum", "0.875"),
        ("arena_move_waiting_seconds_sum", "2.5"),
        ("arena_move_round_trip_seconds_sum", "1.25"),
        ("arena_move_transport_seconds_count", "4"),
        ("arena_move_transport_seconds_sum", "0.375"),
        ("arena_move_duration_seconds_sum", "3.75"),
    ] {
        assert_eq!(
            lines_with(&registry, &format!("{name}{pair}")),
            [format!("{name}{pair} {value}")]
        );
    }
}

#[test]
fn sampled_time_has_its_weight() {
    let registry = Registry::new();
    let metrics = WorkerMetrics::new(&registry, ["cowry"]).unwrap();
    let mut meter = metrics.meter("random", "cowry");
    let mut timed = 0;
    for decision in 1..=1_000u64 {
        if decision == 500 {
            // A move that is timed individually counts once.
            meter.timed(
                MoveTiming::in_process(Duration::ZERO, Duration::from_secs(2)),
                1,
            );
        } else if meter.due() {
            timed += 1;
            let took = Duration::from_nanos(300);
            meter.sampled(MoveTiming::in_process(Duration::ZERO, took));
        } else {
            meter.untimed();
        }
    }
    assert_eq!(timed, 16, "one of 64");
    drop(meter);
    let pair = "{agent=\"random\",ruleset=\"cowry\"}";
    for name in ["arena_decisions_total", "arena_move_thinking_seconds_count"] {
        assert_eq!(
            lines_with(&registry, &format!("{name}{pair}")),
            [format!("{name}{pair} 1000")]
        );
    }
    let slow = "agent=\"random\",ruleset=\"cowry\",le=\"1\"";
    let below = format!("arena_move_thinking_seconds_bucket{{{slow}}}");
    assert_eq!(lines_with(&registry, &below), [format!("{below} 999")]);
}
