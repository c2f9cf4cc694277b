//! A priority level, and the users who read its answers.

use std::sync::Arc;

use planesmith_access::user::UserTotals;
use planesmith_flow_control::Level;

use super::request_seats::Described;

/// A level, and the seats of its unread answers by user.
#[derive(Debug)]
pub(super) struct ServedLevel {
    level: Arc<Level<Described>>,
    senders: UserTotals,
}

impl ServedLevel {
    pub(super) fn new(level: Arc<Level<Described>>) -> Self {
        Self {
            level,
            senders: UserTotals::default(),
        }
    }

    pub(super) fn level(&self) -> &Arc<Level<Described>> {
        &self.level
    }

    /// Counts seats of an unread answer of `user`, at most half of the level for one user. False if they would be more.
    pub(super) fn begin_sending(&self, user: &str, seats: u32) -> bool {
        let (share, seats) = (self.level.limit().div_ceil(2), u64::from(seats));
        self.senders
            .add_if(user, seats, |used| used == 0 || used + seats <= share)
    }

    /// Ends what [`begin_sending`](Self::begin_sending) counted.
    pub(super) fn end_sending(&self, user: &str, seats: u32) {
        self.senders.subtract(user, seats.into());
    }
}
