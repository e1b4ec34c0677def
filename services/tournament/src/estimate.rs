//! A number with its intervals.

/// An interval, given by its ends.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    pub(crate) const fn new(low: f64, high: f64) -> Self {
        Self { low, high }
    }

    /// The interval of this half-width.
    pub(crate) fn around(centre: f64, half: f64) -> Self {
        Self::new(centre - half, centre + half)
    }

    /// The interval of an increasing function of the number.
    #[must_use]
    pub fn map(self, function: impl Fn(f64) -> f64) -> Self {
        Self::new(function(self.low), function(self.high))
    }

    /// The interval of `sum` minus the number.
    #[must_use]
    pub fn turned(self, sum: f64) -> Self {
        Self::new(sum - self.high, sum - self.low)
    }

    /// True if the interval contains the number.
    #[must_use]
    pub fn contains(self, number: f64) -> bool {
        self.low <= number && number <= self.high
    }

    /// The interval, stretched to contain the number.
    pub(crate) fn stretched(self, number: f64) -> Self {
        Self::new(self.low.min(number), self.high.max(number))
    }
}

/// A number with its two 95 % intervals. An interval is `None` if it is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// The number itself.
    pub value: f64,
    /// The confidence interval of a number of games that was fixed in advance.
    pub fixed: Option<Interval>,
    /// The interval that is valid at any time, however often one looks.
    pub anytime: Option<Interval>,
}

impl Estimate {
    /// The interval that is valid when a tournament ends: the anytime-valid one if results
    /// decide which games are played or when the tournament ends.
    #[must_use]
    pub fn interval(self, adaptive: bool) -> Option<Interval> {
        if adaptive { self.anytime } else { self.fixed }
    }

    /// The estimate of an increasing function of the number.
    #[must_use]
    pub fn map(self, function: impl Fn(f64) -> f64) -> Self {
        Self {
            value: function(self.value),
            fixed: self.fixed.map(|ends| ends.map(&function)),
            anytime: self.anytime.map(|ends| ends.map(&function)),
        }
    }

    /// The estimate of `sum` minus the number, such as the opponent's share of `sum`.
    #[must_use]
    pub fn turned(self, sum: f64) -> Self {
        Self {
            value: sum - self.value,
            fixed: self.fixed.map(|ends| ends.turned(sum)),
            anytime: self.anytime.map(|ends| ends.turned(sum)),
        }
    }

    /// The estimate without its anytime-valid interval.
    pub(crate) fn fixed_only(self) -> Self {
        Self {
            anytime: None,
            ..self
        }
    }
}
