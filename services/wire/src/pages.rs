//! The end of lists that come in pages: a server in the wrong hands must not make its client read for ever.

use prost::Message;
use tonic::Status;

/// Maximum entries and bytes of a list. No coordinator has as many.
const ENTRIES_MAX: usize = 1_000_000;
const BYTES_MAX: usize = 512 << 20;

/// What was read of a list.
#[derive(Debug, Default)]
pub struct Pages {
    token: String,
    entries: usize,
    bytes: usize,
}

impl Pages {
    /// Notes a page with so many entries, and the token of the next one. Returns false after the last page.
    ///
    /// # Errors
    /// [`tonic::Code::DataLoss`] if the list does not end.
    pub fn goes_on(
        &mut self,
        page: &impl Message,
        entries: usize,
        token: &str,
    ) -> Result<bool, Status> {
        self.entries += entries;
        self.bytes += page.encoded_len();
        if entries == 0 && !token.is_empty() {
            return Err(endless("a page without entries is not the last one"));
        }
        if self.entries > ENTRIES_MAX || self.bytes > BYTES_MAX {
            let mebibytes = BYTES_MAX >> 20;
            let limit = format!("more than {ENTRIES_MAX} entries or {mebibytes} MiB");
            return Err(endless(&limit));
        }
        self.follows(token)
    }

    /// As [`Pages::goes_on`], for entries that are not kept, and of which a page may have none.
    ///
    /// # Errors
    /// [`tonic::Code::DataLoss`] if a page names itself as the next one.
    pub fn follows(&mut self, token: &str) -> Result<bool, Status> {
        if token.is_empty() {
            return Ok(false);
        }
        if token == self.token {
            return Err(endless("a page follows itself"));
        }
        token.clone_into(&mut self.token);
        Ok(true)
    }
}

fn endless(why: &str) -> Status {
    Status::data_loss(format!(
        "the coordinator sends a list without an end: {why}; check the coordinator's address"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::v1::ListAgentsResponse;

    #[test]
    fn lists_without_an_end_are_refused() {
        let page = ListAgentsResponse::default();
        let mut pages = Pages::default();
        assert!(pages.goes_on(&page, 200, "a").expect("a page"));
        assert!(pages.goes_on(&page, 200, "b").expect("a page"));
        assert!(!pages.goes_on(&page, 0, "").expect("the end"));
        assert!(pages.goes_on(&page, 200, "b").is_err(), "the same page");
        assert!(pages.goes_on(&page, 0, "c").is_err(), "an empty page");
        assert!(pages.follows("c").expect("no entries are needed"));
        let read = |page: &ListAgentsResponse, entries| {
            let mut pages = Pages::default();
            (0..10_000).find_map(|next| pages.goes_on(page, entries, &next.to_string()).err())
        };
        assert!(read(&page, 1_000).is_some(), "many entries");
        let large = ListAgentsResponse {
            next_page_token: "a".repeat(1 << 20),
            ..ListAgentsResponse::default()
        };
        assert!(read(&large, 1).is_some(), "many bytes");
    }
}
