//! The sink of one destination.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Result;
use bytes::Bytes;
use clap::ValueEnum;
use planesmith_access::audit::{Event, Failed, Recording, Sink, encode_both, legacy_line};
use planesmith_access::outcome::Outcome;
use planesmith_server::audit::AuditMeter;

use crate::destination::Destination;
use crate::losses::Losses;
use crate::queue::{Batching, Queue};
use crate::shared_writes::SharedWrites;

/// The format of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EventFormat {
    /// A JSON object.
    Json,
    /// One line of text.
    Legacy,
}

/// The limits of large events, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Truncation {
    /// Of one event.
    pub(crate) event: usize,
    /// Of the events that are delivered at once.
    pub(crate) batch: usize,
}

/// The time of delivery.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Delivery {
    /// While the request waits; a strict sink has requests refused whose arrival it cannot record.
    AtOnce {
        /// True if the sink is strict.
        strict: bool,
    },
    /// Later, together with others.
    Batched(Batching),
}

/// The options of a sink.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SinkOptions {
    pub(crate) format: EventFormat,
    pub(crate) delivery: Delivery,
    /// `None` to deliver events of any size.
    pub(crate) truncation: Option<Truncation>,
}

impl SinkOptions {
    /// Checks the options of the flags that begin with `flags`.
    ///
    /// # Errors
    ///
    /// The flag, its value and the expected one.
    pub(crate) fn check(&self, flags: &str) -> Result<(), String> {
        if let Some(Truncation { event, batch }) = self.truncation {
            if event == 0 {
                return Err(format!(
                    "{flags}-truncate-max-event-size is 0; expected a number of bytes"
                ));
            }
            if batch < event {
                return Err(format!(
                    "{flags}-truncate-max-batch-size is {batch}; expected at least {event}, the largest event"
                ));
            }
        }
        match &self.delivery {
            Delivery::AtOnce { .. } => Ok(()),
            Delivery::Batched(batching) => batching.check(flags),
        }
    }
}

/// Encodes events and passes them to a destination.
#[derive(Debug)]
pub(crate) struct EventSink {
    format: EventFormat,
    truncation: Option<Truncation>,
    delivery: SinkDelivery,
    losses: Losses,
}

/// The most deliveries that requests wait for at the same time: each has a thread, and a destination that does not answer must
/// not take all of them.
const MAX_WAITING: usize = 64;

/// The delivery of events to the destination.
#[derive(Debug)]
enum SinkDelivery {
    AtOnce {
        destination: Arc<dyn Destination>,
        strict: bool,
        /// The number of deliveries that requests wait for.
        waiting: AtomicUsize,
    },
    /// At once, together with events of other requests.
    Shared {
        writes: SharedWrites,
        strict: bool,
    },
    Queued(Queue),
}

impl EventSink {
    /// Starts a sink; `name` is the label of its losses in metrics.
    ///
    /// # Errors
    ///
    /// No thread can be started.
    pub(crate) fn start(
        name: &'static str,
        destination: Box<dyn Destination>,
        options: SinkOptions,
        meter: &Arc<dyn AuditMeter>,
    ) -> Result<Self> {
        let destination: Arc<dyn Destination> = Arc::from(destination);
        let limit = options.truncation.map(|limits| limits.batch);
        let losses = Losses::new(name, meter);
        let delivery = match options.delivery {
            Delivery::AtOnce { strict } if destination.joins_requests() => SinkDelivery::Shared {
                writes: SharedWrites::new(destination, losses.clone()),
                strict,
            },
            Delivery::AtOnce { strict } => SinkDelivery::AtOnce {
                destination,
                strict,
                waiting: AtomicUsize::new(0),
            },
            Delivery::Batched(batching) => {
                SinkDelivery::Queued(Queue::start(name, destination, batching, limit, losses.clone())?)
            }
        };
        Ok(Self {
            format: options.format,
            truncation: options.truncation,
            delivery,
            losses,
        })
    }

