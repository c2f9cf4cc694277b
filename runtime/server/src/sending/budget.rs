//! Limits on the memory of unsent answers.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use planesmith_access::user::UserInfo;

use super::RetainedMemory;
use super::snapshots::{Snapshot, Snapshots};

/// Bytes of small answers that are not charged to a user: enough for thousands of clients that read at a normal rate.
const COMMON: usize = 64 << 20;

/// Limits on the memory of unsent answers: bytes of the answers themselves, and superseded objects that lists keep in
/// memory. The newest states of objects are in memory in any case and do not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendLimits {
    /// Bytes of the answers to all users. A quarter is reserved for nodes, controllers and administrators.
    pub server: usize,
    /// Bytes of the answers to one user.
    pub user: usize,
}

impl Default for SendLimits {
    /// 1 GiB, half of it for one user: some eight hundred large lists at once.
    fn default() -> Self {
        Self {
            server: 1 << 30,
            user: 512 << 20,
        }
    }
}

/// Counts the bytes of unsent answers.
#[derive(Clone, Debug)]
pub(crate) struct SendBudget {
    limits: SendLimits,
    charges: Arc<Mutex<Charges>>,
    /// Bytes of small answers, of which [`COMMON`] are not charged.
    small: Arc<AtomicUsize>,
}

#[derive(Debug, Default)]
struct Charges {
    all: Share,
    /// By user name; users without unsent answers have no entry.
    users: HashMap<String, Share>,
}

/// The memory of some answers.
#[derive(Debug, Default)]
struct Share {
    answers: usize,
    bytes: usize,
    snapshots: Snapshots,
}

/// Bytes that are counted until this is dropped.
#[derive(Debug)]
pub(crate) struct Charge {
    charges: Arc<Mutex<Charges>>,
    user: Arc<UserInfo>,
    bytes: usize,
    snapshot: Option<Snapshot>,
}

/// The bytes of a small answer, counted until this is dropped.
#[derive(Debug)]
pub(crate) struct SmallCharge {
    _common: Common,
    /// `None` while there are few small answers.
    _own: Option<Charge>,
}

/// Bytes of a small answer in the sum of all users.
#[derive(Debug)]
struct Common {
    small: Arc<AtomicUsize>,
    bytes: usize,
}

impl SendBudget {
    pub(crate) fn new(limits: SendLimits) -> Self {
        Self {
            limits,
            charges: Arc::default(),
            small: Arc::default(),
        }
    }

    /// Charges an answer to `user`, unless a limit is reached. A user without unsent answers may have one of any size,
    /// whatever others do.
    pub(crate) fn admit(&self, user: &Arc<UserInfo>, pinned: RetainedMemory) -> Option<Charge> {
        let reserve = if user.is_system() { 0 } else { self.limits.server / 4 };
        let mut charges = lock(&self.charges);
        let fits = match charges.users.get(&user.name) {
            None => true,
            Some(own) => {
                let with = |share: &Share| share.total().saturating_add(pinned.own);
                with(own) <= self.limits.user && with(&charges.all) <= self.limits.server - reserve
            }
        };
        fits.then(|| self.take(&mut charges, user, pinned))
    }

    /// Charges an answer to `user` regardless of limits: the answer to a completed write cannot be refused.
    pub(crate) fn charge(&self, user: &Arc<UserInfo>, pinned: RetainedMemory) -> Charge {
        self.take(&mut lock(&self.charges), user, pinned)
    }

    /// Counts the bytes of a small answer to `user`; they are charged to the user once small answers of all users are
    /// many. `None` if the answer `may_be_refused` and the user has reached its limit.
    pub(crate) fn small(&self, user: &Arc<UserInfo>, bytes: usize, may_be_refused: bool) -> Option<SmallCharge> {
        let before = self.small.fetch_add(bytes, Ordering::Relaxed);
        let common = Common {
            small: Arc::clone(&self.small),
            bytes,
        };
        let own = match (before.saturating_add(bytes) > COMMON, may_be_refused) {
            (false, _) => None,
            (true, true) => Some(self.admit(user, RetainedMemory::new(bytes))?),
            (true, false) => Some(self.charge(user, RetainedMemory::new(bytes))),
        };
        Some(SmallCharge {
            _common: common,
            _own: own,
        })
    }

    /// Bytes of unsent small answers.
    #[cfg(test)]
    pub(crate) fn small_bytes(&self) -> usize {
        self.small.load(Ordering::Relaxed)
    }

