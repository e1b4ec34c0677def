//! Disks without room, and disks that take no more writes.

use std::{
    fs,
    fs::File,
    io::{ErrorKind, Write},
};

use super::{Broken, Figure, Outcome, Proof, on_disk::OnDisk};
use crate::{Disk, World};

/// Size of a disk in MiB: twice what the store keeps free, and some.
const DISK_MIB: u64 = 96;
/// What the store keeps free, bytes.
const RESERVE: u64 = arena_store::RESERVE_BYTES;
/// Results acknowledged before the disk fails.
const BEFORE: usize = 12;

/// Settings.
#[derive(Debug, clap::Args)]
pub struct Full {
    /// How often each kind of disk fails.
    #[arg(long, default_value_t = 5)]
    rounds: u32,
    /// Blocks of the tournament, of six games each.
    #[arg(long, default_value_t = 40)]
    blocks: u64,
}

impl Proof for Full {
    const PROMISE: &'static str = "on a disk that is full or read-only a coordinator stops with \
                                   a clear message, and goes on from what it acknowledged";

    fn quick() -> Self {
        Self {
            rounds: 1,
            blocks: 10,
        }
    }

    fn run(&self) -> Result<Outcome, Broken> {
        let mut figures = Vec::new();
        let mut acknowledged = 0;
        for round in 0..self.rounds {
            for kind in ["tmpfs", "ext4"] {
                let world = World::new();
                let disk = match kind {
                    "tmpfs" => Disk::memory(world.folder(), DISK_MIB),
                    _ => Disk::ext4(world.folder(), DISK_MIB),
                };
                let disk = match disk {
                    Ok(disk) => disk,
                    Err(reason) => {
                        return Ok(Outcome::Skipped(format!(
                            "no {kind} can be mounted here (root may): {reason}"
                        )));
                    }
                };
                let seed = u64::from(round) + 1;
                let tried = format!("on {kind}, round {round}");
                let told = |Broken(seen)| Broken(format!("{tried}: {seen}"));
                for left in [RESERVE - (1 << 20), 0] {
                    acknowledged += self.full(&disk, left, seed).map_err(told)?;
                }
                if kind == "ext4" {
                    acknowledged += self.read_only(disk, seed).map_err(told)?;
                }
            }
        }
        figures.push(Figure::new(
            "tmpfs and ext4 filled up, times each",
            self.rounds,
        ));
        figures.push(Figure::new("ext4 turned read-only, times", self.rounds));
        figures.push(Figure::new(
            "results acknowledged, all present",
            acknowledged,
        ));
        Ok(Outcome::Holds(figures))
    }
}

impl Full {
    /// Leaves so many bytes free: less than the store wants, or nothing at all.
    fn full(&self, disk: &Disk, left: u64, seed: u64) -> Result<u64, Broken> {
        let data = disk.join(&format!("full-{left}"));
        let tournament = OnDisk::new(data, self.blocks, seed);
        let mut server = tournament.coordinator();
        tournament.begin(&server, BEFORE)?;
        let filler = disk.path().join("filler");
        fill(disk, &filler, left).map_err(Broken::new)?;
        OnDisk::ends(
            &mut server,
            &["no space left for the store in", "make room"],
        )?;
        let held = tournament.acknowledged();
        if left > 0 {
            // Without room it opens, and stops as soon as it is to write.
            let mut server = tournament.coordinator();
            OnDisk::ends(&mut server, &["no space left for the store in"])?;
        } else {
            let refused = tournament.refused();
            let said = refused.stderr.contains("no space left for the store in");
            if refused.code != Some(1) || !said {
                return Err(Broken::new(refused.told()));
            }
        }
        if tournament.acknowledged() > held {
            return Err(Broken::new("a result was acknowledged on a full disk"));
        }
        fs::remove_file(&filler).map_err(Broken::new)?;
        tournament.finish()
    }

    fn read_only(&self, mut disk: Disk, seed: u64) -> Result<u64, Broken> {
        let tournament = OnDisk::new(disk.join("read-only"), self.blocks, seed);
        let mut server = tournament.coordinator();
        tournament.begin(&server, BEFORE)?;
        disk.fail().map_err(Broken::new)?;
        OnDisk::ends(&mut server, &["could not"])?;
        let refused = tournament.refused();
        if refused.code != Some(1) || !refused.stderr.contains("Read-only file system") {
            return Err(Broken::new(refused.told()));
        }
        disk.power_on().map_err(Broken::new)?;
        tournament.finish()
    }
}

/// Fills a disk up, but for so many bytes.
fn fill(disk: &Disk, filler: &std::path::Path, left: u64) -> Result<(), String> {
    let mut file = File::create(filler).map_err(|e| e.to_string())?;
    for size in [256 << 10, 4 << 10, 1] {
        let block = vec![1; size];
        while disk.free()? > left {
            match file.write_all(&block) {
                Ok(()) => {}
                // A smaller block may still fit.
                Err(error) if error.kind() == ErrorKind::StorageFull => break,
                Err(error) => return Err(error.to_string()),
            }
        }
    }
    match file.sync_all() {
        Err(error) if error.kind() != ErrorKind::StorageFull => Err(error.to_string()),
        _ => Ok(()),
    }
}
