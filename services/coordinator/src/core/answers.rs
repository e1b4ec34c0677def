//! Answers to requests with an id, so that a retry gets the same answer.

use std::{
    cmp::Reverse,
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use arena_store::{Change, Collection};
use prost::Message;
use sha2::{Digest, Sha256};

use super::change;
use crate::{error::Error, principal::Principal};

/// Maximum size of all stored answers, in bytes. The oldest answer of the owner whose answers take most is removed
/// first, so an owner with many or large requests does not take the answers of others.
const BYTES_MAX: usize = 16 << 20;
/// An answer counts with this size at least, in bytes.
const BYTES_MIN: usize = 4 << 10;
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
    /// The owner that asked; empty in answers of earlier releases.
    #[prost(string, tag = "5")]
    owner: String,
}

impl Answer {
    fn bytes(&self) -> usize {
        self.answer.len().max(BYTES_MIN)
    }
}

/// The answers of an owner.
#[derive(Default)]
struct Owned {
    /// Their numbers and ids, oldest first.
    ids: VecDeque<(u64, String)>,
    bytes: usize,
}

/// The stored answers.
#[derive(Default)]
pub(super) struct Answers {
    known: HashMap<String, Answer>,
    by_owner: HashMap<Arc<str>, Owned>,
    bytes: usize,
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
        let mut answers = Self::default();
        for (id, answer) in read {
            answers.add(id, answer);
        }
        answers
    }

    fn add(&mut self, id: String, answer: Answer) {
        self.numbers = answer.number;
        let of_owner = self.by_owner.entry(answer.owner.as_str().into());
        let of_owner = of_owner.or_default();
        of_owner.ids.push_back((answer.number, id.clone()));
        let bytes = answer.bytes();
        of_owner.bytes += bytes;
        self.bytes += bytes;
        self.known.insert(id, answer);
    }

    /// Removes an answer if they are too large together. Returns its id.
    fn remove_excess(&mut self) -> Option<String> {
        if self.bytes <= BYTES_MAX {
            return None;
        }
        let oldest = |of: &Owned| of.ids.front().map(|(number, _)| *number);
        let owners = self.by_owner.iter();
        let busiest = owners.max_by_key(|(_, of)| (of.bytes, Reverse(oldest(of))));
        let owner = Arc::clone(busiest?.0);
        let of_owner = self.by_owner.get_mut(&owner)?;
        let (_, id) = of_owner.ids.pop_front()?;
        let bytes = self.known.remove(&id).map_or(0, |answer| answer.bytes());
        of_owner.bytes -= bytes;
        self.bytes -= bytes;
        if of_owner.ids.is_empty() {
            self.by_owner.remove(&owner);
        }
        Some(id)
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
        let answer = Answer {
            method: method.to_owned(),
            request_sha256: digest(by, request),
            answer: answer.encode_to_vec(),
            number: self.numbers + 1,
            owner: by.owner.to_string(),
        };
        let mut changes = vec![change(
            Collection::Requests,
            id,
            Some(answer.encode_to_vec()),
        )];
        self.add(id.to_owned(), answer);
        let removed = std::iter::from_fn(|| self.remove_excess());
        changes.extend(removed.map(|id| change(Collection::Requests, id, None)));
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

    /// Number of small answers that are stored.
    const SMALL: usize = BYTES_MAX / BYTES_MIN;

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
        for number in 0..SMALL {
            let changes =
                answers.remember(&number.to_string(), &by, "Get", &request(""), &request(""));
            assert_eq!(changes.len(), 1);
        }
        let changes = answers.remember("new", &by, "Get", &request(""), &request(""));
        assert_eq!(changes[1].key, "0");
        assert_eq!(changes[1].value, None);
    }

    #[test]
    fn owner_with_most_answers_loses_its_oldest() {
        let (busy, other) = (Principal::local(), Principal::retention());
        let (mut answers, mut stored) = (Answers::default(), HashMap::new());
        let mut remember = |answers: &mut Answers, id: &str, by: &Principal| {
            let mut removed = None;
            for it in answers.remember(id, by, "Get", &request(id), &request(id)) {
                match it.value {
                    Some(value) => drop(stored.insert(it.key, value)),
                    None => removed = stored.remove_entry(&it.key).map(|(id, _)| id),
                }
            }
            removed
        };
        for id in ["old", "older"] {
            assert_eq!(remember(&mut answers, id, &other), None);
        }
        for number in 0..SMALL - 2 {
            let removed = remember(&mut answers, &number.to_string(), &busy);
            assert_eq!(removed, None);
        }
        for (id, by, expected) in [("a", &busy, "0"), ("b", &other, "1"), ("c", &busy, "2")] {
            let removed = remember(&mut answers, id, by);
            assert_eq!(removed.as_deref(), Some(expected));
        }
        assert_eq!(stored.len(), SMALL);
        // A restart keeps whose they are.
        let mut answers = Answers::new(stored.into_iter().collect());
        let changes = answers.remember("d", &other, "Get", &request("d"), &request("d"));
        assert_eq!(changes[1].key, "3");
        for id in ["old", "older", "b"] {
            let kept: Option<GetAgentRequest> = answers
                .recall(id, &other, "Get", &request(id))
                .expect("known");
            assert_eq!(kept, Some(request(id)), "{id}");
        }
    }

    #[test]
    fn large_answers_replace_those_of_their_owner() {
        let (busy, other) = (Principal::local(), Principal::retention());
        let (mut answers, mut stored) = (Answers::default(), HashMap::new());
        let large = "x".repeat(BYTES_MAX / 8);
        let mut remember = |id: usize, by: &Principal, answer: &str| {
            let id = format!("{}-{id}", by.owner);
            for it in answers.remember(&id, by, "Get", &request(&id), &request(answer)) {
                match it.value {
                    Some(value) => drop(stored.insert(it.key, value)),
                    None => drop(stored.remove(&it.key).expect("it was stored")),
                }
            }
        };
        for id in 0..100 {
            remember(id, &other, "small");
            remember(id, &busy, &large);
        }
        let total: usize = stored.values().map(Vec::len).sum();
        assert!(total < BYTES_MAX + SMALL * 200, "{total} bytes");
        let of_other = stored.keys().filter(|id| id.starts_with(&*other.owner));
        assert_eq!(of_other.count(), 100);
        assert!(
            stored.contains_key(&format!("{}-99", busy.owner)),
            "the newest"
        );
        let answers = Answers::new(stored.into_iter().collect());
        assert!(answers.bytes <= BYTES_MAX, "{}", answers.bytes);
    }

    #[test]
    fn of_owners_with_as_many_answers_the_oldest_is_removed() {
        let mut answers = Answers::default();
        let mut last = Vec::new();
        for number in 0..=SMALL {
            let mut by = Principal::local();
            by.owner = number.to_string().into();
            let id = format!("id-{number}");
            last = answers.remember(&id, &by, "Get", &request(""), &request(""));
        }
        assert_eq!(last[1].key, "id-0");
        assert_eq!(answers.by_owner.len(), SMALL);
    }
}
