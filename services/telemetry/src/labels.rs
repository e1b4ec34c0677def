//! Limits of label values: a name that a client can choose must not become a series.

use std::collections::BTreeSet;

use parking_lot::RwLock;

/// The label value of unknown names, and of those above the limit.
pub const OTHER: &str = "other";

/// Maximum number of agents with series of their own.
pub const MAX_AGENTS: usize = 200;

/// The agents and rulesets with series of their own.
#[derive(Debug)]
pub(crate) struct Labels {
    rulesets: BTreeSet<String>,
    agents: RwLock<BTreeSet<String>>,
}

impl Labels {
    pub(crate) fn new<R: Into<String>>(rulesets: impl IntoIterator<Item = R>) -> Self {
        Self {
            rulesets: rulesets.into_iter().map(Into::into).collect(),
            agents: RwLock::default(),
        }
    }

    /// Gives an agent series of its own if there is room. Returns its label.
    pub(crate) fn admit<'a>(&self, agent: &'a str) -> &'a str {
        let mut agents = self.agents.write();
        if !agents.contains(agent) {
            if agents.len() >= MAX_AGENTS {
                return OTHER;
            }
            agents.insert(agent.to_owned());
        }
        agent
    }

    /// The label of an agent: its name if it was admitted.
    pub(crate) fn agent<'a>(&self, agent: &'a str) -> &'a str {
        if self.agents.read().contains(agent) {
            agent
        } else {
            OTHER
        }
    }

    /// The label of a ruleset: its name if it is in the list.
    pub(crate) fn ruleset<'a>(&self, ruleset: &'a str) -> &'a str {
        if self.rulesets.contains(ruleset) {
            ruleset
        } else {
            OTHER
        }
    }
}

/// The value if it is in the list, else [`OTHER`].
pub(crate) fn one_of<'a>(value: &'a str, known: &[&str]) -> &'a str {
    if known.contains(&value) { value } else { OTHER }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excess_agents_share_a_label() {
        let labels = Labels::new(["cowry"]);
        assert_eq!(labels.admit("random"), "random");
        assert_eq!(labels.agent("random"), "random");
        assert_eq!(labels.agent("stranger"), OTHER);
        assert_eq!(labels.ruleset("cowry"), "cowry");
        assert_eq!(labels.ruleset("go"), OTHER);
    }

    #[test]
    fn agents_above_the_cap_share_one_label() {
        let labels = Labels::new(["cowry"]);
        let names: Vec<String> = (0..=MAX_AGENTS).map(|n| format!("agent-{n}")).collect();
        for name in &names {
            labels.admit(name);
        }
        assert_eq!(labels.agent(&names[MAX_AGENTS - 1]), names[MAX_AGENTS - 1]);
        assert_eq!(labels.agent(&names[MAX_AGENTS]), OTHER);
        assert_eq!(labels.admit(&names[0]), names[0], "admitted ones stay");
    }
}
