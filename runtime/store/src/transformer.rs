//! Transformations of stored values, such as encryption.
//!
//! A transformer stands between the engine and the backend: entries, events and answers have the plain bytes, the backend has
//! the transformed ones. It never waits: keys of other servers are fetched by [`Transformers::prepare`] before.

use std::borrow::Cow;
use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};
use std::thread::{self, Thread};

use tokio::runtime::{Handle, RuntimeFlavor};
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

impl dyn Transformers {
    /// Like [`Transformers::prepare`], and blocks until everything is fetched.
    pub fn prepare_blocking(&self, stored: &mut dyn Iterator<Item = &[u8]>) {
        if let Some(preparation) = self.prepare(stored) {
            preparation.wait();
        }
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

    /// Returns the error for decrypted bytes that are no object. A cipher without authentication may yield them with a wrong key.
    #[must_use]
    pub fn no_object() -> Self {
        Self::new("the decrypted value is no object of the kind; it may have been encrypted with another key")
    }
}

/// Wakes a thread that is parked.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs `work` on this thread, which may be one of a runtime: a runtime refuses to block there by its own means.
fn park_on(work: impl Future<Output = ()>) {
    // Without a budget: a task that has used up its own would be woken in vain.
    let mut work = pin!(tokio::task::unconstrained(work));
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    while work.as_mut().poll(&mut Context::from_waker(&waker)).is_pending() {
        thread::park();
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

    /// Blocks until the work is done. A worker of a runtime hands its other tasks to another thread meanwhile.
    pub fn wait(self) {
        let wait = || park_on(self.done());
        match Handle::try_current().map(|here| here.runtime_flavor()) {
            Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(wait),
            Ok(_) | Err(_) => wait(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Begins work that another thread ends, and waits for it.
    fn prepare() {
        let (done, preparation) = Preparation::new();
        let worker = thread::spawn(move || done.send(()));
        preparation.wait();
        worker.join().unwrap().unwrap();
    }

    #[test]
    fn any_thread_may_wait_for_a_preparation() {
        prepare();
        let single = tokio::runtime::Builder::new_current_thread().build().unwrap();
        single.block_on(async { prepare() });
        let several = tokio::runtime::Builder::new_multi_thread().build().unwrap();
        several.block_on(several.spawn(async { prepare() })).unwrap();
        several.block_on(several.spawn_blocking(prepare)).unwrap();
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn a_worker_that_waits_leaves_its_tasks_to_another_thread() {
        let (done, preparation) = Preparation::new();
        let waiting = tokio::spawn(async move {
            tokio::spawn(async move { done.send(()) });
            preparation.wait();
        });
        tokio::time::timeout(Duration::from_secs(20), waiting)
            .await
            .unwrap()
            .unwrap();
    }
}
