//! Metrics of tournaments agree with their standings.

use std::{collections::BTreeMap, sync::Arc};

use arena_store::Store;
use arena_wire::v1;

use super::{
    fixture::{Fixture, SPEC, memory, options},
    questions::page,
    stages::{self, play},
};

/// The gauges of tournaments, by series.
async fn gauges(arena: &Fixture) -> BTreeMap<String, f64> {
    let page = page(arena.metrics, "/metrics").await;
    let lines = page
        .lines()
        .filter(|it| it.starts_with("arena_tournament_"));
    lines
        .filter_map(|line| {
            let (series, value) = line.rsplit_once(' ')?;
            Some((series.to_owned(), value.parse().ok()?))
        })
        .collect()
}

/// Compares all gauges of agents with the standings.
fn compare(gauges: &BTreeMap<String, f64>, ruleset: &str, standings: &v1::Standings) {
    let id = &standings.tournament_id;
    let seconds = |us: Option<f64>| us.map(|us| us / 1e6);
    for agent in &standings.agents {
        let name = &agent.agent;
        let of = |metric: &str, more: &str| {
            let metric = format!("arena_tournament_agent_{metric}");
            let mut labels = [
                format!("agent=\"{name}\""),
                format!("ruleset=\"{ruleset}\""),
                format!("tournament=\"{id}\""),
                more.to_owned(),
            ];
            labels.sort();
            let labels: Vec<String> = labels.into_iter().filter(|it| !it.is_empty()).collect();
            let series = format!("{metric}{{{}}}", labels.join(","));
            (gauges.get(&series).copied(), series)
        };
        let place = agent.place.map(|place| place as f64);
        let games = (agent.wins + agent.draws + agent.losses) as f64;
        for ((shown, series), expected) in [
            (of("rank", ""), place),
            (of("games", ""), Some(games)),
            (of("results", "result=\"win\""), Some(agent.wins as f64)),
            (of("results", "result=\"draw\""), Some(agent.draws as f64)),
            (of("results", "result=\"loss\""), Some(agent.losses as f64)),
            (of("results", "result=\"void\""), Some(agent.voids as f64)),
            (of("score", ""), agent.score),
            (of("score_low", ""), agent.score_low),
            (of("score_high", ""), agent.score_high),
            (of("score_anytime_low", ""), agent.score_anytime_low),
            (of("score_anytime_high", ""), agent.score_anytime_high),
            (of("win_rate", ""), agent.win_rate),
            (of("win_rate_low", ""), agent.win_rate_low),
            (of("win_rate_high", ""), agent.win_rate_high),
            (of("plies_mean", ""), agent.plies_mean),
            (
                of("move_thinking_seconds", "percentile=\"99\""),
                seconds(agent.latency_us_p99),
            ),
            (
                of("move_waiting_seconds", "percentile=\"50\""),
                seconds(agent.waiting_us_p50),
            ),
        ] {
            assert_eq!(shown, expected, "{series}");
        }
    }
    let seat = format!("{{ruleset=\"{ruleset}\",tournament=\"{id}\"}}");
    let first = &standings.seats[0];
    for (end, expected) in [
        ("", first.score),
        ("_low", first.score_low),
        ("_high", first.score_high),
        ("_anytime_low", first.score_anytime_low),
        ("_anytime_high", first.score_anytime_high),
    ] {
        let series = format!("arena_tournament_first_seat_score{end}{seat}");
        assert_eq!(gauges.get(&series).copied(), expected, "{series}");
    }
}

#[tokio::test]
async fn metrics_equal_standings_across_restart() {
    // Places by score, by ratings, and by the verdict of the format.
    for format in ["round-robin", "gauntlet", "swiss"] {
        let spec = stages::spec(format);
        let store: Arc<dyn Store> = memory();
        let mut arena = Fixture::with(options(Arc::clone(&store))).await;
        let id = arena.start(&spec).await.tournament_id;
        let mut worker = arena.join("one").await;
        play(&mut worker, 40).await;
        arena.pause(&id).await;
        let half = arena.standings(&id).await;
        assert!((40..half.games_total).contains(&half.games), "{format}");
        drop(worker);
        arena.kill().await;

        let mut arena = Fixture::with(options(Arc::clone(&store))).await;
        compare(&gauges(&arena).await, "kalah", &half);
        arena.resume(&id).await;
        let mut worker = arena.join("one").await;
        play(&mut worker, usize::MAX).await;
        let all = arena.standings(&id).await;
        assert_eq!(all.state(), v1::TournamentState::Finished);
        let shown = gauges(&arena).await;
        compare(&shown, "kalah", &all);
        let info = format!(
            "arena_tournament_info{{format=\"{format}\",ruleset=\"kalah\",state=\"finished\",\
             tournament=\"{id}\"}}"
        );
        assert_eq!(shown.get(&info), Some(&1.0), "{shown:?}");
        let done = format!("arena_tournament_games{{state=\"done\",tournament=\"{id}\"}}");
        assert_eq!(shown.get(&done), Some(&(all.games as f64)));
        drop(worker);
        arena.stop().await;

        let arena = Fixture::with(options(store)).await;
        assert_eq!(gauges(&arena).await, shown, "{format}");
    }
}

#[tokio::test]
async fn metrics_show_running_and_last_twenty() {
    let mut arena = Fixture::new().await;
    let open = arena.start(SPEC).await.tournament_id;
    arena.pause(&open).await;
    let mut worker = arena.join("one").await;
    let mut ended = Vec::new();
    for number in 0..23 {
        let spec = SPEC.replace("0x5eed", &format!("0x{number:x}"));
        ended.push(arena.start(&spec).await.tournament_id);
        worker.play_all().await;
    }
    let shown = gauges(&arena).await;
    let listed: Vec<&String> = shown
        .keys()
        .filter(|series| series.starts_with("arena_tournament_info{"))
        .collect();
    assert_eq!(listed.len(), 21);
    for (id, is) in [(&open, true), (&ended[2], false), (&ended[3], true)] {
        let shown = listed.iter().any(|series| series.contains(id.as_str()));
        assert_eq!(shown, is, "{id}");
    }
}
