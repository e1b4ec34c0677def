//! The verdict of a tournament.

use std::collections::BTreeMap;

use arena_model::format::Format;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Field, Units};
use crate::places::{self, By, RankKey};

/// The verdict of a tournament, as text and as data.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// Kind: `ranking`, `winner`, `gauntlet`, `h0`, `h1`, `inconclusive`.
    pub kind: String,
    /// The format.
    pub format: String,
    /// Text in whole sentences.
    pub text: String,
    /// Other data of the format.
    #[serde(flatten)]
    pub data: BTreeMap<String, Value>,
}

/// The tiebreaks of a Swiss tournament for one agent.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct SwissStanding {
    /// Name of the agent.
    pub agent: String,
    /// Seats beaten, plus half of the seats tied, plus the points of byes.
    pub points: f64,
    /// Sum of all opponents' points, once per meeting.
    pub buchholz: f64,
    /// Number of byes.
    pub byes: u64,
}

impl Verdict {
    pub(super) fn new(kind: &str, field: &Field, text: String) -> Self {
        Self {
            kind: kind.to_owned(),
            format: field.format.name().to_owned(),
            text,
            data: BTreeMap::new(),
        }
    }

    pub(super) fn with(mut self, key: &str, value: Value) -> Self {
        self.data.insert(key.to_owned(), value);
        self
    }

    /// Adds a sentence about games that could not be played.
    pub(crate) fn with_voids(mut self, voids: u64) -> Self {
        if voids > 0 {
            let games = if voids == 1 {
                "One game is".to_owned()
            } else {
                format!("{voids} games are")
            };
            self.text += &format!(" {games} void and decided nothing.");
        }
        self.data.insert("voids".to_owned(), json!(voids));
        self
    }

    /// Places from 1 with the names of agents, best first; empty if the format assigns no
    /// places.
    #[must_use]
    pub fn places(&self) -> Vec<(u64, &str)> {
        let rows = self.data.get("places").and_then(Value::as_array);
        let placed = rows.into_iter().flatten().filter_map(|row| {
            let place = row.get("place")?.as_u64()?;
            Some((place, row.get("agent")?.as_str()?))
        });
        placed.collect()
    }

    /// The tiebreaks of a Swiss tournament, best first; empty for other formats.
    #[must_use]
    pub fn swiss(&self) -> Vec<SwissStanding> {
        if self.format != Format::Swiss.name() {
            return Vec::new();
        }
        let rows = self.data.get("places").cloned().unwrap_or_default();
        serde_json::from_value(rows).unwrap_or_default()
    }

    /// Replaces the places of a ladder by the order of the ratings in its standings, in
    /// Elo. The ratings that choose games have another prior and no draws. Other formats
    /// are unchanged.
    pub fn rate(&mut self, rating: impl Fn(&str) -> Option<f64>) {
        // An open ladder has ratings of its own.
        if self.format != Format::Ladder.name() || self.data.contains_key("open") {
            return;
        }
        let rows = self.data.get("places").and_then(Value::as_array);
        let name = |row: &Value| row.get("agent").and_then(Value::as_str).map(str::to_owned);
        let rated = |row: &Value| name(row).and_then(|agent| rating(&agent));
        let rows = rows.into_iter().flatten().cloned();
        let rows = places::arrange(
            rows.map(|row| (name(&row).unwrap_or_default(), rated(&row), row))
                .collect(),
            By::Rating,
            |(agent, rating, row)| RankKey {
                agent,
                // An agent without a game has no place.
                score: row.get("score").and_then(Value::as_f64),
                rating: *rating,
                place: None,
            },
            |(_, rating, row), place| {
                row["place"] = json!(place);
                row["elo"] = json!(rating);
            },
        );
        let first = rows.first().filter(|(_, rating, _)| rating.is_some());
        if let (Some((agent, ..)), Some(old)) = (first, self.data.get("winner"))
            && let Some(rest) = old.as_str().and_then(|old| self.text.strip_prefix(old))
        {
            self.text = format!("{agent}{rest}");
            self.data.insert("winner".to_owned(), json!(agent));
        }
        let rows = rows.into_iter().map(|(.., row)| row);
        self.data.insert("places".to_owned(), rows.collect());
    }

    /// As JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        arena_model::canonical_json(self)
    }
}

/// Places by score. Agents with the same score share a place, in the order of the spec;
/// agents without a game come last.
pub(super) fn places(units: &[Units]) -> Vec<(u64, u16)> {
    let better = |a: Units, b: Units| {
        let (left, right) = (
            u128::from(a.got) * u128::from(b.of),
            u128::from(b.got) * u128::from(a.of),
        );
        match (a.of, b.of) {
            (0, 0) => std::cmp::Ordering::Equal,
            (0, _) => std::cmp::Ordering::Greater,
            (_, 0) => std::cmp::Ordering::Less,
            _ => right.cmp(&left),
        }
    };
    let mut agents: Vec<u16> = (0..units.len() as u16).collect();
    agents.sort_by(|&a, &b| better(units[usize::from(a)], units[usize::from(b)]).then(a.cmp(&b)));
    let mut placed: Vec<(u64, u16)> = Vec::with_capacity(agents.len());
    for (number, &agent) in agents.iter().enumerate() {
        let before = placed.last().copied().filter(|&(_, other)| {
            let (a, b) = (units[usize::from(other)], units[usize::from(agent)]);
            better(a, b) == std::cmp::Ordering::Equal
        });
        placed.push((before.map_or(number as u64 + 1, |(place, _)| place), agent));
    }
    placed
}

