//! Disks without room, and disks that take no more writes.

use std::{fs, fs::File, io::Write};

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
                acknowledged += self.full(&disk, seed).map_err(told)?;
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
    fn full(&self, disk: &Disk, seed: u64) -> Result<u64, Broken> {
        let data = disk.join("full");
        let tournament = OnDisk::new(data, self.blocks, seed);
        let mut server = tournament.coordinator();
        tournament.begin(&server, BEFORE)?;
        let filler = disk.path().join("filler");
        fill(disk, &filler).map_err(Broken::new)?;
        OnDisk::ends(
            &mut server,
            &["no space left for the store in", "make room"],
        )?;
        // Without room it opens, and stops as soon as it is to write.
        let held = tournament.acknowledged();
        let mut server = tournament.coordinator();
        OnDisk::ends(&mut server, &["no space left for the store in"])?;
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

/// Fills a disk up, but for less than the store wants free.
fn fill(disk: &Disk, filler: &std::path::Path) -> Result<(), String> {
    let mut file = File::create(filler).map_err(|e| e.to_string())?;
    let block = vec![1; 256 << 10];
    while disk.free()? > RESERVE - (1 << 20) {
        file.write_all(&block).map_err(|e| e.to_string())?;
    }
    file.sync_all().map_err(|e| e.to_string())
}
