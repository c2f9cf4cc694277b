//! Events that wait to be delivered together.

use std::fmt;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use bytes::Bytes;
use planesmith_control_plane::token_bucket::TokenBucket;

use crate::destination::Destination;
use crate::losses::Losses;

/// The limits of batches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Batching {
    /// The most events that wait; further ones are lost.
    pub(crate) buffer: usize,
    /// The most events of a batch.
    pub(crate) most: usize,
    /// The longest time from the first event of a batch until it is delivered.
    pub(crate) wait: Duration,
    /// True if the rate of batches is limited.
    pub(crate) throttled: bool,
    /// Batches per second.
    pub(crate) qps: f64,
    /// Batches at once.
    pub(crate) burst: u32,
    /// The most batches that are being delivered; with one, they stay in order.
    pub(crate) parallel: usize,
}

impl Batching {
    /// Checks the values of the flags that begin with `flags`.
    ///
    /// # Errors
    ///
    /// The flag, its value and the expected one.
    pub(super) fn check(&self, flags: &str) -> Result<(), String> {
        if self.buffer == 0 {
            return Err(format!("{flags}-batch-buffer-size is 0; expected 1 or more"));
        }
        if self.most == 0 {
            return Err(format!("{flags}-batch-max-size is 0; expected 1 or more"));
        }
        if self.throttled && (self.qps <= 0.0 || !self.qps.is_finite()) {
            return Err(format!(
                "{flags}-batch-throttle-qps is {}; expected more than 0 while the rate is limited",
                self.qps
            ));
        }
        if self.throttled && self.burst == 0 {
            return Err(format!(
                "{flags}-batch-throttle-burst is 0; expected 1 or more while the rate is limited"
            ));
        }
        Ok(())
    }
}

/// Events that wait, and the thread that delivers them.
pub(crate) struct Queue {
    events: Mutex<Option<SyncSender<Bytes>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    destination: Arc<dyn Destination>,
}

impl Queue {
    /// Starts the thread that delivers to `destination`; a batch has at most `limit` bytes.
    ///
    /// # Errors
    ///
    /// No thread can be started.
    pub(crate) fn start(
        name: &'static str,
        destination: Arc<dyn Destination>,
        batching: Batching,
        limit: Option<usize>,
        losses: Losses,
    ) -> Result<Self> {
        let (events, waiting) = sync_channel(batching.buffer);
        let deliveries = Deliveries {
            name,
            destination: Arc::clone(&destination),
            losses,
            running: Arc::default(),
            most: batching.parallel,
        };
        let work = move || deliver_all(&waiting, batching, limit, &deliveries);
        let thread = thread::Builder::new().name(format!("audit-{name}")).spawn(work);
        Ok(Self {
            events: Mutex::new(Some(events)),
            thread: Mutex::new(Some(thread.context("the thread that delivers audit events")?)),
            destination,
        })
    }

    /// Adds an event. False if the buffer is full, or the queue has ended.
    pub(crate) fn push(&self, event: Bytes) -> bool {
        let events = self.events.lock().unwrap_or_else(PoisonError::into_inner).clone();
        events.is_some_and(|events| events.try_send(event).is_ok())
    }

    /// Delivers what waits, and ends.
    pub(crate) fn finish(&self) {
        self.destination.stop();
        drop(self.events.lock().unwrap_or_else(PoisonError::into_inner).take());
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread
            && thread.join().is_err()
        {
            tracing::error!("the thread that delivers audit events has panicked");
        }
    }
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").finish_non_exhaustive()
    }
}

fn deliver_all(waiting: &Receiver<Bytes>, batching: Batching, limit: Option<usize>, deliveries: &Deliveries) {
    let mut throttle = batching
        .throttled
        .then(|| TokenBucket::new(batching.qps, batching.burst, Instant::now()));
    while let Some(batch) = next_batch(waiting, batching) {
        if let Some(throttle) = &mut throttle {
            thread::sleep(throttle.take(Instant::now()));
        }
        for part in parts(batch, limit.unwrap_or(usize::MAX)) {
            deliveries.begin(part);
        }
    }
    deliveries.wait();
}

/// Waits for the first event, and then for others. `None` after the last one.
fn next_batch(waiting: &Receiver<Bytes>, batching: Batching) -> Option<Vec<Bytes>> {
    let mut batch = vec![waiting.recv().ok()?];
    let due = Instant::now() + batching.wait;
    while batch.len() < batching.most {
        match waiting.recv_timeout(due.saturating_duration_since(Instant::now())) {
            Ok(event) => batch.push(event),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
        }
    }
    Some(batch)
}

/// Splits a batch into parts of `limit` bytes at most; an event is never split.
fn parts(batch: Vec<Bytes>, limit: usize) -> Vec<Vec<Bytes>> {
    let mut parts = vec![Vec::new()];
    let mut bytes = 0_usize;
    for event in batch {
        if bytes > 0 && bytes.saturating_add(event.len()) > limit {
            parts.push(Vec::new());
            bytes = 0;
        }
        bytes = bytes.saturating_add(event.len());
        if let Some(part) = parts.last_mut() {
            part.push(event);
        }
    }
    parts
}

/// The batches that are being delivered.
struct Deliveries {
    name: &'static str,
    destination: Arc<dyn Destination>,
    losses: Losses,
    /// The number of threads that deliver, and the signal that it is smaller.
    running: Arc<(Mutex<usize>, Condvar)>,
    most: usize,
}

impl Deliveries {
    /// Delivers a batch: in this thread if they stay in order, otherwise in another one, once there are few enough.
    fn begin(&self, batch: Vec<Bytes>) {
        let (name, destination, losses) = (self.name, Arc::clone(&self.destination), self.losses.clone());
        let batch = Arc::new(batch);
        let deliver = move |batch: &[Bytes]| {
            if let Err(why) = destination.deliver(batch) {
                losses.add(batch.len(), &why);
            }
        };
        if self.most <= 1 {
            return deliver(&batch);
        }
        let (count, fewer) = &*self.running;
        let count = count.lock().unwrap_or_else(PoisonError::into_inner);
        let enough = fewer.wait_while(count, |count| *count >= self.most);
        *enough.unwrap_or_else(PoisonError::into_inner) += 1;
        let running = Ended(Arc::clone(&self.running));
        let (work, sent) = (deliver.clone(), Arc::clone(&batch));
        let spawned = thread::Builder::new().name(format!("audit-{name}")).spawn(move || {
            let _ended = running;
            work(&sent);
        });
        if let Err(error) = spawned {
            tracing::warn!(sink = name, %error, "audit events are delivered one batch at a time");
            deliver(&batch);
        }
    }

    /// Waits until all batches are delivered or lost.
    fn wait(&self) {
        let (count, fewer) = &*self.running;
        let count = count.lock().unwrap_or_else(PoisonError::into_inner);
        drop(fewer.wait_while(count, |count| *count > 0));
    }
}

/// Counts a delivery as ended when it is dropped, also by a panic.
struct Ended(Arc<(Mutex<usize>, Condvar)>);

impl Drop for Ended {
    fn drop(&mut self) {
        let (count, fewer) = &*self.0;
        *count.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        fewer.notify_all();
    }
}
