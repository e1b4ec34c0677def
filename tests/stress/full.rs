//! Full disks, and disks that become read-only.

use std::{
    fs::{self, File},
    io::{ErrorKind, Write},
    path::{Path, PathBuf},
    time::Duration,
};

use arena_wire::AgentRng;
use nix::sys::signal::Signal;

use super::{
    Broken, Figure, Outcome, StressTest,
    appender::{Known, append_to, quiet},
    on_disk::OnDisk,
};
use crate::{Disk, Started, World, until, within};

/// Size of a disk in MiB: a little more than twice the reserve of the store.
const DISK_MIB: u64 = 96;
/// The reserve of the store, in bytes.
const RESERVE: u64 = arena_store::RESERVE_BYTES;
/// Results acknowledged before the disk fails.
const BEFORE: usize = 12;
/// The store's error on a full disk.
const NO_ROOM: &str = "no space left for the store in";
/// The largest free space when a store unexpectedly meets a full disk, in bytes.
const LEFT_MAX: u32 = 6 << 20;
/// The limit for a store to use up this space.
const USED_UP: Duration = Duration::from_secs(60);

/// Settings.
#[derive(Debug, clap::Args)]
pub struct Full {
    /// How often each kind of disk fails
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Blocks of the tournament, of six games each
    #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u64).range(1..))]
    blocks: u64,
    /// How often in each round the space vanishes after the store has checked it, so that the
    /// database meets a full disk
    #[arg(long, default_value_t = 10)]
    vanish: u32,
    /// Seed of the free space and of the time when it vanishes
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

impl StressTest for Full {
    const PROMISE: &'static str = "on a disk that is full or read-only a coordinator stops with \
                                   a clear message, and later continues without a loss";

    fn quick() -> Self {
        Self {
            rounds: 1,
            blocks: 10,
            vanish: 1,
            seed: 1,
        }
    }

    fn run(&self) -> Result<Outcome, Broken> {
        let mut rng = AgentRng::new(self.seed);
        let mut figures = Figures::default();
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
                let at = |Broken(seen)| {
                    Broken(format!(
                        "on {kind}, round {round}: {seen}\nagain: tests/stress/run full --rounds {} \
                         --blocks {} --vanish {} --seed {}",
                        self.rounds, self.blocks, self.vanish, self.seed
                    ))
                };
                self.round(kind, disk, &world, &mut rng, &mut figures)
                    .map_err(at)?;
            }
        }
        for round in 0..self.rounds {
            let world = World::new();
            match unsynced(&world, rng.below(40) as usize) {
                Ok(Some(games)) => figures.unsynced += games,
                Ok(None) => figures.unsynced_skipped += 1,
                Err(broken) => {
                    return Err(broken.of(&format!("a sync fails, round {round}")));
                }
            }
        }
        Ok(Outcome::Holds(figures.figures(self.rounds)))
    }
}

/// The numbers for the figures.
#[derive(Default)]
struct Figures {
    acknowledged: u64,
    vanished: u64,
    stored: u64,
    unsynced: u64,
    unsynced_skipped: u32,
}

impl Figures {
    fn figures(self, rounds: u32) -> Vec<Figure> {
        vec![
            Figure::new("tmpfs and ext4 filled up, times each", rounds * 3),
            Figure::new("ext4 turned read-only, times", rounds),
            Figure::new(
                "results acknowledged over gRPC, all present",
                self.acknowledged,
            ),
            Figure::new(
                "room that vanished under a store that writes, times",
                self.vanished,
            ),
            Figure::new("games acknowledged by that store, all present", self.stored),
            Figure::new(
                "a sync failed and the page cache said otherwise, times",
                rounds - self.unsynced_skipped,
            ),
            Figure::new(
                "games acknowledged then and after, all on the disk",
                self.unsynced,
            ),
        ]
    }
}

impl Full {
    fn round(
        &self,
        kind: &str,
        disk: Disk,
        world: &World,
        rng: &mut AgentRng,
        figures: &mut Figures,
    ) -> Result<(), Broken> {
        let seed = rng.word();
        // Less than the store's reserve; nothing at all; and nothing for a store that checks no
        // reserve, as if another program had filled the disk in between.
        for (left, reserve) in [(RESERVE - (1 << 20), RESERVE), (0, RESERVE), (0, 0)] {
            figures.acknowledged += self
                .full(&disk, left, reserve, seed)
                .map_err(|broken| broken.of(&format!("{left} bytes free, {reserve} required")))?;
        }
        for _ in 0..self.vanish {
            let left = rng.below(LEFT_MAX);
            let lines = 1 + rng.below(60) as usize;
            figures.stored += vanish(world, &disk, left.into(), lines)
                .map_err(|broken| broken.of(&format!("only {left} bytes remain free")))?;
            figures.vanished += 1;
        }
        if kind == "ext4" {
            figures.acknowledged += self.read_only(disk, seed)?;
        }
        Ok(())
    }

