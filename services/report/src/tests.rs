use std::collections::BTreeMap;

use arena_engine::options::Options;
use arena_telemetry::LatencyHistogram;
use arena_tournament::{Estimate, Interval};
use arena_wire::v1;

use crate::{
    board,
    faults::Fault,
    gather::registrations,
    report::{Agent, Measure, Pair, Report},
    verdict::Verdict,
    *,
};

mod rounds;
mod scan;

const HOSTILE: &str = "<script>alert(1)</script></pre>]]>\u{1}\u{202e}`|";

/// An estimate with a fixed-sample interval.
fn fixed(value: f64, (low, high): (f64, f64)) -> Estimate {
    Estimate {
        value,
        fixed: Some(Interval { low, high }),
        anytime: None,
    }
}

fn agent(name: &str, score: Option<f64>) -> Agent {
    Agent {
        standing: v1::AgentStanding {
            agent: name.to_owned(),
            games: 2,
            score,
            score_low: score.map(|score| score - 0.1),
            score_high: score.map(|score| score + 0.1),
            ..v1::AgentStanding::default()
        },
        version: HOSTILE.to_owned(),
        bot: "random".to_owned(),
        options: Options::from([("note".to_owned(), HOSTILE.into())]),
        source: format!("endpoint {HOSTILE}"),
        latencies: LatencyHistogram::new(),
        course: vec![None; 4],
        seat_scores: vec![None; 2],
    }
}

/// A tournament without a single game.
fn empty() -> Report {
    Report {
        id: "cup-0123456789".to_owned(),
        name: "cup".to_owned(),
        state: v1::TournamentState::Running,
        pause: None,
        games: 0,
        games_total: 4,
        created_unix_us: 0,
        finished_unix_us: 0,
        format: "round-robin",
        seed: "0x5eed".to_owned(),
        ruleset: "cowry".to_owned(),
        rules_version: 1,
        options: Options::new(),
        seats: 2,
        spec_toml: format!("# {HOSTILE}\n"),
        hash_only: false,
        agents: vec![agent("one", None), agent("two", None)],
        pairs: vec![vec![None; 2]; 2],
        seat_scores: vec![None; 2],
        measure: Measure::Score,
        lengths: BTreeMap::new(),
        terminations: BTreeMap::new(),
        test: None,
        faults: Vec::new(),
        faults_unlisted: 0,
        registrations: Vec::new(),
        samples: Vec::new(),
        board: board::Board::Text,
        digest: "00".to_owned(),
        verdict: None,
        opponents_differ: false,
        by_rating: false,
        adaptive: false,
        ahead: Vec::new(),
        starter_drawn: false,
        verdicts: Vec::new(),
        pairing: None,
        ratings: None,
        notes: Vec::new(),
        audits: None,
        workers_deviating: 0,
    }
}

/// One with games, faults and an expectation.
fn played() -> Report {
    let mut agents = vec![agent("one", Some(0.75)), agent("two", Some(0.25))];
    for (agent, place) in agents.iter_mut().zip(1..) {
        agent.standing.place = Some(place);
    }
    Report {
        state: v1::TournamentState::Finished,
        games: 4,
        ahead: vec![Some(0.3)],
        agents,
        lengths: BTreeMap::from([(10, 3), (12, 1)]),
        faults: vec![Fault {
            agent: "two".to_owned(),
            count: 1,
            games: vec![("cup-0123456789/3".to_owned(), 7)],
            kind: "crash",
            message: format!("it said {HOSTILE}"),
            stderr: HOSTILE.to_owned(),
        }],
        verdicts: vec![Verdict {
            name: HOSTILE.to_owned(),
            expect: HOSTILE.to_owned(),
            holds: false,
            measure: "faults",
            value: Some(1.0),
            low: None,
            high: None,
            level: None,
            says: "1 fault".to_owned(),
        }],
        notes: vec![HOSTILE.to_owned()],
        ..empty()
    }
}

