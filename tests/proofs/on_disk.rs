//! A tournament whose coordinator keeps its data on a disk that will fail, and
//! a worker that remembers what it was acknowledged.

use super::{
    Broken,
    kills::witness::{Records, Witness, games},
};
use crate::{Games, Server, World, spec, until};

pub(super) struct OnDisk {
    world: World,
    data: String,
    listen: String,
    id: String,
    spec: String,
    expected: Games,
    witness: Witness,
}

impl OnDisk {
    /// Plays a tournament undisturbed elsewhere, so that it is known what it
    /// should come to.
    pub(super) fn new(data: String, blocks: u64, seed: u64) -> Self {
        let world = World::new();
        let spec = spec(
            "disk",
            "cowry",
            blocks,
            &["random", "aggressive", "mixed"],
            "",
        );
        let (id, _, expected) = world.tournament(&spec, "undisturbed", &[]);
        let reference = world.coordinator("undisturbed", &[]);
        let listen = reference.listen().to_owned();
        let url = reference.url();
        let records = games(&url, &id);
        reference.stop();
        let records = records.into_iter().filter_map(|game| game.record).collect();
        let witness = Witness::start(&url, seed);
        witness.learn(Records::from([(id.clone(), records)]));
        Self {
            world,
            data,
            listen,
            id,
            spec,
            expected,
            witness,
        }
    }

    pub(super) fn acknowledged(&self) -> usize {
        self.witness.acknowledged()
    }

    /// Starts the coordinator.
    pub(super) fn coordinator(&self) -> Server {
        self.world
            .coordinator(&self.data, &["--listen", &self.listen])
    }

    /// Starts the coordinator where it cannot, and gives what it says.
    pub(super) fn refused(&self) -> crate::Output {
        self.world.arena(&[
            "coordinator",
            "--data",
            &self.data,
            "--listen",
            &self.listen,
            "--metrics",
            "127.0.0.1:0",
        ])
    }

    /// Starts the tournament, and waits until so many results of it are
    /// acknowledged.
    pub(super) fn begin(&self, server: &Server, acknowledged: usize) -> Result<(), Broken> {
        let started = self
            .world
            .start_tournament("disk", &self.spec, &server.url());
        if started != self.id {
            return Err(Broken::new(format_args!("{started} should be {}", self.id)));
        }
        until("results to be acknowledged", || {
            (self.acknowledged() >= acknowledged).then_some(())
        });
        Ok(())
    }

    /// Waits until the coordinator has ended by itself, with 1 and these words.
    pub(super) fn ends(server: &mut Server, words: &[&str]) -> Result<(), Broken> {
        let status = server.wait();
        let log = server.log();
        let said = words.iter().all(|word| log.contains(word)) && !log.contains("panicked");
        match status.code() == Some(1) && said {
            true => Ok(()),
            false => Err(Broken::new(format_args!(
                "{status}, expected 1 and {words:?}: {log}"
            ))),
        }
    }

    /// Goes on and plays to the end; nothing acknowledged may be missing, and
    /// the records are those of the undisturbed run.
    pub(super) fn finish(mut self) -> Result<u64, Broken> {
        let server = self.coordinator();
        let url = server.url();
        self.witness.compare(&self.id, &games(&url, &self.id))?;
        self.world.finish_tournament(&self.id, &url);
        self.witness.stop();
        self.witness.compare(&self.id, &games(&url, &self.id))?;
        let found = self.world.export(&self.id, ["--coordinator", &url]);
        server.stop();
        match self.expected.difference(&found) {
            Some(difference) => Err(Broken::new(difference)),
            None => Ok(self.acknowledged() as u64),
        }
    }
}
