use super::*;

/// `agents` agents with names of varying length; the first two have met.
fn standings(agents: usize) -> v1::Standings {
    let name = |number: usize| format!("agent-{number:03}");
    let agent = |number: usize| v1::AgentStanding {
        agent: name(number),
        ..Default::default()
    };
    v1::Standings {
        agents: (0..agents).map(agent).collect(),
        pairs: vec![v1::PairStanding {
            agent: name(0),
            opponent: name(1),
            score: Some(0.75),
            score_low: Some(0.65),
            score_high: Some(0.85),
            score_adjusted: Some(0.703),
            score_adjusted_low: Some(0.65),
            score_adjusted_high: Some(0.75),
            ..Default::default()
        }],
        ..Default::default()
    }
}

#[test]
fn pairs_are_luck_adjusted_if_they_fit() {
    let text = crosstable(&standings(2), false, None);
    for part in ["score in % against", "75 ±10", "25 ±10"] {
        assert!(text.contains(part), "{text}");
    }
    for part in ["luck-adjusted score in % against", "70 ±5", "30 ±5"] {
        assert!(text.contains(part), "{text}");
    }
    assert!(!crosstable(&standings(60), false, None).contains("luck-adjusted"));
    assert!(crosstable(&standings(60), true, None).contains("luck-adjusted"));
    let mut skewed = standings(2);
    skewed.pairs[0].score_low = Some(0.6);
    let text = crosstable(&skewed, false, None);
    for part in ["75 [60, 85]", "25 [15, 40]"] {
        assert!(text.contains(part), "{text}");
    }
    // Cells are complete or omit the interval.
    let text = crosstable(&skewed, false, Some(50));
    assert!(text.contains("75 [60, 85]"), "{text}");
    let text = crosstable(&skewed, false, Some(30));
    assert!(text.contains("75") && !text.contains("[60"), "{text}");
    assert!(text.contains("intervals are hidden"), "{text}");
    let mut unknown = standings(2);
    unknown.pairs[0].score_adjusted = None;
    assert!(!crosstable(&unknown, true, None).contains("luck-adjusted"));
}

#[test]
fn raw_scores_are_marked() {
    let mut standings = standings(2);
    standings.pairing = Some(v1::Pairing {
        blocks: 50,
        variance_reduction: 0.106,
        games_saved: Some(12),
        variance_reduction_low: -0.2,
        variance_reduction_high: 0.35,
        games_saved_low: Some(-17),
        games_saved_high: None,
    });
    standings.agents[0].score = Some(0.5);
    standings.agents[0].score_low = Some(0.4);
    standings.agents[0].score_high = Some(0.6);
    let text = remarks(&standings);
    for part in [
        "variance reduction 11 %",
        "[95 % CI -20 to 35]",
        "12 more games [-17 to unlimited]",
        "pointwise",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("unadjusted"), "{text}");
    standings.agents[0].score_adjusted = Some(0.5);
    standings.agents[0].score_adjusted_is_raw = true;
    assert!(remarks(&standings).contains("* too few blocks"));
    assert!(people(&standings, true, None).contains("50.0%*"));
    // If results decided the games: anytime-valid intervals, and no fixed-sample figures.
    standings.adaptive = true;
    standings.seats = vec![v1::SeatStanding {
        score: Some(0.5),
        score_low: Some(0.45),
        score_high: Some(0.55),
        score_anytime_low: Some(0.4),
        score_anytime_high: Some(0.6),
        ..v1::SeatStanding::default()
    }];
    let text = remarks(&standings);
    assert!(text.contains("50.0% [40.0, 60.0]"), "{text}");
    assert!(text.contains("anytime-valid"), "{text}");
    assert!(!people(&standings, true, None).contains("win rate ["));
}

