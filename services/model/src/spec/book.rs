//! The opening book of a tournament: a file, or the openings themselves.

use arena_engine::BOOK_OPENING_BYTES_MAX;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Maximum number of openings of a book.
pub const BOOK_OPENINGS_MAX: usize = 16_384;
/// Maximum bytes of all openings of a book together, each with [`BOOK_SEPARATOR_BYTES`] more: a spec
/// has room for them.
pub const BOOK_BYTES_MAX: usize = 768 << 10;
/// What an opening needs in a spec in addition to its text: quotes, a comma and a space.
pub const BOOK_SEPARATOR_BYTES: usize = 4;

/// Prefix of the digest of a book.
const DIGEST: &str = "sha256:";

/// A book of openings.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "book must be the path of a file in quotes, such as \"openings.epd\""
)]
pub enum Book {
    /// The path of a file, relative to the spec. In a resolved tournament, the digest of its openings.
    File(String),
    /// The openings: moves from the start such as "e4 e5 Nf3", after a start position in brackets if it
    /// is another one.
    Openings(Vec<String>),
}

impl Book {
    /// The digest of openings in one notation, in order.
    #[must_use]
    pub fn digest(openings: &[String]) -> Self {
        let mut digest = Sha256::new();
        for opening in openings {
            digest.update(opening);
            digest.update("\n");
        }
        Self::File(format!("{DIGEST}{}", hex::encode(digest.finalize())))
    }

    pub(super) fn check(&self) -> Result<(), String> {
        let Self::Openings(openings) = self else {
            return Ok(());
        };
        if openings.is_empty() {
            return Err("book = []: the book has no opening".to_owned());
        }
        if let Some(place) = { openings.iter() }.position(|it| it.len() > BOOK_OPENING_BYTES_MAX) {
            return Err(format!(
                "opening {} of book has {} bytes; the limit is {BOOK_OPENING_BYTES_MAX}",
                place + 1,
                openings[place].len()
            ));
        }
        if !fits(openings.len(), bytes(openings.iter().map(String::as_str))) {
            return Err(format!(
                "book has {} openings of {} bytes together; the limits are {BOOK_OPENINGS_MAX} \
                 openings and {BOOK_BYTES_MAX} bytes",
                openings.len(),
                bytes(openings.iter().map(String::as_str))
            ));
        }
        Ok(())
    }
}

/// True if a book of this size is within its limits.
#[must_use]
pub fn fits(openings: usize, bytes: usize) -> bool {
    openings <= BOOK_OPENINGS_MAX && bytes <= BOOK_BYTES_MAX
}

/// The bytes of openings in a spec.
pub(super) fn bytes<'a>(openings: impl Iterator<Item = &'a str>) -> usize {
    openings.map(|it| it.len() + BOOK_SEPARATOR_BYTES).sum()
}

/// The order in which blocks have the openings of a book.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BookOrder {
    /// Drawn from the tournament's seed, for each group of agents.
    #[default]
    Random,
    /// As in the file.
    Sequential,
}

impl BookOrder {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde wants it")]
    pub(super) fn is_default(&self) -> bool {
        *self == Self::Random
    }
}