#[test]
fn user_text_is_escaped() {
    let report = played();
    let page = html(&report).expect("a page");
    assert_eq!(page.matches("<script").count(), 2, "ours alone");
    assert!(page.contains("&#60;script&#62;alert(1)") || page.contains("&lt;script&gt;alert(1)"));
    let xml = junit(&report);
    assert!(!xml.contains("<script") && xml.contains("\\x01"), "{xml}");
    let text = markdown(&report);
    let (outside, _) = text.split_once("```toml").expect("the spec in a fence");
    assert!(!outside.contains("<script"), "{outside}");
    for text in [page, xml, text] {
        assert!(!text.contains(arena_model::is_hidden), "{text:?}");
    }
}

#[test]
fn empty_tournament_shows_no_number() {
    let report = empty();
    let page = html(&report).expect("a page");
    for text in [&page, &markdown(&report)] {
        assert!(text.contains("No game has finished yet"), "{text}");
        assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    }
    assert!(page.contains("0</b> of 4 games"));
    assert!(junit(&report).contains("failures=\"1\""));
}

#[test]
fn unfinished_tournament_is_marked_as_such() {
    let report = Report {
        state: v1::TournamentState::Paused,
        games: 2,
        ..played()
    };
    for text in [html(&report).expect("a page"), markdown(&report)] {
        assert!(
            text.contains("The tournament is paused: 2 of 4 games"),
            "{text}"
        );
    }
}

#[test]
fn reason_of_a_pause_is_in_every_report() {
    let pause = v1::Pause {
        reason: "the rules of pig failed".to_owned(),
        error: "KeyError: 1\nline 3".to_owned(),
        advice: "correct them".to_owned(),
        ..v1::Pause::default()
    };
    for games in [0, 2] {
        let report = Report {
            state: v1::TournamentState::Paused,
            pause: Some(pause.clone()),
            games,
            ..played()
        };
        let reason = "the rules of pig failed (KeyError: 1; line 3)";
        let shown = format!("Reason of the pause: {reason}.");
        for text in [html(&report).expect("a page"), markdown(&report)] {
            assert_eq!(text.matches(&shown).count(), 1, "{text}");
            assert!(text.contains("What to do: correct them."), "{text}");
        }
        let junit = junit(&report);
        assert!(junit.contains(&format!("4 games; {reason}")), "{junit}");
    }
}

#[test]
fn cancelled_tournament_is_not_finished() {
    let report = Report {
        state: v1::TournamentState::Cancelled,
        finished_unix_us: 1_790_000_000_000_000,
        games: 2,
        ..played()
    };
    for text in [html(&report).expect("a page"), markdown(&report)] {
        assert!(text.contains("cancelled 2026-"), "{text}");
        assert!(!text.contains("finished 2026-"), "{text}");
    }
}

#[test]
fn reproduction_names_agents_to_register() {
    let mut report = played();
    report.registrations =
        vec!["arena agent register mine --binary 'my agent' --data again".to_owned()];
    for text in [html(&report).expect("a page"), markdown(&report)] {
        assert!(text.contains("agent register mine --binary"), "{text}");
        assert!(!text.contains("4 games so far"), "{text}");
        assert!(text.contains("Save "), "{text}");
        assert!(!text.contains("NAME.tar"), "{text}");
    }
    report.registrations =
        vec!["arena agent register pits --binary pits.tar --data again".to_owned()];
    for text in [html(&report).expect("a page"), markdown(&report)] {
        assert!(text.contains("NAME.tar stands for the folder"), "{text}");
    }
    report.state = v1::TournamentState::Running;
    for text in [html(&report).expect("a page"), markdown(&report)] {
        assert!(text.contains("4 games so far"), "{text}");
    }
}

