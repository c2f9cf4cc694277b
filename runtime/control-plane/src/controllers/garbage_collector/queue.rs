//! Objects that are to be looked at, each once at a time.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::graph::ObjectId;

/// How long an object waits after the first failure; twice as long after each further one.
const FIRST_DELAY: Duration = Duration::from_millis(5);

/// How long an object waits at most.
const LONGEST_DELAY: Duration = Duration::from_secs(60);

/// Objects in the order in which they are to be looked at.
#[derive(Debug, Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    woken: Notify,
}

#[derive(Debug, Default)]
struct State {
    ready: VecDeque<ObjectId>,
    queued: HashSet<ObjectId>,
    /// Looked at now; `true` when it is to be looked at once more.
    under_way: HashMap<ObjectId, bool>,
    later: BTreeMap<(Instant, u64), ObjectId>,
    failures: HashMap<ObjectId, u32>,
    serial: u64,
}

/// What became of a look at an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Nothing is left to do.
    Done,
    /// It is to be looked at again, the later the more often that was so.
    Again,
}

impl Queue {
    /// Adds objects that are not in the queue already.
    pub(super) fn add(&self, objects: impl IntoIterator<Item = ObjectId>) {
        let mut state = self.lock();
        let mut added = false;
        for object in objects {
            added |= state.add(object);
        }
        drop(state);
        if added {
            self.woken.notify_one();
        }
    }

    /// The next object, until [`Queue::finish`] of nobody else.
    pub(super) fn take(&self, now: Instant) -> Option<ObjectId> {
        let mut state = self.lock();
        while let Some(entry) = state.later.first_entry()
            && entry.key().0 <= now
        {
            let object = entry.remove();
            state.add(object);
        }
        let object = state.ready.pop_front()?;
        state.queued.remove(&object);
        state.under_way.insert(object.clone(), false);
        Some(object)
    }

    /// Says what became of an object that was taken.
    pub(super) fn finish(&self, object: ObjectId, outcome: Outcome, now: Instant) {
        let mut state = self.lock();
        let again = state.under_way.remove(&object) == Some(true);
        match outcome {
            Outcome::Done => drop(state.failures.remove(&object)),
            Outcome::Again => {
                let failures = state.failures.entry(object.clone()).or_default();
                let delay = FIRST_DELAY.saturating_mul(1 << (*failures).min(20)).min(LONGEST_DELAY);
                *failures += 1;
                state.serial += 1;
                let at = (now + delay, state.serial);
                if !again {
                    state.later.insert(at, object);
                    return;
                }
            }
        }
        if again {
            state.add(object);
        }
    }

    /// When the next object that failed is to be looked at again.
    pub(super) fn next_time(&self) -> Option<Instant> {
        self.lock().later.keys().next().map(|(at, _)| *at)
    }

    /// Waits until something was added. May be dropped and called again.
    pub(super) async fn woken(&self) {
        self.woken.notified().await;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn add(&mut self, object: ObjectId) -> bool {
        if let Some(again) = self.under_way.get_mut(&object) {
            *again = true;
            return false;
        }
        if !self.queued.insert(object.clone()) {
            return false;
        }
        self.ready.push_back(object);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(name: &str) -> ObjectId {
        ObjectId {
            key: name.into(),
            prefix: "".into(),
        }
    }

    #[test]
    fn an_object_is_looked_at_by_one_at_a_time() {
        let queue = Queue::default();
        let now = Instant::now();
        queue.add([object("a"), object("b"), object("a")]);
        assert_eq!(queue.take(now), Some(object("a")));
        queue.add([object("a")]);
        assert_eq!(queue.take(now), Some(object("b")));
        assert_eq!(queue.take(now), None);
        queue.finish(object("a"), Outcome::Done, now);
        assert_eq!(queue.take(now), Some(object("a")));
        queue.finish(object("a"), Outcome::Done, now);
        assert_eq!(queue.take(now), None);
    }

    #[test]
    fn failures_wait_longer_each_time() {
        let queue = Queue::default();
        let mut now = Instant::now();
        queue.add([object("a")]);
        for round in 0..3 {
            assert_eq!(queue.take(now), Some(object("a")));
            queue.finish(object("a"), Outcome::Again, now);
            assert_eq!(queue.take(now), None);
            let next = queue.next_time().unwrap();
            assert_eq!(next - now, FIRST_DELAY * (1 << round));
            now = next;
        }
        assert_eq!(queue.take(now), Some(object("a")));
        queue.finish(object("a"), Outcome::Done, now);
        assert_eq!(queue.next_time(), None);
    }
}
