//! Two coordinators on one folder.

use super::{Broken, Figure, Outcome, StressTest};
use crate::World;

/// Settings: none.
#[derive(Debug, clap::Args)]
pub struct Holder {}

impl StressTest for Holder {
    const PROMISE: &'static str =
        "a second coordinator on a store ends with 1 and names the process that uses it";

    fn quick() -> Self {
        Self {}
    }

    fn run(&self) -> Result<Outcome, Broken> {
        let world = World::new();
        let first = world.coordinator("data", &[]);
        let second = world.arena(&["coordinator", "--data", "data", "--listen", "127.0.0.1:0"]);
        let holder = first.id().to_string();
        if second.code != Some(1) || !second.stderr.contains(&holder) {
            return Err(Broken::new(second.transcript()));
        }
        first.stop();
        let third = world.coordinator("data", &[]);
        third.stop();
        Ok(Outcome::Holds(vec![Figure::new(
            "error",
            second.stderr.trim(),
        )]))
    }
}