    fn take(&self, charges: &mut Charges, user: &Arc<UserInfo>, pinned: RetainedMemory) -> Charge {
        let charge = Charge {
            charges: Arc::clone(&self.charges),
            user: Arc::clone(user),
            bytes: pinned.own,
            snapshot: pinned.snapshot,
        };
        charges.all.add(&charge);
        match charges.users.get_mut(&user.name) {
            Some(own) => own.add(&charge),
            None => charges.users.entry(user.name.clone()).or_default().add(&charge),
        }
        charge
    }
}

impl Share {
    fn total(&self) -> usize {
        self.bytes.saturating_add(self.snapshots.bytes())
    }

    fn add(&mut self, charge: &Charge) {
        self.answers += 1;
        self.bytes += charge.bytes;
        if let Some(snapshot) = &charge.snapshot {
            self.snapshots.insert(snapshot);
        }
    }

    fn remove(&mut self, charge: &Charge) {
        self.answers -= 1;
        self.bytes -= charge.bytes;
        if let Some(snapshot) = &charge.snapshot {
            self.snapshots.remove(snapshot);
        }
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        let mut charges = lock(&self.charges);
        charges.all.remove(self);
        if let Some(own) = charges.users.get_mut(&self.user.name) {
            own.remove(self);
            if own.answers == 0 {
                charges.users.remove(&self.user.name);
            }
        }
    }
}

impl Drop for Common {
    fn drop(&mut self) {
        self.small.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

fn lock(charges: &Mutex<Charges>) -> MutexGuard<'_, Charges> {
    // A panic cannot interrupt a change half way.
    charges.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::user;

    fn is_empty(budget: &SendBudget) -> bool {
        let charges = lock(&budget.charges);
        charges.all.answers == 0 && charges.all.bytes == 0 && charges.users.is_empty()
    }

    #[test]
    fn one_user_has_no_more_than_its_share() {
        let budget = SendBudget::new(SendLimits { server: 128, user: 50 });
        let admit = |user, bytes| budget.admit(user, RetainedMemory::new(bytes));
        let (ann, bob, cid) = (user("ann"), user("bob"), user("cid"));
        let first = admit(&ann, 40).expect("the first");
        assert!(admit(&ann, 11).is_none(), "more than her share");
        let second = admit(&ann, 10).expect("her share");
        let third = admit(&bob, 40).expect("his share");
        assert!(admit(&bob, 7).is_none(), "more than the server has for users");
        let large = admit(&cid, 1000).expect("everybody may have one");
        assert!(admit(&cid, 1).is_none());
        let written = budget.charge(&ann, RetainedMemory::new(7));
        drop((first, second, third, large, written));
        assert!(is_empty(&budget));
    }

    #[test]
    fn a_quarter_is_left_to_the_cluster() {
        let budget = SendBudget::new(SendLimits { server: 100, user: 80 });
        let (ann, scheduler) = (user("ann"), user("system:kube-scheduler"));
        let own = [&ann, &scheduler].map(|user| budget.admit(user, RetainedMemory::new(1)).expect("the first"));
        let most = budget.admit(&ann, RetainedMemory::new(73)).expect("three quarters");
        assert!(budget.admit(&ann, RetainedMemory::new(1)).is_none());
        let reserved = budget
            .admit(&scheduler, RetainedMemory::new(25))
            .expect("the last quarter");
        drop((own, most, reserved));
        assert!(is_empty(&budget));
    }

    #[test]
    fn small_answers_are_bounded_when_there_are_many() {
        let budget = SendBudget::new(SendLimits {
            server: 100_000,
            user: 50_000,
        });
        let ann = user("ann");
        let small = |may_be_refused| budget.small(&ann, 16 << 10, may_be_refused);
        let common: Vec<_> = (0..COMMON / (16 << 10)).map(|_| small(true)).collect();
        assert!(common.iter().all(Option::is_some) && is_empty(&budget));
        let own: Vec<_> = (0..3).map(|_| small(true)).collect();
        assert!(own.iter().all(Option::is_some));
        assert!(small(true).is_none(), "she has her share");
        let written = small(false).expect("what was done is answered");
        drop((common, own, written));
        assert!(is_empty(&budget));
        assert_eq!(budget.small.load(Ordering::Relaxed), 0);
    }
}
