//! The tree of a single elimination.

use super::{RoundMatch, Rounds};

/// A place of the first round of a bracket that is drawn, or of a later one.
#[derive(Clone, Copy, Debug)]
pub enum Tie<'a> {
    Match(&'a RoundMatch),
    /// Goes on without playing.
    Bye(&'a str),
}

impl Tie<'_> {
    /// Who goes on.
    fn winner(&self) -> Option<&str> {
        match self {
            Self::Match(table) => table.agents.first().map(String::as_str),
            Self::Bye(agent) => Some(agent),
        }
    }
}

/// The rounds from the given one on, such that places 2n and 2n + 1 of one round lead
/// to place n of the next; none where the rounds are no such tree.
pub fn bracket(rounds: &Rounds, from: usize) -> Option<Vec<Vec<Tie<'_>>>> {
    if rounds.is_double() || rounds.many_seats() {
        return None;
    }
    let mut tree: Vec<Vec<Tie<'_>>> = Vec::new();
    // From the last round back: who meets there tells who is beside whom before.
    for round in rounds.all.get(from..)?.iter().rev() {
        let mut ties: Vec<Tie<'_>> = round.tables.iter().map(Tie::Match).collect();
        ties.extend(round.byes.iter().map(|agent| Tie::Bye(agent)));
        if let Some(later) = tree.last() {
            let mut placed = Vec::with_capacity(ties.len());
            for tie in later {
                let Tie::Match(table) = tie else {
                    return None;
                };
                // Of both who meet, the one whose table was listed first is above.
                let mut both: Vec<usize> = Vec::with_capacity(2);
                for agent in &table.agents {
                    both.push(ties.iter().position(|tie| tie.winner() == Some(agent))?);
                }
                // A bye is the better seed's, and above.
                both.sort_by_key(|&place| (matches!(ties[place], Tie::Match(_)), place));
                placed.extend(both.into_iter().map(|place| ties[place]));
            }
            if placed.len() != ties.len() {
                return None;
            }
            ties = placed;
        } else if ties.len() != 1 {
            return None;
        }
        tree.push(ties);
    }
    tree.reverse();
    Some(tree)
}
