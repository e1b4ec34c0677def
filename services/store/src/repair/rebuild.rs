//! Rebuilds a damaged store from everything that can be read.

use std::{fs, path::Path};

use super::{
    carve::Carved,
    copy::StoreCopy,
    report::RepairReport,
    salvage::Salvage,
    verify::{LOCK_WAIT, check, read},
};
use crate::{
    Options, StoreError,
    binary::Binaries,
    error::At,
    files::{digest, existing},
    sled::{backend::SledBackend, commit_marker::CommitMarker, folder::Folder, scratch::Scratch},
};

/// Builds a new database from everything that can be read of a damaged one, and switches to it
/// atomically. What the database cannot return is taken from the raw bytes of its files. The
/// damaged database and the binaries stay. Lost games are replayed when their tournament resumes.
///
/// # Errors
/// `Locked`, `NotFound`, `NewerVersion`, `Full` (a second copy of the database must fit), or
/// another error of the disk; the store is unchanged in that case.
pub fn repair(data: impl AsRef<Path>) -> Result<RepairReport, StoreError> {
    let folder = Folder::open(data.as_ref(), LOCK_WAIT, false)?;
    // Before the database is opened, which changes it if there is no room for a copy.
    let carved = Carved::of(&folder.database(folder.generation).join("sled"))?;
    let report = check(&folder, None)?;
    let mut repaired = RepairReport {
        path: folder.path.clone(),
        games: report.games,
        documents: report.documents,
        damage_report: report.damage_report,
        ..RepairReport::default()
    };
    if repaired.damage_report.is_empty() {
        return Ok(repaired);
    }
    for (name, path) in Binaries::list(&folder.binaries())? {
        if hex::encode(digest(&path)?) != name {
            fs::remove_file(&path).at("remove", &path)?;
        }
    }
    let generation = folder.newest()?.unwrap_or(0) + 1;
    // Without a label, the newest database is the current one, so a database under construction
    // must have another kind of name.
    let unfinished = folder.unfinished();
    existing(fs::remove_dir_all(&unfinished)).at("remove", &unfinished)?;
    let built = build(&folder, &unfinished, &carved, &mut repaired).and_then(|()| {
        folder.finish(generation)?;
        folder.write_label(generation)
    });
    if let Err(error) = built {
        // It does no harm, but takes space.
        let _ = fs::remove_dir_all(&unfinished);
        return Err(error);
    }
    repaired.before = Some(folder.database(folder.generation));
    Ok(repaired)
}

/// Copies everything readable of the folder's generation to a new one.
fn build(
    folder: &Folder,
    target: &Path,
    carved: &Carved,
    repaired: &mut RepairReport,
) -> Result<(), StoreError> {
    let scratch = Scratch::of(folder)?;
    let core = SledBackend::open(target, &folder.path, &Options::default(), true)?;
    let mut copy = StoreCopy::new(&core);
    let mut salvage = Salvage::new(carved);
    match read(folder, &scratch.database, |item| {
        salvage.saw(&item);
        copy.take(&item);
    }) {
        Ok((walk, _)) => salvage.walked(&walk),
        Err(StoreError::Corrupt { .. }) => {}
        Err(error) => return Err(error),
    }
    copy.write()?;
    let before = core.index().games();
    let found = CommitMarker::read(&scratch.database.join("acknowledged"))?;
    salvage.bring(found, &mut copy)?;
    copy.finish()?;
    repaired.games = core.index().games();
    repaired.games_rescued = repaired.games - before;
    let missing = core.index().gaps_text();
    core.close()?;
    salvage.report(repaired, &missing);
    Ok(())
}