/// Four agents with enough games for long numbers.
fn played() -> v1::Standings {
    let agents = [
        "random",
        "aggressive",
        "mixed-with-a-longer-name",
        "defensive",
    ];
    let agent = |(place, name): (u64, &&str)| v1::AgentStanding {
        agent: (*name).to_owned(),
        place: Some(place),
        games: 14_112,
        wins: 2492,
        ranks: vec![12_492, 1801, 1324, 248],
        faults: 4321,
        score: Some(0.512),
        score_low: Some(0.48),
        score_high: Some(0.544),
        score_adjusted: Some(0.5),
        score_adjusted_low: Some(0.481),
        score_adjusted_high: Some(0.519),
        rating: Some(-123.0),
        rating_low: Some(-321.0),
        rating_high: Some(-101.0),
        plies_mean: Some(1012.5),
        latency_us_p50: Some(1.5),
        latency_us_p99: Some(123_000.0),
        ..Default::default()
    };
    v1::Standings {
        tournament_id: "cup-0123456789".to_owned(),
        agents: (1..).zip(&agents).map(agent).collect(),
        ..standings(0)
    }
}

#[test]
fn standings_fit_every_width() {
    let cells = [
        "mixed-with-a-longer-name",
        "-123 [-321, -101]",
        "51.2% [48.0, 54.4]",
        "50.0% [48.1, 51.9]",
        "12,492/1,801/1,324/248",
        "14,112",
        "1012.5",
        "1.5 µs",
        "123.0 ms",
        "4,321",
    ];
    let standings = played();
    let whole = people(&standings, true, Some(60));
    let mut shown_before = 0;
    for width in [60, 80, 100, 120, 200] {
        let text = people(&standings, false, Some(width));
        let wide = text.lines().find(|line| line.chars().count() > width);
        assert_eq!(wide, None, "{width}: {text}");
        let rows = text.lines().skip(2);
        let rows: Vec<&str> = rows.take(4).collect();
        let mut shown = 0;
        for cell in cells {
            assert!(whole.contains(cell), "{cell}: {whole}");
            shown += usize::from(text.contains(cell));
        }
        // A table row is one line: a cell is complete or absent.
        for row in &rows {
            let known = cells.iter().filter(|cell| row.contains(**cell)).count();
            let name = usize::from(!row.contains(cells[0]));
            assert_eq!(known + name, shown, "{width}: {row}");
        }
        assert!(shown >= shown_before, "{width}: {text}");
        shown_before = shown;
        assert_eq!(text.contains("--wide"), shown < cells.len(), "{text}");
    }
    assert_eq!(shown_before, cells.len());
}

#[test]
fn swiss_tiebreaks_show_at_any_width() {
    let mut standings = played();
    let decided = [
        (1012.5, 2000.0, 0),
        (1012.5, 1999.5, 1),
        (12.0, 3.0, 2),
        (0.0, 0.0, 0),
    ];
    for (agent, (points, buchholz, byes)) in standings.agents.iter_mut().zip(decided) {
        agent.swiss_points = Some(points);
        agent.buchholz = Some(buchholz);
        agent.byes = Some(byes);
    }
    for width in [60, 80, 100] {
        let text = people(&standings, false, Some(width));
        assert!(
            text.lines().all(|line| line.chars().count() <= width),
            "{text}"
        );
        for part in ["Swiss", "Buchholz", "1,012.5", "1,999.5", "2,000"] {
            assert!(text.contains(part), "{width}: {part}: {text}");
        }
        assert!(text.contains("byes"), "{width}: {text}");
    }
    let remarks = remarks(&standings);
    assert!(remarks.contains("by points, then by Buchholz"), "{remarks}");
    assert!(!people(&played(), true, None).contains("Buchholz"));
}

#[test]
fn faults_column_is_hidden_only_if_empty() {
    let mut standings = played();
    for agent in &mut standings.agents[1..] {
        agent.faults = 0;
    }
    // Narrow terminals, and no terminal.
    for width in [Some(60), Some(80), None] {
        let text = people(&standings, false, width);
        let (shown, left_out) = text.split_once("hidden columns:").expect("too much");
        assert!(
            shown.contains("faults") && shown.contains("4,321"),
            "{text}"
        );
        assert!(!left_out.contains("faults"), "{text}");
    }
    standings.agents[0].faults = 0;
    let text = people(&standings, false, Some(80));
    let (_, left_out) = text.split_once("hidden columns:").expect("too much");
    assert!(left_out.contains("faults"), "{text}");
}

