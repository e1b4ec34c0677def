//! Comparison of a published figure with ours.

use arena_tournament::published::{self, Figure, Part, Z_MAX};
use serde::Serialize;

use crate::{
    fields::{FigureKind, Reproducibility},
    measure::Measure,
    quantity::{Aggregation, FigureSource},
    tables::TableCell,
};

/// Whether our figure agrees with the published one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Agreement {
    /// Both agree within the bounds of chance.
    #[serde(rename = "within")]
    Within,
    /// They differ by more.
    #[serde(rename = "outside")]
    Outside,
    /// They cannot be compared.
    #[serde(rename = "not comparable")]
    NotComparable,
}

impl Agreement {
    /// Name, such as `within`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Within => "within",
            Self::Outside => "outside",
            Self::NotComparable => "not comparable",
        }
    }
}

/// A published figure compared with ours.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// Id of the table.
    pub table: &'static str,
    /// Row of the table.
    pub row: String,
    /// Column of the table.
    pub column: String,
    /// The published figure.
    pub published: Option<f64>,
    /// Games or observations behind the published figure.
    pub published_of: Option<u64>,
    /// Our figure in the unit of the published one: a count is scaled to as many games.
    pub ours: Option<f64>,
    /// Lower end of its 95 % confidence interval.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Games or observations behind our figure; none if it has no chance or is a time.
    pub ours_of: Option<u64>,
    /// Published minus ours, in standard errors of the published figure.
    pub z: Option<f64>,
    /// Letter of [`Reproducibility`].
    pub expected: &'static str,
    /// Rule of agreement.
    pub rule: Option<String>,
    /// Whether the two agree.
    pub verdict: Agreement,
    /// Why they cannot be compared, or may differ.
    pub reason: Option<String>,
    /// True if our figure has no chance: it follows from the rules, from an agent's data,
    /// or from the one game of deterministic agents.
    pub exact: bool,
    /// True by construction, so that it confirms nothing.
    pub by_construction: bool,
    /// True if it follows from earlier figures, so that it confirms nothing more.
    pub dependent: bool,
    /// True if it is a measured time, which differs from run to run.
    pub timed: bool,
}

/// Reason: the event did not happen in our games.
const UNSEEN: &str = "the event did not occur in these games; play more with --games";

/// Minimum number of games for a verdict, or the number in the table if that is lower: the
/// rules of acceptance take our share for the truth.
const GAMES_MIN: u64 = 2000;
/// Reason: fewer games than that.
pub(crate) const TOO_FEW: &str = "too few games for a verdict; play more with --games, or omit it";

/// A verdict is decided if it is the same at both ends of our figure ± this many standard
/// errors. The true figure lies outside once in 16,000 figures.
const STANDARD_ERRORS: f64 = 4.0;
/// Reason: the verdict differs between the two ends.
pub(crate) const UNDECIDED: &str = "too near the bound for a verdict; play more with --games";

impl Finding {
    /// True if the figure is within its bounds by construction, so that it confirms nothing.
    #[must_use]
    pub fn is_by_construction(&self) -> bool {
        self.by_construction && self.verdict == Agreement::Within
    }

    /// True if the figure is within its bounds and follows from earlier figures.
    #[must_use]
    pub fn is_dependent(&self) -> bool {
        self.dependent && self.verdict == Agreement::Within && !self.by_construction
    }

    /// Withdraws the verdict if the games are too few for the rules of acceptance.
    pub(crate) fn of_few_games(mut self) -> Self {
        let few = self.ours_of.is_some_and(|games| games < GAMES_MIN);
        if few && self.verdict != Agreement::NotComparable {
            self.verdict = Agreement::NotComparable;
            self.reason = Some(TOO_FEW.to_owned());
        }
        self
    }

