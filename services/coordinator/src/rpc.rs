//! The gRPC services.

mod backup;
mod binaries;
mod coordinator;
mod endpoints;
pub(crate) mod estimates;
mod figures;
mod gate;
mod generations;
mod metrics;
mod pages;
mod standings;
mod worker;

pub(crate) use coordinator::CoordinatorRpc;
pub(crate) use figures::Figures;
pub(crate) use gate::{Gate, GateReports};
pub(crate) use metrics::CountRequests;
pub(crate) use worker::WorkerRpc;
