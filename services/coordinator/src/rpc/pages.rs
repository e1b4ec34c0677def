//! Lists in pages.

/// Default number of items of a page.
const PAGE_DEFAULT: usize = 256;
/// Maximum number of items of a page.
const PAGE_MAX: usize = 1024;
/// A page ends above this many bytes: most clients accept no message above 4 MiB.
const PAGE_BYTES: usize = 2 << 20;

/// The size of a page.
pub(super) fn size(asked: u32) -> usize {
    match asked as usize {
        0 => PAGE_DEFAULT,
        asked => asked.min(PAGE_MAX),
    }
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

/// Cuts a list to its first page. Returns true if more items follow.
pub(super) fn cut<T>(items: &mut Vec<T>, page_size: u32, bytes: impl Fn(&T) -> usize) -> bool {
    let all = items.len();
    items.truncate(size(page_size));
    items.truncate(fitting(items, bytes));
    items.len() < all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_have_no_gap_or_overlap() {
        for (page_size, bytes) in [(1, 0), (10, 0), (25, 0), (0, 0), (10, PAGE_BYTES)] {
            let all: Vec<usize> = (0..25).collect();
            let mut seen = Vec::new();
            loop {
                let mut page = all[seen.len()..].to_vec();
                let more = cut(&mut page, page_size, |_| bytes);
                assert!(!page.is_empty());
                assert!(page.len() * bytes <= 2 * PAGE_BYTES);
                seen.extend(page);
                if !more {
                    break;
                }
            }
            assert_eq!(seen, all, "pages of {page_size}");
        }
    }
}
