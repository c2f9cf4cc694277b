//! Watchers of one prefix that are woken together.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Waker};

use super::WakeGroup;

/// The watchers of one prefix that belong to one group, or a single one without a group.
#[derive(Debug)]
pub(super) struct Cohort {
    group: Option<Arc<WakeGroup>>,
    members: Mutex<Members>,
}

#[derive(Debug, Default)]
struct Members {
    /// By number; `None` is free for the next one.
    places: Vec<Option<Member>>,
    count: usize,
    /// The number of waiters.
    waiting: usize,
    /// True if the group knows that they are to be woken.
    rung: bool,
}

#[derive(Debug, Default)]
struct Member {
    /// Kept while the member does not wait, because the next one is mostly the same.
    waker: Option<Waker>,
    waits: bool,
}

impl Cohort {
    pub(super) fn new(group: Option<Arc<WakeGroup>>) -> Self {
        Self {
            group,
            members: Mutex::default(),
        }
    }

    pub(super) fn is_of(&self, group: &Arc<WakeGroup>) -> bool {
        self.group.as_ref().is_some_and(|own| Arc::ptr_eq(own, group))
    }

    /// Adds a member. Returns its number.
    pub(super) fn join(&self) -> usize {
        let mut members = self.lock();
        members.count += 1;
        let free = members.places.iter().position(Option::is_none);
        let number = free.unwrap_or(members.places.len());
        if free.is_none() {
            members.places.push(None);
        }
        members.places[number] = Some(Member::default());
        number
    }

    /// Removes a member. Returns true if it was the last one.
    pub(super) fn leave(&self, number: usize) -> bool {
        let mut members = self.lock();
        let Some(left) = members.places.get_mut(number).and_then(Option::take) else {
            return false;
        };
        members.count -= 1;
        members.waiting -= usize::from(left.waits);
        let is_empty = members.count == 0;
        drop(members);
        // Dropping the waker may drop the last reference to a task.
        drop(left);
        is_empty
    }

    /// Registers the task of `cx` for the next wake-up.
    pub(super) fn wait(&self, number: usize, cx: &Context<'_>) {
        let mut members = self.lock();
        let Some(Some(member)) = members.places.get_mut(number) else {
            return;
        };
        if member.waker.as_ref().is_none_or(|waker| !waker.will_wake(cx.waker())) {
            member.waker = Some(cx.waker().clone());
        }
        let waited = std::mem::replace(&mut member.waits, true);
        members.waiting += usize::from(!waited);
    }

    /// Wakes the waiting members, or lets their group do it.
    pub(super) fn ring(self: &Arc<Self>) {
        let mut members = self.lock();
        if members.waiting == 0 || members.rung {
            return;
        }
        let Some(group) = &self.group else {
            members.wake();
            return;
        };
        members.rung = true;
        drop(members);
        group.ring(Arc::clone(self));
    }

    /// Wakes the waiting members.
    pub(super) fn wake(&self) {
        self.lock().wake();
    }

    fn lock(&self) -> MutexGuard<'_, Members> {
        // A panic cannot interrupt a change half way.
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Members {
    /// Waking only schedules tasks: none of them runs, and returns here, meanwhile.
    fn wake(&mut self) {
        self.rung = false;
        self.waiting = 0;
        for member in self.places.iter_mut().flatten() {
            if std::mem::take(&mut member.waits)
                && let Some(waker) = &member.waker
            {
                waker.wake_by_ref();
            }
        }
    }
}
