//! The bracket tree of a single elimination.

use super::{RoundMatch, Rounds};

/// A position in a round of the drawn bracket.
#[derive(Clone, Copy, Debug)]
pub enum Tie<'a> {
    /// A table that was played.
    Match(&'a RoundMatch),
    /// The agent advances without playing.
    Bye(&'a str),
}

impl Tie<'_> {
    /// The agent that advances.
    fn winner(&self) -> Option<&str> {
        match self {
            Self::Match(table) => table.agents.first().map(String::as_str),
            Self::Bye(agent) => Some(agent),
        }
    }
}

/// The rounds from `from` on, ordered so that positions 2n and 2n + 1 of one round lead to
/// position n of the next. `None` if the rounds do not form such a tree.
pub fn bracket(rounds: &Rounds, from: usize) -> Option<Vec<Vec<Tie<'_>>>> {
    if rounds.is_double() || rounds.many_seats() {
        return None;
    }
    let mut tree: Vec<Vec<Tie<'_>>> = Vec::new();
    // Go back from the last round: each pairing determines the neighbours in the round
    // before.
    for round in rounds.all.get(from..)?.iter().rev() {
        let mut ties: Vec<Tie<'_>> = round.tables.iter().map(Tie::Match).collect();
        ties.extend(round.byes.iter().map(|agent| Tie::Bye(agent)));
        if let Some(later) = tree.last() {
            let mut placed = Vec::with_capacity(ties.len());
            for tie in later {
                let Tie::Match(table) = tie else {
                    return None;
                };
                // Of the two agents that meet, the one from the earlier listed table is on
                // top.
                let place = |agent| ties.iter().position(|tie| tie.winner() == Some(agent));
                let both = table.agents.iter().map(|agent| place(agent.as_str()));
                let mut both = both.collect::<Option<Vec<usize>>>()?;
                // A bye belongs to the better seed and is on top.
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
