//! A bounded number of threads, and the work that waits for one.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::block_in_place;

/// Maximum number of waiting pieces of work, however short they are. The waiting users share them.
const MAX_WAITING: usize = 1024;

/// Maximum expected waiting time of a piece of work.
const MAX_EXPECTED_WAIT: Duration = Duration::from_secs(10);

/// A number of threads, each of which runs one piece at a time. The waiting users get the next thread in rotation.
#[derive(Debug)]
pub(super) struct Lane {
    width: usize,
    state: Mutex<State>,
}

/// Too much work waits already.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Full;

/// The permit to use a thread; passed to the next waiter when it is dropped.
#[derive(Debug)]
pub(crate) struct Slot {
    lane: Arc<Lane>,
    took: Option<Duration>,
}

#[derive(Debug, Default)]
struct State {
    running: usize,
    waiting: usize,
    /// The waiting work by user; the user whose turn is next comes first.
    queues: VecDeque<Queue>,
    next_ticket: u64,
    /// Moving average of the duration of a piece of work.
    typical: Duration,
}

/// The waiting work of one user, in order.
#[derive(Debug)]
struct Queue {
    user: u64,
    waiting: VecDeque<(u64, oneshot::Sender<Slot>)>,
}

/// A position in the queue, removed when this is dropped.
struct Ticket<'a> {
    lane: &'a Lane,
    user: u64,
    number: u64,
    granted: oneshot::Receiver<Slot>,
}

impl Lane {
    /// Returns a lane of `width` threads.
    pub(super) fn new(width: usize) -> Arc<Self> {
        Arc::new(Self {
            width,
            state: Mutex::default(),
        })
    }

    /// Waits for a thread.
    ///
    /// # Errors
    ///
    /// [`Full`] when `is_bounded` and the wait would be too long, or `user` has its share of the queue. The work of
    /// others counts only through the rotation, and a user without waiting work is never refused.
    pub(super) async fn enter(self: &Arc<Self>, user: u64, is_bounded: bool) -> Result<Slot, Full> {
        let mut ticket = {
            let mut state = self.lock();
            if state.running < self.width {
                state.running += 1;
                return Ok(Slot::new(self));
            }
            if is_bounded && state.is_full_for(user, self.width) {
                return Err(Full);
            }
            let (number, granted) = state.queue(user);
            Ticket {
                lane: self,
                user,
                number,
                granted,
            }
        };
        (&mut ticket.granted).await.map_err(|_| Full)
    }

    /// Passes the thread of a slot to the next waiter.
    fn leave(self: &Arc<Self>, took: Option<Duration>) {
        let next = {
            let mut state = self.lock();
            if let Some(took) = took {
                state.typical = (state.typical * 7 + took) / 8;
            }
            let next = state.next();
            if next.is_none() {
                state.running -= 1;
            }
            next
        };
        if let Some(next) = next {
            // When the waiter was dropped, the slot comes back and is dropped, which passes it to the next one.
            drop(next.send(Slot::new(self)));
        }
    }

    /// The number of waiters.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        self.lock().waiting
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic cannot leave the state inconsistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// True if a further piece of `user` would wait too long, including the pieces that run before it.
    fn is_full_for(&self, user: u64, width: usize) -> bool {
        let queue = self.queues.iter().find(|queue| queue.user == user);
        let Some(own) = queue.map(|queue| queue.waiting.len()) else {
            return false;
        };
        // Each other user has a turn before each of these pieces, as long as it has waiting work.
        let turns = |queue: &Queue| match queue.user == user {
            true => own,
            false => queue.waiting.len().min(own + 1),
        };
        let before: usize = self.queues.iter().map(turns).sum();
        let before = u32::try_from(before).unwrap_or(u32::MAX);
        let width = u32::try_from(width).unwrap_or(u32::MAX).max(1);
        own >= MAX_WAITING / self.queues.len() || self.typical.saturating_mul(before) / width > MAX_EXPECTED_WAIT
    }

    fn queue(&mut self, user: u64) -> (u64, oneshot::Receiver<Slot>) {
        let (grant, granted) = oneshot::channel();
        let number = self.next_ticket;
        self.next_ticket += 1;
        self.waiting += 1;
        match self.queues.iter_mut().find(|queue| queue.user == user) {
            Some(queue) => queue.waiting.push_back((number, grant)),
            None => self.queues.push_back(Queue {
                user,
                waiting: [(number, grant)].into(),
            }),
        }
        (number, granted)
    }

    /// The waiter that gets the next thread; its user moves to the end of the rotation.
    fn next(&mut self) -> Option<oneshot::Sender<Slot>> {
        let mut queue = self.queues.pop_front()?;
        let next = queue.waiting.pop_front();
        if !queue.waiting.is_empty() {
            self.queues.push_back(queue);
        }
        let (_, grant) = next?;
        self.waiting -= 1;
        Some(grant)
    }

    /// Removes a waiter, if it still waits.
    fn remove(&mut self, user: u64, number: u64) {
        let Some(place) = self.queues.iter().position(|queue| queue.user == user) else {
            return;
        };
        let queue = &mut self.queues[place].waiting;
        if let Some(own) = queue.iter().position(|(other, _)| *other == number) {
            queue.remove(own);
            self.waiting -= 1;
        }
        if self.queues[place].waiting.is_empty() {
            self.queues.remove(place);
        }
    }
}