    /// Returns the encoded event; `None` if it is too large even without its objects.
    fn encode(&self, event: &Event<'_>) -> Option<Bytes> {
        if self.format == EventFormat::Legacy {
            return Some(legacy_line(event).into());
        }
        let whole = event.to_json();
        match self.truncation {
            Some(limits) if whole.len() > limits.event => {
                Some(event.to_truncated_json().into()).filter(|event: &Bytes| event.len() <= limits.event)
            }
            _ => Some(whole.clone()),
        }
    }

    /// Returns the encoded events, without those that are too large.
    fn encode_all(&self, events: &[Event<'_>]) -> Vec<Bytes> {
        if let ([first, second], EventFormat::Json) = (events, self.format) {
            encode_both(first, second);
        }
        let encoded = events.iter().filter_map(|event| {
            let encoded = self.encode(event);
            if encoded.is_none() {
                self.losses
                    .add(1, "it is larger than the limit, even without its objects");
            }
            encoded
        });
        encoded.collect()
    }

    /// The number of events that are delivered together: all of them, unless they are larger than a batch.
    fn at_once(&self, encoded: &[Bytes]) -> usize {
        let size: usize = encoded.iter().map(Bytes::len).sum();
        match self.truncation {
            Some(limits) if size > limits.batch => 1,
            _ => encoded.len(),
        }
    }
}

/// Delivers events together, unless too many are being delivered.
fn deliver_at_once(destination: &dyn Destination, events: &[Bytes], waiting: &AtomicUsize) -> Result<(), String> {
    let place = waiting.fetch_add(1, Ordering::Relaxed);
    let delivered = match place < MAX_WAITING {
        true => destination.deliver(events),
        false => Err(format!("{MAX_WAITING} events are being delivered already")),
    };
    waiting.fetch_sub(1, Ordering::Relaxed);
    delivered
}

/// The result of a delivery for the request whose events they are: only a strict sink has it refused.
fn for_request(delivered: Result<(), String>, strict: bool) -> Result<(), Failed> {
    match delivered {
        Err(why) if strict => Err(Failed(why)),
        _ => Ok(()),
    }
}

impl Sink for EventSink {
    fn record(&self, events: &[Event<'_>]) -> Result<(), Failed> {
        let encoded = self.encode_all(events);
        if encoded.is_empty() {
            return Ok(());
        }
        match &self.delivery {
            SinkDelivery::AtOnce {
                destination,
                strict,
                waiting,
            } => {
                let mut recorded = Ok(());
                for part in encoded.chunks(self.at_once(&encoded)) {
                    if let Err(why) = deliver_at_once(&**destination, part, waiting) {
                        self.losses.add(part.len(), &why);
                        recorded = recorded.and(for_request(Err(why), *strict));
                    }
                }
                recorded
            }
            SinkDelivery::Shared { writes, strict } => for_request(writes.deliver(encoded), *strict),
            SinkDelivery::Queued(queue) => {
                for event in encoded {
                    // Many may wait: they do not share a larger piece of memory.
                    if !queue.push(Bytes::copy_from_slice(&event)) {
                        self.losses.add(1, "the buffer is full");
                    }
                }
                Ok(())
            }
        }
    }

    fn begin(&self, events: &[Event<'_>]) -> Recording {
        let SinkDelivery::Shared { writes, strict } = &self.delivery else {
            return self.record(events).into();
        };
        let encoded = self.encode_all(events);
        if encoded.is_empty() {
            return Ok(()).into();
        }
        let strict = *strict;
        match writes.begin(encoded) {
            Outcome::Ready(delivered) => for_request(delivered, strict).into(),
            Outcome::Pending(delivery) => Outcome::pending(async move { for_request(delivery.await, strict) }),
        }
    }

    fn is_strict(&self) -> bool {
        matches!(
            self.delivery,
            SinkDelivery::AtOnce { strict: true, .. } | SinkDelivery::Shared { strict: true, .. }
        )
    }

    fn finish(&self) {
        match &self.delivery {
            SinkDelivery::Queued(queue) => queue.finish(),
            SinkDelivery::Shared { writes, .. } => writes.finish(),
            SinkDelivery::AtOnce { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests;