    pub(crate) fn new(table: &'static str, cell: &TableCell, estimate: Option<Figure>) -> Self {
        let ours = estimate.map(|estimate| cell.in_its_unit(estimate));
        let decided = ours.and_then(|ours| cell.decided(ours));
        let (verdict, reason) = match (cell.fields.expect, decided, ours) {
            (Reproducibility::None, ..) => (None, cell.fields.reason.clone()),
            (_, None, None) => (None, Some(UNSEEN.to_owned())),
            (_, None, Some(_)) => (None, Some(UNDECIDED.to_owned())),
            (_, verdict, _) => (verdict, cell.fields.reason.clone()),
        };
        let source = { cell.measure.as_ref() }.map(|measure| measure.quantity.source());
        let sampled = ours.filter(|_| source == Some(FigureSource::Games) && !cell.exact);
        Self {
            table,
            row: cell.row.clone(),
            column: cell.column.clone(),
            published: cell.fields.published,
            published_of: cell.fields.of,
            ours: ours.map(|ours| ours.value),
            low: ours.and_then(|ours| ours.interval).map(|ends| ends.low),
            high: ours.and_then(|ours| ours.interval).map(|ends| ends.high),
            ours_of: sampled.map(|ours| ours.count),
            z: ours.and_then(|ours| cell.z(ours)),
            expected: cell.fields.expect.letter(),
            rule: cell.rule(),
            verdict: verdict.unwrap_or(Agreement::NotComparable),
            reason,
            exact: cell.exact,
            by_construction: cell.fields.by_construction,
            dependent: cell.dependent,
            timed: source == Some(FigureSource::Clock),
        }
    }

    /// True if the figure is reproducible and outside its bounds.
    #[must_use]
    pub fn fails(&self) -> bool {
        self.verdict == Agreement::Outside
            && self.expected == Reproducibility::Reproducible.letter()
    }
}

/// The figure of a measure over all blocks. A figure without chance has no interval.
pub(crate) fn estimate(measure: &Measure, blocks: &[Vec<Part>]) -> Option<Figure> {
    let whole = |games: &Vec<Part>| Part {
        sum: games.iter().map(|part| part.sum).sum(),
        count: games.iter().map(|part| part.count).sum(),
    };
    let alike = |games: &Vec<Part>| Part {
        sum: games.windows(2).all(|two| two[0] == two[1]).into(),
        count: 1,
    };
    let each = |part: &dyn Fn(&Vec<Part>) -> Part| blocks.iter().map(part).collect::<Vec<_>>();
    match measure.quantity.aggregation() {
        Aggregation::Share => published::share(&each(&whole)),
        Aggregation::Mean => published::mean(&each(&whole)),
        Aggregation::Alike => published::share(&each(&alike)),
        Aggregation::Most => {
            let parts = || blocks.iter().flatten().filter(|part| part.count > 0);
            let most = parts().map(|part| part.sum).max()?;
            Some(Figure {
                count: parts().map(|part| part.count).sum(),
                ..exact(most as f64)
            })
        }
    }
}

/// A figure without chance.
pub(crate) fn exact(value: f64) -> Figure {
    Figure {
        value,
        interval: None,
        sd: None,
        count: 1,
    }
}

impl TableCell {
    fn factor(&self) -> f64 {
        match self.fields.kind {
            FigureKind::Count => self.fields.of.map_or(1.0, |of| of as f64),
            FigureKind::Percent => 100.0,
            FigureKind::Share | FigureKind::Mean | FigureKind::Value => 1.0,
        }
    }

    fn in_its_unit(&self, estimate: Figure) -> Figure {
        let scaled = estimate.scaled(self.factor() * self.fields.times.unwrap_or(1.0), 0.0);
        match self.fields.above {
            Some(base) => scaled.scaled(100.0 / base, -100.0),
            None => scaled,
        }
    }

    /// The published figure as a number of games, and our share.
    fn as_count(&self, ours: Figure) -> Option<(f64, u64, f64)> {
        let of = self.fields.of?;
        let games = match self.fields.kind {
            FigureKind::Count => self.fields.published?,
            FigureKind::Percent => self.fields.published? / 100.0 * of as f64,
            FigureKind::Share => self.fields.published? * of as f64,
            FigureKind::Mean | FigureKind::Value => return None,
        };
        Some((games, of, ours.value / self.factor()))
    }