#[test]
fn reproduction_names_rules_to_register() {
    let setup = v1::TournamentSetup {
        ruleset: "mine".to_owned(),
        rules: Some(v1::RulesPackage {
            package: Some(v1::BinarySource {
                file_name: "my rules.tar".to_owned(),
                args: vec!["--board".to_owned(), "it's 9".to_owned()],
                ..v1::BinarySource::default()
            }),
            description: r#"{"summary": "A game\nrm -r x"}"#.to_owned(),
            ..v1::RulesPackage::default()
        }),
        ..v1::TournamentSetup::default()
    };
    assert_eq!(
        registrations("", &setup),
        [
            r"# A game\x0arm -r x",
            r"arena rulesets register mine --package 'my rules.tar' --data again -- --board 'it'\''s 9'",
        ]
    );
}

#[test]
fn headline_equals_the_verdict() {
    let test = |kind: &str| serde_json::json!({"kind": kind, "agents": ["one", "two"]});
    let gauntlet = serde_json::json!({
        "kind": "gauntlet",
        "challengers": [{"agent": "two", "ahead_of": 0, "opponents": [{"agent": "one"}]}],
    });
    let cases = [
        (
            serde_json::json!({"kind": "winner", "winner": "two"}),
            "two wins the knockout",
        ),
        (test("h1"), "one passes the test against two"),
        (test("h0"), "one fails the test against two"),
        (
            test("inconclusive"),
            "The test of one against two is inconclusive",
        ),
        (gauntlet, "two is ahead of 0 of the field of 1"),
        (
            serde_json::json!({"kind": "ranking", "winner": "one"}),
            "one is first, with a significant lead",
        ),
    ];
    for (verdict, expected) in cases {
        let report = Report {
            verdict: Some(verdict),
            ..played()
        };
        assert_eq!(words::headline(&report), expected);
    }
    let mut shared = played();
    for agent in &mut shared.agents {
        agent.standing.place = Some(1);
    }
    assert_eq!(words::headline(&shared), "one and two share first place");
}

#[test]
fn mixed_opponents_are_ranked_by_rating() {
    let mut report = Report {
        opponents_differ: true,
        by_rating: true,
        ahead: vec![Some(-5.0)],
        ..played()
    };
    for (agent, rating) in report.agents.iter_mut().zip([20.0, 10.0]) {
        agent.standing.rating = Some(rating);
        agent.standing.rating_low = Some(rating - 15.0);
        agent.standing.rating_high = Some(rating + 15.0);
    }
    assert_eq!(
        words::headline(&report),
        "one is first, without a significant lead"
    );
    let said = words::summary(&report).join(" ");
    let reported =
        "one is first with a rating of +20 [+5, +35] Elo over 2 games; two follows with +10";
    assert!(said.contains(reported), "{said}");
    assert!(!said.contains("has the best score"), "{said}");
    let overlap = "If two intervals do not overlap, the difference is significant";
    assert!(!html(&report).expect("a page").contains(overlap));
    assert!(html(&played()).expect("a page").contains(overlap));
    // No games link the agents, so that their order is unknown.
    for agent in &mut report.agents {
        agent.standing.place = None;
    }
    assert_eq!(words::headline(&report), "No agent is ranked");
    let said = words::summary(&report).join(" ");
    assert!(!said.contains("is first with"), "{said}");
}

#[test]
fn notes_are_not_repeated() {
    let beats = |value: f64| {
        Some(Pair {
            games: 100,
            results: [0; 3],
            score: fixed(value, (value - 0.1, value + 0.1)),
            ..Pair::default()
        })
    };
    let (better, worse) = (beats(0.8), beats(0.2));
    let mut report = played();
    report.agents = ["one", "two", "three"]
        .map(|name| agent(name, Some(0.5)))
        .into();
    report.pairs = vec![
        vec![None, better, worse],
        vec![worse, None, better],
        vec![better, worse, None],
    ];
    report.notes = vec!["one beats two, two beats three, and three beats one".to_owned()];
    let summary = words::summary(&report);
    let reported = summary.iter().filter(|said| said.contains("beats"));
    assert_eq!(reported.count(), 1, "{summary:?}");
}

