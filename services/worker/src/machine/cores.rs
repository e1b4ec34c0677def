//! Sets of cores, as Linux lists them: `0-3,8`.

use std::{collections::BTreeSet, fmt, str::FromStr};

/// The highest number of a core, and one more.
const CORES_MAX: usize = 1024;

/// A set of cores by number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CoreSet(BTreeSet<usize>);

impl CoreSet {
    /// Its cores in ascending order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = usize> {
        self.0.iter().copied()
    }

    /// True if it has this core.
    #[must_use]
    pub fn has(&self, core: usize) -> bool {
        self.0.contains(&core)
    }

    /// Number of cores.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True if it has no core.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The first core of each group of `siblings`, which share execution units.
    pub(super) fn without_siblings(&self, siblings: impl Fn(usize) -> Self) -> Self {
        let mut kept = Self::default();
        for core in self.iter() {
            if !siblings(core).iter().any(|it| kept.has(it)) {
                kept.0.insert(core);
            }
        }
        kept
    }
}

impl FromIterator<usize> for CoreSet {
    fn from_iter<I: IntoIterator<Item = usize>>(cores: I) -> Self {
        Self(cores.into_iter().collect())
    }
}

impl FromStr for CoreSet {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("\"{text}\" is not a list of cores: expected for example \"0-3,8\"");
        let mut cores = BTreeSet::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let first: usize = first.trim().parse().map_err(|_| wrong())?;
            let last: usize = last.trim().parse().map_err(|_| wrong())?;
            if first > last || last >= CORES_MAX {
                return Err(wrong());
            }
            cores.extend(first..=last);
        }
        Ok(Self(cores))
    }
}

impl fmt::Display for CoreSet {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut comma = "";
        let mut cores = self.iter().peekable();
        while let Some(first) = cores.next() {
            let mut last = first;
            while let Some(next) = cores.next_if_eq(&(last + 1)) {
                last = next;
            }
            match last == first {
                true => write!(out, "{comma}{first}")?,
                false => write!(out, "{comma}{first}-{last}")?,
            }
            comma = ",";
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_and_written() {
        for (text, shown) in [("0-3,8", "0-3,8"), ("5", "5"), ("2,1,0,9-9", "0-2,9")] {
            let cores: CoreSet = text.parse().expect("a list");
            assert_eq!(cores.to_string(), shown);
        }
        for wrong in ["", "a", "3-1", "-1", "0-", "0,,1", "4096"] {
            let problem = wrong.parse::<CoreSet>().expect_err(wrong);
            assert!(problem.contains("is not a list of cores"), "{problem}");
        }
    }

    #[test]
    fn siblings_are_kept_apart() {
        let cores: CoreSet = "0-3,6".parse().expect("a list");
        // 0 and 2, 1 and 3, 4 and 6.
        let siblings = |core: usize| match core {
            0 | 2 => [0, 2].into_iter().collect(),
            1 | 3 => [1, 3].into_iter().collect(),
            _ => [4, 6].into_iter().collect(),
        };
        assert_eq!(cores.without_siblings(siblings).to_string(), "0-1,6");
    }
}
