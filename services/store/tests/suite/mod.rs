//! The promises of a store: its contract, crashes, damage and repair.

pub(crate) mod compact;
pub(crate) mod contract;
pub(crate) mod crash;
pub(crate) mod damage;
#[cfg(feature = "postgres")]
pub(crate) mod postgres;
pub(crate) mod repair;
