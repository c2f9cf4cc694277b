//! Results that are computed from users.

use std::fmt;
use std::hash::BuildHasher as _;

use arc_swap::ArcSwapOption;
use foldhash::quality::RandomState;

use super::UserInfo;

/// The number of users whose results are known.
const USERS: usize = 256;

/// Results that depend only on the name and the groups of a user, for the users of the latest requests.
///
/// The owner replaces the cache whenever something else changes on which results depend. Readers take no lock. Users whose names
/// have the same place replace each other.
pub struct UserCache<T> {
    hasher: RandomState,
    places: Box<[ArcSwapOption<CachedResult<T>>]>,
}

/// The result for one user.
struct CachedResult<T> {
    name: String,
    groups: Vec<String>,
    result: T,
}

impl<T> Default for UserCache<T> {
    fn default() -> Self {
        Self {
            hasher: RandomState::default(),
            places: (0..USERS).map(|_| ArcSwapOption::empty()).collect(),
        }
    }
}

impl<T> UserCache<T> {
    /// Passes the result for `user` to `read`. It is computed if it is not known.
    pub fn with<R>(&self, user: &UserInfo, compute: impl FnOnce() -> T, read: impl FnOnce(&T) -> R) -> R {
        let hash = self.hasher.hash_one(&user.name);
        let place = &self.places[(hash % USERS as u64) as usize];
        if let Some(known) = &*place.load()
            && known.name == user.name
            && known.groups == user.groups
        {
            return read(&known.result);
        }
        let result = compute();
        let read = read(&result);
        let cached = CachedResult {
            name: user.name.clone(),
            groups: user.groups.clone(),
            result,
        };
        place.store(Some(cached.into()));
        read
    }
}

impl<T> fmt::Debug for UserCache<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UserCache").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_computed_once_for_each_name_with_its_groups() {
        let cache = UserCache::default();
        let user = |name: &str, groups: &[&str]| UserInfo {
            name: name.to_owned(),
            groups: groups.iter().map(|group| (*group).to_owned()).collect(),
            ..UserInfo::default()
        };
        let result = |user: &UserInfo, next: u32| cache.with(user, || next, |result| *result);
        assert_eq!(result(&user("ann", &["dev"]), 1), 1);
        assert_eq!(result(&user("ann", &["dev"]), 2), 1, "it is known");
        assert_eq!(result(&user("ann", &["dev", "ops"]), 3), 3, "she has another group");
        assert_eq!(result(&user("ann", &["dev"]), 4), 4, "only the latest is known");
        for number in 0..1000 {
            assert_eq!(
                result(&user(&number.to_string(), &[]), number),
                number,
                "names do not share results"
            );
        }
    }
}
