//! The bytes that answers on their way to clients may hold.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use planesmith_access::user::UserInfo;

/// The bytes that answers on their way to clients may hold. What they borrow from the cache counts, too: a list that is not read
/// keeps the old states of its objects in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendLimits {
    /// Bytes of the answers to all users.
    pub server: usize,
    /// Bytes of the answers to one user.
    pub user: usize,
}

impl Default for SendLimits {
    /// 1 GiB, half of it for one user: ten to twenty large lists at once.
    fn default() -> Self {
        Self {
            server: 1 << 30,
            user: 512 << 20,
        }
    }
}

/// Counts the bytes of answers on their way.
#[derive(Clone, Debug)]
pub(crate) struct SendBudget {
    limits: SendLimits,
    held: Arc<Mutex<Held>>,
}

#[derive(Debug, Default)]
struct Held {
    total: usize,
    /// By name; users without any bytes have no entry.
    users: HashMap<String, usize>,
}

/// Bytes that are counted until this is dropped.
#[derive(Debug)]
pub(crate) struct Charge {
    held: Arc<Mutex<Held>>,
    user: Arc<UserInfo>,
    bytes: usize,
}

impl SendBudget {
    pub(crate) fn new(limits: SendLimits) -> Self {
        Self {
            limits,
            held: Arc::default(),
        }
    }

    /// Counts `bytes` for `user` unless there are too many already. A user without any has room for one answer of any size,
    /// whatever others do.
    pub(crate) fn admit(&self, user: &Arc<UserInfo>, bytes: usize) -> Option<Charge> {
        let mut held = lock(&self.held);
        let own = held.users.get(&user.name).copied().unwrap_or_default();
        let fits =
            own.saturating_add(bytes) <= self.limits.user && held.total.saturating_add(bytes) <= self.limits.server;
        (own == 0 || fits).then(|| self.take(&mut held, user, bytes))
    }

    /// Counts `bytes` for `user`, however many there are: what was done cannot be refused any more.
    pub(crate) fn charge(&self, user: &Arc<UserInfo>, bytes: usize) -> Charge {
        self.take(&mut lock(&self.held), user, bytes)
    }

    fn take(&self, held: &mut Held, user: &Arc<UserInfo>, bytes: usize) -> Charge {
        held.total += bytes;
        match held.users.get_mut(&user.name) {
            Some(own) => *own += bytes,
            None => drop(held.users.insert(user.name.clone(), bytes)),
        }
        Charge {
            held: Arc::clone(&self.held),
            user: Arc::clone(user),
            bytes,
        }
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        let mut held = lock(&self.held);
        held.total -= self.bytes;
        if let Some(own) = held.users.get_mut(&self.user.name) {
            *own -= self.bytes;
            if *own == 0 {
                held.users.remove(&self.user.name);
            }
        }
    }
}

fn lock(held: &Mutex<Held>) -> MutexGuard<'_, Held> {
    // Nothing panics half way through a change.
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(name: &str) -> Arc<UserInfo> {
        Arc::new(UserInfo {
            name: name.to_owned(),
            ..UserInfo::default()
        })
    }

    #[test]
    fn one_user_has_no_more_than_its_share() {
        let budget = SendBudget::new(SendLimits { server: 100, user: 50 });
        let (ann, bob, cid) = (user("ann"), user("bob"), user("cid"));
        let first = budget.admit(&ann, 40).expect("the first");
        assert!(budget.admit(&ann, 11).is_none(), "more than her share");
        let second = budget.admit(&ann, 10).expect("her share");
        let third = budget.admit(&bob, 45).expect("his share");
        assert!(budget.admit(&bob, 6).is_none(), "more than the server has");
        let large = budget.admit(&cid, 1000).expect("everybody may have one");
        assert!(budget.admit(&cid, 1).is_none());
        let written = budget.charge(&ann, 7);
        drop((first, second, third, large, written));
        let held = lock(&budget.held);
        assert_eq!((held.total, held.users.len()), (0, 0));
    }
}
