//! Dashboards agree with standings and exports: before a restart, right after it, for a tournament
//! shorter than the scrape interval, and with two workers. The real Prometheus evaluates the
//! panels' own expressions.

mod exports;

use exports::*;
use std::{collections::BTreeMap, fmt::Write as _, thread, time::Duration};

use arena_telemetry::catalogue;
use arena_tests::{Server, World, spec};
use serde_json::Value;

use super::{
    dashboards::{Dashboard, dashboards},
    list,
    live::Prometheus,
    promql::substitute,
    text,
};

/// Longer than the shortest tournament.
const INTERVAL: &str = "2s";
/// How often a value is read before it counts as wrong.
const LOOKS: u32 = 60;
/// The pause between two reads.
const LOOK: Duration = Duration::from_millis(500);

/// A finished tournament.
struct Played {
    /// The case that it represents.
    of: &'static str,
    id: String,
}

/// A value on a dashboard, and the expected value.
struct Number {
    panel: &'static str,
    /// The query of the panel: its letter.
    query: usize,
    labels: Vec<(&'static str, String)>,
    expected: Option<f64>,
    of: String,
}

fn find(name: &str) -> Dashboard {
    let mut all = dashboards().into_iter();
    all.find(|it| it.name == name).expect("a dashboard")
}

/// The values of all panels that show standings.
fn numbers(standings: &Value) -> Vec<(&'static str, Number)> {
    let mut numbers = Vec::new();
    let mut add = |dashboard, panel, query, labels: &[(&'static str, &str)], expected| {
        let of = labels.last().map_or("", |(_, value)| value);
        let number = Number {
            panel,
            query,
            labels: labels.iter().map(|&(k, v)| (k, v.to_owned())).collect(),
            expected,
            of: of.to_owned(),
        };
        numbers.push((dashboard, number));
    };
    let mut faults = 0.0;
    for agent in list(&standings["agents"]) {
        let name = text(&agent["agent"]);
        let by = [("agent", name)];
        let real = |key: &str| agent[key].as_f64();
        for (query, key) in [
            "place",
            "score",
            "score_low",
            "score_high",
            "score_anytime_low",
            "score_anytime_high",
            "win_rate",
            "win_rate_low",
            "win_rate_high",
            "games",
        ]
        .into_iter()
        .enumerate()
        {
            add("overview", "Standings", query, &by, real(key));
        }
        add("overview", "Win rate", 0, &by, real("win_rate"));
        add("agents", "Score", 0, &by, real("score"));
        add(
            "agents",
            "Win rate as it developed",
            0,
            &by,
            real("win_rate"),
        );
        let plies = real("plies_mean");
        add("overview", "Mean length of an agent's games", 0, &by, plies);
        for (result, key) in [
            ("win", "wins"),
            ("draw", "draws"),
            ("loss", "losses"),
            ("void", "voids"),
        ] {
            let by = [("result", result), ("agent", name)];
            add("agents", "Results", 0, &by, real(key));
        }
        for (query, key) in [
            "latency_us_p50",
            "latency_us_p99",
            "waiting_us_p50",
            "waiting_us_p99",
        ]
        .into_iter()
        .enumerate()
        {
            let seconds = real(key).map(|us| us / 1e6);
            add(
                "agents",
                "Time of a move by tournament",
                query,
                &by,
                seconds,
            );
        }
        let own = real("faults").unwrap_or_default();
        faults += own;
        let share = (own > 0.0).then(|| own / real("games").unwrap_or_default());
        add("agents", "Faults per game", 0, &by, share);
    }
    add(
        "overview",
        "Faults of these tournaments",
        0,
        &[],
        Some(faults),
    );
    let seat = &standings["seats"][0];
    for (query, key) in [
        "score",
        "score_low",
        "score_high",
        "score_anytime_low",
        "score_anytime_high",
    ]
    .into_iter()
    .enumerate()
    {
        add(
            "overview",
            "First-move advantage",
            query,
            &[],
            seat[key].as_f64(),
        );
    }
    let games = standings["games"].as_f64();
    add("overview", "Tournaments", 1, &[], games);
    add("overview", "Tournaments", 2, &[], Some(0.0));
    numbers
}

/// Evaluates a panel for a tournament.
fn ask(prometheus: &Prometheus, dashboard: &Dashboard, number: &Number, id: &str) -> Option<f64> {
    let variables = [
        ("cluster", "here"),
        ("namespace", "arena"),
        ("job", ".+"),
        ("ruleset", ".+"),
        ("tournament", id),
        ("agent", ".+"),
        ("__rate_interval", "1m"),
        ("__interval", "1m"),
    ];
    let expression = &dashboard.panel(number.panel)[number.query];
    let answers = prometheus.query(&substitute(expression, &variables));
    let mut fits = answers.iter().filter(|(labels, _)| {
        let mut wanted = number.labels.iter();
        wanted.all(|(key, value)| labels[*key] == value.as_str())
    });
    let found = fits.next();
    assert!(
        fits.next().is_none(),
        "{}: {expression}: more",
        number.panel
    );
    found.map(|(_, value)| value.parse().expect("a number"))
}

/// Compares all values of a tournament with its standings, and returns the rows of the table.
fn compare(
    prometheus: &Prometheus,
    world: &World,
    url: &str,
    played: &Played,
    when: &str,
) -> String {
    let arguments = [
        "standings",
        &played.id,
        "--output",
        "json",
        "--coordinator",
        url,
    ];
    let standings = world.arena(&arguments).ok().json();
    let mut rows = String::new();
    for (dashboard, number) in numbers(&standings) {
        let dashboard = find(dashboard);
        let mut shown = None;
        for _ in 0..LOOKS {
            shown = ask(prometheus, &dashboard, &number, &played.id);
            if shown == number.expected {
                break;
            }
            thread::sleep(LOOK);
        }
        let letter = ["A", "B", "C", "D", "E", "F", "G", "H", "I", "J"][number.query];
        let text = |value: Option<f64>| value.map_or("–".to_owned(), |it| it.to_string());
        let row = format!(
            "| {} | {when} | {}: {} {letter} | {} | {} | {} |",
            played.of,
            dashboard.name,
            number.panel,
            number.of,
            text(shown),
            text(number.expected)
        );
        assert_eq!(shown, number.expected, "{}: {row}", played.id);
        let _ = writeln!(rows, "{row}");
    }
    rows
}

/// The same without windows: the increase of a counter since its process started.
fn whole(expression: &str) -> String {
    let mut whole = expression.to_owned();
    for call in ["(rate(", "(increase("] {
        while let Some(at) = whole.find(call) {
            let inside = at + call.len();
            let window = whole[inside..].find("[$__").expect("a window") + inside;
            let end = whole[window..].find("])").expect("its end") + window;
            whole.replace_range(window..end + 2, "");
            whole.replace_range(at + 1..inside, "");
        }
    }
    whole
}

#[test]
fn windows_are_removed_from_expressions() {
    for (expression, expected) in [
        (
            "sum by (le) (rate(a{b=\"c\"}[$__rate_interval]))",
            "sum by (le) (a{b=\"c\"})",
        ),
        (
            "sum(increase(a[$__interval])) / sum(rate(b[$__rate_interval]))",
            "sum(a) / sum(b)",
        ),
        ("sum(win_rate{a=\"b\"})", "sum(win_rate{a=\"b\"})"),
    ] {
        assert_eq!(whole(expression), expected);
    }
}

/// Variants of the bot `random`, so that each name plays in only one tournament.
fn variants(names: &[&str]) -> String {
    let mut tables = "[play]\nask_forced = true\n".to_owned();
    for name in names {
        let bot = name.rsplit_once('-').map_or(*name, |(bot, _)| bot);
        let _ = write!(tables, "[[agent]]\nname = \"{name}\"\nbot = \"{bot}\"\n");
    }
    tables
}

/// The lines of a page with standings.
fn standing(coordinator: &Server) -> Vec<String> {
    let page = coordinator.metrics();
    let lines = page
        .lines()
        .filter(|it| it.starts_with("arena_tournament_"));
    lines.map(str::to_owned).collect()
}

#[test]
#[expect(clippy::too_many_lines, reason = "one story")]
fn dashboards_equal_standings_and_exports() {
    let world = World::with_python();
    let coordinator = world.coordinator("data", &["--audit-share", "0"]);
    let workers = [
        world.worker(&coordinator, &[]),
        world.worker(&coordinator, &["--builtin", "process"]),
    ];
    let addresses = workers.each_ref().map(Server::metrics_address);
    let started = Prometheus::start(&world, INTERVAL, coordinator.metrics_address(), &addresses);
    let Some(prometheus) = started else { return };
    let url = coordinator.url();
    let saboteur = world.misbehave();
    let mut register = vec!["agent", "register", "saboteur", "--binary", &saboteur];
    register.extend(["--coordinator", &url, "--", "illegal"]);
    let _ = world.arena(&register).ok();

    let two = ["random-a", "aggressive-a", "defensive-a"];
    let four = ["random-b", "aggressive-b", "defensive-b", "move-first-b"];
    let drawn = ["random-c", "random-d"];
    let short = ["random-e", "aggressive-e"];
    let seats = format!("seats = 4\n{}", variants(&four));
    let plain = ["random", "aggressive", "saboteur"];
    let faulty = "[play]\nask_forced = true";
    let specs = [
        ("two seats", spec("two", "cowry", 40, &two, &variants(&two))),
        ("four seats", spec("four", "cowry", 30, &four, &seats)),
        (
            "draws",
            spec("drawn", "kalah", 60, &drawn, &variants(&drawn)),
        ),
        ("faults", spec("faulty", "cowry", 6, &plain, faulty)),
        (
            "short",
            spec("short", "cowry", 1, &short, &variants(&short)),
        ),
    ];
    let play = |(of, spec): &(&'static str, String)| {
        let id = world.start_tournament(of.split(' ').next().unwrap_or(of), spec, &url);
        world.finish_tournament(&id, &url);
        Played { of, id }
    };
    let mut all: Vec<Played> = specs.iter().map(play).collect();
    let mut table = String::new();
    for played in &all {
        table += &compare(&prometheus, &world, &url, played, "before a restart");
    }
    compare_counters(&prometheus, &world, &url, &all);
    for agent in two {
        compare_quantiles(&prometheus, &world, &url, &all[0].id, agent);
    }
    let drawn = &all[2];
    let standings = world.standings(&drawn.id, ["--coordinator", &url]);
    let draws = |agent: &Value| agent["draws"].as_u64() > Some(0);
    assert!(list(&standings["agents"]).iter().any(draws), "{standings}");

    // A tournament that is killed half way.
    let long = ["random-f", "move-last-f"];
    let long = spec("long", "cowry", 3_000, &long, &variants(&long));
    let id = world.start_tournament("long", &long, &url);
    arena_tests::until("some games", || {
        let done = format!("tournament=\"{id}\"");
        let done = coordinator.metric("arena_tournament_games", &["state=\"done\"", &done]);
        (done >= 500.0).then_some(())
    });
    let paused = world.arena(&["tournament", "pause", &id, "--coordinator", &url]);
    let _ = paused.ok();
    let listen = coordinator.listen().to_owned();
    let metrics = coordinator.metrics_address().to_owned();
    // Workers report what they have begun, also after a pause: only those that have ended report no more.
    for worker in workers {
        worker.stop();
    }
    let half = arena_tests::until("the figures of what was played", || {
        let of = format!("tournament=\"{id}\"");
        // Standings are computed periodically, games are counted immediately.
        let done = coordinator.metric("arena_tournament_games", &["state=\"done\"", &of]);
        let counted = coordinator.metric("arena_tournament_agent_games", &[&of]);
        let before = standing(&coordinator);
        thread::sleep(LOOK);
        let is_still = standing(&coordinator) == before;
        (counted == 2.0 * done && is_still).then_some(before)
    });
    coordinator.kill();
    let again = [
        "--listen",
        &listen,
        "--metrics",
        &metrics,
        "--audit-share",
        "0",
    ];
    let coordinator = world.coordinator("data", &again);
    // No request has reached it yet.
    assert_eq!(standing(&coordinator), half);
    for played in &all {
        table += &compare(&prometheus, &world, &url, played, "right after it");
    }
    let _ = world
        .arena(&["tournament", "resume", &id, "--coordinator", &url])
        .ok();
    let worker = world.worker(&coordinator, &[]);
    world.finish_tournament(&id, &url);
    all.push(Played {
        of: "restarted half way",
        id,
    });
    table += &compare(&prometheus, &world, &url, &all[5], "at its end");

    let before = standing(&coordinator);
    coordinator.stop();
    let coordinator = world.coordinator("data", &again);
    assert_eq!(standing(&coordinator), before);
    println!("| tournament | when | panel | of | dashboard | standings |");
    println!("| --- | --- | --- | --- | --- | --- |\n{table}");
    worker.stop();
    coordinator.stop();
    drop(prometheus);
    world.nothing_runs();
}
