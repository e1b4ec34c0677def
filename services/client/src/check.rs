//! Checks of an agent: what would be registered plays test games as on a worker.

mod describe;
mod plays;
mod probes;
mod rulesets;
mod samples;
mod steps;
mod target;
mod variants;

pub use describe::describe;
pub use plays::Checked;
pub use rulesets::{own_rulesets, wrong_names};
pub use steps::{CheckStep, Problem, Report, Step, Verdict};
pub use target::{FileCopy, Found, Target};
