//! The backend on sled: a data folder, its database, and backups of it.

pub(crate) mod backend;
pub(crate) mod backup;
pub(crate) mod commit_marker;
pub(crate) mod database;
pub(crate) mod folder;
pub(crate) mod log;
pub(crate) mod options;
pub(crate) mod scratch;
pub(crate) mod store;
