use std::{fs, path::Path};

use arena_tests::repository;

/// Retired words with their replacements. A word is a part of a name or of a text.
const WORDS: [(&[&str], &str); 21] = [
    (
        &["told", "untold", "tell", "tells", "telling"],
        "reported, shown",
    ),
    (
        &["nobody", "somebody", "whoever"],
        "the actor: no worker, every user",
    ),
    (&["receipt", "receipts"], "commit marker"),
    (&["lent", "lend", "lends", "lending"], "leased, assigned"),
    (&["yardstick", "yardsticks"], "baseline"),
    (&["squeeze", "squeezed", "squeezes"], "compress"),
    (&["sealer"], "record builder"),
    (&["befall", "befalls", "befell"], "happen to"),
    (&["errand", "errands"], "task"),
    (&["patience"], "timeout, grace period"),
    (
        &["tamper", "tampered", "tampering", "tampers"],
        "change, inject",
    ),
    (&["merit", "merits"], "rank key"),
    (&["brain", "brains"], "bot pool"),
    (&["hall"], "native runner"),
    (&["attendant"], "agent task"),
    (&["distrust"], "fault attribution"),
    (&["blame", "blamed", "blames"], "fault attribution, charge"),
    (&["mend", "mended", "mends"], "repair, fix"),
    (&["reckon", "reckoned", "reckons"], "compute"),
    (&["nought"], "zero"),
    (&["parting", "partings"], "divergence"),
];

/// Retired phrases with their replacements.
const PHRASES: [(&str, &str); 4] = [
    ("for one look", "fixed-sample interval"),
    ("less luck", "luck-adjusted score"),
    (" n/c ", "not comparable"),
    ("hope again", "retry"),
];

/// Names that stay: former names that still work, a label of a metric, a file of the store, and the
/// user `nobody` of Linux.
const ALLOWED: [&str; 7] = [
    "host-patience",
    "HOST_PATIENCE",
    "\"receipt\"",
    "(receipt)",
    "\"nobody",
    "`nobody`",
    "NOBODY",
];

/// Folders that are generated, and files of others. CONTRIBUTING-wording.md shows retired words next to
/// their replacements.
const SKIPPED: [&str; 15] = [
    ".git",
    "CONTRIBUTING-wording.md",
    "Cargo.lock",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "vocabulary.rs",
    "target",
    "arena-data",
    "node_modules",
    "__pycache__",
    ".venv",
    ".pytest_cache",
    "arena_agent.egg-info",
    "arena_openspiel.egg-info",
    "arena_pettingzoo.egg-info",
];

/// The words of a line in lower case; `BotPool` and `bot_pool` each have two.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for letter in line.chars() {
        if !letter.is_ascii_alphabetic() || letter.is_uppercase() && before.is_lowercase() {
            words.push(String::new());
        }
        if letter.is_ascii_alphabetic() {
            let last = words.last_mut().expect("a word");
            last.push(letter.to_ascii_lowercase());
        }
        before = letter;
    }
    words
}

/// The retired words of a line, with their replacements.
fn retired(line: &str) -> Vec<(&'static str, &'static str)> {
    if ALLOWED.iter().any(|name| line.contains(name)) {
        return Vec::new();
    }
    let words = words(line);
    let lower = line.to_lowercase();
    let found = WORDS.iter().flat_map(|(retired, replacement)| {
        let of_line = retired
            .iter()
            .filter(|one| words.iter().any(|word| word == *one));
        of_line.map(|one| (*one, *replacement))
    });
    let phrases = PHRASES.iter().filter(|(phrase, _)| lower.contains(phrase));
    found.chain(phrases.copied()).collect()
}

/// Checks the files of a folder and of all folders below it.
fn check(folder: &Path, findings: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_symlink() || SKIPPED.contains(&&*name) {
            continue;
        }
        if path.is_dir() {
            check(&path, findings);
        } else {
            // Images and archives have no text.
            let text = fs::read_to_string(&path).unwrap_or_default();
            for (number, line) in text.lines().enumerate() {
                findings.extend(retired(line).iter().map(|(word, replacement)| {
                    let place = path.strip_prefix(repository()).unwrap_or(&path).display();
                    format!("{place}:{}: \"{word}\": write {replacement}", number + 1)
                }));
            }
        }
    }
}

#[test]
fn no_file_has_a_retired_word() {
    let mut findings = Vec::new();
    check(repository(), &mut findings);
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}

#[test]
fn retired_words_are_found_within_names() {
    for line in [
        "fn lent_games()",
        "struct AgentAttendant;",
        "YARDSTICK",
        "is told.",
    ] {
        assert_eq!(retired(line).len(), 1, "{line}");
    }
    for line in [
        "toldest",
        "an equivalent",
        "excellent",
        "challenge",
        "--host-patience",
        "amend",
    ] {
        assert_eq!(retired(line), [], "{line}");
    }
}
