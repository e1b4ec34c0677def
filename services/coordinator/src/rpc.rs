//! The gRPC services.

mod backup;
mod binaries;
mod chunks;
mod coordinator;
mod endpoints;
pub(crate) mod estimates;
mod figures;
mod gate;
mod pages;
mod sealed;
mod standings;
mod worker;

use tonic::{Response, Status};

pub(crate) use coordinator::CoordinatorRpc;
pub(crate) use figures::Figures;
pub(crate) use gate::{Gate, Gated};
pub(crate) use worker::WorkerRpc;

/// The answer of a method.
type Answer<T> = Result<Response<T>, Status>;
