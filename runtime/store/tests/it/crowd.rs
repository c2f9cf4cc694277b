//! Many watchers cost little and miss nothing.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use planesmith_store::conformance::{THINGS, WordIndex, set};
use planesmith_store::{Collection, MemoryLog, Storage, StorageOptions, WakeGroup, WatchFrom, Watcher};

const WATCHERS: usize = 2000;
const EVENTS: usize = 100;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_thousand_watchers_get_every_rapid_event() {
    let storage = Storage::open(MemoryLog::new(), &StorageOptions::default()).unwrap();
    let things = storage.collection(THINGS, Arc::new(WordIndex));
    let watchers: Vec<_> = (0..WATCHERS)
        .map(|_| {
            let mut watcher = things.watch(THINGS, WatchFrom::Now).unwrap();
            tokio::spawn(async move {
                let mut last = 0;
                while last < EVENTS as u64 {
                    for event in watcher.next().await.unwrap() {
                        assert_eq!(event.revision().0, last + 1);
                        last += 1;
                    }
                }
                assert!(watcher.try_next().unwrap().is_empty());
            })
        })
        .collect();
    assert_eq!(things.stats().watchers, WATCHERS);
    for number in 0..EVENTS {
        set(&things, &format!("n{}", number % 10), "one").await;
    }
    for watcher in watchers {
        watcher.await.unwrap();
    }
    assert_eq!(things.stats().watchers, 0);
}

fn things() -> (Storage, Arc<Collection>) {
    let storage = Storage::open(MemoryLog::new(), &StorageOptions::default()).unwrap();
    let things = storage.collection(THINGS, Arc::new(WordIndex));
    (storage, things)
}

/// Lets `watcher` wait, to wake `waker`.
fn wait(watcher: &mut Watcher, waker: &Waker) {
    let next = pin!(watcher.next());
    assert!(next.poll(&mut Context::from_waker(waker)).is_pending());
}

/// A waker that blocks until the write is answered.
struct Slow(Mutex<Receiver<()>>, AtomicUsize);

impl Wake for Slow {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let answered = self.0.lock().unwrap().recv_timeout(Duration::from_secs(10));
        self.1.fetch_add(usize::from(answered.is_ok()), Ordering::SeqCst);
    }
}

/// More than the committer wakes itself, and fewer.
#[tokio::test]
async fn a_write_is_answered_before_watchers_are_woken() {
    for watchers in [1, 100] {
        let (storage, things) = things();
        let (answer, answered) = channel();
        let slow = Arc::new(Slow(Mutex::new(answered), AtomicUsize::new(0)));
        let waker = Waker::from(Arc::clone(&slow));
        let mut all: Vec<_> = (0..watchers)
            .map(|_| things.watch(THINGS, WatchFrom::Now).unwrap())
            .collect();
        all.iter_mut().for_each(|watcher| wait(watcher, &waker));
        set(&things, "a", "one").await;
        assert_eq!(slow.1.load(Ordering::SeqCst), 0, "nobody was woken before");
        (0..watchers).for_each(|_| answer.send(()).unwrap());
        storage.close().await;
        assert_eq!(slow.1.load(Ordering::SeqCst), watchers, "all are woken then");
    }
}

struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[tokio::test]
async fn watchers_of_one_task_are_one_call_and_those_of_other_keys_none() {
    let (_storage, things) = things();
    let wakers: Vec<_> = (0..4).map(|_| Arc::new(Count(AtomicUsize::new(0)))).collect();
    let [task, member, alone, elsewhere] = &wakers[..] else {
        panic!("four")
    };
    let group = Arc::new(WakeGroup::default());
    let task_waker = Waker::from(Arc::clone(task));
    group.poll(&Context::from_waker(&task_waker));
    let watch = |prefix: &str| things.watch(prefix, WatchFrom::Now).unwrap();
    let mut members: Vec<_> = (0..100).map(|_| watch(THINGS).in_group(&group)).collect();
    members
        .iter_mut()
        .for_each(|watcher| wait(watcher, &Waker::from(Arc::clone(member))));
    let mut single = watch(THINGS);
    wait(&mut single, &Waker::from(Arc::clone(alone)));
    let mut other = watch(&format!("{THINGS}other/"));
    wait(&mut other, &Waker::from(Arc::clone(elsewhere)));
    set(&things, "a", "one").await;
    // Returns once the watchers before it are woken.
    let mut last = watch(THINGS);
    set(&things, "a", "two").await;
    assert_eq!(last.next().await.unwrap().len(), 1);
    let calls = |waker: &Arc<Count>| waker.0.load(Ordering::SeqCst);
    assert_eq!([task, member, alone, elsewhere].map(calls), [1, 0, 1, 0]);
    poll_fn(|cx| {
        group.poll(cx);
        Poll::Ready(())
    })
    .await;
    assert_eq!([task, member, alone, elsewhere].map(calls), [1, 100, 1, 0]);
    for watcher in &mut members {
        assert_eq!(watcher.next().await.unwrap().len(), 2);
    }
}
