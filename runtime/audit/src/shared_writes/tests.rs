//! Shared writes to a destination in memory, whose deliveries a test lets go on.

use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread;

use futures_util::FutureExt as _;
use futures_util::future::join_all;
use planesmith_server::audit::AuditMeter;
use tokio::runtime::Builder;

use super::*;
use crate::losses::tests::Meter;

/// Notes deliveries, or refuses them.
#[derive(Debug, Default)]
struct Memory {
    deliveries: Mutex<Vec<Vec<String>>>,
    fails: Option<Failure>,
    gate: Option<Gate>,
}

#[derive(Clone, Copy, Debug)]
enum Failure {
    Error,
    Panic,
}

/// Reports the start of a delivery, and holds it until the test lets it go on.
#[derive(Debug)]
struct Gate {
    started: SyncSender<()>,
    go_on: Mutex<Receiver<()>>,
}

impl Destination for Memory {
    fn deliver(&self, events: &[Bytes]) -> Delivered {
        if let Some(gate) = &self.gate {
            gate.started.send(()).unwrap();
            lock(&gate.go_on).recv().unwrap();
        }
        let texts = events.iter().map(|event| String::from_utf8_lossy(event).into_owned());
        lock(&self.deliveries).push(texts.collect());
        match self.fails {
            None => Ok(()),
            Some(Failure::Error) => Err("the disk is full".to_owned()),
            Some(Failure::Panic) => panic!("it is broken"),
        }
    }
}

struct Bench {
    writes: Arc<SharedWrites>,
    memory: Arc<Memory>,
    meter: Arc<Meter>,
}

impl Bench {
    fn new(memory: Memory) -> Self {
        let (memory, meter) = (Arc::new(memory), Arc::new(Meter::default()));
        let counted: Arc<dyn AuditMeter> = Arc::clone(&meter) as Arc<dyn AuditMeter>;
        let destination = Arc::clone(&memory) as Arc<dyn Destination>;
        let writes = SharedWrites::new(destination, Losses::new("test", &counted));
        Self {
            writes: Arc::new(writes),
            memory,
            meter,
        }
    }

    fn begin(&self, events: &[&str]) -> Outcome<'static, Delivered> {
        self.writes.begin(bytes(events))
    }

    fn deliveries(&self) -> Vec<Vec<String>> {
        lock(&self.memory.deliveries).clone()
    }

    fn lost(&self) -> u64 {
        self.meter.0.load(Ordering::Relaxed)
    }
}

fn bytes(events: &[&str]) -> Vec<Bytes> {
    events
        .iter()
        .map(|event| Bytes::copy_from_slice(event.as_bytes()))
        .collect()
}

/// Runs `test` in a runtime of one thread and in one of several.
fn in_runtimes(test: impl AsyncFn()) {
    Builder::new_current_thread().build().unwrap().block_on(test());
    let several = Builder::new_multi_thread().worker_threads(2).build().unwrap();
    several.block_on(test());
}

#[tokio::test]
async fn requests_that_are_ready_share_a_delivery_in_order() {
    let bench = Bench::new(Memory::default());
    let requests = ["a", "b", "c"].map(|name| bench.begin(&[&format!("{name}1"), &format!("{name}2")]));
    assert!(bench.deliveries().is_empty(), "others may add theirs");
    for delivered in join_all(requests.map(Outcome::wait)).await {
        assert_eq!(delivered, Ok(()));
    }
    assert_eq!(bench.deliveries(), [["a1", "a2", "b1", "b2", "c1", "c2"]]);
    assert_eq!(bench.begin(&["d"]).wait().await, Ok(()));
    assert_eq!(bench.deliveries().len(), 2);
    assert_eq!(bench.lost(), 0);
}

#[test]
fn an_answer_waits_for_its_events() {
    in_runtimes(async || {
        let bench = Bench::new(Memory::default());
        let requests = (0..50).map(|number| {
            let name = number.to_string();
            let (outcome, memory) = (bench.begin(&[&name]), Arc::clone(&bench.memory));
            tokio::spawn(async move {
                assert_eq!(outcome.wait().await, Ok(()));
                lock(&memory.deliveries).iter().flatten().any(|event| *event == name)
            })
        });
        for is_delivered in join_all(requests).await {
            assert!(is_delivered.unwrap());
        }
        assert_eq!(bench.deliveries().iter().flatten().count(), 50);
    });
}

