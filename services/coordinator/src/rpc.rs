//! The gRPC services.

mod binaries;
mod coordinator;
mod metrics;
mod pages;
mod worker;

pub(crate) use coordinator::CoordinatorRpc;
pub(crate) use metrics::CountRequests;
pub(crate) use worker::WorkerRpc;

use tonic::Status;

use crate::error::Error;

/// The one place where an error becomes a status.
pub(crate) fn status(error: Error) -> Status {
    error.into()
}
