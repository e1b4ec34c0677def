//! Tournaments with their states, generations and specs.

use arena_wire::v1;
use serde_json::{Value, json};

use crate::{
    standings::{audits::format_audits, verdict, view},
    state::{self, state_name},
    text::csv_line,
    units,
};

/// Maximum length of a line with an opening book that is shown whole.
const BOOK_SHOWN_MAX: usize = 400;

/// A tournament, for programs.
#[must_use]
pub fn describe(tournament: &v1::Tournament) -> Value {
    json!({
        "tournament_id": tournament.tournament_id,
        "name": tournament.name,
        "ruleset": tournament.ruleset,
        "format": tournament.format,
        "state": state_name(tournament.state()),
        "games": tournament.games_done,
        "games_total": tournament.games_total,
        "created_unix_us": tournament.created_unix_us,
        "finished_unix_us": tournament.finished_unix_us,
        "generation": tournament.generation.max(1),
        "earlier": tournament.earlier.iter().map(generation).collect::<Vec<_>>(),
        "pause": tournament.pause.as_ref().map(view::pause),
        "seed_commitment": known(&tournament.seed_commitment),
        "seed_nonce": known(&tournament.seed_nonce),
        "removed": tournament.removal.as_ref().map(removal),
    })
}

/// What is left of a removed tournament, apart from its identity.
fn removal(removal: &v1::Removal) -> Value {
    json!({
        "by": removal.by,
        "unix_us": removal.unix_us,
        "spec_sha256": removal.spec_sha256,
        "archive_sha256": known(&removal.archive_sha256),
    })
}

/// The state of a tournament, or that it was removed.
pub(crate) fn shown_state(tournament: &v1::Tournament) -> &'static str {
    match tournament.removal {
        Some(_) => "removed",
        None => state_name(tournament.state()),
    }
}

/// A text, or `None` if it is empty.
fn known(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

/// An earlier generation of games.
fn generation(earlier: &v1::Generation) -> Value {
    json!({
        "generation": earlier.number,
        "games": earlier.games,
        "unplayed": earlier.unplayed,
        "unsound": earlier.unsound,
        "replaced": earlier.replaced,
        "ended_unix_us": earlier.ended_unix_us,
        "verdict": verdict::object(&earlier.verdict_json),
    })
}

/// One line for a tournament, and one for each of its earlier generations.
#[must_use]
pub fn summary(tournament: &v1::Tournament) -> String {
    let line = format!(
        "{}: {}, {} of {} games\n",
        tournament.tournament_id,
        shown_state(tournament),
        units::count(tournament.games_done),
        units::count(tournament.games_total)
    );
    let earlier = tournament.earlier.iter().map(|it| {
        let [games, unplayed, replaced] = [it.games, it.unplayed, it.replaced].map(units::count);
        let unsound = match it.unsound {
            0 => String::new(),
            unsound => format!(
                ", {} by workers that are not trusted",
                units::count(unsound)
            ),
        };
        format!(
            "generation {}: {games} games, {unplayed} lost by an agent that never answered\
             {unsound}; {replaced} replaced in generation {}\n",
            it.number,
            it.number + 1
        )
    });
    std::iter::once(line).chain(earlier).collect()
}

/// Name of a column, and the text of a row in it.
pub(crate) type Column = (&'static str, fn(&v1::Tournament) -> String);

/// The columns of CSV.
pub(crate) const CSV_COLUMNS: [Column; 8] = [
    ("tournament", |it| it.tournament_id.clone()),
    ("state", |it| shown_state(it).to_owned()),
    ("games", |it| it.games_done.to_string()),
    ("of", |it| it.games_total.to_string()),
    ("ruleset", |it| it.ruleset.clone()),
    ("format", |it| it.format.clone()),
    ("created", |it| units::utc(it.created_unix_us)),
    ("finished", |it| match it.finished_unix_us {
        0 => String::new(),
        at => units::utc(at),
    }),
];

/// A tournament with its spec, for a reader.
#[must_use]
pub fn text(tournament: &v1::Tournament) -> String {
    let seed = known(&tournament.seed_commitment).map(|commitment| {
        let nonce = known(&tournament.seed_nonce);
        let nonce = nonce.map_or_else(
            || "the seed is sealed until the end".to_owned(),
            |nonce| format!("nonce {nonce}"),
        );
        format!("seed commitment {commitment}, {nonce}")
    });
    let removed = tournament.removal.as_ref().map(|removal| {
        let archive = match known(&removal.archive_sha256) {
            Some(sha256) => format!("; SHA-256 of its archive {sha256}"),
            None => String::new(),
        };
        format!(
            "removed {} by {}; it was {}{archive}",
            units::utc(removal.unix_us),
            removal.by,
            state_name(tournament.state()),
        )
    });
    let remarks = [
        removed,
        seed,
        tournament.pause.as_ref().map(state::format_pause),
        verdict::text(&tournament.verdict_json),
        tournament.audits.as_ref().map(format_audits),
    ];
    let remarks = remarks.into_iter().flatten();
    let remarks: String = remarks.map(|remark| remark + "\n").collect();
    let spec = without_book(&tournament.spec_toml);
    format!("{}{remarks}\n{spec}", summary(tournament))
}

/// A spec for people: of a long opening book, the number of openings.
fn without_book(spec: &str) -> String {
    let shown = |line: &str| match line.strip_prefix("book = [") {
        Some(openings) if line.len() > BOOK_SHOWN_MAX => {
            let count = units::count(openings.matches("\", \"").count() as u64 + 1);
            format!("book = [] # {count} openings: --output json has them\n")
        }
        _ => format!("{line}\n"),
    };
    spec.lines().map(shown).collect()
}

/// A tournament with its spec and verdict, for programs.
#[must_use]
pub fn describe_fully(tournament: &v1::Tournament) -> Value {
    let mut value = describe(tournament);
    value["verdict"] = json!(verdict::object(&tournament.verdict_json));
    value["audits"] = json!(tournament.audits.as_ref().map(view::audits));
    value["resolved"] = serde_json::from_str(&tournament.spec_json).unwrap_or_default();
    value["spec"] = tournament.spec_toml.clone().into();
    value
}

/// Tournaments as comma-separated values, with a header line.
#[must_use]
pub fn csv(tournaments: &[v1::Tournament]) -> String {
    let line = |it: &v1::Tournament| csv_line(CSV_COLUMNS.map(|(_, cell)| cell(it)));
    let header = csv_line(CSV_COLUMNS.map(|(name, _)| name));
    header + &tournaments.iter().map(line).collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_book_is_shown_by_its_length() {
        let spec = |openings: usize| {
            let openings = vec!["\"e4 e5\""; openings].join(", ");
            format!("[play]\nbook = [{openings}]\nrotate = true\n")
        };
        assert_eq!(without_book(&spec(2)), spec(2));
        assert_eq!(
            without_book(&spec(16_384)),
            "[play]\nbook = [] # 16,384 openings: --output json has them\nrotate = true\n"
        );
    }
}
