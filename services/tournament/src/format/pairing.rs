//! Pairings of a round of a Swiss tournament.

use std::cmp::Reverse;

/// Maximum number of attempts to find pairs without a repeated pairing.
const ATTEMPTS: u32 = 20_000;

/// The standing of an agent.
#[derive(Clone, Debug, Default)]
pub(super) struct Standing {
    /// Units won, including those of byes.
    pub(super) points: u64,
    /// Number of byes.
    pub(super) rests: u32,
    /// Opponents, once per round.
    pub(super) met: Vec<u16>,
}

impl Standing {
    fn times_met(&self, other: u16) -> usize {
        self.met.iter().filter(|&&met| met == other).count()
    }

    /// Number of opponents that the agent has met more than once.
    pub(super) fn met_again(&self) -> usize {
        let before = |(place, other): (usize, &u16)| self.met[..place].contains(other);
        self.met.iter().enumerate().filter(|&it| before(it)).count()
    }
}

/// The tables of a round, each in the order of the standings, and the agents with a bye.
///
/// The first unseated agent meets the next one in the standings that it has not met. If
/// this leaves other agents without such a partner, it meets the one after. If no such
/// pairs exist or the search limit is reached, and at tables of more than two, the agents
/// that met least often meet again. Agents are given by index.
pub(super) fn draw(agents: &[Standing], seats: usize) -> (Vec<Vec<u16>>, Vec<u16>) {
    let mut order: Vec<u16> = (0..agents.len() as u16).collect();
    order.sort_by_key(|&agent| Reverse(agents[usize::from(agent)].points));
    let mut resting = Vec::new();
    for _ in 0..agents.len() % seats {
        let places = 0..order.len();
        let rests = |place: usize| agents[usize::from(order[place])].rests;
        let last = places.min_by_key(|&place| (rests(place), Reverse(place)));
        resting.extend(last.map(|place| order.remove(place)));
    }
    let fresh = (seats == 2).then(|| fresh_pairs(agents, &order)).flatten();
    let tables = fresh.unwrap_or_else(|| tables(agents, order, seats));
    (tables, resting)
}

/// Pairs without a repeated pairing; `None` if none are found.
fn fresh_pairs(agents: &[Standing], order: &[u16]) -> Option<Vec<Vec<u16>>> {
    // The partner of each position, and the position at which the search for the next
    // partner starts: a backtracking search.
    let mut taken = vec![false; order.len()];
    let mut pairs: Vec<(usize, usize)> = Vec::with_capacity(order.len() / 2);
    let mut from = None;
    for _ in 0..ATTEMPTS {
        let Some(first) = taken.iter().position(|taken| !taken) else {
            let agents = pairs.iter().map(|&(a, b)| vec![order[a], order[b]]);
            return Some(agents.collect());
        };
        let of = &agents[usize::from(order[first])];
        let mut others = from.unwrap_or(first + 1)..order.len();
        let partner = others.find(|&it| !taken[it] && of.times_met(order[it]) == 0);
        if let Some(partner) = partner {
            (taken[first], taken[partner]) = (true, true);
            pairs.push((first, partner));
            from = None;
        } else {
            let (first, partner) = pairs.pop()?;
            (taken[first], taken[partner]) = (false, false);
            from = Some(partner + 1);
        }
    }
    None
}

/// Tables of agents with similar standings. Each begins with the first unseated agent and
/// adds agents just behind it; agents that met the table least often come first.
fn tables(agents: &[Standing], mut order: Vec<u16>, seats: usize) -> Vec<Vec<u16>> {
    let mut tables = Vec::with_capacity(order.len() / seats);
    while order.len() >= seats {
        let mut table = vec![order.remove(0)];
        while table.len() < seats {
            // Enough candidates for a choice, but not so many that the first meets the
            // last.
            let near = 0..order.len().min(2 * seats);
            let met = |place: usize| -> usize {
                let of = &agents[usize::from(order[place])];
                table.iter().map(|&other| of.times_met(other)).sum()
            };
            let next = near.min_by_key(|&place| (met(place), place));
            table.extend(next.map(|place| order.remove(place)));
        }
        tables.push(table);
    }
    tables
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_swiss_repeats_no_pair() {
        for count in [2, 4, 6, 8, 16] {
            let mut agents = vec![Standing::default(); count];
            for _ in 0..count / 2 {
                let (tables, resting) = draw(&agents, 2);
                assert!(resting.is_empty());
                assert_eq!(tables.len(), count / 2);
                for table in tables {
                    let [a, b] = table[..] else { panic!("a pair") };
                    assert_eq!(agents[usize::from(a)].times_met(b), 0, "{count} agents");
                    agents[usize::from(a)].met.push(b);
                    agents[usize::from(b)].met.push(a);
                    agents[usize::from(a)].points += 2;
                }
            }
        }
    }

    #[test]
    fn byes_go_to_the_last_in_turn() {
        let mut agents = vec![Standing::default(); 5];
        for round in 0..5_u32 {
            let (_, resting) = draw(&agents, 2);
            let [rests] = resting[..] else { panic!("one") };
            assert_eq!(agents[usize::from(rests)].rests, 0, "round {round}");
            agents[usize::from(rests)].rests += 1;
        }
        agents[2].points = 7;
        let (tables, resting) = draw(&agents, 2);
        assert_eq!(tables[0][0], 2, "the first is seated first");
        assert_eq!(resting, [4], "the last of those who rested alike");
    }

    #[test]
    fn rematches_are_of_rarest_pairs() {
        let mut agents = vec![Standing::default(); 2];
        agents[0].met = vec![1];
        agents[1].met = vec![0];
        assert_eq!(draw(&agents, 2).0, [[0, 1]]);
    }

    #[test]
    fn tables_of_four_group_equal_scores() {
        let mut agents = vec![Standing::default(); 9];
        for (number, agent) in agents.iter_mut().enumerate() {
            agent.points = 100 - number as u64;
        }
        let (tables, resting) = draw(&agents, 4);
        assert_eq!(tables, [[0, 1, 2, 3], [4, 5, 6, 7]]);
        assert_eq!(resting, [8]);
    }
}