#[test]
fn an_error_and_a_panic_reach_all_who_wait() {
    in_runtimes(async || {
        for (fails, why) in [
            (Failure::Error, "the disk is full"),
            (Failure::Panic, "the delivery panicked"),
        ] {
            let bench = Bench::new(Memory {
                fails: Some(fails),
                ..Memory::default()
            });
            let first = bench.begin(&["a1", "a2"]);
            let others = [bench.begin(&["b"]), bench.begin(&["c"])];
            for delivered in join_all([first].into_iter().chain(others).map(Outcome::wait)).await {
                assert_eq!(delivered, Err(why.to_owned()));
            }
            assert_eq!(bench.lost(), 4, "each event is counted once");
        }
    });
}

#[test]
fn a_request_that_ends_early_loses_no_lines() {
    in_runtimes(async || {
        let bench = Bench::new(Memory::default());
        let first = bench.begin(&["first"]);
        let second = bench.begin(&["second"]);
        drop(first);
        assert_eq!(second.wait().await, Ok(()));
        assert_eq!(bench.deliveries().concat(), ["first", "second"]);
        // Not polled at all.
        let unpolled = bench.begin(&["third"]);
        assert_eq!(bench.begin(&["fourth"]).wait().await, Ok(()));
        assert_eq!(bench.deliveries().concat(), ["first", "second", "third", "fourth"]);
        assert_eq!(unpolled.wait().now_or_never(), Some(Ok(())));
    });
}

#[test]
fn the_end_of_a_runtime_delivers_what_waits() {
    let bench = Bench::new(Memory::default());
    let runtime = Builder::new_current_thread().build().unwrap();
    let outcome = runtime.block_on(async { bench.begin(&["a"]) });
    drop(runtime);
    assert_eq!(bench.deliveries(), [["a"]]);
    assert_eq!(outcome.wait().now_or_never(), Some(Ok(())));
}

#[test]
fn callers_that_cannot_wait_deliver_what_others_have_added() {
    let bench = Bench::new(Memory::default());
    assert_eq!(bench.begin(&["alone"]).ready(), Some(Ok(())), "there is no runtime");
    let runtime = Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let arrival = bench.begin(&["arrival"]);
        assert_eq!(bench.writes.deliver(bytes(&["end"])), Ok(()));
        assert_eq!(bench.deliveries().concat(), ["alone", "arrival", "end"]);
        assert_eq!(arrival.wait().await, Ok(()));
    });
    assert_eq!(bench.deliveries().len(), 2);
}

#[test]
fn requests_join_while_a_delivery_goes_on() {
    let (started, starts) = mpsc::sync_channel(0);
    let (go_on, held) = mpsc::channel();
    let bench = Bench::new(Memory {
        gate: Some(Gate {
            started,
            go_on: Mutex::new(held),
        }),
        ..Memory::default()
    });
    let writes = Arc::clone(&bench.writes);
    let first = thread::spawn(move || writes.deliver(bytes(&["first"])));
    starts.recv().unwrap();
    let runtime = Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let others = runtime.block_on(async { ["a", "b"].map(|name| bench.begin(&[name])) });
    go_on.send(()).unwrap();
    assert_eq!(first.join().unwrap(), Ok(()));
    starts.recv().unwrap();
    go_on.send(()).unwrap();
    for delivered in runtime.block_on(join_all(others.map(Outcome::wait))) {
        assert_eq!(delivered, Ok(()));
    }
    assert_eq!(bench.deliveries(), [vec!["first"], vec!["a", "b"]]);
}

#[tokio::test]
async fn a_full_batch_is_delivered_before_it_grows() {
    let bench = Bench::new(Memory::default());
    let half = "x".repeat(MAX_BATCH / 2);
    let fitting = [bench.begin(&[&half]), bench.begin(&[&half])];
    let waiting = bench.begin(&["one", "two"]);
    for delivered in join_all(fitting.map(Outcome::wait)).await {
        assert_eq!(delivered, Ok(()));
    }
    assert_eq!(waiting.wait().await, Ok(()));
    assert_eq!(
        bench.deliveries(),
        [vec![half.clone(), half], vec!["one".to_owned(), "two".to_owned()]]
    );
    assert_eq!(bench.lost(), 0);
}
