//! Lists in pages.

use crate::error::Error;

/// Items of a page where nobody says.
const PAGE_DEFAULT: usize = 256;
/// The most items of a page.
const PAGE_MAX: usize = 1024;

/// The size of a page.
pub(super) fn size(asked: u32) -> usize {
    match asked as usize {
        0 => PAGE_DEFAULT,
        asked => asked.min(PAGE_MAX),
    }
}

/// The place a token stands for; the start where there is none.
pub(super) fn place(token: &str) -> Result<u64, Error> {
    if token.is_empty() {
        return Ok(0);
    }
    token.parse().map_err(|_| Error::PageToken)
}

/// One page of a list that is sorted by key, after the key in the token, and
/// the token of the next one.
pub(super) fn after<T, K: Ord>(
    sorted: Vec<T>,
    token: Option<&K>,
    page_size: u32,
    key: impl Fn(&T) -> K,
    text: impl Fn(&T) -> String,
) -> (Vec<T>, String) {
    let size = size(page_size);
    let mut page: Vec<T> = sorted
        .into_iter()
        .filter(|item| token.is_none_or(|token| key(item) > *token))
        .take(size + 1)
        .collect();
    let more = page.len() > size;
    page.truncate(size);
    let next = page.last().filter(|_| more).map(text).unwrap_or_default();
    (page, next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_follow_each_other_without_gap_or_overlap() {
        let all: Vec<u32> = (0..25).collect();
        let mut seen = Vec::new();
        let mut token = None;
        loop {
            let (page, next) = after(
                all.clone(),
                token.as_ref(),
                10,
                |item| *item,
                ToString::to_string,
            );
            seen.extend(page);
            if next.is_empty() {
                break;
            }
            token = next.parse().ok();
        }
        assert_eq!(seen, all);
    }
}
