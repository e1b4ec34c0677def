//! The share of each owner in what all of them use.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use arena_wire::v1::Role;

use crate::{door::Principal, error::Error};

/// Suggested delay after a request that exceeds a share.
const WAIT: Duration = Duration::from_secs(1);

/// What owners use. Administrators have no limit.
#[derive(Clone, Debug)]
pub(crate) struct Shares {
    /// Maximum of one owner.
    max: usize,
    used: Arc<Mutex<HashMap<Arc<str>, usize>>>,
}

impl Shares {
    pub(crate) fn new(max: usize) -> Self {
        Self {
            max,
            used: Arc::default(),
        }
    }

    /// Takes one, unless that exceeds the share of its owner.
    pub(crate) fn take(&self, by: &Principal) -> Result<Share, Error> {
        let owner = Arc::clone(&by.owner);
        let mut all = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let used = all.get(&owner).copied().unwrap_or(0);
        if by.role != Role::Admin && used >= self.max {
            return Err(Error::Overloaded { wait: WAIT });
        }
        all.insert(Arc::clone(&owner), used + 1);
        drop(all);
        Ok(Share {
            of: self.clone(),
            owner,
        })
    }
}

/// A part of a share, free again when it is dropped.
#[derive(Debug)]
pub(crate) struct Share {
    of: Shares,
    owner: Arc<str>,
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut all = self.of.used.lock().unwrap_or_else(PoisonError::into_inner);
        match all.get_mut(&self.owner) {
            Some(used) if *used > 1 => *used -= 1,
            _ => drop(all.remove(&self.owner)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_owner_has_a_share() {
        let shares = Shares::new(2);
        let by = |owner: &str| {
            let mut principal = Principal::local();
            (principal.role, principal.owner) = (Role::Submitter, owner.into());
            principal
        };
        let first = shares.take(&by("one")).expect("room");
        let _second = shares.take(&by("one")).expect("room");
        assert!(shares.take(&by("one")).is_err());
        let _other = shares.take(&by("two")).expect("its own");
        drop(first);
        let _third = shares.take(&by("one")).expect("room again");
        let all: Vec<_> = (0..9).map(|_| shares.take(&Principal::local())).collect();
        assert!(all.iter().all(Result::is_ok), "administrators");
        drop(all);
        assert_eq!(shares.used.lock().expect("no panic").len(), 2);
    }
}
