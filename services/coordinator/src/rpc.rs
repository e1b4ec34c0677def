//! The gRPC services.

mod binaries;
mod coordinator;
mod metrics;
mod pages;
mod worker;

pub(crate) use coordinator::CoordinatorRpc;
pub(crate) use metrics::CountRequests;
pub(crate) use worker::WorkerRpc;
