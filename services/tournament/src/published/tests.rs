use super::*;

fn parts(values: &[(i64, u64)]) -> Vec<Part> {
    let part = |&(sum, count): &(i64, u64)| Part { sum, count };
    values.iter().map(part).collect()
}

fn close(found: f64, expected: f64) {
    assert!(
        (found - expected).abs() < 5e-4,
        "{found} instead of {expected}"
    );
}

#[test]
fn mean_has_sample_interval() {
    // 2, 4, 4, 6: mean 4, variance 8/3, standard error √(2/3) = 0.8165,
    // t(3) = 3.1824.
    let found = mean(&parts(&[(2, 1), (4, 1), (4, 1), (6, 1)])).expect("observations");
    close(found.value, 4.0);
    close(found.sd.expect("four observations"), 1.633);
    let Interval { low, high } = found.interval.expect("four observations");
    close(low, 4.0 - 2.5984);
    close(high, 4.0 + 2.5984);
    assert_eq!(found.count, 4);
}

#[test]
fn ratio_weighs_blocks_by_observations() {
    // 6/2, 9/4, 5/2: 20/8 = 2.5; residuals 1, -1, 0; standard error
    // √(3/2 · 2)/8 = 0.2165; t(2) = 4.3027.
    let found = mean(&parts(&[(6, 2), (0, 0), (9, 4), (5, 2)])).expect("observations");
    close(found.value, 2.5);
    let Interval { low, high } = found.interval.expect("three blocks");
    close(low, 2.5 - 0.9315);
    close(high, 2.5 + 0.9315);
    close(found.sd.expect("three blocks"), 0.6124);
}

#[test]
fn one_block_has_no_interval() {
    let one = mean(&parts(&[(7, 2)])).expect("observations");
    assert_eq!((one.value, one.interval, one.sd), (3.5, None, None));
    assert_eq!(mean(&parts(&[(0, 0)])), None);
    assert_eq!(share(&[]), None);
}

#[test]
fn share_of_games_has_wilson_interval() {
    // 30 of 100: Wilson with t(99) = 1.984: 0.2187 to 0.3963, slightly wider than with
    // 1.96, as expected.
    let mut games = vec![Part { sum: 1, count: 1 }; 30];
    games.resize(100, Part { sum: 0, count: 1 });
    let found = share(&games).expect("games");
    close(found.value, 0.3);
    let Interval { low, high } = found.interval.expect("games");
    assert!((low - 0.219).abs() < 2e-3, "{low}");
    assert!((high - 0.396).abs() < 2e-3, "{high}");
}

#[test]
fn uncounted_games_change_no_share() {
    let mut games = vec![Part { sum: 1, count: 1 }; 5];
    games.resize(20, Part { sum: 0, count: 1 });
    let plain = share(&games);
    games.resize(80, Part { sum: 0, count: 0 });
    assert_eq!(share(&games), plain);
}

#[test]
fn share_is_between_zero_and_one() {
    let blocks = parts(&[(3, 3), (2, 2), (1, 1), (0, 1)]);
    let Interval { low, high } = share(&blocks)
        .and_then(|found| found.interval)
        .expect("blocks");
    assert!((0.0..=1.0).contains(&low) && (0.0..=1.0).contains(&high));
    let sure = share(&vec![Part { sum: 2, count: 2 }; 50])
        .and_then(|found| found.interval)
        .expect("blocks");
    assert!(
        sure.low > 0.9 && sure.low < 1.0 && sure.high == 1.0,
        "{sure:?}"
    );
}

#[test]
fn counts_agree_within_the_stated_bound() {
    // n = 50, p = 0.9: np = 45, √4.5 = 2.1213, bound 5.473 + 0.5 = 5.973.
    assert!(count_agrees(40.0, 50, 0.9));
    assert!(count_agrees(50.0, 50, 0.9));
    assert!(!count_agrees(39.0, 50, 0.9));
    close(z_of_count(40.0, 50, 0.9).expect("chance"), -2.357);
    // 1,000 games at a quarter: 214.7 − 0.5 to 285.3 + 0.5.
    assert!(count_agrees(215.0, 1000, 0.25));
    assert!(!count_agrees(214.0, 1000, 0.25));
}

#[test]
fn extreme_share_accepts_only_itself() {
    assert!(count_agrees(100.0, 100, 1.0));
    assert!(!count_agrees(99.0, 100, 1.0));
    assert_eq!(z_of_count(100.0, 100, 1.0), None);
}

#[test]
fn means_agree_within_the_stated_bound() {
    // sd 24 over 50: standard error 3.394, bound 8.757.
    assert!(mean_agrees(113.0, 50, 107.0, 24.0, Z_MAX));
    assert!(mean_agrees(115.7, 50, 107.0, 24.0, Z_MAX));
    assert!(!mean_agrees(115.8, 50, 107.0, 24.0, Z_MAX));
    close(z_of_mean(113.0, 50, 107.0, 24.0).expect("chance"), 1.7678);
    assert_eq!(z_of_mean(1.0, 50, 1.0, 0.0), None);
}

#[test]
fn unit_scales_every_figure() {
    let found = mean(&parts(&[(2, 1), (4, 1)])).expect("observations");
    let percent = found.scaled(100.0, -100.0);
    close(percent.value, 200.0);
    let low = percent.interval.expect("two observations").low;
    close(low, (found.interval.expect("two").low - 1.0) * 100.0);
    close(percent.sd.expect("two"), found.sd.expect("two") * 100.0);
}
