//! A column of the standings, and the data by which a table decides whether it shows the column.

use arena_wire::v1;

use crate::standings::datum::Read;

/// Formats the value of an agent; true if results decide which games are played or when the
/// tournament ends.
type Format = fn(&v1::AgentStanding, bool) -> String;

/// The data by which a terminal's table decides on its columns.
pub(crate) struct Table<'a> {
    pub(crate) standings: &'a v1::Standings,
    pub(crate) wide: bool,
    /// True if places follow Swiss points.
    pub(crate) swiss: bool,
    pub(crate) rated: bool,
    /// True if the agents are in the order of their scores.
    pub(crate) by_score: bool,
}

impl Table<'_> {
    pub(super) fn any(&self, has: fn(&v1::AgentStanding) -> bool) -> bool {
        self.standings.agents.iter().any(has)
    }
}

/// A column.
pub(crate) struct Column {
    /// The key in JSON, CSV and Parquet.
    pub(crate) key: &'static str,
    /// The value there; `None` if the column is for people only.
    pub(super) read: Option<Read<v1::AgentStanding>>,
    head: &'static str,
    /// The heading, if it depends on the standings.
    head_of: Option<fn(&v1::Standings) -> String>,
    text: Format,
    /// Heading and text in reports, if they are not those of a terminal.
    in_reports: Option<(&'static str, Format)>,
    /// Priority for hiding the column in a table that is too wide; 0 is never hidden, `None`
    /// is not shown.
    pub(crate) spare: fn(&Table<'_>) -> Option<usize>,
    /// Label and description in the help.
    pub(super) help: Option<(&'static str, &'static str)>,
}

impl Column {
    pub(super) const fn new(key: &'static str, read: Read<v1::AgentStanding>) -> Self {
        Self {
            read: Some(read),
            ..Self::for_people(key)
        }
    }

    pub(super) const fn for_people(key: &'static str) -> Self {
        Self {
            key,
            read: None,
            head: "",
            head_of: None,
            text: |_, _| String::new(),
            in_reports: None,
            spare: |_| Some(0),
            help: None,
        }
    }

    pub(super) const fn shown(self, head: &'static str, text: Format) -> Self {
        Self { head, text, ..self }
    }

    pub(super) const fn head_of(self, head: fn(&v1::Standings) -> String) -> Self {
        Self {
            head_of: Some(head),
            ..self
        }
    }

    pub(super) const fn in_reports(self, head: &'static str, text: Format) -> Self {
        Self {
            in_reports: Some((head, text)),
            ..self
        }
    }

    pub(super) const fn spare(self, spare: fn(&Table<'_>) -> Option<usize>) -> Self {
        Self { spare, ..self }
    }

    pub(super) const fn help(self, label: &'static str, text: &'static str) -> Self {
        Self {
            help: Some((label, text)),
            ..self
        }
    }

    /// The heading in a terminal.
    pub(crate) fn head(&self, standings: &v1::Standings) -> String {
        self.head_of
            .map_or_else(|| self.head.to_owned(), |head| head(standings))
    }

    /// The text of an agent in a terminal.
    pub(crate) fn text(&self, agent: &v1::AgentStanding, adaptive: bool) -> String {
        (self.text)(agent, adaptive)
    }

    /// The heading in a report.
    pub(crate) fn report_head(&self, adaptive: bool) -> String {
        let standings = || v1::Standings {
            adaptive,
            ..v1::Standings::default()
        };
        self.in_reports
            .map_or_else(|| self.head(&standings()), |(head, _)| head.to_owned())
    }

    /// The text of an agent in a report.
    pub(crate) fn report_text(&self, agent: &v1::AgentStanding, adaptive: bool) -> String {
        let text = self.in_reports.map_or(self.text, |(_, text)| text);
        text(agent, adaptive)
    }
}
