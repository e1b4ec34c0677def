use super::*;

fn pair() -> v1::PairStanding {
    v1::PairStanding {
        agent: "base".to_owned(),
        opponent: "mine".to_owned(),
        games: 400,
        blocks: 200,
        score: Some(0.4),
        score_low: Some(0.35),
        score_high: Some(0.45),
        score_anytime_low: Some(0.32),
        score_anytime_high: Some(0.48),
        score_df: 199,
        score_tuning_horizon: 200.0,
        ..v1::PairStanding::default()
    }
}

fn standings() -> v1::Standings {
    let agent = |name: &str, score: f64, faults: u64| v1::AgentStanding {
        agent: name.to_owned(),
        place: Some(if score > 0.5 { 1 } else { 2 }),
        games: 400,
        blocks: 200,
        score: Some(score),
        score_low: Some(score - 0.05),
        score_high: Some(score + 0.05),
        score_anytime_low: Some(score - 0.08),
        score_anytime_high: Some(score + 0.08),
        score_df: 199,
        tuning_horizon: 200.0,
        faults,
        voids: 1,
        ..v1::AgentStanding::default()
    };
    v1::Standings {
        agents: vec![agent("mine", 0.6, 2), agent("base", 0.4, 0)],
        seats: vec![v1::SeatStanding::default(); 2],
        pairs: vec![pair()],
        state: v1::TournamentState::Finished.into(),
        ..v1::Standings::default()
    }
}

fn verdict_of(text: &str, standings: &v1::Standings) -> Verdict {
    let agents = ["mine", "base"].map(|name| name.parse().expect("a name"));
    let read = arena_model::expect::read(text, text, &agents).expect("a sentence");
    verdict(&read, standings, 1)
}

#[test]
fn expectations_match_their_cases() {
    let cases = [
        ("mine beats base", true),
        ("base beats mine", false),
        // The lower bound, a score of 55 %, is 34.9 Elo.
        ("mine beats base by 34 elo at 95 %", true),
        ("mine beats base by 36 elo at 95 %", false),
        ("mine beats base by 36 elo at 90 %", true),
        ("mine beats base by 34 elo at 99 %", false),
        ("base loses to mine by at most 109 elo", true),
        ("base loses to mine by at most 100 elo", false),
        ("mine scores at least 0.6", true),
        ("mine scores at least 0.6 at 95 %", false),
        ("mine scores at least 0.5 against base at 95 %", true),
        ("mine scores at most 0.64 at 95 %", false),
        ("base scores at most 41 %", true),
        ("mine ranks first", true),
        ("base ranks last", true),
        ("base ranks 2nd or better", true),
        ("base ranks first", false),
        ("no faults", false),
        ("base makes no faults", true),
        ("at most 2 faults", true),
        ("no voids", false),
        ("at most 1 voids", true),
    ];
    for (text, holds) in cases {
        let verdict = verdict_of(text, &standings());
        assert_eq!(verdict.holds, holds, "{text}: {}", verdict.says);
        assert!(!verdict.says.is_empty());
    }
}

#[test]
fn ratings_and_games_decide_their_claims() {
    let mut standings = standings();
    standings.pairs[0].rating_difference = Some(-200.0);
    standings.pairs[0].elo_difference = Some(-80.0);
    standings.pairs[0].elo_difference_low = Some(-120.0);
    standings.pairs[0].elo_difference_high = Some(-40.0);
    standings.pairs[0].rating_df = 3;
    let verdict = verdict_of("mine is rated above base by 39 elo", &standings);
    assert!(verdict.holds, "{}", verdict.says);
    assert_eq!((verdict.value, verdict.low), (Some(80.0), Some(40.0)));
    assert!(!verdict_of("mine is rated above base by 41 elo", &standings).holds);
    // With 3 degrees of freedom 99 % is 1.835 times as wide as 95 %, not 1.314.
    let verdict = verdict_of("mine is rated above base by 10 elo at 99 %", &standings);
    assert!(!verdict.holds, "{}", verdict.says);
    assert!(verdict_of("mine is rated above base by 5 elo at 99 %", &standings).holds);
    // The games of the two are even and show less: uncertain.
    standings.pairs[0].score = Some(0.5);
    standings.pairs[0].score_low = Some(0.4);
    standings.pairs[0].score_high = Some(0.6);
    let verdict = verdict_of("mine beats base", &standings);
    assert!(!verdict.holds, "{}", verdict.says);
    assert_eq!(verdict.value, Some(0.0));
    // Agents that did not meet have no verdict.
    standings.pairs[0].score = None;
    assert!(!verdict_of("mine beats base", &standings).holds);
    assert!(verdict_of("mine is rated above base", &standings).holds);
}

#[test]
fn sure_expectations_share_the_error() {
    let agents = ["mine", "base"].map(|name| name.parse().expect("a name"));
    let checked = |texts: &[&str]| {
        let read = |text: &&str| arena_model::expect::read(text, text, &agents);
        let read: Result<Vec<_>, _> = texts.iter().map(read).collect();
        check(&read.expect("sentences"), &standings())
    };
    let near = "mine beats base by 34 elo";
    let sure = "mine beats base";
    let far = "mine beats base by 60 elo";
    let holds = |verdicts: &[Verdict]| -> Vec<bool> {
        verdicts.iter().map(|verdict| verdict.holds).collect()
    };
    assert_eq!(holds(&checked(&[near])), [true]);
    // The first accepted expectation passes its error probability on to the other.
    let two = checked(&[near, sure]);
    assert_eq!(holds(&two), [true, true]);
    assert_eq!(two[0].level, Some(0.95));
    assert!((two[1].level.expect("an interval") - 0.975).abs() < 1e-12);
    assert!(two[1].says.contains("Holm, one of 2"), "{}", two[1].says);
    // An expectation that is never accepted keeps its own.
    let three = checked(&[near, sure, far, "no voids", "mine scores at least 0.6"]);
    assert_eq!(holds(&three), [false, true, false, false, true]);
    assert!((three[0].level.expect("an interval") - 0.975).abs() < 1e-12);
}

