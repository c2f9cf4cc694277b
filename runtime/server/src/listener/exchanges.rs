//! The exchanges of one HTTP/2 connection: requests and the bodies of their answers.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use futures_core::Stream as _;
use futures_util::stream::FuturesUnordered;
use tokio::task::coop::unconstrained;

use super::cutoff::Bounded;

/// How long exchanges that can go on are polled before the conversation is.
const LOOK: Duration = Duration::from_millis(1);

type Exchange = Bounded<Pin<Box<dyn Future<Output = ()> + Send>>>;

/// Takes the exchanges that a connection begins. Clones belong to the same connection.
#[derive(Clone, Default)]
pub(super) struct Beginning(Arc<Mutex<Vec<Exchange>>>);

impl<F: Future<Output = ()> + Send + 'static> hyper::rt::Executor<F> for Beginning {
    fn execute(&self, exchange: F) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(Bounded::new(Box::pin(exchange)));
    }
}

/// The exchanges under way, polled by the connection's own task.
///
/// An event that fifty watches of a connection tell wakes one task instead of fifty, and what they say leaves together.
#[derive(Default)]
pub(super) struct Exchanges {
    beginning: Beginning,
    running: FuturesUnordered<Exchange>,
    bell: Option<(Arc<Bell>, Waker)>,
}

/// Wakes the connection's task, and remembers that there is something to do.
struct Bell {
    rung: AtomicBool,
    task: Waker,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.rung.store(true, Ordering::Release);
        self.task.wake_by_ref();
    }
}

impl Exchanges {
    pub(super) fn new(beginning: Beginning) -> Self {
        Self {
            beginning,
            running: FuturesUnordered::new(),
            bell: None,
        }
    }

    /// Lets everything go on that can.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) {
        let begun = std::mem::take(&mut *self.beginning.0.lock().unwrap_or_else(PoisonError::into_inner));
        self.running.extend(begun);
        if self.running.is_empty() {
            return;
        }
        if self
            .bell
            .as_ref()
            .is_some_and(|(bell, _)| !bell.task.will_wake(cx.waker()))
        {
            self.bell = None;
        }
        let (bell, waker) = self.bell.get_or_insert_with(|| {
            let bell = Arc::new(Bell {
                rung: AtomicBool::new(false),
                task: cx.waker().clone(),
            });
            let waker = Waker::from(Arc::clone(&bell));
            (bell, waker)
        });
        let running = &mut self.running;
        // The budget of one task is for one conversation. The bytes that may wait for the network bound each of these.
        let mut steps = pin!(unconstrained(poll_fn(|cx| {
            // The collection takes a break whenever a few exchanges wake themselves, as those do that sent something.
            let begun = Instant::now();
            loop {
                bell.rung.store(false, Ordering::Release);
                while let Poll::Ready(Some(())) = Pin::new(&mut *running).poll_next(cx) {}
                if !bell.rung.load(Ordering::Acquire) || begun.elapsed() >= LOOK {
                    return Poll::<()>::Pending;
                }
            }
        })));
        let _ = steps.as_mut().poll(&mut Context::from_waker(waker));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use hyper::rt::Executor as _;
    use tokio::sync::oneshot;

    use super::*;

    /// Wakes itself a few times, as an answer does that sent something.
    fn restless(done: &Arc<AtomicUsize>) -> impl Future<Output = ()> + Send + use<> {
        let (done, mut left) = (Arc::clone(done), 3);
        poll_fn(move |cx| {
            if left == 0 {
                done.fetch_add(1, Ordering::Relaxed);
                return Poll::Ready(());
            }
            left -= 1;
            cx.waker().wake_by_ref();
            Poll::Pending
        })
    }

    #[tokio::test]
    async fn all_that_can_go_on_does_at_one_look() {
        let (beginning, done) = (Beginning::default(), Arc::default());
        (0..20).for_each(|_| beginning.execute(restless(&done)));
        let mut exchanges = Exchanges::new(beginning);
        poll_fn(|cx| {
            exchanges.poll(cx);
            Poll::Ready(())
        })
        .await;
        assert_eq!(done.load(Ordering::Relaxed), 20);
    }

    #[tokio::test]
    async fn what_happens_elsewhere_wakes_an_exchange() {
        let (beginning, done) = (Beginning::default(), Arc::new(AtomicUsize::new(0)));
        let (sender, receiver) = oneshot::channel();
        let counted = Arc::clone(&done);
        beginning.execute(async move {
            receiver.await.expect("the sender sends");
            counted.fetch_add(1, Ordering::Relaxed);
        });
        let mut exchanges = Exchanges::new(beginning);
        let watched = Arc::clone(&done);
        let connection = tokio::spawn(poll_fn(move |cx| {
            exchanges.poll(cx);
            match watched.load(Ordering::Relaxed) {
                0 => Poll::Pending,
                _ => Poll::Ready(()),
            }
        }));
        tokio::task::yield_now().await;
        std::thread::spawn(move || sender.send(()))
            .join()
            .expect("no panic")
            .expect("somebody waits");
        connection.await.expect("the connection's task goes on");
    }
}
