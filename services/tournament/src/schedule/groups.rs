//! Groups of agents and their numbers.
//!
//! A group is its agents in ascending order; its number is its position among all groups in
//! lexicographic order. If an agent may have several seats, groups are multisets: adding 0,
//! 1, 2, … to the members maps them to combinations of that many more agents, in the same
//! order.

/// All groups of `seats` of so many agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Groups {
    /// Number of elements for combinations; larger than the number of agents if agents may
    /// repeat.
    agents: u64,
    seats: usize,
    repeats: bool,
    count: u64,
}

impl Groups {
    /// `None` if there are more groups than can be counted.
    pub(super) fn new(agents: usize, seats: usize, repeats: bool) -> Option<Self> {
        let more = if repeats { seats as u64 - 1 } else { 0 };
        let agents = agents as u64 + more;
        Some(Self {
            agents,
            seats,
            repeats,
            count: binomial(agents, seats as u64)?,
        })
    }

    pub(super) fn seats(self) -> usize {
        self.seats
    }

    pub(super) fn count(self) -> u64 {
        self.count
    }

    /// The agents of a group, ascending.
    pub(super) fn members(self, group: u64) -> Vec<u16> {
        assert!(group < self.count, "group {group} of {}", self.count);
        let mut rank = group;
        let mut from = 0;
        (0..self.seats)
            .map(|place| {
                let rest = (self.seats - place) as u64;
                let agent = self.member(from, rest, &mut rank);
                from = agent + 1;
                (agent - self.shift(place)) as u16
            })
            .collect()
    }

    /// The offset of the member at a position in the combination.
    fn shift(self, place: usize) -> u64 {
        if self.repeats { place as u64 } else { 0 }
    }

    /// The smallest member of the combination of `rest` agents, `from` and above, with
    /// number `rank`; subtracts the number of combinations before it from the rank.
    fn member(self, from: u64, rest: u64, rank: &mut u64) -> u64 {
        // The number of combinations that begin below `agent` is the total minus those
        // within `agent..`. The member is the last agent for which it does not exceed
        // `rank`.
        let all = self.choose(from, rest);
        let below = |agent: u64| all - self.choose(agent, rest);
        let (mut low, mut high) = (from, self.agents - rest);
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            if below(middle) <= *rank {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        *rank -= below(low);
        low
    }

    /// Number of combinations of `rest` agents, `from` and above.
    fn choose(self, from: u64, rest: u64) -> u64 {
        binomial(self.agents - from, rest).expect("no more than the groups")
    }

    /// The number of the group of these agents, in any order.
    pub(super) fn number(self, agents: &[u16]) -> u64 {
        let mut sorted = agents.to_vec();
        sorted.sort_unstable();
        let mut from = 0;
        let mut number = 0;
        for (place, &agent) in sorted.iter().enumerate() {
            let rest = (self.seats - place) as u64;
            let agent = u64::from(agent) + self.shift(place);
            number += self.choose(from, rest) - self.choose(agent, rest);
            from = agent + 1;
        }
        number
    }
}

/// Binomial coefficient `n` over `k`; `None` on overflow.
fn binomial(n: u64, k: u64) -> Option<u64> {
    if k > n {
        return Some(0);
    }
    let mut value: u128 = 1;
    for step in 0..u128::from(k.min(n - k)) {
        value = value.checked_mul(u128::from(n) - step)? / (step + 1);
    }
    value.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn group_numbers_round_trip() {
        for (agents, seats, repeats) in [
            (2, 2, false),
            (9, 3, false),
            (10, 4, false),
            (2, 3, true),
            (2, 4, true),
            (5, 3, true),
        ] {
            let groups = Groups::new(agents, seats, repeats).expect("few");
            let mut last: Option<Vec<u16>> = None;
            for number in 0..groups.count() {
                let members = groups.members(number);
                assert!(members.is_sorted());
                assert!(members.iter().all(|&agent| usize::from(agent) < agents));
                assert!(last.as_ref() < Some(&members), "{last:?} then {members:?}");
                assert_eq!(groups.number(&members), number);
                last = Some(members);
            }
        }
    }

    #[test]
    fn repeated_agents_form_multisets() {
        let groups = Groups::new(2, 3, true).expect("few");
        let all: Vec<Vec<u16>> = (0..groups.count()).map(|it| groups.members(it)).collect();
        assert_eq!(all, [[0, 0, 0], [0, 0, 1], [0, 1, 1], [1, 1, 1]]);
    }
}
