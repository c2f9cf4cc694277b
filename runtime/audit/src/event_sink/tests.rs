//! Sinks with a destination in memory.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::Duration;

use planesmith_access::audit::{Level, Stage};

use super::*;
use crate::losses::tests::Meter;

/// The delivered batches of events.
type Batches = Arc<Mutex<Vec<Vec<String>>>>;

/// Records batches, or refuses them.
#[derive(Debug, Default)]
struct Memory {
    batches: Batches,
    refuses: bool,
}

impl Destination for Memory {
    fn deliver(&self, events: &[Bytes]) -> Result<(), String> {
        if self.refuses {
            return Err("the disk is full".to_owned());
        }
        let texts = events.iter().map(|event| String::from_utf8_lossy(event).into_owned());
        self.batches.lock().unwrap().push(texts.collect());
        Ok(())
    }
}

fn record(sink: &EventSink, id: &str, object: &[u8]) -> Result<(), Failed> {
    sink.record(&[event(id, Stage::ResponseComplete, object)])
}

fn event<'a>(id: &'a str, stage: Stage, object: &'a [u8]) -> Event<'a> {
    const NONE: &BTreeMap<Cow<'static, str>, String> = &BTreeMap::new();
    Event {
        level: Level::Request,
        id,
        stage,
        uri: "/",
        verb: "get",
        user: None,
        impersonated: None,
        impersonation_constraint: "",
        source_ips: &[],
        user_agent: "",
        object: None,
        status: &[],
        code: 200,
        request_object: object,
        response_object: &[],
        received: "2026-01-02T03:04:05.000006Z".parse().unwrap(),
        at: "2026-01-02T03:04:05.000006Z".parse().unwrap(),
        annotations: NONE,
        json: OnceCell::new(),
    }
}

/// Starts a sink; returns it with its batches and its losses.
fn start(memory: Memory, options: SinkOptions) -> (EventSink, Batches, Arc<Meter>) {
    let (batches, meter) = (Arc::clone(&memory.batches), Arc::new(Meter::default()));
    let counted: Arc<dyn AuditMeter> = Arc::clone(&meter) as Arc<dyn AuditMeter>;
    let sink = EventSink::start("test", Box::new(memory), options, &counted).unwrap();
    (sink, batches, meter)
}

const AT_ONCE: SinkOptions = SinkOptions {
    format: EventFormat::Json,
    delivery: Delivery::AtOnce { strict: false },
    truncation: None,
};

const BATCHING: Batching = Batching {
    buffer: 100,
    most: 2,
    wait: Duration::from_secs(60),
    throttled: false,
    qps: 0.0,
    burst: 0,
    parallel: 1,
};

