//! Backups of running coordinators, and the files of a folder of backups.

use std::{
    fs,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use arena_report::whole_file;
use arena_store::{BackupReport, StoreError};
use arena_wire::v1::{self, backup_store_response::Part};
use nix::sys::statvfs::statvfs;
use tokio::time::{Instant, sleep_until};

use super::failure::failure;
use crate::{
    access::{AccessArgs, Client},
    failure::{Failure, Kind, Outcome},
    output::note,
    signals::Interrupt,
};

/// A backup leaves so many bytes of its disk free, or one part in so many of a small disk.
const FREE_MIN: u64 = 256 << 20;
const FREE_PART: u64 = 100;
/// Bytes after which that is checked again.
const FREE_CHECK: usize = 16 << 20;
/// Ending of the files that `--into` writes.
const ENDING: &str = ".arena";

/// The name of a backup of this time: `2026-11-26T160000Z.arena`.
#[must_use]
pub fn file_name(time: SystemTime) -> String {
    let text = humantime::format_rfc3339_seconds(time).to_string();
    text.replace(':', "") + ENDING
}

/// True for the names of [`file_name`].
fn is_named_by_time(name: &str) -> bool {
    let Some(time) = name.strip_suffix(ENDING).filter(|time| time.is_ascii()) else {
        return false;
    };
    let parts = [time.get(..13), time.get(13..15), time.get(15..)];
    let [Some(hour), Some(minute), Some(second)] = parts else {
        return false;
    };
    humantime::parse_rfc3339(&format!("{hour}:{minute}:{second}"))
        .is_ok_and(|time| file_name(time) == name)
}

/// Removes the oldest backups of a folder until so many are left.
pub fn remove_oldest(folder: &Path, keep: usize) -> Outcome {
    let entries = fs::read_dir(folder)?;
    let names = entries.map(|entry| entry.map(|entry| entry.file_name()));
    let names = names.collect::<io::Result<Vec<_>>>()?.into_iter();
    let names = names.filter_map(|name| name.into_string().ok());
    let mut names: Vec<String> = names.filter(|name| is_named_by_time(name)).collect();
    names.sort_unstable();
    let excess = names.len().saturating_sub(keep);
    for name in &names[..excess] {
        let path = folder.join(name);
        fs::remove_file(&path).map_err(|error| whole_file::failed(&path, &error))?;
        note(format!("removed {}", path.display()));
    }
    Ok(())
}

/// Requests a backup from a running coordinator; `rate` limits the bytes a second.
pub async fn fetch(access: &AccessArgs, to: &Path, rate: Option<f64>) -> Outcome<BackupReport> {
    if to.exists() {
        return Err(failure(StoreError::NotEmpty {
            path: to.to_owned(),
        }));
    }
    let mut access = access.open().await?;
    let unfinished = PathBuf::from(format!("{}.unfinished", to.display()));
    let mut interrupt = Interrupt::listen()?;
    let made = tokio::select! {
        made = receive(&mut access.client, &unfinished, to, rate) => made,
        () = interrupt.asked() => Err(Failure::new(Kind::Interrupted, "no backup was made")),
    };
    if made.is_err() {
        // Prevents use of an unfinished backup.
        let _ = fs::remove_file(&unfinished);
    }
    access.close().await?;
    made
}

async fn receive(
    client: &mut Client,
    unfinished: &Path,
    to: &Path,
    rate: Option<f64>,
) -> Outcome<BackupReport> {
    let write = |error: io::Error| whole_file::failed(unfinished, &error);
    let mut file = BufWriter::new(arena_store::create_private(unfinished).map_err(write)?);
    let answer = client.backup_store(v1::BackupStoreRequest {}).await?;
    let mut stream = answer.into_inner();
    let (start, mut bytes) = (Instant::now(), 0);
    let mut done = None;
    check_free(unfinished)?;
    let mut next_check = FREE_CHECK;
    while let Some(message) = stream.message().await? {
        match message.part {
            Some(Part::Chunk(chunk)) => {
                file.write_all(&chunk).map_err(write)?;
                bytes += chunk.len();
                if bytes > next_check {
                    check_free(unfinished)?;
                    next_check = bytes + FREE_CHECK;
                }
                if let Some(rate) = rate {
                    // The coordinator waits for its reader.
                    sleep_until(start + Duration::from_secs_f64(bytes as f64 / rate)).await;
                }
            }
            Some(Part::Done(all)) => done = Some(all),
            None => {}
        }
    }
    file.flush().map_err(write)?;
    let done = done.ok_or_else(|| Failure::failed("the backup was interrupted: try again"))?;
    let bytes = arena_store::keep_backup(unfinished, to).map_err(failure)?;
    Ok(BackupReport {
        path: to.to_owned(),
        games: done.games,
        documents: done.documents,
        binaries: done.binaries,
        events: done.events,
        bytes,
    })
}

/// Fails if a backup, whose size only the coordinator knows, would fill the disk.
fn check_free(unfinished: &Path) -> Outcome {
    let Ok(disk) = statvfs(unfinished) else {
        return Ok(());
    };
    let bytes = |blocks: u64| blocks.saturating_mul(disk.fragment_size());
    let (free, all) = (bytes(disk.blocks_available()), bytes(disk.blocks()));
    match free >= FREE_MIN.min(all / FREE_PART) {
        true => Ok(()),
        false => Err(Failure::failed(format!(
            "the disk of {} is almost full: free some space, or write the backup elsewhere; if it is \
             larger than the coordinator's data, check the coordinator's address",
            unfinished.display()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_backups_by_time_are_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let time = |day: u64| SystemTime::UNIX_EPOCH + Duration::from_secs(day * 86_400);
        let kept = [
            "monday.arena",
            "2026-11-26T160000Z.txt",
            "2026-13-26T160000Z.arena",
        ];
        let all = (1..=5).map(|day| file_name(time(day)));
        for name in all.chain(kept.map(str::to_owned)) {
            fs::write(folder.path().join(name), "").expect("a file");
        }
        remove_oldest(folder.path(), 2).expect("removed");
        let left = fs::read_dir(folder.path()).expect("a folder");
        let left = left.map(|entry| entry.expect("a file").file_name());
        let mut left: Vec<_> = left
            .map(|name| name.into_string().expect("UTF-8"))
            .collect();
        left.sort_unstable();
        let mut expected = [
            &kept.map(str::to_owned)[..],
            &[4, 5].map(|day| file_name(time(day))),
        ]
        .concat();
        expected.sort_unstable();
        assert_eq!(left, expected);
        assert_eq!(file_name(time(5)), "1970-01-06T000000Z.arena");
    }
}
