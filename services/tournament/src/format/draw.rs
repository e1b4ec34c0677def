//! The draw of a knockout.

/// Agents that meet in a round of a knockout.
#[derive(Clone, Debug)]
pub(super) struct KnockoutMatch {
    pub(super) agents: Vec<u16>,
    /// Number of agents that advance.
    pub(super) on: usize,
    /// Part of the draw, if it has several.
    pub(super) part: Option<&'static str>,
}

impl KnockoutMatch {
    pub(super) fn new(agents: Vec<u16>, on: usize) -> Self {
        Self {
            agents,
            on,
            part: None,
        }
    }
}

/// The pairings of a knockout, round by round.
pub(super) trait Draw: std::fmt::Debug + Send + Sync {
    /// The matches of the next round; empty if there is a winner.
    fn tables(&self) -> Vec<KnockoutMatch>;

    /// Takes the results of the round's matches in order, each ranked from the best, and
    /// returns the agents that are out.
    fn settle(&mut self, ranked: &[Vec<u16>]) -> Vec<u16>;
}
