//! The mark in a data folder whose results are in a database.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use crate::{
    StoreError,
    error::At,
    files::{create_private, rename},
};

/// Name of the file in a data folder that has the URL of the database with its results.
pub const DATABASE_FILE: &str = "store.url";

/// The database in which a coordinator kept the results of a data folder, as a URL with hosts, ports
/// and the name of the database only.
#[must_use]
pub fn database_of(data: &Path) -> Option<String> {
    let url = fs::read_to_string(data.join(DATABASE_FILE)).ok()?;
    Some(url.trim().to_owned())
}

/// Writes durably that the results of a data folder are in a database.
#[cfg_attr(
    not(feature = "postgres"),
    expect(dead_code, reason = "only databases")
)]
pub(crate) fn set_database(data: &Path, url: &str) -> Result<(), StoreError> {
    if database_of(data).as_deref() == Some(url) {
        return Ok(());
    }
    let path = data.join(DATABASE_FILE);
    let new = PathBuf::from(format!("{}.new", path.display()));
    create_private(&new)
        .and_then(|mut file| {
            writeln!(file, "{url}")?;
            file.sync_all()
        })
        .at("write", &new)?;
    rename(&new, &path)
}
