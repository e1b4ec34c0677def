//! The ranking of the members in one game.

use std::cmp::Ordering;

use arena_model::engine::{MAX_SEATS, PerSeat};
use serde::{Deserialize, Serialize};

/// A weak order of a group's members: for each member, the number of members ranked ahead,
/// in four bits. Members are the group's agents in ascending order. If one agent has several
/// seats, its ranks are sorted, best first, because an agent's score does not depend on which of
/// its seats got which rank. The scores of seats do depend on it; [`seat_units`] computes them.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub(crate) struct Ranking(u64);

const _: () = assert!(
    MAX_SEATS <= 16,
    "a ranking has four bits for each of 16 members"
);

impl Ranking {
    /// Creates a ranking from the number of members ahead of each member.
    #[must_use]
    pub(crate) const fn of(before: &[u8]) -> Self {
        let mut all = 0;
        let mut member = before.len();
        // A `const fn` cannot use `for`.
        while member > 0 {
            member -= 1;
            all = all << 4 | before[member] as u64;
        }
        Self(all)
    }

    /// Number of members ranked ahead of this one.
    #[must_use]
    pub(crate) fn before(self, member: usize) -> u8 {
        (self.0 >> (4 * member)) as u8 & 15
    }

    /// The member's units against another member: two if ranked ahead, one if tied.
    #[must_use]
    pub(crate) fn units_against(self, member: usize, other: usize) -> u64 {
        units_between(self.before(member), self.before(other)).into()
    }

    /// The member's units against all other members of a group of this size.
    pub(crate) fn units(self, member: usize, size: usize) -> u64 {
        // One unit too many: the member ties with itself.
        let all = (0..size).map(|other| self.units_against(member, other));
        all.sum::<u64>() - 1
    }

    /// True if only this member ranked first.
    #[must_use]
    pub(crate) fn wins(self, member: usize, size: usize) -> bool {
        self.units(member, size) == 2 * (size as u64 - 1)
    }
}

/// The member of the group in each seat. Members are numbered by agent in ascending order, then by
/// seat.
#[must_use]
pub(crate) fn members(seats: &[u16]) -> PerSeat<u8> {
    let mut members = [0; MAX_SEATS];
    for (seat, (member, &agent)) in members.iter_mut().zip(seats).enumerate() {
        let earlier =
            |(place, &other): (usize, &u16)| other < agent || (other == agent && place < seat);
        *member = seats
            .iter()
            .enumerate()
            .filter(|&each| earlier(each))
            .count() as u8;
    }
    members
}

/// Units of each seat against all others: two for each seat ranked behind, one for each
/// tied seat.
#[must_use]
pub(crate) fn seat_units(placement: &[u8]) -> PerSeat<u8> {
    let mut units = [0; MAX_SEATS];
    for (seat, (units, own)) in units.iter_mut().zip(placement).enumerate() {
        for (other, place) in placement.iter().enumerate() {
            if other != seat {
                *units += units_between(*own, *place);
            }
        }
    }
    units
}

/// Units of a seat against the seats of other agents, and the number of these seats.
#[must_use]
pub(crate) fn units_against_others(seats: &[u16], placement: &[u8], seat: usize) -> (u64, u64) {
    let all = seats.iter().zip(placement);
    let others = all.filter(|&(&agent, _)| agent != seats[seat]);
    others.fold((0, 0), |(units, count), (_, &place)| {
        (
            units + u64::from(units_between(placement[seat], place)),
            count + 1,
        )
    })
}

/// The mean score of some seats of one agent in a game: the share of other agents' seats that are
/// ranked behind, with one half for a tie; one half without other agents.
#[must_use]
pub fn game_score(own: &[usize], seats: &[u16], placement: &[u8]) -> f64 {
    let (mut units, mut others) = (0, 0);
    for &seat in own {
        let (more, count) = units_against_others(seats, placement, seat);
        (units, others) = (units + more, others + count);
    }
    match others {
        0 => 0.5,
        _ => units as f64 / (2 * others) as f64,
    }
}

/// Units of a rank against another rank: two if it is better, one for a tie.
pub(crate) fn units_between(own: u8, other: u8) -> u8 {
    match own.cmp(&other) {
        Ordering::Less => 2,
        Ordering::Equal => 1,
        Ordering::Greater => 0,
    }
}

/// The ranking of a game with these seats and members.
#[must_use]
pub(crate) fn ranking(seats: &[u16], members: &PerSeat<u8>, placement: &[u8]) -> Ranking {
    let mut before = [0; MAX_SEATS];
    let mut agents = [0; MAX_SEATS];
    let size = seats.len().min(MAX_SEATS);
    for (seat, &own) in placement.iter().enumerate().take(size) {
        let member = usize::from(members[seat]);
        before[member] = placement.iter().filter(|&&other| other < own).count() as u8;
        agents[member] = seats[seat];
    }
    let mut start = 0;
    while start < size {
        let same = agents[start..size]
            .iter()
            .take_while(|&&agent| agent == agents[start]);
        let end = start + same.count();
        before[start..end].sort_unstable();
        start = end;
    }
    Ranking::of(&before[..size])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranking_gives_places_units_and_wins() {
        let seats = [7, 3, 9, 5];
        let members = members(&seats);
        assert_eq!(members[..4], [2, 0, 3, 1]);
        let ranking = ranking(&seats, &members, &[1, 2, 4, 2]);
        let of = |member: usize| (ranking.before(member), ranking.units(member, 4));
        assert_eq!([0, 1, 2, 3].map(of), [(1, 3), (1, 3), (0, 6), (3, 0)]);
        assert!(ranking.wins(2, 4) && !ranking.wins(0, 4));
    }

    #[test]
    fn ranking_of_ten_gives_places_units_and_wins() {
        let seats: Vec<u16> = (0..10).rev().collect();
        let members = members(&seats);
        let ranking = ranking(&seats, &members, &[10, 9, 7, 7, 6, 2, 2, 2, 2, 1]);
        let before = [0, 1, 1, 1, 1, 5, 6, 6, 8, 9];
        let units = [18, 13, 13, 13, 13, 8, 5, 5, 2, 0];
        for member in 0..10 {
            assert_eq!(ranking.before(member), before[member]);
            assert_eq!(ranking.units(member, 10), units[member]);
        }
        assert!(ranking.wins(0, 10) && !ranking.wins(1, 10));
    }

    #[test]
    fn ranks_of_one_agent_are_sorted() {
        let seats = [4, 2, 4, 2];
        let members = members(&seats);
        assert_eq!(members[..4], [2, 0, 3, 1]);
        let one = ranking(&seats, &members, &[1, 2, 3, 4]);
        let other = ranking(&seats, &members, &[3, 4, 1, 2]);
        assert_eq!(one, other);
        assert_eq!([0, 1, 2, 3].map(|member| one.before(member)), [1, 3, 0, 2]);
    }

    #[test]
    fn repeated_agent_scores_against_others() {
        assert_eq!(game_score(&[0, 1], &[0, 0, 1], &[1, 3, 2]), 0.5);
        assert_eq!(game_score(&[2], &[0, 0, 1], &[1, 3, 1]), 0.75);
        assert_eq!(game_score(&[0], &[0, 0], &[1, 2]), 0.5);
    }
}
