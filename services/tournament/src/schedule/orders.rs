//! Seat orders of a group.

/// Number of base orders of a group: its cyclic orders.
pub(super) fn cyclic_orders(group: &[u16]) -> u64 {
    if has_repeats(group) {
        necklaces(group).len() as u64
    } else {
        factorial(group.len() as u64 - 1)
    }
}

/// The `number`-th cyclic order of a group in lexicographic order: the first agent stays,
/// the others are permuted. If an agent sits twice, the orders are the distinct necklaces.
pub(super) fn cyclic_order(mut group: Vec<u16>, number: u64) -> Vec<u16> {
    if has_repeats(&group) {
        return necklaces(&group).swap_remove(number as usize);
    }
    permute(&mut group[1..], number);
    group
}

/// The number of an order of a group among all its orders, in lexicographic
/// order; its agents are distinct.
pub(super) fn permutation_number(order: &[u16]) -> u64 {
    let smaller = |place: usize| {
        let rest = &order[place + 1..];
        rest.iter().filter(|&&agent| agent < order[place]).count() as u64
    };
    (0..order.len())
        .map(|place| smaller(place) * factorial((order.len() - place - 1) as u64))
        .sum()
}

/// The order with this number.
pub(super) fn permutation(mut group: Vec<u16>, number: u64) -> Vec<u16> {
    permute(&mut group, number);
    group
}

/// Puts ascending agents into the order with this number.
fn permute(agents: &mut [u16], mut number: u64) {
    for place in 0..agents.len() {
        let arrangements = factorial((agents.len() - place - 1) as u64);
        let chosen = place + (number / arrangements) as usize;
        number %= arrangements;
        agents[place..=chosen].rotate_right(1);
    }
}

/// Number of rotations after which an order repeats.
pub(super) fn period(order: &[u16]) -> u32 {
    let seats = order.len();
    let same = |by: usize| (0..seats).all(|seat| order[seat] == order[(seat + by) % seats]);
    (1..seats).find(|&by| same(by)).unwrap_or(seats) as u32
}

fn has_repeats(group: &[u16]) -> bool {
    group.windows(2).any(|pair| pair[0] == pair[1])
}

/// The arrangements of an ascending group with repetitions that are the smallest of their
/// rotations, ascending.
fn necklaces(group: &[u16]) -> Vec<Vec<u16>> {
    let mut found = Vec::new();
    let mut order = group.to_vec();
    loop {
        let least = (1..order.len()).all(|by| {
            let turned = order[by..].iter().chain(&order[..by]);
            order.iter().le(turned)
        });
        if least {
            found.push(order.clone());
        }
        if !next_arrangement(&mut order) {
            return found;
        }
    }
}

/// The next arrangement in lexicographic order; false after the last.
fn next_arrangement(order: &mut [u16]) -> bool {
    let Some(pivot) = order.windows(2).rposition(|pair| pair[0] < pair[1]) else {
        return false;
    };
    let greater = order.iter().rposition(|&agent| agent > order[pivot]);
    order.swap(pivot, greater.unwrap_or(pivot));
    order[pivot + 1..].reverse();
    true
}

fn factorial(n: u64) -> u64 {
    (2..=n).product()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn necklaces_are_round_table_seatings() {
        assert_eq!(necklaces(&[0, 0, 1]), [[0, 0, 1]]);
        assert_eq!(necklaces(&[0, 0, 1, 1]), [[0, 0, 1, 1], [0, 1, 0, 1]]);
        assert_eq!(necklaces(&[0, 0, 0, 1, 1, 1]).len(), 4);
        assert_eq!([&[0, 0, 1, 1][..], &[0, 1, 0, 1]].map(period), [4, 2]);
    }

    #[test]
    fn orders_are_numbered() {
        let group = [2, 5, 7, 9];
        let mut last = None;
        for number in 0..24 {
            let order = permutation(group.to_vec(), number);
            assert_eq!(permutation_number(&order), number);
            assert!(last.as_ref() < Some(&order));
            last = Some(order);
        }
    }
}
