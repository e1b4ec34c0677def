use std::{collections::BTreeMap, fs};

use arena_engine::options::{Options, Value};
use serde::Deserialize;

use super::*;

/// A file and its openings, or a part of the error.
#[derive(Deserialize)]
struct Case {
    name: String,
    file: String,
    text: String,
    /// A text and the number of times that it is appended.
    repeat: Option<(String, usize)>,
    plies: Option<u32>,
    ruleset: Option<String>,
    #[serde(default)]
    options: BTreeMap<String, String>,
    openings: Option<Vec<String>>,
    #[serde(default)]
    duplicates: usize,
    error: Option<String>,
}

fn rules(ruleset: &str, options: &BTreeMap<String, String>) -> std::sync::Arc<dyn AnyGame> {
    let options = options.clone().into_iter();
    let given: Options = options
        .map(|(name, value)| (name, Value::Text(value)))
        .collect();
    let (options, seats) = arena_games::resolve(ruleset, &given, None).expect("options");
    arena_games::build(ruleset, &options, seats).expect("a game")
}

fn settings(plies: Option<u32>, order: BookOrder) -> BookSettings {
    BookSettings {
        plies,
        order,
        seed: "0x5eed".parse().ok(),
    }
}

#[test]
fn files_are_read_as_the_cases_say() {
    let cases = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/data/books/cases.json"
    );
    let cases = fs::read_to_string(cases).expect("the cases");
    let cases: Vec<Case> = serde_json::from_str(&cases).expect("cases");
    let folder = tempfile::tempdir().expect("a folder");
    let mut wrong = Vec::new();
    for case in &cases {
        let path = folder.path().join(&case.file);
        let (more, times) = case
            .repeat
            .as_ref()
            .map_or(("", 0), |(more, times)| (more, *times));
        fs::write(&path, case.text.clone() + &more.repeat(times)).expect("a file");
        let game = rules(case.ruleset.as_deref().unwrap_or("chess"), &case.options);
        let read = read(&path, settings(case.plies, BookOrder::Random), &*game);
        let is_right = match (&read, &case.openings, &case.error) {
            (Ok(read), Some(openings), None) => {
                (&read.openings, read.duplicates, read.left_out) == (openings, case.duplicates, 0)
            }
            (Err(failure), None, Some(error)) => {
                let text = failure.to_string();
                text.contains(error) && text.len() < 1000 && text.starts_with("book /")
            }
            _ => false,
        };
        if !is_right {
            wrong.push(format!("{}: {read:?}", case.name));
        }
    }
    assert!(cases.len() > 50 && wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn openings_that_do_not_fit_are_left_out_by_order_and_seed() {
    let openings: Vec<String> = (0..20_000)
        .map(|number| format!("opening {number}"))
        .collect();
    let first = those_that_fit(openings.clone(), settings(None, BookOrder::Sequential));
    assert_eq!(first, openings[..16_384]);
    let drawn = those_that_fit(openings.clone(), settings(None, BookOrder::Random));
    assert_eq!(drawn.len(), 16_384);
    assert_ne!(drawn, first);
    let places = drawn
        .iter()
        .map(|it| openings.iter().position(|other| it == other));
    assert!(places.clone().all(|place| place.is_some()) && places.is_sorted_by(|a, b| a < b));
    let again = those_that_fit(openings.clone(), settings(None, BookOrder::Random));
    assert_eq!(drawn, again);
    let other = BookSettings {
        seed: "7".parse().ok(),
        ..settings(None, BookOrder::Random)
    };
    assert_ne!(those_that_fit(openings, other), drawn);
    let long = vec!["x".repeat(8000); 200];
    let fit = those_that_fit(long, settings(None, BookOrder::Sequential));
    assert_eq!(fit.len(), (768 << 10) / 8004);
}

#[test]
fn missing_and_huge_files_are_refused() {
    let game = rules("chess", &BTreeMap::new());
    let settings = settings(None, BookOrder::Random);
    let folder = tempfile::tempdir().expect("a folder");
    for (name, problem) in [
        ("missing.epd", "cannot read it"),
        ("folder.epd", "cannot read it"),
        ("huge.epd", "more than 64 MiB"),
    ] {
        let path = folder.path().join(name);
        match name {
            "folder.epd" => fs::create_dir(&path).expect("a folder"),
            "huge.epd" => {
                let file = File::create(&path).expect("a file");
                file.set_len(FILE_BYTES_MAX + 1).expect("a size");
            }
            _ => {}
        }
        let failure = read(&path, settings, &*game).expect_err(name).to_string();
        assert!(failure.contains(problem), "{failure}");
    }
}
