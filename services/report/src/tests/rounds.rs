use super::*;

#[test]
fn swiss_report_has_tiebreaks_and_rounds() {
    let table = |agents: [&str; 2], points: [f64; 2]| serde_json::json!({"agents": agents, "points": points});
    let mut report = Report {
        verdict: Some(serde_json::json!({
            "kind": "ranking",
            "format": "swiss",
            "text": "one is first.",
            "rounds": [
                {"round": 1, "tables": [table(["one", "two"], [3.5, 0.5])], "byes": ["three"]},
                {"round": 2, "tables": [table(["three", "one"], [1.0, 3.0])], "byes": ["two"]},
            ],
        })),
        ..played()
    };
    report.agents.push(agent("three", Some(0.25)));
    let decided = [(6.5, 9.5, 0), (4.5, 6.5, 1), (5.0, 6.5, 1)];
    for (agent, (points, buchholz, byes)) in report.agents.iter_mut().zip(decided) {
        agent.standing.swiss_points = Some(points);
        agent.standing.buchholz = Some(buchholz);
        agent.standing.byes = Some(byes);
    }
    let page = html(&report).expect("a page");
    for part in [
        "Buchholz</th>",
        "<td class=\"num\">6.5</td><td class=\"num\">9.5</td><td class=\"num\">0</td>",
        "href=\"#rounds\">Rounds<",
        "<td>3.5–0.5 <span class=\"met\">two</span></td><td>3–1 <span class=\"met\">three</span></td>",
        "<td>bye</td>",
        "Places are decided by points, then by Buchholz",
    ] {
        assert!(page.contains(part), "{part}");
    }
    let text = markdown(&report);
    for part in [
        "| # | agent | Swiss points | Buchholz | byes | score [95%] |",
        "| 1 | one | 6.5 | 9.5 | 0 |",
        "| 1 one | 3.5–0.5 (2) | 3–1 (3) |",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    for text in [html(&played()).expect("a page"), markdown(&played())] {
        assert!(!text.contains("Buchholz") && !text.contains("Round by round"));
    }
}

#[test]
fn knockout_is_drawn_as_its_bracket() {
    let table = |agents: [&str; 2], points: [f64; 2], by_seed: bool| {
        serde_json::json!({
            "part": null, "agents": agents, "points": points, "go_on": 1, "by_seed": by_seed,
        })
    };
    let report = Report {
        verdict: Some(serde_json::json!({
            "kind": "winner",
            "format": "knockout",
            "text": "two wins.",
            "winner": "two",
            "seeds": ["one", "two", "three"],
            "rounds": [
                {
                    "round": 1, "byes": ["one"], "out": ["three"],
                    "tables": [table(["two", "three"], [2.0, 2.0], true)],
                },
                {"round": 2, "byes": [], "out": ["one"], "tables": [table(["two", "one"], [3.5, 0.5], false)]},
            ],
        })),
        ..played()
    };
    let page = html(&report).expect("a page");
    let (_, drawn) = page
        .split_once("<ol class=\"bracket tree\">")
        .expect("a tree");
    let (drawn, _) = drawn.split_once("</ol>").expect("its end");
    assert_eq!(drawn.matches("<li class=\"tie\">").count(), 3, "{drawn}");
    for part in [
        "<h3>semi-final</h3>",
        "<h3>final</h3>",
        "<span class=\"who\">one</span><span class=\"got\">bye</span>",
        "tied: the better seed advances",
        "3.5<span class=\"out\"> points, advances</span>",
        "0.5<span class=\"out\"> points</span>",
    ] {
        assert!(drawn.contains(part), "{part}: {drawn}");
    }
    // An agent with a bye is next to the agents whose winner it meets, and on top.
    assert!(drawn.find(">bye<") < drawn.find(">three<"), "{drawn}");
    let text = markdown(&report);
    for part in [
        "**semi-final**",
        "- two (2) 2 – 2 three (3); tied, the better seed advances",
        "- bye: one (1)",
        "- two (2) 3.5 – 0.5 one (1)",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // A running tournament has no verdict and no rounds.
    let report = Report {
        verdict: None,
        ..report
    };
    assert!(!html(&report).expect("a page").contains("bracket tree"));
}

#[test]
fn large_bracket_shows_last_rounds() {
    let mut agents: Vec<String> = (0..512).map(|number| format!("agent-{number}")).collect();
    let mut rounds = Vec::new();
    while agents.len() > 1 {
        let tables: Vec<_> = agents
            .chunks(2)
            .map(|pair| {
                serde_json::json!({
                    "agents": pair, "points": [2.0, 0.0], "go_on": 1, "by_seed": false,
                })
            })
            .collect();
        agents = agents.into_iter().step_by(2).collect();
        rounds.push(serde_json::json!({"round": rounds.len() + 1, "tables": tables, "byes": []}));
    }
    let report = Report {
        verdict: Some(serde_json::json!({
            "kind": "winner", "format": "knockout", "text": "", "winner": "agent-0", "rounds": rounds,
        })),
        ..played()
    };
    let page = html(&report).expect("a page");
    assert!(page.contains("Only the last 8 rounds are shown"));
    assert!(page.contains("<ol class=\"bracket tree long\">"));
    assert_eq!(page.matches("<li class=\"tie\">").count(), 255);
    let text = markdown(&report);
    assert!(
        text.contains("`arena standings cup-0123456789 --rounds`"),
        "{text}"
    );
}
