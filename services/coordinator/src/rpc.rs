//! The gRPC services.

mod admin;
mod answers;
mod audits;
mod backup;
mod binaries;
mod bodies;
mod calls;
mod chunks;
pub(crate) mod comparisons;
mod coordinator;
pub(crate) mod deadlines;
mod endpoints;
pub(crate) mod estimates;
mod figures;
mod gate;
mod malformed;
mod pages;
mod refusals;
mod replays;
mod reporting;
pub(crate) mod reports;
mod scaler;
mod sealed;
mod sessions;
pub(crate) mod standings;
mod waiting;
mod watch;
mod worker;

use tonic::{Request, Response, Status};

pub(crate) use admin::AdminRpc;
pub(crate) use coordinator::CoordinatorRpc;
pub(crate) use figures::Figures;
pub(crate) use gate::{Gate, Gated, READER_OF_METRICS, READER_OF_WEB};
pub(crate) use scaler::ScalerRpc;
pub(crate) use sessions::OwnSessions;
pub(crate) use worker::WorkerRpc;

use crate::principal::Principal;

/// The caller of a request; anonymous if the request did not pass the door.
fn principal<T>(request: &Request<T>) -> Principal {
    let found = request.extensions().get::<Principal>();
    found.cloned().unwrap_or_else(Principal::anonymous)
}

/// The answer of a method.
type Answer<T> = Result<Response<T>, Status>;
