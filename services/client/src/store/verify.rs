//! Results of verifications, repairs and copies.

use std::path::Path;

use arena_coordinator::WholeTrail;
use arena_store::{BackupReport, VerifyReport};
use serde::Serialize;

use super::{
    failure::failure,
    records::{Checked, Records},
};
use crate::{
    failure::{Failure, Outcome},
    output::{self, Format, note},
};

/// Prints the result of a verification, and fails if anything is wrong; `data` has the audit trail.
pub fn print(report: &VerifyReport, records: &Records, data: &Path, format: Format) -> Outcome {
    let (records, anchor) = (&records.checked, records.anchor.as_deref());
    let whole = Verified { report, records };
    let VerifyReport {
        games,
        documents,
        binaries,
        bytes_on_disk: bytes,
        ..
    } = report;
    match format {
        Format::Json => output::json(&whole)?,
        Format::Jsonl => output::json_line(&whole)?,
        Format::Csv => {
            let (damages, unsound) = (report.damage_report.len(), records.unsound);
            output::write(&format!(
                "games,documents,binaries,bytes,damages,unsound\n\
                 {games},{documents},{binaries},{bytes},{damages},{unsound}\n"
            ))?;
        }
        Format::Table => output::write(&format!(
            "{}: {games} games, {documents} documents, {binaries} binaries, {bytes} bytes\n",
            report.path.display()
        ))?,
    }
    if records.removed > 0 {
        note(format!(
            "{} games are of removed tournaments: `arena store compact` gives their space back",
            records.removed
        ));
    }
    if records.hashes_alone > 0 {
        note(format!(
            "{} games have no moves (records = \"hash\"): check them one by one with `arena game \
             rerun`",
            records.hashes_alone
        ));
    }
    for (why, games) in &records.unchecked {
        note(format!("{games} games cannot be checked: {why}"));
    }
    if report.in_place {
        note(
            "checked in place, because there is no space for a copy: a torn end of the log is cut \
             off",
        );
    }
    let mut found = report.damage_report.clone();
    found.extend(report.remedy.clone());
    found.extend(unsound(records));
    found.extend(broken_trail(data, anchor));
    if found.is_empty() {
        return Ok(());
    }
    Err(Failure::differs(found.join("\n")))
}

/// What a verification prints as JSON.
#[derive(Serialize)]
struct Verified<'a> {
    #[serde(flatten)]
    report: &'a VerifyReport,
    records: &'a Checked,
}

/// The invalid records, and what to do.
fn unsound(records: &Checked) -> Vec<String> {
    if records.unsound == 0 {
        return Vec::new();
    }
    let mut lines = records.unsound_records.clone();
    let unnamed = records.unsound - lines.len() as u64;
    lines.extend((unnamed > 0).then(|| format!("{unnamed} more records are wrong")));
    let advice = "these records do not match the rules and seeds: play their tournaments again \
     with `arena run SPEC --again`";
    lines.push(advice.to_owned());
    lines
}

/// Repairs the store of a data folder, prints the result, and fails if something is lost.
pub fn repair(data: &Path, format: Format) -> Outcome {
    let repaired = arena_store::repair(data).map_err(failure)?;
    let mut text = format!(
        "{}: kept {} games and {} documents\n",
        repaired.path.display(),
        repaired.games,
        repaired.documents
    );
    if repaired.games_rescued > 0 || repaired.documents_rescued > 0 {
        text += &format!(
            "{} games and {} documents of them came from the files outside the database\n",
            repaired.games_rescued, repaired.documents_rescued
        );
    }
    for damage in &repaired.damage_report {
        text += &format!("found: {damage}\n");
    }
    if let Some(before) = &repaired.before {
        text += &format!("the damaged database is kept in {}\n", before.display());
    }
    match format {
        Format::Json => output::json(&repaired)?,
        Format::Jsonl => output::json_line(&repaired)?,
        Format::Csv | Format::Table => output::write(&text)?,
    }
    if !repaired.has_losses() {
        return Ok(());
    }
    Err(Failure::differs(format!(
        "the store is repaired, but {} games and {} documents are lost: lost games are replayed \
         when their tournament continues; to return to a backup, use `arena store restore BACKUP \
         --data NEW-FOLDER`",
        repaired.games_lost, repaired.documents_lost
    )))
}

/// Fails if the audit trail of a new data folder is not whole.
pub fn check_trail(data: &Path) -> Outcome {
    match broken_trail(data, None) {
        Some(problem) => Err(Failure::differs(problem)),
        None => Ok(()),
    }
}

/// What is wrong with the audit trail of a data folder, if anything is. A whole one is noted. `anchor` is
/// its end, as the store has it.
fn broken_trail(data: &Path, anchor: Option<&[u8]>) -> Option<String> {
    match arena_coordinator::verify_events(data, anchor) {
        Ok(None) => None,
        Ok(Some(WholeTrail { first, last, hash })) => {
            note(format!(
                "audit trail: whole, events {first} to {last}; the last has hash {hash}"
            ));
            None
        }
        Err(problem) => Some(format!(
            "the audit trail in {} is not whole: {problem}; compare it with a backup",
            data.display()
        )),
    }
}

/// Prints what was copied, and where; `what` is the verb.
pub fn print_copy(what: &str, report: &BackupReport) -> Outcome {
    output::write(&format!(
        "{what} {}: {} games, {} documents, {} binaries, {} events, {} bytes\n",
        report.path.display(),
        report.games,
        report.documents,
        report.binaries,
        report.events,
        report.bytes
    ))
}
