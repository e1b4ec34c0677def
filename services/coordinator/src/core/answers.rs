//! Answers to requests with an id, so that a retry gets the same answer.

use std::collections::{HashMap, VecDeque};

use arena_store::{Change, Collection};
use prost::Message;
use sha2::{Digest, Sha256};

use super::change;
use crate::{door::Principal, error::Error};

/// Maximum number of stored answers; the oldest are removed first.
const ANSWERS_MAX: usize = 4096;
/// Maximum length of a request id, in bytes.
const ID_BYTES_MAX: usize = 128;

/// A stored answer.
#[derive(Clone, PartialEq, Message)]
struct Answer {
    #[prost(string, tag = "1")]
    method: String,
    /// Hash of the request, so that an id is not mistaken for another request.
    #[prost(bytes = "vec", tag = "2")]
    request_sha256: Vec<u8>,
    #[prost(bytes = "vec", tag = "3")]
    answer: Vec<u8>,
    /// Counter of answers, which orders them after a restart.
    #[prost(uint64, tag = "4")]
    number: u64,
}

/// The stored answers.
#[derive(Default)]
pub(super) struct Answers {
    known: HashMap<String, Answer>,
    order: VecDeque<String>,
    numbers: u64,
}

impl Answers {
    /// Reads the answers of the store. Unreadable ones are dropped, like old ones.
    pub(super) fn new(documents: Vec<(String, Vec<u8>)>) -> Self {
        let mut read: Vec<(String, Answer)> = documents
            .into_iter()
            .filter_map(|(id, bytes)| Some((id, Answer::decode(bytes.as_slice()).ok()?)))
            .collect();
        read.sort_by_key(|(_, answer)| answer.number);
        Self {
            numbers: read.last().map_or(0, |(_, answer)| answer.number),
            order: read.iter().map(|(id, _)| id.clone()).collect(),
            known: read.into_iter().collect(),
        }
    }

    /// The answer that was given to this request before.
    pub(super) fn recall<A: Message + Default>(
        &self,
        id: &str,
        by: &Principal,
        method: &str,
        request: &impl Message,
    ) -> Result<Option<A>, Error> {
        if id.len() > ID_BYTES_MAX {
            return Err(Error::Request(format!(
                "the request id exceeds {ID_BYTES_MAX} bytes"
            )));
        }
        let Some(known) = self.known.get(id) else {
            return Ok(None);
        };
        if known.method != method || known.request_sha256 != digest(by, request) {
            return Err(Error::RequestId(id.to_owned()));
        }
        A::decode(known.answer.as_slice())
            .map(Some)
            .map_err(|_| Error::RequestId(id.to_owned()))
    }

    /// Adds an answer. The returned change has to be stored together with the mutation.
    pub(super) fn remember(
        &mut self,
        id: &str,
        by: &Principal,
        method: &str,
        request: &impl Message,
        answer: &impl Message,
    ) -> Vec<Change> {
        if id.is_empty() {
            return Vec::new();
        }
        self.numbers += 1;
        let answer = Answer {
            method: method.to_owned(),
            request_sha256: digest(by, request),
            answer: answer.encode_to_vec(),
            number: self.numbers,
        };
        let mut changes = vec![change(
            Collection::Requests,
            id,
            Some(answer.encode_to_vec()),
        )];
        self.known.insert(id.to_owned(), answer);
        self.order.push_back(id.to_owned());
        if self.order.len() > ANSWERS_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
            changes.push(change(Collection::Requests, oldest, None));
        }
        changes
    }
}

/// A caller gets no answer that was given to another one.
fn digest(by: &Principal, request: &impl Message) -> Vec<u8> {
    let digest = Sha256::new_with_prefix(request.encode_to_vec());
    digest.chain_update(by.owner.as_bytes()).finalize().to_vec()
}

#[cfg(test)]
mod tests {
    use arena_wire::v1::{GetAgentRequest, RemoveAgentRequest};

    use super::*;

    fn request(name: &str) -> GetAgentRequest {
        GetAgentRequest {
            name: name.to_owned(),
        }
    }

    #[test]
    fn retried_request_gets_same_answer() {
        let (mut answers, by) = (Answers::default(), Principal::local());
        let stored = answers.remember("id", &by, "Get", &request("a"), &request("answer"));
        let restarted = Answers::new(vec![(
            "id".to_owned(),
            stored[0].value.clone().expect("a value"),
        )]);
        for answers in [&answers, &restarted] {
            let again: Option<GetAgentRequest> = answers
                .recall("id", &by, "Get", &request("a"))
                .expect("known");
            assert_eq!(again, Some(request("answer")));
            for conflict in [
                answers.recall::<GetAgentRequest>("id", &by, "Get", &request("b")),
                answers.recall::<GetAgentRequest>("id", &by, "Remove", &request("a")),
            ] {
                assert!(matches!(conflict, Err(Error::RequestId(_))));
            }
            let other = answers.recall::<RemoveAgentRequest>("other", &by, "Get", &request("a"));
            assert_eq!(other.expect("fine"), None);
        }
    }

    #[test]
    fn oldest_answers_are_removed_everywhere() {
        let (mut answers, by) = (Answers::default(), Principal::local());
        for number in 0..ANSWERS_MAX {
            let changes =
                answers.remember(&number.to_string(), &by, "Get", &request(""), &request(""));
            assert_eq!(changes.len(), 1);
        }
        let changes = answers.remember("new", &by, "Get", &request(""), &request(""));
        assert_eq!(changes[1].key, "0");
        assert_eq!(changes[1].value, None);
    }
}
