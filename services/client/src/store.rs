//! Stores: verification, repair and backups, and what they print.

pub mod backup;
pub mod failure;
pub mod records;
pub mod verify;
