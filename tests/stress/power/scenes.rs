//! The operations that a power cut interrupts.

use std::{
    fmt, fs,
    thread::sleep,
    time::{Duration, Instant},
};

use super::Trial;
use crate::{
    Output, Started,
    stress::{Broken, on_disk::OnDisk},
    until,
};

/// How long a process may take to notice that its disk is gone.
const NOTICE: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, Debug)]
pub(super) enum Scene {
    Append,
    Open,
    Repair,
    Backup,
    Restore,
    Coordinator,
}

impl fmt::Display for Scene {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Append => "writing",
            Self::Open => "opening",
            Self::Repair => "repair",
            Self::Backup => "backup",
            Self::Restore => "restore",
            Self::Coordinator => "a coordinator",
        })
    }
}

impl Scene {
    /// All in turn, with frequent operations more often.
    pub(super) fn of(round: u32) -> Self {
        const TURNS: [Scene; 10] = [
            Scene::Append,
            Scene::Open,
            Scene::Repair,
            Scene::Backup,
            Scene::Restore,
            Scene::Coordinator,
            Scene::Append,
            Scene::Open,
            Scene::Append,
            Scene::Repair,
        ];
        TURNS[round as usize % TURNS.len()]
    }

    pub(super) fn play(self, trial: &mut Trial<'_>) -> Result<(), Broken> {
        *trial.figures.scenes.entry(self.to_string()).or_default() += 1;
        match self {
            Self::Append => append(trial),
            Self::Open => open(trial),
            Self::Repair => repair(trial),
            Self::Backup => backup(trial),
            Self::Restore => restore(trial),
            Self::Coordinator => coordinator(trial),
        }
    }
}

/// A store that is written to.
fn append(trial: &mut Trial<'_>) -> Result<(), Broken> {
    let lines = 1 + trial.rng.below(400) as usize;
    let mut process = trial.append();
    until("games to be acknowledged", || {
        (process.ended() || process.stdout().lines().count() > lines).then_some(())
    });
    sleep(Duration::from_micros(u64::from(trial.rng.below(20_000))));
    trial.cut()?;
    let output = ended(process)?;
    if output.code != Some(1) || !output.stderr.contains("could not") {
        return Err(Broken::new(output.transcript()));
    }
    trial.remember(&output)?;
    trial.power_on()?;
    trial.check()
}

/// A store that is opened.
fn open(trial: &mut Trial<'_>) -> Result<(), Broken> {
    trial.fill()?;
    let process = trial.append();
    moment(trial, || process.stdout().contains("opened"));
    trial.cut()?;
    let output = ended(process)?;
    trial.remember(&output)?;
    trial.power_on()?;
    trial.check()
}

/// The repair of a store without its label.
fn repair(trial: &mut Trial<'_>) -> Result<(), Broken> {
    trial.fill()?;
    let data = trial.data();
    let label = format!("{data}/store.json");
    match trial.rng.below(2) {
        0 => fs::remove_file(label),
        _ => fs::write(label, "{}"),
    }
    .and_then(|()| fs::File::open(&data)?.sync_all())
    .map_err(Broken::new)?;
    let arguments = ["store", "verify", "--repair", "--data", &data];
    let mut process = trial.world.start(&arguments);
    moment(trial, || process.ended());
    trial.cut()?;
    ended(process)?;
    trial.power_on()?;
    trial.check()?;
    old_databases(&data)
}

/// A backup to the disk.
fn backup(trial: &mut Trial<'_>) -> Result<(), Broken> {
    trial.fill()?;
    let (data, file) = (trial.data(), trial.disk.join("backup"));
    let mut process = trial
        .world
        .start(&["store", "backup", "--data", &data, &file]);
    moment(trial, || process.ended());
    trial.cut()?;
    ended(process)?;
    trial.power_on()?;
    trial.check()?;
    if fs::exists(&file).map_err(Broken::new)? {
        // A file with the name of a backup is complete.
        let target = trial.disk.join("restored");
        let restored = trial
            .world
            .arena(&["store", "restore", &file, "--data", &target]);
        if restored.code != Some(0) {
            return Err(Broken::new(restored.transcript()));
        }
        let known = trial.known.clone();
        trial.holds(&target)?;
        trial.known = known;
        fs::remove_dir_all(&target).map_err(Broken::new)?;
        fs::remove_file(&file).map_err(Broken::new)?;
    }
    Ok(())
}