/// Standings with every kind of column and note.
fn full() -> v1::Standings {
    let agent = |place: u64, name: &str, score: f64| v1::AgentStanding {
        agent: name.to_owned(),
        version: "1.0.0".to_owned(),
        content: "9a0274c1a004".repeat(5),
        place: Some(place),
        games: 1_800,
        wins: (1_800.0 * score) as u64,
        draws: 40,
        losses: 1_760 - (1_800.0 * score) as u64,
        faults: 3 - place,
        score: Some(score),
        score_low: Some(score - 0.021),
        score_high: Some(score + 0.02),
        score_anytime_low: Some(score - 0.05),
        score_anytime_high: Some(score + 0.048),
        score_adjusted: Some(score + 0.004),
        score_adjusted_low: Some(score - 0.01),
        score_adjusted_high: Some(score + 0.018),
        score_adjusted_anytime_low: Some(score - 0.03),
        score_adjusted_anytime_high: Some(score + 0.038),
        score_adjusted_is_raw: place == 3,
        rating: Some(400.0 * (score - 0.5)),
        rating_low: Some(400.0 * (score - 0.5) - 25.0),
        rating_high: Some(400.0 * (score - 0.5) + 25.0),
        rating_anytime_low: Some(400.0 * (score - 0.5) - 60.0),
        rating_anytime_high: Some(400.0 * (score - 0.5) + 60.0),
        plies_mean: Some(61.4),
        latency_us_p50: Some(12.3),
        latency_us_p99: Some(1_804.0),
        waiting_us_p50: Some(40.0),
        waiting_us_p99: Some(9_000.0),
        blocks: 900,
        ranks: vec![900, 900],
        ..Default::default()
    };
    let pair = |agent: &str, opponent: &str, score: f64| v1::PairStanding {
        agent: agent.to_owned(),
        opponent: opponent.to_owned(),
        games: 900,
        blocks: 450,
        blocks_played: 450,
        distinct_games: 64,
        distinct_games_more: true,
        score: Some(score),
        score_low: Some(score - 0.03),
        score_high: Some(score + 0.03),
        score_adjusted: Some(score),
        score_adjusted_low: Some(score - 0.02),
        score_adjusted_high: Some(score + 0.02),
        superiority: Some(0.999),
        ..Default::default()
    };
    let seat = |seat: u32, score: f64| v1::SeatStanding {
        seat,
        games: 2_700,
        score: Some(score),
        score_low: Some(score - 0.01),
        score_high: Some(score + 0.01),
        ..Default::default()
    };
    v1::Standings {
        tournament_id: "cup-0123456789".to_owned(),
        games: 2_700,
        games_total: 2_700,
        agents: vec![
            agent(1, "expectimax-depth-4", 0.62),
            agent(2, "greedy", 0.51),
            agent(3, "random", 0.37),
        ],
        pairs: vec![
            pair("expectimax-depth-4", "greedy", 0.58),
            pair("expectimax-depth-4", "random", 0.66),
            pair("greedy", "random", 0.60),
        ],
        seats: vec![seat(0, 0.53), seat(1, 0.47)],
        pairing: Some(v1::Pairing {
            blocks: 1_350,
            variance_reduction: 0.106,
            games_saved: Some(320),
            variance_reduction_low: -0.02,
            variance_reduction_high: 0.21,
            games_saved_low: Some(-53),
            games_saved_high: Some(718),
        }),
        ..Default::default()
    }
}

#[test]
fn tables_match_snapshots_at_every_width() {
    let mut text = String::new();
    let mut adaptive = full();
    adaptive.adaptive = true;
    for (what, standings) in [("fixed sample", full()), ("anytime-valid", adaptive)] {
        for width in [60, 80, 140] {
            let table = people(&standings, false, Some(width));
            let pairs = crosstable(&standings, false, Some(width));
            text += &format!("# {what}, {width} columns\n\n{table}\n{pairs}\n");
        }
        let wide = people(&standings, true, None);
        text += &format!("# {what}, --wide\n\n{wide}\n{}\n", remarks(&standings));
    }
    insta::assert_snapshot!("tables", text);
}