#[test]
fn a_blocking_sink_has_recorded_before_it_returns() {
    let (sink, batches, _) = start(Memory::default(), AT_ONCE);
    record(&sink, "one", b"{}").unwrap();
    assert!(batches.lock().unwrap()[0][0].contains(r#""auditID":"one""#));
}

#[test]
fn events_of_a_request_are_delivered_together() {
    let (sink, batches, lost) = start(Memory::default(), AT_ONCE);
    let stages = [Stage::RequestReceived, Stage::ResponseComplete];
    sink.record(&stages.map(|stage| event("one", stage, b"{}"))).unwrap();
    let batches = batches.lock().unwrap();
    let [batch] = &batches[..] else {
        panic!("{batches:?}");
    };
    assert_eq!(batch.len(), 2);
    for (text, stage) in batch.iter().zip(stages) {
        assert!(text.contains(&format!(r#""stage":"{}""#, stage.as_str())), "{text}");
    }
    assert_eq!(lost.0.load(Ordering::Relaxed), 0);
}

#[test]
fn events_that_are_larger_than_a_batch_are_delivered_one_by_one() {
    let truncation = Some(Truncation { event: 500, batch: 500 });
    let (sink, batches, _) = start(Memory::default(), SinkOptions { truncation, ..AT_ONCE });
    let stages = [Stage::RequestReceived, Stage::ResponseComplete];
    sink.record(&stages.map(|stage| event("one", stage, b"{}"))).unwrap();
    let sizes: Vec<usize> = batches.lock().unwrap().iter().map(Vec::len).collect();
    assert_eq!(sizes, [1, 1]);
}

#[test]
fn only_a_strict_sink_has_requests_refused() {
    for strict in [false, true] {
        let memory = Memory {
            refuses: true,
            ..Memory::default()
        };
        let delivery = Delivery::AtOnce { strict };
        let (sink, _, lost) = start(memory, SinkOptions { delivery, ..AT_ONCE });
        assert_eq!(record(&sink, "one", b"{}").is_err(), strict);
        assert_eq!(lost.0.load(Ordering::Relaxed), 1);
    }
}

#[test]
fn events_above_the_buffer_are_lost_and_counted() {
    const EVENTS: u64 = 50;
    let delivery = Delivery::Batched(Batching {
        buffer: 3,
        most: 1,
        ..BATCHING
    });
    let (sink, batches, lost) = start(Memory::default(), SinkOptions { delivery, ..AT_ONCE });
    // No batch is delivered meanwhile.
    let held = batches.lock().unwrap();
    for _ in 0..EVENTS {
        record(&sink, "one", b"{}").unwrap();
    }
    let lost_first = lost.0.load(Ordering::Relaxed);
    assert!(lost_first > EVENTS - 10, "{lost_first} are lost");
    drop(held);
    sink.finish();
    let delivered = batches.lock().unwrap().len() as u64;
    assert_eq!(delivered + lost.0.load(Ordering::Relaxed), EVENTS);
}

#[test]
fn batches_have_a_size_and_the_end_delivers_the_rest() {
    let delivery = Delivery::Batched(BATCHING);
    let (sink, batches, lost) = start(Memory::default(), SinkOptions { delivery, ..AT_ONCE });
    for id in ["a", "b", "c"] {
        record(&sink, id, b"{}").unwrap();
    }
    sink.finish();
    let sizes: Vec<usize> = batches.lock().unwrap().iter().map(Vec::len).collect();
    assert_eq!(sizes, [2, 1]);
    record(&sink, "late", b"{}").unwrap();
    assert_eq!(lost.0.load(Ordering::Relaxed), 1, "it has ended");
}

#[test]
fn large_events_lose_their_objects_or_are_lost() {
    for (limit, expected) in [(1000, true), (10, false)] {
        let truncation = Some(Truncation {
            event: limit,
            batch: 10_000,
        });
        let (sink, batches, lost) = start(Memory::default(), SinkOptions { truncation, ..AT_ONCE });
        record(&sink, "one", format!("\"{}\"", "x".repeat(2000)).as_bytes()).unwrap();
        let batches = batches.lock().unwrap();
        assert_eq!(batches.len() == 1, expected);
        assert_eq!(lost.0.load(Ordering::Relaxed) == 0, expected);
        assert!(!expected || batches[0][0].contains(r#""audit.k8s.io/truncated":"true""#));
    }
}

#[test]
fn impossible_options_are_refused() {
    let of = |truncation, delivery| SinkOptions {
        truncation,
        delivery,
        ..AT_ONCE
    };
    let batched = |batching| of(None, Delivery::Batched(batching));
    for (options, expected) in [
        (
            of(Some(Truncation { event: 0, batch: 1 }), AT_ONCE.delivery),
            "--audit-log-truncate-max-event-size is 0",
        ),
        (
            of(Some(Truncation { event: 2, batch: 1 }), AT_ONCE.delivery),
            "--audit-log-truncate-max-batch-size is 1; expected at least 2",
        ),
        (
            batched(Batching { buffer: 0, ..BATCHING }),
            "--audit-log-batch-buffer-size is 0",
        ),
        (
            batched(Batching { most: 0, ..BATCHING }),
            "--audit-log-batch-max-size is 0",
        ),
        (
            batched(Batching {
                throttled: true,
                ..BATCHING
            }),
            "--audit-log-batch-throttle-qps is 0",
        ),
    ] {
        let problem = options.check("--audit-log").unwrap_err();
        assert!(problem.starts_with(expected), "{problem}");
    }
}
