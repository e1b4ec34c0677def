//! Verification of a store, and recovery of what can be read of a damaged one.

pub(crate) mod carve;
pub(crate) mod copy;
mod damage_report;
pub(crate) mod rebuild;
pub(crate) mod report;
mod salvage;
pub(crate) mod verify;
pub(crate) mod walk;
