//! Finds which checksums make up an exclusive or: a system of linear equations over one bit, solved
//! by elimination.

use crate::Sha256Digest;

/// The places of the checksums whose exclusive or is `sum`; `None` if there are none, or if the
/// solution is not unique.
pub(crate) fn subset(checksums: &[Sha256Digest], sum: &Sha256Digest) -> Option<Vec<usize>> {
    // Each row has a leading bit of its own, and the set of its sources.
    let mut rows: Vec<(Sha256Digest, Vec<bool>)> = Vec::new();
    let none = vec![false; checksums.len()];
    for (place, checksum) in checksums.iter().enumerate() {
        let mut made_of = none.clone();
        made_of[place] = true;
        let (left, made_of) = reduce(&rows, *checksum, made_of);
        first_bit(&left)?;
        rows.push((left, made_of));
    }
    let (left, made_of) = reduce(&rows, *sum, none);
    if first_bit(&left).is_some() {
        return None;
    }
    let places = made_of.iter().enumerate();
    Some(
        places
            .filter(|(_, is_in)| **is_in)
            .map(|(at, _)| at)
            .collect(),
    )
}

/// Eliminates the leading bits of all rows from a value.
fn reduce(
    rows: &[(Sha256Digest, Vec<bool>)],
    mut value: Sha256Digest,
    mut made_of: Vec<bool>,
) -> (Sha256Digest, Vec<bool>) {
    for (row, of) in rows {
        if first_bit(row).is_some_and(|bit| value[bit / 8] >> (bit % 8) & 1 == 1) {
            value.iter_mut().zip(row).for_each(|(a, b)| *a ^= b);
            made_of.iter_mut().zip(of).for_each(|(a, b)| *a ^= b);
        }
    }
    (value, made_of)
}

fn first_bit(value: &Sha256Digest) -> Option<usize> {
    (0..value.len() * 8).find(|bit| value[bit / 8] >> (bit % 8) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use sha2::{Digest, Sha256};

    use super::*;

    fn sum(of: &[Sha256Digest]) -> Sha256Digest {
        of.iter().fold([0; 32], |mut sum, it| {
            sum.iter_mut().zip(it).for_each(|(a, b)| *a ^= b);
            sum
        })
    }

    #[test]
    fn parity_finds_missing_packs() {
        let all: Vec<Sha256Digest> = (0..200_u32)
            .map(|number| Sha256::digest(number.to_le_bytes()).into())
            .collect();
        for wanted in [vec![], vec![3], vec![0, 7, 199], (0..200).collect()] {
            let picked: Vec<_> = wanted.iter().map(|&at: &usize| all[at]).collect();
            assert_eq!(subset(&all, &sum(&picked)), Some(wanted));
        }
        assert_eq!(subset(&all[..100], &all[150]), None, "not among them");
        let twice = [&all[..3], &all[..1]].concat();
        assert_eq!(subset(&twice, &all[0]), None, "either could be meant");
        assert_eq!(subset(&[], &[0; 32]), Some(Vec::new()));
    }
}
