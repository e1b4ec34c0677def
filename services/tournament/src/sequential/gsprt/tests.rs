use super::*;

fn test(elo0: f64, elo1: f64, model: EloModel) -> Sprt {
    Sprt {
        elo0,
        elo1,
        model,
        ..Sprt::default()
    }
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs()))
}

#[test]
fn gsprt_of_two_outcomes_is_walds_test() {
    for (losses, wins, elo0, elo1) in [(40, 60, 0.0, 5.0), (7, 3, -10.0, 30.0), (1, 1, 0.0, 1.0)] {
        let [none, some] = [elo0, elo1].map(score);
        let expected = f64::from(wins) * libm::log(some / none)
            + f64::from(losses) * libm::log((1.0 - some) / (1.0 - none));
        let counts = [losses as u64, wins as u64];
        let found = llr(&counts, 1, &test(elo0, elo1, EloModel::Logistic)).expect("blocks");
        assert!(near(found, expected), "{found} for {expected}");
    }
}

#[test]
fn constrained_mle_has_mean_and_likelihood() {
    let seen: Vec<Outcome> = [12.0, 60.0, 120.0, 70.0, 20.0]
        .into_iter()
        .enumerate()
        .map(|(units, count)| Outcome {
            score: units as f64 / 4.0,
            chance: count / 282.0,
        })
        .collect();
    let likelihood = |chances: &[f64]| -> f64 {
        let each = seen.iter().zip(chances);
        each.map(|(seen, chance)| seen.chance * libm::log(*chance))
            .sum()
    };
    for mean in [0.3, 0.5, 0.507, 0.6, 0.9] {
        let chances = likeliest(&seen, mean).expect("a mean within the scores");
        let (found, _) = moments(&seen, &chances);
        assert!(near(found, mean), "{found} for {mean}");
        assert!(near(chances.iter().sum(), 1.0));
        // A distribution shifted within the constraints has a lower likelihood.
        for place in 0..3 {
            for by in [1e-4, -1e-4] {
                let mut moved = chances.clone();
                moved[place] += by;
                moved[place + 1] -= 2.0 * by;
                moved[place + 2] += by;
                assert!(likelihood(&moved) < likelihood(&chances));
            }
        }
    }
    for deviations in [-0.3, 0.0, 0.02, 0.4] {
        let chances = standard(&seen, deviations).expect("within the scores");
        let (mean, variance) = moments(&seen, &chances);
        let found = (mean - 0.5) / variance.sqrt();
        assert!(
            (found - deviations).abs() < 1e-6,
            "{found} for {deviations}"
        );
    }
}

#[test]
fn swapped_agents_negate_the_llr() {
    let counts = [3, 17, 40, 25, 9];
    let turned = [9, 25, 40, 17, 3];
    for model in [EloModel::Logistic, EloModel::Normalized] {
        let one = llr(&counts, 2, &test(-2.0, 6.0, model)).expect("blocks");
        let other = llr(&turned, 2, &test(-6.0, 2.0, model)).expect("blocks");
        assert!(near(one, -other), "{one} and {other}");
    }
}

#[test]
fn llr_is_finite_or_none() {
    let counts: [&[u64]; 6] = [
        &[0, 0, 1, 0, 0],
        &[1_000_000, 0, 0, 0, 0],
        &[0, 0, 0, 0, 1],
        &[u32::MAX.into(), 0, 0, 0, u32::MAX.into()],
        &[0; 33],
        &[5],
    ];
    for counts in counts {
        for (elo0, elo1) in [(0.0, 5.0), (-2000.0, 2000.0), (1999.0, 2000.0)] {
            for model in [EloModel::Logistic, EloModel::Normalized] {
                let found = llr(counts, 2, &test(elo0, elo1, model));
                let some = counts.len() > 1 && counts.iter().sum::<u64>() > 0;
                assert_eq!(found.is_some(), some, "{counts:?}");
                assert!(found.is_none_or(f64::is_finite), "{counts:?}: {found:?}");
            }
        }
    }
}

#[test]
fn bounds_match_wald() {
    let (low, high) = bounds(&Sprt::default());
    assert!(near(low, -high) && near(high, 19_f64.ln()), "{low}, {high}");
}
