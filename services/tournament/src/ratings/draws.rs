//! Detects rating differences that draws leave undetermined.
//!
//! With x half the difference of two log strengths and ν the weight of ties, the odds of
//! win, draw and loss are eˣ, ν and e⁻ˣ. If x and ln ν grow by the same amount, win and
//! draw keep their probabilities, and a loss, which never occurred, becomes less likely. So
//! the likelihood has no maximum, and only the prior bounds it. This happens if agents can
//! be placed on a line such that each is at least one ahead of every agent it beat, and at
//! most one ahead of every agent it drew with.

use std::cmp::Ordering;

use crate::tally::{Evidence, Ranking};

/// Maximum number of agents; the check would take too long for more.
const AGENTS_MAX: usize = 300;

/// Agents of two-player games whose distance from others on their level is undetermined by
/// the games, given the level of each; in the order of the spec.
pub(super) fn unheld(evidence: &Evidence, level: &[usize]) -> Vec<usize> {
    let agents = evidence.names.len();
    if evidence.seats != 2 || agents > AGENTS_MAX {
        return Vec::new();
    }
    let mut apart = vec![false; agents];
    // The second is at most this far ahead of the first.
    let mut bounds: Vec<(usize, usize, i64)> = Vec::new();
    for group in &evidence.groups {
        let &[one, other] = group.agents() else {
            continue;
        };
        let (one, other) = (usize::from(one), usize::from(other));
        if one == other {
            continue;
        }
        let games = group.games();
        let came = |wanted: Ordering| {
            let how = |&(ranking, _): &(Ranking, u64)| ranking.before(0).cmp(&ranking.before(1));
            games.iter().any(|game| how(game) == wanted)
        };
        for (wanted, winner, loser) in [
            (Ordering::Less, one, other),
            (Ordering::Greater, other, one),
        ] {
            if came(wanted) {
                bounds.push((winner, loser, -1));
                if level[winner] == level[loser] {
                    (apart[winner], apart[loser]) = (true, true);
                }
            }
        }
        if came(Ordering::Equal) {
            bounds.extend([(one, other, 1), (other, one, 1)]);
        }
    }
    let mut at = vec![0; agents];
    let mut settled = || {
        let mut moved = false;
        for &(from, to, most) in &bounds {
            if at[to] > at[from] + most {
                at[to] = at[from] + most;
                moved = true;
            }
        }
        !moved
    };
    // A path without repetition has fewer steps than there are agents.
    let there_is_a_line = (0..agents).any(|_| settled());
    let unheld = |agent: &usize| there_is_a_line && apart[*agent];
    (0..agents).filter(unheld).collect()
}

#[cfg(test)]
mod tests {
    use crate::{
        Schedule, Tally, Wanted,
        tests::{result, tournament},
    };

    /// Results of two agents, one letter per block, repeated: the first agent wins, draws
    /// or loses both games.
    type Came = (u16, u16, &'static str);

    fn played((agents, blocks): (usize, u64), came: &[Came]) -> Tally {
        let tournament = tournament(agents, 2, blocks);
        let schedule = Schedule::new(&tournament).expect("a schedule");
        let mut tally = Tally::new(&tournament).expect("a tally");
        let mut games = vec![0; agents * agents];
        for game in schedule.iter() {
            let (low, high) = (
                game.seats[0].min(game.seats[1]),
                game.seats[0].max(game.seats[1]),
            );
            let of = came.iter().find(|it| (it.0, it.1) == (low, high));
            let Some((_, _, letters)) = of else { continue };
            let played = &mut games[usize::from(low) * agents + usize::from(high)];
            let letter = letters.as_bytes()[*played / 2 % letters.len()];
            *played += 1;
            let first_is_low = game.seats[0] == low;
            let placement = match letter {
                b'd' => [1, 1],
                letter if (letter == b'w') == first_is_low => [1, 2],
                _ => [2, 1],
            };
            tally.add(&result(game, &placement, 10));
        }
        tally
    }

    #[test]
    fn prior_separates_perfect_results() {
        const NOTE: &str = "the prior alone keeps the rating difference";
        let cases: &[(usize, &[Came], Option<&str>)] = &[
            (2, &[(0, 1, "wd")], Some("a0, a1")),
            (2, &[(0, 1, "wwwd")], Some("a0, a1")),
            // One loss bounds the difference. So do only wins or only draws, which other
            // notes report and no distance changes.
            (2, &[(0, 1, "wdddddddddddddddl")], None),
            (2, &[(0, 1, "w")], None),
            (2, &[(0, 1, "d")], None),
            // Three in a row, each a step ahead: the two ends drew, which limits them to
            // one step.
            (3, &[(0, 1, "wd"), (1, 2, "wd"), (0, 2, "wd")], None),
            (
                3,
                &[(0, 1, "wd"), (1, 2, "wd"), (0, 2, "w")],
                Some("a0, a1, a2"),
            ),
            (3, &[(0, 1, "wd"), (1, 2, "wd")], Some("a0, a1, a2")),
            // One agent beats it, another draws with it, and it is level with no other.
            (
                3,
                &[(0, 1, "wd"), (1, 2, "d"), (0, 2, "wd")],
                Some("a0, a1, a2"),
            ),
            (3, &[(0, 1, "wd"), (1, 2, "wl")], None),
            (3, &[(0, 1, "d"), (1, 2, "d"), (0, 2, "w")], Some("a0, a2")),
        ];
        for &(agents, came, expected) in cases {
            let evidence = played((agents, 40), came).evidence();
            let notes = evidence.compare(Wanted::default()).notes;
            let text = notes.iter().find(|note| note.contains(NOTE));
            let names =
                text.and_then(|note| Some(note.split_once("pair of ")?.1.split_once(" has ")?.0));
            assert_eq!(names, expected, "{came:?}: {notes:?}");
        }
    }

    #[test]
    fn draw_model_reports_true_values() {
        let differences = [20, 80].map(|blocks| {
            let tally = played((2, blocks), &[(0, 1, "wd")]);
            let ratings = tally.evidence().ratings(None).expect("games");
            ratings.difference(0, 1)
        });
        let [few, many] = differences;
        // The same kind of games, but the ratings diverge: the score's Elo is 191 for both.
        assert!(
            many.rating.value > few.rating.value + 50.0,
            "{few:?} {many:?}"
        );
        assert!((few.elo.value - 191.0).abs() < 4.0 && (many.elo.value - 191.0).abs() < 4.0);
        // Only ratings are affected: the order and the score are known.
        assert!(!many.is_open && many.elo.fixed.expect("blocks").low > 100.0);
    }
}
