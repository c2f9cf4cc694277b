//! The places of requests in flight and of the answers that are being sent.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use planesmith_access::user::{PRIVILEGED_GROUP, UserInfo, UserTotals};

/// A limited number of requests. Unread answers of one user occupy at most half of the places; a user at that bound has
/// its further requests refused.
#[derive(Debug)]
pub(crate) struct Places {
    /// 0 is no limit.
    limit: usize,
    taken: AtomicUsize,
    /// Number of answers that are being sent, of all users.
    sending: AtomicUsize,
    /// The same by user.
    senders: UserTotals,
}

/// The seats of a running request. Dropping them ends the request.
pub trait Seats: fmt::Debug + Send + Sync {
    /// The answer is handled, and `user` reads it from now on. False if the seats are to be dropped now, because unread answers of
    /// the user have too many of them.
    fn keep_while_sending(&mut self, user: &Arc<UserInfo>) -> bool;
}

/// The permit of a request in flight; dropping it frees the place, and the seats.
#[derive(Debug)]
pub struct Permit {
    places: Arc<Places>,
    holds_place: bool,
    /// The seats; `None` without flow control.
    seats: Option<Box<dyn Seats>>,
    /// The user whose answer is being sent; `None` until then.
    sender: Option<Arc<UserInfo>>,
}

impl Places {
    pub(super) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self {
            limit,
            taken: AtomicUsize::new(0),
            sending: AtomicUsize::new(0),
            senders: UserTotals::default(),
        })
    }

    /// Returns a place for a request of `user`; `None` if all are taken, or if unread answers of the user take half of
    /// them. Administrators always get one.
    pub(crate) fn take(self: &Arc<Self>, user: &UserInfo) -> Option<Permit> {
        let before = self.taken.fetch_add(1, Ordering::Relaxed);
        let permit = self.permit(None);
        let is_free = self.limit == 0 || (before < self.limit && !self.is_used_up_by(user));
        (is_free || user.is_in(PRIVILEGED_GROUP)).then_some(permit)
    }

    /// Returns a place for a request that has `seats`: flow control limits the requests.
    pub(crate) fn take_with(self: &Arc<Self>, seats: Box<dyn Seats>) -> Permit {
        self.taken.fetch_add(1, Ordering::Relaxed);
        self.permit(Some(seats))
    }

    fn permit(self: &Arc<Self>, seats: Option<Box<dyn Seats>>) -> Permit {
        Permit {
            places: Arc::clone(self),
            holds_place: true,
            seats,
            sender: None,
        }
    }

    /// The number of places that are taken.
    pub(super) fn taken(&self) -> usize {
        self.taken.load(Ordering::Relaxed)
    }

    /// Number of places that unread answers of one user may occupy.
    fn share(&self) -> usize {
        self.limit.div_ceil(2)
    }

    fn is_used_up_by(&self, user: &UserInfo) -> bool {
        // Nearly always false, and then no lock is taken.
        self.sending.load(Ordering::Relaxed) >= self.share() && self.senders.of(&user.name) >= self.share() as u64
    }
}

impl Permit {
    /// The same permit while the answer to `user` is being sent. It releases its place at once if the user has its
    /// share already: many requests of one user may have been handled at the same time.
    pub(crate) fn sending_to(mut self, user: &Arc<UserInfo>) -> Self {
        if self.sender.is_some() {
            return self;
        }
        self.sender = Some(Arc::clone(user));
        if self.seats.as_mut().is_some_and(|seats| !seats.keep_while_sending(user)) {
            self.seats = None;
        }
        let places = &self.places;
        // Places without a limit have no shares.
        if places.limit > 0 {
            places.sending.fetch_add(1, Ordering::Relaxed);
            let sending = places.senders.add(&user.name, 1);
            if sending > places.share() as u64 && !user.is_in(PRIVILEGED_GROUP) {
                self.leave_place();
            }
        }
        self
    }

    fn leave_place(&mut self) {
        if std::mem::take(&mut self.holds_place) {
            self.places.taken.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.leave_place();
        let places = &self.places;
        if let Some(user) = self.sender.take()
            && places.limit > 0
        {
            places.senders.subtract(&user.name, 1);
            places.sending.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::user;

    #[test]
    fn unread_answers_of_one_user_leave_half_of_the_places_to_others() {
        let places = Places::new(4);
        let (ann, bob) = (user("ann"), user("bob"));
        // Four are handled at once, and then none of the answers is read.
        let handled: Vec<_> = (0..4).map(|_| places.take(&ann).expect("free")).collect();
        assert!(places.take(&bob).is_none(), "all are taken");
        let mut unread: Vec<_> = handled.into_iter().map(|permit| permit.sending_to(&ann)).collect();
        assert_eq!(places.taken(), 2);
        assert!(places.take(&ann).is_none(), "she has her share");
        let other = places.take(&bob).expect("half is left").sending_to(&bob);
        assert_eq!(places.taken(), 3);
        let root = UserInfo {
            groups: vec![PRIVILEGED_GROUP.to_owned()],
            ..UserInfo::clone(&ann)
        };
        drop(places.take(&root).expect("an administrator"));
        unread.truncate(1);
        drop(places.take(&ann).expect("she read three"));
        drop((unread, other));
        assert_eq!((places.taken(), places.sending.load(Ordering::Relaxed)), (0, 0));
        assert!(places.senders.is_empty());
    }
}
