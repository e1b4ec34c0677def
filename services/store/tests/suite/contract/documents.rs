//! Promises about documents, and about the sizes of values.

use std::sync::Arc;

use super::game;
use crate::{
    Change, Collection, DOCUMENT_BYTES_MAX, KEY_BYTES_MAX, Store, StoreError, StoredGame,
    VALUE_BYTES_MAX,
};

pub(super) fn a_document_reads_as_it_was_written(store: &Arc<dyn Store>) {
    assert_eq!(store.get(Collection::Agents, "random").unwrap(), None);
    for value in [&b"{}"[..], b"", &[0; 300_000]] {
        store.put(Collection::Agents, "random", value).unwrap();
        assert_eq!(
            store.get(Collection::Agents, "random").unwrap().as_deref(),
            Some(value)
        );
    }
    assert_eq!(store.get(Collection::Meta, "random").unwrap(), None);
    let removal = Change {
        collection: Collection::Agents,
        key: "random".to_owned(),
        value: None,
    };
    store.put_many(vec![removal.clone()]).unwrap();
    store.put_many(vec![removal]).unwrap();
    assert_eq!(store.get(Collection::Agents, "random").unwrap(), None);
}

pub(super) fn documents_are_listed_by_collection_in_the_order_of_their_keys(
    store: &Arc<dyn Store>,
) {
    for key in ["b", "a", "ab", "", "ä", "a\0b", "a0"] {
        store
            .put(Collection::Tournaments, key, key.as_bytes())
            .unwrap();
        store.put(Collection::Agents, key, b"other").unwrap();
    }
    let listed = store.list(Collection::Tournaments).unwrap();
    let expected = ["", "a", "a\0b", "a0", "ab", "b", "ä"];
    assert_eq!(
        listed,
        expected.map(|key| (key.to_owned(), key.as_bytes().to_vec()))
    );
    assert_eq!(store.list(Collection::Requests).unwrap(), []);
}

pub(super) fn changes_of_documents_are_made_together(store: &Arc<dyn Store>) {
    store.put(Collection::Agents, "old", b"1").unwrap();
    let change = |collection, key: &str, value: Option<&[u8]>| Change {
        collection,
        key: key.to_owned(),
        value: value.map(<[u8]>::to_vec),
    };
    store
        .put_many(vec![
            change(Collection::Agents, "old", None),
            change(Collection::Agents, "new", Some(b"1")),
            change(Collection::Agents, "new", Some(b"2")),
            change(Collection::Requests, "r-1", Some(b"answer")),
        ])
        .unwrap();
    assert_eq!(
        store.list(Collection::Agents).unwrap(),
        [("new".to_owned(), b"2".to_vec())]
    );
    let over = vec![0; DOCUMENT_BYTES_MAX + 1];
    let refused = store.put_many(vec![
        change(Collection::Agents, "new", None),
        change(Collection::Agents, "large", Some(&over)),
    ]);
    assert!(
        matches!(refused, Err(StoreError::TooLarge { .. })),
        "{refused:?}"
    );
    assert_eq!(
        store.list(Collection::Agents).unwrap(),
        [("new".to_owned(), b"2".to_vec())]
    );
}

pub(super) fn what_is_too_large_is_refused_and_nothing_of_it_taken(store: &Arc<dyn Store>) {
    let long_key = "k".repeat(KEY_BYTES_MAX + 1);
    let refused = store.put(Collection::Agents, &long_key, b"");
    assert!(
        matches!(refused, Err(StoreError::TooLarge { .. })),
        "{refused:?}"
    );
    // The documents of tournaments grow.
    let largest = vec![7; DOCUMENT_BYTES_MAX];
    store.put(Collection::Tournaments, "cup", &largest).unwrap();
    assert_eq!(
        store.get(Collection::Tournaments, "cup").unwrap(),
        Some(largest)
    );
    let large = StoredGame {
        record: vec![0; VALUE_BYTES_MAX + 1],
        ..game("cup", 1)
    };
    let refused = store.append_and_wait(vec![game("cup", 0), large]);
    assert!(
        matches!(refused, Err(StoreError::TooLarge { .. })),
        "{refused:?}"
    );
    assert_eq!(store.count("cup"), 0);
    let largest = StoredGame {
        record: vec![7; VALUE_BYTES_MAX],
        side: vec![],
        ..game("cup", 1)
    };
    store
        .append_and_wait(vec![game("cup", 0), largest.clone()])
        .unwrap();
    assert_eq!(store.game("cup", 1).unwrap(), Some(largest));
}
