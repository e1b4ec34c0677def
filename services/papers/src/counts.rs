//! Counts of findings.

use serde::Serialize;

use crate::{
    fields::Reproducibility,
    finding::{Agreement, Finding},
};

/// Number of findings by agreement and kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FindingCounts {
    /// Within the bounds, of any kind.
    pub within: usize,
    /// Within, sampled: from games, by the rule for figures with chance.
    pub within_sampled: usize,
    /// Within, exact: our figure has no chance.
    pub within_exact: usize,
    /// Within, ordinal: compared in sign or order only.
    pub within_ordinal: usize,
    /// Within, dependent: the figure follows from earlier ones.
    pub within_dependent: usize,
    /// Within by construction.
    pub within_by_construction: usize,
    /// Outside the bounds.
    pub outside: usize,
    /// Not comparable.
    pub not_comparable: usize,
    /// Outside, although the figure is reproducible.
    pub failed: usize,
}

impl FindingCounts {
    /// Counts findings.
    pub fn of<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> Self {
        let mut sums = Self::default();
        for finding in findings {
            match finding.verdict {
                Agreement::Within => {
                    sums.within += 1;
                    *sums.kind_of(finding) += 1;
                }
                Agreement::Outside => sums.outside += 1,
                Agreement::NotComparable => sums.not_comparable += 1,
            }
            sums.failed += usize::from(finding.fails());
        }
        sums
    }

    /// The counter for the kind of a finding that is within.
    fn kind_of(&mut self, finding: &Finding) -> &mut usize {
        if finding.is_by_construction() {
            &mut self.within_by_construction
        } else if finding.is_dependent() {
            &mut self.within_dependent
        } else if finding.expected == Reproducibility::Qualitative.letter() {
            &mut self.within_ordinal
        } else if finding.exact {
            &mut self.within_exact
        } else {
            &mut self.within_sampled
        }
    }
}
