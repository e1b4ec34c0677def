//! What an engine answers: a move, and what its search found.

use serde::Serialize;

/// Score of a mate, less one for each move until then.
const MATE: f64 = 32_000.0;
/// Moves of a variation that are passed on.
const VARIATION_MOVES: usize = 32;

/// The last report of a search.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Report {
    /// In hundredths of a pawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    depth: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nodes: Option<String>,
    variation: Vec<String>,
}

impl Report {
    /// Reads the rest of a line that begins with `info`. Unknown words are skipped.
    pub(crate) fn read(&mut self, text: &str) {
        let mut words = text.split_whitespace();
        while let Some(word) = words.next() {
            match word {
                "depth" => {
                    let depth = words.next().and_then(|word| word.parse().ok());
                    self.depth = depth.or(self.depth);
                }
                "nodes" => {
                    let nodes = words.next().filter(|word| word.parse::<u64>().is_ok());
                    self.nodes = nodes.map(str::to_owned).or(self.nodes.take());
                }
                "score" => {
                    let kind = words.next();
                    let number = words.next().and_then(|word| word.parse::<i32>().ok());
                    self.score = match (kind, number.map(f64::from)) {
                        (Some("cp"), Some(score)) => Some(score),
                        (Some("mate"), Some(moves)) if moves > 0.0 => Some(MATE - moves),
                        (Some("mate"), Some(moves)) => Some(-MATE - moves),
                        _ => self.score,
                    };
                }
                "pv" => {
                    let moves = words.take(VARIATION_MOVES);
                    self.variation = moves.map(str::to_owned).collect();
                    return;
                }
                "string" => return,
                _ => {}
            }
        }
    }
}

/// The id of a move in chess: `from + 64 * to + 4096 * promotion`.
pub(crate) fn move_id(text: &str) -> Option<u32> {
    let square = |file: u8, rank: u8| {
        let is_square = (b'a'..=b'h').contains(&file) && (b'1'..=b'8').contains(&rank);
        is_square.then(|| u32::from(file - b'a') + 8 * u32::from(rank - b'1'))
    };
    let (&[file, rank, to_file, to_rank], promotion) = text.as_bytes().split_first_chunk()?;
    let promotion = match promotion {
        b"" => 0,
        b"n" => 1,
        b"b" => 2,
        b"r" => 3,
        b"q" => 4,
        _ => return None,
    };
    Some(square(file, rank)? + 64 * square(to_file, to_rank)? + 4_096 * promotion)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_have_the_ids_of_the_ruleset() {
        for (text, id) in [
            ("e1g1", Some(4 + 64 * 6)),
            ("e8f8", Some(60 + 64 * 61)),
            ("a7a8q", Some(48 + 64 * 56 + 4_096 * 4)),
            ("h2g1n", Some(15 + 64 * 6 + 4_096)),
            ("0000", None),
            ("(none)", None),
            ("e2e9", None),
            ("e7e8k", None),
            ("e2e", None),
            ("", None),
        ] {
            assert_eq!(move_id(text), id, "{text}");
        }
    }

    #[test]
    fn last_report_of_a_search_is_kept() {
        let mut report = Report::default();
        report.read("depth 3 seldepth 4 multipv 1 score cp -12 nodes 77 nps 1 pv e2e4 e7e5");
        report.read("depth 4 currmove e2e4 currmovenumber 1");
        report.read("depth 5 score mate -2 lowerbound nodes x");
        assert_eq!(
            report,
            Report {
                score: Some(2.0 - 32_000.0),
                depth: Some(5),
                nodes: Some("77".to_owned()),
                variation: vec!["e2e4".to_owned(), "e7e5".to_owned()],
            }
        );
        report.read("score mate 3");
        assert_eq!(report.score, Some(31_997.0));
    }
}