impl Slot {
    fn new(lane: &Arc<Lane>) -> Self {
        Self {
            lane: Arc::clone(lane),
            took: None,
        }
    }

    /// Runs `work`.
    pub(super) fn run<T>(mut self, work: impl FnOnce() -> T) -> T {
        let begin = Instant::now();
        let done = block_in_place(work);
        self.took = Some(begin.elapsed());
        done
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.lane.leave(self.took);
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        self.lane.lock().remove(self.user, self.number);
    }
}

#[cfg(test)]
mod tests {
    use std::pin::{Pin, pin};
    use std::task::{Context, Poll, Waker};

    use super::*;

    type Entering<'a> = Pin<Box<dyn Future<Output = Result<Slot, Full>> + 'a>>;

    fn poll<T>(future: Pin<&mut (impl Future<Output = T> + ?Sized)>) -> Poll<T> {
        future.poll(&mut Context::from_waker(Waker::noop()))
    }

    fn enter(lane: &Arc<Lane>, user: u64) -> Entering<'_> {
        let mut entering: Entering<'_> = Box::pin(lane.enter(user, true));
        assert!(poll(entering.as_mut()).is_pending(), "all threads are taken");
        entering
    }

    fn taken(lane: &Arc<Lane>) -> Slot {
        match poll(pin!(lane.enter(0, true))) {
            Poll::Ready(Ok(slot)) => slot,
            other => panic!("a thread is free: {other:?}"),
        }
    }

    #[test]
    fn users_get_threads_in_rotation() {
        let lane = Lane::new(1);
        let mut slot = Some(taken(&lane));
        let users = [(1, "a"), (1, "b"), (1, "c"), (2, "d"), (3, "e"), (2, "f")];
        let mut waiting = Vec::from(users.map(|(user, name)| (name, enter(&lane, user))));
        let mut order = String::new();
        while !waiting.is_empty() {
            drop(slot.take());
            let next = waiting
                .iter_mut()
                .position(|(_, entering)| match poll(entering.as_mut()) {
                    Poll::Ready(granted) => {
                        slot = granted.ok();
                        true
                    }
                    Poll::Pending => false,
                });
            let (name, _) = waiting.remove(next.expect("one is next"));
            order.push_str(name);
        }
        assert_eq!(order, "adebfc");
    }

    #[test]
    fn those_that_leave_the_queue_hold_nobody_up() {
        let lane = Lane::new(1);
        let slot = taken(&lane);
        let first = enter(&lane, 1);
        let second = enter(&lane, 1);
        let mut third = enter(&lane, 2);
        drop(second);
        assert_eq!(lane.waiting(), 2);
        // The slot is granted to the first waiter, which is never polled.
        drop(slot);
        assert!(poll(third.as_mut()).is_pending());
        drop(first);
        assert!(poll(third.as_mut()).is_ready());
        assert_eq!(lane.waiting(), 0);
        drop(third);
        drop(taken(&lane));
    }

    #[test]
    fn too_many_of_one_user_are_refused_before_they_wait() {
        let lane = Lane::new(1);
        let _slot = taken(&lane);
        let waiting: Vec<_> = (0..MAX_WAITING).map(|_| enter(&lane, 1)).collect();
        assert_eq!(
            poll(pin!(lane.enter(1, true))).map(|entered| entered.err()),
            Poll::Ready(Some(Full))
        );
        let _other_user = enter(&lane, 2);
        assert!(poll(pin!(lane.enter(1, false))).is_pending(), "what was begun goes on");
        drop(waiting);
        let _again = enter(&lane, 1);
    }

    #[test]
    fn a_queue_that_one_user_fills_is_full_for_that_user_alone() {
        let lane = Lane::new(1);
        lane.lock().typical = MAX_EXPECTED_WAIT / 100;
        let _slot = taken(&lane);
        let waiting: Vec<_> = (0..101).map(|_| enter(&lane, 1)).collect();
        let refused = |user| poll(pin!(lane.enter(user, true))).is_ready();
        assert!(refused(1));
        let others: Vec<_> = (0..40).map(|_| enter(&lane, 2)).collect();
        drop((waiting, others));
        lane.lock().typical = Duration::ZERO;
        let _crowd: Vec<_> = (0..MAX_WAITING).map(|_| enter(&lane, 1)).collect();
        let _others: Vec<_> = (0..MAX_WAITING / 2).map(|_| enter(&lane, 2)).collect();
        assert!(refused(1) && refused(2), "each has its share");
    }

    #[test]
    fn a_wait_that_would_be_too_long_is_refused() {
        let lane = Lane::new(2);
        lane.lock().typical = MAX_EXPECTED_WAIT;
        let _slots = [taken(&lane), taken(&lane)];
        let _first = [enter(&lane, 1), enter(&lane, 1), enter(&lane, 1)];
        assert_eq!(
            poll(pin!(lane.enter(1, true))).map(|entered| entered.err()),
            Poll::Ready(Some(Full))
        );
    }
}
