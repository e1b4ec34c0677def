//! The backend on PostgreSQL: connections, the lease, commits, binaries and migrations.

mod address;
mod backend;
mod binaries;
mod commit;
mod compact;
mod database;
mod doctor;
mod lease;
mod reader;
mod schema;
mod store;
mod tables;

pub(crate) use compact::compact;
pub use doctor::describe_postgres;
pub(crate) use store::PostgresSource;
pub use store::{Standby, verify_postgres};
