//! Sets of agents that the games compare, and how far.
//!
//! Strengths have a finite maximum likelihood estimate if, for every partition of the
//! agents into two parts, an agent of each part finished ahead of or level with an agent of
//! the other in some game (L. R. Ford, "Solution of a ranking problem from binary
//! comparisons", The American Mathematical Monthly 64, 1957). If all of one part lost every
//! game to the other, games give a lower bound of the difference, and only the prior an
//! upper bound.

use crate::tally::{Evidence, Ranking, distinct};

/// Set numbers of the agents, in the order of the spec.
#[derive(Clone, Debug)]
pub(super) struct Sets {
    /// Sets of agents that games link in any way.
    pub(super) linked: Vec<usize>,
    /// Sets within which no agents are ahead of all others in all games. Of two sets that
    /// met, the one ahead has the lower number.
    pub(super) level: Vec<usize>,
    /// Number of agents of each level.
    sizes: Vec<usize>,
}

impl Sets {
    pub(super) fn of(evidence: &Evidence) -> Self {
        let agents = evidence.names.len();
        let mut ahead = vec![Vec::new(); agents];
        let mut met = vec![Vec::new(); agents];
        for group in &evidence.groups {
            let games = group.games();
            let members = group.agents();
            for (first, &one) in members.iter().enumerate() {
                for (second, &other) in members.iter().enumerate() {
                    if one == other || games.is_empty() {
                        continue;
                    }
                    let not_behind = |(ranking, _): &(Ranking, u64)| {
                        ranking.before(first) <= ranking.before(second)
                    };
                    met[usize::from(one)].push(usize::from(other));
                    if games.iter().any(not_behind) {
                        ahead[usize::from(one)].push(usize::from(other));
                    }
                }
            }
        }
        let level = parts(&ahead);
        let mut sizes = vec![0; agents];
        level.iter().for_each(|&level| sizes[level] += 1);
        Self {
            linked: parts(&met),
            level,
            sizes,
        }
    }

    /// True if games of these agents determine the difference between levels that each have
    /// several agents. A single agent on its level has equal blocks, by which it is
    /// recognised.
    pub(super) fn between_levels(&self, agents: &[u16]) -> bool {
        let levels = distinct(agents).map(|(agent, _)| self.level[usize::from(agent)]);
        let levels: Vec<usize> = levels.collect();
        levels.iter().any(|&level| level != levels[0])
            && levels.iter().any(|&level| self.sizes[level] > 1)
    }
}

/// The strongly connected components of a graph, numbered so that edges between components
/// go to higher numbers (S. R. Kosaraju's two depth-first searches; M. Sharir, "A
/// strong-connectivity algorithm and its applications in data flow analysis", 1981).
fn parts(edges: &[Vec<usize>]) -> Vec<usize> {
    let mut ended = Vec::with_capacity(edges.len());
    let mut seen = vec![false; edges.len()];
    for from in 0..edges.len() {
        if std::mem::replace(&mut seen[from], true) {
            continue;
        }
        let mut path = vec![(from, 0)];
        while let Some((at, next)) = path.last_mut() {
            if let Some(&to) = edges[*at].get(*next) {
                *next += 1;
                if !std::mem::replace(&mut seen[to], true) {
                    path.push((to, 0));
                }
            } else {
                ended.push(*at);
                path.pop();
            }
        }
    }
    let mut back = vec![Vec::new(); edges.len()];
    for (from, to) in edges.iter().enumerate() {
        to.iter().for_each(|&to| back[to].push(from));
    }
    let mut part = vec![None; edges.len()];
    let mut count = 0;
    for &from in ended.iter().rev() {
        if part[from].is_some() {
            continue;
        }
        let mut open = vec![from];
        part[from] = Some(count);
        while let Some(at) = open.pop() {
            for &to in &back[at] {
                if part[to].is_none() {
                    part[to] = Some(count);
                    open.push(to);
                }
            }
        }
        count += 1;
    }
    part.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strong_components_are_ordered() {
        // 4 → {2, 0} → {1, 3}, and 5 alone.
        let edges = [vec![2, 1], vec![3], vec![0], vec![1], vec![2], vec![]];
        let part = parts(&edges);
        assert_eq!(part[2], part[0]);
        assert_eq!(part[1], part[3]);
        assert!(part[4] < part[2] && part[2] < part[1], "{part:?}");
        let mut others = part.clone();
        others.sort_unstable();
        others.dedup();
        assert_eq!(others, [0, 1, 2, 3]);
        assert_eq!(parts(&[]), [0; 0]);
    }
}
