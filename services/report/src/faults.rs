//! Faults of a tournament, grouped by kind and cause.

use std::collections::HashMap;

use crate::units;

/// Maximum number of groups, in total and per agent.
const GROUPS_MAX: usize = 200;
const GROUPS_OF_ONE: usize = 40;
/// Maximum number of games that a group lists.
const GAMES_MAX: usize = 5;
/// Maximum number of bytes of an agent's last stderr output.
const STDERR_MAX: usize = 4000;

/// Faults of one agent that differ only in game, ply and numbers.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) agent: String,
    pub(crate) kind: &'static str,
    /// Number of faults.
    pub(crate) count: u64,
    /// The first games with this fault, and the ply.
    pub(crate) games: Vec<(String, u32)>,
    /// Message of the first fault.
    pub(crate) message: String,
    /// The agent's last stderr output, from the first fault that has some.
    pub(crate) stderr: String,
}

impl Fault {
    /// Formats the number of faults.
    pub(crate) fn times(&self) -> String {
        match self.count {
            1 => "once".to_owned(),
            count => units::plural(count, "time"),
        }
    }

    /// True if more games have this fault than are listed.
    pub(crate) fn has_more(&self) -> bool {
        self.count > self.games.len() as u64
    }
}

/// One fault of a game.
pub(super) struct Found<'a> {
    pub(super) agent: &'a str,
    pub(super) game: String,
    pub(super) ply: u32,
    pub(super) kind: &'static str,
    pub(super) message: &'a str,
    pub(super) stderr: &'a str,
}

/// The faults so far, in the order of each group's first fault.
#[derive(Default)]
pub(super) struct Faults {
    pub(super) groups: Vec<Fault>,
    /// Number of faults in groups beyond the limit.
    pub(super) unlisted: u64,
    places: HashMap<(String, &'static str, String), usize>,
    of_one: HashMap<String, usize>,
}

impl Faults {
    pub(super) fn add(&mut self, found: Found<'_>) {
        let key = (
            found.agent.to_owned(),
            found.kind,
            without_numbers(found.message),
        );
        if let Some(&place) = self.places.get(&key) {
            let group = &mut self.groups[place];
            group.count += 1;
            if group.games.len() < GAMES_MAX {
                group.games.push((found.game, found.ply));
            }
            if group.stderr.is_empty() {
                group.stderr = tail(found.stderr).to_owned();
            }
            return;
        }
        let of_one = self.of_one.entry(found.agent.to_owned()).or_default();
        if *of_one >= GROUPS_OF_ONE || self.groups.len() >= GROUPS_MAX {
            self.unlisted += 1;
            return;
        }
        *of_one += 1;
        self.places.insert(key, self.groups.len());
        self.groups.push(Fault {
            agent: found.agent.to_owned(),
            kind: found.kind,
            count: 1,
            games: vec![(found.game, found.ply)],
            message: found.message.to_owned(),
            stderr: tail(found.stderr).to_owned(),
        });
    }
}

fn tail(stderr: &str) -> &str {
    let stderr = stderr.trim_end();
    &stderr[stderr.ceil_char_boundary(stderr.len().saturating_sub(STDERR_MAX))..]
}

/// Replaces each number of a message by `#`.
fn without_numbers(message: &str) -> String {
    let mut out = String::with_capacity(message.len());
    for c in message.chars() {
        match c {
            c if !c.is_ascii_digit() => out.push(c),
            _ if out.ends_with('#') => {}
            _ => out.push('#'),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found<'a>(agent: &'a str, message: &'a str, index: u32) -> Found<'a> {
        Found {
            agent,
            game: format!("cup/{index}"),
            ply: index,
            kind: "illegal_move",
            message,
            stderr: if index == 1 { "why\n" } else { "" },
        }
    }

    #[test]
    fn similar_faults_form_a_group() {
        let mut faults = Faults::default();
        for index in 0..100 {
            let message = format!("move {index} is not among the 3 legal ones");
            faults.add(found("one", &message, index));
            faults.add(found("two", "it died", index));
        }
        let [one, two] = &faults.groups[..] else {
            panic!("{:?}", faults.groups);
        };
        assert_eq!((one.agent.as_str(), one.count), ("one", 100));
        assert_eq!((two.agent.as_str(), two.count), ("two", 100));
        assert_eq!(one.message, "move 0 is not among the 3 legal ones");
        assert_eq!(one.games.len(), GAMES_MAX);
        assert_eq!(one.games[0], ("cup/0".to_owned(), 0));
        assert_eq!(one.stderr, "why");
        assert_eq!(faults.unlisted, 0);
    }

    #[test]
    fn omitted_groups_are_counted() {
        let mut faults = Faults::default();
        for agent in ["one", "two"] {
            for length in 1..=100 {
                faults.add(found(agent, &"x".repeat(length), 0));
            }
        }
        assert_eq!(faults.groups.len(), 2 * GROUPS_OF_ONE);
        assert_eq!(faults.unlisted, 2 * (100 - GROUPS_OF_ONE as u64));
    }
}
