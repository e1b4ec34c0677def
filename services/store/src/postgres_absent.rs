//! Stands in for PostgreSQL in builds without it: every call returns an error that names the build
//! that has it.

use crate::{
    Examine, StoreError, VerifyReport,
    location::{PostgresOptions, ServerReport},
    ownership::Ownership,
};

/// The error of a build without PostgreSQL. URLs may contain passwords, so it does not repeat them.
pub(crate) fn absent() -> StoreError {
    StoreError::Unsuitable {
        place: "PostgreSQL".to_owned(),
        problem: "this build of arena has no PostgreSQL".to_owned(),
        remedy: "use a release or the image, or build it with `cargo build --release --package \
                 arena-cli --features postgres`"
            .to_owned(),
    }
}

/// A database that this process may own, once no other process does.
pub enum Standby {}

impl Standby {
    /// Fails.
    ///
    /// # Errors
    /// `Unsuitable`.
    pub fn connect(_url: &str, _options: PostgresOptions) -> Result<Self, StoreError> {
        Err(absent())
    }

    /// Is never called.
    ///
    /// # Errors
    /// None.
    pub fn own(self) -> Result<Ownership<Self>, StoreError> {
        match self {}
    }
}

/// Fails.
///
/// # Errors
/// `Unsuitable`.
pub fn verify_postgres(_url: &str, _examine: &mut dyn Examine) -> Result<VerifyReport, StoreError> {
    Err(absent())
}

/// Fails.
///
/// # Errors
/// `Unsuitable`.
pub fn describe_postgres(_url: &str) -> Result<ServerReport, StoreError> {
    Err(absent())
}
