//! Promises about binaries.

use std::{io::Write, sync::Arc};

use sha2::{Digest, Sha256};

use crate::{Store, StoreError};

pub(super) fn a_binary_is_kept_under_its_digest(store: &Arc<dyn Store>) {
    let content = vec![42; 100_000];
    let sha256 = Sha256::digest(&content).into();
    assert_eq!(store.binary_path(&sha256), None);
    for _ in 0..2 {
        let mut upload = store.begin_binary(sha256).unwrap();
        for chunk in content.chunks(999) {
            upload.write_all(chunk).unwrap();
        }
        let path = upload.commit().unwrap();
        assert_eq!(store.binary_path(&sha256), Some(path.clone()));
        assert!(path.ends_with(hex::encode(sha256)));
        assert_eq!(std::fs::read(path).unwrap(), content);
    }
}

pub(super) fn a_binary_with_another_content_is_refused_and_leaves_nothing(store: &Arc<dyn Store>) {
    let sha256 = [1; 32];
    let mut upload = store.begin_binary(sha256).unwrap();
    upload.write_all(b"content").unwrap();
    let refused = upload.commit();
    assert!(
        matches!(refused, Err(StoreError::WrongDigest { .. })),
        "{refused:?}"
    );
    assert_eq!(store.binary_path(&sha256), None);
}

pub(super) fn a_binary_broken_off_leaves_nothing(store: &Arc<dyn Store>) {
    let sha256 = Sha256::digest(b"content").into();
    let mut upload = store.begin_binary(sha256).unwrap();
    upload.write_all(b"content").unwrap();
    drop(upload);
    assert_eq!(store.binary_path(&sha256), None);
    let path = {
        let mut upload = store.begin_binary(sha256).unwrap();
        upload.write_all(b"content").unwrap();
        upload.commit().unwrap()
    };
    assert_eq!(path.parent().unwrap().read_dir().unwrap().count(), 1);
}
