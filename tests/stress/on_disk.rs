//! A tournament with the coordinator's data on a disk that fails, and a worker that remembers the
//! acknowledgements.

use std::time::Duration;

use nix::sys::signal::Signal;

use super::{
    Broken,
    kills::witness::{Records, Witness, games},
};
use crate::{Games, Server, World, spec, until, within};

/// How long a coordinator may take to notice a failed disk, to which it writes many times a second.
const NOTICE: Duration = Duration::from_secs(15);

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
    /// Plays the tournament elsewhere without disturbance, to know the expected records.
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
        self.coordinator_with(&[])
    }

    /// Starts the coordinator with further arguments.
    pub(super) fn coordinator_with(&self, more: &[&str]) -> Server {
        let arguments = [&["--listen", self.listen.as_str()][..], more].concat();
        self.world.coordinator(&self.data, &arguments)
    }

    /// Starts a coordinator that cannot work: it has to end with 1 and with these words, without a
    /// crash.
    pub(super) fn refused(&self, more: &[&str], words: &[&str]) -> Result<(), Broken> {
        let arguments = [
            "coordinator",
            "--data",
            &self.data,
            "--listen",
            &self.listen,
            "--metrics",
            "127.0.0.1:0",
        ];
        let mut process = self.world.start(&[&arguments[..], more].concat());
        let ended = within(NOTICE, || process.ended().then_some(()));
        if ended.is_none() {
            process.signal(Signal::SIGKILL);
        }
        let output = process.output();
        let said = words.iter().all(|word| output.stderr.contains(word));
        if output.code == Some(1) && said && !output.stderr.contains("panicked") {
            return Ok(());
        }
        Err(Broken::new(format_args!(
            "it starts, or fails without the words {words:?}:\n{}",
            output.transcript()
        )))
    }

    /// Starts the tournament, and waits for a number of acknowledged results. The worker reports
    /// half of the rest only when the coordinator is about to end, so that the tournament cannot
    /// finish before the disk fails.
    pub(super) fn begin(&self, server: &Server, acknowledged: usize) -> Result<(), Broken> {
        let left = self.expected.games.len().saturating_sub(acknowledged);
        self.witness.pause_at(acknowledged + left / 2);
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

    /// Waits until the coordinator ends by itself, with 1 and with these words.
    pub(super) fn ends(&self, server: &mut Server, words: &[&str]) -> Result<(), Broken> {
        self.witness.pause_at(usize::MAX);
        let status = within(NOTICE, || server.child.try_wait().expect("a child"));
        let log = server.log();
        let Some(status) = status else {
            return Err(Broken::new(format_args!(
                "after {} s on a failed disk the coordinator still runs, and \
                 should have ended with {words:?}:\n{log}",
                NOTICE.as_secs()
            )));
        };
        let said = words.iter().all(|word| log.contains(word)) && !log.contains("panicked");
        match status.code() == Some(1) && said {
            true => Ok(()),
            false => Err(Broken::new(format_args!(
                "{status}, expected 1 and {words:?}: {log}"
            ))),
        }
    }

    /// Continues to the end. No acknowledged result may be missing, and the records equal those of
    /// the undisturbed run.
    pub(super) fn finish(mut self) -> Result<u64, Broken> {
        let server = self.coordinator();
        let url = server.url();
        self.witness.compare(&self.id, &url)?;
        self.world.finish_tournament(&self.id, &url);
        self.witness.stop();
        self.witness.compare(&self.id, &url)?;
        let found = self.world.export(&self.id, ["--coordinator", &url]);
        server.stop();
        match self.expected.difference(&found) {
            Some(difference) => Err(Broken::new(difference)),
            None => Ok(self.acknowledged() as u64),
        }
    }
}
