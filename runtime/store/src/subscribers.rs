//! The watchers of one collection, and the selection of those that an event wakes.

mod cohort;
mod wake_group;

use std::collections::BTreeMap;
use std::ops::{Bound, Range};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use self::cohort::Cohort;
pub use self::wake_group::WakeGroup;
use crate::history::Position;

/// The watchers of a collection, by the prefix of the keys that they follow.
///
/// An event marks the prefixes of its key with few comparisons, and a wake-up reaches only their watchers. All watchers
/// of a prefix that share a connection are woken together, with one call.
#[derive(Debug, Default)]
pub(crate) struct Subscribers {
    topics: Mutex<Topics>,
    /// True once no more events follow.
    closed: AtomicBool,
}

#[derive(Debug, Default)]
struct Topics {
    by_prefix: BTreeMap<Arc<str>, Topic>,
    /// Prefixes with events since the last wake-up.
    marked: Vec<Arc<str>>,
    watchers: usize,
}

/// The watchers of one prefix.
#[derive(Debug)]
struct Topic {
    reach: Arc<Reach>,
    /// A running wake-up has a copy, which a new cohort does not change.
    cohorts: Arc<Vec<Arc<Cohort>>>,
    marked: bool,
    /// The number of those that clients wait for.
    clients: usize,
}

/// The extent of the events under one prefix, in sequence numbers of the collection.
#[derive(Debug)]
struct Reach {
    /// The end of the newest event; at first the end of the newest one of all keys.
    end: AtomicU64,
    /// The end of the newest event that the history has forgotten; at first that of all keys.
    forgotten: AtomicU64,
}

/// The registration of one watcher.
#[derive(Debug)]
pub(crate) struct Subscription {
    prefix: Arc<str>,
    reach: Arc<Reach>,
    cohort: Arc<Cohort>,
    member: usize,
    /// True if a client waits for the events.
    is_of_client: bool,
}

/// Tells that there are changes under one prefix, at the cost of reading a number.
#[derive(Clone, Debug)]
pub struct ChangeSignal {
    reach: Arc<Reach>,
}

impl ChangeSignal {
    /// True if there may be a change that a watcher at `position` has not read. An acknowledged write has been signalled.
    #[must_use]
    pub fn is_behind(&self, position: Position) -> bool {
        self.reach.end.load(Ordering::Acquire) > position.0
    }
}

impl Subscribers {
    /// Adds a watcher of `prefix` to a collection with `history`, the sequence numbers of its events, which must not
    /// change meanwhile.
    pub(crate) fn subscribe(&self, prefix: &str, history: Range<u64>) -> Subscription {
        let mut topics = self.lock();
        topics.watchers += 1;
        let prefix = match topics.by_prefix.get_key_value(prefix) {
            Some((known, _)) => Arc::clone(known),
            None => Arc::from(prefix),
        };
        let topic = topics.by_prefix.entry(Arc::clone(&prefix));
        let topic = topic.or_insert_with(|| Topic {
            reach: Arc::new(Reach {
                end: AtomicU64::new(history.end),
                forgotten: AtomicU64::new(history.start),
            }),
            cohorts: Arc::default(),
            marked: false,
            clients: 0,
        });
        let cohort = topic.cohort(None);
        Subscription {
            prefix,
            reach: Arc::clone(&topic.reach),
            member: cohort.join(),
            cohort,
            is_of_client: false,
        }
    }

    /// Counts a watcher as one that a client waits for.
    pub(crate) fn count_as_client(&self, subscription: &mut Subscription) {
        let mut topics = self.lock();
        if let Some(topic) = topics.by_prefix.get_mut(&subscription.prefix)
            && !std::mem::replace(&mut subscription.is_of_client, true)
        {
            topic.clients += 1;
        }
    }

    /// The number of watchers that clients wait for and that receive a change of `key`.
    pub(crate) fn clients_of(&self, key: &str) -> usize {
        let mut topics = self.lock();
        let mut clients = 0;
        for_prefixes(&mut topics.by_prefix, key, |_, topic| clients += topic.clients);
        clients
    }

    /// Moves a watcher to those of `group`.
    pub(crate) fn regroup(&self, subscription: &mut Subscription, group: &Arc<WakeGroup>) {
        let mut topics = self.lock();
        let Some(topic) = topics.by_prefix.get_mut(&subscription.prefix) else {
            return;
        };
        let cohort = topic.cohort(Some(group));
        topic.leave(subscription);
        subscription.member = cohort.join();
        subscription.cohort = cohort;
    }

    /// Removes a watcher.
    pub(crate) fn unsubscribe(&self, subscription: &Subscription) {
        let mut topics = self.lock();
        topics.watchers -= 1;
        let Some(topic) = topics.by_prefix.get_mut(&subscription.prefix) else {
            return;
        };
        topic.leave(subscription);
        topic.clients -= usize::from(subscription.is_of_client);
        if topic.cohorts.is_empty() {
            topics.by_prefix.remove(&subscription.prefix);
        }
    }

