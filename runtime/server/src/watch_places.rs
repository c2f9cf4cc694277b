//! The watches of each user.

use std::sync::Arc;

use planesmith_access::user::{UserInfo, UserTotals};

/// Most watches of one user at once: far more than any controller has, and few enough for the memory of a small machine.
const CAPACITY: u64 = 50_000;

/// Limits the number of watches of each user. Nodes, controllers and administrators have no limit.
#[derive(Clone, Debug)]
pub(crate) struct WatchPlaces {
    most: u64,
    watches: Arc<UserTotals>,
}

/// The place of one watch; dropping it frees the place.
#[derive(Debug)]
pub(crate) struct WatchPlace {
    places: WatchPlaces,
    /// `None` for a user without a limit.
    user: Option<Arc<UserInfo>>,
}

impl Default for WatchPlaces {
    fn default() -> Self {
        Self {
            most: CAPACITY,
            watches: Arc::default(),
        }
    }
}

impl WatchPlaces {
    /// Returns a place for a watch of `user`; `None` if the user has as many as it may.
    pub(crate) fn take(&self, user: &Arc<UserInfo>) -> Option<WatchPlace> {
        let limited = !user.is_system();
        if limited && !self.watches.add_if(&user.name, 1, |watches| watches < self.most) {
            return None;
        }
        Some(WatchPlace {
            places: self.clone(),
            user: limited.then(|| Arc::clone(user)),
        })
    }
}

impl Drop for WatchPlace {
    fn drop(&mut self) {
        if let Some(user) = self.user.take() {
            self.places.watches.subtract(&user.name, 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::user;

    #[test]
    fn one_user_has_a_limited_number_of_watches() {
        let places = WatchPlaces {
            most: 2,
            ..WatchPlaces::default()
        };
        let (ann, bob, scheduler) = (user("ann"), user("bob"), user("system:kube-scheduler"));
        let mut watches: Vec<_> = (0..2).map(|_| places.take(&ann).expect("a place")).collect();
        assert!(places.take(&ann).is_none());
        drop(places.take(&bob).expect("others have places of their own"));
        let many: Vec<_> = (0..3).map(|_| places.take(&scheduler)).collect();
        assert!(many.iter().all(Option::is_some));
        watches.pop();
        drop(places.take(&ann).expect("one is over"));
        drop((watches, many));
        assert!(places.watches.is_empty());
    }
}
