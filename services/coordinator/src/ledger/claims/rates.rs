//! How often agents have faults on the workers of each owner, and which rates differ.

use arena_tournament::Rate;

use super::Claims;
use crate::ledger::Owner;

/// A rate of faults is higher if chance would explain it with at most this probability.
const LEVEL: f64 = 0.01;
/// The same for rates alone, of all agents and owners.
const LEVEL_OF_RATES: f64 = 0.001;
/// Maximum owners whose rates are known for an agent. Further ones count together.
const OWNERS_MAX: usize = 64;

/// How often an agent has such faults.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rates {
    pub(super) games: Rate,
    /// In audits of games without them.
    pub(super) again: Rate,
    /// In audits of games with them.
    pub(super) of_claims: Rate,
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Play {
    Game,
    Again,
    OfClaim,
}

impl Claims {
    /// Counts a game of an agent on the workers of an owner, or an audit.
    pub(super) fn count(&mut self, agent: u16, owner: Option<&Owner>, has_fault: bool, play: Play) {
        let rates = self.rates.entry(agent).or_default();
        let known = rates.iter().position(|(it, _)| it.as_ref() == owner);
        let place = known.unwrap_or_else(|| {
            let owner = owner.filter(|_| rates.len() < OWNERS_MAX).cloned();
            let known = rates.iter().position(|(it, _)| *it == owner);
            known.unwrap_or_else(|| {
                rates.push((owner, Rates::default()));
                rates.len() - 1
            })
        });
        let rates = &mut rates[place].1;
        let rate = match play {
            Play::Game => &mut rates.games,
            Play::Again => &mut rates.again,
            Play::OfClaim => &mut rates.of_claims,
        };
        rate.add(has_fault);
    }

    /// Rates in games that differ between one owner and all others: agents and owners.
    pub(super) fn uneven(&self) -> Vec<(u16, Owner)> {
        let mut found = Vec::new();
        for (&agent, rates) in &self.rates {
            let rates = rates.iter();
            let known = rates.filter_map(|(owner, rates)| Some((owner.as_ref()?, rates.games)));
            let all: Rate = known.clone().map(|(_, rate)| rate).sum();
            for (owner, own) in known {
                let others = Rate {
                    games: all.games - own.games,
                    events: all.events - own.events,
                };
                if own.is_higher(others, LEVEL_OF_RATES) || others.is_higher(own, LEVEL_OF_RATES) {
                    found.push((agent, owner.clone()));
                }
            }
        }
        found
    }

    /// True if an agent fails significantly more often when it is asked again.
    pub(super) fn fails_again(&self, agent: u16) -> bool {
        let rates = self.rates.get(&agent).into_iter().flatten();
        let sum = |of: fn(&Rates) -> Rate| -> Rate { rates.clone().map(|(_, it)| of(it)).sum() };
        sum(|it| it.again).is_higher(sum(|it| it.games), LEVEL_OF_RATES)
    }

    /// True if the agent usually fails as often as this owner reports.
    pub(super) fn is_usual(&self, agent: u16, owner: Option<&Owner>) -> bool {
        let (mut own, mut all, mut most) = (Rate::default(), Rate::default(), Rate::default());
        let mut others = 0;
        for (of, rates) in self.rates.get(&agent).into_iter().flatten() {
            // Of the audits of claims, an owner's own ones were not drawn.
            let own_rate = [rates.games, rates.again].into_iter().sum();
            let rate = [own_rate, rates.of_claims].into_iter().sum();
            if of.as_ref() == owner {
                own = own_rate;
            } else if of.is_some() {
                // Unknown ones may be this one.
                all = [all, rate].into_iter().sum();
                others += 1;
                if rate.events > most.events {
                    most = rate;
                }
            }
        }
        let rest = match others {
            0 | 1 => all,
            _ => Rate {
                games: all.games - most.games,
                events: all.events - most.events,
            },
        };
        own.events > 0
            && all.events > 0
            && [all, rest].into_iter().all(|it| !own.is_higher(it, LEVEL))
    }

    /// True if known owners other than this one report faults of an agent.
    pub(super) fn fails_with_others(&self, agent: u16, owner: Option<&Owner>) -> bool {
        let rates = self.rates.get(&agent).into_iter().flatten();
        let mut others = rates.filter(|(of, _)| of.is_some() && of.as_ref() != owner);
        others.any(|(_, it)| it.games.events + it.again.events + it.of_claims.events > 0)
    }

    pub(super) fn are_usual(&self, agents: &[u16], owner: Option<&Owner>) -> bool {
        agents.iter().all(|&agent| self.is_usual(agent, owner))
    }
}
