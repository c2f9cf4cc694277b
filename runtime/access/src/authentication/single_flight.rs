//! Requests that wait for the same answer of another server.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared, WeakShared};

/// From this number of open requests on, those without a waiting caller are removed.
const CAPACITY: usize = 64;

/// A request that several requests wait for.
type Flight<T> = BoxFuture<'static, T>;

/// Joins equal requests that are sent at the same time: the first one is sent, and all get its answer.
///
/// A request ends when the last request that waits for it does.
pub struct SingleFlight<K, T> {
    open: Mutex<HashMap<K, WeakShared<Flight<T>>>>,
}

impl<K: Eq + Hash + Clone, T: Clone> SingleFlight<K, T> {
    /// Returns the open request `key` and `false`, or begins it by `begin` and returns it and `true`.
    pub fn join<F>(&self, key: &K, begin: impl FnOnce() -> F) -> (Shared<Flight<T>>, bool)
    where
        F: Future<Output = T> + Send + 'static,
    {
        let mut open = self.open();
        if let Some(flight) = open.get(key).and_then(WeakShared::upgrade)
            && flight.peek().is_none()
        {
            return (flight, false);
        }
        if open.len() >= CAPACITY {
            open.retain(|_, flight| flight.upgrade().is_some_and(|flight| flight.peek().is_none()));
        }
        let flight = begin().boxed().shared();
        if let Some(weak) = flight.downgrade() {
            open.insert(key.clone(), weak);
        }
        (flight, true)
    }

    fn open(&self) -> MutexGuard<'_, HashMap<K, WeakShared<Flight<T>>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K, T> Default for SingleFlight<K, T> {
    fn default() -> Self {
        Self { open: Mutex::default() }
    }
}

impl<K, T> fmt::Debug for SingleFlight<K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SingleFlight").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;

    #[test]
    fn equal_questions_are_asked_once_at_a_time() {
        let flights = SingleFlight::<&str, u8>::default();
        let (first, leads) = flights.join(&"a", || ready(1));
        assert!(leads);
        let (second, leads) = flights.join(&"a", || -> std::future::Ready<u8> { panic!("it is asked already") });
        assert!(!leads);
        let (_, leads) = flights.join(&"b", pending);
        assert!(leads);
        assert_eq!((second.now_or_never(), first.now_or_never()), (Some(1), Some(1)));
        let (again, leads) = flights.join(&"a", || ready(2));
        assert_eq!((again.now_or_never(), leads), (Some(2), true));
    }

    #[test]
    fn questions_that_nobody_waits_for_are_forgotten() {
        let flights = SingleFlight::<usize, u8>::default();
        for key in 0..CAPACITY * 4 {
            drop(flights.join(&key, pending));
        }
        assert!(flights.open().len() <= CAPACITY);
        let (waiting, _) = flights.join(&0, pending);
        for key in 1..CAPACITY * 4 {
            drop(flights.join(&key, pending));
        }
        assert!(!flights.join(&0, pending).1, "a request waits for it");
        drop(waiting);
    }
}
