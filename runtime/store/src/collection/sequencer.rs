//! The way of a write from its collection to the backend.

use std::sync::Arc;

use tokio::sync::oneshot;

use super::Collection;
use crate::write::{Op, WriteResult};

/// A write for the sequencer.
#[derive(Debug)]
pub struct Submission {
    /// The collection of the key.
    pub collection: Arc<Collection>,
    /// The write.
    pub op: Op,
    /// Receives the result. The receiver may be dropped.
    pub reply: oneshot::Sender<WriteResult>,
}

/// Decides the order of writes: the embedded engine, or a client of a remote store.
///
/// Collections know nothing else of their backend: the sequencer publishes durable writes to them, through
/// [`Collection::publish`], and answers only then.
pub trait Sequencer: Send + Sync {
    /// Accepts `submission`; answers it when the write is durable and visible, or refused.
    fn submit(&self, submission: Submission);
}
