use super::*;

#[test]
fn equal_blocks_leave_a_width() {
    for seats in 2..=4 {
        let widths = [1.0, 20.0, 1000.0, 1e15].map(|of| half_width(seats, true, of, 0.0, None));
        assert!(widths.is_sorted_by(|a, b| a > b), "{widths:?}");
        assert!(widths[0] <= 0.5 && widths[3] > 0.0, "{widths:?}");
    }
}

/// Student's critical value is 12.7 with two blocks, 2.26 with ten and 1.96 with many.
#[test]
fn few_blocks_use_students_distribution() {
    let widths = [2.0, 10.0, 10_000.0].map(|of| half_width(2, true, of, 0.25, None));
    assert!(widths[0] > 0.45, "{widths:?}");
    assert!((0.16..0.19).contains(&widths[1]), "{widths:?}");
    assert!(
        (widths[2] / (1.96 * 0.25 / 100.0) - 1.0).abs() < 0.01,
        "{widths:?}"
    );
}

/// Standings of adaptive formats show anytime-valid intervals, which are wider.
#[test]
fn adaptive_format_widens_the_interval() {
    let fixed = half_width(2, true, 400.0, 0.25, None);
    let anytime = half_width(2, true, 400.0, 0.25, Some(400.0));
    assert!((1.3..1.7).contains(&(anytime / fixed)), "{fixed} {anytime}");
}

#[test]
fn sprt_is_planned_at_trial_score() {
    let spec = "name = \"t\"\nruleset = \"kalah\"\nformat = \"sprt\"\nblocks = 50000\n\
                agents = [\"random\", \"greedy\"]\nseed = \"0x5eed\"\n";
    let spec = arena_model::spec::Spec::parse(spec).expect("a spec");
    let tables = arena_model::format::Tables::default();
    let format = arena_model::format::Format::Sprt;
    let settings = Settings::resolve(format, &tables, spec.blocks, &spec.agents);
    let tournament = Tournament {
        name: spec.name.clone(),
        ruleset: spec.ruleset.clone(),
        rules_version: 1,
        rules_digest: None,
        options: Default::default(),
        seed: spec.seed.expect("a seed"),
        format,
        settings: settings.expect("settings"),
        blocks: 50_000,
        seats: 2,
        agents: Vec::new(),
        play: Default::default(),
        openings: None,
        returns: None,
        changes: Vec::new(),
    };
    let planned = v1::PlanTournamentResponse {
        games_expected: 40_000,
        ..Default::default()
    };
    let trial = Sample::of_scores(&[1.0, 1.0, 0.75, 1.0, 0.5, 1.0, 1.0, 1.0, 1.0, 0.75]);
    let (games, from) = expected(&tournament, &planned, Some(&trial));
    assert!((32..500).contains(&games), "{games}");
    let from = from.expect("a score");
    assert!(from.contains("90.0 % that 10 blocks"), "{from}");
    let (games, from) = expected(&tournament, &planned, None);
    assert_eq!(games, 40_000);
    assert!(from.expect("words").contains("half-way"));
}

#[test]
fn width_is_never_zero() {
    let reported = [12.34, 0.06, 0.05, 0.04, 0.0031].map(points);
    assert_eq!(reported, ["12.3", "0.1", "0.1", "0.04", "0.003"]);
}
