//! Latency of moves: each move counts with its own time.

use std::{collections::BTreeMap, time::Instant};

use arena_telemetry::LatencyHistogram;
use arena_wire::v1;

use crate::{
    common::{games, native, process, setup},
    coordinator::{play, records},
};

/// A tournament that asks for every move, so that records have the number of questions.
fn asking(agents: Vec<v1::AgentSetup>) -> v1::TournamentSetup {
    let mut setup = setup("kalah", agents);
    let play = setup.play.get_or_insert_default();
    play.ask_forced = true;
    setup
}

/// The thinking and waiting times of an agent.
fn measured(reports: &BTreeMap<u64, v1::GameReport>, agent: u32) -> [LatencyHistogram; 2] {
    let mut sums = [LatencyHistogram::new(), LatencyHistogram::new()];
    let timings = reports.values().filter_map(|it| it.timing.as_ref());
    for latency in timings.flat_map(|timing| &timing.latency) {
        if latency.agent != agent {
            continue;
        }
        let parts = [
            (&latency.buckets, &latency.counts),
            (&latency.waiting_buckets, &latency.waiting_counts),
        ];
        for (sum, (buckets, counts)) in sums.iter_mut().zip(parts) {
            let pairs = buckets.iter().copied().zip(counts.iter().copied());
            sum.merge(&LatencyHistogram::from_buckets(pairs).expect("known buckets"));
        }
    }
    sums
}

/// The sum in seconds. Each time has an error of at most a thirtieth.
fn seconds(times: &LatencyHistogram) -> f64 {
    let buckets = times.buckets().map(|(bucket, count)| {
        let one = LatencyHistogram::from_buckets([(bucket, 1)]).expect("a bucket");
        one.quantile(0.5).expect("one").as_secs_f64() * count as f64
    });
    buckets.sum()
}

/// The number of questions to an agent, counted in the records.
fn decisions(reports: &BTreeMap<u64, v1::GameReport>, agent: u32) -> u64 {
    let records = records(reports);
    let seats = records
        .iter()
        .flat_map(|record| record.seats.iter().zip(&record.decisions));
    let own = seats.filter(|(seat, _)| **seat == agent);
    own.map(|(_, &decisions)| u64::from(decisions)).sum()
}

#[tokio::test]
async fn batch_thinking_excludes_waiting() {
    for mode in ["slow", "slow-reports"] {
        for unary in [false, true] {
            let mut slow = process("slow", &["--mode", mode]);
            slow.replicas = 1;
            let started = Instant::now();
            let reports = play(asking(vec![slow, native("random")]), games(40), |options| {
                options.unary = unary
            })
            .await;
            let wall = started.elapsed().as_secs_f64();
            let of = format!("{mode}, unary {unary}");
            let [thinking, waiting] = measured(&reports, 0);
            let asked = decisions(&reports, 0);
            assert_eq!((thinking.count(), waiting.count()), (asked, asked), "{of}");
            // The agent has one process, which answers sequentially, so its thinking time is at most the elapsed time.
            let thought = seconds(&thinking);
            assert!(thought <= wall * 1.04, "{of}: {thought} s in {wall} s");
            if !unary {
                // The agent sleeps 5 ms for each answer, and the other questions wait meanwhile.
                let half = |of: &LatencyHistogram| of.quantile(0.5).expect("some").as_secs_f64();
                assert!(half(&thinking) >= 4.8e-3, "{of}: {}", half(&thinking));
                assert!(half(&waiting) > half(&thinking), "{of}");
            }
        }
    }
}

#[tokio::test]
async fn timeout_counts_with_its_limit() {
    let hang = process("hang", &["--mode", "hang"]);
    let mut setup = asking(vec![hang, native("random")]);
    setup.play.get_or_insert_default().move_timeout_us = 400_000;
    let reports = play(setup, games(2), |_| {}).await;
    let [thinking, _] = measured(&reports, 0);
    assert_eq!(thinking.count(), 2, "one of each game");
    let shown = thinking.quantile(0.0).expect("measured").as_secs_f64();
    assert!(shown >= 0.4 * 0.96, "{shown} s");
}

#[tokio::test]
async fn sampled_latencies_are_weighted() {
    let mut setup = asking(vec![native("random"), native("random")]);
    setup.agents[1].name = "other".into();
    let reports = play(setup, games(60), |_| {}).await;
    for agent in [0, 1] {
        let asked = decisions(&reports, agent);
        let [thinking, waiting] = measured(&reports, agent);
        assert!(asked > 300);
        assert_eq!((thinking.count(), waiting.count()), (asked, asked));
    }
}