#[test]
fn clear_first_and_open_pairs_differ() {
    let even = Some(Pair {
        games: 10,
        results: [5, 0, 5],
        score: fixed(0.5, (0.2, 0.8)),
        ..Pair::default()
    });
    let mut report = played();
    report.agents.push(agent("three", Some(0.2)));
    report.ahead.push(Some(0.3));
    report.pairs = vec![
        vec![None, even, even],
        vec![even, None, even],
        vec![even, even, None],
    ];
    let said = words::summary(&report).join(" ");
    for part in [
        "the lead over every other agent is significant",
        "In 3 of 3 pairs, the head-to-head score does not differ",
    ] {
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn pairs_are_listed_below_the_crosstable() {
    let pair = |sign: f64| {
        Some(Pair {
            games: 1200,
            blocks: [1, 600],
            distinct: (2, false),
            results: [600, 300, 300],
            score: fixed(0.5 + sign * 0.125, (0.6, 0.65)),
            elo: Some(fixed(sign * 88.7, (70.0, 108.0))),
            superiority: Some(0.9999),
        })
    };
    let mut report = played();
    report.pairs = vec![vec![None, pair(1.0)], vec![pair(-1.0), None]];
    let page = html(&report).expect("a page");
    let (_, table) = page.split_once("id=\"pair-list\"").expect("a table");
    let (table, _) = table.split_once("</details>").expect("its end");
    for part in [
        "one against two",
        ">1 of 600<",
        "1,200",
        "62.5% [60.0, 65.0]",
        "+89 ± 19",
        "&gt;99.9%",
    ] {
        let part = part.replace("&gt;", "&#62;");
        assert!(table.contains(&part), "{part}: {table}");
    }
    assert_eq!(table.matches("<tr>").count(), 2, "each pair once: {table}");
    assert!(!html(&played()).expect("a page").contains("pair-list\""));
}

#[test]
fn drawn_starter_names_no_first_seat() {
    let seat = fixed(0.6, (0.55, 0.65));
    let report = |starter_drawn| Report {
        seat_scores: vec![Some(seat), None],
        starter_drawn,
        ..played()
    };
    for (drawn, reported, page) in [
        (
            true,
            "The first player is drawn",
            "the first player is drawn",
        ),
        (false, "Moving first is an advantage", "seat 0 moves first"),
    ] {
        let report = report(drawn);
        let said = words::summary(&report).join(" ");
        assert!(said.contains(reported), "{said}");
        assert_eq!(said.contains("Moving first"), !drawn, "{said}");
        assert!(html(&report).expect("a page").contains(page));
    }
}

#[test]
fn intervals_do_not_wrap() {
    let report = Report {
        notes: vec!["it is rated +20 [+5, +35] Elo".to_owned()],
        ..played()
    };
    let page = html(&report).expect("a page");
    assert!(page.contains("rated +20 [+5,\u{a0}+35] Elo"));
    assert!(markdown(&report).contains("rated +20 \\[+5,\u{a0}+35\\] Elo"));
}

#[test]
fn page_loads_nothing_external() {
    let page = html(&played()).expect("a page");
    for attribute in [
        "src=",
        "srcset=",
        "url(",
        "@import",
        "<link rel=\"stylesheet",
    ] {
        assert!(!page.contains(attribute), "{attribute}");
    }
    assert!(page.contains("default-src 'none'"));
    assert!(
        !page.contains(" style=\""),
        "the policy lets no such style through"
    );
}

#[test]
fn sentences_match_snapshots() {
    let mut test = played();
    test.verdict = serde_json::from_str(r#"{"kind":"sprt","text":"H1 accepted"}"#).ok();
    let reports = [("empty", empty()), ("played", played()), ("test", test)];
    let mut text = String::new();
    for (what, report) in &reports {
        text += &format!("# {what}\n\n{}\n{}\n", markdown(report), junit(report));
    }
    insta::assert_snapshot!("sentences", text);
}
