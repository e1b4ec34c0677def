//! The share of each owner in what all of them use.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use arena_wire::v1::Role;

use crate::{error::Error, principal::Principal};

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
        self.take_for(Arc::clone(&by.owner), by.role != Role::Admin)
    }

    fn take_for(&self, owner: Arc<str>, is_limited: bool) -> Result<Share, Error> {
        let mut all = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let used = all.get(&owner).copied().unwrap_or(0);
        if is_limited && used >= self.max {
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

/// The shares of connections: however many tokens of users are in the wrong hands, and one of workers, some
/// places are left for others.
#[derive(Debug)]
pub(crate) struct ConnectionShares {
    /// Of a viewer or submitter.
    user: Shares,
    /// Of all of them.
    users: Shares,
    /// Of a token of workers, which often is that of all workers.
    worker: Shares,
}

impl ConnectionShares {
    /// Maximum of one viewer or submitter. All of them together may have half as many more, and so may the workers
    /// of one token.
    pub(crate) fn new(max: usize) -> Self {
        Self {
            user: Shares::new(max),
            users: Shares::new(max + max / 2),
            worker: Shares::new(max + max / 2),
        }
    }

    /// Takes a connection.
    pub(crate) fn take(&self, by: &Principal) -> Result<ConnectionShare, Error> {
        let taken = self.taken(by);
        taken.map_err(|_| Error::Connections { wait: WAIT })
    }

    fn taken(&self, by: &Principal) -> Result<ConnectionShare, Error> {
        Ok(match by.role {
            Role::Viewer | Role::Submitter => {
                let own = self.user.take(by)?;
                ConnectionShare(vec![own, self.users.take_for("".into(), true)?])
            }
            Role::Worker => ConnectionShare(vec![self.worker.take(by)?]),
            Role::Admin | Role::Unspecified => ConnectionShare(Vec::new()),
        })
    }
}

/// The share of a connection, free again when it is dropped.
#[derive(Debug)]
pub(crate) struct ConnectionShare(#[expect(dead_code, reason = "dropped with it")] Vec<Share>);

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

    #[test]
    fn users_together_and_workers_of_a_token_have_shares() {
        let shares = ConnectionShares::new(4);
        let by = |role, owner: &str| {
            let mut principal = Principal::local();
            (principal.role, principal.owner) = (role, owner.into());
            principal
        };
        let fill = |role, owner: &str| {
            let by = by(role, owner);
            std::iter::from_fn(|| shares.take(&by).ok()).collect::<Vec<_>>()
        };
        let [one, two, three] = ["one", "two", "three"].map(|it| fill(Role::Viewer, it));
        assert_eq!([one.len(), two.len(), three.len()], [4, 2, 0]);
        let workers = ["one", "four"].map(|it| fill(Role::Worker, it).len());
        assert_eq!(workers, [6, 6]);
        drop(one);
        assert_eq!(fill(Role::Submitter, "three").len(), 4, "room again");
        assert!(shares.take(&by(Role::Admin, "five")).is_ok());
    }
}
