//! A priority level, and the users who read its answers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use planesmith_flow_control::Level;

use super::request_seats::Described;

/// A level, and the seats of its unread answers by user.
#[derive(Debug)]
pub(super) struct ServedLevel {
    level: Arc<Level<Described>>,
    /// Users without unread answers have no entry.
    senders: Mutex<HashMap<String, u64>>,
}

impl ServedLevel {
    pub(super) fn new(level: Arc<Level<Described>>) -> Self {
        Self {
            level,
            senders: Mutex::default(),
        }
    }

    pub(super) fn level(&self) -> &Arc<Level<Described>> {
        &self.level
    }

    /// Counts seats of an unread answer of `user`, at most half of the level for one user. False if they would be more.
    pub(super) fn begin_sending(&self, user: &str, seats: u32) -> bool {
        let share = self.level.limit().div_ceil(2);
        let mut senders = self.senders.lock().unwrap_or_else(PoisonError::into_inner);
        let used = senders.get(user).copied().unwrap_or_default();
        let fits = used == 0 || used + u64::from(seats) <= share;
        if fits {
            senders.insert(user.to_owned(), used + u64::from(seats));
        }
        fits
    }

    /// Ends what [`begin_sending`](Self::begin_sending) counted.
    pub(super) fn end_sending(&self, user: &str, seats: u32) {
        let mut senders = self.senders.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(used) = senders.get_mut(user) {
            *used = used.saturating_sub(seats.into());
            if *used == 0 {
                senders.remove(user);
            }
        }
    }
}