/// A restore to the disk.
fn restore(trial: &mut Trial<'_>) -> Result<(), Broken> {
    trial.fill()?;
    trial.check()?;
    let (data, target) = (trial.data(), trial.disk.join("restored"));
    let file = trial.world.folder().join("backup");
    let file = file.to_str().expect("UTF-8").to_owned();
    let made = trial
        .world
        .arena(&["store", "backup", "--data", &data, &file]);
    if made.code != Some(0) {
        return Err(Broken::new(made.transcript()));
    }
    let mut process = trial
        .world
        .start(&["store", "restore", &file, "--data", &target]);
    moment(trial, || process.ended());
    trial.cut()?;
    let finished = ended(process)?.code == Some(0);
    trial.power_on()?;
    trial.check()?;
    let verified = trial.world.arena(&["store", "verify", "--data", &target]);
    match verified.code {
        // The store is complete, or missing without an acknowledgement, or reported as damaged.
        Some(0) if finished || !verified.stdout.contains(": 0 games,") => trial.holds(&target)?,
        Some(0 | 2) if !finished => {}
        Some(3) if !finished && verified.stderr.contains("arena store") => {}
        _ => return Err(Broken::new(verified.transcript())),
    }
    if fs::exists(&target).map_err(Broken::new)? {
        fs::remove_dir_all(&target).map_err(Broken::new)?;
    }
    let again = trial
        .world
        .arena(&["store", "restore", &file, "--data", &target]);
    if again.code != Some(0) {
        return Err(Broken::new(again.transcript()));
    }
    trial.holds(&target)?;
    fs::remove_dir_all(&target).map_err(Broken::new)?;
    fs::remove_file(&file).map_err(Broken::new)
}

/// A coordinator in a running tournament, with a worker that remembers the acknowledgements.
fn coordinator(trial: &mut Trial<'_>) -> Result<(), Broken> {
    let data = trial.disk.join("coordinator");
    let seed = u64::from(trial.rng.below(u32::MAX));
    let tournament = OnDisk::new(data.clone(), 30, seed);
    let mut server = tournament.coordinator();
    tournament.begin(&server, 1 + trial.rng.below(80) as usize)?;
    sleep(Duration::from_micros(u64::from(trial.rng.below(20_000))));
    trial.cut()?;
    // It stops by itself at its next write.
    tournament.ends(&mut server, &["could not"])?;
    trial.power_on()?;
    trial.verify(&data)?;
    trial.figures.witnessed += tournament.finish()?;
    fs::remove_dir_all(&data).map_err(Broken::new)
}

/// Waits for a part of the duration of an operation, as measured before.
fn moment(trial: &mut Trial<'_>, mut over: impl FnMut() -> bool) {
    let wait = Duration::from_micros(u64::from(trial.rng.below(trial.span_us)));
    let started = Instant::now();
    while started.elapsed() < wait {
        if over() {
            trial.figures.too_late += 1;
            // The operation ended before the cut.
            let taken = u32::try_from(started.elapsed().as_micros()).unwrap_or(u32::MAX);
            trial.span_us = (trial.span_us + taken) / 2 + 1;
            return;
        }
        sleep(Duration::from_millis(1));
    }
    trial.span_us += trial.span_us / 16;
}

/// The error of a process that lost its disk.
fn ended(mut process: Started) -> Result<Output, Broken> {
    let started = Instant::now();
    while !process.ended() {
        if started.elapsed() > NOTICE {
            process.signal(nix::sys::signal::Signal::SIGKILL);
            return Err(Broken::new(format_args!(
                "without its disk it neither ended nor failed: {}",
                process.output().transcript()
            )));
        }
        sleep(Duration::from_millis(2));
    }
    Ok(process.output())
}

/// Deletes the leftovers of repairs, as their messages allow.
fn old_databases(data: &str) -> Result<(), Broken> {
    let label = fs::read_to_string(format!("{data}/store.json")).map_err(Broken::new)?;
    let label: serde_json::Value = serde_json::from_str(&label).map_err(Broken::new)?;
    let current = format!("database-{}", label["generation"]);
    for entry in fs::read_dir(data).map_err(Broken::new)? {
        let entry = entry.map_err(Broken::new)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with("database-") && name != current {
            fs::remove_dir_all(entry.path()).map_err(Broken::new)?;
        }
    }
    Ok(())
}