#[test]
fn total_loser_has_no_distance() {
    let mut standings = standings();
    standings.pairs[0].elo_difference = Some(-700.0);
    standings.pairs[0].elo_difference_low = Some(-900.0);
    standings.pairs[0].elo_difference_high = Some(-400.0);
    standings.pairs[0].rating_df = 30;
    let behind = "base is rated above mine by -1000 elo";
    assert!(verdict_of(behind, &standings).holds);
    standings.pairs[0].rating_is_open = true;
    let verdict = verdict_of(behind, &standings);
    assert!(!verdict.holds, "{}", verdict.says);
    assert!(
        verdict.says.contains("no game says how far"),
        "{}",
        verdict.says
    );
    assert!(verdict_of("mine is rated above base by 350 elo", &standings).holds);
}

#[test]
fn adaptive_claims_use_anytime_intervals() {
    let mut standings = standings();
    assert!(verdict_of("mine beats base by 30 elo", &standings).holds);
    assert!(verdict_of("mine scores at least 0.54 at 95 %", &standings).holds);
    standings.adaptive = true;
    // The lower bound, a score of 52 %, is 13.9 Elo.
    let verdict = verdict_of("mine beats base by 30 elo", &standings);
    assert!(
        !verdict.holds && verdict.says.contains("valid at any time"),
        "{}",
        verdict.says
    );
    assert!(verdict_of("mine beats base by 13 elo", &standings).holds);
    assert!(!verdict_of("mine beats base by 13 elo at 99 %", &standings).holds);
    let verdict = verdict_of("mine scores at least 0.54 at 95 %", &standings);
    assert!(!verdict.holds, "{}", verdict.says);
    assert!(verdict_of("mine scores at least 0.51 at 95 %", &standings).holds);
}

#[test]
fn sprt_claims_follow_its_verdict() {
    let mut standings = standings();
    let verdict = verdict_of("mine passes", &standings);
    assert!(!verdict.holds && verdict.says.contains("not ended"));
    for (kind, holds) in [("h1", true), ("h0", false), ("inconclusive", false)] {
        standings.verdict_json = format!("{{\"kind\": \"{kind}\", \"text\": \"It is.\"}}");
        let verdict = verdict_of("mine passes", &standings);
        assert_eq!(verdict.holds, holds, "{}", verdict.says);
        assert!(verdict.says.contains(kind), "{}", verdict.says);
    }
}

#[test]
fn no_games_no_claims() {
    let mut standings = standings();
    standings.pairs.clear();
    for agent in &mut standings.agents {
        *agent = v1::AgentStanding {
            agent: agent.agent.clone(),
            ..v1::AgentStanding::default()
        };
    }
    for text in [
        "mine beats base",
        "mine scores at least 0",
        "mine ranks first",
    ] {
        let verdict = verdict_of(text, &standings);
        assert!(!verdict.holds, "{text}");
        assert_eq!(verdict.value, None);
        assert!(verdict.says.contains("no games"), "{}", verdict.says);
    }
    assert!(verdict_of("no faults", &standings).holds);
}

#[test]
fn expectations_wait_for_the_end() {
    for state in [v1::TournamentState::Running, v1::TournamentState::Cancelled] {
        let standings = v1::Standings {
            state: state.into(),
            ..standings()
        };
        for text in [
            "mine beats base",
            "mine scores at least 0.5",
            "mine ranks first",
            "base makes no faults",
            "at most 2 faults",
            "at most 1 voids",
        ] {
            let verdict = verdict_of(text, &standings);
            assert!(!verdict.holds, "{text}");
            let shown = format!("so far, and the tournament is {}", state_name(state));
            assert!(verdict.says.ends_with(&shown), "{}", verdict.says);
        }
    }
}

#[test]
fn place_claims_follow_standings() {
    let mut standings = standings();
    for (agent, place) in standings.agents.iter_mut().zip([2, 1]) {
        agent.place = Some(place);
    }
    assert!(verdict_of("base ranks first", &standings).holds);
    assert!(verdict_of("mine ranks last", &standings).holds);
    assert!(!verdict_of("mine ranks first", &standings).holds);
}

#[test]
fn equal_agents_share_a_place() {
    let mut standings = standings();
    standings.agents[1].place = Some(1);
    for agent in ["mine", "base"] {
        assert!(verdict_of(&format!("{agent} ranks first"), &standings).holds);
        assert!(!verdict_of(&format!("{agent} ranks last"), &standings).holds);
    }
}

#[test]
fn perfect_score_has_no_infinite_rating() {
    let mut standings = standings();
    standings.pairs[0].score = Some(0.0);
    standings.pairs[0].score_low = Some(0.0);
    standings.pairs[0].score_high = Some(0.02);
    let verdict = verdict_of("mine beats base by 600 elo", &standings);
    for number in [verdict.value, verdict.low, verdict.high] {
        assert!(number.expect("a number").is_finite());
    }
    assert!(verdict.holds, "{}", verdict.says);
}
