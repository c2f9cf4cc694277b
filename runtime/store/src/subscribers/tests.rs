use std::sync::atomic::AtomicUsize;
use std::task::{Wake, Waker};

use super::*;

/// Counts its wake-ups.
#[derive(Default)]
struct Alarm(AtomicUsize);

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Alarm {
    fn rings(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// A waiting watcher of `prefix`, and its alarm.
fn waiting(subscribers: &Subscribers, prefix: &str, group: Option<&Arc<WakeGroup>>) -> (Subscription, Arc<Alarm>) {
    let mut subscription = subscribers.subscribe(prefix, 0..0);
    if let Some(group) = group {
        subscribers.regroup(&mut subscription, group);
    }
    let alarm = Arc::<Alarm>::default();
    wait(subscribers, &subscription, &alarm);
    (subscription, alarm)
}

fn wait(subscribers: &Subscribers, subscription: &Subscription, alarm: &Arc<Alarm>) {
    let waker = Waker::from(Arc::clone(alarm));
    let cursor = subscription.reach.end.load(Ordering::Relaxed);
    let polled = subscription.poll_events(subscribers, cursor, &mut Context::from_waker(&waker));
    assert!(polled.is_pending());
}

fn publish(subscribers: &Subscribers, key: &str, end: u64) {
    subscribers.mark([(key, end)].into_iter());
    subscribers.wake();
}

#[test]
fn an_event_wakes_those_whose_prefix_its_key_has() {
    let subscribers = Subscribers::default();
    let prefixes = [
        "", "/", "/a", "/a/", "/a/b", "/a/bü", "/a/b/", "/a/b0", "/a/é", "/b/", "/a/b/c/d", "/a/aaa",
    ];
    let all: Vec<_> = prefixes
        .iter()
        .map(|prefix| waiting(&subscribers, prefix, None))
        .collect();
    for (round, key) in ["/a/b/c", "/a/è", "/a/bü", "/b", "x", ""].iter().enumerate() {
        let before: Vec<_> = all.iter().map(|(_, alarm)| alarm.rings()).collect();
        publish(&subscribers, key, round as u64 + 1);
        for (((subscription, alarm), before), prefix) in all.iter().zip(before).zip(prefixes) {
            let expected = usize::from(key.starts_with(prefix));
            assert_eq!(alarm.rings() - before, expected, "{prefix:?} of {key:?}");
            assert_eq!(subscription.has_events(round as u64), expected == 1);
            if expected == 1 {
                wait(&subscribers, subscription, alarm);
            }
        }
    }
}

#[test]
fn a_group_is_woken_once_for_all_its_watchers() {
    let subscribers = Subscribers::default();
    let (group, task) = (Arc::new(WakeGroup::default()), Arc::<Alarm>::default());
    let waker = Waker::from(Arc::clone(&task));
    let cx = Context::from_waker(&waker);
    group.poll(&cx);
    let watchers: Vec<_> = (0..50).map(|_| waiting(&subscribers, "/a/", Some(&group))).collect();
    let (_elsewhere, other) = waiting(&subscribers, "/b/", Some(&group));
    assert_eq!(subscribers.len(), 51);
    subscribers.mark([("/a/1", 1), ("/a/2", 2)].into_iter());
    assert_eq!(subscribers.wake_calls(), 1);
    subscribers.wake();
    publish(&subscribers, "/a/3", 3);
    assert_eq!(task.rings(), 1);
    assert!(watchers.iter().all(|(_, alarm)| alarm.rings() == 0));
    group.poll(&cx);
    assert!(watchers.iter().all(|(_, alarm)| alarm.rings() == 1));
    assert_eq!(other.rings(), 0);
    publish(&subscribers, "/a/4", 4);
    assert_eq!(task.rings(), 1, "nobody waits");
}

#[test]
fn watchers_of_a_group_without_a_task_are_woken_one_by_one() {
    let subscribers = Subscribers::default();
    let (group, task) = (Arc::new(WakeGroup::default()), Arc::<Alarm>::default());
    let (early, alarm) = waiting(&subscribers, "/", Some(&group));
    publish(&subscribers, "/a", 1);
    assert_eq!(alarm.rings(), 1);
    let waker = Waker::from(Arc::clone(&task));
    group.poll(&Context::from_waker(&waker));
    wait(&subscribers, &early, &alarm);
    publish(&subscribers, "/a", 2);
    assert_eq!((alarm.rings(), task.rings()), (1, 1));
    group.detach();
    assert_eq!(alarm.rings(), 2, "what the task had yet to do is done");
    wait(&subscribers, &early, &alarm);
    publish(&subscribers, "/a", 3);
    assert_eq!((alarm.rings(), task.rings()), (3, 1));
}

#[test]
fn those_who_leave_are_forgotten() {
    let subscribers = Subscribers::default();
    let group = Arc::new(WakeGroup::default());
    let (first, _) = waiting(&subscribers, "/", Some(&group));
    let (second, alarm) = waiting(&subscribers, "/", Some(&group));
    subscribers.unsubscribe(&first);
    let (third, _) = waiting(&subscribers, "/", Some(&group));
    assert_eq!(third.member, first.member);
    publish(&subscribers, "/a", 1);
    assert_eq!(alarm.rings(), 1);
    subscribers.mark([("/b", 2)].into_iter());
    subscribers.unsubscribe(&second);
    subscribers.unsubscribe(&third);
    assert_eq!((subscribers.len(), subscribers.wake_calls()), (0, 0));
    assert!(subscribers.lock().by_prefix.is_empty());
    subscribers.wake();
    assert_eq!(alarm.rings(), 1);
}
