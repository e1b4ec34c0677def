//! Power cuts: a real ext4 that stops at any moment.

mod scenes;

use arena_wire::AgentRng;

use super::{
    Broken, Figure, Outcome, StressTest,
    appender::{Known, append_to, quiet},
};
use crate::{Cut, Disk, Output, World, until};
use scenes::Scene;

/// Size of the disk in MiB.
const DISK_MIB: u64 = 640;
/// A store stops growing at this size: the next round has a new one.
const GAMES_MAX: u64 = 60_000;

/// Settings.
#[derive(Debug, clap::Args)]
pub struct Power {
    /// Power cuts
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Seed of scenes, times and of what a cut loses
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

impl StressTest for Power {
    const PROMISE: &'static str = "after a power cut at any moment the store opens with every \
                                   acknowledged result, or names the damage and repairs it";

    fn quick() -> Self {
        Self { rounds: 6, seed: 1 }
    }

    fn run(&self) -> Result<Outcome, Broken> {
        let world = World::new();
        let disk = match Disk::ext4(world.folder(), DISK_MIB) {
            Ok(disk) => disk,
            Err(reason) => {
                return Ok(Outcome::Skipped(format!(
                    "no ext4 can be made and mounted here (root may): {reason}"
                )));
            }
        };
        let mut trial = Trial::new(&world, disk, self.seed);
        for round in 0..self.rounds {
            let scene = Scene::of(round);
            scene.play(&mut trial).map_err(|Broken(seen)| {
                Broken(format!(
                    "round {round} ({scene}): {seen}\nagain: tests/stress/run power --rounds {} --seed {}",
                    self.rounds, self.seed
                ))
            })?;
        }
        Ok(Outcome::Holds(trial.figures()))
    }
}

/// The disk, and the data outside of it.
struct Trial<'a> {
    world: &'a World,
    disk: Disk,
    rng: AgentRng,
    /// The number of the current store.
    number: u32,
    known: Known,
    /// Approximate duration of an opening, repair, backup or restore, in microseconds.
    span_us: u32,
    figures: Figures,
}

/// The numbers for the figures.
#[derive(Default)]
struct Figures {
    cuts: [u64; 3],
    scenes: std::collections::BTreeMap<String, u64>,
    acknowledged: u64,
    witnessed: u64,
    too_late: u64,
    named: u64,
}

impl<'a> Trial<'a> {
    fn new(world: &'a World, disk: Disk, seed: u64) -> Self {
        Self {
            world,
            disk,
            rng: AgentRng::new(seed),
            number: 0,
            known: Known::default(),
            span_us: 60_000,
            figures: Figures::default(),
        }
    }

    fn data(&self) -> String {
        self.disk.join(&format!("data-{}", self.number))
    }

    fn append(&self) -> crate::Started {
        append_to(self.world, &self.data(), &[])
    }

    /// Adds some games to the store; only the end of the process disturbs it.
    fn fill(&mut self) -> Result<(), Broken> {
        if self.known.games >= GAMES_MAX {
            std::fs::remove_dir_all(self.data()).map_err(Broken::new)?;
            self.number += 1;
            self.known = Known::default();
        }
        let process = self.append();
        until("games to be acknowledged", || {
            (process.stdout().lines().count() > 60).then_some(())
        });
        process.signal(nix::sys::signal::Signal::SIGKILL);
        let output = process.output();
        self.remember(&output)
    }

    /// Reads the acknowledgements of an appending process.
    fn remember(&mut self, output: &Output) -> Result<(), Broken> {
        self.figures.acknowledged += self.known.remember(output)?;
        Ok(())
    }

    /// Cuts the power in one of the ways.
    fn cut(&mut self) -> Result<(), Broken> {
        // The cut that loses most is the most frequent.
        let (at, cut) = match self.rng.below(6) {
            0 => (0, Cut::Nothing),
            1 => (1, Cut::AllButJournal),
            _ => (2, Cut::Everything),
        };
        self.figures.cuts[at] += 1;
        self.disk.cut(cut).map_err(Broken::new)
    }

    fn power_on(&mut self) -> Result<(), Broken> {
        self.disk.power_on().map_err(Broken::new)
    }

    /// Verifies a store, and repairs it as the error says.
    fn verify(&mut self, data: &str) -> Result<(), Broken> {
        let verified = self.world.arena(&["store", "verify", "--data", data]);
        quiet(&verified)?;
        match verified.code {
            Some(0) => Ok(()),
            Some(3) if verified.stderr.contains("arena store verify --repair") => {
                self.figures.named += 1;
                let arguments = ["store", "verify", "--repair", "--data", data];
                let repaired = self.world.arena(&arguments);
                let again = self.world.arena(&["store", "verify", "--data", data]);
                if (repaired.code, again.code) == (Some(0), Some(0)) {
                    Ok(())
                } else {
                    Err(Broken::new(format_args!(
                        "{}\n{}\n{}",
                        verified.transcript(),
                        repaired.transcript(),
                        again.transcript()
                    )))
                }
            }
            // Nothing was acknowledged yet, so there may be no store.
            Some(2) if self.known.games == 0 => Ok(()),
            _ => Err(Broken::new(verified.transcript())),
        }
    }

    /// Checks that a store opens and contains everything that was acknowledged.
    fn holds(&mut self, data: &str) -> Result<(), Broken> {
        match self.known.games {
            0 => Ok(()),
            _ => self.known.held(self.world, data),
        }
    }

    /// Verifies, opens and compares a store.
    fn check(&mut self) -> Result<(), Broken> {
        let data = self.data();
        self.verify(&data)?;
        self.holds(&data)
    }

    fn figures(self) -> Vec<Figure> {
        let reported = self.figures;
        let scenes: Vec<_> = reported
            .scenes
            .iter()
            .map(|(scene, count)| format!("{count} {scene}"))
            .collect();
        let [nothing, journal, everything] = reported.cuts;
        vec![
            Figure::new("power cuts", nothing + journal + everything),
            Figure::new("of them with all unsynced data lost", everything),
            Figure::new("of them with the journal written", journal),
            Figure::new("during", scenes.join(", ")),
            Figure::new("came after what they should disturb", reported.too_late),
            Figure::new(
                "games acknowledged by a store, all present",
                reported.acknowledged,
            ),
            Figure::new(
                "results acknowledged over gRPC, all present",
                reported.witnessed,
            ),
            Figure::new("damage named and repaired, nothing lost", reported.named),
        ]
    }
}
