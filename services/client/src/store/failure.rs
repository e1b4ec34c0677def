//! Errors of stores with their exit codes.

use arena_store::StoreError;

use crate::failure::Failure;

/// An invalid path is a usage error; other errors come from the disk.
#[must_use]
pub fn failure(error: StoreError) -> Failure {
    match error {
        StoreError::NotFound { .. }
        | StoreError::NotEmpty { .. }
        | StoreError::InDatabase { .. }
        | StoreError::Unsuitable { .. } => Failure::usage(error),
        StoreError::Corrupt { .. } => Failure::differs(error),
        _ => Failure::failed(error),
    }
}
