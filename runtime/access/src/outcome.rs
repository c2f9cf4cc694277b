//! Results that are known at once, or that must be waited for.

use std::fmt;

use futures_util::future::BoxFuture;

/// A result that is known at once, or a future, such as the answer of another server.
///
/// The first case is the common one and costs no allocation. A pending result may be dropped at any time; its source says if its work
/// goes on then.
#[must_use]
pub enum Outcome<'a, T> {
    /// The result.
    Ready(T),
    /// Returns the result later.
    Pending(BoxFuture<'a, T>),
}

impl<'a, T> Outcome<'a, T> {
    /// Returns an outcome that `future` determines.
    pub fn pending(future: impl Future<Output = T> + Send + 'a) -> Self {
        Self::Pending(Box::pin(future))
    }

    /// Returns the result; `None` if it must be waited for.
    pub fn ready(self) -> Option<T> {
        match self {
            Self::Ready(result) => Some(result),
            Self::Pending(_) => None,
        }
    }

    /// Waits for the result.
    pub async fn wait(self) -> T {
        match self {
            Self::Ready(result) => result,
            Self::Pending(future) => future.await,
        }
    }
}

impl<T> From<T> for Outcome<'_, T> {
    fn from(result: T) -> Self {
        Self::Ready(result)
    }
}

impl<T: fmt::Debug> fmt::Debug for Outcome<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ready(result) => f.debug_tuple("Ready").field(result).finish(),
            Self::Pending(_) => f.write_str("Pending"),
        }
    }
}
