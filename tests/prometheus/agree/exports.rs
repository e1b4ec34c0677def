//! Counters and quantiles compared with exports.

use super::*;

/// The values of an agent in the exports of all tournaments.
#[derive(Default)]
struct Exported {
    games: f64,
    decisions: f64,
}

/// Compares panels of counters with exports, for workers without a restart and tournaments in which
/// agents are asked for every move.
pub(super) fn compare_counters(prometheus: &Prometheus, world: &World, url: &str, all: &[Played]) {
    let mut agents: BTreeMap<String, Exported> = BTreeMap::new();
    let (mut plies, mut games): (BTreeMap<String, f64>, BTreeMap<String, f64>) = Default::default();
    for played in all {
        for game in world.export(&played.id, ["--coordinator", url]).games {
            let ruleset = text(&game["ruleset"]).to_owned();
            *plies.entry(ruleset.clone()).or_default() += game["plies"].as_f64().expect("plies");
            *games.entry(ruleset).or_default() += 1.0;
            for (number, seat) in (0u64..).zip(list(&game["seats"])) {
                let of = agents.entry(text(seat).to_owned()).or_default();
                of.games += 1.0;
                // An agent is not asked if passing is its only action.
                let events = list(&game["events"]).iter();
                let asked = events.filter(|event| {
                    event["seat"] == number && !event["action"].is_null() && event["move"] != "pass"
                });
                of.decisions += asked.count() as f64;
            }
        }
    }
    let asked = |query: &str, label: &str, name: &str, expected: f64| {
        let mut shown = None;
        for _ in 0..LOOKS {
            let answers = prometheus.query(query);
            let mut answers = answers.iter();
            let found = answers.find(|(labels, _)| labels[label] == name);
            shown = found.map(|(_, value)| value.parse::<f64>().expect("a number"));
            if shown == Some(expected) {
                return;
            }
            thread::sleep(LOOK);
        }
        panic!("{query} of {name}: {shown:?}, and exports say {expected}");
    };
    let variables = [
        ("cluster", "here"),
        ("namespace", "arena"),
        ("job", ".+"),
        ("ruleset", ".+"),
        ("agent", ".+"),
    ];
    let query = |dashboard: &str, panel: &str, query: usize| {
        substitute(&whole(&find(dashboard).panel(panel)[query]), &variables)
    };
    let lengths = query("overview", "Mean length of games", 0);
    for (ruleset, plies) in &plies {
        asked(&lengths, "ruleset", ruleset, plies / games[ruleset]);
    }
    let ends = query("overview", "Length of games", 0);
    let finite = |value: &f64| value.is_finite();
    let total: f64 = games.values().copied().filter(finite).sum();
    asked(&ends, "le", "+Inf", total);
    for (agent, of) in agents
        .iter()
        .filter(|(name, _)| !name.starts_with("saboteur"))
    {
        asked(
            &query("agents", "Games a second", 0),
            "agent",
            agent,
            of.games,
        );
        asked(
            &query("agents", "Decisions a second", 0),
            "agent",
            agent,
            of.decisions,
        );
        for part in ["thinking", "waiting", "round_trip", "duration"] {
            let counted = format!("sum by (agent) (arena_move_{part}_seconds_count)");
            asked(&counted, "agent", agent, of.decisions);
        }
    }
}

/// The bounds of the bucket of a latency, slightly wider, because the buckets of standings are a
/// thirtieth wide.
pub(super) fn bucket(seconds: f64) -> (f64, f64) {
    let mut metrics = catalogue::WORKER.iter();
    let thinking = metrics.find(|it| it.name == "arena_move_thinking_seconds");
    let Some(catalogue::MetricKind::Histogram(bounds)) = thinking.map(|it| it.kind) else {
        panic!("no histogram");
    };
    let (least, most) = (seconds * 0.96, seconds * 1.04);
    let above = bounds.iter().find(|bound| **bound >= most);
    let below = bounds.iter().rfind(|bound| **bound < least);
    (
        below.copied().unwrap_or_default(),
        above.copied().unwrap_or(f64::INFINITY),
    )
}

/// Quantiles of histograms are in the same bucket as in the standings, for an agent that played in
/// only one tournament.
pub(super) fn compare_quantiles(
    prometheus: &Prometheus,
    world: &World,
    url: &str,
    id: &str,
    agent: &str,
) {
    let arguments = ["standings", id, "--output", "json", "--coordinator", url];
    let standings = world.arena(&arguments).ok().json();
    let mut rows = list(&standings["agents"]).iter();
    let row = rows.find(|it| it["agent"] == agent).expect("it played");
    for (panel, query, key) in [
        (
            "Half of the moves are thought about for less than",
            0,
            "latency_us_p50",
        ),
        (
            "99 of 100 moves are thought about for less than",
            0,
            "latency_us_p99",
        ),
        ("Waiting", 0, "waiting_us_p50"),
        ("Waiting", 1, "waiting_us_p99"),
    ] {
        let expression = whole(&find("agents").panel(panel)[query]);
        let variables = [
            ("cluster", "here"),
            ("namespace", "arena"),
            ("job", ".+"),
            ("ruleset", ".+"),
            ("agent", agent),
        ];
        let answers = prometheus.query(&substitute(&expression, &variables));
        let [(_, shown)] = &answers[..] else {
            panic!("{panel} of {agent}: {answers:?}");
        };
        let shown: f64 = shown.parse().expect("a number");
        let reported = row[key].as_f64().expect("measured") / 1e6;
        let (least, most) = bucket(reported);
        assert!(
            (least..=most).contains(&shown),
            "{panel} of {agent}: {shown} s, and standings say {reported} s"
        );
    }
}
