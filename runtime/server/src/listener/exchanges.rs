//! The exchanges of one HTTP/2 connection: requests and the bodies of their answers.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Instant;

use futures_core::Stream as _;
use futures_util::stream::FuturesUnordered;
use planesmith_store::WakeGroup;
use tokio::task::coop::unconstrained;

use super::cutoff::Bounded;

/// Microseconds for which ready exchanges are polled before the connection is.
const POLL_TIME: u64 = 200;

/// Number of requests that a connection begins at once. Their handlers are tasks of their own, and a request of another
/// connection waits behind each of them: a client may send a hundred together.
const BEGUN_AT_ONCE: usize = 4;

type Exchange = Paced<Bounded<Pin<Box<dyn Future<Output = ()> + Send>>>>;

/// Collects the exchanges that a connection starts. Clones belong to the same connection.
#[derive(Clone, Default)]
pub(super) struct StreamExecutor {
    begun: Arc<Mutex<Vec<Exchange>>>,
    pace: Arc<Pace>,
}

/// The time at which exchanges pause, so that the connection can send, and other connections go on.
struct Pace {
    epoch: Instant,
    /// In microseconds after `epoch`.
    pause: AtomicU64,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            epoch: Instant::now(),
            pause: AtomicU64::new(u64::MAX),
        }
    }
}

impl Pace {
    fn micros(&self) -> u64 {
        u64::try_from(self.epoch.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    /// Begins a period of [`POLL_TIME`].
    fn begin(&self) {
        self.pause.store(self.micros() + POLL_TIME, Ordering::Relaxed);
    }

    fn is_over(&self) -> bool {
        self.micros() >= self.pause.load(Ordering::Relaxed)
    }
}

/// A future that stays ready, and is not polled, when the time of its connection is over.
struct Paced<F> {
    inner: F,
    pace: Arc<Pace>,
}

impl<F: Future + Unpin> Future for Paced<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        if self.pace.is_over() {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Pin::new(&mut self.inner).poll(cx)
    }
}

impl<F: Future<Output = ()> + Send + 'static> hyper::rt::Executor<F> for StreamExecutor {
    fn execute(&self, exchange: F) {
        let exchange = Paced {
            inner: Bounded::new(Box::pin(exchange) as Pin<Box<dyn Future<Output = ()> + Send>>),
            pace: Arc::clone(&self.pace),
        };
        self.lock().push(exchange);
    }
}

impl StreamExecutor {
    fn lock(&self) -> MutexGuard<'_, Vec<Exchange>> {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The running exchanges, polled by the connection's own task.
///
/// An event for fifty watches of a connection wakes one task instead of fifty, and their frames are written together.
/// The watches are a group in the store: it makes one call, and this task wakes those that have the event.
#[derive(Default)]
pub(super) struct Exchanges {
    executor: StreamExecutor,
    watches: Arc<WakeGroup>,
    /// Exchanges of requests that have arrived and are not begun.
    arrived: VecDeque<Exchange>,
    running: FuturesUnordered<Exchange>,
    bell: Option<(Arc<Bell>, Waker)>,
}

/// Wakes the connection's task, unless that task is polling the exchanges, and records that an exchange is ready.
struct Bell {
    rung: AtomicBool,
    polling: AtomicBool,
    task: Waker,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // In this order, and `end` in the other: one of both sees what the other did.
        self.rung.store(true, Ordering::SeqCst);
        if !self.polling.load(Ordering::SeqCst) {
            self.task.wake_by_ref();
        }
    }
}

impl Bell {
    fn begin(&self) {
        self.polling.store(true, Ordering::SeqCst);
    }

    /// Ends polling; the task is woken again for exchanges that are still ready.
    fn end(&self) {
        self.polling.store(false, Ordering::SeqCst);
        if self.rung.load(Ordering::SeqCst) {
            self.task.wake_by_ref();
        }
    }
}

impl Exchanges {
    /// Returns the exchanges that `executor` collects, and the `watches` among them.
    pub(super) fn new(executor: StreamExecutor, watches: Arc<WakeGroup>) -> Self {
        Self {
            executor,
            watches,
            arrived: VecDeque::new(),
            running: FuturesUnordered::new(),
            bell: None,
        }
    }

    /// Begins the next exchanges, and polls all that are ready.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) {
        self.arrived.extend(self.executor.lock().drain(..));
        let begun = self.arrived.len().min(BEGUN_AT_ONCE);
        self.running.extend(self.arrived.drain(..begun));
        if !self.arrived.is_empty() {
            // The task is polled again after those that are ready now.
            cx.waker().wake_by_ref();
        }
        if self.running.is_empty() {
            self.watches.poll(cx);
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
                polling: AtomicBool::new(false),
                task: cx.waker().clone(),
            });
            let waker = Waker::from(Arc::clone(&bell));
            (bell, waker)
        });
        bell.begin();
        self.watches.poll(cx);
        let (running, pace) = (&mut self.running, &self.executor.pace);
        // The budget of a task is meant for one connection. Each exchange is bounded by the bytes that may wait for the
        // network.
        let mut steps = pin!(unconstrained(poll_fn(|cx| {
            // The collection yields whenever a few exchanges wake themselves, as exchanges do that sent data.
            pace.begin();
            loop {
                bell.rung.store(false, Ordering::SeqCst);
                while let Poll::Ready(Some(())) = Pin::new(&mut *running).poll_next(cx) {}
                if !bell.rung.load(Ordering::SeqCst) || pace.is_over() {
                    return Poll::<()>::Pending;
                }
            }
        })));
        let _ = steps.as_mut().poll(&mut Context::from_waker(waker));
        bell.end();
    }
}