    fn z(&self, ours: Figure) -> Option<f64> {
        if let Some((games, of, share)) = self.as_count(ours) {
            return published::z_of_count(games, of, share);
        }
        let (published, of) = (self.fields.published?, self.fields.of?);
        published::z_of_mean(published, of, ours.value, ours.sd?)
    }

    fn agrees(&self, ours: Figure) -> bool {
        let fields = &self.fields;
        if fields.is_bounded() {
            let apart = fields
                .published
                .map(|published| (published - ours.value).abs());
            let is_near = |within| apart.is_some_and(|apart| apart <= within);
            // A figure with chance must have its whole interval within the bounds.
            let ends = ours.interval.map(|ends| (ends.low, ends.high));
            let (low, high) = ends.unwrap_or((ours.value, ours.value));
            return fields.within.is_none_or(is_near)
                && fields.at_least.is_none_or(|least| low >= least)
                && fields.at_most.is_none_or(|most| high <= most);
        }
        if let Some((games, of, share)) = self.as_count(ours) {
            return match fields.z_max {
                Some(z_max) => published::z_of_count(games, of, share)
                    .map_or(games == of as f64 * share, |z| z.abs() <= z_max),
                None => published::count_agrees(games, of, share),
            };
        }
        let (sd, z_max) = (ours.sd.unwrap_or(0.0), fields.z_max.unwrap_or(Z_MAX));
        fields
            .published
            .zip(fields.of)
            .is_some_and(|(published, of)| {
                published::mean_agrees(published, of, ours.value, sd, z_max)
            })
    }

    /// The verdict of the rule; none if the uncertainty of our figure could reverse it.
    fn decided(&self, ours: Figure) -> Option<Agreement> {
        let verdict = |ours| match self.agrees(ours) {
            true => Agreement::Within,
            false => Agreement::Outside,
        };
        let found = verdict(ours);
        let error = ours.sd.map_or(0.0, |sd| sd / (ours.count as f64).sqrt());
        let is_share = !matches!(self.fields.kind, FigureKind::Mean | FigureKind::Value)
            && self.fields.times.is_none()
            && self.fields.above.is_none();
        let mut ends = [-STANDARD_ERRORS, STANDARD_ERRORS].into_iter();
        let same = ends.all(|errors| {
            let value = ours.value + errors * error;
            let value = match is_share {
                true => value.clamp(0.0, self.factor()),
                false => value,
            };
            verdict(ours.scaled(1.0, value - ours.value)) == found
        });
        same.then_some(found)
    }

    /// True if the verdict is open and more games could decide it.
    pub(crate) fn wants_more(&self, estimate: Option<Figure>) -> bool {
        let ours = estimate.map(|estimate| self.in_its_unit(estimate));
        self.fields.expect != Reproducibility::None
            && ours.is_some_and(|ours| self.decided(ours).is_none())
    }

    /// The rule of [`TableCell::agrees`] as text; none for a figure that is not reproducible.
    fn rule(&self) -> Option<String> {
        if self.fields.expect == Reproducibility::None {
            return None;
        }
        if self.fields.is_bounded() {
            let range = match (self.fields.at_least, self.fields.at_most) {
                (Some(least), Some(most)) => Some(format!("{least} to {most}")),
                (Some(least), None) => Some(format!("at least {least}")),
                (None, Some(most)) => Some(format!("at most {most}")),
                (None, None) => None,
            };
            let near = self.fields.within;
            let near = near.map(|within| format!("published ±{within}"));
            let parts: Vec<String> = near.into_iter().chain(range).collect();
            return Some(parts.join(", "));
        }
        let of = self.fields.of.unwrap_or(0);
        Some(match (self.fields.kind, self.fields.z_max) {
            (FigureKind::Count | FigureKind::Percent | FigureKind::Share, None) => {
                format!("|k - np| <= {Z_MAX} sqrt(np(1 - p)) + 0.5, n = {of}")
            }
            (FigureKind::Mean | FigureKind::Value, None) => {
                format!("|difference| <= {Z_MAX} sd / sqrt(n), n = {of}")
            }
            (_, Some(z_max)) => format!("|z| <= {z_max}, n = {of}"),
        })
    }
}
