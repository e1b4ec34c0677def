//! Confines agent processes.
//!
//! A sandbox is a list of [`Layer`]s. A level is such a list: `kernel` works for every user and in
//! containers, `strict` also needs namespaces. Nothing here needs unsafe code: each stage is a
//! process of its own, which sets up its layers in itself and then becomes the next one.
//!
//! [`Plan`] says what to set up. The guard of an agent calls [`before_start`], starts the next
//! stage and measures the whole tree of processes with [`usage`]. With namespaces, the next stage
//! is process 1 in them ([`enter_namespaces`]). The last stage calls [`confine`] and becomes the
//! agent.

mod calls;
pub mod cgroup;
mod confine;
mod filesystem;
mod layer;
mod namespaces;
pub mod paths;
mod plan;
mod privileges;
mod root;
pub mod usage;

pub use calls::ALLOWED;
pub use confine::{confine, environment};
pub use layer::Layer;
pub use namespaces::{before_start, enter_namespaces};
pub use plan::{Missing, PACKAGE, Plan, RUN, SCRATCH, STDIN, STDOUT, TreeLimit, TreeLimits};
pub use privileges::drop_capabilities;
