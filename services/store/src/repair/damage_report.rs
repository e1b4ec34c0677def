//! Damage as text: neighbouring packs with the same damage are one line.

use std::{fmt, ops::Range};

/// Maximum damage listed one by one.
const LISTED_MAX: usize = 20;

/// Damage of a pack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    Missing,
    Changed,
    /// With the error of the system, if any.
    Unreadable(String),
    Misplaced,
    NotAcknowledged,
    /// Its checksum matches, and its records cannot be decompressed.
    LockedUp,
}

#[derive(Debug)]
enum Damage {
    Text(String),
    Packs { first: u64, last: u64, fault: Fault },
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, last, fault) = match self {
            Self::Text(text) => return f.write_str(text),
            Self::Packs { first, last, fault } => (first, last, fault),
        };
        let one = first == last;
        let packs = match one {
            true => format!("results pack {first}"),
            false => format!("results packs {first} to {last}"),
        };
        let many = |single, many| if one { single } else { many };
        let found = match fault {
            Fault::Missing => many("is missing", "are missing"),
            Fault::Changed => many(
                "has changed since it was written",
                "have changed since they were \
             written",
            ),
            Fault::Unreadable(because) => return write!(f, "{packs} cannot be read{because}"),
            Fault::Misplaced => many(
                "does not follow its predecessor",
                "do not follow their predecessors",
            ),
            Fault::NotAcknowledged => many(
                "is not the acknowledged one",
                "are not the acknowledged ones",
            ),
            Fault::LockedUp => return write!(f, "the records of {packs} cannot be decompressed"),
        };
        write!(f, "{packs} {found}")
    }
}

/// All differences from the acknowledged state.
#[derive(Debug, Default)]
pub(crate) struct DamageReport {
    listed: Vec<Damage>,
    more: usize,
}

impl DamageReport {
    pub(crate) fn add(&mut self, damage: impl Into<String>) {
        self.push(Damage::Text(damage.into()));
    }

    pub(crate) fn pack(&mut self, sequence: u64, fault: Fault) {
        self.packs(sequence..sequence + 1, fault);
    }

    /// The same for several packs; none is no damage.
    pub(crate) fn packs(&mut self, packs: Range<u64>, fault: Fault) {
        if packs.is_empty() {
            return;
        }
        let follows = self
            .listed
            .iter_mut()
            .rev()
            .find_map(|damage| match damage {
                Damage::Packs {
                    last, fault: of, ..
                } if *of == fault && *last + 1 == packs.start => Some(last),
                Damage::Packs { .. } | Damage::Text(_) => None,
            });
        match follows {
            Some(last) => *last = packs.end - 1,
            None => self.push(Damage::Packs {
                first: packs.start,
                last: packs.end - 1,
                fault,
            }),
        }
    }

    fn push(&mut self, damage: Damage) {
        if self.listed.len() < LISTED_MAX {
            self.listed.push(damage);
        } else {
            self.more += 1;
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }

    /// One line for each, and one for those that are not listed.
    pub(crate) fn lines(&self) -> Vec<String> {
        let more = (self.more > 0).then(|| format!("and {} more", self.more));
        let listed = self.listed.iter().map(ToString::to_string);
        listed.chain(more).collect()
    }
}

impl fmt::Display for DamageReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.lines().join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_with_the_same_fault_are_one_line() {
        let mut damage_report = DamageReport::default();
        for sequence in 3..30 {
            damage_report.pack(sequence, Fault::Unreadable(String::new()));
        }
        damage_report.pack(31, Fault::Changed);
        damage_report.pack(31, Fault::NotAcknowledged);
        damage_report.pack(32, Fault::Changed);
        damage_report.packs(40..45, Fault::Missing);
        damage_report.packs(45..45, Fault::Missing);
        damage_report.add("else");
        assert_eq!(
            damage_report.to_string(),
            "results packs 3 to 29 cannot be read; results packs 31 to 32 have changed \
             since they were written; results pack 31 is not the acknowledged one; results packs 40 to 44 are \
             missing; else"
        );
    }

    #[test]
    fn excess_damages_are_counted() {
        let mut damage_report = DamageReport::default();
        for sequence in 0..50 {
            damage_report.pack(2 * sequence, Fault::Missing);
        }
        let lines = damage_report.lines();
        assert_eq!(lines.len(), LISTED_MAX + 1);
        assert_eq!(lines[LISTED_MAX], "and 30 more");
    }
}
