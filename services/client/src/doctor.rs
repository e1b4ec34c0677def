//! Checks of a machine and of the services that it reaches, with remedies.

mod check;
mod machine;
mod services;

pub use check::{Check, State, text};
pub use machine::of_machine;
pub use services::{coordinator, database};
