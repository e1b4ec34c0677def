//! Refusals that come from the gRPC library, which gives no reason.

use std::collections::HashMap;

use arena_wire::reasons;
use tonic::{Code, Status, body::Body, codegen::http};
use tonic_types::StatusExt;

/// Adds a reason to a refusal that has none. The library refuses requests that it cannot decode, that
/// are too large, or that arrive too slowly: they are faults of the caller, and no defects.
pub(super) fn with_reason(answer: http::Response<Body>) -> http::Response<Body> {
    let Some(status) = Status::from_header_map(answer.headers()) else {
        return answer;
    };
    if status.code() == Code::Ok || status.get_details_error_info().is_some() {
        return answer;
    }
    let code = match status.code() {
        Code::Internal => Code::InvalidArgument,
        code => code,
    };
    let mut details = status.get_error_details();
    details.set_error_info(reasons::REQUEST_INVALID, reasons::DOMAIN, HashMap::new());
    Status::with_error_details(code, status.message(), details).into_http()
}