    /// Records events, each with the sequence number after it, for the next wake-up. Called before watchers can read
    /// them, while none can subscribe.
    pub(crate) fn mark<'a>(&self, events: impl Iterator<Item = (&'a str, u64)>) {
        let mut topics = self.lock();
        let Topics { by_prefix, marked, .. } = &mut *topics;
        if by_prefix.is_empty() {
            return;
        }
        for (key, end) in events {
            for_prefixes(by_prefix, key, |prefix, topic| {
                topic.reach.end.store(end, Ordering::Release);
                if !std::mem::replace(&mut topic.marked, true) {
                    marked.push(Arc::clone(prefix));
                }
            });
        }
    }

    /// Records events that the history forgets, each with the sequence number after it, while no watcher reads it.
    pub(crate) fn forget<'a>(&self, events: impl Iterator<Item = (&'a str, u64)>) {
        let mut topics = self.lock();
        if topics.by_prefix.is_empty() {
            return;
        }
        for (key, end) in events {
            for_prefixes(&mut topics.by_prefix, key, |_, topic| {
                topic.reach.forgotten.store(end, Ordering::Release);
            });
        }
    }

    /// Records that events of all keys before the sequence number `end` are unknown, for the next wake-up.
    pub(crate) fn forget_all(&self, end: u64) {
        let mut topics = self.lock();
        let Topics { by_prefix, marked, .. } = &mut *topics;
        for (prefix, topic) in by_prefix {
            topic.reach.forgotten.store(end, Ordering::Release);
            topic.reach.end.store(end, Ordering::Release);
            if !std::mem::replace(&mut topic.marked, true) {
                marked.push(Arc::clone(prefix));
            }
        }
    }

    /// Wakes the watchers of all recorded events.
    pub(crate) fn wake(&self) {
        let cohorts: Vec<_> = {
            let mut topics = self.lock();
            let Topics { by_prefix, marked, .. } = &mut *topics;
            let marked = marked.drain(..);
            // A prefix without watchers is removed already.
            let woken = marked.filter_map(|prefix| {
                let topic = by_prefix.get_mut(&prefix)?;
                topic.marked = false;
                Some(Arc::clone(&topic.cohorts))
            });
            woken.collect()
        };
        // Without the lock: watchers are added and removed meanwhile, and the committer records events.
        cohorts.iter().flat_map(|cohorts| &**cohorts).for_each(Cohort::ring);
    }

    /// The number of calls that the next wake-up makes.
    pub(crate) fn wake_calls(&self) -> usize {
        let topics = self.lock();
        let marked = topics.marked.iter().filter_map(|prefix| topics.by_prefix.get(prefix));
        marked.map(|topic| topic.cohorts.len()).sum()
    }

    /// Wakes all watchers when the store closes.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Release);
        let all: Vec<_> = self
            .lock()
            .by_prefix
            .values()
            .map(|topic| Arc::clone(&topic.cohorts))
            .collect();
        all.iter().flat_map(|cohorts| &**cohorts).for_each(Cohort::ring);
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// The number of watchers.
    pub(crate) fn len(&self) -> usize {
        self.lock().watchers
    }

    fn lock(&self) -> MutexGuard<'_, Topics> {
        self.topics.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Topic {
    /// The cohort of `group`; a new cohort for a watcher without a group.
    fn cohort(&mut self, group: Option<&Arc<WakeGroup>>) -> Arc<Cohort> {
        let known = group.and_then(|group| self.cohorts.iter().find(|cohort| cohort.is_of(group)));
        if let Some(known) = known {
            return Arc::clone(known);
        }
        let cohort = Arc::new(Cohort::new(group.cloned()));
        Arc::make_mut(&mut self.cohorts).push(Arc::clone(&cohort));
        cohort
    }

    fn leave(&mut self, subscription: &Subscription) {
        if subscription.cohort.leave(subscription.member) {
            let is_its = |cohort: &Arc<Cohort>| Arc::ptr_eq(cohort, &subscription.cohort);
            if let Some(place) = self.cohorts.iter().position(is_its) {
                Arc::make_mut(&mut self.cohorts).swap_remove(place);
            }
        }
    }
}

impl Subscription {
    /// The prefix of the keys.
    pub(crate) fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The signal of changes under the prefix.
    pub(crate) fn signal(&self) -> ChangeSignal {
        ChangeSignal {
            reach: Arc::clone(&self.reach),
        }
    }

    /// True if there may be events of this watcher from the sequence number `cursor` on. While a collection is locked
    /// for reading, `false` is certain.
    pub(crate) fn has_events(&self, cursor: u64) -> bool {
        self.reach.end.load(Ordering::Acquire) > cursor
    }

    /// True if events of this watcher from the sequence number `cursor` on may be forgotten. While a collection is
    /// locked for reading, `false` is certain.
    pub(crate) fn has_forgotten(&self, cursor: u64) -> bool {
        self.reach.forgotten.load(Ordering::Acquire) > cursor
    }

    /// Ready once there may be events from `cursor` on, or once the store closes.
    pub(crate) fn poll_events(&self, subscribers: &Subscribers, cursor: u64, cx: &mut Context<'_>) -> Poll<()> {
        let is_ready = || self.has_events(cursor) || subscribers.is_closed();
        if is_ready() {
            return Poll::Ready(());
        }
        self.cohort.wait(self.member, cx);
        // Events before the waker was registered have not woken it.
        match is_ready() {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }
}

/// Calls `visit` for each of `by_prefix` that `key` starts with, longest first.
fn for_prefixes(by_prefix: &mut BTreeMap<Arc<str>, Topic>, key: &str, mut visit: impl FnMut(&Arc<str>, &mut Topic)) {
    let mut last = Bound::Included(key);
    while let Some((prefix, topic)) = by_prefix.range_mut::<str, _>((Bound::Unbounded, last)).next_back() {
        let same = prefix.bytes().zip(key.bytes()).take_while(|(one, other)| one == other);
        let mut common = same.count();
        if common == prefix.len() {
            visit(prefix, topic);
            last = Bound::Excluded(&key[..common]);
        } else {
            // All other prefixes of the key are within its common part with this one, its last neighbour.
            while !key.is_char_boundary(common) {
                common -= 1;
            }
            last = Bound::Included(&key[..common]);
        }
    }
}

#[cfg(test)]
mod tests;
