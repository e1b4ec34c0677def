//! The promises of a store: its contract, crashes, damage and repair.

pub(crate) mod contract;
pub(crate) mod crash;
pub(crate) mod damage;
pub(crate) mod repair;