/// The verdict of a format that ranks agents by score.
pub(super) fn ranking(field: &Field, units: &[Units]) -> Verdict {
    let places = places(units);
    let first: Vec<u16> = places
        .iter()
        .filter(|(place, _)| *place == 1)
        .map(|&(_, agent)| agent)
        .collect();
    let winner = match first[..] {
        [winner] => units[usize::from(winner)].score().map(|_| winner),
        _ => None,
    };
    let text = match winner {
        Some(winner) => {
            let name = field.name(winner);
            let units = units[usize::from(winner)];
            match field.mean_return(units) {
                Some(mean) => {
                    let mean = (mean * 1e6).round() / 1e6;
                    format!("{name} is first with a mean return of {mean:+}.")
                }
                None => {
                    let score = units.score().unwrap_or_default();
                    format!("{name} is first with a score of {score:.3}.")
                }
            }
        }
        None if units.iter().all(|units| units.of == 0) => "No game was played.".to_owned(),
        None => {
            format!("{} share first place.", listed(&field.names_of(&first)))
        }
    };
    let rows = places.iter().map(|&(place, agent)| {
        let units = units[usize::from(agent)];
        let mut row = json!({"place": place, "agent": field.name(agent)});
        match field.returns {
            Some(_) => row["return_mean"] = json!(field.mean_return(units)),
            None => row["score"] = json!(units.score()),
        }
        row
    });
    Verdict::new("ranking", field, text)
        .with("winner", json!(winner.map(|winner| field.name(winner))))
        .with("places", rows.collect())
}

/// The same verdict without places, if opponents differ so that scores do not define an
/// order.
pub(super) fn unplaced(field: &Field, units: &[Units]) -> Verdict {
    let text = if units.iter().all(|units| units.of == 0) {
        "No game was played."
    } else if field.returns.is_some() {
        "Agents met different opponents, or some more often than others, so mean returns decide no \
         places."
    } else {
        "Agents met different opponents, or some more often than others, so ratings decide the \
         places."
    };
    Verdict::new("ranking", field, text.to_owned())
        .with("winner", Value::Null)
        .with("places", json!([]))
}

/// Formats a count with its noun.
pub(super) fn counted(count: u64, noun: &str) -> String {
    let end = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{end}")
}

/// Lists names with commas and "and"; only the first few of many.
#[must_use]
pub fn listed(names: &[&str]) -> String {
    const SHOWN: usize = 5;
    match names {
        [] => "no agent".to_owned(),
        [one] => (*one).to_owned(),
        _ if names.len() > SHOWN => format!(
            "{} and {} more",
            names[..SHOWN].join(", "),
            names.len() - SHOWN
        ),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ladder_verdict_equals_standings() {
        let row = |place: u64, agent: &str, elo: f64, score: Option<f64>| json!({"place": place, "agent": agent, "elo": elo, "score": score});
        let rows = json!([
            row(1, "a", 401.7, Some(0.8)),
            row(2, "b", 380.0, Some(0.7)),
            row(3, "c", 0.0, None)
        ]);
        let ladder = |format: &str| Verdict {
            format: format.to_owned(),
            text: "a is first of 3 after 9 blocks.".to_owned(),
            data: [("places", rows.clone()), ("winner", json!("a"))]
                .map(|(key, value)| (key.to_owned(), value))
                .into(),
            ..Verdict::default()
        };
        let rating = |agent: &str| match agent {
            "a" => Some(604.0),
            "b" => Some(610.5),
            _ => None,
        };
        let mut verdict = ladder("ladder");
        verdict.rate(rating);
        let places: Vec<_> = verdict.data["places"].as_array().cloned().expect("rows");
        let of = |key: &str| -> Vec<Value> { places.iter().map(|row| row[key].clone()).collect() };
        assert_eq!(of("agent"), ["b", "a", "c"]);
        assert_eq!(of("elo"), [json!(610.5), json!(604.0), Value::Null]);
        assert_eq!(of("place"), [json!(1), json!(2), Value::Null]);
        assert_eq!(verdict.data["winner"], "b");
        assert_eq!(verdict.text, "b is first of 3 after 9 blocks.");
        let mut other = ladder("swiss");
        other.rate(rating);
        assert_eq!(other, ladder("swiss"));
    }

    #[test]
    fn equal_scores_share_a_place() {
        let units = [(3, 6), (0, 0), (5, 6), (1, 2), (0, 4)].map(|(got, of)| Units { got, of });
        assert_eq!(places(&units), [(1, 2), (2, 0), (2, 3), (4, 4), (5, 1)]);
    }
}
