//! Transformations of stored values, such as encryption.
//!
//! A transformer stands between the engine and the backend: entries, events and answers have the plain bytes, the backend has
//! the transformed ones. It never waits: keys of other servers are fetched by [`Transformers::prepare`] before.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use tokio::sync::oneshot;

/// The beginning of every encrypted value, as in kube-apiserver. No plain object begins with it.
pub const ENCRYPTED: &[u8] = b"k8s:enc:";

/// True if `stored` is a value that only a [`Transformer`] can read.
#[must_use]
pub fn is_encrypted(stored: &[u8]) -> bool {
    stored.starts_with(ENCRYPTED)
}

/// The transformers of all collections of a store.
pub trait Transformers: fmt::Debug + Send + Sync {
    /// The transformer of the values whose keys begin with `prefix`, the keys of one kind or a single one. It follows later changes of the configuration.
    fn of(&self, prefix: &str) -> Arc<dyn Transformer>;

    /// Begins to fetch what reading `stored` values needs from elsewhere, such as keys that another program decrypts. `None` if
    /// nothing is needed. A key that cannot be fetched is an error of [`Transformer::open`] later.
    fn prepare(&self, stored: &mut dyn Iterator<Item = &[u8]>) -> Option<Preparation> {
        let _ = stored;
        None
    }
}

/// Transforms the values of one collection.
pub trait Transformer: fmt::Debug + Send + Sync {
    /// The value to store for `plain` under `key`; `None` if that is `plain` itself.
    ///
    /// # Errors
    ///
    /// The value cannot be transformed now; nothing is written.
    fn seal(&self, key: &str, plain: &[u8], reason: Reason) -> Result<Option<Vec<u8>>, TransformError>;

    /// The plain bytes of the value that is `stored` under `key`.
    ///
    /// # Errors
    ///
    /// The value cannot be read with the current configuration.
    fn open<'s>(&self, key: &str, stored: &'s [u8]) -> Result<PlainValue<'s>, TransformError>;

    /// Identifies the key with which values are written. Values that were written with another one are stale.
    fn writer(&self) -> u64;
}

/// The reason for which a value is transformed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It is the new state of its key.
    Update,
    /// It is the final state of a key that is deleted. A transformer that must not write new states any more still transforms it.
    Deletion,
}

/// A plain value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlainValue<'s> {
    /// The bytes; borrowed if they are the stored ones.
    pub bytes: Cow<'s, [u8]>,
    /// True if a write would store it in another way, e.g. with a newer key.
    pub is_stale: bool,
}

/// The reason that a value cannot be transformed, fit for clients.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TransformError(pub Arc<str>);

impl TransformError {
    /// Returns the error with this reason.
    #[must_use]
    pub fn new(reason: impl Into<Arc<str>>) -> Self {
        Self(reason.into())
    }
}

/// Work that ends when everything is fetched, or cannot be.
#[derive(Debug)]
pub struct Preparation(oneshot::Receiver<()>);

impl Preparation {
    /// Returns the work, and its end: the work is done when the sender is used or dropped.
    #[must_use]
    pub fn new() -> (oneshot::Sender<()>, Self) {
        let (sender, receiver) = oneshot::channel();
        (sender, Self(receiver))
    }

    /// Returns when the work is done.
    pub async fn done(self) {
        // A dropped sender is an end, too.
        let _ = self.0.await;
    }

    /// Like [`Self::done`], for a thread that may block.
    pub fn wait(self) {
        let _ = self.0.blocking_recv();
    }
}
