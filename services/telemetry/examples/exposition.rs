//! Prints a page of `/metrics` with every metric on it, or serves it at the
//! address given: to try rules and dashboards without a tournament.
//!
//! ```sh
//! cargo run -p arena-telemetry --example exposition | promtool check metrics
//! ```
#![expect(clippy::print_stdout, reason = "it prints")]

use std::{error::Error, time::Duration};

use arena_telemetry::{
    CoordinatorMetrics, MetricsServer, MoveTiming, Outcome, Registry, ReportOutcome, Series,
    TextEncoder, TournamentSeries, WorkerMetrics,
    catalogue::{Metric, TOURNAMENT},
};

const AGENTS: [&str; 2] = ["aggressive", "random"];

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let registry = Registry::new();
    let coordinator = CoordinatorMetrics::new(&registry, ["cowry"])?;
    let worker = WorkerMetrics::new(&registry, ["cowry"])?;
    coordinator.prepare("cowry", AGENTS);
    play(&coordinator, &worker);
    coordinator.standings.show(vec![cup()]);

    let Some(address) = std::env::args().nth(1) else {
        print!(
            "{}",
            TextEncoder::new().encode_to_string(&registry.gather())?
        );
        return Ok(());
    };
    let server = MetricsServer::bind(&address)?;
    println!("http://{}/metrics", server.local_addr());
    let mut tick = tokio::time::interval(Duration::from_millis(200));
    let serving = server.run(
        registry,
        || std::future::ready(()),
        || Ok(()),
        std::future::pending(),
    );
    tokio::pin!(serving);
    loop {
        tokio::select! {
            served = &mut serving => return Ok(served?),
            _ = tick.tick() => play(&coordinator, &worker),
        }
    }
}

/// One game of everything that can be counted.
fn play(coordinator: &CoordinatorMetrics, worker: &WorkerMetrics) {
    for agent in AGENTS {
        let mut meter = worker.meter(agent, "cowry");
        let took = Duration::from_nanos(70);
        meter.sampled(MoveTiming::in_process(Duration::ZERO, took));
        let timing = MoveTiming {
            waiting: Duration::from_micros(120),
            round_trip: Duration::from_micros(60),
            thinking: Some(Duration::from_micros(50)),
        };
        meter.timed(timing, 8);
        worker.add_agent_processes(agent, 1);
        worker.agent_restarted(agent);
    }
    worker.overhead("cowry").observe(2e-6, 9);
    worker.games_played("cowry", 1);
    worker.games_in_flight.set(64);
    worker.batch_size.observe(48.0);
    worker.report_retries.inc();

    coordinator.queue_depth.set(120);
    coordinator.games_in_flight.set(64);
    coordinator.workers.set(1);
    coordinator.leases.set(1);
    coordinator.lease_granted(Duration::from_millis(3));
    coordinator.leases_expired.inc();
    coordinator.set_tournaments("running", 1);
    coordinator.reported(ReportOutcome::New, 1);
    coordinator.store_committed(Duration::from_millis(3), 1);
    coordinator.store_phase("sync", Duration::from_millis(2));
    coordinator.store_bytes.set(1 << 20);
    coordinator.store_queue_depth.set(0);
    coordinator.grpc_request("/arena.v1.WorkerService/Report", 0);
    coordinator.game_finished("cowry", "forfeit", 118);
    coordinator.agent_finished(AGENTS[0], "cowry", Outcome::Win);
    coordinator.agent_finished(AGENTS[1], "cowry", Outcome::Loss);
    coordinator.agent_failed(AGENTS[1], "timeout");
}

/// A tournament with a value of every metric.
fn cup() -> TournamentSeries {
    let with_agent = |metric: &&Metric| metric.labels.contains(&"agent");
    let mut own = Series::default();
    for metric in TOURNAMENT.iter().filter(|metric| !with_agent(metric)) {
        if !metric.labels.is_empty() {
            put(&mut own, metric, "");
        }
    }
    let agents = AGENTS.iter().map(|agent| {
        let mut series = Series::default();
        for metric in TOURNAMENT.iter().filter(with_agent) {
            put(&mut series, metric, agent);
        }
        series
    });
    TournamentSeries {
        own,
        agents: agents.collect(),
        agents_left_out: 0,
    }
}

fn put(series: &mut Series, metric: &Metric, agent: &str) {
    let label = |&name: &&str| match name {
        "tournament" => "cup-0123456789",
        "ruleset" => "cowry",
        "format" => "round-robin",
        "state" => "finished",
        "result" => "win",
        "kind" => "timeout",
        "percentile" => "50",
        _ => agent,
    };
    let labels: Vec<&str> = metric.labels.iter().map(label).collect();
    series.put(metric, &labels, 0.5);
}
