//! A share of the questions is asked again of another process.

use std::sync::atomic::Ordering;

use super::RulesHost;
use crate::rules::{
    OpenGame, RulesCause, RulesFailure,
    messages::{Answer, Ask},
    question::excuse,
};

/// The first calls are all asked of another process as well: rules that answer at random are found before
/// their games count.
const COMPARED_FIRST: u64 = 64;
/// Maximum length of an answer that an error shows, in characters.
const SHOWN_MAX: usize = 120;

impl RulesHost {
    /// Counts calls. Returns the places of those that are asked of another process as well.
    pub(super) fn count_calls(&self, count: usize) -> impl Iterator<Item = usize> + use<> {
        let first = self.calls.fetch_add(count as u64, Ordering::Relaxed);
        let compared = self.compared.load(Ordering::Relaxed);
        let is_compared = move |place: &usize| {
            let number = first + *place as u64;
            number < COMPARED_FIRST || number.is_multiple_of(compared)
        };
        (0..count).filter(is_compared)
    }

    /// Asks another process the same. The process that answered is not idle meanwhile.
    pub(super) fn compare(
        &self,
        game: &OpenGame,
        ask: &Ask<'_>,
        answer: &Answer,
    ) -> Result<(), RulesFailure> {
        excuse(|| self.compare_now(game, ask, answer))
    }

    fn compare_now(
        &self,
        game: &OpenGame,
        ask: &Ask<'_>,
        answer: &Answer,
    ) -> Result<(), RulesFailure> {
        // For the first calls, the other process has just started anyway.
        let is_first = self.calls.load(Ordering::Relaxed) <= COMPARED_FIRST;
        let comparisons = || 1 + self.comparisons.fetch_add(1, Ordering::Relaxed);
        let other = match !is_first && comparisons().is_power_of_two() {
            true => self.fresh(),
            false => self.take(true),
        };
        let (again, mut other) = self.ask_one(other?, game, ask)?;
        let mut repeated = None;
        if again == *answer && self.compares_all() {
            // Rules that remember their questions answer another time differently. So the processes
            // are not asked equally often.
            let (third, process) = self.ask_one(other, game, ask)?;
            (repeated, other) = (Some(third), process);
        }
        self.put_back(other);
        if let Some(repeated) = repeated.filter(|repeated| repeated != answer) {
            let problem = "the same question is answered differently when it is asked again";
            return Err(impure(
                &format!("{problem} ({})", difference(answer, &repeated)),
                ask,
            ));
        }
        if again != *answer {
            let problem = "two processes answer the same question differently";
            return Err(impure(
                &format!("{problem} ({})", difference(answer, &again)),
                ask,
            ));
        }
        Ok(())
    }
}

pub(super) fn impure(problem: &str, ask: &Ask<'_>) -> RulesFailure {
    RulesFailure::new(RulesCause::Purity, format!("{problem}: {ask}")).asked(ask)
}

/// The first part in which two answers differ, with both values.
fn difference(one: &Answer, other: &Answer) -> String {
    let fields = |answer: &Answer| match answer {
        Answer::Node(node) => vec![
            ("state", format!("{:?}", node.state)),
            ("next", format!("{:?}", node.next).to_lowercase()),
            ("seat", format!("{:?}", node.seat.unwrap_or_default())),
            ("legal", format!("{:?}", node.legal)),
            ("moves", format!("{:?}", node.moves)),
            ("weights", format!("{:?}", node.weights)),
            ("probabilities", format!("{:?}", node.probabilities)),
            ("outcomes", format!("{:?}", node.outcomes)),
            ("ending", format!("{:?}", node.ending).to_lowercase()),
            ("ranks", format!("{:?}", node.ranks)),
            ("scores", format!("{:?}", node.scores)),
            ("values", format!("{:?}", node.values)),
            ("position", node.position.to_string()),
        ],
        Answer::Drawing(drawing) => vec![
            ("text", format!("{:?}", drawing.text)),
            ("svg", format!("{:?}", drawing.svg)),
        ],
    };
    let (one, other) = (fields(one), fields(other));
    let mut pairs = one.into_iter().zip(other);
    let Some(((name, one), (_, other))) = pairs.find(|(one, other)| one != other) else {
        return "one part is missing".to_owned();
    };
    // What is the same at the beginning says nothing.
    let same = one.chars().zip(other.chars()).take_while(|(a, b)| a == b);
    let skipped = same.count().saturating_sub(SHOWN_MAX / 4);
    let cut = |text: &str| {
        let start = if skipped > 0 { "…" } else { "" };
        let shown: String = text.chars().skip(skipped).take(SHOWN_MAX).collect();
        let end = if text.chars().count() > skipped + SHOWN_MAX {
            "…"
        } else {
            ""
        };
        format!("{start}{shown}{end}")
    };
    format!("{name}: {}, then {}", cut(&one), cut(&other))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn node(legal: &[u16], position: &str) -> Answer {
        let node = json!({"state": "s", "next": "decision", "seat": 0, "legal": legal, "position": position});
        Answer::Node(serde_json::from_value(node).expect("a node"))
    }

    #[test]
    fn first_difference_of_two_answers_is_shown() {
        assert_eq!(
            difference(&node(&[0, 1, 2], "a"), &node(&[0, 2], "b")),
            "legal: [0, 1, 2], then [0, 2]"
        );
        let long = "x".repeat(1_000);
        let shown = difference(
            &node(&[0], &format!("{long}1")),
            &node(&[0], &format!("{long}2")),
        );
        assert!(
            shown.starts_with("position: …xx") && shown.contains("1\", then …"),
            "{shown}"
        );
        assert!(shown.len() < 200, "{shown}");
    }
}
