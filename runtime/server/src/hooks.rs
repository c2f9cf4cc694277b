//! What runs when a server has started and before it stops.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::future::BoxFuture;
use thiserror::Error;

use crate::health::HealthCheck;
use crate::shutdown::Shutdown;

/// A hook did not do its work.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct HookError(pub String);

type Work = Box<dyn FnOnce(Shutdown) -> BoxFuture<'static, Result<(), HookError>> + Send>;

/// Work that is done once, at a moment of a server's life.
pub struct Hook {
    name: &'static str,
    work: Work,
    done: Arc<AtomicBool>,
}

impl Hook {
    /// Work called `name`.
    ///
    /// A hook that has started runs to its end. One with lasting work spawns a task that ends at the word of the
    /// [`Shutdown`], and returns.
    pub fn new<W, F>(name: &'static str, work: W) -> Self
    where
        W: FnOnce(Shutdown) -> F + Send + 'static,
        F: Future<Output = Result<(), HookError>> + Send + 'static,
    {
        Self {
            name,
            work: Box::new(move |shutdown| Box::pin(work(shutdown))),
            done: Arc::default(),
        }
    }

    /// Name, unique in a chain.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The check that fails until the work is done: `poststarthook/NAME`.
    #[must_use]
    pub fn check(&self) -> HealthCheck {
        let done = Arc::clone(&self.done);
        HealthCheck::new(format!("poststarthook/{}", self.name), move || {
            if done.load(Ordering::Acquire) {
                Ok(())
            } else {
                Err("not finished".to_owned())
            }
        })
    }

    /// Does the work.
    ///
    /// # Errors
    ///
    /// The hook's own.
    pub async fn run(self, shutdown: Shutdown) -> Result<(), HookError> {
        (self.work)(shutdown).await?;
        self.done.store(true, Ordering::Release);
        Ok(())
    }
}

impl fmt::Debug for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hook")
            .field("name", &self.name)
            .field("done", &self.done)
            .finish_non_exhaustive()
    }
}
