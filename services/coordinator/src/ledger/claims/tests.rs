//! Which rates of faults are usual.

use super::*;

/// True if the first owner's rate is usual; each has so many faults in 100 games.
fn is_usual(faults: &[u32]) -> bool {
    let owners: Vec<Owner> = (0..faults.len()).map(|it| it.to_string().into()).collect();
    let mut claims = Claims::default();
    for (owner, &faults) in owners.iter().zip(faults) {
        for game in 0..100 {
            claims.count(7, Some(owner), game < faults, Play::Game);
        }
    }
    claims.is_usual(7, Some(&owners[0]))
}

#[test]
fn one_accomplice_explains_nothing() {
    for (faults, expected) in [
        (&[25, 25][..], true),
        (&[25, 0], false),
        (&[25, 5], false),
        (&[5, 25], true),
        (&[25, 100, 0], false),
        (&[25, 100, 20], true),
        (&[0, 25], false),
    ] {
        assert_eq!(is_usual(faults), expected, "{faults:?}");
    }
}
