//! Lists in pages.

use arena_wire::v1;
use prost::Message;

use crate::error::Error;

/// Default number of items of a page.
const PAGE_DEFAULT: usize = 256;
/// Maximum number of items of a page.
const PAGE_MAX: usize = 1024;
/// A page ends above this many bytes: most clients accept no message above 4 MiB.
const PAGE_BYTES: usize = 2 << 20;

/// An item of a list that is sorted by key.
pub(super) trait Listed {
    type Key: Ord;

    fn key(&self) -> Self::Key;

    /// The key as a page token.
    fn token(&self) -> String;

    fn bytes(&self) -> usize;
}

impl Listed for v1::Agent {
    type Key = String;

    fn key(&self) -> String {
        self.name.clone()
    }

    fn token(&self) -> String {
        self.name.clone()
    }

    fn bytes(&self) -> usize {
        self.encoded_len()
    }
}

impl Listed for v1::Tournament {
    type Key = (u64, String);

    fn key(&self) -> Self::Key {
        (self.created_unix_us, self.tournament_id.clone())
    }

    fn token(&self) -> String {
        format!("{}/{}", self.created_unix_us, self.tournament_id)
    }

    fn bytes(&self) -> usize {
        self.encoded_len()
    }
}

/// A document of the store.
impl Listed for (String, Vec<u8>) {
    type Key = String;

    fn key(&self) -> String {
        self.0.clone()
    }

    fn token(&self) -> String {
        self.0.clone()
    }

    fn bytes(&self) -> usize {
        self.1.len()
    }
}

/// The size of a page.
pub(super) fn size(asked: u32) -> usize {
    match asked as usize {
        0 => PAGE_DEFAULT,
        asked => asked.min(PAGE_MAX),
    }
}

/// The index that a token stands for.
pub(super) fn index(token: &str) -> Result<u64, Error> {
    token.parse().map_err(|_| Error::PageToken)
}

/// Number of these items that fit a page: at least one, and no more once it is large.
pub(super) fn fitting<T>(items: &[T], bytes: impl Fn(&T) -> usize) -> usize {
    let mut total = 0;
    let large = items.iter().position(|item| {
        total += bytes(item);
        total > PAGE_BYTES
    });
    large.map_or(items.len(), |place| place + 1)
}

/// The page after this key, and the token of the next page.
pub(super) fn after<T: Listed>(
    sorted: Vec<T>,
    key: Option<&T::Key>,
    page_size: u32,
) -> (Vec<T>, String) {
    let size = size(page_size);
    let mut page: Vec<T> = sorted
        .into_iter()
        .filter(|item| key.is_none_or(|key| item.key() > *key))
        .take(size + 1)
        .collect();
    let found = page.len();
    page.truncate(size.min(fitting(&page, T::bytes)));
    let more = page.len() < found;
    let next = page.last().filter(|_| more).map(T::token);
    (page, next.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(number: usize, bytes: usize) -> (String, Vec<u8>) {
        (format!("{number:03}"), vec![0; bytes])
    }

    #[test]
    fn pages_follow_each_other_without_gap_or_overlap() {
        for (page_size, bytes) in [(1, 0), (10, 0), (25, 0), (0, 0), (10, PAGE_BYTES)] {
            let all: Vec<_> = (0..25).map(|number| document(number, bytes)).collect();
            let mut seen = Vec::new();
            let mut token = None;
            loop {
                let (page, next) = after(all.clone(), token.as_ref(), page_size);
                assert!(!page.is_empty());
                assert!(page.iter().map(Listed::bytes).sum::<usize>() <= 2 * PAGE_BYTES);
                seen.extend(page);
                if next.is_empty() {
                    break;
                }
                token = Some(next);
            }
            assert_eq!(seen, all, "pages of {page_size}");
        }
    }
}
