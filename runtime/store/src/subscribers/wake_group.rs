//! Watchers that one task polls.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Waker};

use super::cohort::Cohort;

/// Wakes one task for all watchers that it polls, such as those of one connection.
///
/// A write wakes a group with one call, whatever the number of its watchers. [`WakeGroup::poll`] then wakes those with
/// events, at the cost of the task that polls them. Without such a task, they are woken one by one.
#[derive(Debug, Default)]
pub struct WakeGroup {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    task: Option<Waker>,
    /// Cohorts with events since the last poll.
    rung: Vec<Arc<Cohort>>,
}

impl WakeGroup {
    /// Wakes the watchers with events, and registers the task of `cx` for further ones.
    pub fn poll(&self, cx: &Context<'_>) {
        let mut state = self.lock();
        if state.task.as_ref().is_none_or(|task| !task.will_wake(cx.waker())) {
            state.task = Some(cx.waker().clone());
        }
        if state.rung.is_empty() {
            return;
        }
        let rung = std::mem::take(&mut state.rung);
        drop(state);
        rung.iter().for_each(|cohort| cohort.wake());
    }

    /// Wakes watchers one by one from now on: the group is no longer polled.
    pub fn detach(&self) {
        let mut state = self.lock();
        let task = state.task.take();
        let rung = std::mem::take(&mut state.rung);
        drop(state);
        rung.iter().for_each(|cohort| cohort.wake());
        drop(task);
    }

    pub(super) fn ring(&self, cohort: Arc<Cohort>) {
        let mut state = self.lock();
        let Some(task) = &state.task else {
            drop(state);
            cohort.wake();
            return;
        };
        task.wake_by_ref();
        state.rung.push(cohort);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic cannot interrupt a change half way.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
