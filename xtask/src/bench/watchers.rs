//! Many watchers of one collection, and the delivery of events to them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use bytes::Bytes;
use planesmith_e2e::{Connection, Watch};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::load::{Pool, Writes};
use super::objects::{self, Sample};

/// The time without any event after which missing events count as lost.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The pause between two paced events.
const INTERVAL: Duration = Duration::from_millis(10);

/// The delivery of one run's events.
#[derive(Debug)]
pub(crate) struct Delivery {
    pub(crate) delivered: usize,
    pub(crate) expected: usize,
    /// Times from the start of a write to the delivery to a watcher; only for paced runs.
    pub(crate) latencies: Vec<Duration>,
}

/// Opens `watchers` watches of `namespace` that start after the current state.
pub(crate) async fn open(pool: &Pool, namespace: &str, watchers: usize) -> Result<Vec<Watch>> {
    let path = Sample::ConfigMap.collection(namespace);
    let list = pool
        .connection(0)
        .get(&format!("{path}?limit=1"))
        .await?
        .expect(200)?
        .json()?;
    let revision = list["metadata"]["resourceVersion"]
        .as_str()
        .with_context(|| format!("{path} has no metadata.resourceVersion"))?;
    let path = format!("{path}?watch=1&resourceVersion={revision}&timeoutSeconds=600");
    let mut opened = Vec::with_capacity(watchers);
    for number in 0..watchers {
        opened.push(pool.connection(number).watch(&path).await?);
    }
    Ok(opened)
}

/// Returns the next event of an object written by the benchmark. The server's controllers write to a new namespace, too.
async fn next_own(watcher: &mut Watch) -> Result<Option<Bytes>> {
    loop {
        match watcher.line().await? {
            Some(line) if !is_own(&line) => {}
            line => return Ok(line),
        }
    }
}

/// True if the event in `line` is for an object written by the benchmark. The name is among the first few fields.
fn is_own(line: &[u8]) -> bool {
    let head = &line[..line.len().min(256)];
    let mark = objects::NAME.as_bytes();
    head.windows(mark.len()).any(|window| window == mark)
}

/// Creates `events` objects one by one at a steady pace, and measures each delivery.
pub(crate) async fn paced(writer: &Connection, watchers: Vec<Watch>, events: usize) -> Result<Delivery> {
    let expected = watchers.len() * events;
    let (sent, seen) = watch::channel(Vec::<Instant>::with_capacity(events));
    let mut tasks = JoinSet::new();
    for mut watcher in watchers {
        let seen = seen.clone();
        tasks.spawn(async move {
            let mut latencies = Vec::with_capacity(events);
            for number in 0..events {
                let line = tokio::time::timeout(TIMEOUT, next_own(&mut watcher)).await;
                let Ok(Some(_)) = line.context("no event for ten seconds")? else {
                    break;
                };
                latencies.push(seen.borrow()[number].elapsed());
            }
            anyhow::Ok(latencies)
        });
    }
    let mut clock = tokio::time::interval(INTERVAL);
    for number in 0..events {
        clock.tick().await;
        let body = Sample::ConfigMap.body(&objects::name(number), number, 0);
        sent.send_modify(|times| times.push(Instant::now()));
        let path = Sample::ConfigMap.collection(objects::WATCHED_NAMESPACE);
        writer.call(http::Method::POST, &path, body).await?.expect(201)?;
    }
    let mut latencies = Vec::with_capacity(expected);
    while let Some(task) = tasks.join_next().await {
        latencies.extend(task??);
    }
    Ok(Delivery {
        delivered: latencies.len(),
        expected,
        latencies,
    })
}

/// Creates `events` objects as fast as 16 writers can, and counts the delivered events.
pub(crate) async fn rapid(writers: &Pool, watchers: Vec<Watch>, events: usize) -> Result<Delivery> {
    let expected = watchers.len() * events;
    let delivered = Arc::new(AtomicUsize::new(0));
    let mut tasks = JoinSet::new();
    for mut watcher in watchers {
        let delivered = Arc::clone(&delivered);
        tasks.spawn(async move {
            for _ in 0..events {
                // A watch closed by the server has no more events to count.
                let Ok(Some(_)) = next_own(&mut watcher).await else {
                    break;
                };
                delivered.fetch_add(1, Ordering::Relaxed);
            }
        });
    }
    let writes = Writes {
        prefix: "rapid-",
        ..Writes::creates(Sample::ConfigMap, objects::WATCHED_NAMESPACE, events)
    };
    ensure!(
        writes.run(writers).await?.len() == events,
        "some writes were not performed"
    );
    let mut last = 0;
    while let Err(_still_waiting) =
        tokio::time::timeout(TIMEOUT, async { while tasks.join_next().await.is_some() {} }).await
    {
        let now = delivered.load(Ordering::Relaxed);
        if now == last {
            break;
        }
        last = now;
    }
    let delivered = delivered.load(Ordering::Relaxed);
    Ok(Delivery {
        delivered,
        expected,
        latencies: Vec::new(),
    })
}
