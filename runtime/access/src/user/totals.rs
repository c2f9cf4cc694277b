//! Totals by user.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A total for each user name. Users without one have no entry, so that the memory is bounded by what is counted.
#[derive(Debug, Default)]
pub struct UserTotals(Mutex<HashMap<String, u64>>);

impl UserTotals {
    /// The total of `user`.
    #[must_use]
    pub fn of(&self, user: &str) -> u64 {
        self.totals().get(user).copied().unwrap_or_default()
    }

    /// Adds to the total of `user`, and returns the sum.
    pub fn add(&self, user: &str, amount: u64) -> u64 {
        let mut totals = self.totals();
        if let Some(total) = totals.get_mut(user) {
            *total += amount;
            return *total;
        }
        totals.insert(user.to_owned(), amount);
        amount
    }

    /// Adds to the total of `user` if `fits` accepts the present one. Returns true if it was added.
    pub fn add_if(&self, user: &str, amount: u64, fits: impl FnOnce(u64) -> bool) -> bool {
        let mut totals = self.totals();
        let present = totals.get_mut(user);
        if !fits(present.as_deref().copied().unwrap_or_default()) {
            return false;
        }
        match present {
            Some(total) => *total += amount,
            None => drop(totals.insert(user.to_owned(), amount)),
        }
        true
    }

    /// Subtracts what was added before.
    pub fn subtract(&self, user: &str, amount: u64) {
        let mut totals = self.totals();
        if let Some(total) = totals.get_mut(user) {
            *total = total.saturating_sub(amount);
            if *total == 0 {
                totals.remove(user);
            }
        }
    }

    /// True if no user has a total.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.totals().is_empty()
    }

    fn totals(&self) -> MutexGuard<'_, HashMap<String, u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_have_entries_only_while_they_have_totals() {
        let totals = UserTotals::default();
        assert_eq!(
            (totals.add("ann", 2), totals.add("ann", 1), totals.add("bob", 1)),
            (2, 3, 1)
        );
        assert!(!totals.add_if("ann", 1, |total| total < 3));
        assert!(totals.add_if("bob", 4, |total| total == 1) && totals.add_if("eve", 1, |total| total == 0));
        assert_eq!((totals.of("ann"), totals.of("bob"), totals.of("tom")), (3, 5, 0));
        for (user, amount) in [("ann", 3), ("bob", 5), ("eve", 1), ("tom", 1)] {
            totals.subtract(user, amount);
        }
        assert!(totals.is_empty());
    }
}
