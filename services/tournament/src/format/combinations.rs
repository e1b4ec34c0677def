//! Combinations of agents.

/// Maximum number of groups that a format lists.
pub(super) const GROUPS_MAX: usize = 1_000_000;

/// All combinations of `size` members of a list, in lexicographic order of their positions.
/// `None` if there are more than [`GROUPS_MAX`].
pub(super) fn combinations(of: &[u16], size: usize) -> Option<Vec<Vec<u16>>> {
    let mut found = Vec::new();
    let mut places: Vec<usize> = (0..size).collect();
    if size > of.len() {
        return Some(found);
    }
    loop {
        if found.len() == GROUPS_MAX {
            return None;
        }
        found.push(places.iter().map(|&place| of[place]).collect());
        let movable = (0..size).rposition(|it| places[it] < of.len() - size + it);
        let Some(movable) = movable else {
            return Some(found);
        };
        places[movable] += 1;
        for next in movable + 1..size {
            places[next] = places[next - 1] + 1;
        }
    }
}