impl Drop for Exchanges {
    fn drop(&mut self) {
        self.watches.detach();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use hyper::rt::Executor as _;
    use planesmith_store::{Draft, Expect, MemoryLog, NoIndex, Op, Row, Storage, StorageOptions, WatchFrom};
    use tokio::sync::oneshot;

    use super::*;

    /// Wakes itself a few times, like an answer that sent data.
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
    async fn a_few_exchanges_begin_at_once_and_go_on_while_they_can() {
        let (executor, done) = (StreamExecutor::default(), Arc::default());
        (0..3 * BEGUN_AT_ONCE).for_each(|_| executor.execute(restless(&done)));
        let mut exchanges = Exchanges::new(executor, Arc::default());
        let task = Arc::<Task>::default();
        let waker = Waker::from(Arc::clone(&task));
        for left in [2, 1, 0] {
            exchanges.poll(&mut Context::from_waker(&waker));
            assert_eq!(exchanges.arrived.len(), left * BEGUN_AT_ONCE);
            if left > 0 {
                assert!(task.0.swap(0, Ordering::SeqCst) > 0, "for those that have not begun");
            }
        }
        // On a slow machine, some go on in a further poll.
        while task.0.swap(0, Ordering::SeqCst) > 0 {
            exchanges.poll(&mut Context::from_waker(&waker));
        }
        assert_eq!(done.load(Ordering::Relaxed), 3 * BEGUN_AT_ONCE);
    }

    #[test]
    fn exchanges_pause_when_the_time_of_their_connection_is_over() {
        let (executor, done) = (StreamExecutor::default(), Arc::<AtomicUsize>::default());
        // Each takes all the time.
        for _ in 0..BEGUN_AT_ONCE {
            let (done, pace) = (Arc::clone(&done), Arc::clone(&executor.pace));
            executor.execute(async move {
                while !pace.is_over() {
                    std::hint::spin_loop();
                }
                done.fetch_add(1, Ordering::Relaxed);
            });
        }
        let mut exchanges = Exchanges::new(executor, Arc::default());
        let task = Arc::<Task>::default();
        let waker = Waker::from(Arc::clone(&task));
        for turn in 1..=BEGUN_AT_ONCE {
            exchanges.poll(&mut Context::from_waker(&waker));
            assert_eq!(done.load(Ordering::Relaxed), turn);
            let woken = usize::from(turn < BEGUN_AT_ONCE);
            assert_eq!(task.0.swap(0, Ordering::SeqCst), woken, "for those that pause");
        }
    }

    #[tokio::test]
    async fn a_finished_task_wakes_its_connection() {
        let (executor, done) = (StreamExecutor::default(), Arc::new(AtomicUsize::new(0)));
        let (sender, receiver) = oneshot::channel();
        let counted = Arc::clone(&done);
        executor.execute(async move {
            receiver.await.expect("the sender sends");
            counted.fetch_add(1, Ordering::Relaxed);
        });
        let mut exchanges = Exchanges::new(executor, Arc::default());
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
    /// Counts its wake-ups.
    #[derive(Default)]
    struct Task(AtomicUsize);

    impl Wake for Task {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[tokio::test]
    async fn an_event_wakes_the_task_once_for_all_watches() {
        let storage = Storage::open(MemoryLog::new(), &StorageOptions::default()).expect("memory opens");
        let things = storage.collection("/things/", Arc::new(NoIndex));
        let (executor, watches, seen) = (StreamExecutor::default(), Arc::default(), Arc::new(AtomicUsize::new(0)));
        for _ in 0..50 {
            let watcher = things.watch("/things/", WatchFrom::Now).expect("it starts");
            let (mut watcher, seen) = (watcher.in_group(&watches), Arc::clone(&seen));
            executor.execute(async move {
                while let Ok(events) = watcher.next().await {
                    seen.fetch_add(events.len(), Ordering::SeqCst);
                }
            });
        }
        let mut exchanges = Exchanges::new(executor, watches);
        let task = Arc::<Task>::default();
        let waker = Waker::from(Arc::clone(&task));
        exchanges.poll(&mut Context::from_waker(&waker));
        while task.0.swap(0, Ordering::SeqCst) > 0 {
            exchanges.poll(&mut Context::from_waker(&waker));
        }
        let put = |name: &str| {
            things.write(Op::Put {
                key: format!("/things/{name}").into(),
                draft: Draft::gapless(b"{}".to_vec()),
                row: Row::default(),
                expect: Expect::Absent,
                ttl: None,
            })
        };
        // Woken after the others.
        let mut last = things.watch("/things/", WatchFrom::Now).expect("it starts");
        put("a").await.expect("written");
        last.next().await.expect("it goes on");
        put("b").await.expect("written");
        last.next().await.expect("it goes on");
        let mut woken = task.0.swap(0, Ordering::SeqCst);
        assert_eq!(woken, 1);
        // On a slow machine, some go on in a further poll.
        while woken > 0 {
            exchanges.poll(&mut Context::from_waker(&waker));
            woken = task.0.swap(0, Ordering::SeqCst);
            assert!(woken <= 1, "what wakes within the task does not wake it");
        }
        assert_eq!(seen.load(Ordering::SeqCst), 100);
    }
}