    /// Leaves a number of free bytes to a store with a given reserve.
    fn full(&self, disk: &Disk, left: u64, reserve: u64, seed: u64) -> Result<u64, Broken> {
        let data = disk.join(&format!("full-{left}-{reserve}"));
        let tournament = OnDisk::new(data, self.blocks, seed);
        let asked = reserve.to_string();
        let asked = ["--reserve", &asked];
        let mut server = tournament.coordinator_with(&asked);
        tournament.begin(&server, BEFORE)?;
        let filler = Filler::fill(disk, left)?;
        tournament.ends(&mut server, &[NO_ROOM, "make room"])?;
        let held = tournament.acknowledged();
        // On a full disk the store does not open, or stops at its first write.
        tournament.refused(&asked, &[NO_ROOM])?;
        if tournament.acknowledged() > held {
            return Err(Broken::new("a result was acknowledged on a full disk"));
        }
        drop(filler);
        tournament.finish()
    }

    fn read_only(&self, mut disk: Disk, seed: u64) -> Result<u64, Broken> {
        let tournament = OnDisk::new(disk.join("read-only"), self.blocks, seed);
        let mut server = tournament.coordinator();
        tournament.begin(&server, BEFORE)?;
        disk.fail().map_err(Broken::new)?;
        tournament.ends(&mut server, &["could not"])?;
        tournament.refused(&[], &["Read-only file system"])?;
        disk.power_on().map_err(Broken::new)?;
        tournament.finish()
    }
}

/// Another program takes all but a number of bytes while a store writes that has already checked
/// its reserve, so that the database meets a full disk.
fn vanish(world: &World, disk: &Disk, left: u64, lines: usize) -> Result<u64, Broken> {
    let data = disk.join("vanish");
    let mut known = Known::default();
    let append = || append_to(world, &data, &["--reserve", "0"]);
    let written = |process: &Started| process.stdout().lines().count() > lines;
    let mut process = append();
    until("games to be acknowledged", || {
        (process.ended() || written(&process)).then_some(())
    });
    let filler = Filler::fill(disk, left)?;
    if within(USED_UP, || process.ended().then_some(())).is_none() {
        process.signal(Signal::SIGKILL);
        return Err(Broken::new(format_args!(
            "the store continues on a full disk: {}",
            process.output().transcript()
        )));
    }
    let output = process.output();
    quiet(&output)?;
    if output.code != Some(1) || !output.stderr.contains(NO_ROOM) {
        return Err(Broken::new(output.transcript()));
    }
    let mut stored = known.remember(&output)?;
    drop(filler);
    let verified = world.arena(&["store", "verify", "--data", &data]);
    if verified.code != Some(0) {
        return Err(Broken::new(verified.transcript()));
    }
    known.held(world, &data)?;
    // With free space the store continues.
    let process = append();
    until("games to be acknowledged", || {
        written(&process).then_some(())
    });
    process.signal(Signal::SIGKILL);
    stored += known.remember(&process.output())?;
    known.held(world, &data)?;
    fs::remove_dir_all(&data).map_err(Broken::new)?;
    Ok(stored)
}

/// A write is in the system's cache but cannot reach the disk. The sync fails, and the cache has
/// data that the disk does not have. The next process that opens the store must not trust the
/// cache. `None` if the machine has no such disk.
fn unsynced(world: &World, lines: usize) -> Result<Option<u64>, Broken> {
    let Ok(below) = Disk::memory(world.folder(), DISK_MIB) else {
        return Ok(None);
    };
    let Ok(mut disk) = Disk::thin(below.path(), 4 * DISK_MIB) else {
        return Ok(None);
    };
    let data = disk.join("unsynced");
    let mut known = Known::default();
    let written = |process: &Started| process.stdout().lines().count() > lines;
    let mut process = append_to(world, &data, &[]);
    until("games to be acknowledged", || {
        (process.ended() || written(&process)).then_some(())
    });
    let filler = Filler::fill(&below, 0)?;
    if within(USED_UP, || process.ended().then_some(())).is_none() {
        process.signal(Signal::SIGKILL);
        return Err(Broken::new(format_args!(
            "the store continues although no data reaches the disk: {}",
            process.output().transcript()
        )));
    }
    let output = process.output();
    quiet(&output)?;
    if output.code != Some(1) {
        return Err(Broken::new(output.transcript()));
    }
    let mut stored = known.remember(&output)?;
    drop(filler);
    let verified = world.arena(&["store", "verify", "--data", &data]);
    if verified.code != Some(0) {
        let arguments = ["store", "verify", "--repair", "--data", &data];
        let repaired = world.arena(&arguments);
        if repaired.code != Some(0) {
            return Err(Broken::new(format_args!(
                "{}\n{}",
                verified.transcript(),
                repaired.transcript()
            )));
        }
    }
    // The store continues with the data on the disk, and keeps everything that it acknowledges from
    // now on.
    let process = append_to(world, &data, &[]);
    until("games to be acknowledged", || {
        written(&process).then_some(())
    });
    process.signal(Signal::SIGKILL);
    stored += known.remember(&process.output())?;
    disk.power_on().map_err(Broken::new)?;
    known.held(world, &data)?;
    Ok(Some(stored))
}

/// A file that occupies the space of a disk until it is dropped.
struct Filler(PathBuf);

impl Filler {
    /// Fills a disk, except for a number of bytes.
    fn fill(disk: &Disk, left: u64) -> Result<Self, Broken> {
        let filler = Self(disk.path().join("filler"));
        take(disk, &filler.0, left).map_err(Broken::new)?;
        Ok(filler)
    }
}

impl Drop for Filler {
    fn drop(&mut self) {
        // If the file is gone, its space is free as well.
        let _ = fs::remove_file(&self.0);
    }
}

fn take(disk: &Disk, filler: &Path, left: u64) -> Result<(), String> {
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
