//! Records in a file.

use std::{fs::File, io::Read, path::Path};

use arena_model::record::ParsedRecord;

use crate::failure::{Failure, Outcome};

/// The text of a record.
pub struct Text {
    /// File name and line.
    pub place: String,
    /// The record, as JSON.
    pub text: String,
}

/// The records of a file, one per line, or a single one over several lines, as `jq` writes
/// it; `-` is stdin.
pub fn texts(file: &Path) -> Outcome<Vec<Text>> {
    let shown = file.display();
    let mut bytes = Vec::new();
    if file.as_os_str() == "-" {
        std::io::stdin().read_to_end(&mut bytes)
    } else {
        File::open(file).and_then(|mut file| file.read_to_end(&mut bytes))
    }
    .map_err(|error| Failure::usage(format!("cannot read {shown}: {error}; give the path of a file with records, or - for standard input")))?;
    // Invalid UTF-8 is rejected later as an invalid record.
    let whole = String::from_utf8_lossy(&bytes);
    let lines = (1..).zip(whole.lines());
    let lines = lines.filter(|(_, line)| !line.trim().is_empty());
    let text = |(number, line): (u64, &str)| Text {
        place: format!("{shown} line {number}"),
        text: line.to_owned(),
    };
    let texts: Vec<Text> = lines.map(text).collect();
    if texts.is_empty() {
        return Err(Failure::usage(format!("{shown} contains no record")));
    }
    if texts.len() > 1 && ParsedRecord::parse(&whole).is_ok() {
        return Ok(vec![Text {
            place: shown.to_string(),
            text: whole.into_owned(),
        }]);
    }
    Ok(texts)
}
