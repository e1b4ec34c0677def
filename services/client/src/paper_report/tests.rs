use std::sync::Arc;

use super::*;

fn runner(games: u64) -> TableRunner {
    TableRunner {
        seed: "0x5eed".parse().expect("a seed"),
        games: Some(games),
        threads: 2,
        stop: Arc::default(),
    }
}

fn run(id: &str, games: u64) -> TableResult {
    let table = arena_papers::table(id).expect("a table");
    runner(games).run(table, &|| ()).expect("it can be run")
}

#[test]
fn tables_fit_a_terminal() {
    // A little more than 100, since intervals of a few games are wide.
    let fits = |text: &str| {
        for line in text.lines() {
            let width = line.trim_end().chars().count();
            assert!(width <= 108, "{width}: {line}");
        }
    };
    let all: Vec<TableResult> = arena_papers::tables()
        .expect("tables")
        .iter()
        .map(|table| run(table.id, 6))
        .collect();
    for ran in &all {
        fits(&cells(ran, &runner(6)));
    }
    fits(&summary(&all));
}

#[test]
fn table_shows_its_rules() {
    let ran = run("001-i", 2000);
    let text = cells(&ran, &runner(2000));
    assert!(
        text.contains("R within: |z| <= 2.7, n = 50 (intelligent, random)"),
        "{text}"
    );
    assert!(
        text.contains("R within: published ±16 (average moves)"),
        "{text}"
    );
}

#[test]
fn ordinal_verdict_shows_its_bound() {
    let ran = run("003-example", 6);
    let text = cells(&ran, &runner(6));
    assert!(text.contains("Q within, 0.12 to 0.75"), "{text}");
}

#[test]
fn machine_readable_numbers_are_digits() {
    let games = |format| -> Vec<String> {
        let listing = listing(format).expect("tables");
        let cells = listing.rows.into_iter().map(|(cells, _)| cells);
        cells.filter_map(|mut cells| cells.pop()).collect()
    };
    let csv = games(Format::Csv);
    assert!(
        csv.iter().all(|games| games.parse::<u64>().is_ok()),
        "{csv:?}"
    );
    assert!(games(Format::Table).contains(&"2,000".to_owned()));
}
